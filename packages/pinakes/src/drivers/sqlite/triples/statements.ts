/**
 * Statements of one connection by their SQL, each prepared once; rows come as lists.
 *
 * A limit is written `LIMIT ? + 0`: SQLite plans for the value of a bare parameter there, and so compiles the statement again each time it
 * is bound, which costs ten times the read.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";

export class Statements {
  readonly #db: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  get(sql: string): StatementSync {
    let statement = this.#prepared.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      statement.setReturnArrays(true);
      this.#prepared.set(sql, statement);
    }
    return statement;
  }

  first<Row extends readonly unknown[]>(sql: string, ...values: (string | number)[]): Row | undefined {
    return this.get(sql).get(...values) as unknown as Row | undefined;
  }

  all<Row extends readonly unknown[]>(sql: string, ...values: (string | number)[]): Row[] {
    return this.get(sql).all(...values) as unknown as Row[];
  }

  /** How many rows it changed. */
  run(sql: string, ...values: (string | number)[]): number {
    return Number(this.get(sql).run(...values).changes);
  }
}
