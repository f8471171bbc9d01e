/** Rows of the fault matrix that are about one particular moment, each as a test of its own: writing, leases, folding, publishing. */
import { describe, expect, it } from "vitest";
import { PinakesError } from "../../src/domain/errors.ts";
import { vectorLimits } from "../../src/vectors/limits.ts";
import { openVectors } from "../../src/vectors/open-vectors.ts";
import { buildDelta } from "../../src/vectors/segment/build-delta.ts";
import { itemIds, vectorsContainer, type Delta } from "../../src/vectors/store/records.ts";
import { Machine, hourMs, scope, system, type Process } from "./support/machine.ts";
import { deadDelta, foldScenario, mergeScenario, put, row } from "./support/scenarios.ts";
import { codeOf, expectClean, recover, refusalOf, rowsOf } from "./support/state.ts";

async function fresh(): Promise<{ machine: Machine; process: Process }> {
  const machine = await Machine.open();
  const process = machine.process();
  await process.vectors.create(scope, "c", { dims: 3, metric: "dot" });
  return { machine, process };
}

const published = (name: string): boolean => name.startsWith("batch check fence, check lease");
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

  it("row 6: R-CMP-03 the same id with other content is refused with 409, before and after it was folded, and in one batch", async () => {
    const { process } = await fresh();
    await process.vectors.append(scope, "c", { deltaId: "d1", upsert: [put("a", 1)] });
    expect(await refusalOf(process.vectors.append(scope, "c", { deltaId: "d1", upsert: [put("a", 2)] }))).toMatchObject({ code: "CONFLICT", status: 409 });
    await process.vectors.compact(scope, "c");
    expect(await codeOf(process.vectors.append(scope, "c", { deltaId: "d1", delete: ["a"] }))).toBe("CONFLICT");
    const both = await Promise.allSettled([1, 2].map((x) => process.vectors.append(scope, "c", { deltaId: "d2", upsert: [put("b", x)] })));
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(await process.vectors.stats(scope, "c")).toMatchObject({ lastSeq: 2 });
    await recover(process.machine, process);
    await expectClean(process);
  });

  it("row 3: R-CMP-02 an object that arrived in part is never shown: not before its commit, and not after the bytes were cut", async () => {
    const { machine, process } = await fresh();
    process.calls.add({ at: (name) => name.startsWith("put vectors/c/deltas/"), kind: "error-after" });
    expect(await codeOf(process.vectors.append(scope, "c", { upsert: [put("a", 1)] }))).toBe("UNAVAILABLE");
    expect(await rowsOf(process.vectors)).toEqual([]);
    await process.vectors.append(scope, "c", { upsert: [put("b", 1)] });
    const key = (await machine.keys("vectors/c/deltas/")).at(-1) as string;
    const whole = (await machine.objects.get(scope, key)) as Uint8Array;
    for (const bytes of [0, 63, 64, whole.length - 1]) {
      await machine.objects.put(scope, key, whole.slice(0, bytes));
      expect(await refusalOf(rowsOf(process.vectors))).toMatchObject({ code: "CORRUPT", message: expect.stringContaining(key) });
    }
    await machine.objects.put(scope, key, whole);
    expect(await rowsOf(process.vectors)).toEqual([row("b", 1)]);
  });

  it("row 7: of two writers of one id the one with the higher seq wins, in fresh deltas as in segments", async () => {
    const { machine, process } = await fresh();
    const other = machine.process();
    const results = await Promise.all(
      [1, 2, 3, 4, 5, 6].map(async (x) => ({ x, seq: (await (x % 2 === 0 ? process : other).vectors.append(scope, "c", { upsert: [put("same", x)] })).seq })),
    );
    const newest = results.toSorted((a, b) => b.seq - a.seq)[0]?.x as number;
    expect(await rowsOf(machine.process().vectors)).toEqual([row("same", newest)]);
    await recover(machine);
    expect(await rowsOf(machine.process().vectors)).toEqual([row("same", newest)]);
  });

  it("row 4: R-CMP-02 an object that a collection took before its commit is put again under another name", async () => {
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
    await Promise.all(Array.from({ length: 100 }, (_, i) => (i % 2 === 0 ? first : second).vectors.append(scope, "c", { upsert: [put(`r${i}`, i)] })));
    expect(await machine.keys("vectors/c/deltas/")).toHaveLength(100);
    expect(await rowsOf(machine.process().vectors)).toHaveLength(100);
    await first.close();
    await second.close();
  });
});

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

  it("row 18: R-CMP-12 after an owner ended another takes over when the ttl has passed, not before; a heartbeat puts it off", async () => {
    const machine = await Machine.open();
    await foldScenario.prepare(machine.process());
    const owner = machine.process();
    owner.calls.add({ at: (name) => name.startsWith("put vectors/c/segments/"), kind: "hold", until: new Promise(() => {}) });
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

  it("rows 10, 11: R-CMP-13 a heartbeat or a release of one whose lease was taken over changes nothing, and it stops", async () => {
    const machine = await Machine.open();
    await foldScenario.prepare(machine.process());
    const zombie = machine.process();
    const gate = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    zombie.calls.add({ at: (name) => name.startsWith("query") && name.includes("request."), kind: "hold", until: gate.promise, reached: reached.resolve });
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

  it("row 10: R-CMP-13 a heartbeat that the store did not take ends nothing by itself: the epoch decides at the publish", async () => {
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
      const built = buildDelta("c", { dims: 5, metric: "dot", language: "english" }, [{ id: "a", op: "put", vector: new Float32Array(5) }]);
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
    it(`row 12: R-CMP-09 a delta that is ${what} is dead after five tries, with its reason; what comes after it advances, also elsewhere`, async () => {
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
        expect(await process.vectors.stats(scope, "c")).toMatchObject({ appliedSeq: 1, deadDeltas: 0, pendingDeltas: 2 });
        expect(await process.site().read<Delta>(itemIds.delta(2))).toMatchObject({ failures: i });
      }
      expect(await process.vectors.stats(scope, "elsewhere")).toMatchObject({ pendingDeltas: 0 });
      await process.worker.sweep();
      expect(await process.vectors.dead.list(scope, "c")).toMatchObject([{ seq: 2, deltaId: "bad", error: expect.stringMatching(/./) as string }]);
      expect(await process.vectors.stats(scope, "c")).toMatchObject({ appliedSeq: 3, deadDeltas: 1, pendingDeltas: 0 });
      expect(await rowsOf(process.vectors)).toEqual([row("after", 1), row("before", 1)]);
    });
  }

  it("row 13: R-CMP-09 trouble of the store (500, 503, timeouts) never counts, however often; busy neither", async () => {
    const { machine, process } = await fresh();
    await process.vectors.append(scope, "c", { upsert: [put("a", 1)] });
    const errors = ["UNAVAILABLE", "THROTTLED"] as const;
    for (let i = 0; i < 20; i += 1) {
      const error = new PinakesError(errors[i % 2] as "UNAVAILABLE", "S3 did not answer");
      process.calls.add({ at: (name) => name.startsWith("get vectors/c/deltas/"), kind: "error-before", error });
      expect(await process.vectors.compact(scope, "c")).toMatchObject({ outcome: "waiting", reason: "S3 did not answer" });
    }
    expect(await process.site().read<Delta>(itemIds.delta(1))).toMatchObject({ failures: 0 });
    await recover(machine);
    expect(await process.vectors.stats(scope, "c")).toMatchObject({ deadDeltas: 0, pendingDeltas: 0 });
    expect(await rowsOf(process.vectors)).toEqual([row("a", 1)]);
  });
});

describe("vectors: publishing", () => {
  for (const folder of ["segments", "deletions"]) {
    for (const [what, change] of [
      ["changed", (bytes: Uint8Array) => bytes.map((byte, i) => (i === bytes.length - 3 ? byte ^ 4 : byte))],
      ["cut short", (bytes: Uint8Array) => bytes.slice(0, -7)],
      ["swapped for another file", () => new Uint8Array(200)],
    ] as const) {
      it(`row 15: R-CMP-18 bytes of ${folder} that were ${what} on their way into the store are noticed before anything refers to them`, async () => {
        const machine = await Machine.open();
        await foldScenario.prepare(machine.process());
        const process = machine.process();
        const { put: honest } = machine.objects;
        let altered = 0;
        machine.objects.put = async (...[who, key, body, options]) => {
          const bytes = key.includes(`/${folder}/`) && altered === 0 ? ((altered += 1), change(body as Uint8Array)) : body;
          return honest.call(machine.objects, who, key, bytes, options);
        };
        const version = (await process.vectors.stats(scope, "c")).version;
        expect(await codeOf(process.vectors.compact(scope, "c"))).toBe("CORRUPT");
        expect(altered).toBe(1);
        expect((await process.vectors.stats(scope, "c")).version).toBe(version);
        expect(await rowsOf(process.vectors)).toEqual(foldScenario.expected);
        await recover(machine);
        expect(await rowsOf(process.vectors)).toEqual(foldScenario.expected);
        await expectClean(process);
      });
    }
  }

  it("row 15: R-CMP-18 a builder that drops, repeats or mixes up rows is noticed by counts and sums before it is published", async () => {
    for (const prepare of [foldScenario.prepare, mergeScenario.prepare]) {
      for (const wrong of [(list: number[]) => list.slice(1), (list: number[]) => [...list.slice(1), list[1] as number]]) {
        const machine = await Machine.open();
        await prepare(machine.process());
        const process = machine.process();
        const { builder } = process.parts;
        const merge: typeof builder.merge = async (name, settings, sources, picks) => {
          const kept = wrong([...picks.row.keys()]);
          const pick = (list: Uint32Array): Uint32Array => Uint32Array.from(kept, (i) => list[i] as number);
          return builder.merge(name, settings, sources, { source: pick(picks.source), row: pick(picks.row) });
        };
        Object.assign(process.parts, { builder: { ...builder, merge } });
        const version = (await process.vectors.stats(scope, "c")).version;
        await expect(process.vectors.compact(scope, "c")).rejects.toThrow();
        expect((await process.vectors.stats(scope, "c")).version).toBe(version);
      }
    }
  });

  it("row 16: R-CMP-21 a publish whose answer is lost is found to have happened, and not repeated", async () => {
    const machine = await Machine.open();
    await foldScenario.prepare(machine.process());
    const process = machine.process();
    const { version } = await process.vectors.stats(scope, "c");
    process.calls.add({ at: published, kind: "error-after" });
    expect(await process.vectors.compact(scope, "c")).toMatchObject({ outcome: "done", folds: 1 });
    const history = await process.vectors.history(scope, "c");
    expect(history.filter(({ reason, version: number }) => reason === "fold" && number > version)).toHaveLength(1);
    expect(process.calls.names.filter(published).length).toBe(history.length - version - 1);
  });

  it("row 16: R-CMP-21 a publish that failed before it arrived is not taken for done: the run says so, the next one does it", async () => {
    const machine = await Machine.open();
    await foldScenario.prepare(machine.process());
    const process = machine.process();
    const { version } = await process.vectors.stats(scope, "c");
    process.calls.add({ at: published, kind: "error-before" });
    expect(await codeOf(process.vectors.compact(scope, "c"))).toBe("UNAVAILABLE");
    expect((await process.vectors.stats(scope, "c")).version).toBe(version);
    await recover(machine);
    expect(await rowsOf(process.vectors)).toEqual(foldScenario.expected);
  });

  it("row 17: a mirror that was not written, or went back, is right after the next run", async () => {
    const machine = await Machine.open();
    await foldScenario.prepare(machine.process());
    const process = machine.process();
    process.calls.add({ at: (name) => name === "put vectors/c/HEAD.json", kind: "crash-before" });
    expect(await process.outcome(({ vectors }) => vectors.compact(scope, "c"))).toBe("died");
    const next = await recover(machine);
    const { commitId, version } = (await next.site().state()).head;
    const mirror = (): Promise<unknown> =>
      machine.objects.get(scope, "vectors/c/HEAD.json").then((bytes) => JSON.parse(Buffer.from(bytes ?? []).toString()) as unknown);
    expect(await mirror()).toMatchObject({ commitId, version });
    await machine.objects.delete(scope, ["vectors/c/HEAD.json"]);
    await next.vectors.compact(scope, "c");
    expect(await mirror()).toMatchObject({ commitId, version });
  });

  it("R-CMP-20 deltas that were applied are not applied again: by a second run, a repeat of the sender, or one who knows only an old head", async () => {
    const machine = await Machine.open({ appliedDeltaMs: hourMs });
    await foldScenario.prepare(machine.process());
    const process = machine.process();
    const late = machine.process();
    const gate = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    late.calls.add({
      at: (name) => name.startsWith("query vectors") && name.includes("delta."),
      kind: "hold-after",
      until: gate.promise,
      reached: reached.resolve,
    });
    const ended = late.vectors.compact(scope, "c");
    await reached.promise;
    await process.vectors.compact(scope, "c");
    machine.now += 30_000;
    await process.vectors.compact(scope, "c");
    const { version } = await process.vectors.stats(scope, "c");
    gate.resolve();
    expect(await ended).toMatchObject({ outcome: "fenced", folds: 0 });
    expect(await process.vectors.compact(scope, "c")).toMatchObject({ outcome: "done", folds: 0, merges: 0, rowsWritten: 0 });
    expect(
      await process.vectors.append(scope, "c", { deltaId: "d", upsert: [put("b", 20), put("y", 4)], patch: [{ id: "a", metadata: { m: 2 } }], delete: ["x"] }),
    ).toMatchObject({ repeated: true });
    expect(await process.vectors.compact(scope, "c")).toMatchObject({ folds: 0 });
    expect((await process.vectors.stats(scope, "c")).version).toBe(version);
    expect(await rowsOf(process.vectors)).toEqual(foldScenario.expected);
  });
});

describe("vectors: dead letters", () => {
  it("R-CMP-10 they are listed and inspected, redriven with their old place in the order, and discarded for good", async () => {
    const machine = await Machine.open();
    const process = machine.process();
    const { vectors } = process;
    const seq = await deadDelta(process, { upsert: [{ ...put("lost", 7), text: "found again" }, put("b", 1)], delete: ["x"] });
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
    expect((await vectors.get(scope, "c", ["b", "lost", "x"])).map((found) => found?.vector[0])).toEqual([50, 7, undefined]);
    await expectClean(process);
  });

  it("R-CMP-10 one that was discarded is gone, and one that is still damaged stays dead", async () => {
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

  it("row 23: R-CMP-24 a tombstone stays in the segments, also through merges, while an older dead delta could bring the row back", async () => {
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
    const rows = async (): Promise<number> => (await vectors.stats(scope, "c")).segments.reduce((sum, segment) => sum + segment.rows, 0);
    expect(await rows()).toBe((await vectors.count(scope, "c")) + 1);
    await vectors.dead.redrive(scope, "c", seq);
    await vectors.compact(scope, "c");
    expect((await vectors.get(scope, "c", ["gone", "kept"])).map((found) => found?.id)).toEqual([undefined, "kept"]);
    await vectors.compact(scope, "c", { all: true });
    expect(await rows(), "with no dead delta left the tombstone goes").toBe(await vectors.count(scope, "c"));
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
