/** Tables of triples in an engine: reads, and the single transaction that changes the old form. */
import type { JsonValue } from "../../domain/json.ts";
import type { MoreColumn, TableColumns } from "./spec.ts";
import type { TextRow } from "./term-rules.ts";

export interface LegacyRow extends TextRow {
  /** Its location, if the engine knows it; the first one of duplicates. */
  readonly at?: number | undefined;
}

export interface TableInfo {
  readonly columns: readonly string[];
  /** Statements that recreate the table and its indexes. */
  readonly ddl: readonly string[];
}

/** A table, or the rows of one collection if a column names the collection of each row. */
export interface TablePart {
  readonly table: string;
  /** Rows without a value belong to the empty string. */
  readonly only?: { readonly column: string; readonly value: string } | undefined;
}

/** The texts of s, p and o, and of further columns. */
export type RowKey = readonly string[];

export interface LegacyTables extends AsyncDisposable {
  /** Name for messages. */
  readonly location: string;
  tables(): Promise<readonly string[]>;
  info(table: string): Promise<TableInfo>;
  /** The distinct values of the column as text, in byte order; at most `max`. */
  values(table: string, column: string, max: number): Promise<readonly string[]>;
  rowCount(part: TablePart): Promise<number>;
  /** The smallest value of the column. */
  oldest(part: TablePart, column: string): Promise<JsonValue | undefined>;
  /** Distinct, in byte order, of one snapshot of the table; after the key if given. */
  rows(part: TablePart, columns: TableColumns, after?: RowKey): AsyncIterable<LegacyRow>;
  /** Faults of the file or table by row, found before it can be read as a table. */
  faults?(table: string): Promise<readonly { readonly at: number; readonly reason: string }[]>;
  /** An exclusive transaction; rolled back if it throws. Absent if nothing may be changed. */
  change?<T>(table: string, work: (locked: LockedTable) => Promise<T>): Promise<T>;
}

export interface LockedTable {
  readonly exists: boolean;
  rows(columns: TableColumns): AsyncIterable<LegacyRow>;
  drop(): Promise<void>;
  create(ddl: readonly string[]): Promise<void>;
  insert(columns: readonly string[], rows: readonly (readonly (string | null)[])[]): Promise<void>;
}

/** The values of further columns, which engines name `more_<what>`. */
export function moreOf(row: Readonly<Record<string, unknown>>, more: readonly MoreColumn[]): Pick<LegacyRow, "more"> {
  if (more.length === 0) return {};
  return { more: Object.fromEntries(more.map(({ is }) => [is, row[`more_${is}`]])) };
}

/** Quotes an SQL identifier. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
