/** Tables of triples as an engine keeps them: what is read of them, and the one transaction in which the old form is changed. */
import type { JsonValue } from "../../domain/json.ts";
import type { TableColumns } from "./spec.ts";
import type { TextRow } from "./term-rules.ts";

export interface LegacyRow extends TextRow {
  /** Where it is, where the engine can tell; the first of those that are equal. */
  readonly at?: number | undefined;
}

export interface TableInfo {
  readonly columns: readonly string[];
  /** Statements that make the table and its indexes again. */
  readonly ddl: readonly string[];
}

/** A table, or the rows of one collection of it where a column names the collection of each row. */
export interface TablePart {
  readonly table: string;
  /** Rows without a value belong to the empty text. */
  readonly only?: { readonly column: string; readonly value: string } | undefined;
}

export type RowKey = readonly [s: string, p: string, o: string];

export interface LegacyTables extends AsyncDisposable {
  /** What messages call it. */
  readonly place: string;
  tables(): Promise<readonly string[]>;
  info(table: string): Promise<TableInfo>;
  /** The distinct values of the column as texts, in the order of their bytes; no more of them than `max`. */
  values(table: string, column: string, max: number): Promise<readonly string[]>;
  rowCount(part: TablePart): Promise<number>;
  /** The smallest value of the column. */
  oldest(part: TablePart, column: string): Promise<JsonValue | undefined>;
  /** Distinct, in the order of their bytes, of one state of the table; after the key where one is given. */
  rows(part: TablePart, columns: TableColumns, after?: RowKey): AsyncIterable<LegacyRow>;
  /** What is wrong with the file or table as a whole, by row, before it can be read as a table. */
  faults?(table: string): Promise<readonly { readonly at: number; readonly reason: string }[]>;
  /** One transaction that nobody else writes in; undone when it throws. Absent where nothing may be changed. */
  change?<T>(table: string, work: (locked: LockedTable) => Promise<T>): Promise<T>;
}

export interface LockedTable {
  readonly exists: boolean;
  rows(columns: TableColumns): AsyncIterable<LegacyRow>;
  drop(): Promise<void>;
  create(ddl: readonly string[]): Promise<void>;
  insert(columns: readonly string[], rows: readonly (readonly (string | null)[])[]): Promise<void>;
}

/** For SQL: a name is data here, whatever it is called. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
