/** Rows of the fault matrix about leases: concurrent owners, takeovers, late heartbeats. */
import { describe, expect, it } from "vitest";
import { type Delta } from "../../src/vectors/store/records.ts";
import { Machine, scope } from "./support/machine.ts";
import { foldScenario } from "./support/scenarios.ts";
import { rowsOf } from "./support/state.ts";

const published = (name: string): boolean => name.startsWith("batch check fence, check lease");

describe("vectors: leases", () => {
  it("row 8: R-CMP-12 of five compactors at once one works; the others are busy, and no failure is counted", async () => {
    const machine = await Machine.open();
    await foldScenario.prepare(machine.process());
    const results = await Promise.all(Array.from({ length: 5 }, () => machine.process().vectors.compact(scope, "c")));
    expect(results.map(({ outcome }) => outcome).sort()).toEqual(["busy", "busy", "busy", "busy", "done"]);
    const process = machine.process();
    expect(await rowsOf(process.vectors)).toEqual(foldScenario.expected);
    expect(await process.vectors.dead.list(scope, "c")).toEqual([]);
    for await (const delta of process.site().all<Delta>("delta.")) expect(delta.failures).toBe(0);
  });

  it("row 18: R-CMP-12 after an owner died another takes over when the ttl has passed, not before; a heartbeat postpones it", async () => {
    const machine = await Machine.open();
    await foldScenario.prepare(machine.process());
    const owner = machine.process();
    owner.calls.add({
      at: (name) => name.startsWith("put vectors/c/segments/"),
      kind: "hold",
      until: new Promise(() => {}),
    });
    void owner.vectors.compact(scope, "c");
    const other = machine.process();
    const busy = { outcome: "busy" };
    await new Promise(setImmediate);
    expect(await other.vectors.compact(scope, "c")).toMatchObject(busy);
    machine.now += 29_999;
    await owner.beat();
    expect(await other.vectors.compact(scope, "c")).toMatchObject(busy);
    machine.now += 29_999;
    expect(await other.vectors.compact(scope, "c")).toMatchObject(busy);
    machine.now += 1;
    expect(await other.vectors.compact(scope, "c")).toMatchObject({ outcome: "done", folds: 1 });
  });

  it("rows 10, 11: R-CMP-13 a heartbeat or a release of a superseded owner changes nothing, and it stops", async () => {
    const machine = await Machine.open();
    await foldScenario.prepare(machine.process());
    const zombie = machine.process();
    const gate = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    zombie.calls.add({
      at: (name) => name.startsWith("query") && name.includes("request."),
      kind: "hold",
      until: gate.promise,
      reached: reached.resolve,
    });
    const ended = zombie.vectors.compact(scope, "c");
    await reached.promise;
    const owner = machine.process();
    const held = Promise.withResolvers<void>();
    const at = Promise.withResolvers<void>();
    await owner.vectors.compact(scope, "c");
    machine.now += 30_000;
    owner.calls.add({ at: published, kind: "hold", until: held.promise, reached: at.resolve });
    const work = owner.vectors.compact(scope, "c");
    await at.promise;
    const lease = await owner.site().lease();
    expect(lease.owner).toBe(owner.name);
    await zombie.beat();
    gate.resolve();
    expect(await ended).toMatchObject({ outcome: "fenced", folds: 0 });
    expect(await owner.site().lease()).toEqual(lease);
    held.resolve();
    expect(await work).toMatchObject({ outcome: "done", folds: 1 });
    expect(await rowsOf(owner.vectors)).toEqual(foldScenario.expected);
  });

  it("row 10: R-CMP-13 a heartbeat that the store rejected ends nothing by itself: the epoch decides at the publish", async () => {
    const machine = await Machine.open();
    await foldScenario.prepare(machine.process());
    const process = machine.process();
    const gate = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    process.calls.add({ at: published, kind: "hold", until: gate.promise, reached: reached.resolve });
    const work = process.vectors.compact(scope, "c");
    await reached.promise;
    process.calls.add({ at: (name) => name === "batch patch lease", kind: "error-before" });
    await process.beat();
    expect(process.calls.waiting).toBe(0);
    gate.resolve();
    expect(await work).toMatchObject({ outcome: "done", folds: 1 });
  });
});
