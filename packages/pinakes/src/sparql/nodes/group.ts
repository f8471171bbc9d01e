/** GROUP BY and aggregates: one row per group. Without GROUP BY all rows are one group, even if there are none. */
import type { TermText } from "../../domain/rdf.ts";
import { accumulatorOf, type Accumulator } from "../aggregates.ts";
import { Held } from "../budget.ts";
import { keyOf } from "../dataset.ts";
import type { CompiledExpression } from "../expression-context.ts";
import { evaluateFor } from "./evaluate.ts";
import { lotRows, seedFrom, union, type Environment, type PatternNode, type Row, type Rows } from "../node.ts";

export interface AggregateColumn {
  readonly slot: number;
  readonly aggregator: string;
  readonly distinct: boolean;
  readonly separator: string | undefined;
  /** Undefined for COUNT(*). */
  readonly expression: CompiledExpression | undefined;
}

interface Group {
  readonly keys: Row;
  readonly accumulators: readonly Accumulator[];
  /** Values seen, per aggregate with DISTINCT. */
  readonly seen: readonly (Set<string> | undefined)[];
}

export function groupNode(
  child: PatternNode,
  keys: readonly number[],
  aggregates: readonly AggregateColumn[],
): PatternNode {
  const made = aggregates.map(({ slot }) => slot);
  const keySlots = new Set(keys);
  const among = (set: ReadonlySet<number>) => new Set(keys.filter((slot) => set.has(slot)));
  const rowSlots = [...child.possible];

  async function* run(environment: Environment, seed: Row): Rows {
    const { budget } = environment;
    const held = new Held(budget);
    const groups = new Groups(environment, { keys, aggregates, rowSlots }, held);
    const seeded = seedFrom(environment, seed, child).map((value, slot) => (keySlots.has(slot) ? value : undefined));
    try {
      for await (const rows of child.run(environment, seeded)) {
        for (const row of rows) {
          await groups.add(row);
          if (budget.spend()) await budget.pause();
        }
      }
      let out: Row[] = [];
      for (const row of groups.rows()) {
        out.push(row);
        if (out.length < lotRows) continue;
        yield out;
        out = [];
      }
      if (out.length > 0) yield out;
    } finally {
      held.release();
    }
  }

  return {
    certain: among(child.certain),
    possible: new Set([...keys, ...made]),
    pushable: among(child.pushable),
    mentioned: union(
      child.mentioned,
      new Set(made),
      ...aggregates.map(({ expression }) => expression?.slots ?? new Set<number>()),
    ),
    run,
    estimate: async (environment) => (keys.length === 0 ? 1 : child.estimate(environment)),
    withFilter: () => undefined,
  };
}

interface Grouping {
  readonly keys: readonly number[];
  readonly aggregates: readonly AggregateColumn[];
  /** Key of a row that is grouped; COUNT(DISTINCT *) compares it. */
  readonly rowSlots: readonly number[];
}

class Groups {
  readonly #groups = new Map<string, Group>();
  readonly #environment: Environment;
  readonly #grouping: Grouping;
  readonly #held: Held;

  constructor(environment: Environment, grouping: Grouping, held: Held) {
    this.#environment = environment;
    this.#grouping = grouping;
    this.#held = held;
    if (grouping.keys.length === 0) this.#groups.set("", this.#newGroup([]));
  }

  async add(row: Row): Promise<void> {
    const { keys, aggregates, rowSlots } = this.#grouping;
    const group = this.#groupFor(keys.length === 0 ? "" : keyOf(...keys.map((slot) => row[slot])), row);
    for (const [at, { expression, aggregator }] of aggregates.entries()) {
      const evaluated = expression === undefined ? "*" : evaluateFor(this.#environment, expression, row, new Map());
      const value = evaluated instanceof Promise ? await evaluated : evaluated;
      const key = expression === undefined ? rowSlots.map((slot) => row[slot]) : [value];
      if (!this.#isNew(group.seen[at], key)) continue;
      if (aggregator === "group_concat") this.#held.add(1, value?.length ?? 0);
      group.accumulators[at]?.add(value);
    }
  }

  *rows(): Generator<Row> {
    for (const { keys, accumulators } of this.#groups.values()) {
      const row = keys.slice();
      for (const [at, { slot }] of this.#grouping.aggregates.entries()) row[slot] = accumulators[at]?.result();
      yield row;
    }
  }

  #groupFor(key: string, row: Row): Group {
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const group = this.#newGroup(row);
    this.#groups.set(key, group);
    this.#held.add(1, key.length);
    return group;
  }

  #newGroup(row: Row): Group {
    const { keys, aggregates } = this.#grouping;
    const values = Array.from<TermText | undefined>({ length: this.#environment.variables.width });
    for (const slot of keys) values[slot] = row[slot];
    return {
      keys: values,
      accumulators: aggregates.map(({ aggregator, separator }) => accumulatorOf(aggregator, separator)),
      seen: aggregates.map(({ distinct }) => (distinct ? new Set() : undefined)),
    };
  }

  /** Without DISTINCT, every row is new. */
  #isNew(seen: Set<string> | undefined, values: Row): boolean {
    if (seen === undefined) return true;
    const key = keyOf(...values);
    if (seen.has(key)) return false;
    seen.add(key);
    this.#held.add(1, key.length);
    return true;
  }
}
