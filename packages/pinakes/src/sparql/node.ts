/**
 * A compiled pattern, which produces rows.
 *
 * Seeds. `run` takes a row of known values, for `pushable` variables only, and returns exactly those rows of its unseeded result that are
 * compatible with them. Each kind of node declares for which variables it guarantees this: those that it binds in every row (`certain`),
 * unless it counts, slices or otherwise depends on several rows. So a join may push bindings to its other side without changing the meaning
 * of the query: a FILTER in a group never sees an outer variable, and an OPTIONAL none that only the outer pattern binds.
 *
 * Outer. Inside EXISTS, the values of the outer row are substituted for its variables wherever the pattern names them, including filters
 * (18.6).
 */
import type { TermText } from "../domain/rdf.ts";
import type { Budget } from "./budget.ts";
import type { Dataset, GraphSet } from "./dataset.ts";
import type { CompiledExpression } from "./expression-context.ts";
import type { Variables } from "./variables.ts";

export type Row = readonly (TermText | undefined)[];

/** Batches of rows. */
export type Rows = AsyncGenerator<readonly Row[]>;

export interface Environment {
  readonly dataset: Dataset;
  /** The active graph of patterns. */
  readonly active: GraphSet;
  readonly outer: Row | undefined;
  readonly budget: Budget;
  readonly variables: Variables;
}

export interface PatternNode {
  /** Variables bound in every row. */
  readonly certain: ReadonlySet<number>;
  /** Variables that may be bound in some row. */
  readonly possible: ReadonlySet<number>;
  readonly pushable: ReadonlySet<number>;
  /** Variables named anywhere in it. */
  readonly mentioned: ReadonlySet<number>;
  run(environment: Environment, seed: Row): Rows;
  /** Estimated number of rows; never zero if there are any. */
  estimate(environment: Environment): Promise<number>;
  /** The same node with a condition inside, evaluated as early as possible; undefined if the result might differ. */
  withFilter(filter: CompiledExpression): PatternNode | undefined;
  /** The factor by which known values of these variables reduce the rows to read, from 1 (no reduction) upwards; default 1. */
  gain?(known: ReadonlySet<number>): number;
}

/** Approximate maximum number of rows per batch. */
export const lotRows = 512;

export function emptyRow(environment: Environment): Row {
  return Array.from<TermText | undefined>({ length: environment.variables.width });
}

/** Known values of a row that may be pushed to a node. */
export function seedFrom(environment: Environment, row: Row, node: PatternNode): Row {
  const seed = Array.from<TermText | undefined>({ length: environment.variables.width });
  for (const slot of node.pushable) seed[slot] = row[slot];
  return seed;
}

/** Merges two rows; undefined if they are incompatible. */
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
