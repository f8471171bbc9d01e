/** UNION: the rows of each branch, one after the other. */
import { filterNode } from "./filter.ts";
import { isSubset, seedFrom, union, type PatternNode } from "../node.ts";

export function unionNode(branches: readonly PatternNode[]): PatternNode {
  const everywhere = (sets: readonly ReadonlySet<number>[]) =>
    new Set([...(sets[0] ?? [])].filter((slot) => sets.every((set) => set.has(slot))));
  const certain = everywhere(branches.map((branch) => branch.certain));
  return {
    certain,
    possible: union(...branches.map((branch) => branch.possible)),
    pushable: everywhere(branches.map((branch) => branch.pushable)),
    mentioned: union(...branches.map((branch) => branch.mentioned)),
    async *run(environment, seed) {
      for (const branch of branches) yield* branch.run(environment, seedFrom(environment, seed, branch));
    },
    estimate: async (environment) => {
      let sum = 0;
      for (const branch of branches) sum += await branch.estimate(environment);
      return sum;
    },
    gain: (known) => Math.min(...branches.map((branch) => branch.gain?.(known) ?? 1)),
    withFilter: (filter) =>
      filter.exists.length === 0 && isSubset(filter.slots, certain)
        ? unionNode(branches.map((branch) => filterNode(branch, filter)))
        : undefined,
  };
}
