/**
 * Writes the text sections of a segment, term by term in byte order. Building and merging both end here, so that they give the same
 * bytes for the same rows.
 *
 *   text.stats    f64[2]       rows with at least one term; terms of all rows together
 *   text.lengths  u32[rows]    terms in each row, 0 for none
 *   text.terms    bytes        the terms in UTF-8, one after the other, ascending by byte
 *   text.offsets  u32[terms+1] where each begins
 *   text.df       u32[terms]   rows that contain it
 *   text.first    u32[terms+1] its first block
 *   text.blocks   [u32 last row, u32 where its postings begin, f32 impact] for each block of `blockRows` rows of a term
 *   text.postings bytes        for each row of a term: varint(2 × distance from the row before + (count > 1)), then varint(count) if > 1;
 *                              the first distance of a block is from the last row of the block before, or from 0
 *
 * Invariant: rows ascend within a term, and a term has at least one row. The impact of a block is the largest share of a term's weight
 * that one of its rows reaches, with the segment's own average length; with an average that is f times larger it is at most f times
 * larger, which keeps the blocks' bounds valid for any set of segments.
 */
import { invariant } from "../../domain/invariant.ts";
import type { Section } from "../segment/section.ts";
import { ByteWriter, U32Writer } from "./growable.ts";

export const blockRows = 128;
/** u32 words of an entry of text.blocks. */
export const blockWords = 3;
export const bm25 = Object.freeze({ k1: 1.2, b: 0.75 });

export interface TextSections {
  readonly sections: Section[];
  readonly tokens: number;
}

export function averageLength(rowsWithText: number, tokens: number): number {
  return rowsWithText === 0 ? 1 : tokens / rowsWithText;
}

export class TextWriter {
  readonly #lengths: Uint32Array;
  readonly #tokens: number;
  readonly #rowsWithText: number;
  readonly #lengthFactor: number;
  readonly #terms = new ByteWriter();
  readonly #offsets = new U32Writer();
  readonly #frequencies = new U32Writer();
  readonly #first = new U32Writer();
  readonly #blocks = new U32Writer();
  readonly #postings = new ByteWriter();
  readonly #float = new Float32Array(1);
  readonly #floatBits = new Uint32Array(this.#float.buffer);

  constructor(lengths: Uint32Array) {
    this.#lengths = lengths;
    let tokens = 0;
    let rowsWithText = 0;
    for (const length of lengths) {
      tokens += length;
      if (length > 0) rowsWithText += 1;
    }
    this.#tokens = tokens;
    this.#rowsWithText = rowsWithText;
    this.#lengthFactor = (bm25.k1 * bm25.b) / averageLength(rowsWithText, tokens);
    this.#offsets.add(0);
    this.#first.add(0);
  }

  /** The first `count` of `rows`, ascending, contain the term as often as `counts` says. */
  add(term: Uint8Array, rows: Uint32Array, counts: Uint32Array, count: number): void {
    invariant(count > 0, "INTERNAL", "A term without rows was about to be written.");
    this.#terms.add(term);
    this.#offsets.add(this.#terms.length);
    this.#frequencies.add(count);
    let previous = 0;
    for (let start = 0; start < count; start += blockRows) {
      const end = Math.min(start + blockRows, count);
      const from = this.#postings.length;
      const impact = this.#block(rows, counts, start, end, previous);
      previous = rows[end - 1] as number;
      this.#float[0] = impact;
      this.#blocks.add(previous);
      this.#blocks.add(from);
      this.#blocks.add(this.#floatBits[0] as number);
    }
    this.#first.add(this.#blocks.length / blockWords);
  }

  done(): TextSections {
    const stats = new Float64Array([this.#rowsWithText, this.#tokens]);
    const sections = [
      { name: "text.stats", bytes: new Uint8Array(stats.buffer) },
      { name: "text.lengths", bytes: new Uint8Array(this.#lengths.slice().buffer) },
      { name: "text.terms", bytes: this.#terms.done() },
      { name: "text.offsets", bytes: this.#offsets.done() },
      { name: "text.df", bytes: this.#frequencies.done() },
      { name: "text.first", bytes: this.#first.done() },
      { name: "text.blocks", bytes: this.#blocks.done() },
      { name: "text.postings", bytes: this.#postings.done() },
    ];
    return { sections, tokens: this.#tokens };
  }

  #block(rows: Uint32Array, counts: Uint32Array, start: number, end: number, before: number): number {
    const base = bm25.k1 * (1 - bm25.b);
    let previous = before;
    let impact = 0;
    for (let i = start; i < end; i += 1) {
      const row = rows[i] as number;
      const count = counts[i] as number;
      this.#postings.varint((row - previous) * 2 + (count > 1 ? 1 : 0));
      if (count > 1) this.#postings.varint(count);
      previous = row;
      const share = count / (count + base + this.#lengthFactor * (this.#lengths[row] as number));
      if (share > impact) impact = share;
    }
    return impact;
  }
}
