/**
 * A small Parquet file, written manually: id as text, values as a repeated float, metadata as JSON text; one group, plain and uncompressed.
 */
export function parquetFile(
  rows: readonly { readonly id: string; readonly values: readonly number[]; readonly metadata?: string }[],
): Uint8Array {
  const magic = Buffer.from("PAR1");
  const parts: Buffer[] = [magic];
  let at = magic.length;
  const chunk = (data: Buffer, count: number) => {
    const header = pageHeader(data.length, count);
    parts.push(header, data);
    const place = { offset: at, bytes: header.length + data.length, values: count };
    at += place.bytes;
    return place;
  };
  const text = (value: string) => {
    const bytes = Buffer.from(value, "utf8");
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes.length);
    return Buffer.concat([length, bytes]);
  };
  const floats = (values: readonly number[]) => Buffer.from(Float32Array.from(values).buffer);
  const repetition = rows.flatMap(({ values }) => values.map((_, i) => (i === 0 ? 0 : 1)));
  const levels = (bits: readonly number[]) => levelsOf(bits);
  const ids = chunk(Buffer.concat(rows.map(({ id }) => text(id))), rows.length);
  const flat = rows.flatMap(({ values }) => values);
  const values = chunk(Buffer.concat([levels(repetition), levels(flat.map(() => 1)), floats(flat)]), flat.length);
  const metadata = chunk(Buffer.concat(rows.map((row) => text(row.metadata ?? ""))), rows.length);
  const footer = footerOf(rows.length, [
    { name: "id", type: 6, repetition: 0, text: true, ...ids },
    { name: "values", type: 4, repetition: 2, text: false, ...values },
    { name: "metadata", type: 6, repetition: 0, text: true, ...metadata },
  ]);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(footer.length);
  return Buffer.concat([...parts, footer, length, magic]);
}

/** Levels of one bit, as bit-packed groups of eight, with their length before them. */
function levelsOf(bits: readonly number[]): Buffer {
  const groups = Math.ceil(bits.length / 8);
  const packed = Buffer.alloc(groups);
  for (const [i, bit] of bits.entries()) packed[i >> 3] = (packed[i >> 3] as number) | (bit << (i & 7));
  const body = Buffer.concat([varint((groups << 1) | 1), packed]);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(body.length);
  return Buffer.concat([length, body]);
}

interface Column {
  readonly name: string;
  readonly type: number;
  readonly repetition: number;
  readonly text: boolean;
  readonly offset: number;
  readonly bytes: number;
  readonly values: number;
}

function pageHeader(bytes: number, count: number): Buffer {
  const data = struct([i32(1, count), i32(2, 0), i32(3, 3), i32(4, 3)]);
  return struct([i32(1, 0), i32(2, bytes), i32(3, bytes), [5, 12, data]]);
}

function footerOf(rows: number, columns: readonly Column[]): Buffer {
  const root = struct([binary(4, "schema"), i32(5, columns.length)]);
  const schema = columns.map(({ name, type, repetition, text }) =>
    struct([i32(1, type), i32(3, repetition), binary(4, name), ...(text ? [i32(6, 0)] : [])]),
  );
  const chunks = columns.map((column) => {
    const meta = struct([
      i32(1, column.type),
      [2, 9, list(5, [zigzag(0), zigzag(3)])],
      [3, 9, list(8, [binaryBytes(column.name)])],
      i32(4, 0),
      i64(5, column.values),
      i64(6, column.bytes),
      i64(7, column.bytes),
      i64(9, column.offset),
    ]);
    return struct([i64(2, column.offset), [3, 12, meta]]);
  });
  const group = struct([
    [1, 9, list(12, chunks)],
    i64(
      2,
      columns.reduce((sum, { bytes }) => sum + bytes, 0),
    ),
    i64(3, rows),
  ]);
  return struct([i32(1, 1), [2, 9, list(12, [root, ...schema])], i64(3, rows), [4, 9, list(12, [group])]]);
}

/** Thrift's compact protocol, as far as needed. */
type Field = readonly [id: number, type: number, bytes: Buffer];
const i32 = (id: number, value: number): Field => [id, 5, zigzag(value)];
const i64 = (id: number, value: number): Field => [id, 6, zigzag(value)];
const binary = (id: number, value: string): Field => [id, 8, binaryBytes(value)];

function struct(fields: readonly Field[]): Buffer {
  let last = 0;
  const parts = fields.map(([id, type, bytes]) => {
    const head = Buffer.from([((id - last) << 4) | type]);
    last = id;
    return Buffer.concat([head, bytes]);
  });
  return Buffer.concat([...parts, Buffer.from([0])]);
}

function list(type: number, elements: readonly Buffer[]): Buffer {
  const head =
    elements.length < 15
      ? Buffer.from([(elements.length << 4) | type])
      : Buffer.concat([Buffer.from([0xf0 | type]), varint(elements.length)]);
  return Buffer.concat([head, ...elements]);
}

function binaryBytes(text: string): Buffer {
  const bytes = Buffer.from(text, "utf8");
  return Buffer.concat([varint(bytes.length), bytes]);
}

function zigzag(value: number): Buffer {
  return varint(value * 2);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  do {
    bytes.push(rest > 127 ? (rest & 127) | 128 : rest);
    rest = Math.floor(rest / 128);
  } while (rest > 0);
  return Buffer.from(bytes);
}
