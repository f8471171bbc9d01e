/**
 * Order-preserving keys (RFC 0002). Byte order of the encoding is the order of the values, on every engine:
 * undefined < null < false < true < numbers < strings < arrays < objects.
 *
 * Invariants
 * - a value's encoding is never a prefix of another's, so concatenations compare field by field;
 * - the first byte of any component is neither 0x00 nor 0xff, so `prefix + 0xff` lies after everything that starts with `prefix`.
 */
import { invalid } from "../domain/errors.ts";
import type { JsonValue } from "../domain/json.ts";

const tag = { undefined: 1, null: 2, false: 3, true: 4, number: 5, string: 6, array: 7, object: 8 } as const;

export function encodeValue(value: JsonValue | undefined, descending = false): Buffer {
  const bytes = ascending(value);
  if (descending) for (let i = 0; i < bytes.length; i += 1) bytes[i] = ~(bytes[i] as number) & 0xff;
  return bytes;
}

function ascending(value: JsonValue | undefined): Buffer {
  if (value === undefined) return Buffer.from([tag.undefined]);
  if (value === null) return Buffer.from([tag.null]);
  if (typeof value === "boolean") return Buffer.from([value ? tag.true : tag.false]);
  if (typeof value === "number") return encodeNumber(value);
  if (typeof value === "string") return encodeString(value);
  // Arrays and objects sort after strings, but are not ordered among themselves, and cannot be looked up.
  return Buffer.from([Array.isArray(value) ? tag.array : tag.object]);
}

/** IEEE 754 bits with the sign flipped (negative: all bits) sort as unsigned bytes. -0 becomes 0. */
function encodeNumber(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(9);
  bytes[0] = tag.number;
  bytes.writeDoubleBE(value === 0 ? 0 : value, 1);
  if ((bytes[1] as number) & 0x80) for (let i = 1; i < 9; i += 1) bytes[i] = ~(bytes[i] as number) & 0xff;
  else bytes[1] = (bytes[1] as number) | 0x80;
  return bytes;
}

/** UTF-8 ended by NUL, which no string of a document contains: a shorter string sorts before its extensions. */
function encodeString(value: string): Buffer {
  const length = Buffer.byteLength(value, "utf8");
  const bytes = Buffer.allocUnsafe(length + 2);
  bytes[0] = tag.string;
  bytes.write(value, 1, "utf8");
  bytes[length + 1] = 0;
  return bytes;
}

/** The bytes of a string's prefix, without the end mark: for prefix ranges. */
export function encodeStringPrefix(prefix: string, descending: boolean): Buffer {
  const bytes = encodeString(prefix).subarray(0, -1);
  if (descending) for (let i = 0; i < bytes.length; i += 1) bytes[i] = ~(bytes[i] as number) & 0xff;
  return bytes;
}

/** Greater than every key that starts with `prefix`. */
export function afterPrefix(prefix: Uint8Array): Buffer {
  return Buffer.concat([prefix, Buffer.from([0xff])]);
}

/** The smallest key greater than `key`. */
export function nextKey(key: Uint8Array): Buffer {
  return Buffer.concat([key, Buffer.from([0])]);
}

export function requireWellFormed(value: JsonValue | undefined, path: string): void {
  if (typeof value !== "string") return;
  // NUL would end the encoding early; a lone surrogate would become U+FFFD and collide with another value.
  if (value.includes("\0")) throw invalid(`${path}: the value contains a NUL character.`);
  if (!value.isWellFormed()) throw invalid(`${path}: the value contains half of a surrogate pair and cannot be a key.`);
}
