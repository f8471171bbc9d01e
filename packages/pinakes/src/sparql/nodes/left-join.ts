/** OPTIONAL: every row of the left side, extended by the compatible rows of the right side for which the condition is true. */
import type { CompiledExpression } from "../expression-context.ts";
import { rowsThat } from "./evaluate.ts";
import { filterNode } from "./filter.ts";
import {
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

export function leftJoinNode(
  left: PatternNode,
  right: PatternNode,
  condition: CompiledExpression | undefined,
): PatternNode {
  const filters = condition === undefined ? [] : [condition];
  const slots = [...right.possible];

  async function* run(environment: Environment, seed: Row): Rows {
    const side = new RightSide(environment, right, left.certain);
    let out: Row[] = [];
    try {
      for await (const rows of left.run(environment, seedFrom(environment, seed, left))) {
        for (const row of rows) {
          let matched = false;
          for await (const found of side.rowsFor(row)) {
            const merged = found.map((other) => mergeRows(row, other, slots)).filter((one) => one !== undefined);
            const kept = await rowsThat(environment, filters, merged);
            matched ||= kept.length > 0;
            for (const one of kept) out.push(one);
            if (environment.budget.spend(found.length)) await environment.budget.pause();
            if (out.length < lotRows) continue;
            yield out;
            out = [];
          }
          if (!matched) out.push(row);
          if (environment.budget.spend()) await environment.budget.pause();
          if (out.length >= lotRows) {
            yield out;
            out = [];
          }
        }
        if (out.length > 0) yield out;
        out = [];
      }
    } finally {
      side.close();
    }
  }

  return {
    certain: left.certain,
    possible: union(left.possible, right.possible),
    pushable: left.pushable,
    mentioned: union(left.mentioned, right.mentioned, ...filters.map((filter) => filter.slots)),
    run,
    estimate: (environment) => left.estimate(environment),
    gain: (known) => left.gain?.(known) ?? 1,
    // A variable that is certainly bound on the left has the same value after the join as before.
    withFilter: (filter) =>
      filter.exists.length === 0 && isSubset(filter.slots, left.certain)
        ? leftJoinNode(filterNode(left, filter), right, condition)
        : undefined,
  };
}
