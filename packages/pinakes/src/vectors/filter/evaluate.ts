/**
 * The rows of a segment that pass a filter, from its dictionaries: the result of `compileFilter` for each row's metadata, without reading
 * it.
 */
import { invalid } from "../../domain/errors.ts";
import { compileFilter, type Comparison, type Filter } from "../../domain/filter.ts";
import { isJsonObject } from "../../domain/json.ts";
import { parsePath } from "../../domain/path.ts";
import { Bitmap } from "../segment/bitmap.ts";
import type { SegmentBytes } from "../segment-bytes.ts";
import { elementKind, fieldName, kindOf, kindOfScalar, orderedBytes, type Scalar } from "./column-format.ts";
import { columnIndexOf, type ColumnIndex } from "./column-index.ts";

export function evaluateFilter(segment: SegmentBytes, filter: Filter): Bitmap {
  // Rejects an invalid filter with the usual messages.
  compileFilter(filter);
  return new Evaluation(columnIndexOf(segment), segment.header.rows).filter(filter);
}

/** The location of the rows of a filter that is one equality, ascending, in the segment's memory; undefined for any other filter. */
export function equalRows(
  segment: SegmentBytes,
  filter: Filter,
): { readonly address: number; readonly count: number } | undefined {
  return new Evaluation(columnIndexOf(segment), segment.header.rows).equalRows(filter);
}

/** An upper bound of the rows that pass, from the dictionaries alone. */
export function matchesAtMost(segment: SegmentBytes, filter: Filter): number {
  return new Evaluation(columnIndexOf(segment), segment.header.rows).atMost(filter);
}

class Evaluation {
  readonly #index: ColumnIndex;
  readonly #rows: number;

  constructor(index: ColumnIndex, rows: number) {
    this.#index = index;
    this.#rows = rows;
  }

  filter(filter: Filter): Bitmap {
    const parts: Bitmap[] = [];
    for (const [key, value] of Object.entries(filter)) {
      if (value === undefined) continue;
      if (key === "and") parts.push(...(value as readonly Filter[]).map((part) => this.filter(part)));
      else if (key === "or") parts.push(this.#any((value as readonly Filter[]).map((part) => this.filter(part))));
      else if (key === "not") parts.push(complement(this.filter(value as Filter)));
      else parts.push(...this.#conditions(this.#index.field(fieldName(parsePath(key))), value as Scalar | Comparison));
    }
    return this.#all(parts);
  }

  equalRows(filter: Filter): { readonly address: number; readonly count: number } | undefined {
    const [[key, condition] = ["and", undefined], ...others] = Object.entries(filter);
    if (others.length > 0 || key === "and" || key === "or" || key === "not" || condition === undefined)
      return undefined;
    const value = isJsonObject(condition)
      ? Object.keys(condition).length === 1
        ? (condition as Comparison).eq
        : undefined
      : (condition as Scalar);
    if (value === undefined) return undefined;
    const field = this.#index.field(fieldName(parsePath(key)));
    if (field < 0) return { address: 0, count: 0 };
    const [from, to] = this.#equal(field, value, 0);
    // The rows of one value are ascending; those of several would have to be merged.
    if (to - from > 1) return undefined;
    const { rows, starts } = this.#index;
    const start = starts[from] as number;
    return { address: rows.byteOffset + start * 4, count: (starts[to] as number) - start };
  }

  atMost(filter: Filter): number {
    const bounds = Object.entries(filter).map(([key, value]) => {
      if (value === undefined || key === "not") return this.#rows;
      if (key === "and") return Math.min(this.#rows, ...(value as readonly Filter[]).map((part) => this.atMost(part)));
      if (key === "or") return (value as readonly Filter[]).reduce((sum, part) => sum + this.atMost(part), 0);
      return this.#conditionAtMost(this.#index.field(fieldName(parsePath(key))), value as Scalar | Comparison);
    });
    return Math.min(this.#rows, ...bounds);
  }

  #conditionAtMost(field: number, condition: Scalar | Comparison): number {
    const { eq, in: values } = isJsonObject(condition)
      ? (condition as Comparison)
      : { eq: condition as Scalar, in: undefined };
    if (eq !== undefined) return this.#count(field, eq);
    if (values !== undefined) return values.reduce<number>((sum, value) => sum + this.#count(field, value), 0);
    return this.#rows;
  }

  #count(field: number, value: Scalar): number {
    if (field < 0) return 0;
    const [from, to] = this.#equal(field, value, 0);
    return (this.#index.starts[to] as number) - (this.#index.starts[from] as number);
  }

  #conditions(field: number, condition: Scalar | Comparison): Bitmap[] {
    if (!isJsonObject(condition)) return [this.#holding("eq", condition as Scalar, field)];
    return Object.entries(condition)
      .filter(([, operand]) => operand !== undefined)
      .map(([operator, operand]) => this.#operator(operator, operand as Scalar | readonly Scalar[], field));
  }

  #operator(operator: string, operand: Scalar | readonly Scalar[], field: number): Bitmap {
    if (operator === "ne") return complement(this.#holding("eq", operand, field));
    if (operator === "nin") return complement(this.#holding("in", operand, field));
    if (operator === "exists" && operand === false) return complement(this.#holding("exists", true, field));
    return this.#holding(operator, operand, field);
  }

  /** The rows for which an operator with a value is true. */
  #holding(operator: string, operand: Scalar | readonly Scalar[], field: number): Bitmap {
    const into = Bitmap.local(this.#rows);
    if (field < 0) return into;
    if (operator === "eq") this.#addEqual(field, operand as Scalar, 0, into);
    else if (operator === "in") for (const value of operand as readonly Scalar[]) this.#addEqual(field, value, 0, into);
    else if (operator === "exists")
      this.#addEntries(this.#index.firstEntry(field, 0), this.#index.firstEntry(field, elementKind), into);
    else if (operator === "contains") this.#addContaining(field, operand as Scalar, into);
    else this.#addRange(field, operator, operand as string | number, into);
    return into;
  }

  /** `shift`: 0 for the row's value, `elementKind` for the elements of its array. */
  #addEqual(field: number, value: Scalar, shift: number, into: Bitmap): void {
    this.#addEntries(...this.#equal(field, value, shift), into);
  }

  #equal(field: number, value: Scalar, shift: number): [from: number, to: number] {
    const kind = kindOfScalar(value) + shift;
    const from = this.#index.firstEntry(field, kind);
    const to = this.#index.firstEntry(field, kind + 1);
    if (typeof value !== "string" && typeof value !== "number") return [from, to];
    const key = typeof value === "string" ? orderedBytes(value) : value;
    return [this.#index.lowerBound(from, to, key), this.#index.lowerBound(from, to, key, true)];
  }

  #addRange(field: number, operator: string, operand: string | number, into: Bitmap): void {
    const kind = kindOfScalar(operand);
    const from = this.#index.firstEntry(field, kind);
    const to = this.#index.firstEntry(field, kind + 1);
    const key = typeof operand === "string" ? orderedBytes(operand) : operand;
    const bound = this.#index.lowerBound(from, to, key, operator === "lte" || operator === "gt");
    if (operator === "lt" || operator === "lte") this.#addEntries(from, bound, into);
    else if (operator === "gt" || operator === "gte") this.#addEntries(bound, to, into);
    else throw invalid(`filter: unknown operator "${operator}".`);
  }

  /** An array that contains the value, or a string that contains the text. */
  #addContaining(field: number, value: Scalar, into: Bitmap): void {
    this.#addEqual(field, value, elementKind, into);
    if (typeof value !== "string") return;
    const from = this.#index.firstEntry(field, kindOf.string);
    const to = this.#index.firstEntry(field, kindOf.string + 1);
    if (value === "") return this.#addEntries(from, to, into);
    this.#addStringsWith(orderedBytes(value), from, to, into);
  }

  /** The strings are concatenated: one search through all of them; a match across a boundary does not count. */
  #addStringsWith(part: Uint8Array, from: number, to: number, into: Bitmap): void {
    if (from === to) return;
    const { strings } = this.#index;
    const end = this.#index.stringEnd(to - 1);
    const bytes = Buffer.from(strings.buffer, strings.byteOffset, end);
    let entry = from;
    let at = bytes.indexOf(part, this.#index.stringStart(from));
    while (at >= 0) {
      entry = this.#entryAt(at, entry, to);
      const inside = at + part.length <= this.#index.stringEnd(entry);
      if (inside) this.#addEntries(entry, entry + 1, into);
      at = bytes.indexOf(part, inside ? this.#index.stringEnd(entry) : at + 1);
    }
  }

  /** The entry whose string contains the byte at `at`. */
  #entryAt(at: number, from: number, to: number): number {
    let low = from;
    let high = to - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#index.stringEnd(middle) <= at) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #addEntries(from: number, to: number, into: Bitmap): void {
    const { rows, starts } = this.#index;
    const { words } = into;
    const end = starts[to] as number;
    for (let i = starts[from] as number; i < end; i += 1) {
      const row = rows[i] as number;
      words[row >>> 5] = (words[row >>> 5] as number) | (1 << (row & 31));
    }
  }

  #all(parts: readonly Bitmap[]): Bitmap {
    const [first, ...others] = parts;
    if (first === undefined) return complement(Bitmap.local(this.#rows));
    for (const { words } of others)
      for (let i = 0; i < words.length; i += 1) first.words[i] = (first.words[i] as number) & (words[i] as number);
    return first;
  }

  #any(parts: readonly Bitmap[]): Bitmap {
    const [first = Bitmap.local(this.#rows), ...others] = parts;
    for (const { words } of others)
      for (let i = 0; i < words.length; i += 1) first.words[i] = (first.words[i] as number) | (words[i] as number);
    return first;
  }
}

/** In place. Bits past the last row stay clear: they would be counted. */
function complement(bitmap: Bitmap): Bitmap {
  const { rows, words } = bitmap;
  for (let i = 0; i < words.length; i += 1) words[i] = ~(words[i] as number);
  if ((rows & 31) !== 0) words[words.length - 1] = (words[words.length - 1] as number) & ((1 << (rows & 31)) - 1);
  return bitmap;
}
