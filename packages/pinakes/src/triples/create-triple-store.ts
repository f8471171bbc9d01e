/** A `TripleStore` over any `TripleEngine`: scope, validation, canonical terms, cursors and steps, the same on every engine. */
import { invalid, PinakesError, show } from "../domain/errors.ts";
import type { Quad, TermText } from "../domain/rdf.ts";
import { requireScope, requireSystemScope, type Scope, type SystemScope } from "../domain/scope.ts";
import type { ScrubReport } from "../ports/item-erasure.ts";
import type * as port from "../ports/triple-store.ts";
import { patternShape } from "./match-order.ts";
import { checkSource, prepareChange } from "./prepare-change.ts";
import { sourcePage } from "./source-page.ts";
import { badCursor } from "./space-errors.ts";
import { canonicalTerm, placedTerm, quadsOf, wordsOf } from "./terms.ts";
import type { SpaceKey, TripleEngine } from "./triple-engine.ts";
import { tripleLimits } from "./triple-limits.ts";

export function createTripleStore(engine: TripleEngine): port.TripleStore {
  return new EngineTripleStore(engine);
}

const spacePattern = new RegExp(`^[A-Za-z0-9._:-]{1,${tripleLimits.spaceNameCharsMax}}$`);

class EngineTripleStore implements port.TripleStore {
  readonly capabilities: port.TripleStoreCapabilities;
  readonly #engine: TripleEngine;
  #closed = false;

  constructor(engine: TripleEngine) {
    this.#engine = engine;
    this.capabilities = Object.freeze({ ...engine.capabilities });
  }

  async open(scope: Scope, space: string): Promise<void> {
    await this.#engine.open(this.#key(scope, space));
  }

  async write(scope: Scope, space: string, change: port.QuadChange): Promise<port.QuadChanges> {
    const key = this.#key(scope, space);
    let inserted = 0;
    let removed = 0;
    for (const piece of prepareChange(change, this.capabilities.atomicQuadsMax, this.#engine.writeQuadsMax)) {
      const changes = await this.#engine.write(key, piece);
      inserted += changes.inserted;
      removed += changes.removed;
    }
    return { inserted, removed };
  }

  async removeSource(scope: Scope, space: string, source: string): Promise<port.QuadChanges> {
    const key = this.#key(scope, space);
    checkSource(source);
    let removed = 0;
    for (let done = false; !done;) {
      const step = await this.#engine.removeSource(key, source, tripleLimits.removeSourceRowsMax);
      removed += step.removed;
      done = step.done;
    }
    return { inserted: 0, removed };
  }

  async match(
    scope: Scope,
    space: string,
    pattern: port.QuadPattern,
    options: port.MatchOptions = {},
  ): Promise<port.QuadPage> {
    const key = this.#key(scope, space);
    const checked = checkPattern(pattern);
    const limit = checkBound("limit", options.limit, tripleLimits.pageQuadsMax, tripleLimits.pageQuadsDefault);
    const shape = patternShape(checked);
    const after = options.cursor === undefined ? undefined : openCursor(shape, options.cursor);
    const found = this.#engine.match(key, { pattern: checked, after, limit, charsMax: tripleLimits.pageCharsMax });
    // Does not cost a turn of the event loop if the engine answers synchronously.
    const { quads: kept, next, examined } = found instanceof Promise ? await found : found;
    const quads = quadsOf(kept);
    return next === undefined ? { quads, examined } : { quads, examined, cursor: makeCursor(shape, next) };
  }

  async count(
    scope: Scope,
    space: string,
    pattern: port.QuadPattern,
    options: { readonly max?: number } = {},
  ): Promise<number> {
    const key = this.#key(scope, space);
    const max = options.max === undefined ? undefined : checkBound("max", options.max, Number.MAX_SAFE_INTEGER, 1);
    return this.#engine.count(key, checkPattern(pattern), max);
  }

  async supports(scope: Scope, space: string, quads: readonly Quad[]): Promise<readonly (readonly port.Support[])[]> {
    const key = this.#key(scope, space);
    const found = await this.#engine.supports(key, checkAsked("supports", quads), tripleLimits.supportsOfQuadMax);
    return found.map((supports) =>
      supports.toSorted((a, b) => (a.source === b.source ? a.part - b.part : a.source < b.source ? -1 : 1)),
    );
  }

  async asserted(scope: Scope, space: string, quads: readonly Quad[]): Promise<readonly boolean[]> {
    return this.#engine.asserted(this.#key(scope, space), checkAsked("asserted", quads));
  }

  async mayUse(scope: Scope, space: string, terms: readonly TermText[]): Promise<readonly boolean[]> {
    const key = this.#key(scope, space);
    if (!Array.isArray(terms)) throw invalid(`mayUse takes an array of terms, got ${show(terms)}.`);
    if (terms.length > tripleLimits.mayUseTermsMax)
      throw new PinakesError(
        "LIMIT_EXCEEDED",
        `mayUse takes at most ${tripleLimits.mayUseTermsMax} terms; split them over several calls.`,
      );
    return this.#engine.mayUse(key, terms.map(canonicalTerm));
  }

  async ofSource(
    scope: Scope,
    space: string,
    source: string,
    options: port.MatchOptions = {},
  ): Promise<port.SourcePage> {
    const key = this.#key(scope, space);
    checkSource(source);
    const limit = checkBound("limit", options.limit, tripleLimits.pageQuadsMax, tripleLimits.pageQuadsDefault);
    const after = options.cursor === undefined ? undefined : openCursor(sourceShape, options.cursor);
    const page = await sourcePage((request) => this.#engine.ofSource(key, { source, ...request }), limit, after);
    const { examined, next } = page;
    const quads = page.quads.map(({ quad, parts }) => ({ quad: { ...quad, o: wordsOf(quad.o) }, parts }));
    return next === undefined ? { quads, examined } : { quads, examined, cursor: makeCursor(sourceShape, next) };
  }

  async graphs(
    scope: Scope,
    space: string,
    options: { readonly limit?: number; readonly cursor?: string | undefined } = {},
  ) {
    const key = this.#key(scope, space);
    const limit = checkBound("limit", options.limit, tripleLimits.pageGraphsMax, tripleLimits.pageGraphsMax);
    const after = options.cursor === undefined ? undefined : openCursor(graphsShape, options.cursor);
    const { graphs, next } = await this.#engine.graphs(key, after, limit);
    return next === undefined ? { graphs } : { graphs, cursor: makeCursor(graphsShape, next) };
  }

  async usage(scope: Scope, space: string): Promise<port.SpaceUsage> {
    return this.#engine.usage(this.#key(scope, space));
  }

  async spaces(scope: Scope, options: { readonly limit?: number; readonly cursor?: string | undefined } = {}) {
    const tenant = this.#tenant(scope);
    const limit = checkBound("limit", options.limit, tripleLimits.pageSpacesMax, tripleLimits.pageSpacesMax);
    const after = options.cursor === undefined ? "" : openCursor(spacesShape, options.cursor);
    const { spaces, done } = await this.#engine.spaces(tenant, after, limit);
    const last = spaces.at(-1);
    return done || last === undefined ? { spaces } : { spaces, cursor: makeCursor(spacesShape, last.space) };
  }

  async fence(scope: Scope, space: string): Promise<void> {
    await this.#engine.fence(this.#key(scope, space));
  }

  async unfence(scope: Scope, space: string): Promise<void> {
    await this.#engine.unfence(this.#key(scope, space));
  }

  async purge(
    scope: Scope,
    space: string,
    options: { readonly limit?: number } = {},
  ): Promise<{ readonly deleted: number; readonly done: boolean }> {
    const key = this.#key(scope, space);
    return this.#engine.purge(
      key,
      checkBound("limit", options.limit, tripleLimits.purgeRowsMax, tripleLimits.purgeRowsDefault),
    );
  }

  async scrub(scope: SystemScope): Promise<ScrubReport> {
    requireSystemScope(scope);
    return this.#engine.scrub();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#engine.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #tenant(scope: Scope): string {
    const tenant = requireScope(scope);
    if (this.#closed)
      throw new PinakesError("UNAVAILABLE", "This store is closed; open it again.", { retryable: false });
    return tenant;
  }

  #key(scope: Scope, space: string): SpaceKey {
    const tenant = this.#tenant(scope);
    if (typeof space === "string" && spacePattern.test(space)) return { tenant, space };
    throw invalid(
      `A space's name is 1–${tripleLimits.spaceNameCharsMax} letters, digits, ".", "_", ":" or "-"; got ${show(space)}.`,
    );
  }
}

const graphsShape = "graphs";
const spacesShape = "spaces";
const sourceShape = "source";

function checkAsked(method: string, quads: readonly Quad[]): readonly Quad[] {
  if (!Array.isArray(quads)) throw invalid(`${method} takes an array of quads, got ${show(quads)}.`);
  if (quads.length > tripleLimits.supportsQuadsMax)
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `${method} takes at most ${tripleLimits.supportsQuadsMax} quads; split them over several calls.`,
    );
  return quads.map(checkQuad);
}

function checkQuad(quad: Quad): Quad {
  if (typeof quad !== "object" || quad === null)
    throw invalid(`A quad is an object with s, p, o and g; got ${show(quad)}.`);
  return {
    s: placedTerm("s", quad.s),
    p: placedTerm("p", quad.p),
    o: placedTerm("o", quad.o),
    g: placedTerm("g", quad.g),
  };
}

/** A term in an impossible position, such as a literal as a subject, is valid in a pattern: it matches nothing. */
function checkPattern(pattern: port.QuadPattern): port.QuadPattern {
  if (typeof pattern !== "object" || pattern === null)
    throw invalid(`A pattern is an object with any of s, p, o and g; got ${show(pattern)}.`);
  const { s, p, o, g } = pattern;
  return {
    s: s === undefined ? undefined : canonicalTerm(s),
    p: p === undefined ? undefined : canonicalTerm(p),
    o: o === undefined ? undefined : canonicalTerm(o),
    g: g === undefined || g === "" ? g : canonicalTerm(g),
  };
}

function checkBound(name: string, value: number | undefined, max: number, otherwise: number): number {
  if (value === undefined) return otherwise;
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw invalid(`${name}: must be a whole number from 1 to ${max}, got ${show(value)}.`);
}

function makeCursor(shape: string, place: string): string {
  return Buffer.from(`${shape} ${place}`).toString("base64url");
}

function openCursor(shape: string, cursor: string): string {
  const text = typeof cursor === "string" ? Buffer.from(cursor, "base64url").toString() : "";
  if (!text.startsWith(`${shape} `)) throw badCursor();
  return text.slice(shape.length + 1);
}
