import type { Job } from "@pinakes/client";
import { queryOptions } from "@tanstack/react-query";
import { pagedOptions } from "./page.ts";
import { get, path, post } from "./request.ts";

/** Not below "jobs": events update single rows (use-live-jobs.ts) instead of invalidating all pages. */
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

/** Other jobs cannot be cancelled: uploads are represented by their documents, and data removed from a store cannot be restored. */
export function mayAct({ kind, status }: Pick<Job, "kind" | "status">, action: JobAction): boolean {
  if (action === "retry") return status === "failed" || (status === "cancelled" && !isOperation(kind));
  return (status === "queued" || status === "running") && kind !== "ingest" && !isOperation(kind);
}

/** Runs in all stores, with a report for each: /v1/operations has it under the same id. */
export function isOperation(kind: string): boolean {
  return kind === "purge" || kind === "archive";
}
