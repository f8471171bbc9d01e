/**
 * Caches the aggregated cells of recently queried hours, by hour, filter and grouping. The key of an hour contains its stamp, so that stale
 * cells are never found.
 */
import { setImmediate } from "node:timers/promises";
import { ByteCache } from "../../../runtime/byte-cache.ts";
import { hourMs, seriesLimits } from "../series.ts";
import { type CellPart, Cells } from "./cells.ts";
import type { Columns } from "./columns.ts";
import { scanColumns, type Selection } from "./scan-columns.ts";

export interface CellCacheOptions {
  readonly bytesMax: number;
  /** Hours with fewer rows are aggregated as fast as cached cells are merged. */
  readonly rowsMin: number;
}

export class CellCache {
  readonly #entries: ByteCache<HourCells>;
  readonly #options: CellCacheOptions;

  constructor(options: CellCacheOptions) {
    this.#options = options;
    this.#entries = new ByteCache(options.bytesMax);
  }

  get bytes(): number {
    return this.#entries.bytes;
  }

  /** For one aggregate, with or without percentiles. */
  for(selection: Selection, withValues: boolean): CellsOfQuery {
    return new CellsOfQuery(this.#entries, this.#options, selection, withValues);
  }
}

export class CellsOfQuery {
  readonly #entries: ByteCache<HourCells>;
  readonly #options: CellCacheOptions;
  readonly #selection: Selection;
  readonly #withValues: boolean;
  readonly #suffix: string;
  #bytesLeft: number;

  constructor(entries: ByteCache<HourCells>, options: CellCacheOptions, selection: Selection, withValues: boolean) {
    this.#entries = entries;
    this.#options = options;
    this.#selection = selection;
    this.#withValues = withValues;
    this.#suffix = JSON.stringify([selection.groupBy, selection.filter.toSorted(([a], [b]) => (a < b ? -1 : 1))]);
    this.#bytesLeft = options.bytesMax * seriesLimits.cellCacheQueryShare;
  }

  /** The cells of the hour that starts at `start`, with this key. */
  get(start: number, key: string): HourCells | undefined {
    if (!isWholeHour(start, this.#selection)) return undefined;
    const found = this.#entries.get(key + this.#suffix);
    if (found === undefined || !allAlive(found, this.#selection.now)) return undefined;
    return this.#withValues && !found.withValues ? undefined : found;
  }

  /** Computes and caches the cells; undefined if the rows must be read. */
  async make(columns: Columns, key: string): Promise<HourCells | undefined> {
    const selection = this.#selection;
    if (columns.rows < this.#options.rowsMin || this.#bytesLeft <= 0) return undefined;
    if (!isWholeHour(columns.start, selection) || !allAlive(columns, selection.now)) return undefined;
    // Sorting values that are then discarded would waste time on every call.
    const valueBytes = this.#withValues && selection.filter.length === 0 ? columns.value.byteLength : 0;
    const entryMax = this.#options.bytesMax * seriesLimits.cellCacheEntryShare;
    if (valueBytes > Math.min(entryMax, this.#bytesLeft)) return undefined;
    const cells = await makeHourCells(columns, selection, this.#withValues, setImmediate);
    if (cells === undefined || cells.bytes > entryMax) return cells;
    this.#bytesLeft -= cells.bytes;
    this.#entries.put(key + this.#suffix, cells);
    return cells;
  }
}

/**
 * The aggregate of an hour's rows, by group: a few numbers and the sorted values of each. An aggregate over the whole hour merges such
 * parts instead of reading every row again.
 */
interface HourCells {
  readonly parts: readonly CellPart[];
  /** Whether the parts contain their values, for percentiles. */
  readonly withValues: boolean;
  /** Valid until then: no row expires earlier; null: none ever does. */
  readonly firstExpiry: number | null;
  readonly bytes: number;
}

const overheadBytes = 1_024;
const partBytes = 384;

/**
 * Undefined if the hour may have too many groups. The hour must be entirely inside the selection, and none of its rows may have expired.
 */
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

/** All rows of the hour are in the range, and in one bucket. */
function isWholeHour(start: number, { span, bucketMs }: Selection): boolean {
  if (span.from > start || span.to < start + hourMs) return false;
  return bucketMs === undefined || Math.floor(start / bucketMs) === Math.floor((start + hourMs - 1) / bucketMs);
}

function allAlive({ firstExpiry }: Pick<HourCells, "firstExpiry">, now: number): boolean {
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
