/**
 * Keeps the list of jobs current while it is shown. An event names a job, or a document of an upload. Few changed jobs are read one by one
 * and updated in place; for many, their pages are refetched.
 */
import type { Job } from "@pinakes/client";
import { useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { onEvent, type ServerEvent } from "../../api/events.ts";
import { isUnderWay, jobListKey, readJob } from "../../api/jobs.ts";
import { itemsInPages, putInPages } from "../../api/pages-cache.ts";
import { refetchChanged } from "../../api/refetch.ts";
import { throttle } from "../../lib/throttle.ts";

/** Batches bursts of events. */
const turns = { soonMs: 300, againMs: 2_000 };
/** Above this, refetching a page is cheaper. */
const singlesMax = 3;

export function useLiveJobs(): void {
  const client = useQueryClient();
  useEffect(() => {
    const waiting = new Set<string>();
    let left = false;
    const look = throttle(async () => {
      const ids = [...waiting];
      waiting.clear();
      if (!left && ids.length <= singlesMax) return readSingles(client, ids);
      left = await refetchChanged(client, jobListKey, ids);
      if (left) look();
    }, turns);
    return onEvent((event) => {
      for (const id of jobsOf(event, itemsInPages<Job>(client, jobListKey))) waiting.add(id);
      if (waiting.size > 0) look();
    });
  }, [client]);
}

async function readSingles(client: QueryClient, ids: readonly string[]): Promise<void> {
  const found = await Promise.all(ids.map(readIfVisible));
  for (const job of found) if (job !== undefined) putInPages<Job>(client, jobListKey, job, ({ job_id }) => job_id);
}

export function jobsOf(
  { type, resource: { job_id, document_id, repository_id, collection_id } }: ServerEvent,
  known: readonly Job[],
): readonly string[] {
  if (type === "job.progress" || type === "job.done") return job_id === undefined ? [] : [job_id];
  if (type !== "document.status") return [];
  return known
    .filter(
      (job) => job.kind === "ingest" && job.repository_id === repository_id && job.collection_id === collection_id,
    )
    .filter((job) => isUnderWay(job) || documentIds(job).includes(document_id))
    .map((job) => job.job_id);
}

function documentIds({ result }: Job): readonly unknown[] {
  const documents = result?.["documents"];
  return Array.isArray(documents) ? documents.map((one: { readonly document_id?: unknown }) => one.document_id) : [];
}

async function readIfVisible(id: string): Promise<Job | undefined> {
  try {
    return await readJob(id);
  } catch {
    // Deleted or unreachable: the list is refetched after a reconnect.
    return undefined;
  }
}
