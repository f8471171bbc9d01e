/** Time series: metrics, and the log of tool invocations. */
import type { IngestOptions } from "./common.ts";
import type { Aggregate, AggregateResult, IngestResult, Page, Paging, SortOrder } from "../contract/common.ts";
import type {
  ChainCheck,
  ExportFormat,
  Metric,
  MetricGroup,
  MetricNames,
  MetricType,
  NewMetric,
  NewRedactionRule,
  NewToolInvocation,
  RedactionRule,
  Rollup,
  ToolGroup,
  ToolInvocation,
  ToolLogSettings,
  ToolStatus,
} from "../contract/series.ts";
import type { Stored } from "../contract/state.ts";

/**
 * From (inclusive) and to (exclusive), ISO 8601 UTC. An absent bound is open in lists and exports. An aggregate without `from` covers the
 * 24 hours before `to`, and without `to` everything until now; its result contains the actual range.
 */
export interface TimeRange {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}
export interface MetricQuery extends TimeRange, Paging {
  readonly agent_id?: string | undefined;
  readonly metric_type?: MetricType | undefined;
  readonly order?: SortOrder | undefined;
}
export interface ToolQuery extends TimeRange, Paging {
  readonly tool_name?: string | undefined;
  readonly agent_id?: string | undefined;
  readonly session_id?: string | undefined;
  readonly workflow_id?: string | undefined;
  readonly status?: ToolStatus | undefined;
  readonly order?: SortOrder | undefined;
}

export interface AggregateQuery extends TimeRange {
  /** minute, hour, day or e.g. "5m", "6h"; absent: one row per group over the whole range. */
  readonly bucket?: string | undefined;
  readonly aggregates: readonly Aggregate[];
}
export interface MetricAggregate extends AggregateQuery {
  readonly group_by?: readonly MetricGroup[] | undefined;
  readonly filter?: Partial<Record<MetricGroup, string | null>> | undefined;
}
/** Statistics of `duration_ms`. */
export interface ToolAggregate extends AggregateQuery {
  readonly group_by?: readonly ToolGroup[] | undefined;
  readonly filter?: Partial<Record<ToolGroup, string | null>> | undefined;
}

export interface MetricsApi {
  /** Up to 10,000; repeating a line with the same id and content changes nothing. */
  ingest(metrics: readonly NewMetric[], options?: IngestOptions): Promise<IngestResult>;
  list(query?: MetricQuery): Promise<Page<Stored<Metric>>>;
  aggregate(query: MetricAggregate): Promise<AggregateResult>;
  rollups(query?: TimeRange & Paging): Promise<Page<Rollup>>;
  names(): Promise<MetricNames>;
  /** Makes room for another name (admins); rows are kept and can still be queried. A row that uses the name again registers it again. */
  forgetName(name: string): Promise<void>;
}

export interface ToolsApi {
  ingest(invocations: readonly NewToolInvocation[], options?: IngestOptions): Promise<IngestResult>;
  list(query?: ToolQuery): Promise<Page<Stored<ToolInvocation>>>;
  get(toolDate: string, id: string): Promise<Stored<ToolInvocation>>;
  aggregate(query: ToolAggregate): Promise<AggregateResult>;
  /** Lines of NDJSON or CSV, streamed. */
  export(query: Omit<ToolQuery, "limit" | "cursor"> & { readonly format: ExportFormat }): AsyncIterable<string>;
  rules(): Promise<{ readonly items: readonly RedactionRule[] }>;
  putRule(rule: NewRedactionRule): Promise<RedactionRule>;
  deleteRule(toolName: string): Promise<void>;
  /** For chained days (a setting of the workspace). */
  verifyChain(toolDate: string): Promise<ChainCheck>;
  settings(): Promise<ToolLogSettings>;
  putSettings(settings: ToolLogSettings): Promise<ToolLogSettings>;
}
