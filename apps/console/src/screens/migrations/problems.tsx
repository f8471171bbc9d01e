import type { MigrationProblem } from "@pinakes/client";
import { formatNumber } from "../../lib/format.ts";
import { migrationStrings } from "../../strings/migrations.ts";
import { Panel } from "../../ui/panel.tsx";

const s = migrationStrings.detail;

/** At most 20, so they are listed without paging. */
export function Problems({
  problems,
  count,
}: {
  readonly problems: readonly MigrationProblem[];
  readonly count: number;
}) {
  return (
    <Panel title={s.problems(formatNumber(count))}>
      <p className="mb-3 text-sm text-soft">{s.problemsAbout}</p>
      <ul aria-label={s.problemsTable} className="flex flex-col gap-2 text-sm">
        {problems.map(({ where, reason }, index) => (
          <li key={`${index} ${where}`} className="flex flex-wrap gap-x-3">
            <code className="font-mono text-xs break-all text-soft">{where}</code>
            <span className="min-w-0 flex-1 basis-60 break-words">{reason}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
