/** The rows of one hour as columns: what an aggregate needs of them, a few bytes each. */
import { expiresAt } from "../../../domain/ttl.ts";
import { valueAt } from "../../../domain/path.ts";
import type { Item } from "../../../ports/item-store.ts";
import { customDimensionsOf, customLimits, isCustomDimension } from "../custom-names.ts";
import type { Series } from "../series.ts";

export type Codes = Uint8Array | Uint16Array | Uint32Array;

/** A value of few different ones: its place in a list. */
export interface Coded<Value> {
  readonly codes: Codes;
  readonly values: readonly Value[];
}

export interface Columns {
  readonly rows: number;
  /** Epoch milliseconds of the hour. */
  readonly start: number;
  /** Milliseconds since `start`. */
  readonly time: Uint32Array;
  readonly value: Float64Array;
  /** Epoch milliseconds of the last change, from which time to live counts: `modifiedBase` + this. */
  readonly modified: Uint32Array | Float64Array;
  readonly modifiedBase: number;
  /** A row's own time to live in seconds; null: the container's. */
  readonly ttl: Coded<number | null>;
  /** By the name that queries use. A custom one that no row has is absent. */
  readonly dimensions: Readonly<Record<string, Coded<string | null>>>;
  /** Custom dimensions that rows have and that have no column here; undefined: written before there were any, so nothing is known of them. */
  readonly omitted: readonly string[] | undefined;
  /** No row expires before this moment; null: none ever does. */
  readonly firstExpiry: number | null;
  readonly bytes: number;
}

class CodedBuilder<Value extends string | number | null> {
  readonly #places = new Map<Value, number>();
  readonly #codes: number[] = [];

  add(value: Value): void {
    let place = this.#places.get(value);
    if (place === undefined) this.#places.set(value, (place = this.#places.size));
    this.#codes.push(place);
  }

  finish(): Coded<Value> {
    const values = [...this.#places.keys()];
    return { values, codes: codesOf(values.length).from(this.#codes) };
  }
}

export function codesOf(values: number): Uint8ArrayConstructor | Uint16ArrayConstructor | Uint32ArrayConstructor {
  if (values <= 0x100) return Uint8Array;
  return values <= 0x1_0000 ? Uint16Array : Uint32Array;
}

/** A dimension that most rows may lack: memory is allocated only for rows that have it. */
class SparseBuilder {
  readonly #places = new Map<string | null, number>([[null, 0]]);
  readonly #rows: number[] = [];
  readonly #codes: number[] = [];

  get rows(): number {
    return this.#rows.length;
  }

  add(row: number, value: string): void {
    let place = this.#places.get(value);
    if (place === undefined) this.#places.set(value, (place = this.#places.size));
    this.#rows.push(row);
    this.#codes.push(place);
  }

  finish(rows: number): Coded<string | null> {
    const values = [...this.#places.keys()];
    const codes = new (codesOf(values.length))(rows);
    for (let i = 0; i < this.#rows.length; i += 1) codes[this.#rows[i] as number] = this.#codes[i] as number;
    return { values, codes };
  }
}

/** Whether these columns can answer for the dimensions that a query names. */
export function knowsDimensions({ omitted }: Columns, names: readonly string[]): boolean {
  const custom = names.filter(isCustomDimension);
  return custom.length === 0 || (omitted !== undefined && !custom.some((name) => omitted.includes(name)));
}

export class ColumnsBuilder {
  readonly #series: Series;
  readonly #start: number;
  readonly #time: number[] = [];
  readonly #value: number[] = [];
  readonly #modified: number[] = [];
  readonly #ttl = new CodedBuilder<number | null>();
  readonly #dimensions: readonly (readonly [string, readonly string[], CodedBuilder<string | null>])[];
  readonly #custom = new Map<string, SparseBuilder>();
  readonly #asked: ReadonlySet<string>;
  #firstExpiry = Infinity;

  /** `asked`: custom dimensions that must have a column, if any row has them. */
  constructor(series: Series, start: number, asked: readonly string[] = []) {
    this.#series = series;
    this.#asked = new Set(asked);
    this.#start = start;
    this.#dimensions = Object.entries(series.dimensions).map(
      ([name, path]) => [name, path, new CodedBuilder()] as const,
    );
  }

  get rows(): number {
    return this.#value.length;
  }

  add({ document, modifiedAt }: Item): void {
    const { valueField, ttlSeconds } = this.#series;
    const ttl = typeof document["ttl"] === "number" ? document["ttl"] : null;
    this.#time.push(Date.parse(document["timestamp"] as string) - this.#start);
    this.#value.push(document[valueField] as number);
    this.#modified.push(modifiedAt);
    this.#ttl.add(ttl);
    for (const [, path, builder] of this.#dimensions) {
      const value = valueAt(document, path);
      builder.add(typeof value === "string" ? value : null);
    }
    if (this.#series.customDimensions)
      for (const [name, value] of customDimensionsOf(document)) this.#customBuilder(name).add(this.rows - 1, value);
    this.#firstExpiry = Math.min(this.#firstExpiry, expiresAt(ttlSeconds, ttl, modifiedAt) ?? Infinity);
  }

  #customBuilder(name: string): SparseBuilder {
    let builder = this.#custom.get(name);
    if (builder === undefined) this.#custom.set(name, (builder = new SparseBuilder()));
    return builder;
  }

  /** Requested dimensions first, then those that most rows have. */
  #customByUse(): readonly (readonly [string, SparseBuilder])[] {
    const rank = ([name, { rows }]: readonly [string, SparseBuilder]): number =>
      this.#asked.has(name) ? Infinity : rows;
    return [...this.#custom].toSorted((a, b) => (rank(a) === rank(b) ? (a[0] < b[0] ? -1 : 1) : rank(b) - rank(a)));
  }

  finish(): Columns {
    const custom = this.#customByUse();
    const kept = custom.slice(0, customLimits.blockDimensionsMax);
    const modifiedBase = this.#modified.reduce((least, at) => Math.min(least, at), Infinity);
    const since = this.#modified.map((at) => at - modifiedBase);
    const narrow = since.every((ms) => ms <= 0xffff_ffff);
    const columns = {
      rows: this.rows,
      start: this.#start,
      time: Uint32Array.from(this.#time),
      value: Float64Array.from(this.#value),
      modified: narrow ? Uint32Array.from(since) : Float64Array.from(since),
      modifiedBase: this.rows === 0 ? 0 : modifiedBase,
      ttl: this.#ttl.finish(),
      dimensions: Object.fromEntries([
        ...this.#dimensions.map(([name, , builder]) => [name, builder.finish()] as const),
        ...kept.map(([name, builder]) => [name, builder.finish(this.rows)] as const),
      ]),
      omitted: custom.slice(customLimits.blockDimensionsMax).map(([name]) => name),
      firstExpiry: this.#firstExpiry === Infinity ? null : this.#firstExpiry,
    };
    return { ...columns, bytes: columnBytes(columns) };
  }
}

const overheadBytes = 2_048;

/** Approximate memory: strings count two bytes per character. */
function columnBytes({ time, value, modified, ttl, dimensions }: Omit<Columns, "bytes">): number {
  let bytes = overheadBytes + time.byteLength + value.byteLength + modified.byteLength + ttl.codes.byteLength;
  for (const { codes, values } of Object.values(dimensions)) {
    bytes += codes.byteLength;
    for (const text of values) bytes += 48 + 2 * (text?.length ?? 0);
  }
  return bytes;
}
