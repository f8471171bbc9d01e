/** Checkpoints: added without touching others, found by step and as the latest, large ones in objects, and resumed from. */
import type { Checkpoint, NewWorkflow } from "@pinakes/client";
import { beforeEach, describe, expect, it } from "vitest";
import type { Workflows } from "../../src/state/workflows/workflows.ts";
import { workflowLimits } from "../../src/state/workflows/limits.ts";
import { failure } from "../../src/testing/item-store/fixture.ts";
import { ann, blob, day, idsOf, long, openWorld, type Process, type World } from "./workflows-support.ts";

let world: World;
let process: Process;
let workflows: Workflows;
let id: string;
beforeEach(async () => {
  world = await openWorld();
  process = await world.process();
  ({ workflows } = process);
  id = (await workflows.create(ann, long())).workflow_id;
});

const at = (): string => new Date(world.clock.now()).toISOString();
const add = (step: number, n: number, more: object = {}) =>
  workflows.checkpoint(ann, id, { step, state: { n }, ...more });
const numbers = (checkpoints: readonly Checkpoint[]) => checkpoints.map(({ state }) => state["n"]);
const objectsOf = async () => (await world.objects.list(ann.scope, "")).keys;

const walk = async (query: object): Promise<Checkpoint[]> => {
  const all: Checkpoint[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < 500; pages += 1) {
    const page = await workflows.checkpoints(ann, id, { cursor, ...query });
    all.push(...page.items);
    if (page.next_cursor === null) return all;
    cursor = page.next_cursor;
  }
  throw new Error("a list without end");
};

describe("adding", () => {
  it("R-AGT-17 writes its own item and leaves the workflow, its lease and earlier checkpoints as they are: their etags stay", async () => {
    await add(0, 1);
    const etags = async () => {
      const { items } = await world.items.query(ann.scope, "workflow-states", { equals: { workflow_id: id } });
      return new Map(items.filter((item) => item.id !== "~latest").map((item) => [item.id, item.etag]));
    };
    let before = await etags();
    for (let i = 2; i < 10; i += 1) {
      await add(i, i);
      const after = await etags();
      expect(after.size).toBe(before.size + 1);
      for (const [key, etag] of before) expect(after.get(key), key).toBe(etag);
      before = after;
    }
  });

  it("R-AGT-17 the latest is that of the highest step, then the newest; a step gives its last one", async () => {
    await failure(workflows.checkpointAt(ann, id, "latest"), "NOT_FOUND");
    await failure(workflows.checkpointAt(ann, id, 0), "NOT_FOUND");
    for (const [step, n] of [
      [1, 1],
      [3, 2],
      [2, 3],
      [3, 4],
      [10, 5],
      [9, 6],
      [10, 7],
    ] as const)
      await add(step, n);
    const n = async (step: number | "latest") => (await workflows.checkpointAt(ann, id, step)).state["n"];
    expect([await n(1), await n(2), await n(3), await n(9), await n(10), await n("latest")]).toEqual([
      1, 3, 4, 6, 7, 7,
    ]);
    await failure(workflows.checkpointAt(ann, id, 4), "NOT_FOUND");
    expect(numbers(await walk({}))).toEqual([1, 3, 2, 4, 6, 5, 7]);
    // A new holder's are later, whatever its clock says.
    await workflows
      .acquireLease(ann, id, { owner: "w" })
      .then(({ fencing_token }) => workflows.releaseLease(ann, id, { fencingToken: fencing_token }));
    world.clock.advance(-day);
    await (await world.process()).workflows.checkpoint(ann, id, { step: 10, state: { n: 8 } });
    expect(await n("latest")).toBe(8);
  });

  it("R-AGT-17 R-AGT-07 it has a time and a context; properties of one's own stay; what is wrong is refused with its path", async () => {
    const given = {
      step: 1,
      state: { a: [1, { b: null }] },
      agent_context: { x: { y: 1 } },
      timestamp: "2030-02-01T00:00:00Z",
      label: "mine",
      id: "own",
      kind: "k",
    };
    expect(await workflows.checkpoint(ann, id, given)).toEqual(given);
    expect(await workflows.checkpointAt(ann, id, 1)).toEqual(given);
    expect(await add(2, 1)).toEqual({ step: 2, timestamp: at(), state: { n: 1 }, agent_context: {} });
    for (const [wrong, path] of [
      [{ step: -1, state: {} }, "step:"],
      [{ step: 1.5, state: {} }, "step:"],
      [{ step: workflowLimits.checkpointStepMax + 1, state: {} }, "step:"],
      [{ step: 1 }, "checkpoint.state:"],
      [{ step: 1, state: [] }, "checkpoint.state:"],
      [{ step: 1, state: {}, agent_context: 5 }, "checkpoint.agent_context:"],
      [{ step: 1, state: {}, timestamp: "2030-01-01T00:00:00+01:00" }, "timestamp:"],
      [{ step: 1, state: { x: "\0" } }, "/state/x:"],
      [{ step: 1, state: { x: Number.NaN } }, "/state/x:"],
      [null, "checkpoint:"],
    ] as const)
      expect((await failure(workflows.checkpoint(ann, id, wrong as never), "INVALID")).detail).toContain(path);
    await add(workflowLimits.checkpointStepMax, 2);
    for (const step of [-1, 1.5, "first", workflowLimits.checkpointStepMax + 1])
      await failure(workflows.checkpointAt(ann, id, step as never), "INVALID");
    expect((await walk({})).map(({ step }) => step)).toEqual([1, 2, workflowLimits.checkpointStepMax]);
  });

  it("R-AGT-47 keeps its workflow alive: half way through its time the workflow is touched", async () => {
    const before = await workflows.get(ann, id);
    world.clock.advance(15 * day);
    await add(1, 1);
    expect((await workflows.get(ann, id))._etag).toBe(before._etag);
    world.clock.advance(1);
    await add(2, 2);
    expect(await workflows.get(ann, id)).toMatchObject({ updated_at: at() });
    world.clock.advance(29 * day);
    await add(3, 3);
    world.clock.advance(29 * day);
    expect(numbers((await workflows.get(ann, id)).checkpoints)).toEqual([1, 2, 3]);
  });

  it("R-AGT-17 two processes that add at once lose nothing, and agree on the latest", async () => {
    const other = (await world.process()).workflows;
    await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        (i % 2 === 0 ? workflows : other).checkpoint(ann, id, { step: i % 20, state: { n: i } }),
      ),
    );
    expect(numbers(await walk({ limit: 7 })).toSorted((a, b) => Number(a) - Number(b))).toEqual(
      Array.from({ length: 60 }, (_, i) => i),
    );
    const last = (await walk({ order: "desc", limit: 1 }))[0] as Checkpoint;
    expect([last.step, await other.checkpointAt(ann, id, "latest")]).toEqual([19, last]);
  });
});

describe("lists", () => {
  it("R-AGT-17 those of the document and those that were added, in one order, in pages, both ways", async () => {
    const inline = [0, 2, 2, 5].map((step, i) => ({ step, timestamp: at(), state: { n: i }, agent_context: {} }));
    id = (await workflows.create(ann, long({ checkpoints: inline }))).workflow_id;
    expect(numbers((await workflows.get(ann, id)).checkpoints)).toEqual([0, 1, 2, 3]);
    expect((await workflows.checkpointAt(ann, id, 2)).state).toEqual({ n: 2 });
    for (const [step, n] of [
      [2, 10],
      [1, 11],
      [4, 12],
      [2, 13],
    ] as const)
      await add(step, n);
    expect((await workflows.checkpointAt(ann, id, "latest")).state).toEqual({ n: 3 });
    await add(5, 14);
    expect((await workflows.checkpointAt(ann, id, "latest")).state).toEqual({ n: 14 });
    expect((await workflows.checkpointAt(ann, id, 0)).state).toEqual({ n: 0 });
    const order = [0, 11, 1, 2, 10, 13, 12, 3, 14];
    for (const limit of [1, 2, 3, 5, 9, 100]) {
      expect(numbers(await walk({ limit }))).toEqual(order);
      expect(numbers(await walk({ limit, order: "desc" }))).toEqual(order.toReversed());
    }
    expect(numbers((await workflows.get(ann, id)).checkpoints)).toEqual(order);
  });

  it("a cursor belongs to its list and its order; others are refused", async () => {
    for (let i = 0; i < 3; i += 1) await add(i, i);
    const { next_cursor } = await workflows.checkpoints(ann, id, { limit: 1 });
    const other = (await workflows.create(ann, long())).workflow_id;
    await workflows.checkpoint(ann, other, { step: 0, state: {} });
    const cursor = next_cursor as string;
    await failure(workflows.checkpoints(ann, other, { cursor }), "INVALID");
    for (const query of [
      { cursor, order: "desc" },
      { cursor: "x" },
      { cursor: btoa('["a",1]') },
      { limit: 0 },
      { limit: 101 },
      { order: "up" },
    ])
      await failure(workflows.checkpoints(ann, id, query as never), "INVALID");
  });

  it("get shows the latest that fit a megabyte and tells how many it left out", async () => {
    const half = workflowLimits.recentCheckpointsBytesMax / 4;
    for (let i = 0; i < 6; i += 1)
      await workflows.checkpoint(ann, id, { step: i, state: { n: i, text: blob(half - 200, i) } });
    const got = await workflows.get(ann, id);
    expect(numbers(got.checkpoints)).toEqual([2, 3, 4, 5]);
    expect(got).toMatchObject({ checkpoints_omitted: 2 });
    expect(await workflows.get(ann, id, { checkpoints: "none" })).toMatchObject({ checkpoints: [] });
    // A patch with what was read says nothing of them.
    await failure(workflows.patch(ann, id, { ...got }), "INVALID");
    const { checkpoints: _unused, ...rest } = got;
    expect(await workflows.patch(ann, id, rest)).toMatchObject({ checkpoints_omitted: 6 });
    expect((await workflows.list(ann)).items[0]).not.toHaveProperty("checkpoints_omitted");
  });
});

describe("large ones", () => {
  /** Checkpoints whose bodies have exactly so many bytes. */
  const ofBytes = (bytes: number, n: number) => {
    const empty = Buffer.byteLength(JSON.stringify({ state: { n, text: "" }, agent_context: {}, more: {} }));
    return { step: n, timestamp: at(), state: { n, text: "y".repeat(bytes - empty) }, agent_context: {} };
  };

  it("R-AGT-17 checkpoints stay in the document up to 64 KB in sum; one byte more and they are items", async () => {
    const { inlineCheckpointsBytesMax } = workflowLimits;
    const at64 = [ofBytes(inlineCheckpointsBytesMax - 1_000, 0), ofBytes(1_000, 1)];
    const inside = await workflows.create(ann, long({ checkpoints: at64 }));
    expect(inside.checkpoints).toEqual(at64);
    expect(await idsOf(world, inside.workflow_id)).toHaveLength(2);
    const over = [ofBytes(inlineCheckpointsBytesMax - 1_000, 0), ofBytes(1_001, 1)];
    const beside = await workflows.create(ann, long({ checkpoints: over }));
    expect(beside).toMatchObject({ checkpoints: [], checkpoints_omitted: 2 });
    expect(await idsOf(world, beside.workflow_id)).toHaveLength(5);
    expect((await workflows.get(ann, beside.workflow_id)).checkpoints).toEqual(over);
    expect(await workflows.checkpointAt(ann, beside.workflow_id, "latest")).toEqual(over[1]);
  });

  it("R-AGT-23 one beyond a megabyte keeps its state in an object, up to 32 MB; a byte more is refused with its size", async () => {
    const { checkpointItemBytesMax, checkpointBytesMax } = workflowLimits;
    const cases = [
      ofBytes(checkpointItemBytesMax, 1),
      ofBytes(checkpointItemBytesMax + 1, 2),
      ofBytes(checkpointBytesMax, 3),
    ];
    const objects: number[] = [];
    for (const one of cases) {
      await workflows.checkpoint(ann, id, one);
      objects.push((await objectsOf()).length);
      expect(await workflows.checkpointAt(ann, id, one.step)).toEqual(one);
    }
    expect(objects).toEqual([0, 1, 2]);
    const error = await failure(workflows.checkpoint(ann, id, ofBytes(checkpointBytesMax + 1, 4)), "LIMIT_EXCEEDED");
    expect(error.detail).toContain(String(checkpointBytesMax + 1));
    expect((await workflows.resume(ann, id)).state["n"]).toBe(3);
    expect((await walk({})).map(({ step }) => step)).toEqual([1, 2, 3]);
    expect(await workflows.get(ann, id)).toMatchObject({ checkpoints: [], checkpoints_omitted: 3 });
    // The same bytes are kept once, and go with the workflow.
    await workflows.checkpoint(ann, id, cases[1] as (typeof cases)[number]);
    expect(await objectsOf()).toHaveLength(2);
    await workflows.delete(ann, id);
    expect(await objectsOf()).toEqual([]);
    expect(await idsOf(world, id)).toEqual([]);
  });

  it("get shows exactly a megabyte, a page of the list exactly four; a byte more goes elsewhere", async () => {
    const { recentCheckpointsBytesMax, checkpointPageBytesMax, checkpointItemBytesMax } = workflowLimits;
    const shown = async (...sizes: number[]) => {
      id = (await workflows.create(ann, long())).workflow_id;
      for (const [n, bytes] of sizes.entries()) await workflows.checkpoint(ann, id, ofBytes(bytes, n));
      const { items } = await workflows.checkpoints(ann, id, { limit: 100 });
      return [(await workflows.get(ann, id)).checkpoints.length, items.length];
    };
    expect(await shown(1_000, recentCheckpointsBytesMax - 1_000)).toEqual([2, 2]);
    expect(await shown(1_001, recentCheckpointsBytesMax - 1_000)).toEqual([1, 2]);
    const quarter = checkpointPageBytesMax / 4;
    expect(quarter).toBe(checkpointItemBytesMax);
    expect(await shown(quarter, quarter, quarter, quarter, 100)).toEqual([1, 4]);
    expect(await shown(quarter + 1, quarter, quarter, quarter, 100)).toEqual([1, 3]);
    expect((await walk({ limit: 100 })).map(({ step }) => step)).toEqual([0, 1, 2, 3, 4]);
  });

  it("a damaged or lost object is told, never a wrong state", async () => {
    await workflows.checkpoint(ann, id, ofBytes(workflowLimits.checkpointItemBytesMax + 1, 1));
    const [{ key } = { key: "" }] = await objectsOf();
    await world.objects.put(ann.scope, key, Buffer.from('{"state":{},"agent_context":{},"more":{}}'));
    await failure(workflows.checkpointAt(ann, id, "latest"), "CORRUPT");
    await world.objects.delete(ann.scope, [key]);
    await failure(workflows.checkpointAt(ann, id, "latest"), "CORRUPT");
  });

  it("R-AGT-23 a create takes 10,000 checkpoints at once and no more", async () => {
    const many = (count: number): NewWorkflow["checkpoints"] =>
      Array.from({ length: count }, (_, step) => ({ step, timestamp: at(), state: {}, agent_context: {} }));
    const max = workflowLimits.checkpointsPerCreateMax;
    await failure(workflows.create(ann, long({ checkpoints: many(max + 1) as never })), "LIMIT_EXCEEDED");
    const { workflow_id } = await workflows.create(ann, long({ checkpoints: many(max) as never }));
    expect((await workflows.checkpointAt(ann, workflow_id, "latest")).step).toBe(max - 1);
  });

  it("two that create the same workflow with large checkpoints: one is there, with its own checkpoints only", async () => {
    const big = (n: number) =>
      long({
        workflow_id: "race",
        name: `n${n}`,
        checkpoints: [0, 1, 2].map((step) => ({ ...ofBytes(50_000, step), state: { n, text: blob(50_000) } })),
      });
    const other = (await world.process()).workflows;
    const outcomes = await Promise.allSettled([
      workflows.create(ann, big(1)),
      other.create(ann, big(2)),
      workflows.create(ann, big(3)),
    ]);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const { name, checkpoints } = await workflows.get(ann, "race");
    expect(checkpoints.map(({ state }) => `n${String(state["n"])}`)).toEqual([name, name, name]);
    expect((await idsOf(world, "race")).filter((one) => one.startsWith("~checkpoint-"))).toHaveLength(3);
    expect((await idsOf(world, "race")).filter((one) => one.startsWith("~create-"))).toEqual([]);
  });
});

describe("resuming", () => {
  it("R-AGT-17 goes on in another process with the latest checkpoint, its context and the lease", async () => {
    expect(await workflows.resume(ann, id)).toMatchObject({
      checkpoint: null,
      state: {},
      agent_context: {},
      lease: null,
      workflow: { status: "in_progress" },
    });
    await workflows.checkpoint(ann, id, {
      step: 1,
      state: { n: 1 },
      agent_context: { architect: { conversation: "c1" } },
    });
    await workflows.pause(ann, id);
    const other = (await world.process()).workflows;
    const resumed = await other.resume(ann, id, { owner: "worker-7", leaseSeconds: 30 });
    expect(resumed).toMatchObject({
      workflow: { status: "in_progress" },
      checkpoint: { step: 1 },
      state: { n: 1 },
      agent_context: { architect: { conversation: "c1" } },
      lease: {
        workflow_id: id,
        owner: "worker-7",
        fencing_token: 1,
        expires_at: new Date(world.clock.now() + 30_000).toISOString(),
      },
    });
    expect(await workflows.get(ann, id)).toMatchObject({ status: "in_progress", _etag: resumed.workflow._etag });
    await failure(workflows.resume(ann, id, { owner: "worker-8" }), "CONFLICT");
    await failure(workflows.resume(ann, id), "CONFLICT");
    // Whoever has the token goes on; in progress stays as it is.
    const again = await other.resume(ann, id, { owner: "worker-7", fencingToken: 1, leaseSeconds: 60 });
    expect(again).toMatchObject({
      workflow: { _etag: resumed.workflow._etag },
      lease: { fencing_token: 1, expires_at: new Date(world.clock.now() + 60_000).toISOString() },
    });
    world.clock.advance(60_000);
    expect(await workflows.resume(ann, id, { owner: "worker-8" })).toMatchObject({
      state: { n: 1 },
      lease: { owner: "worker-8", fencing_token: 2 },
    });
    await failure(other.resume(ann, id, { owner: "worker-7", fencingToken: 1 }), "CONFLICT");
  });
});
