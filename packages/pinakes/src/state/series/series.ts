/**
 * What a series is: rows of one kind with a moment and a number, kept by the day. Metrics and the tool log are two of them; ingestion,
 * lists, blocks and aggregates are the same for both and know only this.
 */
import type { z } from "zod";
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
  /** What is aggregated. */
  readonly valueField: "value" | "duration_ms";
  /** What can be filtered and grouped by: the name in queries, and where it lies in a row. */
  readonly dimensions: Readonly<Record<string, readonly string[]>>;
  /** Whether texts in `dimensions` that are not named above are dimensions, too. */
  readonly customDimensions: boolean;
  /** Of the container, in seconds. */
  readonly ttlSeconds: number;
  /** What does nothing at the top of a new row. */
  readonly fields: Fields;
}

export const seriesLimits = Object.freeze({
  ingestLinesMax: 10_000,
  listItemsDefault: 100,
  listItemsMax: 1_000,
  /** Where few rows match, a list that goes day by day ends its page after this many, short and with a cursor. */
  listDaysPerCallMax: 128,
  aggregateDaysMax: 400,
  aggregateCellsMax: 100_000,
  /** Percentiles keep every value they look at: eight bytes each, and four for where it belongs. */
  percentileRowsMax: 20_000_000,
  /** Aggregates that run at once in a process; others wait. */
  aggregatesAtOnceMax: 4,
  blockCacheBytesDefault: 268_435_456,
  /** Beside the blocks, what aggregates made of them: eight bytes for each value that percentiles looked at. */
  cellCacheBytesDefault: 134_217_728,
  /** One aggregate adds at most this part of that cache, so that one which does not fit leaves what others use. */
  cellCacheQueryShare: 1 / 2,
  /** What one hour comes to is not kept when it is larger than this part. */
  cellCacheEntryShare: 1 / 16,
  /** Cells of one hour. With more, most hold a row or two, and going over the rows is as fast. */
  hourCellsMax: 4_096,
  /** Fewer rows than this are scanned as fast as a block is read. */
  sealRowsMinDefault: 1_000,
  /** How long after its end an hour is sealed: most late rows have come by then. */
  sealDelayMs: 300_000,
});

export const hourMs = 3_600_000;
export const dayMs = 86_400_000;
