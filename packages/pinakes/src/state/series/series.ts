/**
 * A series: rows of one kind with a timestamp and a number, partitioned by day. Metrics and the tool log are series; ingestion,
 * lists, blocks and aggregates are shared and depend only on this.
 */
import type { z } from "zod";
import type { Scope } from "../../domain/scope.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import type { Fields } from "../misplaced.ts";
import type { StateDependencies } from "../dependencies.ts";

export type SeriesDependencies = Pick<
  StateDependencies,
  "items" | "objects" | "clock" | "log" | "system" | "work" | "places"
>;

export interface Series {
  readonly name: "metrics" | "tools";
  readonly container: string;
  /** The partition key: the day of `timestamp`. */
  readonly dateField: "metric_date" | "tool_date";
  /** The index over all rows of a workspace, by `timestamp`. */
  readonly timeIndex: string;
  readonly idPrefix: string;
  readonly schema: z.ZodType<object, object>;
  /** The aggregated value. */
  readonly valueField: "value" | "duration_ms";
  /** Dimensions for filters and groups: the name in queries, and the path in a row. */
  readonly dimensions: Readonly<Record<string, readonly string[]>>;
  /** Whether other strings in `dimensions` are dimensions, too. */
  readonly customDimensions: boolean;
  /** The default time to live, in seconds, null or -1: the container's, or the workspace's own (`seriesOf`). */
  readonly ttlSeconds: number | null;
  /** Properties without effect at the top level of a new row. */
  readonly fields: Fields;
}

/** With the time to live of the workspace. */
export function seriesOf(items: ItemStore, scope: Scope, series: Series): Series {
  const { seconds: ttlSeconds } = items.defaultTtl(scope, series.container);
  return ttlSeconds === series.ttlSeconds ? series : { ...series, ttlSeconds };
}

export const seriesLimits = Object.freeze({
  ingestLinesMax: 10_000,
  listItemsDefault: 100,
  listItemsMax: 1_000,
  /** If few rows match, a list that goes day by day ends its page after this many, short and with a cursor. */
  listDaysPerCallMax: 128,
  aggregateDaysMax: 400,
  aggregateCellsMax: 100_000,
  /** Percentiles keep every value they look at: eight bytes each, and four for where it belongs. */
  percentileRowsMax: 20_000_000,
  /** Concurrent aggregates of a process; others wait. */
  aggregatesAtOnceMax: 4,
  blockCacheBytesDefault: 268_435_456,
  /** Cache of aggregate results beside the blocks: eight bytes for each value of a percentile. */
  cellCacheBytesDefault: 134_217_728,
  /** Maximum share of that cache that one aggregate adds, so that a large one does not evict what others use. */
  cellCacheQueryShare: 1 / 2,
  /** The result of one hour is not cached if it is larger than this share. */
  cellCacheEntryShare: 1 / 16,
  /** Cells of one hour. With more, most have a row or two, and scanning the rows is as fast. */
  hourCellsMax: 4_096,
  /** Fewer rows than this are scanned as fast as a block is read. */
  sealRowsMinDefault: 1_000,
  /** Delay after the end of an hour before it is sealed: most late rows have arrived by then. */
  sealDelayMs: 300_000,
});

export const hourMs = 3_600_000;
export const dayMs = 86_400_000;
