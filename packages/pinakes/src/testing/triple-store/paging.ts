/** Pages: every row once, in any size, while others write. */
import fc from "fast-check";
import { expect } from "vitest";
import { defaultGraph, iri, literal, type Quad } from "../../domain/rdf.ts";
import type { QuadPattern } from "../../ports/triple-store.ts";
import { failure, keyOf, quad, sorted, type TripleFixture } from "./fixture.ts";
import { anyQuad, Oracle, patternsOf } from "./oracle.ts";

export function paging(fixture: TripleFixture): void {
  fixture.test(
    "R-TG-83 pages of any size visit every row of every pattern once, with a cursor exactly while there is more",
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(anyQuad, { minLength: 1, maxLength: 30 }),
          fc.integer({ min: 1, max: 8 }),
          async (quads, limit) => {
            const space = await fixture.space();
            const oracle = new Oracle();
            oracle.write({ insert: quads });
            await space.insert(quads);
            for (const pattern of patternsOf(quads[0] as Quad)) {
              const expected = oracle.match(pattern);
              const seen: Quad[] = [];
              let cursor: string | undefined;
              do {
                const page = await space.match(pattern, { limit, cursor });
                expect(page.quads.length).toBe(Math.min(limit, expected.length - seen.length));
                seen.push(...page.quads);
                expect(page.cursor === undefined).toBe(seen.length === expected.length);
                cursor = page.cursor;
              } while (cursor !== undefined);
              expect(sorted(seen)).toEqual(sorted(expected));
            }
          },
        ),
        { numRuns: Math.ceil(fixture.runs / 3) },
      );
    },
  );

  fixture.test("R-TG-83 an unchanged quad is seen once however others insert and remove around it", async () => {
    const patterns: QuadPattern[] = [
      {},
      { s: iri("s") },
      { p: iri("p") },
      { o: iri("o") },
      { p: iri("p"), o: iri("o") },
      { g: iri("g") },
      { g: defaultGraph },
    ];
    const space = await fixture.space();
    const stays = Array.from({ length: 40 }, (_, i) => [
      quad("s", "p", `o${i}`),
      quad(`s${i}`, "p", "o"),
      quad("s", `p${i}`, "o", "g"),
      quad("s", "p", `o${i}`, "g"),
    ]).flat();
    const goes = Array.from({ length: 120 }, (_, i) => quad(`t${i}`, "p", "o", i % 2 === 0 ? "g" : undefined));
    let round = 0;
    for (const pattern of patterns) {
      await space.insert([...stays, ...goes]);
      const expected = stays.filter((row) =>
        (["s", "p", "o", "g"] as const).every((place) => pattern[place] === undefined || pattern[place] === row[place]),
      );
      const seen: Quad[] = [];
      let cursor: string | undefined;
      for (let n = 0; n === 0 || cursor !== undefined; n += 1) {
        const page = await space.match(pattern, { limit: 7, cursor });
        seen.push(...page.quads);
        cursor = page.cursor;
        if (n >= goes.length) continue;
        round += 1;
        // Also the row at which the page ended may be removed.
        const ended = page.quads.at(-1);
        const gone = ended !== undefined && !stays.some((row) => keyOf(row) === keyOf(ended)) ? [ended] : [];
        await space.write({
          remove: [goes[n] as Quad, ...gone],
          insert: [quad(`a${round}`, "p", "o"), quad("s", "p", `z${round}`, "g")],
        });
      }
      const counts = new Map<string, number>();
      for (const row of seen) counts.set(keyOf(row), (counts.get(keyOf(row)) ?? 0) + 1);
      for (const row of expected) expect(counts.get(keyOf(row)), `${JSON.stringify(pattern)} ${keyOf(row)}`).toBe(1);
      expect([...counts.values()].every((n) => n === 1)).toBe(true);
    }
  });

  fixture.test("a page with very long terms may end early, and the next continues", async () => {
    const space = await fixture.space();
    const rows = Array.from({ length: 600 }, (_, i): Quad => ({
      s: iri("s"),
      p: iri("p"),
      o: literal(`${i} ${"x".repeat(32_000)}`),
      g: defaultGraph,
    }));
    for (let start = 0; start < rows.length; start += 100) await space.insert(rows.slice(start, start + 100));
    const first = await space.match({}, { limit: 10_000 });
    expect(first.cursor).toBeDefined();
    expect(first.quads.length).toBeLessThan(600);
    expect((await space.all({}, 10_000)).map(keyOf).toSorted()).toEqual(sorted(rows));
  });

  fixture.test("an invalid cursor, or one of a pattern that binds other positions, is INVALID", async () => {
    const space = await fixture.space();
    await space.insert(Array.from({ length: 5 }, (_, i) => quad("s", "p", `o${i}`)));
    const { cursor } = await space.match({ s: iri("s") }, { limit: 2 });
    const garbled = Buffer.from(`${Buffer.from(cursor as string, "base64url").toString()}x.;'`).toString("base64url");
    for (const bad of ["", "x", "%", garbled, 7 as unknown as string])
      await failure(space.match({ s: iri("s") }, { cursor: bad }), "INVALID");
    await failure(space.match({ p: iri("p") }, { cursor }), "INVALID");
    await failure(space.match({}, { cursor }), "INVALID");
    await failure(space.match({ s: iri("s"), g: defaultGraph }, { cursor }), "INVALID");
  });
}
