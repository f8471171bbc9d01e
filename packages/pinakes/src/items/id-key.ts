/** Ids, and their form as engine keys. */
import { hash } from "node:crypto";
import { invalid, show } from "../domain/errors.ts";
import { utf8Bytes, withinUtf8Bytes } from "../domain/json.ts";
import { limits } from "../domain/limits.ts";

// Control characters except tab, line breaks and Latin-1's, the characters Cosmos DB rejects in ids, and U+10FFFF, which ends ranges of
// ids. U+0000 and U+0001 end keys and ranges.
const forbidden = /[[\p{Cc}--[\u0080-\u009f\t\n\r]]\/\\#\u{10ffff}]/v;

/** Fast path for most ids: a point read takes microseconds, and the checks below would double them. */
const ordinary = /^[A-Za-z0-9_.:-]{1,80}$/;

export function checkId(id: unknown): string {
  if (typeof id === "string" && ordinary.test(id)) return id;
  if (typeof id !== "string" || id === "") throw invalid(`id: must be a non-empty string, got ${show(id)}.`);
  if (forbidden.test(id)) throw invalid(`id: must not contain control characters or any of / \\ #; got ${show(id)}.`);
  if (!id.isWellFormed()) throw invalid("id: contains half of a surrogate pair.");
  if (!withinUtf8Bytes(id, limits.idBytesMax))
    throw invalid(`id: ${utf8Bytes(id)} bytes; at most ${limits.idBytesMax} are allowed.`);
  return id;
}

/**
 * The id itself up to 255 bytes; beyond that a prefix and a hash. The long form is always over 255 bytes, so that it never equals a short
 * id.
 */
export function idKeyOf(id: string): string {
  if (withinUtf8Bytes(id, limits.idNativeBytesMax)) return id;
  return `${cutUtf8(id, limits.idOrderBytesMax)}~${hash("sha256", id, "hex")}`;
}

/** The end of every index key, at most 98 bytes: orders ties by id, then distinguishes partitions (and long ids). */
export function tieBreaker(pk: string, idKey: string): Buffer {
  if (withinUtf8Bytes(idKey, 84)) return Buffer.concat([Buffer.from(`\u0006${idKey}\0`, "utf8"), partitionHash(pk)]);
  return Buffer.concat([Buffer.from(`\u0006${cutUtf8(idKey, 52)}~\0`, "utf8"), shortHash(`${pk}\0${idKey}`)]);
}

/** Writes come in runs on the same partitions; hashing each anew would cost as much as the rest of the key. */
const partitionHashes = new Map<string, Buffer>();

function partitionHash(pk: string): Buffer {
  let known = partitionHashes.get(pk);
  if (known === undefined) {
    if (partitionHashes.size >= 1_000) partitionHashes.clear();
    partitionHashes.set(pk, (known = shortHash(pk)));
  }
  return known;
}

function shortHash(text: string): Buffer {
  return hash("sha256", text, "buffer").subarray(0, 12);
}

function cutUtf8(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length <= bytesMax) return text;
  let end = bytesMax;
  while (end > 0 && ((bytes[end] as number) & 0xc0) === 0x80) end -= 1;
  return bytes.toString("utf8", 0, end);
}
