/**
 * The effective partition key: where a partition lies between "" and "FF". Clients compute it too, to choose the range that a request goes
 * to, so it must be theirs to the bit: version 1 (one path), version 2, and version 2 of each value joined for hierarchical keys.
 */
import type { PartitionKeyValue } from "@pinakes/client";
import { murmur128, murmur32 } from "./murmur3.ts";

export interface KeyDefinition {
  readonly paths: readonly string[];
  readonly kind: "Hash" | "MultiHash";
  readonly version: 1 | 2;
}

const type = { none: 0x00, null: 0x01, false: 0x02, true: 0x03, number: 0x05, string: 0x08 } as const;
/** Of version 1: what lies beyond is not looked at. */
const charsMaxV1 = 100;

export function effectiveKey({ kind, version }: KeyDefinition, values: readonly PartitionKeyValue[]): string {
  if (kind === "MultiHash") return values.map((value) => hashV2([value])).join("");
  return version === 2 ? hashV2(values) : hashV1(values[0] as PartitionKeyValue);
}

function hashV2(values: readonly PartitionKeyValue[]): string {
  const [h1, h2] = murmur128(Buffer.concat(values.map((value) => hashedBytes(value, 0xff))));
  const bytes = Buffer.alloc(16);
  bytes.writeBigUInt64BE(h2, 0);
  bytes.writeBigUInt64BE(h1, 8);
  bytes[0] = (bytes[0] as number) & 0x3f;
  return bytes.toString("hex").toUpperCase();
}

function hashV1(value: PartitionKeyValue): string {
  const cut = typeof value === "string" ? value.slice(0, charsMaxV1) : value;
  const hashed = murmur32(hashedBytes(cut, 0x00));
  return Buffer.concat([numberBytes(hashed), encodedBytes(cut)])
    .toString("hex")
    .toUpperCase();
}

function hashedBytes(value: PartitionKeyValue, end: number): Buffer {
  if (typeof value === "string")
    return Buffer.concat([Buffer.from([type.string]), Buffer.from(value, "utf8"), Buffer.from([end])]);
  if (typeof value !== "number") return Buffer.from([tagOf(value)]);
  const bytes = Buffer.alloc(9);
  bytes[0] = type.number;
  bytes.writeDoubleLE(value, 1);
  return bytes;
}

function tagOf(value: Exclude<PartitionKeyValue, string | number>): number {
  if (value === null) return type.null;
  if (typeof value === "boolean") return value ? type.true : type.false;
  return type.none;
}

function encodedBytes(value: PartitionKeyValue): Buffer {
  if (typeof value === "number") return numberBytes(value);
  if (typeof value !== "string") return Buffer.from([tagOf(value)]);
  const text = Buffer.from(value, "utf8");
  const short = value.length <= charsMaxV1;
  const used = short ? text : text.subarray(0, charsMaxV1 + 1);
  const moved = used.map((byte) => (byte < 0xff ? byte + 1 : byte));
  return Buffer.concat([Buffer.from([type.string]), moved, Buffer.from(short ? [0x00] : [])]);
}

/** A double as bytes that sort as numbers do, seven bits a byte after the first; the lowest bit says that another follows. */
function numberBytes(value: number): Buffer {
  const raw = Buffer.alloc(8);
  raw.writeDoubleBE(value);
  const bits = raw.readBigUInt64BE();
  const sign = 0x8000000000000000n;
  const mask = 0xffffffffffffffffn;
  let rest = (bits < sign ? bits ^ sign : -bits) & mask;
  const bytes = [type.number, Number(rest >> 56n)];
  rest = (rest << 8n) & mask;
  let last: number | undefined;
  do {
    if (last !== undefined) bytes.push(last);
    last = Number(rest >> 56n) | 0x01;
    rest = (rest << 7n) & mask;
  } while (rest !== 0n);
  if ((last & 0xfe) !== 0) bytes.push(last & 0xfe);
  return Buffer.from(bytes);
}
