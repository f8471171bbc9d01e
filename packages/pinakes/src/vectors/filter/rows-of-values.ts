/** From a segment's dictionaries: the rows of given values of a field, and the fields that some of its rows have. */
import { Bitmap } from "../segment/bitmap.ts";
import type { FieldHeader, SegmentBytes } from "../segment-bytes.ts";
import { kindCount, kindOf, orderedBytes, typeOfKind, type FieldType } from "./column-format.ts";
import { columnIndexOf, type ColumnIndex } from "./column-index.ts";

/** The rows whose field is one of these texts; undefined if there are none. */
export function rowsOfValues(segment: SegmentBytes, path: string, values: ReadonlySet<string>): Bitmap | undefined {
  const index = columnIndexOf(segment);
  const field = index.field(path);
  if (field < 0) return undefined;
  const from = index.firstEntry(field, kindOf.string);
  const to = index.firstEntry(field, kindOf.string + 1);
  let found: Bitmap | undefined;
  const add = (first: number, end: number): void => {
    for (let i = index.starts[first] as number; i < (index.starts[end] as number); i += 1)
      (found ??= new Bitmap(segment.header.rows)).add(index.rows[i] as number);
  };
  if (to - from <= values.size) for (let entry = from; entry < to; entry += 1) addEntry(index, entry, values, add);
  else
    for (const value of values) {
      const key = orderedBytes(value);
      add(index.lowerBound(from, to, key), index.lowerBound(from, to, key, true));
    }
  return found;
}

/** Ids are ASCII, whose ordered bytes are their UTF-8; any other text is compared in the other direction. */
function addEntry(
  index: ColumnIndex,
  entry: number,
  values: ReadonlySet<string>,
  add: (first: number, end: number) => void,
): void {
  const bytes = index.strings.subarray(index.stringStart(entry), index.stringEnd(entry));
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  if (values.has(text) && Buffer.from(orderedBytes(text)).equals(bytes)) add(entry, entry + 1);
}

/** The fields of the segment's rows without the excluded ones, with their types. */
export function fieldsOfRows(segment: SegmentBytes, excluded: Bitmap): readonly FieldHeader[] {
  const index = columnIndexOf(segment);
  return segment.header.fields.flatMap(({ path }, field) => {
    const types = new Set<FieldType>();
    let exists = false;
    for (let kind = 0; kind < kindCount; kind += 1) {
      const type = typeOfKind[kind];
      if (kind > kindOf.object || (type !== undefined && types.has(type))) continue;
      if (!anyRow(index, index.firstEntry(field, kind), index.firstEntry(field, kind + 1), excluded)) continue;
      exists = true;
      if (type !== undefined) types.add(type);
    }
    return exists ? [{ path, types: [...types] }] : [];
  });
}

function anyRow({ starts, rows }: ColumnIndex, from: number, to: number, excluded: Bitmap): boolean {
  for (let i = starts[from] as number; i < (starts[to] as number); i += 1)
    if (!excluded.has(rows[i] as number)) return true;
  return false;
}
