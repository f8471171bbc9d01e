/** Properties on which the choice of the fusion rests, beside its figures: see search/fuse.ts. */
import { describe, expect, it } from "vitest";
import { fuse, vectorWeight, type Candidate } from "../knowledge/search/fuse.ts";

const candidates: readonly Candidate[] = [
  { vector: 0.8, keyword: 2 },
  { vector: 0.6, keyword: 10 },
  { vector: 0.2 },
  { keyword: 4 },
];

describe("fusion", () => {
  it("mixes shares of the best: verified by hand", () => {
    const scores = fuse(candidates, "convex", 0.4).map(({ score }) => score);
    const expected = [0.4 * 1 + 0.6 * 0.2, 0.4 * (0.4 / 0.6) + 0.6 * 1, 0, 0.6 * 0.4];
    for (const [i, score] of scores.entries()) expect(score).toBeCloseTo(expected[i] as number, 12);
  });

  it("gives keywords the larger share by default", () => {
    expect(vectorWeight).toBe(0.4);
    expect(fuse(candidates)).toEqual(fuse(candidates, "convex", 0.4));
  });

  it("does not depend on the range of a model's cosines or of a collection's keyword scores", () => {
    const squeezed = candidates.map(({ vector, keyword }) => ({
      ...(vector === undefined ? {} : { vector: 0.7 + 0.3 * vector }),
      ...(keyword === undefined ? {} : { keyword: keyword * 3 }),
    }));
    const [a, b] = [fuse(candidates), fuse(squeezed)];
    for (const [i, { score }] of a.entries()) expect(b[i]?.score).toBeCloseTo(score, 12);
  });

  it("reciprocal ranks depend on ranks only", () => {
    const scores = fuse(candidates, "rrf").map(({ score }) => score);
    expect(scores).toEqual([1 / 61 + 1 / 63, 1 / 62 + 1 / 61, 1 / 63, 1 / 62]);
  });
});
