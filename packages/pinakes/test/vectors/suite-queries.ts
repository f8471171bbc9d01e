import { describe, expect, it } from "vitest";
import { compileFilter, type Filter } from "../../src/domain/filter.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { scope } from "./support/machine.ts";
import { codeOf } from "./support/state.ts";
import type { Fixture } from "./suite.ts";

interface Book {
  readonly id: string;
  readonly vector: number[];
  readonly text: string;
  readonly metadata: JsonObject;
}

const subjects = ["whales", "steam engines", "sourdough bread", "sailing ships", "bees"];
const books: Book[] = Array.from({ length: 60 }, (_, i) => ({
  id: `book${i}`,
  vector: [Math.sin(i * 1.7), Math.cos(i * 2.3), Math.sin(i * 0.9 + 1), 0.1 * i - 3],
  text: `Volume ${i} about ${subjects[i % 5]}${i % 7 === 0 ? " and the sea" : ""}`,
  metadata: {
    year: 1900 + i,
    title: `Title ${String(i).padStart(2, "0")}`,
    lang: ["en", "de", "fr"][i % 3] as string,
    tags: i % 2 === 0 ? ["even", `t${i % 5}`] : ["odd"],
    ...(i % 4 === 0 ? { rating: i / 10 } : {}),
    ...(i % 9 === 0 ? { note: null } : {}),
    free: i % 6 === 0,
    place: { city: i % 2 === 0 ? "Kiel" : "Jena" },
  },
}));

const filters: Record<string, Filter> = {
  "a value": { lang: "en" },
  eq: { year: { eq: 1910 } },
  "eq null": { note: { eq: null } },
  ne: { lang: { ne: "en" } },
  "ne of a field that some lack": { rating: { ne: 0.4 } },
  in: { lang: { in: ["de", "fr"] } },
  nin: { year: { nin: [1900, 1901, 1959] } },
  lt: { year: { lt: 1905 } },
  lte: { year: { lte: 1905 } },
  gt: { title: { gt: "Title 50" } },
  gte: { rating: { gte: 4 } },
  "exists: true": { rating: { exists: true } },
  "exists: false": { rating: { exists: false } },
  "contains in a list": { tags: { contains: "t4" } },
  "contains in a text": { title: { contains: "e 1" } },
  boolean: { free: true },
  "a path": { "place.city": "Kiel" },
  and: { and: [{ lang: "en" }, { free: true }] },
  or: { or: [{ year: 1900 }, { lang: "fr", free: true }] },
  not: { not: { lang: "en" } },
  "all together": {
    year: { gte: 1910, lt: 1950 },
    or: [{ lang: "de" }, { not: { tags: { contains: "odd" } } }],
    and: [{ note: { exists: false } }],
  },
  nothing: { year: { gt: 3000 } },
};

const scores: Record<string, (a: readonly number[], b: readonly number[]) => number> = {
  dot,
  cosine: (a, b) => dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b)),
  l2: (a, b) => -Math.sqrt(a.reduce((sum, x, i) => sum + (x - (b[i] as number)) ** 2, 0)),
};

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, x, i) => sum + x * (b[i] as number), 0);
}

export function queryCases(fixture: Fixture): void {
  /** Half of the books in a segment, half in fresh deltas, one row of each replaced or deleted by a later one. */
  async function library(metric: "cosine" | "dot" | "l2"): Promise<string> {
    const { first } = fixture;
    const id = fixture.id();
    await first.create(scope, id, { dims: 4, metric });
    await first.append(scope, id, {
      upsert: [...books.slice(0, 30), { ...(books[40] as Book), vector: [9, 9, 9, 9], text: "outdated whales" }],
    });
    await first.append(scope, id, {
      upsert: [{ id: "deleted", vector: [9, 9, 9, 9], text: "whales whales", metadata: {} }],
    });
    await first.compact(scope, id);
    await first.append(scope, id, { delete: ["deleted"], upsert: books.slice(30, 50) });
    await first.append(scope, id, { upsert: books.slice(50) });
    return id;
  }

  describe("reading", () => {
    it("R-CMP-34 R-CMP-26 vector search ranks as by hand, fresh deltas and segments alike, before and after compaction, for every metric", async () => {
      const { first, second } = fixture;
      for (const metric of ["cosine", "dot", "l2"] as const) {
        const id = await library(metric);
        const score = scores[metric] as (typeof scores)["dot"];
        for (const reader of [first, second]) {
          for (const query of [
            [1, 0, 0, 0],
            [-0.3, 0.8, 0.2, -2],
          ]) {
            const expected = books.toSorted((a, b) => score(query, b.vector) - score(query, a.vector)).slice(0, 12);
            const { hits, mode } = await reader.query(scope, id, {
              vector: query,
              limit: 12,
              recall: 1,
              includeVectors: true,
            });
            expect(mode).toBe("vector");
            expect(hits.map((hit) => hit.id)).toEqual(expected.map((book) => book.id));
            for (const [i, hit] of hits.entries()) {
              expect(hit.score).toBeCloseTo(score(query, (expected[i] as Book).vector), 3);
              expect(hit).toMatchObject({ text: expected[i]?.text, metadata: expected[i]?.metadata });
              expect([...(hit.vector ?? [])].map((x) => x.toFixed(4))).toEqual(
                expected[i]?.vector.map((x) => x.toFixed(4)),
              );
            }
          }
          await second.compact(scope, id);
        }
      }
    });

    it("R-CMP-34 R-CMP-26 keyword search finds the words and nothing that was replaced or deleted; hybrid agrees with both", async () => {
      const { first, second } = fixture;
      const id = await library("cosine");
      for (const reader of [first, second]) {
        const words = await reader.query(scope, id, { text: "whale", limit: 100 });
        expect(words.mode).toBe("keyword");
        expect(words.hits.map((hit) => hit.id).sort()).toEqual(
          books
            .filter(({ text }) => text.includes("whales"))
            .map((book) => book.id)
            .sort(),
        );
        const query = (books[7] as Book).vector;
        const both = await reader.query(scope, id, { text: "sea", vector: query, limit: 5 });
        expect(both.mode).toBe("hybrid");
        expect(both.hits[0]?.id).toBe("book7");
        expect(both.hits[0]?.scores).toMatchObject({
          vector: expect.closeTo(1, 3) as number,
          keyword: expect.any(Number) as number,
        });
        expect((await reader.query(scope, id, { text: "zeppelin" })).hits).toEqual([]);
        expect(
          (await reader.query(scope, id, { vector: query, minScore: 0.9999, recall: 1 })).hits.map((hit) => hit.id),
        ).toEqual(["book7"]);
        await second.compact(scope, id);
      }
    });

    it("keywords of two collections, each given the counts of the other, score as if one held all rows, before and after compaction", async () => {
      const { first, second } = fixture;
      const all = await library("cosine");
      const [few, many] = [fixture.id(), fixture.id()];
      for (const id of [few, many]) await first.create(scope, id, { dims: 4 });
      await first.append(scope, few, { upsert: books.slice(0, 3) });
      await first.append(scope, many, { upsert: books.slice(3) });
      const text = "whales and bees of volume 2 zeppelin";
      for (const reader of [first, second]) {
        const counts = {
          few: await reader.countTerms(scope, few, text),
          many: await reader.countTerms(scope, many, text),
        };
        expect([counts.few.rows, counts.many.rows]).toEqual([3, 57]);
        const { hits } = await reader.query(scope, all, { text, limit: 100 });
        const apart = [
          ...(await reader.query(scope, few, { text, limit: 100, elsewhere: counts.many })).hits,
          ...(await reader.query(scope, many, { text, limit: 100, elsewhere: counts.few })).hits,
        ];
        expect(hits.length).toBeGreaterThan(20);
        expect(new Map(apart.map(({ id, score }) => [id, score]))).toEqual(
          new Map(hits.map(({ id, score }) => [id, score])),
        );
        for (const id of [all, many]) await second.compact(scope, id);
      }
    });

    it("R-CMP-34 every operator of a filter, before ranking, by vector, by keyword and counting, in deltas and segments", async () => {
      const { first, second } = fixture;
      const id = await library("dot");
      for (const reader of [first, second]) {
        for (const [name, filter] of Object.entries(filters)) {
          const matches = compileFilter(filter);
          const expected = books
            .filter(({ metadata }) => matches(metadata))
            .map((book) => book.id)
            .sort();
          const { hits } = await reader.query(scope, id, { vector: [1, 1, 1, 1], filter, limit: 100, recall: 1 });
          expect(hits.map((hit) => hit.id).sort(), name).toEqual(expected);
          expect(await reader.count(scope, id, { filter }), name).toBe(expected.length);
          const words = await reader.query(scope, id, { text: "volume", filter, limit: 100 });
          expect(words.hits.map((hit) => hit.id).sort(), name).toEqual(expected);
        }
        await second.compact(scope, id, { all: true });
      }
    });

    it("R-CMP-25 the other process honours a token; reads without one are strong; a cached view is used only on request", async () => {
      const { first, second } = fixture;
      const id = fixture.id();
      await first.create(scope, id, { dims: 2 });
      expect(await second.count(scope, id)).toBe(0);
      for (let i = 1; i <= 5; i += 1) {
        const { session, seq } = await first.append(scope, id, { upsert: [{ id: `r${i}`, vector: [i, 1] }] });
        const seen = await second.query(scope, id, { vector: [1, 1], session, limit: 10, staleMs: 3_600_000 });
        expect(seen.seq).toBeGreaterThanOrEqual(seq);
        expect(seen.hits).toHaveLength(i);
        expect(await second.count(scope, id)).toBe(i);
        if (i === 3) await first.compact(scope, id);
      }
      await first.append(scope, id, { upsert: [{ id: "r6", vector: [6, 1] }] });
      expect(await second.count(scope, id, { staleMs: 3_600_000 })).toBe(5);
      expect(await second.count(scope, id)).toBe(6);
      expect(await codeOf(second.count(scope, id, { session: "nonsense" }))).toBe("INVALID");
    });
  });
}
