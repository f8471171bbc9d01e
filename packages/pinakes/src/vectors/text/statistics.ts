/**
 * The statistics of BM25 over the live rows of all sources. A segment knows those of all its rows; what its dead rows subtract is counted
 * once and cached as long as their bitmap, which never changes. Keep the Bitmap object of a segment from query to query.
 */
import type { Bitmap } from "../segment/bitmap.ts";
import type { TextIndex } from "./text-index.ts";
import { blockRows } from "./text-writer.ts";

export interface IndexedSource {
  readonly index: TextIndex;
  readonly dead: Bitmap | undefined;
  readonly allowed: Bitmap | undefined;
}

/** What BM25 needs to know of many rows to weigh the terms of one query. Counts of several collections can be summed. */
export interface TermCounts {
  /** With at least one term. */
  readonly rows: number;
  /** The total number of terms of these rows. */
  readonly tokens: number;
  /** How many rows contain each term of the query; 0 for terms without rows, which may also be left out. */
  readonly frequencies: ReadonlyMap<string, number>;
}

/** For no rows. */
export const noTerms: TermCounts = Object.freeze({ rows: 0, tokens: 0, frequencies: new Map<string, number>() });

interface DeadCounts {
  readonly index: TextIndex;
  readonly rowsWithText: number;
  readonly tokens: number;
  readonly byTerm: Map<number, number>;
}

const deadTermsMax = 10_000;
const known = new WeakMap<Bitmap, DeadCounts>();
const rows = new Uint32Array(blockRows);
const counts = new Uint32Array(blockRows);

/** Live rows with at least one term, and how many terms they have. */
export function liveTotals(sources: readonly IndexedSource[]): Pick<TermCounts, "rows" | "tokens"> {
  let live = 0;
  let tokens = 0;
  for (const { index, dead } of sources) {
    const gone = dead === undefined ? undefined : deadCounts(index, dead);
    live += index.rowsWithText - (gone?.rowsWithText ?? 0);
    tokens += index.tokens - (gone?.tokens ?? 0);
  }
  return { rows: live, tokens };
}

/** Live rows of one source that contain the term. */
export function liveFrequency({ index, dead }: IndexedSource, term: number): number {
  const frequency = index.frequencies[term] as number;
  if (dead === undefined) return frequency;
  const gone = deadCounts(index, dead);
  if (gone.rowsWithText === 0) return frequency;
  let count = gone.byTerm.get(term);
  if (count === undefined) {
    count = deadRowsOf(index, term, dead);
    if (gone.byTerm.size >= deadTermsMax) gone.byTerm.clear();
    gone.byTerm.set(term, count);
  }
  return frequency - count;
}

function deadCounts(index: TextIndex, dead: Bitmap): DeadCounts {
  const cached = known.get(dead);
  if (cached?.index === index) return cached;
  let rowsWithText = 0;
  let tokens = 0;
  for (const row of dead) {
    const length = index.lengths[row] as number;
    tokens += length;
    if (length > 0) rowsWithText += 1;
  }
  const counted = { index, rowsWithText, tokens, byTerm: new Map<number, number>() };
  known.set(dead, counted);
  return counted;
}

/** Reads only the blocks with a dead row. */
function deadRowsOf(index: TextIndex, term: number, dead: Bitmap): number {
  let found = 0;
  let start = 0;
  for (let block = index.first[term] as number; block < (index.first[term + 1] as number); block += 1) {
    const last = index.lastRow(block);
    if (anyIn(dead, start, last)) {
      const count = index.decode(term, block, rows, counts);
      for (let i = 0; i < count; i += 1) if (dead.has(rows[i] as number)) found += 1;
    }
    start = last + 1;
  }
  return found;
}

/** Whether the bitmap has a non-empty word among those of rows `start` to `last`. */
function anyIn(bitmap: Bitmap, start: number, last: number): boolean {
  for (let word = start >>> 5; word <= last >>> 5; word += 1) if (bitmap.words[word] !== 0) return true;
  return false;
}
