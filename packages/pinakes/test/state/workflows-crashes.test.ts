/**
 * A process that dies, or whose call fails, at any of its calls: what was acknowledged is there, what was not left nothing that anybody
 * sees, and a sweep of another process leaves nothing at all behind.
 */
import type { NewWorkflow } from "@pinakes/client";
import { describe, expect, it } from "vitest";
import { PinakesError } from "../../src/domain/errors.ts";
import { workflowLimits } from "../../src/state/workflows/limits.ts";
import type { FaultKind } from "../vectors/support/calls.ts";
import { ann, blob, day, idsOf, minute, openWorld, long, type Process, type World } from "./workflows-support.ts";

const kinds: readonly FaultKind[] = ["crash-before", "crash-after", "error-before", "error-after"];
const huge = workflowLimits.checkpointItemBytesMax + 1;

interface Case {
  readonly prepare?: (process: Process) => Promise<unknown>;
  readonly run: (process: Process) => Promise<unknown>;
  /** What must hold right after, before anybody cleaned up; `done` when the call was acknowledged. */
  readonly check: (process: Process, done: boolean, at: string) => Promise<void>;
  readonly callsMin: number;
}

/** One run with a fault at the n-th call; false when there is no such call any more. */
async function faultAt({ prepare, run, check }: Case, n: number, kind: FaultKind): Promise<boolean> {
  const world = await openWorld();
  await prepare?.(await world.process());
  const process = await world.process();
  process.calls.add({ at: n, kind });
  const outcome = run(process).then(
    () => true,
    () => false,
  );
  const done = await Promise.race([outcome, process.calls.died.then(() => false)]);
  const name = process.calls.names[n];
  if (name === undefined) return false;
  const at = `${kind} at call ${n}, ${name}`;
  const other = await world.process();
  await check(other, done, at);
  await expectNothingLeft(world, other, at);
  return true;
}

/** Time passes, somebody sweeps; then every item and object belongs to a workflow that is there. */
async function expectNothingLeft(world: World, process: Process, at: string): Promise<void> {
  world.clock.advance(11 * minute);
  await process.sweep();
  world.clock.advance(minute);
  await process.sweep();
  const there = await process.workflows.get(ann, "w", { checkpoints: "none" }).catch(() => undefined);
  const ids = await idsOf(world, "w");
  const objects = (await world.objects.list(ann.scope, "")).keys;
  if (there === undefined) expect([ids, objects], at).toEqual([[], []]);
  else {
    const { items } = await process.workflows.checkpoints(ann, "w", { limit: 100 });
    expect(
      ids.filter((id) => id.startsWith("~checkpoint-")),
      at,
    ).toHaveLength(items.length);
    expect(
      ids.filter((id) => id.startsWith("~create-")),
      at,
    ).toEqual([]);
    expect(ids, at).toContain("~lease");
  }
  // And in the end nothing is left of anybody.
  world.clock.advance(40 * day);
  await process.sweep();
  await world.items.purgeExpired(process.parts.system, "workflow-states");
  await process.sweep();
  expect([await idsOf(world, "w"), (await world.objects.list(ann.scope, "")).keys], at).toEqual([[], []]);
}

const large = (n: number): NewWorkflow =>
  long({
    workflow_id: "w",
    checkpoints: Array.from({ length: 30 }, (_, step) => ({
      step,
      timestamp: "2030-01-01T00:00:00Z",
      state: { n, text: blob(step === 29 ? huge : 100_000, step) },
      agent_context: {},
    })),
  });

const cases: Readonly<Record<string, Case>> = {
  "creating with large checkpoints": {
    run: ({ workflows }) => workflows.create(ann, large(1)),
    check: async ({ workflows }, done, at) => {
      const found = await workflows.get(ann, "w").catch((error: unknown) => error);
      if (PinakesError.isInstance(found)) expect([done, found.code], at).toEqual([false, "NOT_FOUND"]);
      else
        expect((await workflows.resume(ann, "w")).checkpoint, at).toMatchObject({
          step: 29,
          state: { n: 1, text: blob(huge, 29) },
        });
      if (!PinakesError.isInstance(found)) return;
      // Whoever tries again, with other checkpoints, has those and no others.
      await workflows.create(
        ann,
        long({
          workflow_id: "w",
          checkpoints: [
            { step: 0, timestamp: "2030-01-01T00:00:00Z", state: { n: 2, text: blob(70_000) }, agent_context: {} },
          ],
        }),
      );
      expect(
        (await workflows.checkpoints(ann, "w")).items.map(({ state }) => state["n"]),
        at,
      ).toEqual([2]);
    },
    callsMin: 7,
  },
  "adding a checkpoint, a small one and one in an object": {
    prepare: async ({ workflows }) => {
      await workflows.create(ann, long({ workflow_id: "w" }));
      await workflows.checkpoint(ann, "w", { step: 0, state: { n: 0 } });
    },
    run: async ({ workflows }) => {
      await workflows.checkpoint(ann, "w", { step: 1, state: { n: 1 } });
      await workflows.checkpoint(ann, "w", { step: 2, state: { n: 2, text: blob(huge) } });
    },
    check: async ({ workflows }, done, at) => {
      const { items } = await workflows.checkpoints(ann, "w");
      const seen = items.map(({ state }) => state["n"]);
      expect(["0", "0,1", "0,1,2"].slice(done ? 2 : 0), at).toContain(seen.join());
      expect((await workflows.checkpointAt(ann, "w", "latest")).state["n"], at).toBe(seen.at(-1));
      expect((await workflows.get(ann, "w", { checkpoints: "none" })).status).toBe("pending");
    },
    callsMin: 6,
  },
  deleting: {
    prepare: async ({ workflows }) => {
      await workflows.create(ann, large(1));
      await workflows.checkpoint(ann, "w", { step: 30, state: {} });
    },
    run: ({ workflows }) => workflows.delete(ann, "w"),
    check: async ({ workflows }, done, at) => {
      const found = await workflows.checkpoints(ann, "w", { order: "desc", limit: 1 }).catch((error: unknown) => error);
      if (!PinakesError.isInstance(found)) {
        expect(done, at).toBe(false);
        expect((await workflows.checkpointAt(ann, "w", "latest")).step, at).toBe(30);
        return;
      }
      expect(found.code, at).toBe("NOT_FOUND");
      // A new one of the same name may come at once, and has nothing of the old one.
      await workflows.create(ann, long({ workflow_id: "w" }));
      expect(await workflows.get(ann, "w"), at).toMatchObject({ checkpoints: [], status: "pending" });
      await workflows.checkpoint(ann, "w", { step: 1, state: { new: true } });
      expect((await workflows.checkpoints(ann, "w")).items, at).toMatchObject([{ step: 1, state: { new: true } }]);
    },
    callsMin: 10,
  },
  "starting with a timeout": {
    prepare: async ({ workflows }) =>
      void (await workflows.create(ann, long({ workflow_id: "w", metadata: { timeout_seconds: 60 } }))),
    run: ({ workflows }) => workflows.start(ann, "w"),
    check: async (process, done, at) => {
      const { status } = await process.workflows.get(ann, "w");
      if (done) expect(status, at).toBe("in_progress");
    },
    callsMin: 4,
  },
};

describe.each(Object.entries(cases))("%s", (_, one) => {
  it.each(kinds)("R-AGT-17 R-AGT-23 %s at every call: whole or not at all, and nothing is left", async (kind) => {
    let n = 0;
    while (await faultAt(one, n, kind)) n += 1;
    // The walk met the whole of it.
    expect(n).toBeGreaterThanOrEqual(one.callsMin);
  });
});

describe("a start that dies at any call", () => {
  it.each(kinds)("R-AGT-18 %s: a workflow in progress times out all the same", async (kind) => {
    const one = cases["starting with a timeout"] as Case;
    const check = async (process: Process, _done: boolean, at: string): Promise<void> => {
      const { status } = await process.workflows.get(ann, "w");
      (process.parts.clock as World["clock"]).advance(60_000);
      await process.sweep();
      expect((await process.workflows.get(ann, "w")).status, at).toBe(status === "in_progress" ? "failed" : "pending");
    };
    let n = 0;
    while (await faultAt({ ...one, check }, n, kind)) n += 1;
    expect(n).toBeGreaterThanOrEqual(one.callsMin);
  });
});

describe("a create that is slower than the sweep believes", () => {
  it("R-AGT-23 is refused or whole, never without some of its checkpoints", async () => {
    const world = await openWorld();
    const slow = await world.process();
    const held = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    // Its last batch, which makes the workflow.
    let batches = 0;
    slow.calls.add({
      at: (name) => name === "batch workflow-states" && (batches += 1) === 4,
      kind: "hold",
      until: held.promise,
      reached: reached.resolve,
    });
    const created = slow.workflows.create(ann, large(1));
    await reached.promise;
    world.clock.advance(11 * minute);
    await (await world.process()).sweep();
    expect(await idsOf(world, "w")).toEqual([]);
    held.resolve();
    await created;
    const { workflows } = await world.process();
    expect((await workflows.checkpoints(ann, "w", { limit: 100 })).items).toHaveLength(30);
    expect((await workflows.resume(ann, "w")).state).toMatchObject({ n: 1, text: blob(huge, 29) });
  });
});
