/**
 * Vector search of one thread in one segment: int8 codes first, then the exact scores of the best candidates.
 *
 * Plan: rows without lists, or few rows that pass the filter, are scanned exactly; otherwise lists are probed as far as the segment's own
 * calibration says for the requested recall.
 */
import {
  calibratedK,
  candidatesOf,
  contextFields,
  floatStrideOf,
  scratchOf,
  writeContext,
} from "../kernels/context.ts";
import { kernelsFor, type Kernels } from "../kernels/kernels.ts";
import type { Bitmap } from "../segment/bitmap.ts";
import { scratchAddress, segmentOf, type LoadedSegment } from "../segment/load-segment.ts";
import type { IvfHeader, SegmentBytes } from "../segment-bytes.ts";

export const recallDefault = 0.97;
/** This few rows are scanned faster, and certainly found, without lists. */
export const exactRowsMax = 4_000;

export interface VectorQuery {
  readonly vector: Float32Array;
  readonly k: number;
  /** The average share of the true best k to find. 1: all, by scanning every row. */
  readonly recall?: number | undefined;
  /** Excluded rows. */
  readonly dead?: Bitmap | undefined;
  /** If given, only these rows may be found. */
  readonly allowed?: Bitmap | undefined;
  /** If given, only these rows (ascending row numbers in the segment's memory) are examined; not together with `dead` or `allowed`. */
  readonly given?: { readonly address: number; readonly count: number } | undefined;
  /** If given, only these lists are searched: those whose bytes are loaded. */
  readonly lists?: Uint32Array | undefined;
}

/** Best first. Scores: cosine similarity, dot product, or minus the Euclidean distance. */
export interface VectorHits {
  readonly rows: Uint32Array;
  readonly scores: Float32Array;
}

export class SegmentSearch {
  readonly segment: SegmentBytes;
  readonly #kernels: Kernels;
  readonly #ctx: number;
  readonly #query: Float32Array;
  readonly #excluded: Uint32Array;
  readonly #keys: Uint32Array;
  readonly #scores: Int32Array;
  readonly #lists: Uint32Array;
  readonly #probes: Uint32Array;
  readonly #cost: Uint32Array;
  readonly #weight: number;
  /** The bitmap that is currently in the scratch area. */
  #dead: Bitmap | undefined;

  constructor(loaded: LoadedSegment, slot: number) {
    this.segment = segmentOf(loaded);
    const { header, buffer } = this.segment;
    const scratch = scratchOf(header);
    const lists = header.ivf?.lists ?? 0;
    this.#ctx = scratchAddress(loaded, slot);
    writeContext(this.segment, this.#ctx);
    this.#kernels = kernelsFor(loaded.memory);
    this.#query = new Float32Array(buffer, this.#ctx + scratch.query, floatStrideOf(header.dims)).fill(0);
    this.#excluded = new Uint32Array(buffer, this.#ctx + scratch.excluded, Math.ceil(header.rows / 32));
    this.#keys = new Uint32Array(buffer, this.#ctx + scratch.heap, (scratch.chunk - scratch.heap) / 4);
    this.#scores = new Int32Array(buffer, this.#ctx + scratch.heap, (scratch.chunk - scratch.heap) / 4);
    this.#lists = new Uint32Array(buffer, this.#ctx + scratch.chunk, lists);
    this.#probes = new Uint32Array(buffer, this.#ctx + scratch.probes, lists * 2);
    this.#weight = header.ivf === undefined ? 0 : (this.segment.f32("ivf.rule")[0] as number);
    this.#cost = new Uint32Array(buffer, this.#ctx + contextFields.scanned, 2);
  }

  search(query: VectorQuery): VectorHits {
    const { rows, ivf } = this.segment.header;
    this.#query.set(query.vector);
    if (query.given !== undefined) return this.#searchGiven(query.k, query.given);
    const matching = this.#exclude(query.dead, query.allowed);
    const masked = matching !== undefined;
    const k = Math.min(query.k, matching ?? rows);
    if (k === 0) return { rows: new Uint32Array(0), scores: new Float32Array(0) };
    const candidates = Math.min(candidatesOf(k), matching ?? rows);
    return this.#take(k, this.#run(query, ivf, candidates, masked, matching ?? rows));
  }

  #searchGiven(wanted: number, { address, count }: { readonly address: number; readonly count: number }): VectorHits {
    const k = Math.min(wanted, count);
    if (k === 0) return { rows: new Uint32Array(0), scores: new Float32Array(0) };
    return this.#take(k, this.#kernels.searchGivenRows(this.#ctx, Math.min(candidatesOf(k), count), address, count));
  }

  /** The lists that a search would read, nearest first, as far as the calibration with a fixed number of lists says. */
  probesOf(vector: Float32Array, recall = recallDefault): Uint32Array {
    const { ivf } = this.segment.header;
    if (ivf === undefined) return new Uint32Array(0);
    this.#query.set(vector);
    this.#kernels.orderLists(this.#ctx);
    const count = effortOf(ivf, recall)?.probes ?? ivf.lists;
    return Uint32Array.from({ length: count }, (_, i) => ~(this.#probes[2 * (ivf.lists - 1 - i)] as number));
  }

  /** The cost of the last search. */
  get cost(): { readonly rows: number; readonly lists: number } {
    return { rows: this.#cost[0] as number, lists: this.#cost[1] as number };
  }

  #run(query: VectorQuery, ivf: IvfHeader | undefined, candidates: number, masked: boolean, matching: number): number {
    if (ivf !== undefined && query.lists !== undefined) {
      this.#lists.set(query.lists);
      return this.#kernels.searchGivenLists(this.#ctx, candidates, masked, this.#lists.byteOffset, query.lists.length);
    }
    const effort =
      ivf === undefined || matching <= exactRowsMax ? undefined : effortOf(ivf, query.recall ?? recallDefault);
    if (effort === undefined || ivf === undefined) return this.#kernels.searchRows(this.#ctx, candidates, masked);
    // If k is larger or rows are rarer than in calibration, the best are spread over more lists.
    const ease = Math.min(1, Math.sqrt((calibratedK / query.k) * (matching / this.segment.header.rows)));
    return this.#kernels.searchLists(this.#ctx, candidates, masked, ivf.lists, effort.slack, this.#weight, ease);
  }

  /** Writes the bitmap of excluded rows; returns how many rows remain, or nothing if all do. */
  #exclude(dead: Bitmap | undefined, allowed: Bitmap | undefined): number | undefined {
    if (allowed === undefined && dead === undefined) return undefined;
    const excluded = this.#excluded;
    const { rows } = this.segment.header;
    if (allowed === undefined) {
      if (this.#dead !== dead) excluded.set((dead as Bitmap).words);
      this.#dead = dead;
      return rows - deadRows(dead as Bitmap);
    }
    this.#dead = undefined;
    const allowedWords = allowed.words;
    const deadWords = dead?.words;
    let count = 0;
    const tail = rows & 31;
    for (let i = 0; i < excluded.length; i += 1) {
      let word = ~(allowedWords[i] as number) | (deadWords === undefined ? 0 : (deadWords[i] as number));
      // Bits beyond the last row are undefined.
      if (tail !== 0 && i === excluded.length - 1) word |= -1 << tail;
      excluded[i] = word;
      count += ones(~word);
    }
    return count;
  }

  /** The first k keys of the heap, which the kernel left sorted: the row's complement below, the score above, ordered as integers. */
  #take(k: number, found: number): VectorHits {
    const count = Math.min(k, found);
    const rows = new Uint32Array(count);
    const bits = new Int32Array(count);
    for (let i = 0; i < count; i += 1) {
      rows[i] = ~(this.#keys[2 * i] as number);
      const ordered = (this.#scores[2 * i + 1] as number) ^ 0x80000000;
      bits[i] = ordered ^ ((ordered >> 31) & 0x7fffffff);
    }
    return { rows, scores: new Float32Array(bits.buffer) };
  }
}

/** How far to probe for a recall; nothing if only a scan of all rows is sure to reach it. */
export function effortOf(ivf: IvfHeader, recall: number): IvfHeader["calibration"][number] | undefined {
  return ivf.calibration.find((effort) => effort.recall >= recall);
}

const counts = new WeakMap<Bitmap, number>();

/** Bitmaps are immutable once shared, so they are counted once. */
function deadRows(dead: Bitmap): number {
  let count = counts.get(dead);
  if (count === undefined) {
    count = dead.count();
    counts.set(dead, count);
  }
  return count;
}

function ones(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const nibbles = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
