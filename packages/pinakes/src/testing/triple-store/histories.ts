/** Random histories against the oracle, and concurrent writers. */
import fc from "fast-check";
import { expect } from "vitest";
import { defaultGraph, iri, type Quad, type TermText } from "../../domain/rdf.ts";
import type { QuadChange } from "../../ports/triple-store.ts";
import { keyOf, quad, sorted, sortedParts, type TripleFixture } from "./fixture.ts";
import { anyQuad, denseQuad, Oracle } from "./oracle.ts";

const sources = fc.constantFrom("a", "b", "A");
const some = fc.array(fc.oneof({ weight: 5, arbitrary: denseQuad }, anyQuad), { maxLength: 6 });
const step = fc.oneof(
  fc.record({
    insert: some,
    source: fc.option(fc.record({ source: sources, part: fc.integer({ min: 0, max: 2 }) }), { nil: undefined }),
  }),
  fc.record({ insert: some, remove: some }),
  fc.record({ remove: some }),
  sources,
);

/** The terms used so far, canonical as the oracle has them. */
function termsOf(
  one: string | { readonly insert?: readonly Quad[]; readonly remove?: readonly Quad[] },
): readonly TermText[] {
  if (typeof one === "string") return [];
  const oracle = new Oracle();
  oracle.write({ insert: [...(one.insert ?? []), ...(one.remove ?? [])] });
  return oracle.quads().flatMap(({ s, p, o, g }) => (g === defaultGraph ? [s, p, o] : [s, p, o, g]));
}

export function histories(fixture: TripleFixture): void {
  fixture.test(
    "R-TG-72 R-TG-129 after any history rows, supports, counts and usage are exact, and every call returned what it changed",
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
          const space = await fixture.space();
          const oracle = new Oracle();
          for (const one of steps) {
            if (typeof one === "string") expect(await space.removeSource(one)).toEqual(oracle.removeSource(one));
            else expect(await space.write(one as QuadChange)).toEqual(oracle.write(one as QuadChange));
            expect(await space.usage()).toEqual(fixture.usage(oracle.usage()));
          }
          const quads = oracle.quads();
          expect(sorted(await space.all())).toEqual(sorted(quads));
          expect(sorted(await space.all({ p: iri("p") }))).toEqual(sorted(oracle.match({ p: iri("p") })));
          expect(sorted(await space.all({ o: iri("a") }))).toEqual(sorted(oracle.match({ o: iri("a") })));
          expect(sorted(await space.all({ g: iri("g") }))).toEqual(sorted(oracle.match({ g: iri("g") })));
          expect(await space.supports(quads)).toEqual(quads.map((row) => oracle.supports(row)));
          expect(await space.asserted(quads)).toEqual(quads.map((row) => oracle.asserted(row)));
          const terms = [...new Set(steps.flatMap(termsOf))];
          const used = new Set(quads.flatMap(({ s, p, o, g }) => [s, p, o, g]));
          expect(await space.mayUse(terms)).toEqual(terms.map((term) => fixture.mayUse(used.has(term))));
          for (const source of ["a", "b", "A"])
            expect(sortedParts(await space.allOfSource(source, 2))).toEqual(sortedParts(oracle.ofSource(source)));
          expect(await space.count({ g: defaultGraph })).toBe(oracle.match({ g: defaultGraph }).length);
          expect((await space.graphs(1)).toSorted()).toEqual(oracle.graphs().toSorted());
        }),
        { numRuns: fixture.runs },
      );
    },
  );

  fixture.test(
    "R-TG-72 many concurrent writers, in two stores over the same data: a set in the end, counted exactly",
    async () => {
      const space = await fixture.space();
      await using another = await fixture.another();
      const rows = Array.from({ length: 60 }, (_, i) =>
        quad(`s${i % 7}`, `p${i % 3}`, `o${i % 11}`, i % 4 === 0 ? `g${i % 2}` : undefined),
      );
      const writes = Array.from({ length: 40 }, (_, i) => {
        const store = i % 2 === 0 ? fixture.store : another;
        const own = quad(`writer${i}`, "p", "o");
        const insert = [...rows.slice(i, i + 20), own];
        return store.write(
          space.scope,
          space.name,
          i % 4 < 2 ? { insert } : { insert, source: { source: `doc${i % 5}`, part: i } },
        );
      });
      const changes = await Promise.all(writes);
      await fixture.settle();
      const expected = new Map(
        [...rows.slice(0, 59), ...Array.from({ length: 40 }, (_, i) => quad(`writer${i}`, "p", "o"))].map((row) => [
          keyOf(row),
          row,
        ]),
      );
      expect(sorted(await space.all())).toEqual(sorted(expected.values()));
      expect(changes.reduce((sum, { inserted }) => sum + inserted, 0)).toBe(expected.size);
      expect((await space.usage()).quads).toBe(expected.size);
      // And all of them remove: each row is removed once.
      const removals = await Promise.all(
        Array.from({ length: 8 }, (_, i) =>
          (i % 2 === 0 ? fixture.store : another).write(space.scope, space.name, {
            remove: [...expected.values()] as Quad[],
          }),
        ),
      );
      await fixture.settle();
      expect(removals.reduce((sum, { removed }) => sum + removed, 0)).toBe(expected.size);
      expect(await space.usage()).toEqual({ quads: 0, supports: 0, terms: 0 });
    },
  );
}
