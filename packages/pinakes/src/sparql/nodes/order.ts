/**
 * ORDER BY: collects all rows in memory and sorts them in slices, so that other requests are not blocked; under a LIMIT it keeps only the
 * first rows.
 */
import type { TermText } from "../../domain/rdf.ts";
import { charsOf, Held, type Budget } from "../budget.ts";
import { compareForOrder } from "../expressions/compare.ts";
import type { CompiledExpression } from "../expression-context.ts";
import { evaluateFor } from "./evaluate.ts";
import { lotRows, union, type Environment, type PatternNode, type Row, type Rows } from "../node.ts";

interface OrderKey {
  readonly expression: CompiledExpression;
  readonly descending: boolean;
}

interface Keyed {
  readonly row: Row;
  readonly values: readonly (TermText | undefined)[];
}

const runRows = 2_048;

/** `first`: how many rows of the result will be used. */
export function orderNode(child: PatternNode, keys: readonly OrderKey[], first: number | undefined): PatternNode {
  const compare = (a: Keyed, b: Keyed): number => {
    for (const [at, { descending }] of keys.entries()) {
      const order = compareForOrder(a.values[at], b.values[at]);
      if (order !== 0) return descending ? -order : order;
    }
    return 0;
  };

  async function* run(environment: Environment, seed: Row): Rows {
    const { budget } = environment;
    const held = new Held(budget);
    try {
      let all: Keyed[] = [];
      for await (const rows of child.run(environment, seed)) {
        for (const row of rows) all.push({ row, values: await valuesOf(environment, row) });
        held.add(rows.length, charsOf(rows));
        if (first !== undefined && all.length > first + runRows) {
          all = (await sorted(budget, all, compare)).slice(0, first);
          held.release();
          held.add(all.length, charsOf(all.map(({ row }) => row)));
        }
        if (budget.spend(rows.length)) await budget.pause();
      }
      all = await sorted(budget, all, compare);
      for (let at = 0; at < all.length; at += lotRows) yield all.slice(at, at + lotRows).map(({ row }) => row);
    } finally {
      held.release();
    }
  }

  async function valuesOf(environment: Environment, row: Row): Promise<readonly (TermText | undefined)[]> {
    const values: (TermText | undefined)[] = [];
    for (const { expression } of keys) {
      const value = evaluateFor(environment, expression, row, new Map());
      values.push(value instanceof Promise ? await value : value);
    }
    return values;
  }

  return {
    certain: child.certain,
    possible: child.possible,
    pushable: child.pushable,
    mentioned: union(child.mentioned, ...keys.map(({ expression }) => expression.slots)),
    run,
    estimate: (environment) => child.estimate(environment),
    withFilter: () => undefined,
  };
}

/** A stable merge sort that yields to other work between its steps. */
async function sorted(
  budget: Budget,
  rows: readonly Keyed[],
  compare: (a: Keyed, b: Keyed) => number,
): Promise<Keyed[]> {
  let runs: Keyed[][] = [];
  for (let at = 0; at < rows.length; at += runRows) {
    runs.push(rows.slice(at, at + runRows).sort(compare));
    if (budget.spend(runRows)) await budget.pause();
  }
  while (runs.length > 1) {
    const merged: Keyed[][] = [];
    for (let at = 0; at < runs.length; at += 2)
      merged.push(await mergeRuns(budget, runs[at] as Keyed[], runs[at + 1] ?? [], compare));
    runs = merged;
  }
  return runs[0] ?? [];
}

async function mergeRuns(
  budget: Budget,
  a: readonly Keyed[],
  b: readonly Keyed[],
  compare: (a: Keyed, b: Keyed) => number,
): Promise<Keyed[]> {
  const out: Keyed[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [x, y] = [a[i], b[j]];
    if (y === undefined || (x !== undefined && compare(x, y) <= 0)) {
      out.push(x as Keyed);
      i += 1;
    } else {
      out.push(y);
      j += 1;
    }
    if (budget.spend()) await budget.pause();
  }
  return out;
}
