import { describe, expect, it } from "vitest";
import { meanQuality, ndcg, recall, reciprocalRank } from "./metrics.ts";

const yes = (...ids: readonly string[]): Map<string, number> => new Map(ids.map((id) => [id, 1]));

describe("retrieval metrics: nDCG", () => {
  it("is 1 for the best order and 0 if nothing relevant is found", () => {
    expect(ndcg(["a", "b", "x"], yes("a", "b"), 10)).toBe(1);
    expect(ndcg(["x", "y"], yes("a", "b"), 10)).toBe(0);
    expect(ndcg([], yes("a"), 10)).toBe(0);
  });

  it("discounts by rank: one relevant document at rank 3 is worth 1 / log2(4) = 0.5", () => {
    expect(ndcg(["x", "y", "a"], yes("a"), 10)).toBeCloseTo(0.5, 12);
  });

  it("uses the grades: verified by hand", () => {
    // Found: 1/log2(2) + 0/log2(3) + 3/log2(4) = 1 + 0 + 1.5 = 2.5. Best: 3/1 + 2/1.5849625 + 1/2 = 4.7618595.
    const relevant = new Map([
      ["a", 3],
      ["b", 2],
      ["c", 1],
    ]);
    expect(ndcg(["c", "x", "a"], relevant, 10)).toBeCloseTo(2.5 / 4.7618595, 7);
  });

  it("the ideal order is cut at k as well", () => {
    expect(ndcg(["a", "b"], yes("a", "b", "c"), 2)).toBe(1);
    // 1 found at rank 1 of 2 that would fit: 1 / (1 + 1/log2(3)).
    expect(ndcg(["a", "x", "b"], yes("a", "b", "c"), 2)).toBeCloseTo(1 / 1.6309298, 7);
  });

  it("a duplicate document counts once, and its second rank is lost", () => {
    expect(ndcg(["a", "a", "b"], yes("a", "b"), 10)).toBeCloseTo((1 + 0.5) / 1.6309298, 7);
    expect(ndcg(["a", "a"], yes("a"), 10)).toBe(1);
  });

  it("equal grades may be in any order", () => {
    expect(ndcg(["b", "a"], yes("a", "b"), 10)).toBe(ndcg(["a", "b"], yes("a", "b"), 10));
  });

  it("grades of zero or less are not relevant", () => {
    const relevant = new Map([
      ["a", 1],
      ["b", 0],
      ["c", -1],
    ]);
    expect(ndcg(["b", "c", "a"], relevant, 10)).toBeCloseTo(0.5, 12);
    expect(recall(["b", "c"], relevant, 10)).toBe(0);
  });
});

describe("retrieval metrics: recall and reciprocal rank", () => {
  it("recall is the share of all relevant documents within k", () => {
    expect(recall(["a", "x", "b"], yes("a", "b", "c", "d"), 10)).toBe(0.5);
    expect(recall(["a", "x", "b"], yes("a", "b", "c", "d"), 2)).toBe(0.25);
    expect(recall(["a", "a"], yes("a", "b"), 10)).toBe(0.5);
    expect(recall(["a"], new Map(), 10)).toBe(0);
  });

  it("the reciprocal rank is that of the first relevant document within k", () => {
    expect(reciprocalRank(["x", "a", "b"], yes("a", "b"), 10)).toBe(0.5);
    expect(reciprocalRank(["x", "y", "a"], yes("a"), 3)).toBeCloseTo(1 / 3, 12);
    expect(reciprocalRank(["x", "y", "a"], yes("a"), 2)).toBe(0);
  });
});

describe("retrieval metrics: means", () => {
  it("are over the queries with a relevant document", () => {
    const quality = meanQuality(
      [
        { ranked: ["a"], relevant: yes("a") },
        { ranked: ["x", "y", "a"], relevant: yes("a") },
        { ranked: ["a"], relevant: new Map([["a", 0]]) },
      ],
      10,
    );
    expect(quality.queries).toBe(2);
    expect(quality.ndcg).toBeCloseTo(0.75, 12);
    expect(quality.recall).toBe(1);
    expect(quality.reciprocalRank).toBeCloseTo(2 / 3, 12);
    expect(meanQuality([], 10)).toEqual({ queries: 0, ndcg: 0, recall: 0, reciprocalRank: 0 });
  });

  it("k must be a whole number of at least 1", () => {
    expect(ndcg(["a"], yes("a"), 1)).toBe(1);
    for (const k of [0, -1, 1.5, Number.NaN])
      expect(() => ndcg(["a"], yes("a"), k)).toThrow(/k: must be a whole number/);
  });
});
