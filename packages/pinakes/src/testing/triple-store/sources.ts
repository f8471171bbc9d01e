/** What a source supports: all of it and nothing else, page by page, from an index. */
import { expect } from "vitest";
import { iri, literal, type Quad } from "../../domain/rdf.ts";
import type { SupportedQuad } from "../../ports/triple-store.ts";
import { tripleLimits } from "../../triples/triple-limits.ts";
import { failure, keyOf, quad, sortedParts, type Space, type TripleFixture } from "./fixture.ts";

/** A step reads a minimum of rows: this many may be read for nothing, and one that belongs to the next page. */
const inVain = tripleLimits.sourceStepRowsMin + 1;

const supportsIn = (quads: readonly SupportedQuad[]): number => quads.reduce((sum, { parts }) => sum + parts.length, 0);

/** Quads in the default and in named graphs, each with the parts 2, 10 and perhaps 7. */
async function fill(space: Space, source: string, count: number): Promise<SupportedQuad[]> {
  const rows = Array.from({ length: count }, (_, i) =>
    quad(`s${i % 17}`, `p${i % 3}`, `${source}${i}`, i % 3 === 0 ? `g${i % 2}` : undefined),
  );
  const some = rows.filter((_, i) => i % 4 === 0);
  await space.insert(rows, source, 10);
  await space.insert(some, source, 7);
  await space.insert(rows, source, 2);
  return rows.map((row, i) => ({ quad: row, parts: i % 4 === 0 ? [2, 7, 10] : [2, 10] }));
}

export function sources(fixture: TripleFixture): void {
  fixture.test(
    "R-TG-128 what a source supports is returned with its parts, each quad once, in pages of any size; nothing of others, and nothing asserted",
    async () => {
      const space = await fixture.space();
      const expected = await fill(space, "doc", 60);
      await fill(space, "do", 20);
      await space.insert((await fill(space, "docs", 20)).map((one) => one.quad));
      // Shared with another source, and asserted too.
      const [first, second] = expected.map((one) => one.quad) as [Quad, Quad];
      await space.insert([first, second], "docs", 99);
      await space.insert([second]);
      for (const limit of [1, 7, 59, 60, 61, 10_000]) {
        const seen: SupportedQuad[] = [];
        let cursor: string | undefined;
        do {
          const page = await space.ofSource("doc", { limit, cursor });
          expect(page.quads.length).toBe(Math.min(limit, expected.length - seen.length));
          seen.push(...page.quads);
          expect(page.cursor === undefined).toBe(seen.length === expected.length);
          cursor = page.cursor;
        } while (cursor !== undefined);
        expect(sortedParts(seen)).toEqual(sortedParts(expected));
      }
      expect(await space.ofSource("nobody")).toEqual({ quads: [], examined: 0 });
      await space.removeSource("doc");
      expect(await space.ofSource("doc")).toEqual({ quads: [], examined: 0 });
      expect(sortedParts((await space.allOfSource("docs")).filter(({ parts }) => parts.includes(99)))).toEqual(
        sortedParts([first, second].map((row) => ({ quad: row, parts: [99] }))),
      );
    },
  );

  fixture.test(
    "R-TG-81 a page of a source examines no more supports than it returns, plus a constant, however large space and source are",
    async () => {
      const space = await fixture.space();
      const expected = await fill(space, "doc", 400);
      await fill(space, "large", 1_500);
      for (const limit of [1, 10, 100, 400]) {
        let seen = 0;
        let cursor: string | undefined;
        do {
          const page = await space.ofSource("doc", { limit, cursor });
          expect(page.examined).toBeLessThanOrEqual(supportsIn(page.quads) + inVain);
          expect(page.examined).toBeGreaterThanOrEqual(supportsIn(page.quads));
          seen += page.quads.length;
          cursor = page.cursor;
        } while (cursor !== undefined && seen < 120);
        expect(seen).toBe(Math.min(expected.length, Math.ceil(120 / limit) * limit));
      }
    },
  );

  fixture.test(
    "R-TG-83 a quad that a source supports throughout is seen once however others insert and remove around it",
    async () => {
      const space = await fixture.space();
      const stays = await fill(space, "doc", 40);
      const goes = Array.from({ length: 40 }, (_, i) => quad(`t${i}`, "p", "o", i % 2 === 0 ? "g" : undefined));
      await space.insert(goes, "doc", 1);
      const seen: SupportedQuad[] = [];
      let cursor: string | undefined;
      for (let n = 0; n === 0 || cursor !== undefined; n += 1) {
        const page = await space.ofSource("doc", { limit: 7, cursor });
        seen.push(...page.quads);
        ({ cursor } = page);
        if (n >= goes.length) continue;
        // Also the one at which the page ended may be removed.
        const ended = page.quads.at(-1)?.quad as Quad;
        const gone = stays.some((one) => keyOf(one.quad) === keyOf(ended)) ? [] : [ended];
        await space.write({
          remove: [goes[n] as Quad, ...gone],
          insert: [quad(`a${n}`, "p", "o")],
          source: { source: "doc", part: 0 },
        });
      }
      const there = new Set(stays.map((one) => keyOf(one.quad)));
      expect(sortedParts(seen.filter((one) => there.has(keyOf(one.quad))))).toEqual(sortedParts(stays));
      expect(new Set(seen.map((one) => keyOf(one.quad))).size).toBe(seen.length);
    },
  );

  fixture.test("a page of a source with very long terms may end early, and the next continues", async () => {
    const space = await fixture.space();
    const rows = Array.from({ length: 600 }, (_, i): Quad => ({
      s: iri("s"),
      p: iri("p"),
      o: literal(`${i} ${"x".repeat(32_000)}`),
      g: "",
    }));
    for (let start = 0; start < rows.length; start += 100)
      await space.insert(rows.slice(start, start + 100), "doc", start);
    const first = await space.ofSource("doc", { limit: 10_000 });
    expect(first.cursor).toBeDefined();
    expect(first.quads.length).toBeLessThan(600);
    expect(sortedParts(await space.allOfSource("doc", 10_000))).toEqual(
      sortedParts(rows.map((row, i) => ({ quad: row, parts: [Math.floor(i / 100) * 100] }))),
    );
  });

  fixture.test(
    "an invalid cursor of a source, or one of a pattern, is INVALID, and it leads to nothing of another source",
    async () => {
      const space = await fixture.space();
      await fill(space, "doc", 5);
      const others = await fill(space, "other", 5);
      const { cursor } = await space.ofSource("doc", { limit: 2 });
      const { cursor: ofPattern } = await space.match({}, { limit: 2 });
      const garbled = Buffer.from(`${Buffer.from(cursor as string, "base64url").toString()}x.;'`).toString("base64url");
      const place = (text: string) => Buffer.from(`source ${text}`).toString("base64url");
      const bad = [
        "",
        "x",
        "%",
        garbled,
        ofPattern as string,
        place(""),
        place("9:"),
        place("1.2.3"),
        place("1.2.3.4.99999999999"),
        7 as unknown as string,
      ];
      for (const one of bad) await failure(space.ofSource("doc", { cursor: one }), "INVALID");
      await failure(space.match({}, { cursor }), "INVALID");
      // For another source it is a valid position, or INVALID.
      const elsewhere = await space.ofSource("other", { cursor }).then(
        ({ quads }) => quads,
        () => [],
      );
      const own = new Set(others.map((one) => keyOf(one.quad)));
      expect(elsewhere.every((one) => own.has(keyOf(one.quad)))).toBe(true);
    },
  );
}
