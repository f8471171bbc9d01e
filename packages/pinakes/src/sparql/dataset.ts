/**
 * The graphs that a request sees, as a view of its source. Graph names come from the request, quads only from the source, so a graph that
 * is not in the source is empty, whoever names it.
 */
import { defaultGraph, type Quad, type TermText } from "../domain/rdf.ts";
import type { QuadPattern } from "../ports/triple-store.ts";
import { Held, type Budget } from "./budget.ts";
import { sparqlLimits } from "./limits.ts";
import type { QuadSource } from "./types.ts";

/** Graphs merged into one; "all" means all graphs of the source, including the default graph. */
export type GraphSet = readonly TermText[] | "all";

type TriplePattern = Omit<QuadPattern, "g">;

/** The first page is small: many callers need only one quad. */
const firstPageQuads = 64;

export class Dataset {
  readonly default: GraphSet;
  /** "all": every named graph of the source. */
  readonly named: readonly TermText[] | "all";
  readonly #source: QuadSource;
  readonly #budget: Budget;
  readonly #counts = new Map<string, Promise<number>>();

  constructor(
    source: QuadSource,
    budget: Budget,
    graphs: { readonly default: GraphSet; readonly named: readonly TermText[] | "all" },
  ) {
    this.#source = source;
    this.#budget = budget;
    this.default = graphs.default === "all" ? "all" : [...new Set(graphs.default)];
    this.named = graphs.named === "all" ? "all" : [...new Set(graphs.named)];
  }

  /** Triples of the merged graphs, without duplicates. */
  async *triples(graphs: GraphSet, pattern: TriplePattern): AsyncGenerator<readonly Quad[]> {
    const single = graphs !== "all" && graphs.length === 1;
    if (single && this.#source.distinct) yield* this.#pages({ ...pattern, g: graphs[0] });
    else
      yield* this.#once(graphs === "all" ? [pattern] : graphs.map((g) => ({ ...pattern, g })), ({ s, p, o }) =>
        keyOf(s, p, o),
      );
  }

  /** Quads of the named graphs. */
  async *namedQuads(pattern: QuadPattern): AsyncGenerator<readonly Quad[]> {
    if (
      pattern.g !== undefined &&
      (pattern.g === defaultGraph || (this.named !== "all" && !this.named.includes(pattern.g)))
    )
      return;
    const patterns =
      pattern.g === undefined && this.named !== "all" ? this.named.map((g) => ({ ...pattern, g })) : [pattern];
    const pages = this.#source.distinct
      ? this.#all(patterns)
      : this.#once(patterns, ({ s, p, o, g }) => keyOf(s, p, o, g));
    for await (const page of pages)
      yield page.some(({ g }) => g === defaultGraph) ? page.filter(({ g }) => g !== defaultGraph) : page;
  }

  async *#all(patterns: readonly QuadPattern[]): AsyncGenerator<readonly Quad[]> {
    for (const pattern of patterns) yield* this.#pages(pattern);
  }

  async *#once(patterns: readonly QuadPattern[], key: (quad: Quad) => string): AsyncGenerator<readonly Quad[]> {
    const seen = new Set<string>();
    const held = new Held(this.#budget);
    try {
      for await (const page of this.#all(patterns)) {
        let chars = 0;
        const fresh = page.filter((quad) => {
          const size = seen.size;
          const text = key(quad);
          if (seen.add(text).size === size) return false;
          chars += text.length;
          return true;
        });
        held.add(fresh.length, chars);
        if (fresh.length > 0) yield fresh;
      }
    } finally {
      held.release();
    }
  }

  async *#pages(pattern: QuadPattern): AsyncGenerator<readonly Quad[]> {
    let cursor: string | undefined;
    let limit = firstPageQuads;
    do {
      this.#budget.check();
      const page = await this.#source.match(pattern, { limit, cursor });
      if (page.quads.length > 0) yield page.quads;
      ({ cursor } = page);
      limit = sparqlLimits.pageQuadsMax;
    } while (cursor !== undefined);
  }

  /** An estimate; computed once per pattern. */
  async count(graphs: GraphSet | "named", pattern: TriplePattern): Promise<number> {
    const names = graphs === "named" ? this.named : graphs;
    const patterns = names === "all" ? [pattern] : names.map((g) => ({ ...pattern, g }));
    let sum = 0;
    for (const one of patterns) {
      if (sum >= sparqlLimits.estimateQuadsMax) break;
      sum += await this.#count(one);
    }
    return Math.min(sum, sparqlLimits.estimateQuadsMax);
  }

  #count(pattern: QuadPattern): Promise<number> {
    const key = JSON.stringify([pattern.s ?? 0, pattern.p ?? 0, pattern.o ?? 0, pattern.g ?? 0]);
    const known = this.#counts.get(key) ?? this.#source.count(pattern, { max: sparqlLimits.estimateQuadsMax });
    this.#counts.set(key, known);
    return known;
  }

  /** Graphs listed by FROM NAMED belong to the dataset even if they are empty. */
  async *graphNames(): AsyncGenerator<TermText> {
    if (this.named !== "all") {
      yield* this.named;
      return;
    }
    const seen = new Set<TermText>();
    const held = new Held(this.#budget);
    let cursor: string | undefined;
    try {
      do {
        this.#budget.check();
        const page = await this.#source.graphs({ limit: sparqlLimits.pageQuadsMax, cursor });
        for (const name of page.graphs) {
          if (seen.has(name) || name === defaultGraph) continue;
          seen.add(name);
          held.add(1, name.length);
          yield name;
        }
        ({ cursor } = page);
      } while (cursor !== undefined);
    } finally {
      held.release();
    }
  }

  async hasGraph(name: TermText): Promise<boolean> {
    if (this.named !== "all") return this.named.includes(name);
    if (name === defaultGraph || name.startsWith('"')) return false;
    return (await this.#source.match({ g: name }, { limit: 1 })).quads.length > 0;
  }
}

/** Each term is prefixed with its length, so that no two different lists have the same key. */
export function keyOf(...texts: readonly (TermText | undefined)[]): string {
  let key = "";
  for (const text of texts) key += text === undefined ? "-" : `${text.length}:${text}`;
  return key;
}
