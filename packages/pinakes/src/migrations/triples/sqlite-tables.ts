/** Tables of triples in a SQLite file. */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { PinakesError, invalid } from "../../domain/errors.ts";
import type { JsonValue } from "../../domain/json.ts";
import {
  quoted,
  moreOf,
  type LegacyRow,
  type LegacyTables,
  type LockedTable,
  type RowKey,
  type TableInfo,
  type TablePart,
} from "./tables.ts";
import type { TableColumns } from "./spec.ts";

/** Rows per turn of the event loop, so that a long read does not block it. */
const rowsPerTurn = 2_000;
const busyMs = 10_000;

export class SqliteTables implements LegacyTables {
  readonly location: string;
  readonly #path: string;
  readonly #db: DatabaseSync;

  constructor(path: string, location = path) {
    this.location = location;
    this.#path = path;
    this.#db = describingErrors(location, () => {
      const db = new DatabaseSync(path, { readOnly: true, timeout: busyMs });
      db.prepare("SELECT count(*) FROM sqlite_master").get();
      return db;
    });
  }

  async tables(): Promise<readonly string[]> {
    const found = this.#db
      .prepare(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
      )
      .all();
    return found.map(({ name }) => name as string);
  }

  async info(table: string): Promise<TableInfo> {
    const columns = this.#db.prepare(`SELECT name FROM pragma_table_info(?)`).all(table);
    const ddl = this.#db
      .prepare("SELECT sql FROM sqlite_master WHERE tbl_name = ? AND sql IS NOT NULL ORDER BY type DESC, name")
      .all(table);
    return { columns: columns.map(({ name }) => name as string), ddl: ddl.map(({ sql }) => sql as string) };
  }

  async values(table: string, column: string, max: number): Promise<readonly string[]> {
    const value = `coalesce(CAST(${quoted(column)} AS TEXT), '') COLLATE BINARY`;
    const found = this.#db
      .prepare(`SELECT DISTINCT ${value} AS value FROM ${quoted(table)} ORDER BY 1 LIMIT ?`)
      .all(max);
    return found.map((row) => row["value"] as string);
  }

  async rowCount(part: TablePart): Promise<number> {
    const { where, values } = conditions(part);
    return this.#db.prepare(`SELECT count(*) AS n FROM ${quoted(part.table)} ${where}`).get(...values)?.["n"] as number;
  }

  async oldest(part: TablePart, column: string): Promise<JsonValue | undefined> {
    const { where, values } = conditions(part);
    const sql = `SELECT min(${quoted(column)}) AS oldest FROM ${quoted(part.table)} ${where}`;
    return this.#db.prepare(sql).get(...values)?.["oldest"] as JsonValue | undefined;
  }

  rows(part: TablePart, columns: TableColumns, after?: RowKey): AsyncIterable<LegacyRow> {
    return describingErrors(this.location, () => distinctRows(this.#db, part, columns, after));
  }

  /** On its own connection, so that nothing else runs inside the transaction. */
  async change<T>(table: string, work: (locked: LockedTable) => Promise<T>): Promise<T> {
    const db = describingErrors(this.location, () => new DatabaseSync(this.#path, { timeout: busyMs }));
    try {
      describingErrors(this.location, () => db.exec("BEGIN IMMEDIATE"));
      const exists =
        db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(table) !== undefined;
      const result = await work({
        exists,
        rows: (columns) => distinctRows(db, { table }, columns),
        drop: async () => db.exec(`DROP TABLE ${quoted(table)}`),
        create: async (ddl) => ddl.forEach((sql) => db.exec(sql)),
        insert: async (columns, rows) => {
          const put = db.prepare(
            `INSERT INTO ${quoted(table)} (${columns.map(quoted).join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
          );
          for (const row of rows) put.run(...row);
        },
      });
      db.exec("COMMIT");
      return result;
    } finally {
      // Uncommitted changes are rolled back.
      db.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#db.close();
  }
}

async function* distinctRows(
  db: DatabaseSync,
  part: TablePart,
  { s, p, o, more = [] }: TableColumns,
  after?: RowKey,
): AsyncGenerator<LegacyRow> {
  // Binary, whatever the collation of the columns: texts that differ in case are different.
  const names = [
    ...[s, p, o].map((name) => `${quoted(name)} COLLATE BINARY`),
    ...more.map(({ name }) => `coalesce(${quoted(name)}, '') COLLATE BINARY`),
  ];
  const marks = names.map(() => "?").join(", ");
  const groups = names.map((_, i) => i + 1).join(", ");
  const others = more.map(({ is }, i) => `, ${names[i + 3]} AS more_${is}`).join("");
  const { where, values } = conditions(
    part,
    after === undefined ? undefined : { sql: `(${names.join(", ")}) > (${marks})`, values: after },
  );
  const sql = (at: string) =>
    `SELECT ${names[0]} AS s, ${names[1]} AS p, ${names[2]} AS o${others}, ${at} AS at FROM ${quoted(part.table)} ${where} GROUP BY ${groups} ORDER BY ${groups}`;
  let statement: StatementSync;
  try {
    statement = db.prepare(sql("min(rowid)"));
  } catch {
    // A table without row ids.
    statement = db.prepare(sql("NULL"));
  }
  let rows = 0;
  for (const row of statement.iterate(...values)) {
    if ((rows += 1) % rowsPerTurn === 0) await nextTurn();
    const at = (row["at"] as number | null) ?? undefined;
    yield { s: row["s"], p: row["p"], o: row["o"], at, ...moreOf(row, more) };
  }
}

/** The bare column of a part, so that an index on it is used. */
function conditions(
  { only }: TablePart,
  more?: { readonly sql: string; readonly values: readonly string[] },
): { readonly where: string; readonly values: readonly string[] } {
  const column = only === undefined ? "" : quoted(only.column);
  const isPart =
    only === undefined
      ? undefined
      : only.value === ""
        ? `(${column} IS NULL OR ${column} = ?)`
        : `${column} COLLATE BINARY = ?`;
  const all = [isPart, more?.sql].filter((sql) => sql !== undefined);
  return {
    where: all.length === 0 ? "" : `WHERE ${all.join(" AND ")}`,
    values: [...(only === undefined ? [] : [only.value]), ...(more?.values ?? [])],
  };
}

/** Translates SQLite errors: missing, unreadable, or not a database. */
function describingErrors<T>(location: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    if (PinakesError.isInstance(error)) throw error;
    const { message } = error as Error;
    if (/unable to open/.test(message))
      throw new PinakesError("NOT_FOUND", `${location}: cannot be opened; check the path and its permissions.`, {
        cause: error,
      });
    if (/locked|busy/.test(message))
      throw new PinakesError("UNAVAILABLE", `${location}: another program is writing to it; try again.`, {
        cause: error,
      });
    throw invalid(`${location}: is not a readable SQLite database: ${message}.`, { cause: error });
  }
}
