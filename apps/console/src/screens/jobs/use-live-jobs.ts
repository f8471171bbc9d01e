/**
 * Keeps the list of jobs as it is on the server, while it is shown. An event names a job, or a document that belongs to an upload: those
 * jobs are read again, a few at a time, and put into the list in their place.
 */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { useEvents, type ServerEvent } from "../../api/events.ts";
import { isUnderWay, jobListKey, readJob, type JobRow } from "../../api/jobs.ts";
import { itemsInPages, putInPages } from "../../api/pages-cache.ts";

/** Many events come together: they are answered by one look. */
const gatherMs = 300;
const readAtOnceMax = 10;

export function useLiveJobs(): void {
  const client = useQueryClient();
  const waiting = useRef(new Set<string>());
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const look = async () => {
    const ids = [...waiting.current].slice(0, readAtOnceMax);
    for (const id of ids) waiting.current.delete(id);
    const found = await Promise.all(ids.map(readIfVisible));
    for (const job of found) if (job !== undefined) putInPages<JobRow>(client, jobListKey, job, ({ job_id }) => job_id);
    timer.current = waiting.current.size > 0 ? setTimeout(() => void look(), gatherMs) : undefined;
  };
  useEvents((event) => {
    for (const id of jobsOf(event, itemsInPages<JobRow>(client, jobListKey))) waiting.current.add(id);
    if (waiting.current.size > 0) timer.current ??= setTimeout(() => void look(), gatherMs);
  });
}

export function jobsOf({ type, resource: { job_id, document_id, repository_id, collection_id } }: ServerEvent, known: readonly JobRow[]): readonly string[] {
  if (type === "job.progress" || type === "job.done") return job_id === undefined ? [] : [job_id];
  if (type !== "document.status") return [];
  return known
    .filter((job) => job.kind === "ingest" && job.repository_id === repository_id && job.collection_id === collection_id)
    .filter((job) => isUnderWay(job) || documentIds(job).includes(document_id))
    .map((job) => job.job_id);
}

function documentIds({ result }: JobRow): readonly unknown[] {
  const documents = result?.["documents"];
  return Array.isArray(documents) ? documents.map((one: { readonly document_id?: unknown }) => one.document_id) : [];
}

async function readIfVisible(id: string): Promise<JobRow | undefined> {
  try {
    return await readJob(id);
  } catch {
    // Gone since, or no answer: then the list as a whole is read again when the connection is back.
    return undefined;
  }
}
