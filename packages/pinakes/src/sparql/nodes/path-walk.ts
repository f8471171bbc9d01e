/**
 * Property paths (18.4): pairs of nodes that a path connects. Repetitions (`*`, `+`, `?`) return every pair once and terminate on cycles;
 * other paths return a pair once per way.
 *
 * A zero-length path connects a node with itself: every node of the graph, and any term that the query names even if no triple contains it.
 * A value bound by a join stands for a variable, so it must be a node of the graph; `End.strict` marks that.
 */
import type { TermText } from "../../domain/rdf.ts";
import type { PathExpression } from "../algebra.ts";
import { Held } from "../budget.ts";
import { textOfTerm } from "../variables.ts";
import type { Environment } from "../node.ts";

export interface End {
  readonly term: TermText;
  readonly strict: boolean;
}

type Nodes = readonly [TermText, TermText];
type Pairs = AsyncGenerator<Nodes>;

export async function* walk(
  environment: Environment,
  path: PathExpression,
  from: End | undefined,
  to: End | undefined,
): Pairs {
  switch (path.type) {
    case "link":
      yield* steps(environment, from, to, textOfTerm(path.iri), undefined);
      return;
    case "nps":
      yield* steps(environment, from, to, undefined, new Set(path.iris.map(textOfTerm)));
      return;
    case "inv":
      for await (const [s, o] of walk(environment, path.path, to, from)) yield [o, s];
      return;
    case "alt":
      for (const branch of path.input) yield* walk(environment, branch, from, to);
      return;
    case "seq":
      yield* sequence(environment, path.input, from, to);
      return;
    case "ZeroOrOnePath":
    case "ZeroOrMorePath":
    case "OneOrMorePath":
      yield* repeated(environment, path, from, to);
      return;
  }
}

async function* steps(
  { dataset, active, budget }: Environment,
  from: End | undefined,
  to: End | undefined,
  p: TermText | undefined,
  not: ReadonlySet<TermText> | undefined,
): Pairs {
  if (from?.term.startsWith('"')) return;
  for await (const quads of dataset.triples(active, { s: from?.term, p, o: to?.term })) {
    if (budget.spend(quads.length)) await budget.pause();
    for (const quad of quads) if (not?.has(quad.p) !== true) yield [quad.s, quad.o];
  }
}

/** Walks from the known end. Intermediate nodes are nodes of the graph, or the other end. */
async function* sequence(
  environment: Environment,
  paths: readonly PathExpression[],
  from: End | undefined,
  to: End | undefined,
): Pairs {
  if (paths.length === 1) {
    yield* walk(environment, paths[0] as PathExpression, from, to);
    return;
  }
  if (from === undefined && to !== undefined) {
    for await (const [middle, o] of walk(environment, paths.at(-1) as PathExpression, undefined, to)) {
      for await (const [s] of sequence(environment, paths.slice(0, -1), undefined, { term: middle, strict: true }))
        yield [s, o];
    }
    return;
  }
  for await (const [s, middle] of walk(environment, paths[0] as PathExpression, from, undefined)) {
    for await (const [, o] of sequence(environment, paths.slice(1), { term: middle, strict: true }, to)) yield [s, o];
  }
}

type Repeat = Extract<
  PathExpression,
  { path: PathExpression; type: "ZeroOrMorePath" | "OneOrMorePath" | "ZeroOrOnePath" }
>;

async function* repeated(environment: Environment, path: Repeat, from: End | undefined, to: End | undefined): Pairs {
  if (from !== undefined) {
    for await (const o of reached(environment, path, from)) if (to === undefined || to.term === o) yield [from.term, o];
    // The end may be a term that no triple contains: only a zero-length path reaches it, and only from itself, which was checked above.
    return;
  }
  if (to !== undefined) {
    const back: Repeat = { type: path.type, path: { type: "inv", path: path.path } };
    for await (const s of reached(environment, back, to)) yield [s, to.term];
    return;
  }
  for await (const s of starts(environment, path))
    for await (const o of reached(environment, path, { term: s, strict: false })) yield [s, o];
}

/** Every node that the path reaches, once. */
async function* reached(environment: Environment, path: Repeat, start: End): AsyncGenerator<TermText> {
  const { budget } = environment;
  const seen = new Set<TermText>();
  const held = new Held(budget);
  const visit = (term: TermText): boolean => {
    if (seen.has(term)) return false;
    seen.add(term);
    held.add(1, term.length);
    return true;
  };
  try {
    if (path.type !== "OneOrMorePath" && (!start.strict || (await isNode(environment, start.term)))) {
      visit(start.term);
      yield start.term;
    }
    const open: TermText[] = [start.term];
    for (let node = open.shift(); node !== undefined; node = open.shift()) {
      for await (const [, next] of walk(environment, path.path, { term: node, strict: true }, undefined)) {
        if (budget.spend()) await budget.pause();
        if (!visit(next)) continue;
        if (path.type !== "ZeroOrOnePath") open.push(next);
        yield next;
      }
    }
  } finally {
    held.release();
  }
}

/**
 * Possible start nodes of a path with two open ends: every node if it may have zero length, otherwise the nodes where its first step
 * starts.
 */
async function* starts(environment: Environment, path: Repeat): AsyncGenerator<TermText> {
  const seen = new Set<TermText>();
  const held = new Held(environment.budget);
  const pairs =
    path.type === "OneOrMorePath"
      ? walk(environment, path.path, undefined, undefined)
      : steps(environment, undefined, undefined, undefined, undefined);
  try {
    for await (const [s, o] of pairs) {
      for (const term of path.type === "OneOrMorePath" ? [s] : [s, o]) {
        if (seen.has(term)) continue;
        seen.add(term);
        held.add(1, term.length);
        yield term;
      }
    }
  } finally {
    held.release();
  }
}

async function isNode(environment: Environment, term: TermText): Promise<boolean> {
  const { dataset, active } = environment;
  if (!term.startsWith('"'))
    for await (const quads of dataset.triples(active, { s: term })) if (quads.length > 0) return true;
  for await (const quads of dataset.triples(active, { o: term })) if (quads.length > 0) return true;
  return false;
}
