import { cx } from "../../lib/class-names.ts";
import { workflowStrings } from "../../strings/workflows.ts";
import type { Difference } from "./json-diff.ts";

const s = workflowStrings.diff;
const shownMax = 200;
const charactersMax = 2_000;

/** Differences by path, limited to a readable number. */
export function Differences({
  of,
  before = s.before,
  after = s.after,
}: {
  readonly of: readonly Difference[];
  readonly before?: string;
  readonly after?: string;
}) {
  return (
    <div tabIndex={0} role="region" aria-label={s.table} className="max-h-80 overflow-auto rounded-md border">
      <table className="w-full text-left text-xs">
        <thead className="sticky top-0 bg-raised text-soft">
          <tr>
            {[s.path, before, after].map((head) => (
              <th key={head} scope="col" className="px-3 py-2 font-medium">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {of.slice(0, shownMax).map(({ path, before: was, after: is }) => (
            <tr key={path} className="border-t align-top">
              <th scope="row" className="px-3 py-1.5 font-mono font-medium break-all">
                {path}
              </th>
              <Value value={was} tone="bg-bad-soft" />
              <Value value={is} tone="bg-good-soft" />
            </tr>
          ))}
        </tbody>
      </table>
      {of.length > shownMax && (
        <p className="border-t px-3 py-2 text-xs text-soft">{s.shortened(of.length - shownMax)}</p>
      )}
    </div>
  );
}

function Value({ value, tone }: { readonly value: unknown; readonly tone: string }) {
  const text = value === undefined ? s.none : JSON.stringify(value);
  return (
    <td className={cx("px-3 py-1.5 font-mono break-all", value !== undefined && tone)}>
      {text.length > charactersMax ? `${text.slice(0, charactersMax)} …` : text}
    </td>
  );
}
