import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Bitmap } from "../segment/bitmap.ts";
import { analyzerFor } from "./analyzer.ts";
import { buildTextSections } from "./build-postings.ts";
import { countTerms, keywordSearch, type KeywordSource } from "./keyword-search.ts";
import { segmentOf } from "./testing.ts";

const analyzer = analyzerFor("none");

function sourceOf(
  texts: readonly (string | undefined)[],
  dead: readonly number[] = [],
  allowed?: readonly number[],
): KeywordSource {
  const segment = segmentOf(buildTextSections(texts, analyzer).sections, texts.length);
  return {
    segment,
    dead: bitmapOf(texts.length, dead),
    ...(allowed === undefined ? {} : { allowed: bitmapOf(texts.length, allowed) }),
  };
}

function bitmapOf(size: number, rows: readonly number[]): Bitmap {
  const bitmap = new Bitmap(size);
  for (const row of rows) bitmap.add(row);
  return bitmap;
}

/** Textbook BM25, in the most obvious order of addition. */
function reference(texts: readonly (string | undefined)[], query: string, k: number): { row: number; score: number }[] {
  const rows = texts.map((text) => analyzer.tokens(text ?? ""));
  const withText = rows.filter((row) => row.length > 0);
  const average = withText.reduce((sum, row) => sum + row.length, 0) / withText.length;
  const sets = rows.map((row) => new Set(row));
  const frequency = new Map(analyzer.tokens(query).map((term) => [term, sets.filter((row) => row.has(term)).length]));
  const scored = rows.map((row, i) => {
    let score = 0;
    for (const term of analyzer.tokens(query)) {
      const tf = row.filter((token) => token === term).length;
      const df = frequency.get(term) as number;
      const idf = Math.log(1 + (withText.length - df + 0.5) / (df + 0.5));
      score += (idf * tf * 2.2) / (tf + 1.2 * (0.25 + (0.75 * row.length) / average));
    }
    return { row: i, score };
  });
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => (Math.abs(a.score - b.score) < 1e-9 ? a.row - b.row : b.score - a.score))
    .slice(0, k);
}

function randomTexts(count: number, seed: number): string[] {
  let state = seed;
  const random = (): number => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
  return Array.from({ length: count }, () =>
    Array.from({ length: 3 + Math.floor(random() * 40) }, () => `w${Math.floor(400 ** random()) - 1}`).join(" "),
  );
}

describe("keywordSearch", () => {
  it("returns the rows, order and scores of a brute force BM25, over many windows and blocks", () => {
    const texts = randomTexts(6_000, 7);
    const sources = [sourceOf(texts)];
    for (const query of [
      "w0 w1 w2",
      "w3 w50 w399",
      "w120",
      "w7 w7 w9",
      "w200 w300 w0 w1 w30 w31",
      "nothing w250",
      "nothing",
    ]) {
      for (const k of [1, 10, 250]) {
        const hits = keywordSearch(sources, query, { k, analyzer });
        const expected = reference(texts, query, k);
        expect(hits.map(({ row }) => row)).toEqual(expected.map(({ row }) => row));
        hits.forEach((hit, i) => expect(Math.abs(hit.score / (expected[i]?.score as number) - 1)).toBeLessThan(1e-9));
      }
    }
  });

  const texts = fc.array(
    fc.record({
      text: fc.option(
        fc.array(fc.constantFrom("a", "b", "c", "d", "e", "f"), { maxLength: 9 }).map((words) => words.join(" ")),
        { nil: undefined },
      ),
      source: fc.nat({ max: 4 }),
      dead: fc.boolean(),
      allowed: fc.boolean(),
    }),
    { maxLength: 80 },
  );
  const query = fc
    .array(fc.constantFrom("a", "b", "c", "d", "zz", '"a b"', '"c a d"'), { minLength: 1, maxLength: 6 })
    .map((words) => words.join(" "));

  it("scores bit for bit as if all live rows were in one segment, whatever their distribution and the dead rows", () => {
    fc.assert(
      fc.property(texts, query, fc.integer({ min: 1, max: 12 }), (rows, asked, k) => {
        const parts = [0, 1, 2, 3, 4].map((source) => rows.filter((row) => row.source === source));
        const together = parts.flat().filter((row) => !row.dead);
        const spread = keywordSearch(
          parts.map((part) =>
            sourceOf(
              part.map(({ text }) => text),
              indexesOf(part, ({ dead }) => dead),
              indexesOf(part, ({ allowed }) => allowed),
            ),
          ),
          asked,
          { k, analyzer, textOf: (source, row) => parts[source]?.[row]?.text },
        );
        const one = keywordSearch(
          [
            sourceOf(
              together.map(({ text }) => text),
              [],
              indexesOf(together, ({ allowed }) => allowed),
            ),
          ],
          asked,
          {
            k,
            analyzer,
            textOf: (_, row) => together[row]?.text,
          },
        );
        const found = spread.map(({ source, row, score }) => ({
          row: together.indexOf(parts[source]?.[row] as (typeof together)[0]),
          score,
        }));
        expect(found).toEqual(one.map(({ row, score }) => ({ row, score })));
      }),
      { numRuns: 500 },
    );
  });

  it("does so over segments of very different lengths of text, with many windows", () => {
    const all = [...randomTexts(3_000, 1), ...randomTexts(2_500, 2).map((text) => `${text} ${text} ${text}`)];
    const dead = all.map((_, i) => i).filter((i) => i % 3 === 1);
    const spread = [0, 1, 2].map((part) => ({
      from: [0, 2_900, 3_400][part] as number,
      to: [2_900, 3_400, 5_500][part] as number,
    }));
    const sources = spread.map(({ from, to }) =>
      sourceOf(
        all.slice(from, to),
        dead.filter((i) => i >= from && i < to).map((i) => i - from),
      ),
    );
    const live = all.flatMap((_, i) => (i % 3 === 1 ? [] : [i]));
    const one = [sourceOf(live.map((i) => all[i] as string))];
    for (const asked of ["w0 w5 w100", "w20 w21 w22 w399", "w1"]) {
      const hits = keywordSearch(sources, asked, { k: 20, analyzer });
      const expected = keywordSearch(one, asked, { k: 20, analyzer });
      expect(hits.map(({ source, row, score }) => ({ row: row + (spread[source]?.from as number), score }))).toEqual(
        expected.map(({ row, score }) => ({ row: live[row], score })),
      );
    }
  });

  it("scores bit for bit as if the rows of another collection were here, given its counts", () => {
    fc.assert(
      fc.property(texts, query, fc.integer({ min: 1, max: 12 }), (rows, asked, k) => {
        const collections = [0, 1].map((side) => rows.filter(({ source }) => source % 2 === side));
        const sourcesOf = (part: readonly (typeof rows)[number][]): KeywordSource[] => [
          sourceOf(
            part.map(({ text }) => text),
            indexesOf(part, ({ dead }) => dead),
            indexesOf(part, ({ allowed }) => allowed),
          ),
        ];
        const counts = collections.map((part) => countTerms(sourcesOf(part), asked, analyzer));
        const found = collections.flatMap((part, side) => {
          const elsewhere = counts[1 - side];
          const hits = keywordSearch(sourcesOf(part), asked, {
            k,
            analyzer,
            textOf: (_, row) => part[row]?.text,
            elsewhere,
          });
          return hits.map(({ row, score }) => ({ row: rows.indexOf(part[row] as (typeof rows)[0]), score }));
        });
        const one = keywordSearch(sourcesOf(rows), asked, { k, analyzer, textOf: (_, row) => rows[row]?.text });
        const best = found.toSorted((a, b) => b.score - a.score || a.row - b.row).slice(0, k);
        expect(best).toEqual(one.map(({ row, score }) => ({ row, score })));
      }),
      { numRuns: 500 },
    );
  });

  it("counts live rows, their terms, and the rows of each query term, once however often it is repeated", () => {
    const source = sourceOf(["a b b", "a", undefined, "a b c", ""], [3], [0]);
    const none = { rows: 0, tokens: 0, frequencies: new Map([["a", 0]]) };
    expect(countTerms([source], "b a zz b", analyzer)).toEqual({
      rows: 2,
      tokens: 4,
      frequencies: new Map(Object.entries({ b: 1, a: 2, zz: 0 })),
    });
    expect(countTerms([source, source], "c", analyzer)).toEqual({
      rows: 4,
      tokens: 8,
      frequencies: new Map([["c", 0]]),
    });
    for (const empty of [[], [sourceOf([])], [sourceOf([undefined, ""])], [sourceOf(["a"], [0])]])
      expect(countTerms(empty, "a", analyzer)).toEqual(none);
  });

  it("is unaffected by collections without rows, and finds nothing if only others have the words", () => {
    const sources = [sourceOf(["a b", "a c c", "d"])];
    const empty = { rows: 0, tokens: 0, frequencies: new Map<string, number>() };
    for (const asked of ["a", "a c zz", '"a b" d', "zz"]) {
      const textOf = (): string => "a b";
      const alone = keywordSearch(sources, asked, { k: 5, analyzer, textOf });
      expect(keywordSearch(sources, asked, { k: 5, analyzer, textOf, elsewhere: empty })).toEqual(alone);
    }
    const elsewhere = { rows: 7, tokens: 70, frequencies: new Map([["zz", 7]]) };
    expect(keywordSearch(sources, "zz", { k: 5, analyzer, elsewhere })).toEqual([]);
    expect(keywordSearch([], "zz", { k: 5, analyzer, elsewhere })).toEqual([]);
    expect(keywordSearch([sourceOf([undefined])], "zz", { k: 5, analyzer, elsewhere })).toEqual([]);
  });

  it("ranks rows with a quoted phrase higher, by half, for each phrase", () => {
    const held = ["red big car", "big red car", "big red car and a small green bus", "bus", "blue"];
    const textOf = (_: number, row: number): string | undefined => held[row];
    const score = (asked: string, row: number): number =>
      keywordSearch([sourceOf(held)], asked, { k: 10, analyzer, textOf }).find((hit) => hit.row === row)
        ?.score as number;
    expect(score('"big red" car', 1) / score("big red car", 1)).toBe(1.5);
    expect(score('"big red" car', 0)).toBe(score("big red car", 0));
    expect(score('"big red" “green bus”', 2) / score("big red green bus", 2)).toBe(2.25);
    expect(score('"big red', 1)).toBe(score("big red", 1));
    expect(keywordSearch([sourceOf(held)], '"big red"', { k: 1, analyzer, textOf })[0]?.row).toBe(1);
    expect(keywordSearch([sourceOf(held)], '"big red"', { k: 1, analyzer })[0]?.row).toBe(0);
  });

  it("compares phrases with their stop words, but needs only the others indexed", () => {
    const english = analyzerFor("english");
    const held = ["state and art", "the state of the art", "art state"];
    const { sections } = buildTextSections(held, english);
    const source = { segment: segmentOf(sections, 3) };
    const hits = keywordSearch([source], '"state of the art"', {
      k: 3,
      analyzer: english,
      textOf: (_, row) => held[row],
    });
    expect(hits.map(({ row }) => row)).toEqual([1, 0, 2]);
    expect(keywordSearch([source], '"of the"', { k: 3, analyzer: english, textOf: (_, row) => held[row] })).toEqual([]);
  });

  it("returns nothing without sources, text, terms or a limit", () => {
    expect(keywordSearch([], "a", { k: 5, analyzer })).toEqual([]);
    expect(keywordSearch([sourceOf([])], "a", { k: 5, analyzer })).toEqual([]);
    expect(keywordSearch([sourceOf([undefined, ""])], "a", { k: 5, analyzer })).toEqual([]);
    expect(keywordSearch([sourceOf(["a"])], " - ", { k: 5, analyzer })).toEqual([]);
    expect(keywordSearch([sourceOf(["a"])], "a", { k: 0, analyzer })).toEqual([]);
    expect(keywordSearch([sourceOf(["a"], [0])], "a", { k: 5, analyzer })).toEqual([]);
  });
});

function indexesOf<T>(list: readonly T[], test: (entry: T) => boolean): number[] {
  return list.flatMap((entry, i) => (test(entry) ? [i] : []));
}
