import { describe, expect, it } from "vitest";
import { systemScope } from "../domain/scope.ts";
import { Periodic } from "../runtime/periodic.ts";
import { sweepExpired } from "./sweeper.ts";

const scope = systemScope("test", () => {});

describe("sweepExpired", () => {
  it("R-AGT-50 continues while there is a backlog, in bounded steps, and then turns to the next container", async () => {
    const calls: string[] = [];
    const items = {
      purgeExpired: async (_: unknown, container: string) => {
        calls.push(container);
        return {
          purged: 2,
          backlog: container === "endless" ? 1 : Math.max(0, 3 - calls.filter((name) => name === container).length),
        };
      },
    };
    expect(await sweepExpired({ items, scope, containers: ["some", "endless", "last"] })).toBe((3 + 10 + 3) * 2);
    expect(calls.filter((name) => name === "endless")).toHaveLength(10);
  });

  it("sweeps the others when one fails, and reports all that failed", async () => {
    const swept: string[] = [];
    const items = {
      purgeExpired: async (_: unknown, container: string) => {
        if (container.startsWith("bad")) throw new Error("disk on fire");
        swept.push(container);
        return { purged: 0, backlog: 0 };
      },
    };
    await expect(sweepExpired({ items, scope, containers: ["bad1", "good", "bad2"] })).rejects.toThrow(
      "bad1: disk on fire; bad2: disk on fire",
    );
    expect(swept).toEqual(["good"]);
  });

  it("stops between steps when its signal aborts", async () => {
    const controller = new AbortController();
    let calls = 0;
    const items = {
      purgeExpired: async () => {
        calls += 1;
        controller.abort();
        return { purged: 1, backlog: 1 };
      },
    };
    await sweepExpired({ items, scope, containers: ["a", "b"], signal: controller.signal });
    expect(calls).toBe(1);
  });
});

describe("Periodic", () => {
  it("runs periodically, one run at a time, until it is stopped; stop waits for the current run", async () => {
    let running = 0;
    let runs = 0;
    const enough = Promise.withResolvers<void>();
    const work = new Periodic({
      name: "work",
      everyMs: 1,
      log: () => {},
      run: async () => {
        running += 1;
        expect(running).toBe(1);
        await new Promise((resolve) => setTimeout(resolve, 5));
        running -= 1;
        runs += 1;
        if (runs === 3) enough.resolve();
      },
    });
    work.start();
    await enough.promise;
    await work.stop();
    expect(running).toBe(0);
    const after = runs;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(runs).toBe(after);
  });

  it("keeps and logs the error of a failed run, and clears it after a good one", async () => {
    const lines: string[] = [];
    let broken = true;
    const work = new Periodic({
      name: "work",
      everyMs: 1_000_000,
      log: (line) => lines.push(line),
      run: async () => {
        if (broken) throw new Error("no disk");
      },
    });
    await work.runOnce();
    await work.runOnce();
    expect(work.status()).toEqual({ name: "work", runs: 2, failuresInARow: 2, lastError: "no disk" });
    expect(lines).toEqual(["work failed (1 in a row): no disk", "work failed (2 in a row): no disk"]);
    broken = false;
    await work.runOnce();
    expect(work.status()).toEqual({ name: "work", runs: 3, failuresInARow: 0 });
    await work.stop();
    work.start(); // Stopped for good.
  });
});
