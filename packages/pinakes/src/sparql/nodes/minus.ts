/** MINUS: the rows of the left side that no row of the right side agrees with on a variable both bind. */
import { filterNode } from "./filter.ts";
import { isSubset, seedFrom, union, type Environment, type PatternNode, type Row, type Rows } from "../node.ts";
import { RightSide } from "./right-side.ts";

export function minusNode(left: PatternNode, right: PatternNode): PatternNode {
  const shared = [...left.possible].filter((slot) => right.possible.has(slot));

  async function* run(environment: Environment, seed: Row): Rows {
    const side = new RightSide(environment, right, left.certain);
    try {
      for await (const rows of left.run(environment, seedFrom(environment, seed, left))) {
        const kept: Row[] = [];
        for (const row of rows) if (shared.length === 0 || !(await removed(environment, side, row))) kept.push(row);
        if (kept.length > 0) yield kept;
      }
    } finally {
      side.close();
    }
  }

  async function removed({ budget }: Environment, side: RightSide, row: Row): Promise<boolean> {
    for await (const found of side.rowsFor(row)) {
      for (const other of found) {
        if (budget.spend()) await budget.pause();
        if (takesAway(row, other)) return true;
      }
    }
    return false;
  }

  function takesAway(row: Row, other: Row): boolean {
    let both = false;
    for (const slot of shared) {
      const [a, b] = [row[slot], other[slot]];
      if (a === undefined || b === undefined) continue;
      if (a !== b) return false;
      both = true;
    }
    return both;
  }

  return {
    certain: left.certain,
    possible: left.possible,
    pushable: left.pushable,
    mentioned: union(left.mentioned, right.mentioned),
    run,
    estimate: (environment) => left.estimate(environment),
    gain: (known) => left.gain?.(known) ?? 1,
    withFilter: (filter) =>
      filter.exists.length === 0 && isSubset(filter.slots, left.certain)
        ? minusNode(filterNode(left, filter), right)
        : undefined,
  };
}
