/**
 * Ranges of one index, in SQL.
 *
 * Bounds are comparisons of rows and the order names every column, the space included: only the one index that has these columns in this
 * order can give it, so there is no other plan to choose, whatever the statistics say. Written as equalities, the columns would drop out of the
 * order, and an index that has the rows scattered would do for the planner.
 */
export type Column = "s" | "p" | "o" | "g" | "source" | "part";

export interface Range {
  readonly table: string;
  /** All columns of the index after the space. */
  readonly order: readonly Column[];
  /** Expressions for the space and for the first columns. */
  readonly space: string;
  readonly bound: readonly string[];
  /** Expressions for the columns that are left: rows after that place. Absent: from the beginning. */
  readonly after?: readonly string[] | undefined;
}

/** Everything behind `SELECT …`, without a LIMIT. The table goes by the name of `t`. */
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

/** Numbers as PostgreSQL writes an array: faster to make than what pg makes of a list. */
export function numberArray(numbers: Iterable<number>): string {
  return `{${[...numbers].join(",")}}`;
}
