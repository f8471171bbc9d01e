/** Workflows: what runs, how far it is, and what can be done with it. */
import { queryOptions } from "@tanstack/react-query";
import { pagedOptions } from "./page.ts";
import { get, path, request } from "./request.ts";

export const workflowStatuses = ["pending", "in_progress", "paused", "failed", "completed", "cancelled"] as const;
export type WorkflowStatus = (typeof workflowStatuses)[number];
export const workflowTypes = ["sequential", "concurrent", "group_chat", "handoff", "state_machine", "saga"] as const;
export type WorkflowType = (typeof workflowTypes)[number];
export const recoveryActions = ["retry", "skip", "manual_intervention"] as const;
export type RecoveryAction = (typeof recoveryActions)[number];

export interface WorkflowAgent {
  readonly agent_id: string;
  readonly agent_name: string;
  readonly status: string;
  readonly started_at: string | null;
  readonly completed_at: string | null;
  readonly duration_ms: number | null;
  readonly result: unknown;
}

export interface WorkflowError {
  readonly error_type: string;
  readonly error_message: string;
  readonly stack_trace: string;
  readonly failed_step: number;
  readonly recovery_action: RecoveryAction;
}

export interface Workflow {
  readonly workflow_id: string;
  readonly type: WorkflowType;
  readonly name: string;
  readonly description: string;
  readonly status: WorkflowStatus;
  readonly current_step: number;
  readonly total_steps: number;
  readonly agents: readonly WorkflowAgent[];
  readonly metadata: {
    readonly created_by: string;
    readonly tags: readonly string[];
    readonly priority: number;
    readonly retry_count: number;
    readonly max_retries: number;
    readonly timeout_seconds: number;
    readonly environment: string;
  };
  readonly performance_metrics: {
    readonly total_duration_ms: number;
    readonly execution_time_ms: number;
    readonly total_cost_usd: number;
  };
  readonly error_details: WorkflowError | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly started_at?: string | null;
  readonly completed_at: string | null;
  readonly _etag: string;
}

export interface Checkpoint {
  readonly step: number;
  readonly timestamp: string;
  readonly state: unknown;
  readonly agent_context: unknown;
}

export interface WorkflowStats {
  readonly total: number;
  readonly by_status: Readonly<Record<WorkflowStatus, number>>;
  readonly by_type: Readonly<Record<WorkflowType, number>>;
}

export interface WorkflowEvent {
  readonly id: string;
  readonly type: "workflow.changed" | "workflow.deleted" | "checkpoint.added" | "lease.changed";
  readonly data: Readonly<Record<string, unknown>>;
  readonly at: string;
}

export interface Lease {
  readonly owner: string | null;
  /** Only events tell it. */
  readonly fencing_token?: number;
  readonly expires_at: string | null;
}

export const workflowEventTypes = ["workflow.changed", "workflow.deleted", "checkpoint.added", "lease.changed"];

export type WorkflowVerb = "start" | "pause" | "resume" | "retry" | "skip" | "complete" | "fail" | "cancel";

/** What each status allows; the server says the last word. */
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
  return pagedOptions<Workflow>(["workflows", "list"], "/v1/workflows", query);
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

export function readWorkflow(wid: string, signal?: AbortSignal): Promise<Workflow> {
  return get<Workflow>(workflowPath(wid), { query: { checkpoints: "none" }, signal });
}

/** How it is when the page is opened; the events tell what comes after. */
export function leaseOptions(wid: string) {
  return queryOptions({
    queryKey: ["workflows", "lease", wid],
    queryFn: ({ signal }) => get<Lease>(`${workflowPath(wid)}/lease`, { signal }),
  });
}

/** The newest first. */
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
