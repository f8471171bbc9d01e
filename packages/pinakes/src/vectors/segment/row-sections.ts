/** The sections that every file has: ids, keys, op, hash, text, metadata and (in segments) seq. Built from rows, or copied from files. */
import { hash } from "node:crypto";
import { idHash } from "./id-hash.ts";
import { opCodes, type Row } from "../row.ts";
import type { Section } from "./section.ts";
import { lowerBound, type SegmentRows } from "./segment-rows.ts";

export function buildRowSections(rows: readonly Row[]): Section[] {
  const ids = rows.map((row) => Buffer.from(row.id, "utf8"));
  const texts = rows.map((row) => (row.text === undefined ? empty : Buffer.from(row.text, "utf8")));
  const metas = rows.map((row) =>
    row.metadata === undefined || Object.keys(row.metadata).length === 0
      ? empty
      : Buffer.from(JSON.stringify(row.metadata), "utf8"),
  );
  const hashes = new Uint8Array(rows.length * 16);
  const hasher = new RowHasher();
  for (const [i, row] of rows.entries())
    hasher.hash(row, ids[i] as Buffer, texts[i] as Buffer, metas[i] as Buffer).copy(hashes, i * 16, 0, 16);
  return [
    ...keySections(ids),
    { name: "op", bytes: Uint8Array.from(rows, (row) => opCodes[row.op]) },
    { name: "hash", bytes: hashes },
    ...pieces("rows.ids", ids),
    ...pieces("rows.text", texts),
    ...pieces("rows.meta", metas),
  ];
}

/** Row i of the new file is row `row[i]` of source `source[i]`. */
export function copyRowSections(sources: readonly SegmentRows[], source: Uint32Array, row: Uint32Array): Section[] {
  const rows = source.length;
  const op = new Uint8Array(rows);
  const hashes = new Uint32Array(rows * 4);
  const seq = new Float64Array(rows);
  for (let i = 0; i < rows; i += 1) {
    const from = sources[source[i] as number] as SegmentRows;
    const at = row[i] as number;
    op[i] = from.op[at] as number;
    hashes.set(from.hashes.subarray(at * 4, at * 4 + 4), i * 4);
    seq[i] = from.seq(at);
  }
  const ids = copyPieces("rows.ids", sources, source, row);
  const idBytes = (ids[0] as Section).bytes;
  const idOffsets = new Uint32Array((ids[1] as Section).bytes.buffer);
  const views = Array.from({ length: rows }, (_, i) => idBytes.subarray(idOffsets[i], idOffsets[i + 1]));
  return [
    ...keySections(views),
    { name: "seq", bytes: bytesOf(seq) },
    { name: "op", bytes: op },
    { name: "hash", bytes: bytesOf(hashes) },
    ...ids,
    ...copyPieces("rows.text", sources, source, row),
    ...copyPieces("rows.meta", sources, source, row),
  ];
}

const empty = Buffer.alloc(0);

class RowHasher {
  /** A shared buffer for hash input: thousands of rows need no buffer of their own. */
  #joined = Buffer.alloc(4_096);

  /** Length prefixes separate the parts: no two different rows feed the hash with the same bytes. */
  hash(row: Row, id: Buffer, text: Buffer, meta: Buffer): Buffer {
    const vector =
      row.vector === undefined ? empty : Buffer.from(row.vector.buffer, row.vector.byteOffset, row.vector.byteLength);
    const lengths = Buffer.from(
      Uint32Array.of(opCodes[row.op], id.length, vector.length, text.length, meta.length).buffer,
    );
    const parts = [lengths, id, vector, text, meta];
    const bytes = parts.reduce((sum, part) => sum + part.length, 0);
    if (bytes > this.#joined.length) this.#joined = Buffer.alloc(2 * bytes);
    let at = 0;
    for (const part of parts) at += part.copy(this.#joined, at);
    return hash("sha256", this.#joined.subarray(0, bytes), "buffer");
  }
}

function keySections(ids: readonly Uint8Array[]): Section[] {
  const hashes = Float64Array.from(ids, (id) => idHash(id));
  // Sorted natively, which is many times faster than with a function that compares rows; then each row finds its position.
  const keys = hashes.toSorted();
  const rows = new Uint32Array(hashes.length);
  const taken = new Uint8Array(hashes.length);
  for (let row = 0; row < hashes.length; row += 1) {
    let place = lowerBound(keys, hashes[row] as number);
    while (taken[place] === 1) place += 1; // Two ids with one hash: the smaller row number comes first.
    taken[place] = 1;
    rows[place] = row;
  }
  return [
    { name: "keys", bytes: bytesOf(keys) },
    { name: "keys.rows", bytes: bytesOf(rows) },
  ];
}

function pieces(name: string, parts: readonly Uint8Array[]): Section[] {
  const offsets = new Uint32Array(parts.length + 1);
  for (const [i, part] of parts.entries()) offsets[i + 1] = (offsets[i] as number) + part.length;
  return [
    { name, bytes: Buffer.concat(parts) },
    { name: `${name}.offsets`, bytes: bytesOf(offsets) },
  ];
}

function copyPieces(name: string, sources: readonly SegmentRows[], source: Uint32Array, row: Uint32Array): Section[] {
  const from = sources.map(({ segment }) => ({ bytes: segment.u8(name), offsets: segment.u32(`${name}.offsets`) }));
  const offsets = new Uint32Array(source.length + 1);
  for (let i = 0; i < source.length; i += 1) {
    const { offsets: theirs } = from[source[i] as number] as (typeof from)[number];
    const at = row[i] as number;
    offsets[i + 1] = (offsets[i] as number) + (theirs[at + 1] as number) - (theirs[at] as number);
  }
  const bytes = new Uint8Array(offsets.at(-1) ?? 0);
  for (let i = 0; i < source.length; i += 1) {
    const theirs = from[source[i] as number] as (typeof from)[number];
    const at = row[i] as number;
    bytes.set(theirs.bytes.subarray(theirs.offsets[at], theirs.offsets[at + 1]), offsets[i]);
  }
  return [
    { name, bytes },
    { name: `${name}.offsets`, bytes: bytesOf(offsets) },
  ];
}

function bytesOf(array: Uint32Array | Float64Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}
