/**
 * The documents of agents' state, with the field names they have everywhere: in the stores, over HTTP and here. Properties that are
 * not named may be there too, and stay.
 */
import type { JsonObject, JsonValue } from "./json.ts";

/** What the store adds to each document: its version, and the second of its last change. */
export interface SystemFields {
  readonly _etag: string;
  readonly _ts: number;
}
export type Stored<Document> = Document & SystemFields;

export type WorkflowType = "sequential" | "concurrent" | "group_chat" | "handoff" | "state_machine" | "saga";
export type WorkflowStatus = "pending" | "in_progress" | "completed" | "failed" | "paused" | "cancelled";
export type AgentStatus = "pending" | "in_progress" | "completed" | "failed" | "skipped";
export type RecoveryAction = "retry" | "skip" | "manual_intervention";
export type Environment = "development" | "staging" | "production";

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
   * How many steps are done: what was written here, or the step of the latest checkpoint where that is larger; `total_steps` when it
   * is completed. Lists and SQL show what the last change of the workflow wrote, since a checkpoint does not rewrite it.
   */
  readonly current_step: number;
  readonly total_steps: number;
  readonly agents: readonly WorkflowAgent[];
  /** `get` shows the latest that fit a megabyte. Other answers show none that were added; `checkpoints_omitted` tells how many. */
  readonly checkpoints: readonly Checkpoint[];
  /** How many there are beside those in `checkpoints`; absent where there are none. Lists leave it out. */
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

export type MessageType = "user" | "assistant" | "system" | "thought" | "tool_call" | "tool_result";
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
}

export type FixedMetricType = "latency" | "token_usage" | "cost" | "success_rate" | "tool_usage";
/** `custom.<name>`: a type of one's own; the name is a lower-case letter, then up to 62 of a-z, 0-9 and "_". */
export type MetricType = FixedMetricType | `custom.${string}`;
export interface MetricDimensions {
  readonly session_id: string;
  readonly workflow_id: string;
  readonly environment: string;
  readonly model: string;
  readonly tool_name: string | null;
  /** Up to 16 of one's own; names as those of custom types, values of at most 256 characters. */
  readonly [custom: string]: string | null;
}
export interface Metric {
  readonly id: string;
  readonly metric_date: string;
  readonly agent_id: string;
  readonly workspace_id: string;
  readonly metric_type: MetricType;
  readonly timestamp: string;
  readonly value: number;
  readonly dimensions: MetricDimensions;
  readonly created_at: string;
  readonly ttl?: number;
}

export type ToolStatus = "success" | "error" | "timeout";
export interface ToolError {
  readonly error_type: string;
  readonly error_message: string;
  readonly stack_trace: string;
}
export interface ToolInvocation {
  readonly id: string;
  readonly tool_date: string;
  readonly tool_name: string;
  readonly agent_id: string;
  readonly workspace_id: string;
  readonly session_id: string;
  readonly workflow_id: string | null;
  readonly timestamp: string;
  readonly status: ToolStatus;
  readonly duration_ms: number;
  readonly input_args: JsonObject;
  readonly output_result: JsonValue;
  readonly error_details: ToolError | null;
  readonly security_context: {
    readonly user_id: string | null;
    readonly ip_address: string;
    readonly user_agent: string;
  };
  readonly created_at: string;
  readonly ttl?: number;
}
