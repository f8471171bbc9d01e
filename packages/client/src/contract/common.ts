/** Common parts of responses. */

export const sortOrders = ["asc", "desc"] as const;
export type SortOrder = (typeof sortOrders)[number];

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
  /** Total number over all pages, if `include_total` was set. */
  readonly total?: number;
}

/** How one line or item of a bulk call ended. */
export interface LineResult {
  /** From 1, as in an editor. */
  readonly line: number;
  readonly status: number;
  readonly id?: string;
  /** It already existed with the same content: nothing was written. */
  readonly duplicate?: true;
  readonly error?: { readonly code: string; readonly detail: string };
}

export interface IngestResult {
  readonly accepted: number;
  readonly duplicates: number;
  readonly failed: number;
  /** Only failed lines, unless all were requested. */
  readonly lines: readonly LineResult[];
}

export const aggregates = ["count", "sum", "avg", "min", "max", "p50", "p95", "p99"] as const;
export type Aggregate = (typeof aggregates)[number];

export interface AggregateRow {
  /** The beginning of the time bucket; null without buckets. */
  readonly bucket: string | null;
  readonly group: Readonly<Record<string, string | null>>;
  readonly values: Readonly<Partial<Record<Aggregate, number | null>>>;
}

export interface AggregateResult {
  readonly items: readonly AggregateRow[];
  readonly rows_aggregated: number;
  /** The time range: from (inclusive) and to (exclusive), ISO 8601 UTC. For a query without one, the last 24 hours. */
  readonly from: string;
  readonly to: string;
}

export interface Paging {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface IncludeTotal {
  /** Adds the total number over all pages. Costs a scan of the list unless there is a counter. */
  readonly include_total?: boolean | undefined;
}
