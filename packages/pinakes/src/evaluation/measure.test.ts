import { describe, expect, it } from "vitest";
import type { SearchInput } from "../knowledge/search/search-input.ts";
import type { SearchHit, SearchResult } from "../knowledge/search/search-result.ts";
import { nameOf, readConfiguration } from "./configuration.ts";
import { mean, ndcgAt, percentile, recallAt, reciprocalRankAt, runQueries } from "./measure.ts";

describe("running judged queries", () => {
  const hit = (document_id: string): SearchHit => ({
    repository_id: "r",
    collection_id: "c",
    document_id,
    chunk_id: "",
    text: "",
    score: 1,
    scores: {},
    metadata: {},
    citation: {
      repository_id: "r",
      collection_id: "c",
      document_id,
      filename: "",
      version: 1,
      start: 0,
      end: 0,
      quote: "",
    },
  });
  const answer: SearchResult = {
    hits: ["b", "a", "b"].map(hit),
    outcome: "ok",
    mode_used: "hybrid",
    timings: { embed_ms: 1, search_ms: 2, total_ms: 3 },
  };
  const run = (search: (input: SearchInput) => Promise<SearchResult>, signal?: AbortSignal) =>
    runQueries({
      search,
      collections: [{ repository: "r", collection: "c" }],
      queries: [{ id: "q", text: "words", relevant: new Map([["a", 1]]) }],
      configuration: { mode: "vector", vector_weight: 0.3 },
      limit: 7,
      documentOf: ({ document_id }) => document_id,
      signal,
    });

  it("searches as configured; a document ranks where its best chunk ranks", async () => {
    const inputs: SearchInput[] = [];
    const [answered] = await run(async (input) => {
      inputs.push(input);
      return answer;
    });
    expect(inputs).toEqual([
      {
        mode: "vector",
        vector_weight: 0.3,
        query: "words",
        collections: [{ repository: "r", collection: "c" }],
        limit: 7,
      },
    ]);
    expect(answered).toMatchObject({ id: "q", ranked: ["b", "a"], searchMs: 2 });
    expect(
      [ndcgAt(10), recallAt(1), recallAt(2), reciprocalRankAt(10)].map(({ name, of }) => [
        name,
        answered === undefined ? NaN : of(answered),
      ]),
    ).toEqual([
      ["ndcg@10", 1 / Math.log2(3)],
      ["recall@1", 0],
      ["recall@2", 1],
      ["mrr@10", 0.5],
    ]);
  });

  it("stops when its signal aborts", async () => {
    await expect(run(async () => answer, AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
  });
});

describe("means and percentiles", () => {
  it("verified by hand", () => {
    expect(mean([1, 2, 6])).toBe(3);
    expect(mean([])).toBe(0);
    const values = [5, 1, 4, 2, 3];
    expect([0, 0.5, 0.8, 0.81, 1].map((share) => percentile(values, share))).toEqual([1, 3, 4, 5, 5]);
    expect(percentile([], 0.5)).toBe(0);
  });
});

describe("configurations", () => {
  it("are accepted unchanged, and named", () => {
    const fields = { mode: "hybrid", fusion: "rrf", vector_weight: 0, diversity: 1 };
    expect(readConfiguration(fields, "--a")).toEqual(fields);
    expect(nameOf(readConfiguration(fields, "--a"))).toBe("hybrid, rrf, vectors 0, diversity 1");
    expect(readConfiguration({}, "--a")).toEqual({});
    expect(nameOf({})).toBe("hybrid");
  });

  it.each([
    [[], /--a: must be an object/],
    [{ weight: 1 }, /--a\.weight: unknown field; known fields are mode, fusion, vector_weight, diversity/],
    [{ mode: "best" }, /--a\.mode: must be hybrid, vector, keyword or graph, got "best"/],
    [{ fusion: "sum" }, /--a\.fusion: must be convex or rrf/],
    [{ vector_weight: 1.01 }, /--a\.vector_weight: must be a number from 0 to 1, got 1\.01/],
    [{ vector_weight: -0.01 }, /--a\.vector_weight: must be/],
    [{ diversity: "1" }, /--a\.diversity: must be a number from 0 to 1, got "1"/],
  ])("refuses %j", (fields, message) => {
    expect(() => readConfiguration(fields, "--a")).toThrow(message);
  });
});
