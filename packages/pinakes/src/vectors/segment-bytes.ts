/**
 * A segment file in memory: its header and its named sections, each aligned to 64 bytes (RFC 0001, "Files"). The bytes may be in a
 * SharedArrayBuffer (the memory of a WebAssembly instance), at any offset that is a multiple of 64.
 */
import { PinakesError } from "../domain/errors.ts";
import type { Metric } from "./row.ts";

/** What the parts of a segment record besides their sections. */
export interface SegmentHeader {
  readonly format: 1;
  readonly kind: "delta" | "segment";
  readonly collection: string;
  readonly rows: number;
  readonly dims: number;
  readonly metric: Metric;
  readonly language: string;
  /** Lists and their calibration, if the rows are grouped into lists. */
  readonly ivf?: IvfHeader;
  /** Metadata fields in the order of their sections, with the types seen. */
  readonly fields: readonly FieldHeader[];
  /** Sum of the lengths in tokens of all rows with text. */
  readonly tokens: number;
  readonly sections: Readonly<Record<string, readonly [offset: number, bytes: number]>>;
}

export interface IvfHeader {
  readonly lists: number;
  /** For each recall target, ascending: how far to probe so that a sample of the segment's own rows reached it. */
  readonly calibration: readonly { readonly recall: number; readonly probes: number; readonly slack: number }[];
}

export interface FieldHeader {
  readonly path: string;
  readonly types: readonly ("null" | "boolean" | "number" | "string" | "array")[];
}

export class SegmentBytes {
  readonly header: SegmentHeader;
  readonly buffer: ArrayBufferLike;
  /** Where the file begins in the buffer. */
  readonly base: number;

  constructor(header: SegmentHeader, buffer: ArrayBufferLike, base: number) {
    this.header = header;
    this.buffer = buffer;
    this.base = base;
  }

  has(name: string): boolean {
    return Object.hasOwn(this.header.sections, name);
  }

  u8(name: string): Uint8Array {
    const [offset, bytes] = this.#place(name);
    return new Uint8Array(this.buffer, this.base + offset, bytes);
  }

  i8(name: string): Int8Array {
    const [offset, bytes] = this.#place(name);
    return new Int8Array(this.buffer, this.base + offset, bytes);
  }

  u32(name: string): Uint32Array {
    const [offset, bytes] = this.#place(name);
    return new Uint32Array(this.buffer, this.base + offset, bytes / 4);
  }

  i32(name: string): Int32Array {
    const [offset, bytes] = this.#place(name);
    return new Int32Array(this.buffer, this.base + offset, bytes / 4);
  }

  f32(name: string): Float32Array {
    const [offset, bytes] = this.#place(name);
    return new Float32Array(this.buffer, this.base + offset, bytes / 4);
  }

  f64(name: string): Float64Array {
    const [offset, bytes] = this.#place(name);
    return new Float64Array(this.buffer, this.base + offset, bytes / 8);
  }

  /** Where a section begins in the buffer, for kernels. */
  address(name: string): number {
    return this.base + this.#place(name)[0];
  }

  #place(name: string): readonly [number, number] {
    const place = this.header.sections[name];
    if (place === undefined)
      throw new PinakesError("CORRUPT", `A segment has no section "${name}"; run fsck on its collection.`);
    return place;
  }
}
