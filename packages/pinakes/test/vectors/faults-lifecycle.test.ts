/** Rows of the fault matrix about reading, garbage, earlier versions, deleting, checking and repairing. */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/domain/json.ts";
import { workContainer } from "../../src/vectors/log/work-registry.ts";
import { defaultPolicy } from "../../src/vectors/store/parts.ts";
import { vectorsContainer } from "../../src/vectors/store/records.ts";
import { Machine, hourMs, scope, type Process } from "./support/machine.ts";
import { deadDelta, foldScenario, loseItems, put, row } from "./support/scenarios.ts";
import { codeOf, expectClean, recover, refusalOf, rowsOf } from "./support/state.ts";

const dayMs = 24 * hourMs;

async function fresh(policy = {}): Promise<{ machine: Machine; process: Process }> {
  const machine = await Machine.open(policy);
  const process = machine.process();
  await process.vectors.create(scope, "c", { dims: 3, metric: "dot" });
  return { machine, process };
}

/** One version for each, an hour apart. */
async function versions({ machine, vectors }: Process, count: number): Promise<void> {
  for (let x = 1; x <= count; x += 1) {
    await vectors.append(scope, "c", { upsert: [put("a", x), put(`r${x}`, x)] });
    await vectors.compact(scope, "c", { all: true });
    machine.now += hourMs;
  }
}

describe("vectors: readers and the collection of garbage", () => {
  it("row 19: R-CMP-28 a reader that stands at any call, while others compact and collect, gives one whole state and never fails within the retention", async () => {
    const { process: counted } = await fresh();
    await versions(counted, 3);
    const reader = counted.machine.process();
    await rowsOf(reader.vectors);
    const calls = reader.calls.names.length;
    for (const policy of [{}, { retentionMs: defaultPolicy.retentionMs, appliedDeltaMs: defaultPolicy.appliedDeltaMs }]) {
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

  it("R-CMP-28 an earlier version is read to its end while it is superseded and collected around, as long as it is retained", async () => {
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

  it("R-CMP-31 a dry run tells what would go and removes nothing; the real one removes just that, and nothing that lives", async () => {
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

  it("row 30: R-CMP-31 a bucket that is full refuses an append and a fold cleanly; with room again both go on", async () => {
    const machine = await Machine.open();
    await foldScenario.prepare(machine.process());
    const process = machine.process();
    const { put: honest } = machine.objects;
    const full = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC", syscall: "write" });
    machine.objects.put = async () => Promise.reject(full);
    await expect(process.vectors.append(scope, "c", { upsert: [put("a", 1)] })).rejects.toThrow("ENOSPC");
    await expect(process.vectors.compact(scope, "c")).rejects.toThrow("ENOSPC");
    await expect(process.worker.sweep()).rejects.toThrow("ENOSPC");
    expect(process.worker.metrics).toMatchObject({ compactionFailuresInARow: 1, lastError: expect.stringContaining("ENOSPC") as string });
    expect(await rowsOf(process.vectors)).toEqual(foldScenario.expected);
    machine.objects.put = honest;
    await recover(machine, process);
    expect(process.worker.metrics.compactionFailuresInARow).toBe(0);
    expect(await rowsOf(process.vectors)).toEqual(foldScenario.expected);
    await expectClean(process);
  });
});

describe("vectors: earlier versions", () => {
  it("R-CMP-30 every version of the last 7 days is read by number and by time, as it was; 35 days where that is the policy", async () => {
    for (const [days, policy] of [
      [7, { retentionMs: defaultPolicy.retentionMs }],
      [35, { retentionMs: 35 * dayMs }],
    ] as const) {
      const { machine, process } = await fresh(policy);
      const seen: { version: number; time: number; rows: string[] }[] = [];
      for (let x = 1; x <= 4; x += 1) {
        await process.vectors.append(scope, "c", { upsert: [put("a", x), put(`r${x}`, x)], ...(x === 4 ? { delete: ["r1"] } : {}) });
        await process.vectors.compact(scope, "c");
        seen.push({ version: (await process.vectors.stats(scope, "c")).version, time: machine.now, rows: await rowsOf(process.vectors) });
        machine.now += hourMs;
      }
      machine.now += days * dayMs - 4 * hourMs;
      expect(await process.vectors.collect(scope, "c")).toMatchObject({ outcome: "done", versions: 1 });
      for (const { version, time, rows } of seen) {
        for (const asOf of [{ version }, { time }, { time: time + hourMs - 1 }, { time: new Date(time).toISOString() }]) {
          expect(await rowsOf(process.vectors, "c", { asOf })).toEqual(rows);
        }
      }
      expect(await codeOf(process.vectors.count(scope, "c", { asOf: { version: 999 } }))).toBe("NOT_FOUND");
      expect(await codeOf(process.vectors.count(scope, "c", { asOf: { time: 0 } }))).toBe("NOT_FOUND");
    }
  });

  it("row 25: R-CMP-30 a restore is a new version; what came after is discarded, its tokens are refused, and later writes go on", async () => {
    const { machine, process } = await fresh({ retentionMs: 7 * dayMs });
    const { vectors } = process;
    const early = await vectors.append(scope, "c", { upsert: [put("a", 1)] });
    await vectors.compact(scope, "c");
    const then = (await vectors.stats(scope, "c")).version;
    const folded = await vectors.append(scope, "c", { upsert: [put("a", 2)] });
    await vectors.compact(scope, "c");
    const pending = await vectors.append(scope, "c", { deltaId: "lost", upsert: [put("b", 2)] });
    const { version } = await vectors.stats(scope, "c");
    expect(await vectors.restore(scope, "c", { version: then })).toEqual({ version: version + 1, restored: then, discarded: [folded.seq, pending.seq] });
    const other = machine.process();
    for (const reader of [process, other]) {
      expect(await rowsOf(reader.vectors)).toEqual([row("a", 1)]);
      expect(await rowsOf(reader.vectors, "c", { session: early.session })).toEqual([row("a", 1)]);
      for (const { session } of [folded, pending]) expect(await codeOf(reader.vectors.count(scope, "c", { session }))).toBe("CONFLICT");
    }
    const later = await vectors.append(scope, "c", { upsert: [put("b", 3)] });
    expect(later.seq).toBe(pending.seq + 1);
    await recover(machine);
    expect(await rowsOf(other.vectors, "c", { session: later.session })).toEqual([row("a", 1), row("b", 3)]);
    expect((await vectors.history(scope, "c")).map(({ reason }) => reason)).toContain("restore");
    expect(await codeOf(vectors.restore(scope, "c", { version: 999 }))).toBe("NOT_FOUND");
    await expectClean(other);
  });
});

describe("vectors: restoring again and again", () => {
  it("row 25: R-CMP-30 a write that any restore took away stays away, and its token stays refused", async () => {
    const { process } = await fresh({ retentionMs: 7 * dayMs });
    const { vectors } = process;
    await vectors.append(scope, "c", { upsert: [put("a", 1)] });
    await vectors.compact(scope, "c");
    const tokens: string[] = [];
    for (const x of [2, 3]) {
      tokens.push((await vectors.append(scope, "c", { upsert: [put("a", x)] })).session);
      await vectors.restore(scope, "c", { version: 1 });
    }
    const { version } = await vectors.stats(scope, "c");
    tokens.push((await vectors.append(scope, "c", { upsert: [put("a", 4)] })).session);
    await vectors.restore(scope, "c", { version });
    expect(await rowsOf(vectors)).toEqual([row("a", 1)]);
    for (const session of tokens) expect(await codeOf(vectors.count(scope, "c", { session }))).toBe("CONFLICT");
  });
});

describe("vectors: deleting", () => {
  it("R-CMP-32 a deleted collection is gone for everybody at once, is had back whole, and is purged when its time has come", async () => {
    const machine = await Machine.open();
    const process = machine.process();
    await foldScenario.prepare(process);
    const other = machine.process();
    await rowsOf(other.vectors);
    const purgeAt = machine.now + 30 * dayMs;
    await process.vectors.delete(scope, "c", { purgeAt });
    expect(await codeOf(other.vectors.count(scope, "c"))).toBe("NOT_FOUND");
    expect(await codeOf(other.vectors.append(scope, "c", { upsert: [put("a", 1)] }))).toBe("NOT_FOUND");
    expect(await codeOf(other.vectors.compact(scope, "c"))).toBe("NOT_FOUND");
    machine.now += 29 * dayMs;
    await recover(machine);
    await process.vectors.undelete(scope, "c");
    expect(await codeOf(process.vectors.undelete(scope, "c"))).toBe("CONFLICT");
    expect(await rowsOf(other.vectors)).toEqual(foldScenario.expected);
    await recover(machine);
    await expectClean(other);
    await process.vectors.delete(scope, "c", { purgeAt: machine.now + dayMs });
    machine.now += dayMs;
    await machine.process().worker.sweep();
    expect(await machine.keys()).toEqual([]);
    expect(await codeOf(process.vectors.undelete(scope, "c"))).toBe("NOT_FOUND");
    await machine.objects.put(scope, "vectors/c/deltas/late.seg", Buffer.from("of a writer that was stopped in the middle"));
    machine.now += dayMs;
    await machine.process().worker.sweep();
    expect(await machine.keys()).toEqual([]);
    expect(await machine.work()).toEqual([]);
    expect(await process.vectors.purge(scope, "c"), "it can be repeated").toEqual({ objects: 0, items: 0 });
  });
});

/** The items of all tenants' vectors, as a backup of the database has them. */
async function backup({ items }: Machine): Promise<() => Promise<void>> {
  const read = async (): Promise<readonly JsonObject[]> =>
    (await items.query(scope, vectorsContainer.name, { equals: { collection: "c" }, limit: 500 })).items.map(({ document }) => document);
  const saved = await read();
  return async () => {
    for (const { id } of await read()) await items.write(scope, vectorsContainer.name, ["c"], { op: "delete", id: String(id) });
    for (const document of saved) await items.write(scope, vectorsContainer.name, ["c"], { op: "create", document });
  };
}

describe("vectors: checking and repairing", () => {
  it("row 27: R-CMP-33 whatever object of a collection is lost or damaged, the check names just that, and reads of it fail closed", async () => {
    const machine = await Machine.open({ retentionMs: 7 * dayMs });
    const process = machine.process();
    await deadDelta(process, { upsert: [put("dead", 1)] });
    await process.vectors.append(scope, "c", { upsert: [put("b", 5)], delete: ["x"] });
    await process.vectors.compact(scope, "c");
    await process.vectors.append(scope, "c", { upsert: [put("pending", 5)] });
    await process.vectors.collect(scope, "c");
    expect((await process.vectors.fsck(scope, "c")).findings).toEqual([]);
    const applied = new Set((await process.site().deltas(0, 100)).filter(({ seq }) => seq <= 3).map(({ key }) => key));
    const dead = new Set((await process.vectors.dead.list(scope, "c")).map(({ key }) => key));
    const needed = (await machine.keys("vectors/c/")).filter((key) => !key.endsWith("HEAD.json") && (!applied.has(key) || dead.has(key)));
    expect(needed.length).toBeGreaterThan(6);
    for (const key of needed) {
      const whole = (await machine.objects.get(scope, key)) as Uint8Array;
      await machine.objects.delete(scope, [key]);
      const report = await process.vectors.fsck(scope, "c");
      expect(report.ok, key).toBe(false);
      expect(report.findings.map((finding) => finding.key)).toContain(key);
      for (const finding of report.findings) expect(finding.detail).toContain(key);
      const read = await rowsOf(machine.process().vectors).catch((error: unknown) => error);
      if (read instanceof Error) expect(read).toMatchObject({ code: "CORRUPT", message: expect.stringContaining(key) as string });
      await machine.objects.put(scope, key, whole);
    }
    const { segments } = await process.vectors.stats(scope, "c");
    for (const { key } of segments) {
      const whole = (await machine.objects.get(scope, key)) as Uint8Array;
      for (const at of [0, 40, whole.length - 1]) {
        await machine.objects.put(
          scope,
          key,
          whole.map((byte, i) => (i === at ? byte ^ 1 : byte)),
        );
        expect((await process.vectors.fsck(scope, "c")).findings, `${key} byte ${at}`).toMatchObject([{ severity: "error", kind: "damaged", key }]);
        expect(await refusalOf(rowsOf(machine.process().vectors))).toMatchObject({ code: "CORRUPT", message: expect.stringContaining(key) as string });
      }
      await machine.objects.put(scope, key, whole);
    }
    expect((await process.vectors.fsck(scope, "c")).findings).toEqual([]);
  });

  it("row 26: R-CMP-33 items restored from an older backup are noticed, writes are refused until a repair, and nothing of the bucket is lost", async () => {
    const machine = await Machine.open();
    const process = machine.process();
    await foldScenario.prepare(process);
    const restore = await backup(machine);
    await process.vectors.compact(scope, "c");
    await process.vectors.append(scope, "c", { upsert: [put("new", 1)] });
    await process.vectors.compact(scope, "c");
    await process.vectors.append(scope, "c", { upsert: [put("unapplied", 1)] });
    await restore();
    const next = machine.process();
    await next.vectors.append(scope, "c", { deltaId: "kept", upsert: [put("kept", 1)] });
    await expect(next.worker.sweep()).rejects.toThrow("diverged");
    expect(await next.vectors.stats(scope, "c")).toMatchObject({ status: "diverged" });
    expect(await refusalOf(next.vectors.append(scope, "c", { upsert: [put("z", 1)] }))).toMatchObject({ code: "UNAVAILABLE", retryable: false });
    expect((await next.vectors.fsck(scope, "c")).findings).toContainEqual(expect.objectContaining({ kind: "diverged" }));
    const repaired = await next.vectors.repair(scope, "c");
    expect(repaired).toMatchObject({ pending: 1, recovered: 0 });
    expect(repaired.unknownDeltas).toHaveLength(1);
    const rows = [...foldScenario.expected, row("kept", 1), row("new", 1)].sort();
    expect(await rowsOf(next.vectors)).toEqual(rows);
    const { seq } = await next.vectors.append(scope, "c", { upsert: [put("z", 1)] });
    expect((await next.vectors.stats(scope, "c")).lastSeq).toBe(seq);
    await recover(machine, next);
    expect(await rowsOf(next.vectors)).toEqual([...rows, row("z", 1)].sort());
    await expectClean(next);
  });

  it("row 26: R-CMP-33 after the loss of all items a repair has every version's rows; deltas that no version has are told, and come back on request", async () => {
    for (const recoverDeltas of [false, true]) {
      const machine = await Machine.open();
      const process = machine.process();
      await foldScenario.prepare(process);
      await process.vectors.compact(scope, "c");
      const { session } = await process.vectors.append(scope, "c", { upsert: [put("unapplied", 1)] });
      await process.vectors.append(scope, "c", { upsert: [put("unapplied", 2)], delete: ["b"] });
      await loseItems(machine);
      await loseWork(machine);
      const next = machine.process();
      const repaired = await next.vectors.repair(scope, "c", { recoverDeltas });
      expect(repaired.unknownDeltas).toHaveLength(2);
      expect(repaired.recovered).toBe(recoverDeltas ? 2 : 0);
      const rows = recoverDeltas ? [...foldScenario.expected.filter((text) => !text.includes('"b"')), row("unapplied", 2)].sort() : foldScenario.expected;
      expect(await rowsOf(next.vectors)).toEqual(rows);
      expect(await codeOf(next.vectors.count(scope, "c", { session }))).toBe("CONFLICT");
      await recover(machine, next);
      expect(await rowsOf(next.vectors)).toEqual(rows);
      await expectClean(next);
    }
  });

  it("row 26: R-CMP-33 a repair takes no version that was prepared and refused, and loses no delta that only such a one had applied", async () => {
    for (const lose of [false, true]) {
      const machine = await Machine.open();
      await foldScenario.prepare(machine.process());
      const compactor = machine.process();
      compactor.calls.add({ at: (name) => name.startsWith("batch check fence, check lease"), kind: "crash-before" });
      expect(await compactor.outcome(({ vectors }) => vectors.compact(scope, "c"))).toBe("died");
      if (lose) await loseItems(machine);
      const next = machine.process();
      await next.vectors.repair(scope, "c", { recoverDeltas: lose });
      expect(await rowsOf(next.vectors)).toEqual(foldScenario.expected);
      await recover(machine, next);
      expect(await rowsOf(next.vectors)).toEqual(foldScenario.expected);
      await expectClean(next);
    }
  });

  it("row 26: R-CMP-33 a write that is acknowledged while a repair begins, at any of its calls, is not lost", async () => {
    const { process: counted } = await fresh();
    await versions(counted, 2);
    const repairing = counted.machine.process();
    await repairing.vectors.repair(scope, "c");
    for (let number = 0; number < repairing.calls.names.length; number += 1) {
      const { machine, process } = await fresh();
      await versions(process, 2);
      const repair = machine.process();
      const gate = Promise.withResolvers<void>();
      const reached = Promise.withResolvers<void>();
      repair.calls.add({ at: number, kind: "hold", until: gate.promise, reached: reached.resolve });
      const repaired = repair.vectors.repair(scope, "c");
      await reached.promise;
      const writer = machine.process();
      const acknowledged = await writer.vectors.append(scope, "c", { upsert: [put("new", 1)] }).then(
        () => true,
        () => false,
      );
      gate.resolve();
      await repaired;
      const rows = await rowsOf(machine.process().vectors);
      expect(rows.includes(row("new", 1)), `call ${number}`).toBe(acknowledged);
      await recover(machine, writer);
      expect(await rowsOf(writer.vectors)).toEqual(rows);
      await expectClean(writer);
    }
  });

  it("row 26: R-CMP-33 what a restore or a repair made is what the next repair finds, right after it", async () => {
    const machine = await Machine.open({ retentionMs: 7 * dayMs });
    const process = machine.process();
    await foldScenario.prepare(process);
    await process.vectors.compact(scope, "c");
    const then = await rowsOf(process.vectors, "c", { asOf: { version: 1 } });
    await process.vectors.restore(scope, "c", { version: 1 });
    for (let round = 0; round < 3; round += 1) {
      await loseItems(machine);
      const { version } = await process.vectors.repair(scope, "c");
      expect(version).toBe((await process.vectors.stats(scope, "c")).version);
      expect(await rowsOf(machine.process().vectors)).toEqual(then);
      const mirror = JSON.parse(Buffer.from((await machine.objects.get(scope, "vectors/c/HEAD.json")) ?? []).toString()) as { version: number };
      expect(mirror.version).toBe(version);
    }
  });

  it("row 26: R-CMP-33 without its mirror, or with one that is behind, the newest version is found all the same", async () => {
    for (const mirror of ["missing", "behind"]) {
      const machine = await Machine.open({ retentionMs: 7 * dayMs });
      const process = machine.process();
      await foldScenario.prepare(process);
      const early = (await machine.objects.get(scope, "vectors/c/HEAD.json")) as Uint8Array;
      await process.vectors.compact(scope, "c");
      if (mirror === "behind") await machine.objects.put(scope, "vectors/c/HEAD.json", early);
      else await machine.objects.delete(scope, ["vectors/c/HEAD.json"]);
      await loseItems(machine);
      const next = machine.process();
      await next.vectors.repair(scope, "c", { recoverDeltas: true });
      expect(await rowsOf(next.vectors), mirror).toEqual(foldScenario.expected);
    }
  });

  it("R-CMP-33 a bucket without any whole version is told, not guessed at", async () => {
    const { machine, process } = await fresh();
    await versions(process, 2);
    await loseItems(machine);
    await machine.objects.delete(scope, await machine.keys("vectors/c/segments/"));
    await machine.objects.delete(scope, await machine.keys("vectors/c/manifests/0000000000000000"));
    const error = await refusalOf(process.vectors.repair(scope, "c"));
    expect(error).toMatchObject({ code: "CORRUPT", message: expect.stringContaining("no whole version") as string });
  });
});

async function loseWork({ items }: Machine): Promise<void> {
  for (let shard = 0; shard < 8; shard += 1) await items.deletePartition(scope, workContainer.name, [String(shard)]);
}
