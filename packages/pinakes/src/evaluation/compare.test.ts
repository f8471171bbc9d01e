import { describe, expect, it } from "vitest";
import { comparePaired } from "./compare.ts";

const zeros = (count: number): number[] => Array.from({ length: count }, () => 0);
const ones = (count: number): number[] => Array.from({ length: count }, () => 1);

describe("comparing two rankings on the same queries", () => {
  it("counts wins, losses and ties, and the difference of the means", () => {
    expect(comparePaired([0.5, 0.5, 0.5, 0.5], [1, 0, 1, 0.5])).toMatchObject({
      a: 0.5,
      b: 0.625,
      difference: 0.125,
      won: 2,
      lost: 1,
      tied: 1,
    });
  });

  it("identical rankings are not different", () => {
    expect(comparePaired([0.1, 0.7], [0.1, 0.7])).toMatchObject({ difference: 0, pValue: 1, won: 0, lost: 0, tied: 2 });
    expect(comparePaired([], [])).toMatchObject({ a: 0, b: 0, difference: 0, pValue: 1 });
  });

  it("better on every one of many queries is significant, in either direction", () => {
    expect(comparePaired(zeros(30), ones(30)).pValue).toBeLessThan(0.001);
    expect(comparePaired(ones(30), zeros(30))).toMatchObject({ difference: -1, lost: 30 });
    expect(comparePaired(ones(30), zeros(30)).pValue).toBeLessThan(0.001);
  });

  it("approximates the exact sign test: 2 of 8 for three equal differences", () => {
    expect(comparePaired(zeros(3), ones(3), { rounds: 40_000 }).pValue).toBeCloseTo(0.25, 1);
  });

  it("equal wins and losses give p = 1", () => {
    expect(comparePaired([0, 1], [1, 0]).pValue).toBe(1);
  });

  it("the same seed gives the same result, another one nearly the same", () => {
    const a = Array.from({ length: 50 }, (_, i) => (i * 7) % 5);
    const b = Array.from({ length: 50 }, (_, i) => (i * 3) % 6);
    const first = comparePaired(a, b, { seed: 3 });
    expect(comparePaired(a, b, { seed: 3 })).toEqual(first);
    expect(Math.abs(comparePaired(a, b, { seed: 4 }).pValue - first.pValue)).toBeLessThan(0.05);
  });

  it("refuses lists of different queries", () => {
    expect(() => comparePaired([1], [1, 2])).toThrow("rankings of different queries");
  });
});
