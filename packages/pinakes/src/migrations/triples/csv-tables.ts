/**
 * Tables of triples as CSV files, one per table: the output of `cqlsh COPY … TO` from Cassandra. Each file is loaded into a table on the
 * local disk, for deduplication and sorting; the files themselves are never changed.
 */
import { createReadStream } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parse } from "csv-parse";
import { PinakesError, invalid } from "../../domain/errors.ts";
import type { JsonValue } from "../../domain/json.ts";
import { migrationLimits } from "../limits.ts";
import { SqliteTables } from "./sqlite-tables.ts";
import type { LegacyRow, LegacyTables, RowKey, TableInfo, TablePart } from "./tables.ts";
import { collectionColumn, type TableColumns, type TriplesSpec } from "./spec.ts";
import { quoted } from "./tables.ts";

interface Loaded {
  readonly tables: SqliteTables;
  readonly columns: readonly string[];
  readonly faults: readonly { readonly at: number; readonly reason: string }[];
}

/** Maximum number of faults listed per file. */
const faultsMax = 100;
const rowsPerTransaction = 10_000;

export class CsvTables implements LegacyTables {
  readonly location: string;
  readonly #spec: TriplesSpec;
  readonly #loaded = new Map<string, Promise<Loaded>>();
  readonly #undo = new AsyncDisposableStack();

  constructor(folder: string, spec: TriplesSpec) {
    this.location = folder;
    this.#spec = spec;
  }

  async tables(): Promise<readonly string[]> {
    const names = await readdir(this.location).catch((error: unknown) => {
      throw new PinakesError("NOT_FOUND", `${this.location}: is not a readable folder: ${(error as Error).message}.`, {
        cause: error,
      });
    });
    const found = names.filter((name) => name.endsWith(".csv")).map((name) => name.slice(0, -4));
    if (found.length === 0) throw invalid(`${this.location}: has no file that ends in .csv.`);
    return found.toSorted();
  }

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

  async faults(table: string): Promise<readonly { readonly at: number; readonly reason: string }[]> {
    return (await this.#load(table)).faults;
  }

  async *rows(part: TablePart, columns: TableColumns, after?: RowKey): AsyncGenerator<LegacyRow> {
    yield* (await this.#load(part.table)).tables.rows(part, columns, after);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#undo.disposeAsync();
  }

  #load(table: string): Promise<Loaded> {
    const known = this.#loaded.get(table) ?? this.#read(table);
    this.#loaded.set(table, known);
    return known;
  }

  async #read(table: string): Promise<Loaded> {
    const folder = await mkdtemp(join(tmpdir(), "pinakes-csv-"));
    this.#undo.defer(() => rm(folder, { recursive: true, force: true }));
    const path = join(folder, "table.db");
    const db = new DatabaseSync(path);
    const faults: { at: number; reason: string }[] = [];
    let columns: readonly string[] | undefined = this.#spec.csv_columns;
    let at = 0;
    try {
      db.exec("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF");
      let put = columns === undefined ? undefined : makeTable(db, table, columns);
      db.exec("BEGIN");
      for await (const record of this.#records(table)) {
        at += 1;
        requireShort(record, `${this.location}/${table}.csv row ${at}`);
        if (put === undefined || columns === undefined) {
          columns = record;
          put = makeTable(db, table, columns);
        } else if (record.length === columns.length) put.run(at, ...record);
        else if (faults.length < faultsMax)
          faults.push({
            at,
            reason: `has ${record.length} columns; the table has ${columns.length} (${columns.join(", ")}).`,
          });
        if (at % rowsPerTransaction === 0) db.exec("COMMIT; BEGIN");
      }
      db.exec("COMMIT");
      const collection = columns === undefined ? undefined : collectionColumn(this.#spec, columns);
      // Each collection is read separately: without an index each read would scan the whole file.
      if (collection !== undefined)
        db.exec(`CREATE INDEX ${quoted(`${table} by collection`)} ON ${quoted(table)} (${quoted(collection)})`);
    } catch (error) {
      if (PinakesError.isInstance(error)) throw error;
      throw invalid(`${this.location}/${table}.csv row ${at + 1}: cannot be read: ${(error as Error).message}.`, {
        cause: error,
      });
    } finally {
      db.close();
    }
    if (columns === undefined)
      throw invalid(
        `${this.location}/${table}.csv: is empty; its first line names the columns, or "csv_columns" does.`,
      );
    const tables = this.#undo.use(new SqliteTables(path, `${this.location}/${table}.csv`));
    return { tables, columns, faults };
  }

  async *#records(table: string): AsyncGenerator<string[]> {
    const parser = parse({
      bom: true,
      escape: this.#spec.csv_escape ?? "\\",
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: migrationLimits.lineCharsMax,
    });
    const file = createReadStream(join(this.location, `${table}.csv`), { highWaterMark: 1_048_576 });
    file.on("error", (error) => parser.destroy(error));
    yield* file.pipe(parser) as AsyncIterable<string[]>;
  }
}

/** The record number is its row id, which problems refer to. */
function makeTable(db: DatabaseSync, table: string, columns: readonly string[]) {
  if (new Set(columns.map((name) => name.toLowerCase())).size !== columns.length)
    throw invalid(`${table}.csv: two columns have the same name (${columns.join(", ")}).`);
  db.exec(`CREATE TABLE ${quoted(table)} (${columns.map((name) => `${quoted(name)} TEXT`).join(", ")})`);
  return db.prepare(
    `INSERT INTO ${quoted(table)} (rowid, ${columns.map(quoted).join(", ")}) VALUES (?, ${columns.map(() => "?").join(", ")})`,
  );
}

/** The parser's own limit bounds its memory, but is not exact. */
function requireShort(record: readonly string[], where: string): void {
  if (record.reduce((chars, cell) => chars + cell.length, 0) <= migrationLimits.lineCharsMax) return;
  throw new PinakesError(
    "LIMIT_EXCEEDED",
    `${where}: has more than ${migrationLimits.lineCharsMax} characters; leave the row out, or shorten it.`,
  );
}
