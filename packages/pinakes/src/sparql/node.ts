/**
 * A pattern, compiled: something that gives rows.
 *
 * Seeds. `run` takes a row of values that are known already, for `pushable` variables only, and gives exactly the rows that it would give
 * without them and that agree with them. Every kind of node says for which variables it can promise that: those that it binds in every row
 * (`certain`), unless it counts, cuts or otherwise looks at rows together. So a join may hand what it has found to the other side without
 * changing what the query means: a FILTER in a group never sees a variable of outside, an OPTIONAL none that only the outside binds.
 *
 * Outer. Inside EXISTS the row around it takes the place of its variables wherever the pattern names them, filters included (18.6).
 */
import type { TermText } from "../domain/rdf.ts";
import type { Budget } from "./budget.ts";
import type { Dataset, GraphSet } from "./dataset.ts";
import type { CompiledExpression } from "./expression-context.ts";
import type { Variables } from "./variables.ts";

export type Row = readonly (TermText | undefined)[];

/** Rows in lots. */
export type Rows = AsyncGenerator<readonly Row[]>;

export interface Environment {
  readonly dataset: Dataset;
  /** The graph that patterns match in. */
  readonly active: GraphSet;
  readonly outer: Row | undefined;
  readonly budget: Budget;
  readonly variables: Variables;
}

export interface PatternNode {
  /** Bound in every row. */
  readonly certain: ReadonlySet<number>;
  /** Bound in some row, perhaps. */
  readonly possible: ReadonlySet<number>;
  readonly pushable: ReadonlySet<number>;
  /** Named anywhere in it. */
  readonly mentioned: ReadonlySet<number>;
  run(environment: Environment, seed: Row): Rows;
  /** About how many rows; never zero where there are some. */
  estimate(environment: Environment): Promise<number>;
  /** The same with a condition inside, as early as it can be decided; undefined where that cannot be promised. */
  withFilter(filter: CompiledExpression): PatternNode | undefined;
  /** How much less there is to read once these are known, from 1 (nothing) upwards; 1 when absent. */
  gain?(known: ReadonlySet<number>): number;
}

/** Rows that are handed on at once, at most about. */
export const lotRows = 512;

export function emptyRow(environment: Environment): Row {
  return Array.from<TermText | undefined>({ length: environment.variables.width });
}

/** What a node may be told of a row. */
export function seedFrom(environment: Environment, row: Row, node: PatternNode): Row {
  const seed = Array.from<TermText | undefined>({ length: environment.variables.width });
  for (const slot of node.pushable) seed[slot] = row[slot];
  return seed;
}

/** Both rows as one; undefined if they do not agree. */
export function mergeRows(a: Row, b: Row, slotsOfB: readonly number[]): Row | undefined {
  for (const slot of slotsOfB) {
    const [x, y] = [a[slot], b[slot]];
    if (x !== undefined && y !== undefined && x !== y) return undefined;
  }
  const merged = a.slice();
  for (const slot of slotsOfB) if (b[slot] !== undefined) merged[slot] = b[slot];
  return merged;
}

export function union(...sets: readonly ReadonlySet<number>[]): ReadonlySet<number> {
  return new Set(sets.flatMap((set) => [...set]));
}

export function isSubset(a: ReadonlySet<number>, b: ReadonlySet<number>): boolean {
  for (const value of a) if (!b.has(value)) return false;
  return true;
}
