/** Rows of the fault matrix about readers and garbage collection. */
import { describe, expect, it } from "vitest";
import { defaultPolicy } from "../../src/vectors/store/dependencies.ts";
import { fresh, versions } from "./support/fresh.ts";
import { Machine, hourMs, scope } from "./support/machine.ts";
import { foldScenario, put } from "./support/scenarios.ts";
import { codeOf, expectClean, recover, rowsOf } from "./support/state.ts";

const dayMs = 24 * hourMs;

describe("vectors: readers and garbage collection", () => {
  it("row 19: R-CMP-28 a reader that stalls at any call, while others compact and collect, returns one whole state and never fails within the retention", async () => {
    const { process: counted } = await fresh();
    await versions(counted, 3);
    const reader = counted.machine.process();
    await rowsOf(reader.vectors);
    const calls = reader.calls.names.length;
    for (const policy of [
      {},
      { retentionMs: defaultPolicy.retentionMs, appliedDeltaMs: defaultPolicy.appliedDeltaMs },
    ]) {
      for (let number = 0; number < calls; number += 1) {
        const { machine, process } = await fresh(policy);
        await versions(process, 3);
        await process.vectors.append(scope, "c", { upsert: [put("fresh", 9)] });
        const before = await rowsOf(machine.process().vectors);
        const held = machine.process();
        const gate = Promise.withResolvers<void>();
        const reached = Promise.withResolvers<void>();
        held.calls.add({ at: number, kind: "hold", until: gate.promise, reached: reached.resolve });
        const reading = rowsOf(held.vectors);
        await reached.promise;
        await versions(process, 4);
        expect(await process.vectors.collect(scope, "c")).toMatchObject({ outcome: "done" });
        gate.resolve();
        const after = await rowsOf(process.vectors);
        expect([before, after]).toContainEqual(await reading);
      }
    }
  });

  it("R-CMP-28 an earlier version is read to its end while it is superseded and garbage is collected, as long as it is retained", async () => {
    const { machine, process } = await fresh({ retentionMs: 7 * dayMs });
    await versions(process, 2);
    const { version } = await process.vectors.stats(scope, "c");
    const then = await rowsOf(process.vectors);
    await versions(process, 5);
    machine.now += 6 * dayMs;
    await recover(machine);
    await process.vectors.collect(scope, "c");
    expect(await rowsOf(machine.process().vectors, "c", { asOf: { version } })).toEqual(then);
    machine.now += 2 * dayMs;
    await process.vectors.collect(scope, "c");
    expect(await codeOf(rowsOf(machine.process().vectors, "c", { asOf: { version } }))).toBe("NOT_FOUND");
  });

  it("R-CMP-31 a dry run reports what would be deleted and removes nothing; the real one removes exactly that, and nothing live", async () => {
    const { machine, process } = await fresh();
    await versions(process, 3);
    await process.vectors.append(scope, "c", { upsert: [put("pending", 1)] });
    const orphans = ["vectors/c/deltas/x.seg", "vectors/c/manifests/y.json", "vectors/c/unknown/z"];
    for (const key of orphans) await machine.objects.put(scope, key, Buffer.from("x"));
    await machine.objects.put(scope, "vectors/c2/deltas/other.seg", Buffer.from("of another collection"));
    const before = await machine.keys();
    const told = await process.vectors.collect(scope, "c", { dryRun: true });
    expect(await machine.keys()).toEqual(before);
    expect(told.keys).toEqual(expect.arrayContaining(orphans));
    const done = await process.vectors.collect(scope, "c");
    expect(done).toMatchObject({ outcome: "done", objects: told.objects, bytes: told.bytes });
    const after = await machine.keys();
    expect(after).toEqual(before.filter((key) => !(told.keys ?? []).includes(key)));
    expect(after).toContain("vectors/c2/deltas/other.seg");
    expect((await process.vectors.fsck(scope, "c")).findings).toEqual([]);
    expect(await process.vectors.collect(scope, "c")).toMatchObject({ outcome: "done", objects: 0 });
    expect(await process.vectors.count(scope, "c")).toBe(5);
  });

  it("row 30: R-CMP-31 a full bucket rejects an append and a fold cleanly; with space again both continue", async () => {
    const machine = await Machine.open();
    await foldScenario.prepare(machine.process());
    const process = machine.process();
    const { put: honest } = machine.objects;
    const full = Object.assign(new Error("ENOSPC: no space left on device, write"), {
      code: "ENOSPC",
      syscall: "write",
    });
    machine.objects.put = async () => Promise.reject(full);
    await expect(process.vectors.append(scope, "c", { upsert: [put("a", 1)] })).rejects.toThrow("ENOSPC");
    await expect(process.vectors.compact(scope, "c")).rejects.toThrow("ENOSPC");
    await expect(process.worker.sweep()).rejects.toThrow("ENOSPC");
    expect(process.worker.metrics).toMatchObject({
      compactionFailuresInARow: 1,
      lastError: expect.stringContaining("ENOSPC") as string,
    });
    expect(await rowsOf(process.vectors)).toEqual(foldScenario.expected);
    machine.objects.put = honest;
    await recover(machine, process);
    expect(process.worker.metrics.compactionFailuresInARow).toBe(0);
    expect(await rowsOf(process.vectors)).toEqual(foldScenario.expected);
    await expectClean(process);
  });
});
