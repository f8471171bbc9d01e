/** Tables of triples in a PostgreSQL schema. */
import type { Client } from "pg";
import { PinakesError } from "../../domain/errors.ts";
import type { JsonValue } from "../../domain/json.ts";
import type { PostgresSource } from "../allowed-sources.ts";
import {
  moreOf,
  quoted,
  type LegacyRow,
  type LegacyTables,
  type LockedTable,
  type RowKey,
  type TableInfo,
  type TablePart,
} from "./tables.ts";
import type { TableColumns } from "./spec.ts";

const rowsPerFetch = 2_000;
const rowsPerInsert = 500;
const connectMsMax = 10_000;
const lockMsMax = 30_000;

export class PostgresTables implements LegacyTables {
  readonly location: string;
  readonly #connection: object;
  readonly #schema: string;

  constructor({ shown, connection }: PostgresSource, schema = "public") {
    this.#connection = connection;
    this.#schema = schema;
    this.location = `${shown} schema ${schema}`;
  }

  async tables(): Promise<readonly string[]> {
    const found = await this.#ask(
      "SELECT table_name FROM information_schema.tables WHERE table_schema = $1 AND table_type = 'BASE TABLE' ORDER BY table_name COLLATE \"C\"",
      [this.#schema],
    );
    return found.map((row) => row["table_name"] as string);
  }

  async info(table: string): Promise<TableInfo> {
    const where =
      "FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = $2 AND a.attnum > 0 AND NOT a.attisdropped";
    const columns = await this.#ask(
      `SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull AS required ${where} ORDER BY a.attnum`,
      [this.#schema, table],
    );
    const keys = await this.#ask(
      "SELECT pg_get_constraintdef(k.oid) AS def FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = $2 AND k.contype = 'p'",
      [this.#schema, table],
    );
    const indexes = await this.#ask(
      "SELECT pg_get_indexdef(i.indexrelid) AS def FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = $2 AND NOT i.indisprimary ORDER BY 1",
      [this.#schema, table],
    );
    const parts = [
      ...columns.map(
        ({ name, type, required }) =>
          `${quoted(name as string)} ${type as string}${required === true ? " NOT NULL" : ""}`,
      ),
      ...keys.map(({ def }) => def),
    ];
    return {
      columns: columns.map(({ name }) => name as string),
      ddl: [`CREATE TABLE ${this.#name(table)} (${parts.join(", ")})`, ...indexes.map(({ def }) => def as string)],
    };
  }

  async values(table: string, column: string, max: number): Promise<readonly string[]> {
    const value = `coalesce(${quoted(column)}::text, '') COLLATE "C"`;
    const found = await this.#ask(`SELECT DISTINCT ${value} AS value FROM ${this.#name(table)} ORDER BY 1 LIMIT $1`, [
      max,
    ]);
    return found.map((row) => row["value"] as string);
  }

  async rowCount(part: TablePart): Promise<number> {
    const { where, values } = conditions(part);
    return Number((await this.#ask(`SELECT count(*) AS n FROM ${this.#name(part.table)} ${where}`, values))[0]?.["n"]);
  }

  async oldest(part: TablePart, column: string): Promise<JsonValue | undefined> {
    const { where, values } = conditions(part);
    const value = (
      await this.#ask(`SELECT min(${quoted(column)}) AS oldest FROM ${this.#name(part.table)} ${where}`, values)
    )[0]?.["oldest"];
    return value instanceof Date ? value.toISOString() : (value as JsonValue | undefined);
  }

  async *rows(part: TablePart, columns: TableColumns, after?: RowKey): AsyncGenerator<LegacyRow> {
    const client = await this.#connect();
    try {
      await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
      yield* fetched(client, { ...part, table: this.#name(part.table) }, columns, after);
    } catch (error) {
      throw this.#described(error);
    } finally {
      await client.end();
    }
  }

  async change<T>(table: string, work: (locked: LockedTable) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    const name = this.#name(table);
    try {
      await client.query(`BEGIN; SET LOCAL lock_timeout = ${lockMsMax}`);
      const { rows: found } = await client.query("SELECT to_regclass($1) IS NOT NULL AS there", [name]);
      const exists = (found[0] as { there: boolean }).there;
      if (exists) await client.query(`LOCK TABLE ${name} IN ACCESS EXCLUSIVE MODE`);
      const result = await work({
        exists,
        rows: (columns) => fetched(client, { table: name }, columns),
        drop: async () => void (await client.query(`DROP TABLE ${name}`)),
        create: async (ddl) => {
          for (const sql of ddl) await client.query(sql);
        },
        insert: (columns, rows) => insert(client, name, columns, rows),
      });
      await client.query("COMMIT");
      return result;
    } catch (error) {
      throw this.#described(error);
    } finally {
      // Also ends the transaction: what was not committed is rolled back.
      await client.end();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #name(table: string): string {
    return `${quoted(this.#schema)}.${quoted(table)}`;
  }

  async #ask(sql: string, values: readonly unknown[] = []): Promise<readonly Record<string, unknown>[]> {
    const client = await this.#connect();
    try {
      return (await client.query(sql, [...values])).rows as Record<string, unknown>[];
    } catch (error) {
      throw this.#described(error);
    } finally {
      await client.end();
    }
  }

  async #connect(): Promise<Client> {
    const { default: pg } = await import("pg");
    const client = new pg.Client({
      ...this.#connection,
      application_name: "pinakes migration",
      connectionTimeoutMillis: connectMsMax,
    });
    // An error on an idle connection would end the process; the next query reports it.
    client.on("error", () => undefined);
    try {
      await client.connect();
    } catch (error) {
      // A server that asked for a password and got none still holds the connection.
      client.connection.stream.destroy();
      if (PinakesError.isInstance(error)) throw error;
      throw new PinakesError("UNAVAILABLE", `${this.location}: unreachable: ${(error as Error).message}.`, {
        cause: error,
      });
    }
    return client;
  }

  #described(error: unknown): unknown {
    if (PinakesError.isInstance(error) || !(error instanceof Error)) return error;
    const { code } = error as { code?: unknown };
    if (code === "55P03")
      return new PinakesError("UNAVAILABLE", `${this.location}: another program uses the table; try again.`, {
        cause: error,
      });
    return typeof code === "string"
      ? new PinakesError("UNAVAILABLE", `${this.location}: ${error.message}.`, { cause: error })
      : error;
  }
}

/** `first`: values before those of the part. On text columns the cast is a no-op, so an index is used. */
function conditions(
  { only }: TablePart,
  first?: { readonly sql: string; readonly values: readonly string[] },
): { readonly where: string; readonly values: readonly string[] } {
  const before = first?.values ?? [];
  const column = only === undefined ? "" : `${quoted(only.column)}::text`;
  const isValue = `${column} = $${before.length + 1}`;
  const isPart = only === undefined ? undefined : only.value === "" ? `(${column} IS NULL OR ${isValue})` : isValue;
  const all = [first?.sql, isPart].filter((sql) => sql !== undefined);
  return {
    where: all.length === 0 ? "" : `WHERE ${all.join(" AND ")}`,
    values: [...before, ...(only === undefined ? [] : [only.value])],
  };
}

/** `part.table` is a quoted SQL name. */
async function* fetched(
  client: Client,
  part: TablePart,
  { s, p, o, more = [] }: TableColumns,
  after?: RowKey,
): AsyncGenerator<LegacyRow> {
  const names = [
    ...[s, p, o].map((column) => `${quoted(column)} COLLATE "C"`),
    ...more.map(({ name }) => `coalesce(${quoted(name)}::text, '') COLLATE "C"`),
  ];
  const marks = names.map((_, i) => `$${i + 1}`).join(", ");
  const order = names.map((_, i) => i + 1).join(", ");
  const others = more.map(({ is }, i) => `, ${names[i + 3]} AS more_${is}`).join("");
  const { where, values } = conditions(
    part,
    after === undefined ? undefined : { sql: `(${names.join(", ")}) > (${marks})`, values: after },
  );
  // Cursor names must be unique: each read gets its own.
  const cursor = `pinakes_${(cursors += 1)}`;
  await client.query(
    `DECLARE ${cursor} NO SCROLL CURSOR FOR SELECT DISTINCT ${names[0]} AS s, ${names[1]} AS p, ${names[2]} AS o${others} FROM ${part.table} ${where} ORDER BY ${order}`,
    [...values],
  );
  for (;;) {
    const { rows } = await client.query(`FETCH ${rowsPerFetch} FROM ${cursor}`);
    for (const row of rows as Record<string, unknown>[])
      yield { s: row["s"], p: row["p"], o: row["o"], ...moreOf(row, more) };
    if (rows.length < rowsPerFetch) break;
  }
  await client.query(`CLOSE ${cursor}`);
}

let cursors = 0;

async function insert(
  client: Client,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly (string | null)[])[],
): Promise<void> {
  for (let at = 0; at < rows.length; at += rowsPerInsert) {
    const some = rows.slice(at, at + rowsPerInsert);
    const values = some.map((row, i) => `(${row.map((_, j) => `$${i * columns.length + j + 1}`).join(", ")})`);
    await client.query(
      `INSERT INTO ${table} (${columns.map(quoted).join(", ")}) VALUES ${values.join(", ")}`,
      some.flat(),
    );
  }
}
