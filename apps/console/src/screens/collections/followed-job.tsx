/** A job of the collection. Its id is in the URL, so that a reload continues to follow it. */
import type { Job } from "@pinakes/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import type { CollectionId } from "../../api/collections.ts";
import { isUnderWay, jobDetailOptions } from "../../api/jobs.ts";
import { formatNumber } from "../../lib/format.ts";
import { collectionStrings } from "../../strings/collection.ts";
import { Status } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Progress } from "../../ui/progress.tsx";
import { Pending } from "../../ui/states.tsx";
import { InTrash } from "./in-trash.tsx";
import { PurgeReport } from "./purge-report.tsx";

const s = collectionStrings.work;

interface Props {
  readonly jobId: string;
  readonly collection: CollectionId;
  readonly onHide: () => void;
}

export function FollowedJob({ jobId, collection, onHide }: Props) {
  const { data: job, error, refetch } = useQuery(jobDetailOptions(jobId));
  useRefreshAtEnd(job, collection);
  const title = job === undefined ? "…" : (s.titles[job.kind] ?? s.other(job.kind));
  return (
    <Panel
      title={title}
      actions={
        <>
          {job !== undefined && <Status value={job.status} />}
          <Button size="small" look="quiet" onClick={onHide}>
            {s.hide}
          </Button>
        </>
      }
    >
      {job === undefined ? (
        <Pending of={{ error, refetch }} />
      ) : (
        <JobState job={job} collection={collection} onHide={onHide} />
      )}
    </Panel>
  );
}

function JobState({
  job,
  collection,
  onHide,
}: {
  readonly job: Job;
  readonly collection: CollectionId;
  readonly onHide: () => void;
}) {
  if (job.kind === "purge") return <PurgeReport operationId={job.job_id} />;
  const until = job.result?.["mode"] === "soft" ? job.result["purge_at"] : undefined;
  if (typeof until === "string") return <InTrash until={until} collection={collection} onRestored={onHide} />;
  return (
    <div className="flex flex-col gap-3 text-sm">
      {job.progress.total > 0 ? (
        <HowFar {...job.progress} />
      ) : (
        job.status === "queued" && <p className="text-soft">{s.waiting}</p>
      )}
      {job.error !== null && <p className="break-words text-bad">{job.error}</p>}
      <Link to="/jobs" className="self-start text-brand hover:underline">
        {s.jobs}
      </Link>
    </div>
  );
}

function HowFar({ done, total }: Job["progress"]) {
  const words = s.progress(formatNumber(done), formatNumber(total));
  return (
    <div className="flex flex-col gap-1">
      <Progress done={done} total={total} label={words} />
      <p className="text-soft">{words}</p>
    </div>
  );
}

/** Refetches the collection when the job ends. */
function useRefreshAtEnd(job: Job | undefined, { rid, cid }: CollectionId): void {
  const client = useQueryClient();
  // A deleted collection cannot be refetched.
  const gone = job?.kind === "delete" || job?.kind === "purge";
  const ended = job !== undefined && !gone && !isUnderWay(job);
  useEffect(() => {
    if (!ended) return;
    for (const kind of ["collection", "documents", "usage"])
      void client.invalidateQueries({ queryKey: [kind, rid, cid] });
  }, [client, ended, rid, cid]);
}
