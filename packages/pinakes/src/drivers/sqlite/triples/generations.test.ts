import { describe, expect, it } from "vitest";
import { Generations } from "./generations.ts";

describe("a generational cache", () => {
  it("keeps used entries, drops unused ones, and never exceeds its limit", () => {
    const held = new Generations<number, string>(20, () => 1);
    for (let i = 0; i < 1_000; i += 1) {
      held.set(i, String(i));
      expect(held.get(0)).toBe("0");
      expect(held.get(i)).toBe(String(i));
    }
    const kept = Array.from({ length: 1_000 }, (_, i) => held.get(i)).filter((value) => value !== undefined);
    expect(kept.length).toBeLessThanOrEqual(20);
    expect(held.get(500)).toBeUndefined();
  });

  it("forgets one entry or all of them", () => {
    const held = new Generations<number, string>(20, () => 1);
    for (let i = 0; i < 15; i += 1) held.set(i, "x");
    held.delete(2);
    held.delete(14);
    expect([held.get(2), held.get(14), held.get(13)]).toEqual([undefined, undefined, "x"]);
    held.clear();
    expect(held.get(13)).toBeUndefined();
  });
});
