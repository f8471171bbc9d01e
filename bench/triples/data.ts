/**
 * A million triples shaped like a graph of entities: few predicates and classes used often, some entities referenced by very many others.
 */
import { defaultGraph, iri, literal, xsd, type Quad } from "../../packages/pinakes/src/domain/rdf.ts";
import { random } from "../lib/random.ts";

export const triplesMax = Number(process.env["TRIPLES"] ?? 1_000_000);
const perEntity = 10;
const entities = Math.ceil(triplesMax / perEntity);
const base = "http://example.org";

export function entity(n: number): string {
  return iri(`${base}/entity/Q${n}`);
}

const predicate = (n: number): string => iri(`${base}/property/P${n}`);
const rdfType = iri("http://www.w3.org/1999/02/22-rdf-syntax-ns#type");
const label = iri("http://www.w3.org/2000/01/rdf-schema#label");

/** Ten for each entity: its class, its name, and eight facts, most of them about other entities. */
export function* triples(): Generator<Quad> {
  const next = random(42);
  // Low numbers are far more frequent.
  const skewed = (count: number): number => Math.floor(count * next() ** 3);
  for (let n = 0; n < entities; n += 1) {
    const s = entity(n);
    yield { s, p: rdfType, o: iri(`${base}/class/C${skewed(40)}`), g: defaultGraph };
    yield { s, p: label, o: literal(`Entity number ${n}`, { language: "en" }), g: defaultGraph };
    for (let fact = 2; fact < perEntity; fact += 1) {
      const p = skewed(30);
      const o =
        p < 20
          ? entity(skewed(entities))
          : p < 26
            ? iri(`${base}/category/K${skewed(1_000)}`)
            : literal(String(skewed(10_000)), { datatype: `${xsd}integer` });
      yield { s, p: predicate(p), o, g: defaultGraph };
    }
  }
}

/** A sample of the triples for queries: every n-th, so that frequent terms are asked often. */
export function sample(count: number): Quad[] {
  const every = Math.floor(triplesMax / count);
  const found: Quad[] = [];
  let at = 0;
  for (const triple of triples()) {
    if (at % every === (at * 7) % 10 && found.length < count) found.push(triple);
    at += 1;
  }
  return found;
}
