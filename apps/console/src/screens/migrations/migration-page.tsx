import type { Migration, MigrationProblem } from "@pinakes/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { isWork, migrationOptions } from "../../api/migrations.ts";
import { formatDateTime, formatNumber } from "../../lib/format.ts";
import { migrationStrings } from "../../strings/migrations.ts";
import { buttonClass } from "../../ui/button.tsx";
import { Facts, Page, Panel } from "../../ui/panel.tsx";
import { Progress } from "../../ui/progress.tsx";
import { Pending } from "../../ui/states.tsx";
import { kindName, StateBadge } from "./state-badge.tsx";
import { StepButtons } from "./step-buttons.tsx";
import { StepCourse } from "./step-course.tsx";
import { Units } from "./units.tsx";

const s = migrationStrings.detail;
const route = getRouteApi("/shell/migrations/$mid");

export function MigrationPage() {
  const { mid } = route.useParams();
  const { data, error, refetch } = useQuery(migrationOptions(mid));
  const back = (
    <Link to="/migrations" className={buttonClass("quiet")}>
      {s.back}
    </Link>
  );
  return (
    <Page
      title={s.title(data === undefined ? mid : kindName(data.kind))}
      about={<code className="font-mono text-xs">{mid}</code>}
      actions={back}
    >
      {data === undefined ? <Pending of={{ error, refetch }} /> : <Detail migration={data} />}
    </Page>
  );
}

function Detail({ migration }: { readonly migration: Migration }) {
  const { state, progress, problem_count } = migration;
  return (
    <>
      <Panel title={s.steps} actions={<StateBadge migration={migration} />}>
        <div className="flex flex-col gap-4">
          <StepCourse state={state} />
          {progress !== null && <Course progress={progress} />}
          {migration.error !== null && (
            <div role="alert" className="rounded-md bg-bad-soft p-3 text-sm">
              <p className="font-medium text-bad">{s.error}</p>
              <p className="break-words">{migration.error}</p>
              {isWork(state) && <p className="mt-1 text-xs text-soft">{s.errorAgain}</p>}
            </div>
          )}
          <StepButtons migration={migration} />
        </div>
      </Panel>
      {problem_count > 0 && <Problems problems={migration.problems} count={problem_count} />}
      <Units migration={migration} />
      <Overview migration={migration} />
    </>
  );
}

function Course({ progress: { unit, done, total } }: { readonly progress: NonNullable<Migration["progress"]> }) {
  const words = s.progress(unit, formatNumber(done), formatNumber(total));
  return (
    <div>
      <Progress done={done} total={total} label={words} />
      <p className="text-xs text-soft">{words}</p>
    </div>
  );
}

function Overview({ migration }: { readonly migration: Migration }) {
  const {
    state,
    working,
    unit_count,
    row_count,
    created_by,
    created_at,
    switched_at,
    retain_until,
    trash_until = null,
    finished_at,
    source,
  } = migration;
  const back = state === "rolled_back";
  const at = (name: string, time: string | null) => (time === null ? [] : [[name, formatDateTime(time)] as const]);
  const doing = isWork(state) ? ` (${working ? s.working : s.waitsForWorker})` : "";
  return (
    <Panel title={s.source}>
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <Facts
          of={[
            [s.state, `${migrationStrings.states[state]}${doing}`],
            ...(migration.auto === true && !back ? [[s.auto, s.autoAbout] as const] : []),
            [s.units, formatNumber(unit_count)],
            [s.rows, formatNumber(row_count)],
            [s.by, created_by],
            [s.started, formatDateTime(created_at)],
            ...at(s.switched, switched_at),
            // After a rollback the source is in use again and kept permanently.
            ...(back ? [[s.restored, s.inUse] as const] : at(s.retained, retain_until)),
            ...at(s.trashed, trash_until),
            ...at(s.finished, finished_at),
          ]}
        />
        <pre
          tabIndex={0}
          aria-label={s.source}
          className="max-h-64 overflow-auto rounded-md bg-raised p-3 font-mono text-xs break-words whitespace-pre-wrap"
        >
          {JSON.stringify(source, null, 2)}
        </pre>
      </div>
    </Panel>
  );
}

/** At most 20, so they are listed without paging. */
function Problems({ problems, count }: { readonly problems: readonly MigrationProblem[]; readonly count: number }) {
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
