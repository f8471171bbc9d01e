/** GRAPH: evaluates a pattern in one named graph, or in each of them. */
import type { TermText } from "../../domain/rdf.ts";
import type { PatternTerm } from "./pattern.ts";
import { seedFrom, union, type Environment, type PatternNode, type Row, type Rows } from "../node.ts";

export function graphNode(child: PatternNode, name: PatternTerm): PatternNode {
  const slot = "slot" in name ? name.slot : undefined;
  const own = new Set(slot === undefined ? [] : [slot]);

  async function* run(environment: Environment, seed: Row): Rows {
    const wanted = "text" in name ? name.text : (seed[name.slot] ?? environment.outer?.[name.slot]);
    const names = wanted === undefined ? environment.dataset.graphNames() : only(environment, wanted);
    for await (const graph of names) {
      const inside = { ...environment, active: [graph] };
      for await (const rows of child.run(inside, seedFrom(environment, seed, child))) {
        const named = slot === undefined ? rows : rows.flatMap((row) => withName(row, slot, graph));
        if (named.length > 0) yield named;
      }
    }
  }

  return {
    certain: union(child.certain, own),
    possible: union(child.possible, own),
    pushable: union(child.pushable, own),
    mentioned: union(child.mentioned, own),
    run,
    // With a variable this is a guess: the graphs of the dataset are not counted.
    estimate: (environment) =>
      slot === undefined && "text" in name
        ? child.estimate({ ...environment, active: [name.text] })
        : child.estimate({ ...environment, active: "all" }),
    gain: (known) => child.gain?.(known) ?? 1,
    // A condition outside may use the graph's name, one inside may not; so it is not pushed down.
    withFilter: () => undefined,
  };
}

async function* only({ dataset }: Environment, name: TermText): AsyncGenerator<TermText> {
  if (await dataset.hasGraph(name)) yield name;
}

/** The variable is bound after the pattern was matched (18.6); if the pattern binds it too, both values must agree. */
function withName(row: Row, slot: number, graph: TermText): readonly Row[] {
  if (row[slot] !== undefined && row[slot] !== graph) return [];
  return [row.with(slot, graph)];
}
