/** What happened, over time: metrics, and the log of tool invocations. */
import type { Metric, MetricType, Stored, ToolInvocation, ToolStatus } from "../documents.ts";
import type { Aggregate, AggregateResult, IngestOptions, IngestResult, Page, Paging } from "./common.ts";

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

/**
 * From (included) and to (not included), ISO 8601 UTC. What is left out is open in lists and exports. An aggregate without `from`
 * looks at the 24 hours before `to`, and without `to` at everything until now; its answer says which time it was.
 */
export interface TimeRange {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}
export interface MetricQuery extends TimeRange, Paging {
  readonly agent_id?: string | undefined;
  readonly metric_type?: MetricType | undefined;
  readonly order?: "asc" | "desc" | undefined;
}
export interface ToolQuery extends TimeRange, Paging {
  readonly tool_name?: string | undefined;
  readonly agent_id?: string | undefined;
  readonly session_id?: string | undefined;
  readonly workflow_id?: string | undefined;
  readonly status?: ToolStatus | undefined;
  readonly order?: "asc" | "desc" | undefined;
}

export interface AggregateQuery extends TimeRange {
  /** minute, hour, day or e.g. "5m", "6h"; absent: one row per group over the whole range. */
  readonly bucket?: string | undefined;
  readonly aggregates: readonly Aggregate[];
}
export type FixedMetricGroup =
  | "agent_id"
  | "metric_type"
  | "session_id"
  | "workflow_id"
  | "environment"
  | "model"
  | "tool_name";
/** `dimensions.<name>`: a custom dimension; null in rows that do not have it. */
export type MetricGroup = FixedMetricGroup | `dimensions.${string}`;
export interface MetricAggregate extends AggregateQuery {
  readonly group_by?: readonly MetricGroup[] | undefined;
  readonly filter?: Partial<Record<MetricGroup, string | null>> | undefined;
}
export type ToolGroup = "tool_name" | "agent_id" | "status" | "session_id" | "workflow_id";
/** Of `duration_ms`. */
export interface ToolAggregate extends AggregateQuery {
  readonly group_by?: readonly ToolGroup[] | undefined;
  readonly filter?: Partial<Record<ToolGroup, string | null>> | undefined;
}

export interface Rollup {
  readonly metric_date: string;
  readonly hour: number;
  readonly rows: number;
  readonly state: "sealed" | "open";
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

export interface MetricsApi {
  /** Up to 10,000; repeating a line with the same id and content changes nothing. */
  ingest(metrics: readonly NewMetric[], options?: IngestOptions): Promise<IngestResult>;
  list(query?: MetricQuery): Promise<Page<Stored<Metric>>>;
  aggregate(query: MetricAggregate): Promise<AggregateResult>;
  rollups(query?: TimeRange & Paging): Promise<Page<Rollup>>;
  names(): Promise<MetricNames>;
  /** Makes room for another name (admins); rows stay, and can still be asked for. A row that uses the name again registers it again. */
  forgetName(name: string): Promise<void>;
}

/** What of a tool's calls is kept. A path is `input_args.password` or `output_result.rows.*.ssn`. */
export interface RedactionRule {
  readonly tool_name: string;
  /** Nothing of input and output is kept. */
  readonly sensitive?: boolean;
  readonly drop?: readonly string[];
  readonly mask?: readonly string[];
}
export interface ChainCheck {
  readonly tool_date: string;
  /** `unchained`: there are entries, and no chain was begun, so nothing can be proved of them. */
  readonly state: "empty" | "unchained" | "chained";
  /** Of the chain. */
  readonly entries: number;
  readonly intact: boolean;
  /** The first entry that is not what was written, or is missing. */
  readonly broken_at: string | null;
  readonly head: string | null;
}

export interface ToolsApi {
  ingest(invocations: readonly NewToolInvocation[], options?: IngestOptions): Promise<IngestResult>;
  list(query?: ToolQuery): Promise<Page<Stored<ToolInvocation>>>;
  get(toolDate: string, id: string): Promise<Stored<ToolInvocation>>;
  aggregate(query: ToolAggregate): Promise<AggregateResult>;
  /** Lines of NDJSON or CSV, as they are read. */
  export(query: Omit<ToolQuery, "limit" | "cursor"> & { readonly format: "ndjson" | "csv" }): AsyncIterable<string>;
  rules(): Promise<{ readonly items: readonly RedactionRule[] }>;
  putRule(rule: RedactionRule): Promise<RedactionRule>;
  deleteRule(toolName: string): Promise<void>;
  /** Of days that are chained (a setting of the workspace). */
  verifyChain(toolDate: string): Promise<ChainCheck>;
  settings(): Promise<{ readonly hash_chain: boolean }>;
  putSettings(settings: { readonly hash_chain: boolean }): Promise<{ readonly hash_chain: boolean }>;
}
