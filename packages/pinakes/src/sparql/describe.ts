/**
 * DESCRIBE: the triples whose subject is the resource, in any graph that the request sees, and recursively those of blank nodes among their
 * objects (a "concise bounded description"), since blank nodes cannot be queried by name.
 */
import { defaultGraph, iri, type Quad, type TermText } from "../domain/rdf.ts";
import type { RdfTerm } from "./algebra.ts";
import { Held } from "./budget.ts";
import { keyOf } from "./dataset.ts";
import { emptyRow, type Environment, type PatternNode } from "./node.ts";

export async function* describe(
  environment: Environment,
  node: PatternNode,
  slots: readonly number[],
  fixed: readonly RdfTerm[],
): AsyncGenerator<Quad> {
  const held = new Held(environment.budget);
  const done = new Set<TermText>();
  const told = new Set<string>();
  try {
    for (const term of fixed) yield* about(environment, iri(term.value), done, told, held);
    if (slots.length === 0) return;
    for await (const rows of node.run(environment, emptyRow(environment))) {
      for (const row of rows) {
        for (const slot of slots) {
          const value = row[slot];
          if (value !== undefined) yield* about(environment, value, done, told, held);
        }
      }
    }
  } finally {
    held.release();
  }
}

async function* about(
  environment: Environment,
  start: TermText,
  done: Set<TermText>,
  told: Set<string>,
  held: Held,
): AsyncGenerator<Quad> {
  const open = [start];
  for (let term = open.pop(); term !== undefined; term = open.pop()) {
    if (done.has(term) || term.startsWith('"')) continue;
    done.add(term);
    held.add(1, term.length);
    for await (const { s, p, o } of everywhere(environment, term)) {
      if (o.startsWith("_:")) open.push(o);
      const key = keyOf(s, p, o);
      if (told.has(key)) continue;
      told.add(key);
      held.add(1, key.length);
      yield { s, p, o, g: defaultGraph };
    }
  }
}

async function* everywhere({ dataset, budget }: Environment, s: TermText): AsyncGenerator<Quad> {
  for (const pages of [dataset.triples(dataset.default, { s }), dataset.namedQuads({ s })]) {
    for await (const quads of pages) {
      yield* quads;
      if (budget.spend(quads.length)) await budget.pause();
    }
  }
}
