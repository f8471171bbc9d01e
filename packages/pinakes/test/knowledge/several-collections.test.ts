/** Searches over several collections: one order, as if a single collection held everything, however small one of them is. */
import { describe, expect, it } from "vitest";
import { engines, newPlace, openTestPinakes, uploaded, type Place } from "./support/test-pinakes.ts";
import { forAllTests } from "../support/for-tests.ts";

const animals = [
  "goats",
  "cows",
  "camels",
  "hens",
  "otters",
  "moles",
  "geese",
  "bears",
  "wolves",
  "mice",
  "hares",
  "toads",
];
const samples = animals.flatMap((animal, i) => [
  `How ${animal} drink: they drink, and drink again, when ${["rain", "dew", "snow"][i % 3]} falls on the ${["hill", "field"][i % 2]}.`,
  `What ${animal} eat on the ${["hill", "field"][i % 2]} when ${["rain", "dew", "snow"][i % 3]} falls, and where ${animal} sleep.`,
]);
const zebra = "Zebras are striped. They drink at dusk and graze by night.";

describe.each(engines)("searching several collections on %s", (engine) => {
  const test = forAllTests(() => openTestPinakes(engine));

  async function placeWith(texts: readonly string[]): Promise<Place> {
    const place = await newPlace(test);
    await Promise.all(texts.map((text, i) => uploaded(place, `f${i}.txt`, text)));
    return place;
  }

  async function ask(places: readonly Place[], query: string, more: object = {}) {
    const collections = places.map(({ repository, collection }) => ({ repository, collection }));
    return (await test.knowledge.search.run(test.admin, { query, collections, limit: 100, ...more })).hits;
  }

  it("the only relevant document of a small collection ranks before those of a larger one that share a common word", async () => {
    const [large, tiny] = [await placeWith(samples), await placeWith([zebra])];
    for (const query of [
      "when do zebras drink",
      "when do zebras drink at the waterhole, and what falls on the savannah",
    ]) {
      for (const mode of ["hybrid", "keyword"]) {
        for (const places of [
          [large, tiny],
          [tiny, large],
        ]) {
          const hits = await ask(places, query, { mode });
          expect(hits[0]?.text, `${mode}: ${query}`).toBe(zebra);
          expect(hits.length).toBeGreaterThan(animals.length);
        }
      }
      expect((await ask([large, tiny], query, { fusion: "rrf" }))[0]?.text).toBe(zebra);
    }
  });

  it("a randomly distributed corpus has the scores and the order of one collection by keywords, and the same best hits with vectors", async () => {
    const corpus = [...samples, zebra];
    const whole = await placeWith(corpus);
    let state = 20_300_131;
    const random = () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
    for (const share of [0.05, 0.5]) {
      const sides = corpus.map(() => (random() < share ? 0 : 1));
      expect(new Set(sides).size).toBe(2);
      const spread = await Promise.all([0, 1].map((side) => placeWith(corpus.filter((_, i) => sides[i] === side))));
      for (const query of ["zebras graze", "where toads sleep", "camels and dew", "wolves drink", "striped otters"]) {
        const scores = async (places: readonly Place[]) =>
          new Map(
            (await ask(places, query, { mode: "keyword" })).map(({ text, score, scores: { keyword } }) => [
              text,
              [score, keyword],
            ]),
          );
        const expected = await scores([whole]);
        expect(expected.size).toBeGreaterThan(0);
        expect(await scores(spread), query).toEqual(expected);
        const best = (await ask([whole], query))[0]?.text;
        const found = (await ask(spread, query, { limit: 3 })).map(({ text }) => text);
        expect(found, query).toContain(best);
      }
    }
  });

  it("with additional empty collections the hits, scores and order stay the same", async () => {
    const [one, unused, emptied] = [
      await placeWith([...samples.slice(0, 6), zebra]),
      await placeWith([]),
      await placeWith([]),
    ];
    const { document_id } = await uploaded(emptied, "gone.txt", zebra);
    await test.knowledge.documents.delete(test.admin, emptied.repository, emptied.collection, document_id);
    await expect.poll(() => ask([emptied], "zebras", { mode: "keyword" })).toEqual([]);
    for (const mode of ["hybrid", "keyword", "vector"]) {
      const alone = await ask([one], '"they drink" when zebras', { mode });
      expect(alone.length).toBeGreaterThan(1);
      expect(await ask([one, unused], '"they drink" when zebras', { mode })).toEqual(alone);
      await expect.poll(() => ask([emptied, one, unused], '"they drink" when zebras', { mode })).toEqual(alone);
    }
    expect(await ask([unused, emptied], "zebras")).toEqual([]);
  });

  it("a query of unknown words finds nothing, and is ranked by vectors alone if all candidates are requested; min_score applies to the returned score", async () => {
    const places = [await placeWith(samples.slice(0, 4)), await placeWith([zebra])];
    expect(await ask(places, "xylophon quartz", { mode: "keyword" })).toEqual([]);
    expect(await ask(places, "xylophon quartz")).toEqual([]);
    const hits = await ask(places, "xylophon quartz", { min_score: 0 });
    expect(hits).toHaveLength(5);
    for (const { score, scores } of hits) {
      expect(score).toBeGreaterThanOrEqual(0);
      expect(scores).toEqual({ vector: expect.any(Number) as number, fused: expect.any(Number) as number });
    }
    const drinking = await ask(places, "zebras drink", { mode: "keyword" });
    const [first, second] = drinking.map(({ score }) => score) as [number, number];
    expect(first).toBeGreaterThan(second);
    expect(await ask(places, "zebras drink", { mode: "keyword", min_score: first })).toEqual(drinking.slice(0, 1));
    expect(await ask(places, "zebras drink", { mode: "keyword", min_score: first + 1e-9 })).toEqual([]);
  });
});
