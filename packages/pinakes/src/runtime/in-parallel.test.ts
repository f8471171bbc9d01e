import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { inParallel } from "./in-parallel.ts";

describe("inParallel", () => {
  it("works on a few at a time, and returns the results in the order of the items", async () => {
    let running = 0;
    let most = 0;
    const results = await inParallel([5, 1, 4, 2, 3], 2, async (turns) => {
      running += 1;
      most = Math.max(most, running);
      for (let at = 0; at < turns; at += 1) await turn();
      running -= 1;
      return turns * 10;
    });
    expect([results, most]).toEqual([[50, 10, 40, 20, 30], 2]);
    expect(await inParallel([], 3, () => Promise.resolve(1))).toEqual([]);
  });

  it("starts nothing after a failure, and waits for running work", async () => {
    const done: number[] = [];
    const working = inParallel([1, 2, 3, 4], 2, async (item) => {
      if (item === 1) throw new Error("the first");
      await turn();
      done.push(item);
    });
    await expect(working).rejects.toThrow("the first");
    expect(done).toEqual([2]);
  });
});
