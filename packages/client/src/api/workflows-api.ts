/** Workflows: what runs, how far it has come, and from where it goes on after a crash. */
import type {
  Checkpoint,
  Stored,
  Workflow,
  WorkflowAgent,
  WorkflowError,
  WorkflowStatus,
  WorkflowType,
} from "../documents.ts";
import type { JsonObject } from "../json.ts";
import type { CreateOptions, IfMatch, Page, Paging } from "./common.ts";

/** `type`, `name` and `total_steps` are needed; the rest has defaults. */
export type NewWorkflow = Pick<Workflow, "type" | "name" | "total_steps"> &
  Partial<Omit<Workflow, "metadata" | "performance_metrics" | "checkpoints_omitted">> & {
    readonly metadata?: Partial<Workflow["metadata"]>;
    readonly performance_metrics?: Partial<Workflow["performance_metrics"]>;
  };

/** Each property given replaces the stored one as a whole; null is a value. A change of status must be a legal transition. */
export type WorkflowChange = Partial<
  Omit<Workflow, "id" | "workflow_id" | "workspace_id" | "checkpoints" | "checkpoints_omitted" | "created_at">
>;

export interface WorkflowQuery extends Paging {
  readonly status?: WorkflowStatus | undefined;
  readonly type?: WorkflowType | undefined;
  readonly order?: "asc" | "desc" | undefined;
}

export interface WorkflowWrite extends IfMatch {
  /** The token of the lease; needed while somebody holds one. */
  readonly fencingToken?: number | undefined;
}

export interface NewCheckpoint {
  readonly step: number;
  readonly state: JsonObject;
  readonly agent_context?: JsonObject;
  readonly timestamp?: string;
}

export interface Lease {
  readonly workflow_id: string;
  readonly owner: string;
  /** Grows with every holder: a write with an older one is refused. */
  readonly fencing_token: number;
  readonly expires_at: string;
}

/** Who works on it; without the token, which only the holder has. Both are null when nobody holds the lease. */
export type LeaseHolder =
  | { readonly workflow_id: string; readonly owner: string; readonly expires_at: string }
  | { readonly workflow_id: string; readonly owner: null; readonly expires_at: null };

export interface ResumeOptions extends WorkflowWrite {
  /** Takes the lease as well, for this worker. */
  readonly owner?: string | undefined;
  readonly leaseSeconds?: number | undefined;
}
export interface Resumed {
  readonly workflow: Stored<Workflow>;
  /** The latest checkpoint; null when there is none yet. */
  readonly checkpoint: Checkpoint | null;
  readonly state: JsonObject;
  readonly agent_context: JsonObject;
  readonly lease: Lease | null;
}

export interface WorkflowEvent {
  readonly id: string;
  readonly type: "workflow.changed" | "workflow.deleted" | "checkpoint.added" | "lease.changed";
  readonly workflow_id: string;
  readonly data: JsonObject;
  readonly at: string;
}

export interface WorkflowStats {
  readonly total: number;
  readonly by_status: Readonly<Record<WorkflowStatus, number>>;
  readonly by_type: Readonly<Record<WorkflowType, number>>;
}

export interface WorkflowsApi {
  create(input: NewWorkflow, options?: CreateOptions): Promise<Stored<Workflow>>;
  /** With its latest checkpoints, as many as fit a megabyte (`checkpoints_omitted` tells of older ones); or without. */
  get(workflowId: string, options?: { readonly checkpoints?: "recent" | "none" }): Promise<Stored<Workflow>>;
  /** Without checkpoints, newest first. */
  list(query?: WorkflowQuery): Promise<Page<Stored<Workflow>>>;
  patch(workflowId: string, change: WorkflowChange, options?: WorkflowWrite): Promise<Stored<Workflow>>;
  /** With all its checkpoints. */
  delete(workflowId: string, options?: WorkflowWrite): Promise<void>;
  start(workflowId: string, options?: WorkflowWrite): Promise<Stored<Workflow>>;
  pause(workflowId: string, options?: WorkflowWrite): Promise<Stored<Workflow>>;
  cancel(workflowId: string, options?: WorkflowWrite): Promise<Stored<Workflow>>;
  /** All steps are done: `current_step` is then `total_steps`. */
  complete(workflowId: string, options?: WorkflowWrite): Promise<Stored<Workflow>>;
  fail(workflowId: string, error: Partial<WorkflowError>, options?: WorkflowWrite): Promise<Stored<Workflow>>;
  /** A failed one again, from its failed step; refused beyond `max_retries`. */
  retry(workflowId: string, options?: WorkflowWrite): Promise<Stored<Workflow>>;
  /** A failed one, from the step after the failed one. */
  skip(workflowId: string, options?: WorkflowWrite): Promise<Stored<Workflow>>;
  /** Goes on: in progress, with the latest checkpoint, and with the lease when an owner is named. */
  resume(workflowId: string, options?: ResumeOptions): Promise<Resumed>;
  /** Adds or changes one agent's progress. */
  setAgent(
    workflowId: string,
    agentId: string,
    agent: Partial<WorkflowAgent>,
    options?: WorkflowWrite,
  ): Promise<Stored<Workflow>>;
  /** One more. Not of a workflow that is over or failed (CONFLICT), and not of a step beyond `total_steps` (INVALID). */
  checkpoint(workflowId: string, checkpoint: NewCheckpoint, options?: WorkflowWrite): Promise<Checkpoint>;
  checkpoints(
    workflowId: string,
    query?: Paging & { readonly order?: "asc" | "desc" | undefined },
  ): Promise<Page<Checkpoint>>;
  checkpointAt(workflowId: string, step: number | "latest"): Promise<Checkpoint>;
  /** Who holds the lease now; owner and expires_at are null when nobody does. */
  lease(workflowId: string): Promise<LeaseHolder>;
  acquireLease(
    workflowId: string,
    options: { readonly owner: string; readonly leaseSeconds?: number | undefined },
  ): Promise<Lease>;
  renewLease(
    workflowId: string,
    options: { readonly fencingToken: number; readonly leaseSeconds?: number | undefined },
  ): Promise<Lease>;
  releaseLease(workflowId: string, options: { readonly fencingToken: number }): Promise<void>;
  /** Without end, until the signal; `after` is the id of the last event seen. */
  events(
    workflowId: string,
    options: { readonly after?: string | undefined; readonly signal: AbortSignal },
  ): AsyncIterable<WorkflowEvent>;
  stats(): Promise<WorkflowStats>;
}
