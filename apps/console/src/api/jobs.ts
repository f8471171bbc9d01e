/** Jobs: what is under way, what failed, what can be tried again. */
import type { Job } from "@pinakes/client";
import { queryOptions } from "@tanstack/react-query";
import { pagedOptions } from "./page.ts";
import { get, path, post } from "./request.ts";

/** Not below "jobs": events put single rows into the list (use-live-jobs.ts), all pages are not asked for again. */
export const jobListKey = ["job-list"] as const;
const againMs = 2_000;

export const jobListOptions = pagedOptions<Job>(jobListKey, "/v1/jobs", {}, ({ job_id }) => job_id);

export function readJob(id: string, signal?: AbortSignal): Promise<Job> {
  return get<Job>(path`/v1/jobs/${id}`, { signal });
}

export function jobDetailOptions(id: string) {
  return queryOptions({
    queryKey: ["jobs", "detail", id],
    queryFn: ({ signal }) => readJob(id, signal),
    refetchInterval: ({ state }) => (state.data !== undefined && isUnderWay(state.data) ? againMs : false),
  });
}

export function isUnderWay({ status }: Pick<Job, "status">): boolean {
  return status === "queued" || status === "running";
}

export type JobAction = "retry" | "cancel";

export function actOnJob(id: string, action: JobAction): Promise<Job> {
  return post<Job>(`${path`/v1/jobs/${id}`}:${action}`);
}

/** The others go on until they are done: an upload is what its documents say, and what one store removed cannot come back. */
export function mayAct({ kind, status }: Pick<Job, "kind" | "status">, action: JobAction): boolean {
  if (action === "retry") return status === "failed" || (status === "cancelled" && !isOperation(kind));
  return (status === "queued" || status === "running") && kind !== "ingest" && !isOperation(kind);
}

/** Carried out by all stores, with a report for each: /v1/operations has it under the same id. */
export function isOperation(kind: string): boolean {
  return kind === "purge" || kind === "archive";
}
