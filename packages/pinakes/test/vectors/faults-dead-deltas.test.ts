/** Rows of the fault matrix about deltas that cannot be read, and what happens when they are dead. */
import { describe, expect, it } from "vitest";
import { PinakesError } from "../../src/domain/errors.ts";
import { vectorLimits } from "../../src/vectors/limits.ts";
import { buildDelta } from "../../src/vectors/build/build-delta.ts";
import { itemIds, vectorsContainer, type Delta } from "../../src/vectors/store/records.ts";
import { fresh } from "./support/fresh.ts";
import { Machine, scope } from "./support/machine.ts";
import { deadDelta, put, row } from "./support/scenarios.ts";
import { codeOf, expectClean, recover, rowsOf } from "./support/state.ts";

describe("vectors: deltas that cannot be read", () => {
  const damages: Record<string, (machine: Machine, key: string, whole: Uint8Array) => Promise<unknown>> = {
    damaged: ({ objects }, key, whole) =>
      objects.put(
        scope,
        key,
        whole.map((byte, i) => (i === 70 ? byte ^ 1 : byte)),
      ),
    truncated: ({ objects }, key, whole) => objects.put(scope, key, whole.slice(0, 100)),
    empty: ({ objects }, key) => objects.put(scope, key, new Uint8Array()),
    missing: ({ objects }, key) => objects.delete(scope, [key]),
    "of other dimensions": async (machine, key) => {
      const built = buildDelta("c", { dims: 5, metric: "dot", language: "english" }, [
        { id: "a", op: "put", vector: new Float32Array(5) },
      ]);
      await machine.objects.put(scope, key, built.bytes);
      const { sha256, headBytes } = built;
      const patch = Object.entries({ sha256, headBytes, bytes: built.bytes.byteLength }).map(([name, value]) => ({
        op: "set" as const,
        path: `/${name}`,
        value,
      }));
      await machine.items.write(scope, vectorsContainer.name, ["c"], { op: "patch", id: itemIds.delta(2), patch });
    },
  };
  for (const [what, damage] of Object.entries(damages)) {
    it(`row 12: R-CMP-09 a delta that is ${what} is dead after five attempts, with its reason; later ones advance, also elsewhere`, async () => {
      const { machine, process } = await fresh();
      await process.vectors.append(scope, "c", { upsert: [put("before", 1)] });
      await process.vectors.compact(scope, "c");
      const there = new Set(await machine.keys("vectors/c/deltas/"));
      await process.vectors.append(scope, "c", { deltaId: "bad", upsert: [put("bad", 1)] });
      const key = (await machine.keys("vectors/c/deltas/")).find((name) => !there.has(name)) as string;
      await process.vectors.append(scope, "c", { upsert: [put("after", 1)] });
      await damage(machine, key, (await machine.objects.get(scope, key)) as Uint8Array);
      await process.vectors.create(scope, "elsewhere", { dims: 3 });
      await process.vectors.append(scope, "elsewhere", { upsert: [put("x", 1)] });
      for (let i = 1; i < vectorLimits.deltaFailuresMax; i += 1) {
        await process.worker.sweep();
        expect(await process.vectors.stats(scope, "c")).toMatchObject({
          appliedSeq: 1,
          deadDeltas: 0,
          pendingDeltas: 2,
        });
        expect(await process.site().read<Delta>(itemIds.delta(2))).toMatchObject({ failures: i });
      }
      expect(await process.vectors.stats(scope, "elsewhere")).toMatchObject({ pendingDeltas: 0 });
      await process.worker.sweep();
      expect(await process.vectors.dead.list(scope, "c")).toMatchObject([
        { seq: 2, deltaId: "bad", error: expect.stringMatching(/./) as string },
      ]);
      expect(await process.vectors.stats(scope, "c")).toMatchObject({ appliedSeq: 3, deadDeltas: 1, pendingDeltas: 0 });
      expect(await rowsOf(process.vectors)).toEqual([row("after", 1), row("before", 1)]);
    });
  }

  it("row 13: R-CMP-09 errors of the store (500, 503, timeouts) never count, however often; busy neither", async () => {
    const { machine, process } = await fresh();
    await process.vectors.append(scope, "c", { upsert: [put("a", 1)] });
    const errors = ["UNAVAILABLE", "THROTTLED"] as const;
    for (let i = 0; i < 20; i += 1) {
      const error = new PinakesError(errors[i % 2] as "UNAVAILABLE", "S3 did not answer");
      process.calls.add({ at: (name) => name.startsWith("get vectors/c/deltas/"), kind: "error-before", error });
      expect(await process.vectors.compact(scope, "c")).toMatchObject({
        outcome: "waiting",
        reason: "S3 did not answer",
      });
    }
    expect(await process.site().read<Delta>(itemIds.delta(1))).toMatchObject({ failures: 0 });
    await recover(machine);
    expect(await process.vectors.stats(scope, "c")).toMatchObject({ deadDeltas: 0, pendingDeltas: 0 });
    expect(await rowsOf(process.vectors)).toEqual([row("a", 1)]);
  });
});

describe("vectors: dead letters", () => {
  it("R-CMP-10 they are listed and inspected, redriven at their old position in the order, and discarded for good", async () => {
    const machine = await Machine.open();
    const process = machine.process();
    const { vectors } = process;
    const seq = await deadDelta(process, {
      upsert: [{ ...put("lost", 7), text: "found again" }, put("b", 1)],
      delete: ["x"],
    });
    expect(await vectors.dead.inspect(scope, "c", seq)).toMatchObject({
      seq,
      content: expect.arrayContaining([
        { id: "lost", op: "put", text: "found again" },
        { id: "b", op: "put" },
        { id: "x", op: "delete" },
      ]) as unknown,
    });
    expect(await codeOf(vectors.dead.inspect(scope, "c", 99))).toBe("NOT_FOUND");
    expect(await codeOf(vectors.dead.redrive(scope, "c", 99))).toBe("NOT_FOUND");
    await vectors.append(scope, "c", { upsert: [put("b", 50)] });
    await vectors.compact(scope, "c");
    await vectors.dead.redrive(scope, "c", seq);
    await recover(machine);
    expect(await vectors.dead.list(scope, "c")).toEqual([]);
    expect((await vectors.get(scope, "c", ["b", "lost", "x"])).map((found) => found?.vector[0])).toEqual([
      50,
      7,
      undefined,
    ]);
    await expectClean(process);
  });

  it("R-CMP-10 a discarded one is gone, and one that is still corrupt stays dead", async () => {
    const machine = await Machine.open();
    const process = machine.process();
    const seq = await deadDelta(process, { upsert: [put("lost", 7)] });
    const [dead] = await process.vectors.dead.list(scope, "c");
    const key = dead?.key as string;
    const whole = (await machine.objects.get(scope, key)) as Uint8Array;
    await machine.objects.put(scope, key, whole.slice(0, 50));
    await process.vectors.dead.redrive(scope, "c", seq);
    await recover(machine);
    expect(await process.vectors.dead.list(scope, "c")).toMatchObject([{ seq }]);
    await process.vectors.dead.discard(scope, "c", seq);
    await recover(machine);
    expect(await process.vectors.dead.list(scope, "c")).toEqual([]);
    await expectClean(process);
    expect(await machine.keys(key)).toEqual([]);
  });

  it("row 23: R-CMP-24 a tombstone is kept in the segments, also through merges, while an older dead delta could resurrect the row", async () => {
    const machine = await Machine.open();
    const process = machine.process();
    const { vectors } = process;
    const seq = await deadDelta(process, { upsert: [put("gone", 7), put("kept", 7)] });
    await vectors.append(scope, "c", { delete: ["gone"] });
    await vectors.compact(scope, "c");
    for (const x of [1, 2, 3, 4, 5]) {
      await vectors.append(scope, "c", { upsert: [put(`more${x}`, x)] });
      await vectors.compact(scope, "c", { all: true });
    }
    const rows = async (): Promise<number> =>
      (await vectors.stats(scope, "c")).segments.reduce((sum, segment) => sum + segment.rows, 0);
    expect(await rows()).toBe((await vectors.count(scope, "c")) + 1);
    await vectors.dead.redrive(scope, "c", seq);
    await vectors.compact(scope, "c");
    expect((await vectors.get(scope, "c", ["gone", "kept"])).map((found) => found?.id)).toEqual([undefined, "kept"]);
    await vectors.compact(scope, "c", { all: true });
    expect(await rows(), "without dead deltas the tombstone is removed").toBe(await vectors.count(scope, "c"));
    await recover(machine);
    await expectClean(process);
  });

  it("R-CMP-24 without a dead delta a delete leaves no tombstone at all", async () => {
    const { process } = await fresh();
    await process.vectors.append(scope, "c", { upsert: [put("a", 1), put("b", 1)] });
    await process.vectors.compact(scope, "c");
    await process.vectors.append(scope, "c", { delete: ["a", "never there"] });
    await process.vectors.compact(scope, "c");
    const { segments } = await process.vectors.stats(scope, "c");
    expect(segments.map(({ rows, live }) => [rows, live])).toEqual([[2, 1]]);
  });
});
