/** Writes the metadata sections, entry by entry in order. Building and merging both end here, so that they give the same bytes. */
import type { Section } from "../segment/section.ts";
import type { FieldHeader } from "../segment-bytes.ts";
import { ByteWriter, U32Writer } from "../text/growable.ts";
import { kindCount, typeOfKind, type FieldType } from "./column-format.ts";

export interface ColumnSections {
  readonly sections: Section[];
  readonly fields: FieldHeader[];
}

/** A number, the bytes of a string, or nothing for kinds that are one value. */
export type EntryValue = number | Uint8Array | undefined;

export class ColumnWriter {
  readonly #fields: { path: string; types: FieldType[] }[] = [];
  readonly #kinds = new U32Writer();
  readonly #starts = new U32Writer();
  readonly #rows = new U32Writer();
  readonly #values = new U32Writer();
  readonly #strings = new ByteWriter();
  readonly #number = new Float64Array(1);
  readonly #numberWords = new Uint32Array(this.#number.buffer);
  /** The next kind of the current field whose first entry is not yet known. */
  #nextKind = 0;

  constructor() {
    this.#starts.add(0);
  }

  /** Paths, kinds and values ascend from call to call; a call with the same path continues its field. `rows` ascend, at least one. */
  add(path: string, kind: number, value: EntryValue, rows: Uint32Array): void {
    if (this.#fields.at(-1)?.path !== path) {
      this.#endField();
      this.#fields.push({ path, types: [] });
    }
    for (; this.#nextKind <= kind; this.#nextKind += 1) this.#kinds.add(this.#entries());
    const type = typeOfKind[kind];
    const types = this.#fields.at(-1)?.types;
    if (type !== undefined && types?.at(-1) !== type) types?.push(type);
    this.#rows.addAll(rows);
    this.#starts.add(this.#rows.length);
    this.#addValue(value);
  }

  done(): ColumnSections {
    this.#endField();
    const sections = [
      { name: "meta.kinds", bytes: this.#kinds.done() },
      { name: "meta.starts", bytes: this.#starts.done() },
      { name: "meta.rows", bytes: this.#rows.done() },
      { name: "meta.values", bytes: this.#values.done() },
      { name: "meta.strings", bytes: this.#strings.done() },
    ];
    return { sections, fields: this.#fields };
  }

  #entries(): number {
    return this.#starts.length - 1;
  }

  #addValue(value: EntryValue): void {
    if (typeof value === "number") {
      this.#number[0] = value;
      this.#values.addAll(this.#numberWords);
      return;
    }
    this.#values.add(value === undefined ? 0 : this.#strings.length);
    this.#values.add(value?.length ?? 0);
    if (value !== undefined) this.#strings.add(value);
  }

  #endField(): void {
    if (this.#fields.length === 0) return;
    for (; this.#nextKind <= kindCount; this.#nextKind += 1) this.#kinds.add(this.#entries());
    this.#nextKind = 0;
  }
}
