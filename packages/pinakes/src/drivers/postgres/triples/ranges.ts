/**
 * Ranges of one index, in SQL.
 *
 * Bounds are row comparisons and the order names every column, the space included: only the one index that has these columns in this order
 * can serve it, so there is no other plan to choose, whatever the statistics say. Written as equalities, the columns would drop out of the
 * order, and the planner could choose an index in which the rows are scattered.
 */
export type Column = "s" | "p" | "o" | "g" | "source" | "part";

export interface Range {
  readonly table: string;
  /** All columns of the index after the space. */
  readonly order: readonly Column[];
  /** Expressions for the space and for the first columns. */
  readonly space: string;
  readonly bound: readonly string[];
  /** Expressions for the remaining columns: rows after that position. Absent: from the beginning. */
  readonly after?: readonly string[] | undefined;
}

/** Everything after `SELECT …`, without a LIMIT. The table has the alias `t`. */
export function rangeSql({ table, order, space, bound, after = [] }: Range): string {
  const columns = ["space", ...order].map((column) => `t.${column}`);
  const prefix = [space, ...bound];
  const first = `(${columns.slice(0, prefix.length).join(", ")})`;
  const lower =
    after.length === 0
      ? `${first} >= (${prefix.join(", ")})`
      : `(${columns.join(", ")}) > (${[...prefix, ...after].join(", ")})`;
  return `FROM ${table} t WHERE ${lower} AND ${first} <= (${prefix.join(", ")}) ORDER BY ${columns.join(", ")}`;
}

/** Numbers as PostgreSQL writes an array: faster than what pg does with a list. */
export function numberArray(numbers: Iterable<number>): string {
  return `{${[...numbers].join(",")}}`;
}
