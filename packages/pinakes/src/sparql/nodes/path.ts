/** A property path between two positions of a pattern. */
import type { TermText } from "../../domain/rdf.ts";
import type { PathExpression, RdfTerm } from "../algebra.ts";
import { textOfTerm, type Variables } from "../variables.ts";
import { lotRows, type Environment, type PatternNode, type Row, type Rows } from "../node.ts";
import { walk, type End } from "./path-walk.ts";
import { placeOf, type PatternTerm } from "./pattern.ts";

export function pathNode(subject: RdfTerm, path: PathExpression, object: RdfTerm, variables: Variables): PatternNode {
  const [from, to] = [placeOf(subject, variables), placeOf(object, variables)];
  const slots = new Set([from, to].flatMap((place) => ("slot" in place ? [place.slot] : [])));
  const predicates = predicatesOf(path);

  async function* run(environment: Environment, seed: Row): Rows {
    let out: Row[] = [];
    for await (const [s, o] of walk(environment, path, endOf(environment, from, seed), endOf(environment, to, seed))) {
      const row = Array.from<TermText | undefined>({ length: environment.variables.width });
      if ("slot" in from) row[from.slot] = s;
      if ("slot" in to && row[to.slot] !== undefined && row[to.slot] !== o) continue;
      if ("slot" in to) row[to.slot] = o;
      out.push(row);
      if (environment.budget.spend()) await environment.budget.pause();
      if (out.length >= lotRows) {
        yield out;
        out = [];
      }
    }
    if (out.length > 0) yield out;
  }

  return {
    certain: slots,
    possible: slots,
    pushable: slots,
    mentioned: slots,
    run,
    estimate: async ({ dataset, active }) => {
      if (predicates === undefined) return dataset.count(active, {});
      let sum = 1;
      for (const p of predicates) sum += await dataset.count(active, { p });
      return sum;
    },
    withFilter: () => undefined,
    gain: (known) => [from, to].reduce((gain, place) => gain * ("slot" in place && known.has(place.slot) ? 100 : 1), 1),
  };
}

/** A term named by the query, or by an EXISTS around it, is a constant; a value from a join stands for a variable. */
function endOf({ outer }: Environment, place: PatternTerm, seed: Row): End | undefined {
  if ("text" in place) return { term: place.text, strict: false };
  const named = outer?.[place.slot];
  if (named !== undefined) return { term: named, strict: false };
  const term = seed[place.slot];
  return term === undefined ? undefined : { term, strict: true };
}

/** The predicates it can use; undefined if any is possible, because it also counts nodes or negates predicates. */
function predicatesOf(path: PathExpression): readonly TermText[] | undefined {
  switch (path.type) {
    case "link":
      return [textOfTerm(path.iri)];
    case "inv":
    case "OneOrMorePath":
      return predicatesOf(path.path);
    case "seq":
    case "alt": {
      const all = path.input.map(predicatesOf);
      return all.some((one) => one === undefined) ? undefined : all.flatMap((one) => one ?? []);
    }
    default:
      return undefined;
  }
}
