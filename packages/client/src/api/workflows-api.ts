/** Workflows: what runs, its progress, and where it resumes after a crash. */
import type { CreateOptions, IfMatch } from "./common.ts";
import type { Page, Paging, SortOrder } from "../contract/common.ts";
import type {
  Checkpoint,
  Lease,
  LeaseHolder,
  NewCheckpoint,
  NewWorkflow,
  Resumed,
  Stored,
  Workflow,
  WorkflowAgent,
  WorkflowChange,
  WorkflowError,
  WorkflowEvent,
  WorkflowStats,
  WorkflowStatus,
  WorkflowType,
} from "../contract/state.ts";

export interface WorkflowQuery extends Paging {
  readonly status?: WorkflowStatus | undefined;
  readonly type?: WorkflowType | undefined;
  readonly order?: SortOrder | undefined;
}

export interface WorkflowWrite extends IfMatch {
  /** The fencing token; required while the lease is held. */
  readonly fencingToken?: number | undefined;
}

export interface ResumeOptions extends WorkflowWrite {
  /** Takes the lease as well, for this worker. */
  readonly owner?: string | undefined;
  readonly leaseSeconds?: number | undefined;
}

export interface WorkflowsApi {
  create(input: NewWorkflow, options?: CreateOptions): Promise<Stored<Workflow>>;
  /** With its latest checkpoints, as many as fit into a megabyte (`checkpoints_omitted` counts older ones); or without any. */
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
    query?: Paging & { readonly order?: SortOrder | undefined },
  ): Promise<Page<Checkpoint>>;
  checkpointAt(workflowId: string, step: number | "latest"): Promise<Checkpoint>;
  /** The current holder of the lease; owner and expires_at are null if it is free. */
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
