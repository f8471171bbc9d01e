import type { Job } from "@pinakes/client";
import type { CollectionName } from "../../api/collection-names.ts";
import { mayAct, type JobAction } from "../../api/jobs.ts";
import { formatNumber } from "../../lib/format.ts";
import { jobStrings as s } from "../../strings/jobs.ts";
import { Status } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import type { Column } from "../../ui/data-table.tsx";
import { Ago } from "../../ui/time.tsx";
import { JobProgress } from "./job-progress.tsx";

interface Actions {
  /** The job with a pending action. */
  readonly pending: string | undefined;
  readonly onAct: (job: Job, action: JobAction) => void;
  readonly nameOf: CollectionName;
}

export function jobColumns(actions: Actions): readonly Column<Job>[] {
  const of = s.columns;
  return [
    {
      id: "kind",
      header: of.kind,
      width: "6.5rem",
      cell: ({ kind }) => <span className="truncate font-medium">{kindOf(kind)}</span>,
    },
    { id: "status", header: of.status, width: "6.5rem", cell: ({ status }) => <Status value={status} /> },
    {
      id: "collection",
      header: of.collection,
      width: "minmax(12rem,2fr)",
      cell: (job) => <Place job={job} nameOf={actions.nameOf} />,
    },
    { id: "progress", header: of.progress, width: "8rem", cell: ({ progress }) => <JobProgress progress={progress} /> },
    {
      id: "attempts",
      header: of.attempts,
      width: "3.5rem",
      align: "right",
      cell: ({ attempts }) => formatNumber(attempts),
    },
    { id: "error", header: of.error, width: "minmax(7rem,1.5fr)", cell: ({ error }) => <Cause error={error} /> },
    { id: "age", header: of.age, width: "7rem", cell: ({ created_at }) => <Ago at={created_at} /> },
    { id: "actions", header: of.actions, width: "6.5rem", cell: (job) => <RowActions job={job} {...actions} /> },
  ];
}

export function kindOf(kind: string): string {
  return s.kinds[kind] ?? kind;
}

export function labelOf(job: Pick<Job, "kind" | "repository_id" | "collection_id">, nameOf: CollectionName): string {
  // For evaluation runs, this is the id of the evaluation.
  if (job.kind === "evaluation") return s.evaluationSet;
  return job.repository_id === "*" ? s.wholeWorkspace : nameOf(job);
}

function Place({ job, nameOf }: { readonly job: Job; readonly nameOf: CollectionName }) {
  const place = labelOf(job, nameOf);
  return (
    <span className="truncate" title={`${place} (${job.repository_id}/${job.collection_id})`}>
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

function RowActions({ job, pending, onAct, nameOf }: Actions & { readonly job: Job }) {
  const action = (["retry", "cancel"] as const).find((one) => mayAct(job, one));
  if (action === undefined) return null;
  return (
    <Button
      size="small"
      disabled={pending === job.job_id}
      aria-label={s.actionFor(s[action], kindOf(job.kind), labelOf(job, nameOf))}
      onClick={(event) => {
        // Prevents the row's click handler.
        event.stopPropagation();
        onAct(job, action);
      }}
    >
      {s[action]}
    </Button>
  );
}
