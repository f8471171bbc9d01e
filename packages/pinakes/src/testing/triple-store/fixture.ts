/** What every part of the triple-store suite uses: one store, and one space per test. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { PinakesError, type ErrorCode } from "../../domain/errors.ts";
import { defaultGraph, iri, type Quad, type TermText } from "../../domain/rdf.ts";
import { tenantScope, type Scope } from "../../domain/scope.ts";
import type * as port from "../../ports/triple-store.ts";

export interface TripleSuiteOptions {
  /** Number of random cases per property (default 30). */
  readonly runs?: number | undefined;
  /** Engines whose reads are "eventual": waits until acknowledged writes are visible. */
  readonly settle?: () => Promise<void>;
  /** False for an engine that keeps terms within its quads, where there are no terms to count: its usage says 0. */
  readonly countsTerms?: boolean | undefined;
  /** Milliseconds that one test may take (default 60,000). */
  readonly timeoutMs?: number | undefined;
}

export class TripleFixture {
  readonly runs: number;
  readonly #countsTerms: boolean;
  readonly #settle: () => Promise<void>;
  readonly #timeoutMs: number;
  readonly #open: () => Promise<port.TripleStore>;
  /** Avoids collisions with the spaces of another run on the same server. */
  readonly #run = Math.random().toString(36).slice(2, 10);
  #store: port.TripleStore | undefined;
  #names = 0;

  constructor(
    open: () => Promise<port.TripleStore>,
    { runs = 30, settle = async () => {}, countsTerms = true, timeoutMs = 60_000 }: TripleSuiteOptions,
  ) {
    this.runs = runs;
    this.#settle = settle;
    this.#countsTerms = countsTerms;
    this.#timeoutMs = timeoutMs;
    this.#open = open;
    beforeAll(async () => {
      this.#store = await open();
    });
    afterAll(async () => {
      await this.#store?.close();
    });
  }

  get store(): port.TripleStore {
    if (this.#store === undefined) throw new Error("the store is not open yet");
    return this.#store;
  }

  /** A second store on the same data; the test closes it. */
  another(): Promise<port.TripleStore> {
    return this.#open();
  }

  test(title: string, run: () => Promise<void>): void {
    it(title, run, this.#timeoutMs);
  }

  /** A tenant of its own. */
  tenant(): Scope {
    this.#names += 1;
    return tenantScope(`t${this.#run}-${this.#names}`);
  }

  settle(): Promise<void> {
    return this.#settle();
  }

  /** The expected `usage` for this many distinct terms. */
  terms(count: number): number {
    return this.#countsTerms ? count : 0;
  }

  /** The expected answer for a term, by default one that no quad uses. */
  mayUse(used = false): boolean {
    return used || !this.#countsTerms;
  }

  usage(expected: port.SpaceUsage): port.SpaceUsage {
    return { ...expected, terms: this.terms(expected.terms) };
  }

  /** A new open space, by default of a new tenant. */
  async space(scope: Scope = this.tenant(), name = "s"): Promise<Space> {
    const space = this.unopened(scope, name);
    await space.open();
    return space;
  }

  unopened(scope: Scope = this.tenant(), name = "s"): Space {
    return new Space(this, scope, name);
  }
}

/** One space as its tenant sees it. */
export class Space {
  readonly scope: Scope;
  readonly name: string;
  readonly #fixture: TripleFixture;

  constructor(fixture: TripleFixture, scope: Scope, name: string) {
    this.#fixture = fixture;
    this.scope = scope;
    this.name = name;
  }

  get #store(): port.TripleStore {
    return this.#fixture.store;
  }

  open(): Promise<void> {
    return this.#store.open(this.scope, this.name);
  }

  async write(change: port.QuadChange): Promise<port.QuadChanges> {
    const changes = await this.#store.write(this.scope, this.name, change);
    await this.#fixture.settle();
    return changes;
  }

  insert(insert: readonly Quad[], source?: string, part = 0): Promise<port.QuadChanges> {
    return this.write(source === undefined ? { insert } : { insert, source: { source, part } });
  }

  remove(remove: readonly Quad[]): Promise<port.QuadChanges> {
    return this.write({ remove });
  }

  async removeSource(source: string): Promise<port.QuadChanges> {
    const changes = await this.#store.removeSource(this.scope, this.name, source);
    await this.#fixture.settle();
    return changes;
  }

  match(pattern: port.QuadPattern, options?: port.MatchOptions): Promise<port.QuadPage> {
    return this.#store.match(this.scope, this.name, pattern, options);
  }

  count(pattern: port.QuadPattern, options?: { readonly max?: number }): Promise<number> {
    return this.#store.count(this.scope, this.name, pattern, options);
  }

  supports(quads: readonly Quad[]): Promise<readonly (readonly port.Support[])[]> {
    return this.#store.supports(this.scope, this.name, quads);
  }

  asserted(quads: readonly Quad[]): Promise<readonly boolean[]> {
    return this.#store.asserted(this.scope, this.name, quads);
  }

  mayUse(terms: readonly TermText[]): Promise<readonly boolean[]> {
    return this.#store.mayUse(this.scope, this.name, terms);
  }

  ofSource(source: string, options?: port.MatchOptions): Promise<port.SourcePage> {
    return this.#store.ofSource(this.scope, this.name, source, options);
  }

  usage(): Promise<port.SpaceUsage> {
    return this.#store.usage(this.scope, this.name);
  }

  async fence(): Promise<void> {
    await this.#store.fence(this.scope, this.name);
    await this.#fixture.settle();
  }

  async unfence(): Promise<void> {
    await this.#store.unfence(this.scope, this.name);
    await this.#fixture.settle();
  }

  async purge(limit?: number): Promise<{ readonly deleted: number; readonly done: boolean }> {
    const step = await this.#store.purge(this.scope, this.name, limit === undefined ? {} : { limit });
    await this.#fixture.settle();
    return step;
  }

  /** Every page of it. */
  async all(pattern: port.QuadPattern = {}, limit?: number): Promise<Quad[]> {
    const quads: Quad[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.match(pattern, { limit, cursor });
      quads.push(...page.quads);
      cursor = page.cursor;
    } while (cursor !== undefined);
    return quads;
  }

  /** Every page of what a source supports. */
  async allOfSource(source: string, limit?: number): Promise<port.SupportedQuad[]> {
    const quads: port.SupportedQuad[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.ofSource(source, { limit, cursor });
      quads.push(...page.quads);
      cursor = page.cursor;
    } while (cursor !== undefined);
    return quads;
  }

  /** Every page of the names of graphs. */
  async graphs(limit = 1_000): Promise<TermText[]> {
    const graphs: TermText[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.#store.graphs(this.scope, this.name, { limit, cursor });
      expect(page.graphs.length).toBeLessThanOrEqual(limit);
      graphs.push(...page.graphs);
      cursor = page.cursor;
    } while (cursor !== undefined);
    return graphs;
  }
}

/** A quad of short IRIs, by default in the default graph. */
export function quad(s: string, p: string, o: string, g?: string): Quad {
  return { s: iri(s), p: iri(p), o: iri(o), g: g === undefined ? defaultGraph : iri(g) };
}

export function keyOf({ s, p, o, g }: Quad): string {
  return JSON.stringify([s, p, o, g]);
}

/** For comparing sets: deduplicated and sorted. */
export function sorted(quads: Iterable<Quad>): string[] {
  return Array.from(quads, keyOf).toSorted();
}

/** The same for quads with their parts. */
export function sortedParts(quads: Iterable<port.SupportedQuad>): string[] {
  return Array.from(quads, (one) => `${keyOf(one.quad)} ${one.parts.join(" ")}`).toSorted();
}

export async function failure(promise: Promise<unknown>, code: ErrorCode): Promise<void> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(PinakesError.isInstance(error) ? error.code : error).toBe(code);
}
