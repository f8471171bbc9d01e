/**
 * Joins any number of patterns, in the order that reads least. A basic graph pattern is a join of its triples. Conditions are evaluated as
 * soon as their variables are bound.
 */
import type { CompiledExpression } from "../expression-context.ts";
import { rowsThat } from "./evaluate.ts";
import { filterNode } from "./filter.ts";
import {
  emptyRow,
  isSubset,
  lotRows,
  mergeRows,
  seedFrom,
  union,
  type Environment,
  type PatternNode,
  type Row,
  type Rows,
} from "../node.ts";
import { RightSide } from "./right-side.ts";

export function joinNode(children: readonly PatternNode[], filters: readonly CompiledExpression[] = []): PatternNode {
  const orders = new Map<string, readonly PatternNode[]>();
  const certain = union(...children.map((child) => child.certain));

  async function* run(environment: Environment, seed: Row): Rows {
    const known = new Set(seed.flatMap((value, slot) => (value === undefined ? [] : [slot])));
    const key = [...known].join();
    let order = orders.get(key);
    if (order === undefined) orders.set(key, (order = await orderOf(environment, children, known)));
    const waiting = new Set(filters);
    let rows: Rows = start(environment);
    let bound: ReadonlySet<number> = new Set();
    for (const child of order) {
      rows =
        bound.size === 0 && child === order[0]
          ? child.run(environment, seedFrom(environment, seed, child))
          : innerJoin(environment, rows, bound, child, seed);
      bound = union(bound, child.certain);
      const ready = take(waiting, bound);
      if (ready.length > 0) rows = filtered(environment, rows, ready);
    }
    yield* waiting.size === 0 ? rows : filtered(environment, rows, [...waiting]);
  }

  return {
    certain,
    possible: union(...children.map((child) => child.possible)),
    pushable: union(...children.map((child) => child.pushable)),
    mentioned: union(...children.map((child) => child.mentioned), ...filters.map(({ slots }) => slots)),
    run,
    estimate: async (environment) => {
      const sizes = await Promise.all(children.map((child) => child.estimate(environment)));
      return sizes.length === 0 ? 1 : Math.min(...sizes);
    },
    gain: (known) => Math.max(1, ...children.map((child) => child.gain?.(known) ?? 1)),
    withFilter: (filter) => {
      if (filter.exists.length > 0 || !isSubset(filter.slots, certain)) return undefined;
      const inside = children.findIndex(
        (child) => isSubset(filter.slots, child.certain) && child.withFilter(filter) !== undefined,
      );
      const child = children[inside];
      return child === undefined
        ? joinNode(children, [...filters, filter])
        : joinNode(children.with(inside, filterNode(child, filter)), filters);
    },
  };
}

/** One row without bindings. */
async function* start(environment: Environment): Rows {
  yield [emptyRow(environment)];
}

function take(waiting: Set<CompiledExpression>, bound: ReadonlySet<number>): readonly CompiledExpression[] {
  const ready = [...waiting].filter(({ slots }) => isSubset(slots, bound));
  for (const filter of ready) waiting.delete(filter);
  return ready;
}

async function* filtered(environment: Environment, rows: Rows, filters: readonly CompiledExpression[]): Rows {
  for await (const lot of rows) {
    const kept = await rowsThat(environment, filters, lot);
    if (kept.length > 0) yield kept;
  }
}

/** `seed`: the bindings pushed to the join itself, for variables that the left side may not bind. */
export async function* innerJoin(
  environment: Environment,
  left: Rows,
  leftCertain: ReadonlySet<number>,
  right: PatternNode,
  seed: Row,
): Rows {
  const known = new Set([...leftCertain, ...seed.flatMap((value, slot) => (value === undefined ? [] : [slot]))]);
  const side = new RightSide(environment, right, known);
  const slots = [...right.possible];
  const { budget } = environment;
  let out: Row[] = [];
  // The first rows are yielded at once: a consumer that needs only a few stops here.
  let lot = 8;
  try {
    for await (const rows of left) {
      for (const row of rows) {
        const seeded = withSeed(row, seed, right);
        const table = side.tableRows(seeded);
        if (table !== undefined) collect(row, table);
        else {
          // The matches of one row may not fit into memory, so they are yielded in batches as well.
          for await (const found of side.rowsFor(seeded)) {
            collect(row, found);
            if (out.length < lotRows) continue;
            yield taken();
            if (budget.spend()) await budget.pause();
          }
        }
        if (budget.spend()) await budget.pause();
        if (out.length >= lot) yield taken();
      }
      if (out.length > 0) yield out;
      out = [];
    }
  } finally {
    side.close();
  }

  function collect(row: Row, found: readonly Row[]): void {
    budget.spend(found.length);
    for (const other of found) {
      const merged = mergeRows(row, other, slots);
      if (merged !== undefined) out.push(merged);
    }
  }

  function taken(): readonly Row[] {
    const rows = out;
    out = [];
    lot = Math.min(lot * 2, lotRows);
    return rows;
  }
}

function withSeed(row: Row, seed: Row, right: PatternNode): Row {
  let merged: (string | undefined)[] | undefined;
  for (const slot of right.pushable) {
    if (row[slot] !== undefined || seed[slot] === undefined) continue;
    merged ??= row.slice();
    merged[slot] = seed[slot];
  }
  return merged ?? row;
}

/** The smallest first, then always the one with the least left to read; patterns that share no variable with those before come last. */
async function orderOf(
  environment: Environment,
  children: readonly PatternNode[],
  seeded: ReadonlySet<number>,
): Promise<readonly PatternNode[]> {
  if (children.length <= 1) return children;
  const sizes = new Map<PatternNode, number>();
  for (const child of children) sizes.set(child, await child.estimate(environment));
  const open = [...children];
  const order: PatternNode[] = [];
  let known: ReadonlySet<number> = seeded;
  while (open.length > 0) {
    const cost = (child: PatternNode): number => {
      const size = sizes.get(child) as number;
      const apart = order.length > 0 && size > 1 && ![...child.possible].some((slot) => known.has(slot));
      // A pattern that accepts no bindings is read completely, so it is better to read it early.
      return Math.max(1, size / (child.gain?.(known) ?? 1)) * (apart ? 1_000_000 : 1);
    };
    const next = open.reduce((best, child) => (cost(child) < cost(best) ? child : best));
    open.splice(open.indexOf(next), 1);
    order.push(next);
    known = union(known, next.certain);
  }
  return order;
}
