/** Inserts many rows with few statements: a call from JavaScript to SQLite costs as much as the row. */
import type { StatementSync } from "node:sqlite";
import type { Statements } from "./statements.ts";

/** Measured: more rows per statement make a longer program, which costs more than it saves. */
const rowsPerStatement = 8;

/** `rows` holds `width` numbers per row, for the columns after the space. Returns how many rows were new. */
export function insertRows(
  statements: Statements,
  table: string,
  width: number,
  space: number,
  rows: Float64Array,
): number {
  const whole = rows.length - (rows.length % (rowsPerStatement * width));
  const inserted = insertBy(
    statements.get(insertSql(table, width, rowsPerStatement)),
    rowsPerStatement * width,
    space,
    rows.subarray(0, whole),
  );
  return inserted + insertBy(statements.get(insertSql(table, width, 1)), width, space, rows.subarray(whole));
}

function insertBy(statement: StatementSync, step: number, space: number, rows: Float64Array): number {
  // A plain array: spreading a typed array costs more than the insert.
  const values: number[] = Array.from({ length: step + 1 }, () => space);
  let inserted = 0;
  for (let at = 0; at < rows.length; at += step) {
    for (let i = 0; i < step; i += 1) values[i + 1] = rows[at + i] as number;
    inserted += Number(statement.run(...values).changes);
  }
  return inserted;
}

const sqls = new Map<string, string>();

function insertSql(table: string, width: number, count: number): string {
  const key = `${table} ${count}`;
  let sql = sqls.get(key);
  if (sql === undefined) {
    const row = (n: number): string =>
      `(?1, ${Array.from({ length: width }, (_, i) => `?${2 + n * width + i}`).join(", ")})`;
    sql = `INSERT OR IGNORE INTO ${table} VALUES ${Array.from({ length: count }, (_, n) => row(n)).join(", ")}`;
    sqls.set(key, sql);
  }
  return sql;
}
