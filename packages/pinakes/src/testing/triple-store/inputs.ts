/** Accepted input, at each limit and one past it. */
import { expect } from "vitest";
import { defaultGraph, iri, literal, type Quad, type TermText } from "../../domain/rdf.ts";
import type { QuadChange } from "../../ports/triple-store.ts";
import { tripleLimits } from "../../triples/triple-limits.ts";
import { failure, quad, sorted, type TripleFixture } from "./fixture.ts";

export function inputs(fixture: TripleFixture): void {
  fixture.test("a term has at most 32,768 bytes, in every position", async () => {
    const space = await fixture.space();
    const most = tripleLimits.termBytesMax - 2;
    const longest: Quad = {
      s: iri(`a${"s".repeat(most - 1)}`),
      p: iri(`a${"p".repeat(most - 1)}`),
      o: literal(`${"ü".repeat(most / 2 - 1)}ab`),
      g: iri(`a${"g".repeat(most - 1)}`),
    };
    expect(Object.values(longest).map((text: string) => Buffer.byteLength(text))).toEqual(
      Array.from({ length: 4 }, () => tripleLimits.termBytesMax),
    );
    // Alike up to their last character.
    const rows = [longest, { ...longest, o: literal(`${"ü".repeat(most / 2 - 1)}ac`) }];
    expect(await space.insert(rows)).toEqual({ inserted: 2, removed: 0 });
    expect(sorted(await space.all())).toEqual(sorted(rows));
    expect(await space.all({ o: longest.o })).toEqual([longest]);
    expect(await space.all({ g: longest.g, o: longest.o, p: longest.p, s: longest.s })).toEqual([longest]);
    for (const place of ["s", "p", "g"] as const)
      await failure(space.insert([{ ...longest, [place]: iri("x".repeat(most + 1)) }]), "LIMIT_EXCEEDED");
    await failure(space.insert([{ ...longest, o: literal(`${"ü".repeat(most / 2)}a`) }]), "LIMIT_EXCEEDED");
    expect(await space.remove(rows)).toEqual({ inserted: 0, removed: 2 });
    expect(await space.usage()).toEqual({ quads: 0, supports: 0, terms: 0 });
  });

  fixture.test(
    "an invalid term, or one in the wrong position, is INVALID, and nothing of its write is stored",
    async () => {
      const space = await fixture.space();
      const good = quad("s", "p", "o");
      const never: unknown[] = [
        "",
        "x",
        "<>",
        "<a b>",
        "<a",
        "a>",
        '<a">',
        "<a\n>",
        "<a\\>",
        "_:",
        "_:a b",
        "_:a.",
        '_:"',
        '"',
        '"x"@',
        '"x"@e n',
        '"x"^^',
        '"x"^^<>',
        '"x"^^x',
        '"x"y',
        '"\uD800"',
        "<\uDC00>",
        7,
        null,
        undefined,
        {},
      ];
      const bad: [keyof Quad, unknown][] = [
        ...never.flatMap((text): [keyof Quad, unknown][] =>
          (["s", "p", "o", "g"] as const).filter((place) => place !== "g" || text !== "").map((place) => [place, text]),
        ),
        ["s", '"x"'],
        ["p", '"x"'],
        ["p", "_:x"],
        ["g", '"x"'],
      ];
      for (const [place, text] of bad) {
        const row = { ...good, [place]: text as TermText };
        await failure(space.insert([good, row]), "INVALID");
        await failure(space.remove([row]), "INVALID");
        await failure(space.supports([row]), "INVALID");
        await failure(space.asserted([row]), "INVALID");
      }
      for (const text of never.filter((one) => one !== undefined && one !== ""))
        await failure(space.match({ o: text as TermText }), "INVALID");
      for (const change of [
        null,
        7,
        { insert: "x" },
        { insert: [null] },
        { remove: [7] },
        { insert: [], source: "doc" },
      ])
        await failure(space.write(change as unknown as QuadChange), "INVALID");
      await failure(space.match(null as unknown as Quad), "INVALID");
      expect(await space.usage()).toEqual({ quads: 0, supports: 0, terms: 0 });
    },
  );

  fixture.test("a literal may contain any character, U+0000 included, and is found by it", async () => {
    const space = await fixture.space();
    const words = [
      "\0",
      "a\0b",
      "a",
      "ab",
      "\u{10FFFF}0",
      "\u{10FFFF}1",
      "\u{10FFFF}",
      "\u{10FFFF}\0",
      "\uFFFF",
      "\uFFFE",
      "\u0001",
    ];
    const rows = words.map((value) => ({ ...quad("s", "p", "o"), o: literal(value) }));
    expect(await space.insert(rows, "doc", 3)).toEqual({ inserted: words.length, removed: 0 });
    expect(sorted(await space.all())).toEqual(sorted(rows));
    for (const row of rows) expect(await space.all({ o: row.o })).toEqual([row]);
    expect(await space.supports(rows)).toEqual(rows.map(() => [{ source: "doc", part: 3 }]));
    expect(sorted((await space.ofSource("doc")).quads.map((found) => found.quad))).toEqual(sorted(rows));
    expect(await space.mayUse(rows.map(({ o }) => o))).toEqual(rows.map(() => true));
    expect(await space.remove(rows.slice(0, 2))).toEqual({ inserted: 0, removed: 2 });
    expect(sorted(await space.all())).toEqual(sorted(rows.slice(2)));
    // Four bytes and a digit each, as stored.
    const most = Math.floor((tripleLimits.termBytesMax - 2) / 5);
    expect(await space.insert([{ ...quad("s", "p", "o"), o: literal("\0".repeat(most)) }])).toEqual({
      inserted: 1,
      removed: 0,
    });
    await failure(space.insert([{ ...quad("s", "p", "o"), o: literal("\0".repeat(most + 1)) }]), "LIMIT_EXCEEDED");
  });

  fixture.test("labels of blank nodes are as wide as the grammar", async () => {
    const space = await fixture.space();
    // The ends of the grammar's ranges, letters or not: U+00D7 and U+037E between them are excluded.
    const labels = [
      "\u00C0",
      "\u02FF",
      "\u0370",
      "\u1FFF",
      "\u200C",
      "\u218F",
      "\u2C00",
      "\u3001",
      "\uFDCF",
      "\uFFFD",
      "\u{10000}",
      "\u{EFFFF}",
      "a\u203F",
      "a\u00B7",
      "0.-_a",
    ];
    const rows = labels.map((label) => ({ ...quad("s", "p", "o"), o: `_:${label}` }));
    expect(await space.insert(rows)).toEqual({ inserted: labels.length, removed: 0 });
    expect(sorted(await space.all())).toEqual(sorted(rows));
    for (const label of ["\u00D7", "\u037E", "\u203F", "\u00B7", "a\uFFFE", "-a", "a."])
      await failure(space.insert([{ ...quad("s", "p", "o"), o: `_:${label}` }]), "INVALID");
  });

  fixture.test("a source has 1 to 256 bytes, a part is a whole number up to 2,147,483,647", async () => {
    const space = await fixture.space();
    const one = quad("s", "p", "o");
    const longest = "ü".repeat(tripleLimits.sourceBytesMax / 2);
    await space.insert([one], longest, tripleLimits.partMax);
    expect(await space.supports([one])).toEqual([[{ source: longest, part: tripleLimits.partMax }]]);
    expect((await space.ofSource(longest)).quads).toEqual([{ quad: one, parts: [tripleLimits.partMax] }]);
    for (const source of ["", `${longest}x`, "a\0b", "\uD800", 7 as unknown as string]) {
      await failure(space.insert([one], source), "INVALID");
      await failure(space.removeSource(source), "INVALID");
      await failure(space.ofSource(source), "INVALID");
    }
    for (const part of [-1, 0.5, tripleLimits.partMax + 1, Number.NaN])
      await failure(space.insert([one], "doc", part), "INVALID");
    expect(await space.removeSource(longest)).toEqual({ inserted: 0, removed: 1 });
  });

  fixture.test("a write changes at most 50,000 quads, and in one transaction what the engine says", async () => {
    const space = await fixture.space();
    const row = quad("s", "p", "o");
    const rows = Array.from({ length: tripleLimits.writeQuadsMax }, () => row);
    await failure(space.write({ insert: rows, remove: [row] }), "LIMIT_EXCEEDED");
    const { atomicQuadsMax } = fixture.store.capabilities;
    expect(await space.write({ insert: rows.slice(0, atomicQuadsMax), atomic: true })).toEqual({
      inserted: 1,
      removed: 0,
    });
    if (atomicQuadsMax >= tripleLimits.writeQuadsMax) return;
    await failure(
      space.write({ insert: rows.slice(0, atomicQuadsMax), remove: [row], atomic: true }),
      "LIMIT_EXCEEDED",
    );
    const several = Array.from({ length: atomicQuadsMax + 1 }, (_, i) => quad("s", "p", `o${i}`));
    expect(await space.write({ insert: several, remove: [row] })).toEqual({ inserted: several.length, removed: 1 });
    expect(await space.count({})).toBe(several.length);
  });

  fixture.test("pages, lists and steps have their bounds", async () => {
    const space = await fixture.space();
    const { store } = fixture;
    for (const limit of [0, -1, 1.5, Number.NaN, "7" as unknown as number]) {
      await failure(space.match({}, { limit }), "INVALID");
      await failure(space.count({}, { max: limit }), "INVALID");
      await failure(space.ofSource("doc", { limit }), "INVALID");
      await failure(space.purge(limit), "INVALID");
      await failure(store.graphs(space.scope, space.name, { limit }), "INVALID");
      await failure(store.spaces(space.scope, { limit }), "INVALID");
    }
    await space.match({}, { limit: tripleLimits.pageQuadsMax });
    await failure(space.match({}, { limit: tripleLimits.pageQuadsMax + 1 }), "INVALID");
    await space.ofSource("doc", { limit: tripleLimits.pageQuadsMax });
    await failure(space.ofSource("doc", { limit: tripleLimits.pageQuadsMax + 1 }), "INVALID");
    await store.graphs(space.scope, space.name, { limit: tripleLimits.pageGraphsMax });
    await failure(store.graphs(space.scope, space.name, { limit: tripleLimits.pageGraphsMax + 1 }), "INVALID");
    await store.spaces(space.scope, { limit: tripleLimits.pageSpacesMax });
    await failure(store.spaces(space.scope, { limit: tripleLimits.pageSpacesMax + 1 }), "INVALID");
    const rows = Array.from({ length: tripleLimits.supportsQuadsMax }, (_, i) => quad("s", "p", `o${i}`));
    expect(await space.supports(rows)).toEqual(rows.map(() => []));
    await failure(space.supports([...rows, quad("s", "p", "o")]), "LIMIT_EXCEEDED");
    expect(await space.asserted(rows)).toEqual(rows.map(() => false));
    await failure(space.asserted([...rows, quad("s", "p", "o")]), "LIMIT_EXCEEDED");
    await failure(space.asserted(7 as unknown as Quad[]), "INVALID");
    const terms = Array.from({ length: tripleLimits.mayUseTermsMax }, (_, i) => iri(`never-${i}`));
    expect(await space.mayUse(terms)).toEqual(terms.map(() => fixture.mayUse()));
    expect(await space.mayUse([])).toEqual([]);
    await failure(space.mayUse([...terms, iri("s")]), "LIMIT_EXCEEDED");
    await failure(space.mayUse(7 as unknown as TermText[]), "INVALID");
    await failure(space.mayUse(["no term"]), "INVALID");
    await failure(space.purge(tripleLimits.purgeRowsMax + 1), "INVALID");
    expect(await space.purge(tripleLimits.purgeRowsMax)).toEqual({ deleted: 0, done: true });
  });

  fixture.test("R-TG-102 a space's name is 1 to 128 harmless characters", async () => {
    const scope = fixture.tenant();
    const longest = "s".repeat(tripleLimits.spaceNameCharsMax);
    const space = await fixture.space(scope, longest);
    expect(await space.insert([quad("s", "p", "o")])).toEqual({ inserted: 1, removed: 0 });
    for (const name of ["", `${longest}s`, "../x", "a/b", "a'b", 'a"b', "a%00", "a\0b", "a b", "é", "a;--"])
      await failure(fixture.store.open(scope, name), "INVALID");
    for (const name of ["..", "constructor", "__proto__", "a:b"])
      expect(await (await fixture.space(scope, name)).insert([{ ...quad("s", "p", "o"), g: defaultGraph }])).toEqual({
        inserted: 1,
        removed: 0,
      });
  });

  fixture.test("a closed store rejects calls", async () => {
    const another = await fixture.another();
    await another.close();
    await failure(another.match(fixture.tenant(), "s", {}), "UNAVAILABLE");
    await failure(another.open(fixture.tenant(), "s"), "UNAVAILABLE");
    await another.close();
  });
}
