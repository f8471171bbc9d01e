/** Rows in the order of time: metrics, and the log of tool invocations. */
import type { JsonObject, JsonValue } from "../json.ts";

export const fixedMetricTypes = ["latency", "token_usage", "cost", "success_rate", "tool_usage"] as const;
export type FixedMetricType = (typeof fixedMetricTypes)[number];
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

export const toolStatuses = ["success", "error", "timeout"] as const;
export type ToolStatus = (typeof toolStatuses)[number];
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

export type NewMetric = Pick<Metric, "agent_id" | "metric_type" | "value"> &
  Partial<Omit<Metric, "dimensions">> & { readonly dimensions?: Partial<Metric["dimensions"]> };

export type NewToolInvocation = Pick<
  ToolInvocation,
  "tool_name" | "agent_id" | "session_id" | "status" | "duration_ms"
> &
  Partial<Omit<ToolInvocation, "security_context" | "error_details">> & {
    readonly security_context?: Partial<ToolInvocation["security_context"]>;
    readonly error_details?: Partial<NonNullable<ToolInvocation["error_details"]>> | null;
  };

export const fixedMetricGroups = [
  "agent_id",
  "metric_type",
  "session_id",
  "workflow_id",
  "environment",
  "model",
  "tool_name",
] as const;
export type FixedMetricGroup = (typeof fixedMetricGroups)[number];

/** `dimensions.<name>`: a custom dimension; null in rows without it. */
export type MetricGroup = FixedMetricGroup | `dimensions.${string}`;

export const toolGroups = ["tool_name", "agent_id", "status", "session_id", "workflow_id"] as const;
export type ToolGroup = (typeof toolGroups)[number];

export const rollupStates = ["sealed", "open"] as const;
export type RollupState = (typeof rollupStates)[number];

export interface Rollup {
  readonly metric_date: string;
  readonly hour: number;
  readonly rows: number;
  readonly state: RollupState;
  readonly sealed_at: string | null;
}

/** The custom names that rows of the workspace have used, as queries write them. */
export interface MetricNames {
  /** `custom.<name>`, sorted. */
  readonly types: readonly `custom.${string}`[];
  /** `dimensions.<name>`, sorted. */
  readonly dimensions: readonly `dimensions.${string}`[];
  readonly types_max: number;
  readonly dimensions_max: number;
}

/** Which parts of a tool's calls are stored. A path is `input_args.password` or `output_result.rows.*.ssn`. */
export interface RedactionRule {
  readonly tool_name: string;
  /** Neither input nor output is stored. */
  readonly sensitive: boolean;
  readonly drop: readonly string[];
  readonly mask: readonly string[];
}
export type NewRedactionRule = Pick<RedactionRule, "tool_name"> & Partial<RedactionRule>;

export interface ToolLogSettings {
  readonly hash_chain: boolean;
}

export const exportFormats = ["ndjson", "csv"] as const;
export type ExportFormat = (typeof exportFormats)[number];

export const chainStates = ["empty", "unchained", "chained"] as const;
export type ChainState = (typeof chainStates)[number];

export interface ChainCheck {
  readonly tool_date: string;
  /** `unchained`: the entries have no hash chain, so they cannot be verified. */
  readonly state: ChainState;
  /** Length of the chain. */
  readonly entries: number;
  readonly intact: boolean;
  /** The first entry that was changed or is missing. */
  readonly broken_at: string | null;
  readonly head: string | null;
}
