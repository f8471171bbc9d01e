/** The cost of idle collections, and that a stuck collection does not block others. */
import { describe, expect, it } from "vitest";
import { vectorWork } from "../../src/vectors/log/vector-work.ts";
import { Machine, hourMs, scope, system } from "./support/machine.ts";
import { put, row } from "./support/scenarios.ts";
import { recover, rowsOf } from "./support/state.ts";

const collections = 10_000;

describe("vectors: idle collections", () => {
  it("row 33: R-CMP-29 of 10,000 collections a sweep reads those with work to do, and a process holds nothing of the others", async () => {
    const machine = await Machine.open();
    const writer = machine.process();
    for (let i = 0; i < collections; i += 1) await writer.vectors.create(scope, `c${i}`, { dims: 3 });
    const process = machine.process({ cache: true });
    await process.worker.sweep();
    const idle = process.calls.names.length;
    expect(idle, "8 shards of the registry").toBe(8);
    expect(process.worker.metrics.due).toBe(0);

    const perDirty: number[] = [];
    for (const dirty of [1, 100]) {
      for (let i = 0; i < dirty; i += 1)
        await writer.vectors.append(scope, `c${i * 97}`, { upsert: [put("a", dirty)] });
      const before = process.calls.names.length;
      await process.worker.sweep();
      expect(process.worker.metrics.due).toBe(dirty);
      perDirty.push((process.calls.names.length - before - idle) / dirty);
    }
    expect(Math.abs((perDirty[0] as number) - (perDirty[1] as number))).toBeLessThan(15);
    const before = process.calls.names.length;
    await process.worker.sweep();
    expect(process.calls.names.length - before).toBe(idle);
    await recover(machine, process);
    expect(await machine.work()).toEqual([]);
  });

  it("R-CMP-29 views and files in memory are bounded, however many collections are read", async () => {
    const machine = await Machine.open();
    const writer = machine.process();
    for (let i = 0; i < 400; i += 1) {
      await writer.vectors.create(scope, `c${i}`, { dims: 3 });
      await writer.vectors.append(scope, `c${i}`, { upsert: [put("a", i)] });
    }
    const memoryBytesMax = 100_000;
    const process = machine.process({ cache: true, memoryBytesMax });
    for (let i = 0; i < 400; i += 1) {
      expect(await process.vectors.count(scope, `c${i}`)).toBe(1);
      expect(process.vectors.metrics().cacheBytes).toBeLessThanOrEqual(memoryBytesMax);
    }
    expect(process.vectors.metrics().cacheBytes).toBeGreaterThan(0);
    const gets = process.calls.count("get ");
    for (let i = 395; i < 400; i += 1) await process.vectors.count(scope, `c${i}`);
    expect(process.calls.count("get "), "the last ones are still cached").toBe(gets);
    await process.vectors.count(scope, "c0");
    expect(process.calls.count("get "), "the first ones are not").toBe(gets + 1);
  });

  it("R-CMP-38 the lag of a collection is reported: how many deltas wait, how many bytes, and for how long", async () => {
    const machine = await Machine.open();
    const { vectors, worker } = machine.process();
    await vectors.create(scope, "c", { dims: 3 });
    await vectors.append(scope, "c", { upsert: [put("a", 1)] });
    machine.now += 400_000;
    await vectors.append(scope, "c", { upsert: [put("b", 1)] });
    const stats = await vectors.stats(scope, "c");
    expect(stats).toMatchObject({ pendingDeltas: 2, oldestPendingMs: 400_000, lastSeq: 2, appliedSeq: 0 });
    expect(stats.pendingBytes).toBeGreaterThan(100);
    await worker.sweep();
    expect(await vectors.stats(scope, "c")).toMatchObject({
      pendingDeltas: 0,
      pendingBytes: 0,
      oldestPendingMs: 0,
      liveRows: 2,
    });
    expect(vectors.metrics()).toMatchObject({
      compactions: 1,
      folds: 1,
      rowsWritten: 2,
      due: 1,
      lastSweepAt: machine.now,
    });
    expect(await vectors.history(scope, "c")).toMatchObject([
      { reason: "init" },
      { reason: "fold", live: 2, appliedSeq: 2, committedAt: machine.now },
    ]);
  });
});

describe("vectors: a stuck collection", () => {
  it("R-CMP-08 R-CMP-16 a collection whose compactor hangs or whose bucket fails blocks no other", async () => {
    const machine = await Machine.open();
    const process = machine.process();
    for (const id of ["a", "b", "c"]) {
      await process.vectors.create(scope, id, { dims: 3, metric: "dot" });
      await process.vectors.append(scope, id, { upsert: [put("x", 1)] });
      await process.vectors.append(scope, id, { upsert: [put("x", 2)] });
    }
    const hanging = machine.process();
    hanging.calls.add({
      at: (name) => name.startsWith("put vectors/a/segments/"),
      kind: "hold",
      until: new Promise(() => {}),
    });
    void hanging.vectors.compact(scope, "a");
    await new Promise(setImmediate);
    const sweeper = machine.process();
    sweeper.calls.add({ at: (name) => name.startsWith("put vectors/b/"), kind: "error-before", always: true });
    await expect(sweeper.worker.sweep()).rejects.toThrow("vectors/b/");
    expect(await process.vectors.stats(scope, "c")).toMatchObject({ pendingDeltas: 0 });
    expect(await rowsOf(process.vectors, "c")).toEqual([row("x", 2)]);
    const left = [];
    for await (const { kind, key } of vectorWork(machine.items, system).due(machine.now))
      if (kind === "compact") left.push(key);
    expect(left.sort()).toEqual(["a", "b"]);
    machine.now += hourMs;
    await recover(machine);
    for (const id of ["a", "b"]) expect(await process.vectors.stats(scope, id)).toMatchObject({ pendingDeltas: 0 });
  });
});
