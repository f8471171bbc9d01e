/**
 * Goes over columns once: filter, time and expiry choose rows, buckets and groups give each its cell. Column by column in slices, which
 * is what makes it fast, with a pause now and then, so that others get their turn.
 */
import { expiresAt } from "../../../domain/ttl.ts";
import type { Cells } from "./cells.ts";
import type { Coded, Codes, Columns } from "./columns.ts";
import { hourMs } from "../series.ts";
import type { Span } from "../time.ts";

export interface Selection {
  readonly span: Span;
  /** Undefined: no buckets. */
  readonly bucketMs: number | undefined;
  readonly groupBy: readonly string[];
  readonly filter: readonly (readonly [dimension: string, value: string | null])[];
  readonly ttlSeconds: number | null;
  readonly now: number;
}

const sliceRows = 16_384;
const slicesPerPause = 8;
/** Combinations of an hour's buckets and groups that are looked up in a table; with more, each row asks by itself. */
const tablePlacesMax = 262_144;

export async function scanColumns(
  columns: Columns,
  selection: Selection,
  cells: Cells,
  pause: () => Promise<void>,
): Promise<void> {
  const filters = codesOfFilter(columns, selection);
  if (filters === undefined) return;
  const choose = chooser(columns, selection, filters);
  const place = placer(columns, selection, cells);
  const rows = new Uint32Array(sliceRows);
  const places = new Uint32Array(sliceRows);
  const values = new Float64Array(sliceRows);
  for (let from = 0, slice = 1; from < columns.rows; from += sliceRows, slice += 1) {
    const chosen = choose(rows, from, Math.min(from + sliceRows, columns.rows));
    place(rows, chosen, places);
    const { value } = columns;
    for (let i = 0; i < chosen; i += 1) values[i] = value[rows[i] as number] as number;
    cells.add(places, values, chosen);
    if (slice % slicesPerPause === 0) await pause();
  }
}

interface CodeFilter {
  readonly codes: Codes;
  readonly code: number;
}

/** Undefined when no row can match. */
function codesOfFilter({ dimensions }: Columns, { filter }: Selection): readonly CodeFilter[] | undefined {
  const filters: CodeFilter[] = [];
  for (const [name, value] of filter) {
    const dimension = dimensions[name];
    // A custom dimension that no row has.
    if (dimension === undefined && value === null) continue;
    const code = dimension?.values.indexOf(value) ?? -1;
    if (dimension === undefined || code < 0) return undefined;
    filters.push({ codes: dimension.codes, code });
  }
  return filters;
}

/** Writes the numbers of the rows that count into `rows`, and says how many they are. */
function chooser(
  columns: Columns,
  selection: Selection,
  filters: readonly CodeFilter[],
): (rows: Uint32Array, from: number, to: number) => number {
  const { time } = columns;
  const first = Math.max(0, selection.span.from - columns.start);
  const end = Math.min(hourMs, selection.span.to - columns.start);
  const isLive = liveness(columns, selection);
  return (rows, from, to) => {
    let chosen = chooseByCode(filters[0], rows, from, to);
    for (const { codes, code } of filters.slice(1)) chosen = keep(rows, chosen, (row) => codes[row] === code);
    if (first > 0 || end < hourMs)
      chosen = keep(rows, chosen, (row) => (time[row] as number) >= first && (time[row] as number) < end);
    return isLive === undefined ? chosen : keep(rows, chosen, isLive);
  };
}

/** All rows if there is no filter. */
function chooseByCode(filter: CodeFilter | undefined, rows: Uint32Array, from: number, to: number): number {
  if (filter === undefined) {
    for (let row = from; row < to; row += 1) rows[row - from] = row;
    return to - from;
  }
  const { codes, code } = filter;
  let chosen = 0;
  for (let row = from; row < to; row += 1) {
    if (codes[row] !== code) continue;
    rows[chosen] = row;
    chosen += 1;
  }
  return chosen;
}

function keep(rows: Uint32Array, length: number, fits: (row: number) => boolean): number {
  let kept = 0;
  for (let i = 0; i < length; i += 1) {
    const row = rows[i] as number;
    if (!fits(row)) continue;
    rows[kept] = row;
    kept += 1;
  }
  return kept;
}

/** The same rule as in the store. Undefined while none can have expired. */
function liveness(
  { modified, modifiedBase, ttl, firstExpiry }: Columns,
  { ttlSeconds, now }: Selection,
): ((row: number) => boolean) | undefined {
  if (firstExpiry === null || firstExpiry > now) return undefined;
  return (row) => {
    const at = expiresAt(
      ttlSeconds,
      ttl.values[ttl.codes[row] as number] ?? null,
      modifiedBase + (modified[row] as number),
    );
    return at === null || at > now;
  };
}

/** Writes the cell of each chosen row into `places`. */
function placer(
  columns: Columns,
  { bucketMs, groupBy }: Selection,
  cells: Cells,
): (rows: Uint32Array, length: number, places: Uint32Array) => void {
  const { start, time } = columns;
  const dimensions = groupBy.map(
    (name): Coded<string | null> => columns.dimensions[name] ?? { codes: new Uint8Array(columns.rows), values: [null] },
  );
  // An hour lies in one bucket or begins several.
  const firstBucket = bucketMs === undefined ? 0 : Math.floor(start / bucketMs);
  const buckets = bucketMs === undefined ? 1 : Math.floor((start + hourMs - 1) / bucketMs) - firstBucket + 1;
  const bucketOf = (row: number): number =>
    buckets === 1 || bucketMs === undefined ? firstBucket : Math.floor((start + (time[row] as number)) / bucketMs);
  const make = (row: number): number =>
    cells.place(
      bucketOf(row),
      dimensions.map(({ codes, values }) => values[codes[row] as number] ?? null),
    );
  const combinations = dimensions.reduce((product, { values }) => product * values.length, buckets);
  if (combinations > tablePlacesMax) {
    return (rows, length, places) => {
      for (let i = 0; i < length; i += 1) places[i] = make(rows[i] as number);
    };
  }
  const table = new Int32Array(combinations).fill(-1);
  return (rows, length, places) => {
    // First computes the number of each row's combination, column by column; then the corresponding cell.
    for (let i = 0; i < length; i += 1) places[i] = buckets === 1 ? 0 : bucketOf(rows[i] as number) - firstBucket;
    for (const { codes, values } of dimensions) {
      const size = values.length;
      for (let i = 0; i < length; i += 1)
        places[i] = (places[i] as number) * size + (codes[rows[i] as number] as number);
    }
    for (let i = 0; i < length; i += 1) {
      const combination = places[i] as number;
      let place = table[combination] as number;
      if (place < 0) table[combination] = place = make(rows[i] as number);
      places[i] = place;
    }
  };
}
