/** The metadata sections of a segment, opened: views only. */
import type { SegmentBytes } from "../segment-bytes.ts";
import { compareBytes } from "../text/text-index.ts";
import { kindWords } from "./column-format.ts";

export class ColumnIndex {
  readonly rows: Uint32Array;
  readonly starts: Uint32Array;
  readonly numbers: Float64Array;
  readonly strings: Uint8Array;
  readonly #kinds: Uint32Array;
  readonly #places: Uint32Array;
  readonly #fields: ReadonlyMap<string, number>;

  constructor(segment: SegmentBytes) {
    this.#fields = new Map(segment.header.fields.map(({ path }, i) => [path, i]));
    this.#kinds = segment.u32("meta.kinds");
    this.starts = segment.u32("meta.starts");
    this.rows = segment.u32("meta.rows");
    this.numbers = segment.f64("meta.values");
    this.#places = segment.u32("meta.values");
    this.strings = segment.u8("meta.strings");
  }

  /** The number of a field, or -1: no row of the segment has it. */
  field(path: string): number {
    return this.#fields.get(path) ?? -1;
  }

  /** The first entry of a kind of a field; that of the next kind is the end. */
  firstEntry(field: number, kind: number): number {
    return this.#kinds[field * kindWords + kind] as number;
  }

  stringStart(entry: number): number {
    return this.#places[entry * 2] as number;
  }

  stringEnd(entry: number): number {
    return this.stringStart(entry) + (this.#places[entry * 2 + 1] as number);
  }

  /** The first entry from `from` to below `to` whose value is not before (`after`: is after) the given one; `to` if none. */
  lowerBound(from: number, to: number, value: number | Uint8Array, after = false): number {
    let low = from;
    let high = to;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = this.#compare(middle, value);
      if (order < 0 || (after && order === 0)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #compare(entry: number, value: number | Uint8Array): number {
    if (typeof value === "number") return (this.numbers[entry] as number) - value;
    return compareBytes(this.strings, this.stringStart(entry), this.stringEnd(entry), value, 0, value.length);
  }
}

const opened = new WeakMap<SegmentBytes, ColumnIndex>();

export function columnIndexOf(segment: SegmentBytes): ColumnIndex {
  let index = opened.get(segment);
  if (index === undefined) opened.set(segment, (index = new ColumnIndex(segment)));
  return index;
}
