/** FILTER: keeps the rows for which a condition is true. */
import type { CompiledExpression } from "../expression-context.ts";
import { rowsThat } from "./evaluate.ts";
import { seedFrom, union, type PatternNode } from "../node.ts";

/** Evaluates the condition inside the pattern if that is equivalent, else after it. */
export function filterNode(child: PatternNode, filter: CompiledExpression): PatternNode {
  return child.withFilter(filter) ?? filterAfter(child, [filter]);
}

function filterAfter(child: PatternNode, filters: readonly CompiledExpression[]): PatternNode {
  return {
    certain: child.certain,
    possible: child.possible,
    pushable: child.pushable,
    mentioned: union(child.mentioned, ...filters.map(({ slots }) => slots)),
    async *run(environment, seed) {
      for await (const rows of child.run(environment, seedFrom(environment, seed, child))) {
        const kept = await rowsThat(environment, filters, rows);
        if (kept.length > 0) yield kept;
      }
    },
    estimate: (environment) => child.estimate(environment),
    gain: (known) => child.gain?.(known) ?? 1,
    withFilter: (filter) => {
      const inner = child.withFilter(filter);
      return inner === undefined ? filterAfter(child, [...filters, filter]) : filterAfter(inner, filters);
    },
  };
}
