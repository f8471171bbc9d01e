/** A triple pattern: one index range of the source for each row it is joined to, or one for all rows. */
import type { Quad, TermText } from "../../domain/rdf.ts";
import type { RdfTerm, TriplePattern } from "../algebra.ts";
import { isVariable, textOfTerm, type Variables } from "../variables.ts";
import type { Environment, PatternNode, Row, Rows } from "../node.ts";

export type PatternTerm = { readonly text: TermText } | { readonly slot: number };

export function placeOf(term: RdfTerm, variables: Variables): PatternTerm {
  return isVariable(term) ? { slot: variables.slotOf(term) } : { text: textOfTerm(term) };
}

export function valueAt(place: PatternTerm, seed: Row, outer: Row | undefined): TermText | undefined {
  return "text" in place ? place.text : (seed[place.slot] ?? outer?.[place.slot]);
}

/** `graph` is the variable of an enclosing GRAPH; without one the pattern matches in the active graph. */
export function patternNode(
  { subject, predicate, object }: TriplePattern,
  graph: RdfTerm | undefined,
  variables: Variables,
): PatternNode {
  const places = { s: placeOf(subject, variables), p: placeOf(predicate, variables), o: placeOf(object, variables) };
  const g = graph === undefined ? undefined : { slot: variables.slotOf(graph) };
  const slots = new Set(
    [places.s, places.p, places.o, ...(g === undefined ? [] : [g])].flatMap((place) =>
      "slot" in place ? [place.slot] : [],
    ),
  );

  async function* run({ dataset, active, outer, budget, variables: { width } }: Environment, seed: Row): Rows {
    const s = valueAt(places.s, seed, outer);
    const p = valueAt(places.p, seed, outer);
    const o = valueAt(places.o, seed, outer);
    // A literal cannot be a subject, and only an IRI can be a predicate.
    if (s?.startsWith('"') || (p !== undefined && !p.startsWith("<"))) return;
    const pages =
      g === undefined
        ? dataset.triples(active, { s, p, o })
        : dataset.namedQuads({ s, p, o, g: valueAt(g, seed, outer) });
    for await (const quads of pages) {
      const rows: Row[] = [];
      for (const quad of quads) {
        const row = rowOf(quad, width);
        if (row !== undefined) rows.push(row);
      }
      if (budget.spend(quads.length)) await budget.pause();
      if (rows.length > 0) yield rows;
    }
  }

  function rowOf(quad: Quad, width: number): Row | undefined {
    const row = Array.from<TermText | undefined>({ length: width });
    return bind(row, places.s, quad.s) &&
      bind(row, places.p, quad.p) &&
      bind(row, places.o, quad.o) &&
      (g === undefined || bind(row, g, quad.g))
      ? row
      : undefined;
  }

  const constant = (place: PatternTerm, outer: Row | undefined) => ("text" in place ? place.text : outer?.[place.slot]);
  const knownAt = (place: PatternTerm, known: ReadonlySet<number>) => "slot" in place && known.has(place.slot);
  return {
    certain: slots,
    possible: slots,
    pushable: slots,
    mentioned: slots,
    run,
    estimate: ({ dataset, active, outer }) => {
      const pattern = { s: constant(places.s, outer), p: constant(places.p, outer), o: constant(places.o, outer) };
      return dataset.count(g === undefined ? active : "named", pattern);
    },
    withFilter: () => undefined,
    // A subject has few triples, an object some more, a predicate many.
    gain: (known) =>
      (knownAt(places.s, known) ? 1_000 : 1) *
      (knownAt(places.o, known) ? 300 : 1) *
      (knownAt(places.p, known) ? 5 : 1) *
      (g !== undefined && known.has(g.slot) ? 10 : 1),
  };
}

/** A repeated variable must have the same value at each position. */
function bind(row: (TermText | undefined)[], place: PatternTerm, value: TermText): boolean {
  if ("text" in place) return true;
  const known = row[place.slot];
  row[place.slot] = value;
  return known === undefined || known === value;
}
