/** `workflow-states` through the containers API: what it must know so that the rules of workflows hold there too. */
import { beforeEach, describe, expect, it } from "vitest";
import type { Caller } from "../../src/domain/caller.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import type { Operation } from "../../src/ports/item-store.ts";
import { workflowStates } from "../../src/state/workflows/workflow-states.ts";
import { failure } from "../../src/testing/item-store/fixture.ts";
import { ann, day, eve, example, idsOf, long, openWorld, some, type Process, type World } from "./workflows-support.ts";

let world: World;
let process: Process;
beforeEach(async () => {
  world = await openWorld();
  process = await world.process();
});

type Companions = (operations: readonly Operation[], now?: number) => readonly Operation[];
const companions = workflowStates.companions as Companions;

/** As the containers API writes: prepared, and with what must come along. */
async function write(document: JsonObject, before?: JsonObject, caller: Caller = ann): Promise<JsonObject> {
  const prepared = (workflowStates.prepare as NonNullable<typeof workflowStates.prepare>)({
    caller,
    before,
    document,
    now: world.clock.now(),
  });
  await commit(
    { op: before === undefined ? "create" : "replace", document: prepared },
    prepared["workflow_id"] as string,
  );
  return prepared;
}

async function commit(operation: Operation, workflowId: string): Promise<void> {
  await world.items.batch(
    ann.scope,
    "workflow-states",
    [workflowId],
    [operation, ...companions([operation], world.clock.now())],
  );
}

describe("the container", () => {
  it("R-AGT-11 R-AGT-21 R-AGT-22 has the partition, the time to live and the indexing policy of the source", () => {
    expect(workflowStates.definition).toMatchObject({
      name: "workflow-states",
      partitionKey: ["workflow_id"],
      ttl: 2_592_000,
      feed: true,
    });
    expect(workflowStates.policy).toEqual({
      indexingMode: "consistent",
      automatic: true,
      includedPaths: ["workflow_id", "workspace_id", "status", "type", "created_at", "updated_at", "current_step"].map(
        (path) => ({ path: `/${path}/?` }),
      ),
      excludedPaths: [{ path: "/_etag/?" }, { path: "/agents/*/result/*" }, { path: "/checkpoints/*/state/*" }],
      compositeIndexes: [
        [
          { path: "/workspace_id", order: "ascending" },
          { path: "/status", order: "ascending" },
          { path: "/created_at", order: "descending" },
        ],
        [
          { path: "/workspace_id", order: "ascending" },
          { path: "/type", order: "ascending" },
          { path: "/updated_at", order: "descending" },
        ],
      ],
    });
    expect(workflowStates.schema?.safeParse(JSON.parse(example)).success).toBe(true);
    expect(Object.keys(workflowStates.definition.indexes ?? {})).toContain(workflowStates.scanIndex);
  });

  it("a workflow made there is one: completed, checked, alone in its partition, and used like any other", async () => {
    const made = await write({ ...(some({ workflow_id: "w" }) as unknown as JsonObject) });
    expect(made).toMatchObject({ workspace_id: "acme", status: "pending", metadata: { created_by: "ann" } });
    await expect(write({ ...(some({ workflow_id: "w" }) as unknown as JsonObject) })).rejects.toMatchObject({
      code: "CONFLICT",
    });
    const { workflows } = process;
    await workflows.start(ann, "w");
    await workflows.checkpoint(ann, "w", { step: 1, state: { n: 1 } });
    expect(await workflows.resume(ann, "w", { owner: "one" })).toMatchObject({
      state: { n: 1 },
      lease: { fencing_token: 1 },
    });
    expect(await workflows.get(ann, "w")).toMatchObject({ id: made["id"], checkpoints: [{ step: 1 }] });
    // Used here, it is looked after here: nothing of it stays when it has expired.
    world.clock.advance(32 * day);
    await process.sweep();
    await world.items.purgeExpired(process.parts.system, "workflow-states");
    expect(await idsOf(world, "w")).toEqual([]);
  });

  it("R-AGT-14 a replace goes only where a workflow may go, and what follows from it is filled in", async () => {
    const made = await write({ ...(some({ workflow_id: "w", status: "in_progress" }) as unknown as JsonObject) });
    world.clock.advance(5_000);
    const done = await write({ ...made, status: "completed" }, made);
    expect(done).toMatchObject({
      status: "completed",
      completed_at: new Date(world.clock.now()).toISOString(),
      updated_at: new Date(world.clock.now()).toISOString(),
    });
    await expect(write({ ...done, status: "in_progress" }, done)).rejects.toMatchObject({ code: "CONFLICT" });
    await expect(write({ ...done, created_at: "2020-01-01T00:00:00Z" }, done)).rejects.toMatchObject({
      code: "INVALID",
    });
    await expect(write({ ...done, workspace_id: "evil" }, done)).rejects.toMatchObject({ code: "FORBIDDEN" });
    await expect(write({ ...done, current_step: 99 }, done)).rejects.toMatchObject({ code: "INVALID" });
    await expect(write({ ...some(), id: "~lease" } as unknown as JsonObject)).rejects.toMatchObject({
      code: "INVALID",
    });
    await expect(
      write({ ...some(), workspace_id: "acme" } as unknown as JsonObject, undefined, eve),
    ).rejects.toMatchObject({ code: "FORBIDDEN" });
  });

  it("R-AGT-24 while somebody holds the lease, a change or a delete there is refused; afterwards it is not", async () => {
    const made = await write({ ...(some({ workflow_id: "w" }) as unknown as JsonObject) });
    await process.workflows.acquireLease(ann, "w", { owner: "one", leaseSeconds: 30 });
    await expect(write({ ...made, name: "x" }, made)).rejects.toMatchObject({ code: "PRECONDITION_FAILED" });
    await expect(commit({ op: "delete", id: made["id"] as string }, "w")).rejects.toMatchObject({
      code: "PRECONDITION_FAILED",
    });
    world.clock.advance(30_000);
    await write({ ...made, name: "x" }, made);
    // Without the time, a lease that is named at all counts.
    expect(companions([{ op: "delete", id: "a" }])).toEqual([
      {
        op: "delete",
        id: "~lease",
        where: {
          and: [{ or: [{ owner: null }] }, { or: [{ workflow: { in: ["a"] } }, { workflow: { exists: false } }] }],
        },
      },
    ]);
    expect(
      companions([
        { op: "check", id: "a" },
        { op: "delete", id: "~checkpoint-x" },
      ]),
    ).toEqual([]);
  });

  it("deleted there, it may be made anew at once, and nothing of the old one shows; what was beside it goes with the next sweep", async () => {
    const { workflows } = process;
    const made = await write({ ...(long({ workflow_id: "w" }) as unknown as JsonObject) });
    for (let step = 0; step < 30; step += 1) await workflows.checkpoint(ann, "w", { step, state: { step } });
    await commit({ op: "delete", id: made["id"] as string }, "w");
    await failure(workflows.get(ann, "w"), "NOT_FOUND");
    await failure(workflows.checkpointAt(ann, "w", "latest"), "NOT_FOUND");
    await write({ ...(long({ workflow_id: "w" }) as unknown as JsonObject) });
    expect(await workflows.get(ann, "w")).toMatchObject({ checkpoints: [] });
    await workflows.checkpoint(ann, "w", { step: 7, state: { fresh: true } });
    expect((await workflows.checkpoints(ann, "w")).items).toMatchObject([{ step: 7, state: { fresh: true } }]);
    world.clock.advance(2 * day);
    await process.sweep();
    expect((await idsOf(world, "w")).filter((id) => id.startsWith("~checkpoint-"))).toHaveLength(1);
  });

  it("R-AGT-17 a checkpoint that is deleted there alone is not the latest any more; the next one comes after the others", async () => {
    const { workflows } = process;
    await workflows.create(ann, some({ workflow_id: "w" }));
    for (let step = 0; step < 3; step += 1) await workflows.checkpoint(ann, "w", { step, state: { step } });
    const last = (await idsOf(world, "w")).findLast((id) => id.startsWith("~checkpoint-")) as string;
    await commit({ op: "delete", id: last }, "w");
    expect((await workflows.checkpointAt(ann, "w", "latest")).state).toEqual({ step: 1 });
    await workflows.checkpoint(ann, "w", { step: 1, state: { step: "1b" } });
    expect((await workflows.checkpoints(ann, "w")).items.map(({ state }) => state["step"])).toEqual([0, 1, "1b"]);
    expect((await workflows.resume(ann, "w")).state).toEqual({ step: "1b" });
  });

  it("one that expires unused leaves nothing, and can be made anew at once", async () => {
    await write({ ...(some({ workflow_id: "w", ttl: 60 }) as unknown as JsonObject) });
    world.clock.advance(60_000);
    await write({ ...(some({ workflow_id: "w" }) as unknown as JsonObject) });
    world.clock.advance(30 * day);
    await world.items.purgeExpired(process.parts.system, "workflow-states");
    expect(await idsOf(world, "w")).toEqual([]);
  });
});
