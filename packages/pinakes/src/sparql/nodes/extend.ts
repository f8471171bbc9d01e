/** BIND and `(expression AS ?x)`: adds a variable, which is unbound if the expression is an error. */
import type { TermText } from "../../domain/rdf.ts";
import type { CompiledExpression } from "../expression-context.ts";
import { evaluateFor } from "./evaluate.ts";
import { filterNode } from "./filter.ts";
import { isSubset, seedFrom, union, type Environment, type PatternNode, type Row, type Rows } from "../node.ts";

interface Assignment {
  readonly slot: number;
  readonly expression: CompiledExpression;
}

/** Consecutive BINDs form one node: BNODE("x") is the same in all expressions of a row. */
interface ExtendNode extends PatternNode {
  readonly extended: { readonly child: PatternNode; readonly assignments: readonly Assignment[] };
}

export function extendNode(child: PatternNode, assignment: Assignment): PatternNode {
  const { extended } = child as Partial<ExtendNode>;
  return extended === undefined
    ? make(child, [assignment])
    : make(extended.child, [...extended.assignments, assignment]);
}

function make(child: PatternNode, assignments: readonly Assignment[]): ExtendNode {
  const slots = new Set(assignments.map(({ slot }) => slot));

  async function* run(environment: Environment, seed: Row): Rows {
    for await (const rows of child.run(environment, seedFrom(environment, seed, child))) {
      const out: Row[] = [];
      for (const row of rows) {
        const extended = await extend(environment, row);
        if (extended !== undefined) out.push(extended);
        if (environment.budget.spend()) await environment.budget.pause();
      }
      if (out.length > 0) yield out;
    }
  }

  /** Undefined if the row around an EXISTS has another value for the variable. */
  async function extend(environment: Environment, row: Row): Promise<Row | undefined> {
    const extended = row.slice();
    const blanks = new Map<string, TermText>();
    for (const { slot, expression } of assignments) {
      const result = evaluateFor(environment, expression, extended, blanks);
      const value = result instanceof Promise ? await result : result;
      const around = environment.outer?.[slot];
      if (value !== undefined && around !== undefined && value !== around) return undefined;
      extended[slot] = value;
    }
    return extended;
  }

  return {
    extended: { child, assignments },
    certain: child.certain,
    possible: union(child.possible, slots),
    pushable: child.pushable,
    mentioned: union(child.mentioned, slots, ...assignments.map(({ expression }) => expression.slots)),
    run,
    estimate: (environment) => child.estimate(environment),
    gain: (known) => child.gain?.(known) ?? 1,
    withFilter: (filter) =>
      filter.exists.length === 0 && isSubset(filter.slots, child.certain)
        ? make(filterNode(child, filter), assignments)
        : undefined,
  };
}
