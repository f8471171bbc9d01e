/**
 * The graphs that a request sees, as a view of its source. Names come from the request; quads only ever from the source, so a graph that is
 * not in it is empty, whoever names it.
 */
import { defaultGraph, type Quad, type TermText } from "../domain/rdf.ts";
import type { QuadPattern } from "../ports/triple-store.ts";
import { Held, type Budget } from "./budget.ts";
import { sparqlLimits } from "./limits.ts";
import type { QuadSource } from "./types.ts";

/** Graphs that are seen together as one; "all" are all of the source, the one without a name included. */
export type GraphSet = readonly TermText[] | "all";

type TriplePattern = Omit<QuadPattern, "g">;

/** The first page is small: many a reader wants one quad only. */
const firstPageQuads = 64;

export class Dataset {
  readonly default: GraphSet;
  /** "all": every graph of the source that has a name. */
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

  /** Triples of graphs seen as one: each once, however many of them hold it. */
  async *triples(graphs: GraphSet, pattern: TriplePattern): AsyncGenerator<readonly Quad[]> {
    const single = graphs !== "all" && graphs.length === 1;
    if (single && this.#source.distinct) yield* this.#pages({ ...pattern, g: graphs[0] });
    else
      yield* this.#once(graphs === "all" ? [pattern] : graphs.map((g) => ({ ...pattern, g })), ({ s, p, o }) =>
        keyOf(s, p, o),
      );
  }

  /** Quads of the graphs with names. */
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

  /** About how many; asked once for each pattern. */
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

  /** Names that FROM NAMED lists are graphs of the dataset even where they are empty. */
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

/** No text of a term can be taken for the end of one and the beginning of the next: each has its length before it. */
export function keyOf(...texts: readonly (TermText | undefined)[]): string {
  let key = "";
  for (const text of texts) key += text === undefined ? "-" : `${text.length}:${text}`;
  return key;
}
