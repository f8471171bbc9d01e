/**
 * One term of a query in one segment: advances through its rows, a block at a time, and knows an upper bound of what the term adds to the
 * score of a row in a range. Cursors are pooled, since their allocation would cost a search of some tens of microseconds too much.
 */
import type { TextIndex } from "./text-index.ts";
import { blockRows, blockWords, bm25 } from "./text-writer.ts";

/** What a term adds to a row's score, with the statistics of all sources. */
export interface TermScale {
  /** Number of times in the query × idf × (k1 + 1). */
  readonly weight: number;
  /** k1 × b / average length. */
  readonly lengthFactor: number;
  /** Adding and subtracting it rounds to the query's quantum, so that sums do not depend on their order. */
  readonly rounder: number;
  /** From the impact of a block to a bound on the score. */
  readonly impactFactor: number;
  /** Added to every bound: the rounding of the score itself. */
  readonly slack: number;
}

const lengthBase = bm25.k1 * (1 - bm25.b);

export class TermCursor {
  readonly rows = new Uint32Array(blockRows);
  readonly counts = new Uint32Array(blockRows);
  /** Rows in the decoded block, and the position in it. */
  count = 0;
  at = 0;
  /** The next call of `bound` is for this one and later blocks. */
  block = 0;
  blockEnd = 0;
  term = 0;
  /** Highest score of the term in the range of the last call of `bound`. */
  ceiling = 0;
  #decoded = -1;
  #index!: TextIndex;
  #scale!: TermScale;

  open(index: TextIndex, term: number, scale: TermScale): void {
    this.#index = index;
    this.#scale = scale;
    this.term = term;
    this.block = index.first[term] as number;
    this.blockEnd = index.first[term + 1] as number;
    this.count = 0;
    this.at = 0;
    this.#decoded = -1;
  }

  /** Moves to `start` and returns, and stores as `ceiling`, a bound for rows from `start` to below `end`; 0 if there are none. */
  bound(start: number, end: number): number {
    const { blocks, impacts } = this.#index;
    const { blockEnd } = this;
    let block = this.block;
    while (block < blockEnd && (blocks[block * blockWords] as number) < start) block += 1;
    this.block = block;
    let impact = 0;
    for (; block < blockEnd; block += 1) {
      const of = impacts[block * blockWords + 2] as number;
      if (of > impact) impact = of;
      if ((blocks[block * blockWords] as number) >= end - 1) break;
    }
    return (this.ceiling = impact === 0 ? 0 : impact * this.#scale.impactFactor + this.#scale.slack);
  }

  /** Decodes the current block, if there is one, and moves to its first row from `row` on. */
  load(row: number): boolean {
    if (this.block >= this.blockEnd) return false;
    if (this.#decoded !== this.block) {
      this.count = this.#index.decode(this.term, this.block, this.rows, this.counts);
      this.#decoded = this.block;
      this.at = 0;
    }
    const { rows } = this;
    let low = this.at;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((rows[middle] as number) < row) low = middle + 1;
      else high = middle;
    }
    this.at = low;
    return true;
  }

  /** What the term adds to the score of the row at position `at` of the decoded block. */
  scoreAt(at: number): number {
    const { weight, lengthFactor, rounder } = this.#scale;
    const count = this.counts[at] as number;
    const length = this.#index.lengths[this.rows[at] as number] as number;
    return (weight * count) / (count + lengthBase + lengthFactor * length) + rounder - rounder;
  }

  /** What the term adds to the score of a row, which must not be before the last requested one. */
  scoreOf(row: number): number {
    return this.seek(row) ? this.scoreAt(this.at) : 0;
  }

  /** Whether the row contains the term; rows are requested in ascending order. */
  seek(row: number): boolean {
    const { blocks } = this.#index;
    while (this.block < this.blockEnd && (blocks[this.block * blockWords] as number) < row) this.block += 1;
    return this.load(row) && this.rows[this.at] === row;
  }
}

const pool: TermCursor[] = [];

/** The i-th cursor of the current search. Searches are synchronous, so that only one uses the pool at a time. */
export function cursorAt(i: number): TermCursor {
  return (pool[i] ??= new TermCursor());
}
