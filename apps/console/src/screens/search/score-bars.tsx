/** Contribution of each part to a score: a bar, the share, and the raw score. */
import type { ExplainedHit, Parts } from "../../api/explained-search.ts";
import { searchStrings } from "../../strings/search.ts";

const s = searchStrings.hit;
const names = ["vector", "keyword", "graph"] as const;

export function ScoreBars({ hit, largest }: { readonly hit: ExplainedHit; readonly largest: Parts }) {
  const shown = names.filter((name) => hit.scores[name] !== undefined);
  if (shown.length === 0) return null;
  return (
    <ul className="flex min-w-40 flex-col gap-1">
      {shown.map((name) => (
        <Bar
          key={name}
          name={s.parts[name]}
          share={hit.explain?.parts[name]}
          raw={hit.scores[name]}
          full={largest[name]}
        />
      ))}
    </ul>
  );
}

interface BarProps {
  readonly name: string;
  readonly share: number | undefined;
  readonly raw: number | undefined;
  readonly full: number | undefined;
}

function Bar({ name, share, raw, full = 1 }: BarProps) {
  const width = full > 0 ? Math.min(1, Math.max(0, (share ?? raw ?? 0) / full)) : 0;
  return (
    <li
      className="grid grid-cols-[4.5rem_minmax(3rem,1fr)_7rem] items-center gap-2 text-xs"
      title={s.part(name, numberText(share), numberText(raw))}
    >
      <span className="text-soft">{name}</span>
      <span className="h-1.5 overflow-hidden rounded-full bg-raised" aria-hidden>
        <span className="block h-full rounded-full bg-brand" style={{ width: `${width * 100}%` }} />
      </span>
      <span className="text-right tabular-nums">
        {numberText(share ?? raw)} {share !== undefined && <span className="text-soft">{s.raw(numberText(raw))}</span>}
      </span>
    </li>
  );
}

export function largestParts(hits: readonly ExplainedHit[]): Parts {
  const shares = Math.max(0, ...hits.flatMap(({ explain }) => Object.values(explain?.parts ?? {})));
  const largest = (name: keyof Parts) =>
    shares > 0 ? shares : Math.max(0, ...hits.map(({ scores }) => scores[name] ?? 0));
  return { vector: largest("vector"), keyword: largest("keyword"), graph: largest("graph") };
}

export function numberText(value: number | undefined): string {
  return value === undefined ? "–" : value.toFixed(value !== 0 && Math.abs(value) < 0.1 ? 4 : 3);
}
