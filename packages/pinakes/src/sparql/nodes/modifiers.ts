/** Solution modifiers: projection, DISTINCT, LIMIT and OFFSET. */
import { Held } from "../budget.ts";
import { keyOf } from "../dataset.ts";
import { filterNode } from "./filter.ts";
import { emptyRow, isSubset, seedFrom, type Environment, type PatternNode, type Row } from "../node.ts";

/** A subquery: a variable that it does not select is distinct from an outer one of the same name. */
export function projectNode(child: PatternNode, slots: readonly number[]): PatternNode {
  const selected = new Set(slots);
  const among = (set: ReadonlySet<number>) => new Set(slots.filter((slot) => set.has(slot)));
  return {
    certain: among(child.certain),
    possible: among(child.possible),
    pushable: among(child.pushable),
    mentioned: selected,
    async *run(environment, seed) {
      const inside =
        environment.outer === undefined
          ? environment
          : { ...environment, outer: environment.outer.map((value, slot) => (selected.has(slot) ? value : undefined)) };
      const seeded = seedFrom(environment, seed, child).map((value, slot) => (selected.has(slot) ? value : undefined));
      for await (const rows of child.run(inside, seeded))
        yield rows.map((row) => row.map((value, slot) => (selected.has(slot) ? value : undefined)));
    },
    estimate: (environment) => child.estimate(environment),
    gain: (known) => child.gain?.(among(known)) ?? 1,
    withFilter: (filter) =>
      filter.exists.length === 0 &&
      isSubset(filter.slots, selected) &&
      isSubset(filter.slots, child.certain) &&
      child.withFilter(filter) !== undefined
        ? projectNode(filterNode(child, filter), slots)
        : undefined,
  };
}

export function distinctNode(child: PatternNode): PatternNode {
  const slots = [...child.possible];
  return {
    certain: child.certain,
    possible: child.possible,
    pushable: child.pushable,
    mentioned: child.mentioned,
    async *run(environment, seed) {
      const seen = new Set<string>();
      const held = new Held(environment.budget);
      try {
        for await (const rows of child.run(environment, seed)) {
          let chars = 0;
          const fresh = rows.filter((row) => {
            const key = keyOf(...slots.map((slot) => row[slot]));
            if (!isNew(seen, key)) return false;
            chars += key.length;
            return true;
          });
          held.add(fresh.length, chars);
          if (environment.budget.spend(rows.length)) await environment.budget.pause();
          if (fresh.length > 0) yield fresh;
        }
      } finally {
        held.release();
      }
    },
    estimate: (environment) => child.estimate(environment),
    gain: (known) => child.gain?.(known) ?? 1,
    withFilter: (filter) => {
      const inner = child.withFilter(filter);
      return inner === undefined ? undefined : distinctNode(inner);
    },
  };
}

function isNew(seen: Set<string>, key: string): boolean {
  const before = seen.size;
  return seen.add(key).size > before;
}

/** It counts rows, so no bindings may be pushed into it. */
export function sliceNode(child: PatternNode, start: number, length: number | undefined): PatternNode {
  return {
    certain: child.certain,
    possible: child.possible,
    pushable: new Set(),
    mentioned: child.mentioned,
    async *run(environment: Environment) {
      let [skip, left] = [start, length ?? Infinity];
      if (left === 0) return;
      for await (const rows of child.run(environment, emptyRow(environment))) {
        const kept: readonly Row[] = rows.slice(skip, skip + left);
        skip = Math.max(0, skip - rows.length);
        left -= kept.length;
        if (kept.length > 0) yield kept;
        if (left <= 0) return;
      }
    },
    estimate: async (environment) => Math.min(await child.estimate(environment), length ?? Infinity),
    withFilter: () => undefined,
  };
}
