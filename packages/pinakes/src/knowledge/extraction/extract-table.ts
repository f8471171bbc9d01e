/**
 * Triples of a table: a row is an entity, its columns are properties. A row is identified by the configured key column, else by its id
 * within this file, else by its contents, so that a moved row is the same row.
 */
import { iri, type TermText } from "../../domain/rdf.ts";
import type { ParsedText } from "../../ports/parser.ts";
import type { Pause } from "../chunking/pause.ts";
import { nameFields } from "./extract-tree.ts";
import type { Facts } from "./facts.ts";
import { isAbsoluteIri, rdfType, type Names } from "./names.ts";
import { valueOfText } from "./values.ts";

const delimiters = [",", ";", "\t", "|"] as const;
const idColumns: readonly string[] = ["id", "key", "uuid"];
const pauseEveryRows = 500;

export interface TableWork {
  readonly parsed: ParsedText;
  readonly facts: Facts;
  readonly names: Names;
  /** The class of the rows, such as the name of the file. */
  readonly kind: string;
  readonly key: string | undefined;
  readonly pause: Pause;
}

export async function extractTable({ parsed, facts, names, kind, key, pause }: TableWork): Promise<void> {
  const { text, rows } = parsed;
  const [first] = rows;
  if (first === undefined) return;
  const header = text.slice(0, first.start);
  const delimiter = delimiterOf(header);
  const columns = splitRecord(header, delimiter).map((name) => name.trim());
  const column = (wanted: readonly string[]) => columns.findIndex((name) => wanted.includes(name.toLowerCase()));
  const keyAt = key === undefined ? -1 : column([key.toLowerCase()]);
  const idAt = column(idColumns);
  const named = nameFields.map((field) => column([field])).find((at) => at >= 0) ?? -1;
  const type = names.kind(kind);
  for (const [i, { start }] of rows.entries()) {
    if (facts.full) return;
    if (i % pauseEveryRows === 0) await pause();
    const cells = splitRecord(text.slice(start, rows[i + 1]?.start ?? text.length), delimiter);
    const entity = rowEntity(names, cells, { keyAt, idAt });
    facts.add(start, entity, rdfType, type);
    for (const [at, name] of columns.entries()) {
      const value = name === "" ? undefined : valueOfText(cells[at] ?? "");
      if (value !== undefined) facts.add(start, entity, names.property(name), value);
    }
    const label = cells[named] ?? (named < 0 ? cells[Math.max(0, keyAt)] : undefined);
    if (label !== undefined && /\p{L}/u.test(label)) facts.label(start, entity, label);
  }
}

function rowEntity(
  names: Names,
  cells: readonly string[],
  { keyAt, idAt }: { readonly keyAt: number; readonly idAt: number },
): TermText {
  const key = cells[keyAt]?.trim() ?? "";
  if (key !== "") return isAbsoluteIri(key) && /^(https?|urn):/i.test(key) ? iri(key) : names.entity(key);
  const id = cells[idAt]?.trim() ?? "";
  return id === "" ? names.record("row", ...cells.map((cell) => cell.trim())) : names.record("id", id);
}

/** The delimiter that splits the header into the most fields. */
function delimiterOf(header: string): string {
  const counts = delimiters.map((delimiter) => splitRecord(header, delimiter).length);
  return delimiters[counts.indexOf(Math.max(...counts))] as string;
}

/** A quote inside quotes is doubled; an unclosed quote extends to the end. */
export function splitRecord(record: string, delimiter: string): readonly string[] {
  const text = record.replace(/\n+$/, "");
  const cells: string[] = [];
  let at = 0;
  for (;;) {
    const { cell, end } = text[at] === '"' ? quotedCell(text, at, delimiter) : plainCell(text, at, delimiter);
    cells.push(cell);
    if (end >= text.length) return cells;
    at = end + 1;
  }
}

function plainCell(text: string, from: number, delimiter: string): { readonly cell: string; readonly end: number } {
  const found = text.indexOf(delimiter, from);
  const end = found === -1 ? text.length : found;
  return { cell: text.slice(from, end), end };
}

function quotedCell(text: string, from: number, delimiter: string): { readonly cell: string; readonly end: number } {
  let close = text.indexOf('"', from + 1);
  while (close !== -1 && text[close + 1] === '"') close = text.indexOf('"', close + 2);
  if (close === -1) return plainCell(text, from, delimiter);
  const found = text.indexOf(delimiter, close);
  const end = found === -1 ? text.length : found;
  return { cell: text.slice(from + 1, close).replaceAll('""', '"') + text.slice(close + 1, end), end };
}
