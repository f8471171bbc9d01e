/** The rows of a file: ids, contents, and lookup by id. Vectors, postings and columns have readers of their own. */
import type { JsonObject } from "../../domain/json.ts";
import type { Bitmap } from "./bitmap.ts";
import { idHash } from "./id-hash.ts";
import { opCodes, type Put } from "../row.ts";
import { RowSummer, type RowSum } from "./row-sum.ts";
import type { SegmentBytes } from "../segment-bytes.ts";

export class SegmentRows {
  readonly segment: SegmentBytes;
  readonly rows: number;
  readonly hashes: Uint32Array;
  readonly op: Uint8Array;
  readonly #ids: Uint8Array;
  readonly #idOffsets: Uint32Array;
  readonly #keys: Float64Array;
  readonly #keyRows: Uint32Array;
  /** A delta's rows all have the seq of their log entry. */
  readonly #deltaSeq: number | undefined;
  readonly #seqs: Float64Array | undefined;
  // Opened lazily: a merge never reads a text.
  #idTexts: Pieces | undefined;
  #text: Pieces | undefined;
  #meta: Pieces | undefined;

  constructor(segment: SegmentBytes, deltaSeq?: number) {
    this.segment = segment;
    this.rows = segment.header.rows;
    this.op = segment.u8("op");
    this.hashes = segment.u32("hash");
    this.#ids = segment.u8("rows.ids");
    this.#idOffsets = segment.u32("rows.ids.offsets");
    this.#keys = segment.f64("keys");
    this.#keyRows = segment.u32("keys.rows");
    this.#deltaSeq = deltaSeq;
    this.#seqs = segment.header.kind === "segment" ? segment.f64("seq") : undefined;
  }

  id(row: number): string {
    this.#idTexts ??= new Pieces(this.segment, "rows.ids");
    return this.#idTexts.read(row) ?? "";
  }

  idBytes(row: number): Uint8Array {
    return this.#ids.subarray(this.#idOffsets[row], this.#idOffsets[row + 1]);
  }

  seq(row: number): number {
    return this.#seqs?.[row] ?? this.#deltaSeq ?? 0;
  }

  isPut(row: number): boolean {
    return this.op[row] === opCodes.put;
  }

  text(row: number): string | undefined {
    this.#text ??= new Pieces(this.segment, "rows.text");
    return this.#text.read(row);
  }

  metadata(row: number): JsonObject {
    this.#meta ??= new Pieces(this.segment, "rows.meta");
    const json = this.#meta.read(row);
    return json === undefined ? {} : (JSON.parse(json) as JsonObject);
  }

  /** As given by the caller. */
  vector(row: number): Float32Array {
    const { dims } = this.segment.header;
    const stride = Math.ceil(dims / 4) * 4;
    return this.segment.f32("vectors.f32").slice(row * stride, row * stride + dims);
  }

  /** A put, with all its content. */
  put(row: number): Put {
    const text = this.text(row);
    return {
      id: this.id(row),
      op: "put",
      vector: this.vector(row),
      metadata: this.metadata(row),
      ...(text === undefined ? {} : { text }),
    };
  }

  /** The row with this id (its UTF-8 and idHash of it), or -1. */
  find(id: Uint8Array, hash = idHash(id)): number {
    for (let i = lowerBound(this.#keys, hash); i < this.#keys.length && this.#keys[i] === hash; i += 1) {
      const row = this.#keyRows[i] as number;
      if (equalBytes(this.idBytes(row), id)) return row;
    }
    return -1;
  }

  /** Sum over the rows that are puts and not in `without`. */
  sum(without?: Bitmap): RowSum {
    const summer = new RowSummer();
    for (let row = 0; row < this.rows; row += 1) {
      if (this.isPut(row) && !(without?.has(row) ?? false)) summer.add(this.hashes, row, this.seq(row));
    }
    return summer.sum();
  }
}

/** Concatenated texts, by the row that they belong to. */
class Pieces {
  readonly #bytes: Buffer;
  readonly #offsets: Uint32Array;

  constructor(segment: SegmentBytes, name: string) {
    const { buffer, byteOffset, byteLength } = segment.u8(name);
    // By Buffer, which reads shared memory in place; TextDecoder rejects it.
    this.#bytes = Buffer.from(buffer, byteOffset, byteLength);
    this.#offsets = segment.u32(`${name}.offsets`);
  }

  /** Undefined if there is none. */
  read(row: number): string | undefined {
    // No row has one: then not even the offsets are worth reading, which costs a cache miss each.
    if (this.#bytes.length === 0) return undefined;
    const start = this.#offsets[row] as number;
    const end = this.#offsets[row + 1] as number;
    return start === end ? undefined : this.#bytes.toString("utf8", start, end);
  }
}

/** The position of the first key that is not smaller. */
export function lowerBound(keys: Float64Array, hash: number): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] as number) < hash) low = middle + 1;
    else high = middle;
  }
  return low;
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false;
  return true;
}
