/**
 * The best rows of one source, with MaxScore over windows of rows. In each window the blocks' impacts bound what each term can add. Terms
 * that together cannot lift a row above the worst hit so far are not read: only rows of the other ("essential") terms are candidates, and
 * the rest are looked up for those that can still get in. A window without a possible hit is skipped whole.
 */
import type { Bitmap } from "../segment/bitmap.ts";
import type { IndexedSource } from "./statistics.ts";
import type { TermCursor } from "./term-cursor.ts";
import type { TopHits } from "./top-hits.ts";

const windowRows = 1_024;
const windowWords = windowRows / 32;

// One search runs at a time in a thread. `scores` is all zeros and `touched` empty between windows.
const scores = new Float64Array(windowRows);
const touched = new Uint32Array(windowWords);
const findable = new Uint32Array(windowWords);

export function searchRows(source: IndexedSource, number: number, cursors: TermCursor[], hits: TopHits): void {
  const { rows } = source.index;
  const { allowed, dead } = source;
  findable.fill(0xffffffff);
  for (let start = 0; start < rows; start += windowRows) {
    const end = Math.min(start + windowRows, rows);
    let total = 0;
    for (const cursor of cursors) total += cursor.bound(start, end);
    if (total <= hits.threshold) continue;
    if ((allowed !== undefined || dead !== undefined) && !findableIn(start, end, allowed, dead)) continue;
    sortByCeiling(cursors);
    const optional = countOptional(cursors, hits.threshold);
    if (optional === cursors.length - 1) oneEssential(cursors, start, end, number, hits);
    else severalEssential(cursors, optional, start, end, number, hits);
  }
}

/** Fills `findable` for the window; false if it is empty. */
function findableIn(start: number, end: number, allowed: Bitmap | undefined, dead: Bitmap | undefined): boolean {
  let any = 0;
  for (let word = start >>> 5; word <= (end - 1) >>> 5; word += 1) {
    const bits =
      (allowed === undefined ? -1 : (allowed.words[word] as number)) &
      ~(dead === undefined ? 0 : (dead.words[word] as number));
    findable[word - (start >>> 5)] = bits;
    any |= bits;
  }
  return any !== 0;
}

/** Ascending, in place: there are few, and they hardly change from window to window. */
function sortByCeiling(cursors: TermCursor[]): void {
  for (let i = 1; i < cursors.length; i += 1) {
    const cursor = cursors[i] as TermCursor;
    let j = i;
    for (; j > 0 && (cursors[j - 1] as TermCursor).ceiling > cursor.ceiling; j -= 1)
      cursors[j] = cursors[j - 1] as TermCursor;
    cursors[j] = cursor;
  }
}

/** How many of the first terms cannot make a hit by themselves. */
function countOptional(cursors: readonly TermCursor[], threshold: number): number {
  let sum = 0;
  for (let i = 0; i < cursors.length; i += 1) {
    sum += (cursors[i] as TermCursor).ceiling;
    if (sum > threshold) return i;
  }
  return cursors.length;
}

function oneEssential(cursors: readonly TermCursor[], start: number, end: number, number: number, hits: TopHits): void {
  const optional = cursors.length - 1;
  const essential = cursors[optional] as TermCursor;
  let rest = 0;
  for (let i = 0; i < optional; i += 1) rest += (cursors[i] as TermCursor).ceiling;
  for (let more = essential.load(start); more; more = essential.load(start)) {
    const { rows, count } = essential;
    let at = essential.at;
    for (; at < count; at += 1) {
      const row = rows[at] as number;
      if (row >= end) break;
      if (((findable[(row - start) >>> 5] as number) & (1 << (row & 31))) === 0) continue;
      const score = essential.scoreAt(at);
      if (score + rest > hits.threshold) complete(cursors, optional, rest, row, score, number, hits);
    }
    essential.at = at;
    if (at < count) return;
    essential.block += 1;
  }
}

function severalEssential(
  cursors: readonly TermCursor[],
  optional: number,
  start: number,
  end: number,
  number: number,
  hits: TopHits,
): void {
  let rest = 0;
  for (let i = 0; i < optional; i += 1) rest += (cursors[i] as TermCursor).ceiling;
  for (let i = optional; i < cursors.length; i += 1) accumulate(cursors[i] as TermCursor, start, end);
  for (let word = 0; word < windowWords; word += 1) {
    for (let bits = touched[word] as number; bits !== 0; bits &= bits - 1) {
      const offset = word * 32 + 31 - Math.clz32(bits & -bits);
      const score = scores[offset] as number;
      scores[offset] = 0;
      if (score + rest > hits.threshold) complete(cursors, optional, rest, start + offset, score, number, hits);
    }
    touched[word] = 0;
  }
}

/** Adds the term's share to the scores of the window. */
function accumulate(cursor: TermCursor, start: number, end: number): void {
  for (let more = cursor.load(start); more; more = cursor.load(start)) {
    const { rows, count } = cursor;
    let at = cursor.at;
    for (; at < count; at += 1) {
      const row = rows[at] as number;
      if (row >= end) break;
      const offset = row - start;
      const bit = 1 << (offset & 31);
      if (((findable[offset >>> 5] as number) & bit) === 0) continue;
      scores[offset] = (scores[offset] as number) + cursor.scoreAt(at);
      touched[offset >>> 5] = (touched[offset >>> 5] as number) | bit;
    }
    cursor.at = at;
    if (at < count) return;
    cursor.block += 1;
  }
}

/** Adds the optional terms, the heaviest first, as long as the row can still get in. */
function complete(
  cursors: readonly TermCursor[],
  optional: number,
  rest: number,
  row: number,
  essentialScore: number,
  number: number,
  hits: TopHits,
): void {
  let score = essentialScore;
  let left = rest;
  for (let i = optional - 1; i >= 0; i -= 1) {
    if (score + left <= hits.threshold) return;
    const cursor = cursors[i] as TermCursor;
    left -= cursor.ceiling;
    score += cursor.scoreOf(row);
  }
  hits.add(number, row, score);
}
