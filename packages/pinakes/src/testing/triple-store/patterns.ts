/** Every pattern against brute force, and the equality of terms. */
import fc from "fast-check";
import { expect } from "vitest";
import { blank, defaultGraph, iri, literal, xsd, type Quad } from "../../domain/rdf.ts";
import { quad, sorted, type TripleFixture } from "./fixture.ts";
import { anyQuad, Oracle, patternsOf } from "./oracle.ts";

/** Rows that a page may examine beyond those it returns: one past its end in the default graph, and one in the others. */
const examinedBeyond = 4;

export function patterns(fixture: TripleFixture): void {
  fixture.test(
    "R-TG-73 R-TG-74 R-TG-75 R-TG-76 R-TG-77 R-TG-78 R-TG-79 R-TG-80 R-TG-81 R-TG-89 all 8 triple and 16 quad patterns, in the default graph, a named one and all, equal brute force, and examine no unnecessary row",
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(anyQuad, { minLength: 1, maxLength: 40 }), anyQuad, async (quads, stranger) => {
          const space = await fixture.space();
          const oracle = new Oracle();
          expect(await space.insert(quads)).toEqual(oracle.write({ insert: quads }));
          // One that exists, one that shares some terms with it, and one that may be new to the space.
          const [first, last] = [quads[0] as Quad, quads.at(-1) as Quad];
          const asked = [first, { s: first.s, p: last.p, o: last.o, g: first.g }, stranger].flatMap(patternsOf);
          for (const pattern of asked) {
            const expected = oracle.match(pattern);
            const page = await space.match(pattern);
            expect(sorted(page.quads)).toEqual(sorted(expected));
            expect(page.cursor).toBeUndefined();
            expect(page.examined).toBeLessThanOrEqual(expected.length + examinedBeyond);
            expect(await space.count(pattern)).toBe(expected.length);
          }
          expect((await space.graphs(2)).toSorted()).toEqual(oracle.graphs().toSorted());
          expect(await space.usage()).toEqual(fixture.usage(oracle.usage()));
        }),
        { numRuns: fixture.runs },
      );
    },
  );

  fixture.test(
    "R-TG-81 one row of a thousand is found without examining the others, whichever positions are bound",
    async () => {
      const space = await fixture.space();
      // The needle shares each of its terms, and each pair of them, with rows that do not match.
      const needle = quad("s", "p", "o");
      const hay = Array.from({ length: 150 }, (_, i) => [
        quad("s", "p", `o${i}`),
        quad("s", `p${i}`, "o"),
        quad(`s${i}`, "p", "o"),
        quad("s", "p", "o", `g${i}`),
      ]);
      const named = hay.flatMap((row) => row.slice(0, 3).map((one): Quad => ({ ...one, g: iri("g") })));
      await space.insert([needle, { ...needle, g: iri("g") }, ...hay.flat(), ...named]);
      const stored = await space.all();
      for (const pattern of [...patternsOf(needle), ...patternsOf({ ...needle, g: iri("g") })]) {
        const expected = stored.filter((row) =>
          (["s", "p", "o", "g"] as const).every(
            (place) => pattern[place] === undefined || pattern[place] === row[place],
          ),
        );
        const page = await space.match(pattern, { limit: 10_000 });
        expect(page.quads.length).toBe(expected.length);
        expect(page.examined).toBeLessThanOrEqual(expected.length + examinedBeyond);
        const few = await space.match(pattern, { limit: 3 });
        expect(few.quads.length).toBe(Math.min(3, expected.length));
        expect(few.examined).toBeLessThanOrEqual(few.quads.length + examinedBeyond);
      }
    },
  );

  fixture.test(
    "R-TG-72 a quad inserted twice is one row, within a write and over several, and in two graphs it is two",
    async () => {
      const space = await fixture.space();
      const one = quad("s", "p", "o");
      expect(await space.insert([one, one, { ...one }])).toEqual({ inserted: 1, removed: 0 });
      expect(await space.insert([one])).toEqual({ inserted: 0, removed: 0 });
      expect(await space.insert([{ ...one, g: iri("g") }, one])).toEqual({ inserted: 1, removed: 0 });
      expect(await space.usage()).toEqual({ quads: 2, supports: 0, terms: fixture.terms(4) });
      expect(sorted(await space.all({ s: one.s }))).toEqual(sorted([one, { ...one, g: iri("g") }]));
      expect(await space.remove([one, one])).toEqual({ inserted: 0, removed: 1 });
      expect(await space.all()).toEqual([{ ...one, g: iri("g") }]);
    },
  );

  fixture.test("a write removes first and inserts then, and returns both counts", async () => {
    const space = await fixture.space();
    const [old, fresh] = [quad("s", "p", "old"), quad("s", "p", "new")];
    await space.insert([old]);
    expect(await space.write({ remove: [old], insert: [fresh] })).toEqual({ inserted: 1, removed: 1 });
    expect(await space.write({ remove: [fresh], insert: [fresh] })).toEqual({ inserted: 1, removed: 1 });
    expect(await space.all()).toEqual([fresh]);
    expect(await space.usage()).toEqual({ quads: 1, supports: 0, terms: fixture.terms(3) });
    expect(await space.write({})).toEqual({ inserted: 0, removed: 0 });
  });

  fixture.test(
    "R-TG-84 terms that differ in kind, language, datatype or a single character are different terms",
    async () => {
      const space = await fixture.space();
      const objects = [
        iri("x"),
        literal("x"),
        literal("x", { language: "en" }),
        literal("x", { language: "en-gb" }),
        literal("x", { datatype: `${xsd}integer` }),
        literal("x", { datatype: "x" }),
        blank("x"),
        literal("X"),
        literal("<x>"),
        literal("_:x"),
        literal("x "),
        literal('x"@en'),
        literal(""),
        literal("é"),
        literal("e\u0301"),
        iri("http://x"),
        literal("http://x"),
      ];
      const rows = objects.map((o): Quad => ({ s: iri("s"), p: iri("p"), o, g: defaultGraph }));
      expect(await space.insert(rows)).toEqual({ inserted: rows.length, removed: 0 });
      for (const row of rows) {
        expect(await space.all({ o: row.o })).toEqual([row]);
        expect(await space.all(row)).toEqual([row]);
      }
    },
  );

  fixture.test('R-TG-84 "x" and "x"^^xsd:string are one term, and so are "x"@EN-gb and "x"@en-GB', async () => {
    const space = await fixture.space();
    const rows = [`"x"`, `"x"^^<${xsd}string>`, `"x"@EN-gb`, `"x"@en-GB`].map((o): Quad => ({
      s: iri("s"),
      p: iri("p"),
      o,
      g: defaultGraph,
    }));
    expect(await space.insert(rows)).toEqual({ inserted: 2, removed: 0 });
    expect((await space.all()).map(({ o }) => o).toSorted()).toEqual([
      literal("x"),
      literal("x", { language: "en-gb" }),
    ]);
    for (const [i, { o }] of rows.entries())
      expect((await space.all({ o })).map((row) => row.o)).toEqual([
        i < 2 ? literal("x") : literal("x", { language: "en-gb" }),
      ]);
    expect(await space.insert([rows[1] as Quad], "doc", 3)).toEqual({ inserted: 0, removed: 0 });
    expect(await space.supports(rows.slice(0, 2))).toEqual([
      [{ source: "doc", part: 3 }],
      [{ source: "doc", part: 3 }],
    ]);
    expect(await space.remove([rows[1] as Quad, rows[2] as Quad])).toEqual({ inserted: 0, removed: 2 });
    expect(await space.usage()).toEqual({ quads: 0, supports: 0, terms: 0 });
  });

  fixture.test("a pattern with a term in an impossible position matches nothing", async () => {
    const space = await fixture.space();
    await space.insert([{ s: iri("s"), p: iri("p"), o: literal("x"), g: defaultGraph }]);
    expect(await space.all({ s: literal("x") })).toEqual([]);
    expect(await space.all({ p: blank("p") })).toEqual([]);
    expect(await space.all({ g: literal("x") })).toEqual([]);
    expect(await space.count({ g: literal("x") })).toBe(0);
  });

  fixture.test("a count with a maximum stops there", async () => {
    const space = await fixture.space();
    await space.insert([
      ...Array.from({ length: 20 }, (_, i) => quad("s", "p", `o${i}`)),
      ...Array.from({ length: 20 }, (_, i) => quad("s", "p", "o", `g${i}`)),
    ]);
    expect(await space.count({ s: iri("s") }, { max: 30 })).toBe(30);
    expect(await space.count({ s: iri("s") }, { max: 40 })).toBe(40);
    expect(await space.count({ s: iri("s") }, { max: 41 })).toBe(40);
    expect(await space.count({ g: defaultGraph }, { max: 1 })).toBe(1);
  });
}
