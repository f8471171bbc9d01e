/**
 * The fault matrix, continued: a process that stalls at any of its calls for longer than a lease while others work, and then continues; two
 * faults in a row; a collection that is deleted meanwhile.
 */
import { describe, expect, it } from "vitest";
import { PinakesError } from "../../src/domain/errors.ts";
import type { FaultKind } from "./support/calls.ts";
import { at, callsOf, everyCall, expectRecovered, prepared } from "./support/fault-runs.ts";
import { Machine, hourMs, scope, type Process } from "./support/machine.ts";
import {
  appendScenario,
  collectScenario,
  foldScenario,
  mergeScenario,
  put,
  redriveScenario,
  restoreScenario,
  row,
  type Scenario,
} from "./support/scenarios.ts";
import { codeOf, expectClean, recover, rowsOf } from "./support/state.ts";

/** Runs the scenario up to the call, then `meanwhile` in another process, then the rest of the scenario. */
async function stall(
  scenario: Scenario,
  number: number,
  meanwhile: (other: Process) => Promise<void>,
): Promise<Machine> {
  const { machine, process } = await prepared(scenario);
  const gate = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  process.calls.add({ at: number, kind: "hold", until: gate.promise, reached: reached.resolve });
  const ended = process.outcome((own) => scenario.act(own));
  await Promise.race([reached.promise, ended]);
  expect(process.calls.waiting).toBe(0);
  await meanwhile(machine.process());
  gate.resolve();
  const outcome = await ended;
  if (outcome !== "died" && "error" in outcome && !PinakesError.isInstance(outcome.error)) throw outcome.error;
  return machine;
}

/** Others compact, collect and write. */
async function othersWork(other: Process): Promise<void> {
  await recover(other.machine, other);
  await other.vectors.append(scope, "c", { deltaId: "later", upsert: [put("later", 8)] });
  await other.vectors.compact(scope, "c");
  await other.vectors.collect(scope, "c");
}

/** Others take over, publish nothing, and collect: the first one's objects are removed. */
async function othersOnlyCollect(other: Process): Promise<void> {
  const signal = AbortSignal.abort();
  await other.vectors.compact(scope, "c", { signal });
  other.machine.now += 30_000;
  await other.vectors.compact(scope, "c", { signal });
  expect(await other.vectors.collect(scope, "c")).toMatchObject({ outcome: "done" });
}

async function stallsEverywhere(scenario: Scenario): Promise<void> {
  const withLater = (rows: readonly string[]): string[] => [...rows, row("later", 8)].sort();
  await everyCall(scenario, async (number) => {
    const machine = await stall(scenario, number, othersWork);
    await expectRecovered(
      {
        ...scenario,
        expected: withLater(scenario.expected),
        ...(scenario.before === undefined ? {} : { before: withLater(scenario.before) }),
      },
      machine,
    );
  });
}

describe("vectors: a process that stalls at any call", () => {
  it("rows 2, 4, 7: an append that was overtaken by a garbage collection puts its object again and exists once", () =>
    stallsEverywhere(appendScenario));
  it("rows 9, 11, 22: R-CMP-12 a fold that was overtaken never publishes over its successor", () =>
    stallsEverywhere(foldScenario));
  it("rows 9, 11, 22: R-CMP-12 a merge that was overtaken never publishes over its successor", () =>
    stallsEverywhere(mergeScenario));
  for (const scenario of [foldScenario, mergeScenario]) {
    it(`rows 9, 22: R-CMP-12 a ${scenario.name} whose lease and objects were taken, without another publish, publishes nothing either`, () =>
      everyCall(scenario, async (number) =>
        expectRecovered(scenario, await stall(scenario, number, othersOnlyCollect)),
      ));
  }
  it("row 21: R-CMP-31 a garbage collection that was overtaken by a compactor deletes nothing live", () =>
    stallsEverywhere(collectScenario));
  it("row 23: R-CMP-10 a redrive that was overtaken overrides nothing newer", () => stallsEverywhere(redriveScenario));

  it("row 25: R-CMP-30 a restore that was overtaken by writes comes before them or after them as a whole", async () => {
    await everyCall(restoreScenario, async (number) => {
      const machine = await stall(restoreScenario, number, othersWork);
      const next = await recover(machine);
      const rows = await rowsOf(next.vectors);
      const after = [...restoreScenario.expected, row("later", 8)].sort();
      expect([restoreScenario.expected, after]).toContainEqual(rows);
      await expectClean(next);
    });
  });

  it("row 28: a clock that is an hour early or late changes nothing: the lease expires by the observer's own, the epoch decides", async () => {
    for (const skewMs of [-hourMs, hourMs]) {
      const { machine } = await prepared(foldScenario);
      const skewed = machine.process({ skewMs });
      const gate = Promise.withResolvers<void>();
      const reached = Promise.withResolvers<void>();
      skewed.calls.add({
        at: (name) => name.startsWith("batch check fence, check lease"),
        kind: "hold",
        until: gate.promise,
        reached: reached.resolve,
      });
      const ended = skewed.vectors.compact(scope, "c");
      await reached.promise;
      const other = machine.process({ skewMs: -skewMs });
      expect(await other.vectors.compact(scope, "c")).toMatchObject({ outcome: "busy" });
      machine.now += 29_000;
      expect(await other.vectors.compact(scope, "c")).toMatchObject({ outcome: "busy" });
      machine.now += 1_000;
      expect(await other.vectors.compact(scope, "c")).toMatchObject({ outcome: "done", folds: 1 });
      gate.resolve();
      expect(await ended).toMatchObject({ outcome: "fenced", folds: 0 });
      await expectRecovered(foldScenario, machine);
    }
  });
});

describe("vectors: two faults", () => {
  it("R-CMP-19 a second fault while the first is being recovered from, at random calls of both: the third process ends in the same state", async () => {
    const random = mulberry(20_300_101);
    const kinds: readonly FaultKind[] = ["crash-before", "crash-after", "error-before", "error-after"];
    for (const scenario of [appendScenario, foldScenario, mergeScenario, collectScenario, redriveScenario]) {
      const count = await callsOf(scenario);
      for (let pair = 0; pair < 24; pair += 1) {
        const first = { at: Math.floor(random() * count), kind: kinds[pair % 4] as FaultKind };
        const second = { at: Math.floor(random() * 60), kind: kinds[Math.floor(pair / 4) % 4] as FaultKind };
        await at(`${scenario.name}, ${JSON.stringify(first)} then ${JSON.stringify(second)}`, async () => {
          const { machine, process } = await prepared(scenario);
          process.calls.add(first);
          await process.outcome((own) => scenario.act(own));
          const helper = machine.process();
          helper.calls.add(second);
          await helper.outcome((own) => recover(machine, own));
          await expectRecovered(scenario, machine);
        });
      }
    }
  });
});

function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

async function expectGone(machine: Machine): Promise<void> {
  const next = machine.process();
  machine.now += 25 * hourMs;
  await next.worker.sweep();
  expect(await machine.keys()).toEqual([]);
  expect(await machine.itemIds("c")).toEqual(["fence"]);
  expect(await machine.work()).toEqual([]);
  expect(await codeOf(next.vectors.stats(scope, "c"))).toBe("NOT_FOUND");
  expect(await codeOf(next.vectors.append(scope, "c", { upsert: [put("z", 1)] }))).toBe("NOT_FOUND");
  expect(await codeOf(next.vectors.create(scope, "c", { dims: 3 }))).toBe("CONFLICT");
}

describe("vectors: deleted meanwhile", () => {
  for (const scenario of [
    appendScenario,
    foldScenario,
    mergeScenario,
    collectScenario,
    redriveScenario,
    restoreScenario,
  ]) {
    it(`row 24: R-CMP-32 purged at any call of ${scenario.name}: it is rejected, and nothing of it is left after the second sweep`, () =>
      everyCall(scenario, async (number) => {
        const machine = await stall(scenario, number, async (other) => void (await other.vectors.purge(scope, "c")));
        await expectGone(machine);
      }));
  }

  for (const scenario of [appendScenario, foldScenario, mergeScenario, collectScenario]) {
    it(`row 24: R-CMP-32 deleted and undeleted at any call of ${scenario.name}: it is as if nothing had happened`, () =>
      everyCall(scenario, async (number) => {
        const machine = await stall(scenario, number, async (other) => {
          await other.vectors.delete(scope, "c", { purgeAt: machineTime(other) + hourMs });
          expect(await codeOf(other.vectors.count(scope, "c"))).toBe("NOT_FOUND");
          await other.worker.sweep();
          await other.vectors.undelete(scope, "c");
        });
        await expectRecovered(scenario, machine);
      }));
  }

  it("R-CMP-32 a purge that is killed or fails at any call is finished by the background", async () => {
    const count = await purgeCalls();
    for (const kind of ["crash-before", "crash-after", "error-before", "error-after"] as const) {
      for (let number = 0; number < count; number += 1) {
        await at(`purge, ${kind} call ${number}`, async () => {
          const { machine, process } = await prepared(mergeScenario);
          process.calls.add({ at: number, kind });
          const outcome = await process.outcome((own) => own.vectors.purge(scope, "c"));
          const next = machine.process();
          // Before anything was written the request is unknown; then the caller repeats it.
          if ((await machine.work()).every((entry) => !entry.startsWith("purge"))) await next.vectors.purge(scope, "c");
          await next.worker.sweep();
          if ((await next.site().fence())?.status === "active") {
            expect(outcome).not.toHaveProperty("value");
            await next.vectors.purge(scope, "c");
          }
          await expectGone(machine);
        });
      }
    }
  });

  it("R-CMP-32 a delete and an undelete that die at any call have happened or not, and can be repeated", async () => {
    for (const kind of ["crash-before", "crash-after", "error-before", "error-after"] as const) {
      for (let number = 0; number < 9; number += 1) {
        await at(`delete and undelete, ${kind} call ${number}`, async () => {
          const { machine, process } = await prepared(foldScenario);
          process.calls.add({ at: number, kind });
          await process.outcome(async ({ vectors }) => {
            await vectors.delete(scope, "c", { purgeAt: machine.now + 100 * hourMs });
            await vectors.undelete(scope, "c");
          });
          const next = machine.process();
          const fence = await next.site().fence();
          expect(["active", "trashed"]).toContain(fence?.status);
          if (fence?.status === "trashed") await next.vectors.undelete(scope, "c");
          await expectRecovered(foldScenario, machine);
          machine.now += 200 * hourMs;
          await recover(machine, next); // A leftover request to purge finds the collection active, and is removed.
          expect(await rowsOf(next.vectors)).toEqual(foldScenario.expected);
        });
      }
    }
  });

  it("row 1: creating a collection can die at any call and be repeated", async () => {
    for (const kind of ["crash-before", "crash-after", "error-before", "error-after"] as const) {
      for (let number = 0; number < 2; number += 1) {
        const machine = await Machine.open();
        const process = machine.process();
        process.calls.add({ at: number, kind });
        await process.outcome(({ vectors }) => vectors.create(scope, "c", { dims: 3 }));
        const next = machine.process();
        await next.vectors.create(scope, "c", { dims: 3 });
        expect(await rowsOf(next.vectors)).toEqual([]);
        await expectClean(next);
      }
    }
  });
});

async function purgeCalls(): Promise<number> {
  const { process } = await prepared(mergeScenario);
  await process.vectors.purge(scope, "c");
  return process.calls.names.length;
}

function machineTime({ machine }: Process): number {
  return machine.now;
}
