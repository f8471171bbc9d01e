import type { Checkpoint, Stored, Workflow, WorkflowStats, WorkflowStatus } from "@pinakes/client";
import { queryOptions } from "@tanstack/react-query";
import { pagedOptions } from "./page.ts";
import { get, path, request } from "./request.ts";

export const workflowStatuses = ["pending", "in_progress", "paused", "failed", "completed", "cancelled"] as const;
export interface Lease {
  readonly owner: string | null;
  /** Only in events. */
  readonly fencing_token?: number;
  readonly expires_at: string | null;
}

export type WorkflowVerb = "start" | "pause" | "resume" | "retry" | "skip" | "complete" | "fail" | "cancel";

/** Verbs that each status allows; the server validates them. */
export const verbsOf: Readonly<Record<WorkflowStatus, readonly WorkflowVerb[]>> = {
  pending: ["start", "fail", "cancel"],
  in_progress: ["pause", "resume", "complete", "fail", "cancel"],
  paused: ["resume", "fail", "cancel"],
  failed: ["retry", "skip", "resume", "cancel"],
  completed: [],
  cancelled: [],
};

export const workflowStatsOptions = queryOptions({
  queryKey: ["workflows", "stats"],
  queryFn: ({ signal }) => get<WorkflowStats>("/v1/workflows:stats", { signal }),
});

export function workflowsOptions(query: {
  readonly status?: string | undefined;
  readonly type?: string | undefined;
  readonly order?: string | undefined;
}) {
  return pagedOptions<Stored<Workflow>>(["workflows", "list"], "/v1/workflows", query);
}

export function workflowPath(wid: string): string {
  return path`/v1/workflows/${wid}`;
}

export function workflowOptions(wid: string) {
  return queryOptions({
    queryKey: ["workflows", "one", wid],
    queryFn: ({ signal }) => readWorkflow(wid, signal),
  });
}

export function readWorkflow(wid: string, signal?: AbortSignal): Promise<Stored<Workflow>> {
  return get<Stored<Workflow>>(workflowPath(wid), { query: { checkpoints: "none" }, signal });
}

/** The state when the page is opened; events update it. */
export function leaseOptions(wid: string) {
  return queryOptions({
    queryKey: ["workflows", "lease", wid],
    queryFn: ({ signal }) => get<Lease>(`${workflowPath(wid)}/lease`, { signal }),
  });
}

/** Newest first. */
export function checkpointsOptions(wid: string) {
  return pagedOptions<Checkpoint>(["workflows", "checkpoints", wid], `${workflowPath(wid)}/checkpoints`, {
    order: "desc",
  });
}

export interface Act {
  readonly verb: WorkflowVerb;
  readonly etag: string;
  readonly fencingToken?: number | undefined;
  readonly body?: unknown;
}

export async function actOnWorkflow(wid: string, { verb, etag, fencingToken, body }: Act): Promise<void> {
  await request("POST", `${workflowPath(wid)}:${verb}`, {
    ifMatch: quoted(etag),
    query: { fencing_token: fencingToken },
    body,
  });
}

export async function deleteWorkflow(wid: string, etag: string, fencingToken?: number): Promise<void> {
  await request("DELETE", workflowPath(wid), { ifMatch: quoted(etag), query: { fencing_token: fencingToken } });
}

/** The field `_etag` has no quotes, the header has. */
function quoted(etag: string): string {
  return `"${etag}"`;
}
