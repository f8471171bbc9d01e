/** A brute-force implementation, and random quads to compare with. */
import fc from "fast-check";
import { blank, defaultGraph, iri, literal, xsd, type Quad, type TermText } from "../../domain/rdf.ts";
import type { QuadChange, QuadPattern, SpaceUsage, Support, SupportedQuad } from "../../ports/triple-store.ts";
import { keyOf } from "./fixture.ts";

interface Entry {
  readonly quad: Quad;
  asserted: boolean;
  readonly supports: Map<string, Support>;
}

export class Oracle {
  readonly #entries = new Map<string, Entry>();

  write({ insert = [], remove = [], source }: QuadChange): { inserted: number; removed: number } {
    let inserted = 0;
    let removed = 0;
    for (const quad of remove) if (this.#entries.delete(keyOf(quad))) removed += 1;
    for (const quad of insert) {
      const key = keyOf(quad);
      const entry = this.#entries.get(key) ?? { quad, asserted: false, supports: new Map<string, Support>() };
      if (!this.#entries.has(key)) inserted += 1;
      this.#entries.set(key, entry);
      if (source === undefined) entry.asserted = true;
      else entry.supports.set(JSON.stringify([source.source, source.part]), source);
    }
    return { inserted, removed };
  }

  removeSource(source: string): { inserted: number; removed: number } {
    let removed = 0;
    for (const [key, { asserted, supports }] of this.#entries) {
      const before = supports.size;
      for (const [name, support] of supports) if (support.source === source) supports.delete(name);
      if (asserted || supports.size > 0 || before === 0) continue;
      this.#entries.delete(key);
      removed += 1;
    }
    return { inserted: 0, removed };
  }

  quads(): Quad[] {
    return Array.from(this.#entries.values(), ({ quad }) => quad);
  }

  match(pattern: QuadPattern): Quad[] {
    return this.quads().filter((quad) =>
      (["s", "p", "o", "g"] as const).every((place) => pattern[place] === undefined || pattern[place] === quad[place]),
    );
  }

  supports(quad: Quad): Support[] {
    return [...(this.#entries.get(keyOf(quad))?.supports.values() ?? [])].toSorted((a, b) =>
      a.source === b.source ? a.part - b.part : a.source < b.source ? -1 : 1,
    );
  }

  asserted(quad: Quad): boolean {
    return this.#entries.get(keyOf(quad))?.asserted === true;
  }

  ofSource(source: string): SupportedQuad[] {
    const parts = (quad: Quad) =>
      this.supports(quad).flatMap((support) => (support.source === source ? [support.part] : []));
    return this.quads()
      .map((quad) => ({ quad, parts: parts(quad) }))
      .filter((one) => one.parts.length > 0);
  }

  usage(): SpaceUsage {
    const quads = this.quads();
    const terms = new Set(quads.flatMap(({ s, p, o, g }) => [s, p, o, g]));
    terms.delete(defaultGraph);
    const supports = [...this.#entries.values()].reduce((sum, entry) => sum + entry.supports.size, 0);
    return { quads: quads.length, supports, terms: terms.size };
  }

  graphs(): TermText[] {
    return [...new Set(this.quads().map(({ g }) => g))].filter((g) => g !== defaultGraph);
  }
}

const words = fc.oneof(
  fc.constantFrom(
    "",
    "x",
    "X",
    " x",
    "http://x",
    '"',
    '\\"',
    '"@en',
    "\n",
    "\r\n",
    "\u2028",
    "é",
    "e\u0301",
    "🜁",
    "<x>",
    "_:x",
    "1",
  ),
  fc.string({ unit: "binary", maxLength: 12 }).filter((text) => !text.includes("\0")),
  fc.integer({ min: 250, max: 3_000 }).map((length) => `long ${"ü".repeat(length)}`),
);
const iris = fc
  .oneof(
    fc.constantFrom("x", "X", "http://x", "http://x/", "urn:é"),
    fc.integer({ min: 0, max: 9 }).map((n) => `urn:${n}`),
  )
  .map(iri);
const blanks = fc.constantFrom("x", "b0", "b.1", "http").map(blank);
const literals = fc.oneof(
  words.map((value) => literal(value)),
  fc.tuple(words, fc.constantFrom("en", "en-gb", "de")).map(([value, language]) => literal(value, { language })),
  fc
    .tuple(words, fc.constantFrom(`${xsd}integer`, `${xsd}date`, "x"))
    .map(([value, datatype]) => literal(value, { datatype })),
);

/** All kinds of terms, few enough that quads share them. */
export const anyQuad: fc.Arbitrary<Quad> = fc.record({
  s: fc.oneof(iris, blanks),
  p: iris,
  o: fc.oneof(iris, blanks, literals),
  g: fc.oneof({ weight: 3, arbitrary: fc.constant(defaultGraph) }, iris, blanks),
});

/** Of a handful of terms, so that quads repeat. */
export const denseQuad: fc.Arbitrary<Quad> = fc.record({
  s: fc.constantFrom(iri("a"), iri("b"), blank("a")),
  p: fc.constantFrom(iri("p"), iri("a")),
  o: fc.constantFrom(iri("a"), iri("b"), literal("a"), literal("a", { language: "en" })),
  g: fc.constantFrom(defaultGraph, defaultGraph, iri("a"), iri("g")),
});

/** All 16 shapes of a pattern for a quad, and the default graph with each of the 8. */
export function patternsOf(quad: Quad): QuadPattern[] {
  const patterns = Array.from({ length: 16 }, (_, shape): QuadPattern => ({
    ...((shape & 1) === 0 ? {} : { s: quad.s }),
    ...((shape & 2) === 0 ? {} : { p: quad.p }),
    ...((shape & 4) === 0 ? {} : { o: quad.o }),
    ...((shape & 8) === 0 ? {} : { g: quad.g }),
  }));
  return [
    ...patterns,
    ...patterns.filter(({ g }) => g === undefined).map((pattern) => ({ ...pattern, g: defaultGraph })),
  ];
}
