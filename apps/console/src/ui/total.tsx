import { formatNumber } from "../lib/format.ts";

interface Props {
  /** Over all pages; undefined until it is known. */
  readonly of: number | undefined;
  readonly words: (count: number, shown: string) => string;
}

export function Total({ of, words }: Props) {
  if (of === undefined || of === 0) return null;
  return <p className="text-xs text-soft">{words(of, formatNumber(of))}</p>;
}
