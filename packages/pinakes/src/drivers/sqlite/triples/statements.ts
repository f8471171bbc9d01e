/**
 * Prepared statements of one connection, cached by their SQL; rows are returned as arrays.
 *
 * A limit is written `LIMIT ? + 0`: SQLite plans for the value of a bare parameter there and recompiles the statement at each bind, which
 * costs ten times the read.
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

  /** Returns the number of changed rows. */
  run(sql: string, ...values: (string | number)[]): number {
    return Number(this.get(sql).run(...values).changes);
  }
}
