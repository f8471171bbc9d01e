/** Who keeps a quad alive, and that nothing else stays. */
import { expect } from "vitest";
import { iri, literal, type Quad } from "../../domain/rdf.ts";
import { quad, sorted, type TripleFixture } from "./fixture.ts";

export function supporting(fixture: TripleFixture): void {
  const one = quad("s", "p", "o");
  const two = quad("s", "p", "o", "g");

  fixture.test(
    "R-TG-129 a quad stays while one of its sources does, and is removed with the last, in any order of removal",
    async () => {
      for (const order of [
        ["a", "b", "c"],
        ["c", "a", "b"],
        ["b", "c", "a"],
      ]) {
        const space = await fixture.space();
        expect(await space.insert([one, two], "a", 1)).toEqual({ inserted: 2, removed: 0 });
        expect(await space.insert([one], "b", 2)).toEqual({ inserted: 0, removed: 0 });
        expect(await space.insert([one, two], "c", 0)).toEqual({ inserted: 0, removed: 0 });
        expect((await space.usage()).supports).toBe(5);
        let removed = 0;
        for (const source of order) {
          removed += (await space.removeSource(source)).removed;
          const left = order.slice(order.indexOf(source) + 1);
          const kept = [...(left.length > 0 ? [one] : []), ...(left.some((name) => name !== "b") ? [two] : [])];
          expect(sorted(await space.all())).toEqual(sorted(kept));
        }
        expect(removed).toBe(2);
        expect(await space.usage()).toEqual({ quads: 0, supports: 0, terms: 0 });
      }
    },
  );

  fixture.test("R-TG-129 an asserted quad outlives its sources, whichever came first", async () => {
    const first = await fixture.space();
    await first.insert([one]);
    await first.insert([one], "a");
    const then = await fixture.space();
    await then.insert([one], "a");
    await then.insert([one]);
    const between = await fixture.space();
    await between.insert([one], "a");
    await between.insert([one]);
    await between.insert([one], "b");
    await between.removeSource("b");
    for (const space of [first, then, between]) {
      expect(await space.supports([one])).toEqual([[{ source: "a", part: 0 }]]);
      expect(await space.asserted([one])).toEqual([true]);
      expect(await space.removeSource("a")).toEqual({ inserted: 0, removed: 0 });
      expect(await space.all()).toEqual([one]);
      expect(await space.usage()).toEqual({ quads: 1, supports: 0, terms: fixture.terms(3) });
      // And new sources do not take it over.
      await space.insert([one], "z");
      await space.removeSource("z");
      expect(await space.all()).toEqual([one]);
    }
  });

  fixture.test("R-TG-129 a quad is asserted, supported, both or neither, and reads return which", async () => {
    const space = await fixture.space();
    const rows = ["asserted", "supported", "asserted then supported", "supported then asserted"].flatMap((name) => [
      { ...one, o: literal(name) },
      { ...two, o: literal(name) },
    ]);
    const [asserted, supported, first, then] = [rows.slice(0, 2), rows.slice(2, 4), rows.slice(4, 6), rows.slice(6, 8)];
    await space.insert([...asserted, ...first]);
    await space.insert([...supported, ...first, ...then], "doc", 3);
    await space.insert(then);
    const stranger = quad("never", "was", "here");
    const asked = [...supported, ...rows, stranger, { ...two, o: literal("neither") }];
    const told = [false, false, true, true, false, false, true, true, true, true, false, false];
    expect(await space.asserted(asked)).toEqual(told);
    // One graph says nothing about another.
    expect(await space.asserted([{ ...one, o: literal("asserted"), g: iri("h") }])).toEqual([false]);
    expect(await space.asserted([])).toEqual([]);
    await using another = await fixture.another();
    expect(await another.asserted(space.scope, space.name, asked)).toEqual(told);
    // Removed, and found again: the earlier assertion is gone.
    await space.remove([...first, ...then]);
    expect(await space.asserted([...first, ...then])).toEqual([false, false, false, false]);
    await space.insert([...first, ...then], "doc", 3);
    expect(await space.asserted([...first, ...then])).toEqual([false, false, false, false]);
    await space.removeSource("doc");
    expect(await space.asserted(asserted)).toEqual([true, true]);
    expect(sorted(await space.all())).toEqual(sorted(asserted));
  });

  fixture.test("R-TG-131 the same from the same source again changes nothing, and each chunk is returned", async () => {
    const space = await fixture.space();
    for (let i = 0; i < 2; i += 1) {
      await space.insert([one, two], "doc", 2);
      await space.insert([one], "doc", 1);
      await space.insert([one], "Doc", 7);
    }
    expect(await space.usage()).toEqual({ quads: 2, supports: 4, terms: fixture.terms(4) });
    const stranger = quad("never", "was", "here");
    expect(await space.supports([two, stranger, one])).toEqual([
      [{ source: "doc", part: 2 }],
      [],
      [
        { source: "Doc", part: 7 },
        { source: "doc", part: 1 },
        { source: "doc", part: 2 },
      ],
    ]);
    await space.removeSource("doc");
    expect(await space.all()).toEqual([one]);
    expect((await space.usage()).supports).toBe(1);
  });

  fixture.test("a removed quad is gone whatever supports it, and so are its supports", async () => {
    const space = await fixture.space();
    await space.insert([one, two], "a");
    await space.insert([one]);
    expect(await space.remove([one])).toEqual({ inserted: 0, removed: 1 });
    expect(await space.usage()).toEqual({ quads: 1, supports: 1, terms: fixture.terms(4) });
    expect(await space.supports([one])).toEqual([[]]);
    await space.insert([one], "b");
    expect(await space.removeSource("b")).toEqual({ inserted: 0, removed: 1 });
    expect(await space.all()).toEqual([two]);
  });

  fixture.test(
    "R-TG-129 a term is removed with the last quad that uses it, in any position, and returns when used again",
    async () => {
      const space = await fixture.space();
      // The term "x" is in every position.
      const rows = [
        quad("x", "p", "o"),
        quad("s", "x", "o"),
        quad("s", "p", "x"),
        quad("s", "p", "o", "x"),
        quad("x", "x", "x", "x"),
      ];
      await space.insert(rows);
      for (const [i, row] of rows.entries()) {
        expect(await space.usage()).toMatchObject({ quads: rows.length - i });
        await space.remove([row]);
        const terms = new Set(rows.slice(i + 1).flatMap(({ s, p, o, g }) => [s, p, o, g]));
        terms.delete("");
        expect((await space.usage()).terms).toBe(fixture.terms(terms.size));
      }
      await space.insert(rows);
      expect(sorted(await space.all({ s: iri("x") }))).toEqual(sorted([rows[0], rows[4]] as Quad[]));
      expect((await space.usage()).terms).toBe(fixture.terms(4));
      expect(await space.removeSource("nobody")).toEqual({ inserted: 0, removed: 0 });
    },
  );

  fixture.test("removing a source with many quads removes them all, and leaves those of its neighbours", async () => {
    const space = await fixture.space();
    const rows = Array.from({ length: 2_500 }, (_, i): Quad => ({
      s: iri(`s${i % 100}`),
      p: iri("p"),
      o: literal(`${i}`),
      g: i % 3 === 0 ? iri("g") : "",
    }));
    for (let start = 0; start < rows.length; start += 500)
      await space.insert(rows.slice(start, start + 500), "big", start);
    const shared = rows.slice(0, 10);
    await space.insert(shared, "bi");
    await space.insert(rows.slice(10, 20), "bigger");
    expect(await space.removeSource("big")).toEqual({ inserted: 0, removed: 2_480 });
    expect(sorted(await space.all())).toEqual(sorted(rows.slice(0, 20)));
    expect(await space.usage()).toMatchObject({ quads: 20, supports: 20 });
  });
}
