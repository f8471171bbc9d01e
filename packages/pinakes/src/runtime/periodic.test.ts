/** Background work: an error is cleared as soon as work succeeds again. */
import { describe, expect, it } from "vitest";
import { Periodic } from "./periodic.ts";

describe("periodic work", () => {
  it("a run that lasts until it is stopped clears its error when a part of it succeeds, not only when it ends", async () => {
    const lines: [string, string | undefined][] = [];
    const isBroken = Promise.withResolvers<never>();
    const ends = Promise.withResolvers<void>();
    let runs = 0;
    let went: () => void = () => {};
    const work = new Periodic({
      name: "listener",
      everyMs: 1,
      log: (line, level) => void lines.push([line, level]),
      run: async (_, succeeded) => {
        runs += 1;
        went = succeeded;
        await (runs === 1 ? isBroken.promise : ends.promise);
      },
    });
    const first = work.runOnce();
    isBroken.reject(new Error("database or disk is full"));
    await first;
    expect(work.status()).toMatchObject({ failuresInARow: 1, lastError: "database or disk is full" });
    expect(lines).toEqual([["listener failed (1 in a row): database or disk is full", "error"]]);
    const second = work.runOnce();
    expect(work.status().lastError).toBe("database or disk is full");
    went();
    expect(work.status()).toEqual({ name: "listener", runs: 1, failuresInARow: 0 });
    ends.resolve();
    await second;
    await work.stop();
  });
});
