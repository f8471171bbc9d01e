/**
 * A block: columns as a file.
 *
 *   "PNKBLOCK" | u32 length of the header | u32 0 | header (JSON) | columns, each at a multiple of eight bytes | SHA-256 of all before
 *
 * Little-endian. The header has the format's version, what the block is of (series, date, hour, stamp), and where each column lies.
 *
 * Format 2 has custom dimensions among the others (`dimensions.<name>`), and in `omitted` those that have no column. Format 1 has none
 * and does not say so; it is still read.
 */
import { hash } from "node:crypto";
import { z } from "zod";
import { PinakesError } from "../../../domain/errors.ts";
import { codesOf, type Coded, type Codes, type Columns } from "./columns.ts";

const magic = Buffer.from("PNKBLOCK", "ascii");
const prefixBytes = 16;
const hashBytes = 32;
const format = 2;

export interface BlockName {
  readonly series: string;
  readonly date: string;
  readonly hour: number;
  readonly stamp: string;
}

const place = z.tuple([z.number().int().min(0), z.number().int().min(0)]);
const headerSchema = z.object({
  format: z.union([z.literal(1), z.literal(format)]),
  series: z.string(),
  date: z.string(),
  hour: z.number(),
  stamp: z.string(),
  rows: z.number().int().min(0),
  start: z.number(),
  modified_base: z.number(),
  first_expiry: z.number().nullable(),
  time: place,
  value: place,
  modified: place,
  modified_wide: z.boolean(),
  // The values themselves may be many; the hash says that they are what was written.
  ttl: z.object({ at: place, values: listOf<number | null>() }),
  dimensions: z.record(z.string(), z.object({ at: place, values: listOf<string | null>() })),
  omitted: z.array(z.string()).optional(),
});

function listOf<Value>(): z.ZodType<readonly Value[]> {
  return z.custom<readonly Value[]>((value) => Array.isArray(value));
}

type Header = z.output<typeof headerSchema>;

export function encodeBlock(name: BlockName, columns: Columns): Uint8Array {
  const parts: Uint8Array[] = [];
  let at = 0;
  const lay = (column: Codes | Float64Array): [number, number] => {
    const bytes = new Uint8Array(column.buffer, column.byteOffset, column.byteLength);
    const lies: [number, number] = [at, bytes.length];
    const padding = -bytes.length & 7;
    parts.push(bytes, new Uint8Array(padding));
    at += bytes.length + padding;
    return lies;
  };
  const header: Header = {
    format,
    ...name,
    rows: columns.rows,
    start: columns.start,
    modified_base: columns.modifiedBase,
    first_expiry: columns.firstExpiry,
    value: lay(columns.value),
    time: lay(columns.time),
    modified: lay(columns.modified),
    modified_wide: columns.modified instanceof Float64Array,
    ttl: { at: lay(columns.ttl.codes), values: columns.ttl.values },
    dimensions: Object.fromEntries(
      Object.entries(columns.dimensions).map(([dimension, { codes, values }]) => [
        dimension,
        { at: lay(codes), values },
      ]),
    ),
    omitted: [...(columns.omitted ?? [])],
  };
  const text = Buffer.from(JSON.stringify(header), "utf8");
  const padded = Buffer.concat([text, Buffer.alloc(-text.length & 7, 0x20)]);
  const prefix = Buffer.alloc(prefixBytes);
  magic.copy(prefix);
  prefix.writeUInt32LE(padded.length, magic.length);
  const body = Buffer.concat([prefix, padded, ...parts]);
  return Buffer.concat([body, hash("sha256", body, "buffer")]);
}

/** Throws CORRUPT for anything but a whole block of this name. */
export function decodeBlock(name: BlockName, file: Uint8Array): Columns {
  const bytes = aligned(file);
  const end = bytes.length - hashBytes;
  if (end < prefixBytes || !hash("sha256", bytes.subarray(0, end), "buffer").equals(bytes.subarray(end)))
    throw corrupt(name, "its hash is wrong");
  if (!magic.equals(bytes.subarray(0, magic.length))) throw corrupt(name, "it is not a block");
  const headerBytes = new DataView(bytes.buffer, bytes.byteOffset).getUint32(magic.length, true);
  const header = readHeader(name, bytes.subarray(prefixBytes, prefixBytes + headerBytes));
  if (
    header.series !== name.series ||
    header.date !== name.date ||
    header.hour !== name.hour ||
    header.stamp !== name.stamp
  )
    throw corrupt(name, "it is another block");
  if ((header.format === format) !== (header.omitted !== undefined))
    throw corrupt(name, "its header is not of its format");
  return readColumns(name, header, bytes.subarray(prefixBytes + headerBytes, end), file.length);
}

function readHeader(name: BlockName, bytes: Uint8Array): Header {
  try {
    return headerSchema.parse(JSON.parse(Buffer.from(bytes).toString("utf8")));
  } catch (error) {
    throw corrupt(name, "its header cannot be read", error);
  }
}

function readColumns(name: BlockName, header: Header, bytes: Uint8Array, size: number): Columns {
  const { rows } = header;
  const column = <T>(
    kind: new (buffer: ArrayBufferLike, at: number, length: number) => T,
    width: number,
    [at, length]: [number, number],
  ): T => {
    if (length !== rows * width || at % 8 !== 0 || at + length > bytes.length)
      throw corrupt(name, "a column is misplaced");
    return new kind(bytes.buffer, bytes.byteOffset + at, rows);
  };
  const coded = <Value>({ at, values }: { at: [number, number]; values: readonly Value[] }): Coded<Value> => {
    const kind = codesOf(values.length);
    const codes = column<Codes>(kind, kind.BYTES_PER_ELEMENT, at);
    for (let row = 0; row < rows; row += 1)
      if ((codes[row] as number) >= values.length)
        throw corrupt(name, "a column contains a value that is not in its dictionary");
    return { codes, values };
  };
  return {
    rows,
    start: header.start,
    time: column(Uint32Array, 4, header.time),
    value: column(Float64Array, 8, header.value),
    modified: header.modified_wide ? column(Float64Array, 8, header.modified) : column(Uint32Array, 4, header.modified),
    modifiedBase: header.modified_base,
    ttl: coded(header.ttl),
    dimensions: Object.fromEntries(Object.entries(header.dimensions).map(([dimension, of]) => [dimension, coded(of)])),
    omitted: header.omitted,
    firstExpiry: header.first_expiry,
    bytes: size,
  };
}

/** Typed arrays want their place in memory at a multiple of eight. */
function aligned(file: Uint8Array): Uint8Array {
  return file.byteOffset % 8 === 0 ? file : new Uint8Array(file);
}

function corrupt({ series, date, hour }: BlockName, why: string, cause?: unknown): PinakesError {
  return new PinakesError(
    "CORRUPT",
    `The block of ${series} ${date}, hour ${hour}: ${why}. It is rebuilt from its rows.`,
    { cause },
  );
}
