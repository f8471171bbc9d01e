/**
 * How metadata lies in a segment: for every field a sorted dictionary of its distinct values, and for every value the rows that have it,
 * so that a filter is a union of slices of row numbers.
 *
 *   meta.kinds    u32[fields × (kinds + 1)]  for each field: the first entry of each kind of value, and the end
 *   meta.starts   u32[entries + 1]           where the rows of each entry begin in meta.rows
 *   meta.rows     u32[]                      row numbers, ascending within an entry
 *   meta.values   8 bytes an entry           f64 of a number; [u32 where, u32 bytes] of a string in meta.strings; else 0
 *   meta.strings  bytes                      the strings, one after the other, in the form of `orderedBytes`
 *
 * Fields are in the order of the header's `fields`, by path; entries by kind, then value. The kinds up to `object` say what the row's
 * value at the path is, one entry a row: the rows where the field exists are one slice. The kinds after it say what is in its array.
 */
export const kindOf = Object.freeze({ null: 0, false: 1, true: 2, number: 3, string: 4, array: 5, object: 6 });
/** An element of an array has the kind of the same plain value plus this (null, false, true, number, string). */
export const elementKind = 7;
export const kindCount = 12;
/** u32 words of a field in meta.kinds. */
export const kindWords = kindCount + 1;

export type FieldType = "null" | "boolean" | "number" | "string" | "array";

/** The type of each kind up to `object`, which has none: an object is known by its properties. */
export const typeOfKind: readonly (FieldType | undefined)[] = [
  "null",
  "boolean",
  "boolean",
  "number",
  "string",
  "array",
  undefined,
];

export type Scalar = string | number | boolean | null;

export function kindOfScalar(value: Scalar): number {
  if (value === null) return kindOf.null;
  if (typeof value === "boolean") return value ? kindOf.true : kindOf.false;
  return typeof value === "number" ? kindOf.number : kindOf.string;
}

/** How a filter names a property: dots between the names, or an RFC 6901 pointer if a name would be ambiguous. */
export function fieldName(segments: readonly string[]): string {
  const plain = segments.every((segment) => !segment.includes(".")) && !(segments[0] as string).startsWith("/");
  const keyword = segments.length === 1 && ["and", "or", "not"].includes(segments[0] as string);
  if (plain && !keyword) return segments.join(".");
  return `/${segments.map((segment) => segment.replaceAll("~", "~0").replaceAll("/", "~1")).join("/")}`;
}

/**
 * A string as bytes whose order is that of `compareUtf8` and in which a substring is a part of its bytes, for any string, even with half a
 * surrogate pair. It is UTF-8 of the UTF-16 units, with the surrogates moved behind U+FFFF, where their characters sort.
 */
export function orderedBytes(text: string): Uint8Array {
  if (!/[\ud800-\uffff]/.test(text)) return Buffer.from(text, "utf8");
  const bytes: number[] = [];
  for (let i = 0; i < text.length; i += 1) {
    let unit = text.charCodeAt(i);
    if (unit >= 0xe000) unit -= 0x800;
    else if (unit >= 0xd800) unit += 0x2000;
    if (unit < 0x80) bytes.push(unit);
    else if (unit < 0x800) bytes.push(0xc0 | (unit >> 6), 0x80 | (unit & 63));
    else bytes.push(0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 63), 0x80 | (unit & 63));
  }
  return Uint8Array.from(bytes);
}
