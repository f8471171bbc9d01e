import { mayAct, type JobAction, type JobRow } from "../../api/jobs.ts";
import { formatNumber } from "../../lib/format.ts";
import { jobStrings as s } from "../../strings/jobs.ts";
import { Status } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import type { Column } from "../../ui/data-table.tsx";
import { Ago } from "../../ui/time.tsx";
import { JobProgress } from "./job-progress.tsx";

interface Actions {
  /** The job that is being acted on. */
  readonly pending: string | undefined;
  readonly onAct: (job: JobRow, action: JobAction) => void;
}

export function jobColumns(actions: Actions): readonly Column<JobRow>[] {
  const of = s.columns;
  return [
    { id: "kind", header: of.kind, width: "7.5rem", cell: ({ kind }) => <span className="truncate font-medium">{kindOf(kind)}</span> },
    { id: "status", header: of.status, width: "6.5rem", cell: ({ status }) => <Status value={status} /> },
    { id: "collection", header: of.collection, width: "minmax(8rem,1fr)", cell: (job) => <Place job={job} /> },
    { id: "progress", header: of.progress, width: "9rem", cell: ({ progress }) => <JobProgress progress={progress} /> },
    { id: "attempts", header: of.attempts, width: "3.5rem", align: "right", cell: ({ attempts }) => formatNumber(attempts) },
    { id: "error", header: of.error, width: "minmax(8rem,1.5fr)", cell: ({ error }) => <Cause error={error} /> },
    { id: "age", header: of.age, width: "7rem", cell: ({ created_at }) => <Ago at={created_at} /> },
    { id: "actions", header: of.actions, width: "6.5rem", cell: (job) => <RowActions job={job} {...actions} /> },
  ];
}

export function kindOf(kind: string): string {
  return s.kinds[kind] ?? kind;
}

export function placeOf({ repository_id, collection_id }: Pick<JobRow, "repository_id" | "collection_id">): string {
  if (repository_id === "*") return s.wholeWorkspace;
  return collection_id === "" ? repository_id : `${repository_id} / ${collection_id}`;
}

function Place({ job }: { readonly job: JobRow }) {
  const place = placeOf(job);
  return (
    <span className="truncate" title={place}>
      {place}
    </span>
  );
}

function Cause({ error }: { readonly error: string | null }) {
  return error === null ? null : (
    <span className="truncate text-bad" title={error}>
      {error}
    </span>
  );
}

function RowActions({ job, pending, onAct }: Actions & { readonly job: JobRow }) {
  const action = (["retry", "cancel"] as const).find((one) => mayAct(job, one));
  if (action === undefined) return null;
  return (
    <Button
      size="small"
      disabled={pending === job.job_id}
      aria-label={s.actionFor(s[action], kindOf(job.kind), placeOf(job))}
      onClick={(event) => {
        // The row itself opens the detail.
        event.stopPropagation();
        onAct(job, action);
      }}
    >
      {s[action]}
    </Button>
  );
}
