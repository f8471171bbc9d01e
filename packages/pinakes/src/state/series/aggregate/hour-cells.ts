/**
 * What an hour's rows come to, by group: a few numbers and the sorted values of each. An aggregate that takes the whole hour puts such
 * parts together instead of looking at every row again.
 */
import { Cells, type CellPart } from "./cells.ts";
import type { Columns } from "./columns.ts";
import { scanColumns, type Selection } from "./scan-columns.ts";
import { hourMs, seriesLimits } from "../series.ts";

export interface HourCells {
  readonly parts: readonly CellPart[];
  /** Whether the parts have their values, for percentiles. */
  readonly withValues: boolean;
  /** They hold until then: no row expires before; null: none ever does. */
  readonly firstExpiry: number | null;
  readonly bytes: number;
}

const overheadBytes = 1_024;
const partBytes = 384;

/** Undefined where the hour may have too many groups. The hour must be whole for the selection, and none of its rows may have expired. */
export async function makeHourCells(
  columns: Columns,
  selection: Selection,
  withValues: boolean,
  pause: () => Promise<void>,
): Promise<HourCells | undefined> {
  if (groupsAtMost(columns, selection) > seriesLimits.hourCellsMax) return undefined;
  const cells = new Cells(withValues, columns.rows);
  await scanColumns(columns, { ...selection, bucketMs: undefined }, cells, pause);
  const parts = await cells.parts(pause);
  let bytes = overheadBytes + (withValues ? Float64Array.BYTES_PER_ELEMENT * cells.rows : 0);
  for (const { group } of parts) {
    bytes += partBytes;
    for (const text of group) bytes += 2 * (text?.length ?? 0);
  }
  return { parts, withValues, firstExpiry: columns.firstExpiry, bytes };
}

/** All rows of the hour are in the span, and in one bucket. */
export function isWholeHour(start: number, { span, bucketMs }: Selection): boolean {
  if (span.from > start || span.to < start + hourMs) return false;
  return bucketMs === undefined || Math.floor(start / bucketMs) === Math.floor((start + hourMs - 1) / bucketMs);
}

export function allAlive({ firstExpiry }: Pick<HourCells, "firstExpiry">, now: number): boolean {
  return firstExpiry === null || firstExpiry > now;
}

function groupsAtMost({ rows, dimensions }: Columns, { groupBy, filter }: Selection): number {
  const fixed = new Set(filter.map(([name]) => name));
  const combinations = groupBy.reduce(
    (product, name) => product * (fixed.has(name) ? 1 : (dimensions[name]?.values.length ?? 1)),
    1,
  );
  return Math.min(rows, combinations);
}
