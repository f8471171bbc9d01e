/**
 * The file of a segment or delta (RFC 0001, "Files"): fixed fields, JSON, page table, body. The hash of the head covers the page table, and
 * the page table the body, so that any range of the file can be verified on its own.
 */
import { hash } from "node:crypto";
import { PinakesError } from "../../domain/errors.ts";
import { invariant } from "../../domain/invariant.ts";
import type { Section } from "./section.ts";
import { SegmentBytes, type SegmentHeader } from "../segment-bytes.ts";

export const pageBytes = 256 * 1024;
const pageHashBytes = 16;
const fixedBytes = 64;
const magic = Buffer.from("PINAKSEG", "latin1");
const align = 64;
/** More than any head needs: 768 MB are 3,072 pages. */
const headBytesMax = 16 * 1024 ** 2;

/** What a log entry or manifest must record to read and verify a file. */
export interface FileRef {
  readonly key: string;
  /** Of the head; see above. */
  readonly sha256: string;
  readonly bytes: number;
  readonly headBytes: number;
}

export interface EncodedFile {
  readonly bytes: Uint8Array;
  readonly sha256: string;
  readonly headBytes: number;
}

export type HeaderFields = Omit<SegmentHeader, "format" | "sections">;

/** The layout of the sections in the body of a file: offset and bytes of each. */
export interface Layout {
  readonly places: Readonly<Record<string, readonly [offset: number, bytes: number]>>;
  readonly bodyBytes: number;
}

/** Sections in the order of the file. */
export function layOut(sizes: Iterable<readonly [name: string, bytes: number]>): Layout {
  const places: Record<string, readonly [number, number]> = {};
  let bodyBytes = 0;
  for (const [name, bytes] of sizes) {
    invariant(!Object.hasOwn(places, name), "INTERNAL", `Two sections are called "${name}".`);
    places[name] = [bodyBytes, bytes];
    bodyBytes = aligned(bodyBytes + bytes);
  }
  return { places, bodyBytes };
}

export function writeFile(fields: HeaderFields, sections: readonly Section[]): EncodedFile {
  const layout = layOut(sections.map(({ name, bytes }) => [name, bytes.byteLength]));
  const bodyAt = headBytesOf(fields, layout);
  const bytes = new Uint8Array(bodyAt + layout.bodyBytes);
  for (const section of sections)
    bytes.set(section.bytes, bodyAt + (layout.places[section.name] as readonly [number, number])[0]);
  return sealFile(bytes.buffer, bodyAt, layout, fields);
}

export function headBytesOf(fields: HeaderFields, layout: Layout): number {
  return planHead(fields, layout).headBytes;
}

/** Writes the head just before a complete body. What comes before the head in the buffer is not part of the file. */
export function sealFile(buffer: ArrayBufferLike, bodyAt: number, layout: Layout, fields: HeaderFields): EncodedFile {
  const { json, tableAt, pages, headBytes } = planHead(fields, layout);
  invariant(
    bodyAt >= headBytes,
    "INTERNAL",
    `The head of a file needs ${headBytes} bytes; only ${bodyAt} are available.`,
  );
  const start = bodyAt - headBytes;
  const bytes = new Uint8Array(buffer, start, headBytes + layout.bodyBytes);
  bytes.set(json, fixedBytes);
  for (let page = 0; page < pages; page += 1)
    bytes.set(pageHash(pageOf(bytes, headBytes, page)), tableAt + page * pageHashBytes);
  const fixed = new DataView(buffer, start);
  bytes.set(magic, 0);
  fixed.setUint32(8, 1, true);
  fixed.setUint32(12, json.byteLength, true);
  fixed.setFloat64(16, bytes.byteLength, true);
  fixed.setFloat64(24, headBytes, true);
  bytes.set(sha(bytes.subarray(fixedBytes, headBytes)), 32);
  return { bytes, sha256: headHash(bytes.subarray(0, headBytes)), headBytes };
}

function planHead(
  fields: HeaderFields,
  { places, bodyBytes }: Layout,
): { json: Buffer; tableAt: number; pages: number; headBytes: number } {
  const json = Buffer.from(JSON.stringify({ ...fields, sections: places }), "utf8");
  const pages = Math.ceil(bodyBytes / pageBytes);
  const tableAt = aligned(fixedBytes + json.byteLength);
  return { json, tableAt, pages, headBytes: aligned(tableAt + pages * pageHashBytes) };
}

export interface FileHead {
  /** Offsets of sections count from the beginning of the file. */
  readonly header: SegmentHeader;
  readonly bytes: number;
  readonly headBytes: number;
  readonly pages: number;
  readonly table: Uint8Array;
}

/** Verified against the hash in the manifest or log entry. Throws CORRUPT. */
export function readHead(head: Uint8Array, ref: FileRef): FileHead {
  const damaged = (what: string): PinakesError =>
    new PinakesError("CORRUPT", `The object ${ref.key} is corrupt: ${what}. Run fsck on its collection.`);
  if (head.byteLength < fixedBytes || head.byteLength < ref.headBytes)
    throw damaged(`it ends after ${head.byteLength} bytes`);
  const own = head.slice(0, ref.headBytes);
  if (headHash(own) !== ref.sha256) throw damaged("the hash of its head differs from the recorded one");
  const fixed = new DataView(own.buffer, own.byteOffset, own.byteLength);
  const format = fixed.getUint32(8, true);
  if (format !== 1)
    throw new PinakesError("CORRUPT", `The object ${ref.key} has format ${format}; this version reads format 1.`);
  const jsonBytes = fixed.getUint32(12, true);
  const bytes = fixed.getFloat64(16, true);
  const headBytes = fixed.getFloat64(24, true);
  if (bytes !== ref.bytes || headBytes !== ref.headBytes) throw damaged("its lengths differ from the recorded ones");
  const parsed = JSON.parse(Buffer.from(own.subarray(fixedBytes, fixedBytes + jsonBytes)).toString("utf8")) as Omit<
    SegmentHeader,
    "format"
  >;
  const sections = Object.fromEntries(
    Object.entries(parsed.sections).map(([name, [offset, length]]) => [name, [headBytes + offset, length] as const]),
  );
  const tableAt = aligned(fixedBytes + jsonBytes);
  const pages = Math.ceil((bytes - headBytes) / pageBytes);
  return {
    header: { ...parsed, format: 1, sections },
    bytes,
    headBytes,
    pages,
    table: own.subarray(tableAt, tableAt + pages * pageHashBytes),
  };
}

/** For files without a recorded hash, such as a delta found in the bucket: the reference that the file itself claims. */
export function claimedRef(key: string, start: Uint8Array): FileRef {
  const damaged = (): PinakesError =>
    new PinakesError("CORRUPT", `The object ${key} is not a segment or delta of Pinakes, or is corrupt.`);
  if (start.byteLength < fixedBytes || !magic.equals(start.subarray(0, 8))) throw damaged();
  const fixed = new DataView(start.buffer, start.byteOffset);
  const bytes = fixed.getFloat64(16, true);
  const headBytes = fixed.getFloat64(24, true);
  if (!(headBytes >= fixedBytes && headBytes <= Math.min(bytes, headBytesMax) && headBytes <= start.byteLength))
    throw damaged();
  const head = start.slice(0, headBytes);
  if (!sha(head.subarray(fixedBytes)).equals(head.subarray(32, 64))) throw damaged();
  return { key, sha256: headHash(head), bytes, headBytes };
}

/** Pages that do not match the page table, of those in `from … to` (file offsets). `file` holds the whole file's range. */
export function damagedPages(file: Uint8Array, head: FileHead, from = 0, to = head.bytes): number[] {
  const first = Math.max(0, Math.floor((from - head.headBytes) / pageBytes));
  const end = Math.min(head.pages, Math.ceil((to - head.headBytes) / pageBytes));
  const damaged: number[] = [];
  for (let page = first; page < end; page += 1) {
    const expected = head.table.subarray(page * pageHashBytes, (page + 1) * pageHashBytes);
    if (!pageHash(pageOf(file, head.headBytes, page)).equals(expected)) damaged.push(page);
  }
  return damaged;
}

/** A whole file, verified. The bytes are used in place if they are aligned, else copied. */
export function openFile(file: Uint8Array, ref: FileRef): SegmentBytes {
  if (file.byteLength !== ref.bytes)
    throw new PinakesError(
      "CORRUPT",
      `The object ${ref.key} has ${file.byteLength} bytes instead of ${ref.bytes}. Run fsck on its collection.`,
    );
  const head = readHead(file, ref);
  const damaged = damagedPages(file, head);
  if (damaged.length > 0)
    throw new PinakesError(
      "CORRUPT",
      `The object ${ref.key} has ${damaged.length} corrupt pages of ${head.pages}. Run fsck on its collection.`,
    );
  const at = file.byteOffset % align === 0 ? file : new Uint8Array(file);
  return new SegmentBytes(head.header, at.buffer, at.byteOffset);
}

function pageOf(file: Uint8Array, headBytes: number, page: number): Uint8Array {
  return file.subarray(headBytes + page * pageBytes, Math.min(headBytes + (page + 1) * pageBytes, file.byteLength));
}

function pageHash(page: Uint8Array): Buffer {
  return sha(page).subarray(0, pageHashBytes);
}

function sha(bytes: Uint8Array): Buffer {
  return hash("sha256", bytes, "buffer");
}

function headHash(head: Uint8Array): string {
  return hash("sha256", head, "hex");
}

function aligned(offset: number): number {
  return Math.ceil(offset / align) * align;
}
