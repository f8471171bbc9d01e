/** Rows of the fault matrix about writing: repeats, partial uploads, conflicting writers, names. */
import { describe, expect, it } from "vitest";
import { openVectors } from "../../src/vectors/open-vectors.ts";
import { fresh } from "./support/fresh.ts";
import { Machine, hourMs, scope, system } from "./support/machine.ts";
import { put, row } from "./support/scenarios.ts";
import { codeOf, expectClean, recover, refusalOf, rowsOf } from "./support/state.ts";

const committed = (name: string): boolean => name.startsWith("batch check fence, replace log");

describe("vectors: writing", () => {
  it("row 5: R-CMP-03 a commit whose answer is lost is settled by its id; sent again, months later, it has its first seq", async () => {
    const machine = await Machine.open({ retentionMs: 400 * 24 * hourMs });
    const process = machine.process();
    await process.vectors.create(scope, "c", { dims: 3, metric: "dot" });
    process.calls.add({ at: committed, kind: "error-after" });
    const first = await process.vectors.append(scope, "c", { deltaId: "d1", upsert: [put("a", 1)] });
    expect(first).toMatchObject({ seq: 1, repeated: true });
    expect(process.calls.waiting).toBe(0);
    await process.vectors.append(scope, "c", { upsert: [put("a", 2)] });
    await process.vectors.compact(scope, "c");
    for (let month = 0; month < 6; month += 1) {
      machine.now += 30 * 24 * hourMs;
      await recover(machine);
      const again = await machine.process().vectors.append(scope, "c", { deltaId: "d1", upsert: [put("a", 1)] });
      expect(again).toMatchObject({ seq: 1, repeated: true, session: first.session });
    }
    expect(await rowsOf(process.vectors)).toEqual([row("a", 2)]);
    expect(await process.vectors.stats(scope, "c")).toMatchObject({ lastSeq: 2, pendingDeltas: 0 });
  });

  it("row 6: R-CMP-03 the same id with other content is rejected with 409, before and after it was folded, and in one batch", async () => {
    const { process } = await fresh();
    await process.vectors.append(scope, "c", { deltaId: "d1", upsert: [put("a", 1)] });
    expect(await refusalOf(process.vectors.append(scope, "c", { deltaId: "d1", upsert: [put("a", 2)] }))).toMatchObject(
      { code: "CONFLICT", status: 409 },
    );
    await process.vectors.compact(scope, "c");
    expect(await codeOf(process.vectors.append(scope, "c", { deltaId: "d1", delete: ["a"] }))).toBe("CONFLICT");
    const both = await Promise.allSettled(
      [1, 2].map((x) => process.vectors.append(scope, "c", { deltaId: "d2", upsert: [put("b", x)] })),
    );
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(await process.vectors.stats(scope, "c")).toMatchObject({ lastSeq: 2 });
    await recover(process.machine, process);
    await expectClean(process);
  });

  it("row 3: R-CMP-02 an object that arrived in part is never visible: not before its commit, and not after it was truncated", async () => {
    const { machine, process } = await fresh();
    process.calls.add({ at: (name) => name.startsWith("put vectors/c/deltas/"), kind: "error-after" });
    expect(await codeOf(process.vectors.append(scope, "c", { upsert: [put("a", 1)] }))).toBe("UNAVAILABLE");
    expect(await rowsOf(process.vectors)).toEqual([]);
    await process.vectors.append(scope, "c", { upsert: [put("b", 1)] });
    const key = (await machine.keys("vectors/c/deltas/")).at(-1) as string;
    const whole = (await machine.objects.get(scope, key)) as Uint8Array;
    for (const bytes of [0, 63, 64, whole.length - 1]) {
      await machine.objects.put(scope, key, whole.slice(0, bytes));
      expect(await refusalOf(rowsOf(process.vectors))).toMatchObject({
        code: "CORRUPT",
        message: expect.stringContaining(key),
      });
    }
    await machine.objects.put(scope, key, whole);
    expect(await rowsOf(process.vectors)).toEqual([row("b", 1)]);
  });

  it("row 7: of two writers of one id the one with the higher seq wins, in fresh deltas as in segments", async () => {
    const { machine, process } = await fresh();
    const other = machine.process();
    const results = await Promise.all(
      [1, 2, 3, 4, 5, 6].map(async (x) => ({
        x,
        seq: (await (x % 2 === 0 ? process : other).vectors.append(scope, "c", { upsert: [put("same", x)] })).seq,
      })),
    );
    const newest = results.toSorted((a, b) => b.seq - a.seq)[0]?.x as number;
    expect(await rowsOf(machine.process().vectors)).toEqual([row("same", newest)]);
    await recover(machine);
    expect(await rowsOf(machine.process().vectors)).toEqual([row("same", newest)]);
  });

  it("row 4: R-CMP-02 an object that a garbage collection removed before its commit is put again under another name", async () => {
    const { machine, process } = await fresh();
    const gate = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    process.calls.add({ at: committed, kind: "hold", until: gate.promise, reached: reached.resolve });
    const appended = process.vectors.append(scope, "c", { upsert: [put("a", 1)] });
    await reached.promise;
    const [before] = await machine.keys("vectors/c/deltas/");
    machine.now += 48 * hourMs;
    expect(await machine.process().vectors.collect(scope, "c")).toMatchObject({ outcome: "done", objects: 1 });
    gate.resolve();
    await appended;
    expect((await machine.keys("vectors/c/deltas/"))[0]).not.toBe(before);
    expect(await rowsOf(process.vectors)).toEqual([row("a", 1)]);
  });
});

describe("vectors: names", () => {
  it("R-CMP-04 a hundred deltas of two processes in the same millisecond have a hundred objects of their own", async () => {
    const machine = await Machine.open();
    const clock = { now: () => machine.now };
    const { items, objects } = machine;
    const first = await openVectors({ items, objects, system, clock, threads: 1 });
    const second = await openVectors({ items, objects, system, clock, threads: 1 });
    await first.vectors.create(scope, "c", { dims: 3, metric: "dot" });
    await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        (i % 2 === 0 ? first : second).vectors.append(scope, "c", { upsert: [put(`r${i}`, i)] }),
      ),
    );
    expect(await machine.keys("vectors/c/deltas/")).toHaveLength(100);
    expect(await rowsOf(machine.process().vectors)).toHaveLength(100);
    await first.close();
    await second.close();
  });
});
