/**
 * Tables of a source that cannot sort or deduplicate: each is read once into a table on the local disk. The source itself is never changed.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { PinakesError, invalid } from "../../domain/errors.ts";
import type { JsonValue } from "../../domain/json.ts";
import { collectionColumn, type TableColumns, type TriplesSpec } from "./spec.ts";
import { SqliteTables } from "./sqlite-tables.ts";
import { quoted, type LegacyRow, type LegacyTables, type RowKey, type TableInfo, type TablePart } from "./tables.ts";

interface Fault {
  readonly at: number;
  readonly reason: string;
}

interface Loaded {
  readonly tables: SqliteTables;
  readonly columns: readonly string[];
  readonly faults: readonly Fault[];
}

/** Maximum number of faults listed per table. */
const faultsMax = 100;
const rowsPerTransaction = 10_000;

/** Takes the rows of one table. The row number is the row id, which problems refer to. */
export class TableLoader {
  readonly faults: Fault[] = [];
  columns: readonly string[] | undefined;
  at = 0;
  readonly #db: DatabaseSync;
  readonly #table: string;
  #put: StatementSync | undefined;

  constructor(db: DatabaseSync, table: string) {
    this.#db = db;
    this.#table = table;
  }

  setColumns(columns: readonly string[]): void {
    if (new Set(columns.map((name) => name.toLowerCase())).size !== columns.length)
      throw invalid(`${this.#table}: two columns have the same name (${columns.join(", ")}).`);
    // Without types: a value that is no text stays what it is, and is reported.
    this.#db.exec(`CREATE TABLE ${quoted(this.#table)} (${columns.map((name) => quoted(name)).join(", ")})`);
    this.#put = this.#db.prepare(
      `INSERT INTO ${quoted(this.#table)} (rowid, ${columns.map(quoted).join(", ")}) VALUES (?, ${columns.map(() => "?").join(", ")})`,
    );
    this.columns = columns;
  }

  row(values: readonly SQLInputValue[]): void {
    const { columns = [] } = this;
    if (values.length === columns.length) this.#put?.run(this.at, ...values);
    else if (this.faults.length < faultsMax) {
      const reason = `has ${values.length} columns; the table has ${columns.length} (${columns.join(", ")}).`;
      this.faults.push({ at: this.at, reason });
    }
    if (this.at % rowsPerTransaction === 0) this.#db.exec("COMMIT; BEGIN");
  }
}

export abstract class StagedTables implements LegacyTables {
  readonly location: string;
  protected readonly spec: TriplesSpec;
  protected readonly undo = new AsyncDisposableStack();
  readonly #loaded = new Map<string, Promise<Loaded>>();

  constructor(location: string, spec: TriplesSpec) {
    this.location = location;
    this.spec = spec;
  }

  abstract tables(): Promise<readonly string[]>;
  /** In messages. */
  protected abstract nameOf(table: string): string;
  /** Sets the columns, and counts and gives each row. */
  protected abstract read(table: string, loader: TableLoader): Promise<void>;

  async info(table: string): Promise<TableInfo> {
    return { columns: (await this.#load(table)).columns, ddl: [] };
  }

  async values(table: string, column: string, max: number): Promise<readonly string[]> {
    return (await this.#load(table)).tables.values(table, column, max);
  }

  async rowCount(part: TablePart): Promise<number> {
    return (await this.#load(part.table)).tables.rowCount(part);
  }

  async oldest(part: TablePart, column: string): Promise<JsonValue | undefined> {
    return (await this.#load(part.table)).tables.oldest(part, column);
  }

  async faults(table: string): Promise<readonly Fault[]> {
    return (await this.#load(table)).faults;
  }

  async *rows(part: TablePart, columns: TableColumns, after?: RowKey): AsyncGenerator<LegacyRow> {
    yield* (await this.#load(part.table)).tables.rows(part, columns, after);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.undo.disposeAsync();
  }

  #load(table: string): Promise<Loaded> {
    const known = this.#loaded.get(table) ?? this.#stage(table);
    this.#loaded.set(table, known);
    return known;
  }

  async #stage(table: string): Promise<Loaded> {
    const folder = await mkdtemp(join(tmpdir(), "pinakes-tables-"));
    this.undo.defer(() => rm(folder, { recursive: true, force: true }));
    const path = join(folder, "table.db");
    const db = new DatabaseSync(path);
    const loader = new TableLoader(db, table);
    try {
      db.exec("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN");
      await this.read(table, loader);
      db.exec("COMMIT");
      const collection = loader.columns === undefined ? undefined : collectionColumn(this.spec, loader.columns);
      // Each collection is read separately: without an index each read would scan the whole table.
      if (collection !== undefined)
        db.exec(`CREATE INDEX ${quoted(`${table} by collection`)} ON ${quoted(table)} (${quoted(collection)})`);
    } catch (error) {
      if (PinakesError.isInstance(error)) throw error;
      throw invalid(`${this.nameOf(table)} row ${loader.at + 1}: cannot be read: ${(error as Error).message}.`, {
        cause: error,
      });
    } finally {
      db.close();
    }
    const { columns, faults } = loader;
    if (columns === undefined)
      throw invalid(`${this.nameOf(table)}: is empty; its first line names the columns, or "csv_columns" does.`);
    return { tables: this.undo.use(new SqliteTables(path, this.nameOf(table))), columns, faults };
  }
}
