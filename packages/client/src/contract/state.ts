/**
 * The documents of agents' state, with the field names they have everywhere: in the stores, over HTTP and here. Properties that are
 * not named may be there too, and stay.
 */
import type { JsonObject, JsonValue } from "../json.ts";

/** Fields that the store adds to each document: its version, and the second of its last change. */
export interface SystemFields {
  readonly _etag: string;
  readonly _ts: number;
}
export type Stored<Document> = Document & SystemFields;

export const workflowTypes = ["sequential", "concurrent", "group_chat", "handoff", "state_machine", "saga"] as const;
export type WorkflowType = (typeof workflowTypes)[number];
export const workflowStatuses = ["pending", "in_progress", "completed", "failed", "paused", "cancelled"] as const;
export type WorkflowStatus = (typeof workflowStatuses)[number];
export const agentStatuses = ["pending", "in_progress", "completed", "failed", "skipped"] as const;
export type AgentStatus = (typeof agentStatuses)[number];
export const recoveryActions = ["retry", "skip", "manual_intervention"] as const;
export type RecoveryAction = (typeof recoveryActions)[number];
export const environments = ["development", "staging", "production"] as const;
export type Environment = (typeof environments)[number];

export interface ToolCall {
  readonly tool_name: string;
  readonly tool_args: JsonObject;
  readonly tool_result: JsonValue;
  readonly duration_ms: number;
  readonly error: string | null;
}
export interface TokenUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}
export interface AgentResult {
  readonly output: JsonValue;
  readonly tool_calls: readonly ToolCall[];
  readonly token_usage: TokenUsage;
  readonly error: string | null;
}
export interface WorkflowAgent {
  readonly agent_id: string;
  readonly agent_name: string;
  readonly status: AgentStatus;
  readonly started_at: string | null;
  readonly completed_at: string | null;
  readonly duration_ms: number | null;
  readonly result: AgentResult | null;
}
export interface Checkpoint {
  readonly step: number;
  readonly timestamp: string;
  readonly state: JsonObject;
  readonly agent_context: JsonObject;
}
export interface WorkflowMetadata {
  readonly created_by: string;
  readonly tags: readonly string[];
  readonly priority: number;
  readonly retry_count: number;
  readonly max_retries: number;
  readonly timeout_seconds: number;
  readonly environment: Environment;
}
export interface PerformanceMetrics {
  readonly total_duration_ms: number;
  readonly queue_time_ms: number;
  readonly execution_time_ms: number;
  readonly avg_step_duration_ms: number;
  readonly total_cost_usd: number;
}
export interface WorkflowError {
  readonly error_type: string;
  readonly error_message: string;
  readonly stack_trace: string;
  readonly failed_step: number;
  readonly recovery_action: RecoveryAction;
}
export interface Workflow {
  readonly id: string;
  readonly workflow_id: string;
  readonly workspace_id: string;
  readonly type: WorkflowType;
  readonly name: string;
  readonly description: string;
  readonly status: WorkflowStatus;
  /**
   * Number of completed steps: the stored value, or the step of the latest checkpoint if that is larger; `total_steps` once completed.
   * Lists and SQL show the stored value, since a checkpoint does not rewrite the workflow.
   */
  readonly current_step: number;
  readonly total_steps: number;
  readonly agents: readonly WorkflowAgent[];
  /** `get` returns the latest that fit into a megabyte. Other responses contain no added ones; `checkpoints_omitted` is their number. */
  readonly checkpoints: readonly Checkpoint[];
  /** Number of checkpoints besides those in `checkpoints`; absent if there are none. Omitted in lists. */
  readonly checkpoints_omitted?: number;
  readonly metadata: WorkflowMetadata;
  readonly performance_metrics: PerformanceMetrics;
  readonly error_details: WorkflowError | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly completed_at: string | null;
  /** When it last went in progress; absent before its first start. */
  readonly started_at?: string | null;
  readonly ttl?: number;
}

export const messageTypes = ["user", "assistant", "system", "thought", "tool_call", "tool_result"] as const;
export type MessageType = (typeof messageTypes)[number];
export interface MemoryMetadata {
  readonly tool_name: string | null;
  readonly tool_args: JsonObject | null;
  readonly tool_result: JsonValue;
  readonly reasoning_chain: readonly string[];
  readonly tags: readonly string[];
  readonly model: string;
  readonly temperature: number;
  readonly user_id: string | null;
}
export interface Memory {
  readonly id: string;
  readonly agent_id: string;
  readonly session_id: string;
  readonly workspace_id: string;
  readonly content: string;
  readonly message_type: MessageType;
  readonly timestamp: string;
  readonly relevance_score: number;
  readonly token_count: number;
  readonly parent_message_id: string | null;
  readonly metadata: MemoryMetadata;
  readonly created_at: string;
  readonly ttl?: number;
  /** For a session that expires as a unit. */
  readonly ttl_unit?: "session";
}

/** `type`, `name` and `total_steps` are needed; the rest has defaults. */
export type NewWorkflow = Pick<Workflow, "type" | "name" | "total_steps"> &
  Partial<Omit<Workflow, "metadata" | "performance_metrics" | "checkpoints_omitted">> & {
    readonly metadata?: Partial<Workflow["metadata"]>;
    readonly performance_metrics?: Partial<Workflow["performance_metrics"]>;
  };

/** Each property that is present replaces the stored one as a whole; null is a value. A change of status must be a legal transition. */
export type WorkflowChange = Partial<
  Omit<Workflow, "id" | "workflow_id" | "workspace_id" | "checkpoints" | "checkpoints_omitted" | "created_at">
>;

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

/** The holder; without the token, which only the holder has. Both are null if the lease is free. */
export type LeaseHolder =
  | { readonly workflow_id: string; readonly owner: string; readonly expires_at: string }
  | { readonly workflow_id: string; readonly owner: null; readonly expires_at: null };

export interface Resumed {
  readonly workflow: Stored<Workflow>;
  /** The latest checkpoint; null when there is none yet. */
  readonly checkpoint: Checkpoint | null;
  readonly state: JsonObject;
  readonly agent_context: JsonObject;
  readonly lease: Lease | null;
}

export const workflowEventTypes = [
  "workflow.changed",
  "workflow.deleted",
  "checkpoint.added",
  "lease.changed",
] as const;

export interface WorkflowEvent {
  readonly id: string;
  readonly type: (typeof workflowEventTypes)[number];
  readonly workflow_id: string;
  readonly data: JsonObject;
  readonly at: string;
}

export interface WorkflowStats {
  readonly total: number;
  readonly by_status: Readonly<Record<WorkflowStatus, number>>;
  readonly by_type: Readonly<Record<WorkflowType, number>>;
}

export type NewMemory = Pick<Memory, "agent_id" | "session_id" | "content" | "message_type"> &
  Partial<Omit<Memory, "metadata">> & { readonly metadata?: Partial<Memory["metadata"]> };

export type MemoryChange = Partial<Pick<Memory, "content" | "relevance_score" | "token_count" | "ttl">> & {
  readonly metadata?: Partial<Memory["metadata"]>;
};

/** An agent that has memories. */
export interface Agent {
  readonly agent_id: string;
  readonly first_message_at: string;
  readonly last_message_at: string;
}

export const ttlUnits = ["message", "session"] as const;
export type TtlUnit = (typeof ttlUnits)[number];

export interface Session {
  readonly agent_id: string;
  readonly session_id: string;
  readonly message_count: number;
  /** Null in lists: for the sum all messages of the session are read. */
  readonly token_count: number | null;
  readonly first_message_at: string | null;
  readonly last_message_at: string | null;
  readonly forked_from?: string;
  /** `session`: the whole session expires this long after its last message; `message`: each message individually. */
  readonly ttl_unit: TtlUnit;
}

export const memorySorts = ["timestamp", "relevance"] as const;
export type MemorySort = (typeof memorySorts)[number];

export const contextStrategies = ["recent", "relevance"] as const;
export type ContextStrategy = (typeof contextStrategies)[number];

export interface ContextWindow {
  /**
   * In the order they were said; a tool call and its result are both in or both out. With `recent`, a window that leaves out earlier
   * messages starts with a user or system message, unless what fits has none.
   */
  readonly messages: readonly Stored<Memory>[];
  readonly token_count: number;
  readonly omitted: number;
}

export interface MemoryHit {
  readonly memory: Stored<Memory>;
  readonly score: number;
}

export const memorySearchModes = ["keyword", "semantic", "hybrid"] as const;
export type MemorySearchMode = (typeof memorySearchModes)[number];

export interface MemorySearchResult {
  readonly hits: readonly MemoryHit[];
  readonly mode_used: MemorySearchMode;
  /** Not all messages are in the index of searches yet; each search brings more of them in. */
  readonly incomplete?: true;
}

/** A message with its ancestors and replies. */
export interface MemoryThread {
  readonly ancestors: readonly Stored<Memory>[];
  readonly message: Stored<Memory>;
  readonly children: readonly Stored<Memory>[];
}

/** Documents of any shape with an id, in the order they were added (`sequence`). */
export type ThreadMessage = JsonObject & {
  readonly id: string;
  readonly threadId: string;
  readonly sequence?: JsonValue;
};

export type AgentEntity = JsonObject & { readonly id: string; readonly agentId: string };
