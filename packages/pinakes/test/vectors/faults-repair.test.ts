/** Rows of the fault matrix about checking and repairing. */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/domain/json.ts";
import { vectorWorkContainer } from "../../src/vectors/log/vector-work.ts";
import { vectorsContainer } from "../../src/vectors/store/records.ts";
import { fresh, versions } from "./support/fresh.ts";
import { Machine, hourMs, scope } from "./support/machine.ts";
import { deadDelta, foldScenario, loseItems, put, row } from "./support/scenarios.ts";
import { codeOf, expectClean, recover, refusalOf, rowsOf } from "./support/state.ts";

const dayMs = 24 * hourMs;

/** The items of all tenants' vectors, as in a backup of the database. */
async function backup({ items }: Machine): Promise<() => Promise<void>> {
  const read = async (): Promise<readonly JsonObject[]> =>
    (await items.query(scope, vectorsContainer.name, { equals: { collection: "c" }, limit: 500 })).items.map(
      ({ document }) => document,
    );
  const saved = await read();
  return async () => {
    for (const { id } of await read())
      await items.write(scope, vectorsContainer.name, ["c"], { op: "delete", id: String(id) });
    for (const document of saved) await items.write(scope, vectorsContainer.name, ["c"], { op: "create", document });
  };
}

describe("vectors: checking and repairing", () => {
  it("row 27: R-CMP-33 whatever object of a collection is lost or corrupt, the check names exactly that, and reads of it fail closed", async () => {
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
    const needed = (await machine.keys("vectors/c/")).filter(
      (key) => !key.endsWith("HEAD.json") && (!applied.has(key) || dead.has(key)),
    );
    expect(needed.length).toBeGreaterThan(6);
    for (const key of needed) {
      const whole = (await machine.objects.get(scope, key)) as Uint8Array;
      await machine.objects.delete(scope, [key]);
      const report = await process.vectors.fsck(scope, "c");
      expect(report.ok, key).toBe(false);
      expect(report.findings.map((finding) => finding.key)).toContain(key);
      for (const finding of report.findings) expect(finding.detail).toContain(key);
      const read = await rowsOf(machine.process().vectors).catch((error: unknown) => error);
      if (read instanceof Error)
        expect(read).toMatchObject({ code: "CORRUPT", message: expect.stringContaining(key) as string });
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
        expect((await process.vectors.fsck(scope, "c")).findings, `${key} byte ${at}`).toMatchObject([
          { severity: "error", kind: "damaged", key },
        ]);
        expect(await refusalOf(rowsOf(machine.process().vectors))).toMatchObject({
          code: "CORRUPT",
          message: expect.stringContaining(key) as string,
        });
      }
      await machine.objects.put(scope, key, whole);
    }
    expect((await process.vectors.fsck(scope, "c")).findings).toEqual([]);
  });

  it("row 26: R-CMP-33 items restored from an older backup are detected, writes are rejected until a repair, and nothing of the bucket is lost", async () => {
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
    expect(await refusalOf(next.vectors.append(scope, "c", { upsert: [put("z", 1)] }))).toMatchObject({
      code: "UNAVAILABLE",
      retryable: false,
    });
    expect((await next.vectors.fsck(scope, "c")).findings).toContainEqual(
      expect.objectContaining({ kind: "diverged" }),
    );
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

  it("row 26: R-CMP-33 after the loss of all items a repair has every version's rows; deltas without a version are reported, and restored on request", async () => {
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
      const rows = recoverDeltas
        ? [...foldScenario.expected.filter((text) => !text.includes('"b"')), row("unapplied", 2)].sort()
        : foldScenario.expected;
      expect(await rowsOf(next.vectors)).toEqual(rows);
      expect(await codeOf(next.vectors.count(scope, "c", { session }))).toBe("CONFLICT");
      await recover(machine, next);
      expect(await rowsOf(next.vectors)).toEqual(rows);
      await expectClean(next);
    }
  });

  it("row 26: R-CMP-33 a repair uses no version that was prepared and rejected, and loses no delta that only such a one had applied", async () => {
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

  it("row 26: R-CMP-33 the next repair finds the result of a restore or a repair, right after it", async () => {
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
      const mirror = JSON.parse(
        Buffer.from((await machine.objects.get(scope, "vectors/c/HEAD.json")) ?? []).toString(),
      ) as { version: number };
      expect(mirror.version).toBe(version);
    }
  });

  it("row 26: R-CMP-33 the newest version is found without its mirror, or with a stale one", async () => {
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

  it("R-CMP-33 a bucket without any complete version is reported, not guessed at", async () => {
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
  for (let shard = 0; shard < 8; shard += 1)
    await items.deletePartition(scope, vectorWorkContainer.name, [String(shard)]);
}
