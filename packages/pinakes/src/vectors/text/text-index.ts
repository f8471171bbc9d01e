/** The text sections of a segment, opened: views only, nothing is read until a term is looked up. */
import type { SegmentBytes } from "../segment-bytes.ts";
import { blockRows, blockWords } from "./text-writer.ts";

export class TextIndex {
  readonly rows: number;
  readonly rowsWithText: number;
  readonly tokens: number;
  readonly lengths: Uint32Array;
  readonly terms: Uint8Array;
  readonly offsets: Uint32Array;
  readonly frequencies: Uint32Array;
  readonly first: Uint32Array;
  readonly blocks: Uint32Array;
  readonly impacts: Float32Array;
  readonly postings: Uint8Array;

  constructor(segment: SegmentBytes) {
    const stats = segment.f64("text.stats");
    this.rowsWithText = stats[0] as number;
    this.tokens = stats[1] as number;
    this.lengths = segment.u32("text.lengths");
    this.rows = this.lengths.length;
    this.terms = segment.u8("text.terms");
    this.offsets = segment.u32("text.offsets");
    this.frequencies = segment.u32("text.df");
    this.first = segment.u32("text.first");
    this.blocks = segment.u32("text.blocks");
    this.impacts = segment.f32("text.blocks");
    this.postings = segment.u8("text.postings");
  }

  /** The number of a term, or -1. */
  find(term: Uint8Array): number {
    let low = 0;
    let high = this.frequencies.length - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const order = compareBytes(
        this.terms,
        this.offsets[middle] as number,
        this.offsets[middle + 1] as number,
        term,
        0,
        term.length,
      );
      if (order === 0) return middle;
      if (order < 0) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }

  /** Rows in a block: `blockRows`, but for the last of a term. */
  blockCount(term: number, block: number): number {
    const before = (block - (this.first[term] as number)) * blockRows;
    return Math.min(blockRows, (this.frequencies[term] as number) - before);
  }

  lastRow(block: number): number {
    return this.blocks[block * blockWords] as number;
  }

  /** Reads one block into `rows` and `counts` from `at`; returns its number of rows. */
  decode(term: number, block: number, rows: Uint32Array, counts: Uint32Array, at = 0): number {
    const count = this.blockCount(term, block);
    const postings = this.postings;
    let from = this.blocks[block * blockWords + 1] as number;
    let row = block === this.first[term] ? 0 : this.lastRow(block - 1);
    for (let i = at; i < at + count; i += 1) {
      let code = postings[from++] as number;
      if (code > 127) {
        code &= 127;
        let shift = 7;
        let byte: number;
        do {
          byte = postings[from++] as number;
          code |= (byte & 127) << shift;
          shift += 7;
        } while (byte > 127);
      }
      row += code >>> 1;
      rows[i] = row;
      let tf = 1;
      if ((code & 1) !== 0) {
        tf = postings[from++] as number;
        if (tf > 127) {
          tf &= 127;
          let shift = 7;
          let byte: number;
          do {
            byte = postings[from++] as number;
            tf |= (byte & 127) << shift;
            shift += 7;
          } while (byte > 127);
        }
      }
      counts[i] = tf;
    }
    return count;
  }
}

const opened = new WeakMap<SegmentBytes, TextIndex>();

export function textIndexOf(segment: SegmentBytes): TextIndex {
  let index = opened.get(segment);
  if (index === undefined) opened.set(segment, (index = new TextIndex(segment)));
  return index;
}

/** Order of a[aFrom…aTo) and b[bFrom…bTo) as bytes. */
export function compareBytes(
  a: Uint8Array,
  aFrom: number,
  aTo: number,
  b: Uint8Array,
  bFrom: number,
  bTo: number,
): number {
  const length = Math.min(aTo - aFrom, bTo - bFrom);
  for (let i = 0; i < length; i += 1) {
    const difference = (a[aFrom + i] as number) - (b[bFrom + i] as number);
    if (difference !== 0) return difference;
  }
  return aTo - aFrom - (bTo - bFrom);
}
