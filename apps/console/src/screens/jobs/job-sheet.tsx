import type { Job } from "@pinakes/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { isOperation, isUnderWay, jobDetailOptions, mayAct } from "../../api/jobs.ts";
import { useCollectionName } from "../../api/collection-names.ts";
import { formatDateTime, formatNumber } from "../../lib/format.ts";
import { jobStrings } from "../../strings/jobs.ts";
import { Status } from "../../ui/badge.tsx";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Facts } from "../../ui/panel.tsx";
import { Pending } from "../../ui/states.tsx";
import { kindOf, labelOf } from "./job-columns.tsx";
import { JobProgress } from "./job-progress.tsx";
import { JobResult } from "./job-result.tsx";
import { useJobAction } from "./use-job-action.ts";

const s = jobStrings.detail;

export function JobSheet({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { data: job, error, refetch } = useQuery(jobDetailOptions(id));
  return (
    <Dialog open onClose={onClose} title={s.title(job === undefined ? "…" : kindOf(job.kind))} place="side">
      {job === undefined ? <Pending of={{ error, refetch }} /> : <Detail job={job} />}
    </Dialog>
  );
}

function Detail({ job }: { readonly job: Job }) {
  return (
    <div className="flex flex-col gap-5">
      <Facts
        of={[
          [
            s.id,
            <code key="id" className="font-mono text-xs">
              {job.job_id}
            </code>,
          ],
          [s.status, <Status key="status" value={job.status} />],
          [s.collection, <Collection key="collection" job={job} />],
          [s.by, job.created_by],
          [s.started, formatDateTime(job.created_at)],
          [s.updated, formatDateTime(job.updated_at)],
          [s.attempts, formatNumber(job.attempts)],
          [s.progress, <JobProgress key="progress" progress={job.progress} />],
        ]}
      />
      {job.error !== null && (
        <section className="rounded-lg bg-bad-soft p-3 text-sm">
          <h2 className="font-medium text-bad">{s.error}</h2>
          <p className="break-words">{job.error}</p>
        </section>
      )}
      <Buttons job={job} />
      {job.result !== null && <JobResult job={job} result={job.result} />}
    </div>
  );
}

function Collection({ job }: { readonly job: Job }) {
  const { repository_id: rid, collection_id: cid } = job;
  const place = labelOf(job, useCollectionName());
  if (rid === "*" || cid === "") return place;
  return (
    <Link to="/collections/$rid/$cid" params={{ rid, cid }} className="text-brand hover:underline">
      {place}
    </Link>
  );
}

function Buttons({ job }: { readonly job: Job }) {
  const acting = useJobAction();
  const actions = (["retry", "cancel"] as const).filter((action) => mayAct(job, action));
  return (
    <div className="flex flex-wrap items-center gap-2">
      {actions.map((action) => (
        <Button key={action} disabled={acting.isPending} onClick={() => acting.mutate({ job, action })}>
          {jobStrings[action]}
        </Button>
      ))}
      {isOperation(job.kind) && (
        <Link to="/deletions" search={{ operation: job.job_id }} className={buttonClass()}>
          {s.operation}
        </Link>
      )}
      {job.kind === "fsck" && (
        <Link to="/audit" search={{ job: job.job_id }} className={buttonClass()}>
          {s.audit}
        </Link>
      )}
      {isUnderWay(job) && job.kind === "ingest" && <p className="text-xs text-soft">{s.noCancelIngest}</p>}
      {isUnderWay(job) && isOperation(job.kind) && <p className="text-xs text-soft">{s.noCancelOperation}</p>}
    </div>
  );
}
