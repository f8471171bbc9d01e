/** How far a workflow is: its checkpoints and its `current_step` tell one story, and a workflow that is over takes no more of them. */
import { beforeEach, describe, expect, it } from "vitest";
import { workflowLimits } from "../../src/state/workflows/limits.ts";
import type { Workflows } from "../../src/state/workflows/workflows.ts";
import { failure } from "../../src/testing/item-store/fixture.ts";
import { ann, openWorld, some, type Process, type World } from "./workflows-support.ts";

let world: World;
let process: Process;
let workflows: Workflows;
let id: string;
beforeEach(async () => {
  world = await openWorld();
  process = await world.process();
  ({ workflows } = process);
  ({ workflow_id: id } = await workflows.create(ann, some()));
  await workflows.start(ann, id);
});

const reach = (step: number) => workflows.checkpoint(ann, id, { step, state: { step } });

describe("where a workflow stands", () => {
  it("R-AGT-17 a checkpoint moves what get shows, and leaves the document and its etag alone", async () => {
    const before = await workflows.get(ann, id);
    await reach(2);
    const after = await workflows.get(ann, id);
    expect(after).toMatchObject({ current_step: 2, _etag: before._etag });
    expect(await workflows.get(ann, id, { checkpoints: "none" })).toMatchObject({
      current_step: 2,
      checkpoints: [],
      checkpoints_omitted: 1,
    });
    expect(workflows.versionOf(after)).not.toBe(workflows.versionOf(before));
    expect((await workflows.list(ann)).items).toMatchObject([
      { current_step: 2, _etag: before._etag, checkpoints: [] },
    ]);
    await workflows.pause(ann, id);
    expect((await workflows.list(ann)).items).toMatchObject([{ current_step: 2, status: "paused" }]);
  });

  it("R-AGT-17 a list tells of each workflow what get tells, on a full page too, and nothing of an earlier life", async () => {
    await reach(3);
    await workflows.delete(ann, id);
    await workflows.create(ann, some({ workflow_id: id }));
    for (let i = 1; i < workflowLimits.pageItemsMax; i += 1) {
      const { workflow_id } = await workflows.create(ann, some({ status: "in_progress", current_step: i % 3 }));
      if (i % 2 === 0) await workflows.checkpoint(ann, workflow_id, { step: 1 + (i % 4), state: {} });
    }
    const { items } = await workflows.list(ann, { limit: workflowLimits.pageItemsMax });
    expect(items).toHaveLength(workflowLimits.pageItemsMax);
    const steps = await Promise.all(
      items.map(
        async ({ workflow_id }) => (await workflows.get(ann, workflow_id, { checkpoints: "none" })).current_step,
      ),
    );
    expect(items.map(({ current_step }) => current_step)).toEqual(steps);
    expect(new Set(steps)).toEqual(new Set([0, 1, 2, 3]));
    expect(items.find(({ workflow_id }) => workflow_id === id)?.current_step).toBe(0);
  });

  it("R-AGT-14 complete is the end of all steps, also by a patch; one that says where it ended is believed", async () => {
    await reach(1);
    await reach(2);
    expect(await workflows.complete(ann, id)).toMatchObject({ status: "completed", current_step: 4, total_steps: 4 });
    const patched = await workflows.create(ann, some({ status: "in_progress" }));
    expect(await workflows.patch(ann, patched.workflow_id, { status: "completed" })).toMatchObject({ current_step: 4 });
    const early = await workflows.create(ann, some({ status: "in_progress" }));
    expect(await workflows.patch(ann, early.workflow_id, { status: "completed", current_step: 3 })).toMatchObject({
      current_step: 3,
    });
  });

  it("R-AGT-20 a failure is after the latest checkpoint; retry goes on there, skip behind it", async () => {
    await reach(1);
    expect(await workflows.fail(ann, id, {})).toMatchObject({ current_step: 1, error_details: { failed_step: 1 } });
    expect(await workflows.retry(ann, id)).toMatchObject({ current_step: 1 });
    await workflows.fail(ann, id, {});
    expect(await workflows.skip(ann, id)).toMatchObject({ current_step: 2 });
    await reach(3);
    // Who names an earlier step is not sent back to what is done.
    await workflows.fail(ann, id, { failed_step: 0 });
    expect(await workflows.skip(ann, id)).toMatchObject({ current_step: 4 });
  });

  it("R-AGT-17 R-AGT-20 checkpoints that came with the document count as those added later: get, list, fail and retry say the larger", async () => {
    const { workflow_id } = await workflows.create(
      ann,
      some({
        status: "in_progress",
        current_step: 0,
        checkpoints: [{ step: 3, state: {}, agent_context: {}, timestamp: new Date(world.clock.now()).toISOString() }],
      }),
    );
    expect((await workflows.get(ann, workflow_id)).current_step).toBe(3);
    expect((await workflows.get(ann, workflow_id, { checkpoints: "none" })).current_step).toBe(3);
    expect((await workflows.list(ann)).items.find((one) => one.workflow_id === workflow_id)?.current_step).toBe(3);
    expect(JSON.parse(Buffer.from((await workflows.getText(ann, workflow_id))?.json ?? []).toString())).toMatchObject({
      current_step: 3,
    });
    expect(await workflows.patch(ann, workflow_id, { current_step: 1 })).toMatchObject({ current_step: 3 });
    expect(await workflows.fail(ann, workflow_id, {})).toMatchObject({
      current_step: 3,
      error_details: { failed_step: 3 },
    });
    await workflows.patch(ann, workflow_id, {
      error_details: { error_type: "e", error_message: "", stack_trace: "", failed_step: 0, recovery_action: "retry" },
    });
    expect(await workflows.retry(ann, workflow_id)).toMatchObject({ current_step: 3 });
  });

  it("a total that was lowered meanwhile is never passed", async () => {
    await reach(4);
    await workflows.patch(ann, id, { current_step: 1, total_steps: 2 });
    expect(await workflows.get(ann, id)).toMatchObject({ current_step: 2, total_steps: 2 });
  });
});

describe("what takes a checkpoint", () => {
  it("R-AGT-24 one that is over or failed takes none, whoever comes late, and says what to do", async () => {
    const { fencing_token: fencingToken } = await workflows.acquireLease(ann, id, { owner: "one", leaseSeconds: 1 });
    await workflows.complete(ann, id, { fencingToken });
    world.clock.advance(2_000);
    for (const options of [{}, { fencingToken }]) {
      const refused = await failure(workflows.checkpoint(ann, id, { step: 1, state: {} }, options), "CONFLICT");
      expect(refused.detail).toContain(
        "is completed: it has ended and accepts no checkpoints. Create another workflow",
      );
    }
    const cancelled = await workflows.create(ann, some());
    await workflows.cancel(ann, cancelled.workflow_id);
    await failure(workflows.checkpoint(ann, cancelled.workflow_id, { step: 1, state: {} }), "CONFLICT");
    const failed = await workflows.create(ann, some({ status: "in_progress" }));
    await workflows.fail(ann, failed.workflow_id, {});
    expect(
      (await failure(workflows.checkpoint(ann, failed.workflow_id, { step: 1, state: {} }), "CONFLICT")).detail,
    ).toContain("retry, skip or resume it first");
    await workflows.retry(ann, failed.workflow_id);
    await workflows.checkpoint(ann, failed.workflow_id, { step: 1, state: {} });
    expect((await workflows.checkpoints(ann, id)).items).toEqual([]);
  });

  it("R-AGT-15 the last step is one, the step after it is not", async () => {
    await reach(4);
    expect((await failure(reach(5), "INVALID")).detail).toBe(
      `checkpoint.step: is 5, but workflow "${id}" has total_steps 4. Raise total_steps first, or correct the step.`,
    );
    await workflows.patch(ann, id, { total_steps: 5 });
    await reach(5);
    expect((await workflows.checkpoints(ann, id)).items.map(({ step }) => step)).toEqual([4, 5]);
  });
});

describe("what changes answer", () => {
  it("every one tells how many checkpoints there are and when it was started", async () => {
    await reach(1);
    await reach(2);
    const counted = { checkpoints: [], checkpoints_omitted: 2, started_at: expect.any(String) as string };
    expect(await workflows.setAgent(ann, id, "a", { status: "in_progress" })).toMatchObject(counted);
    expect(await workflows.pause(ann, id)).toMatchObject(counted);
    expect((await workflows.resume(ann, id)).workflow).toMatchObject(counted);
    expect((await workflows.resume(ann, id)).workflow).toMatchObject(counted);
    expect(await workflows.fail(ann, id, {})).toMatchObject(counted);
    expect(await workflows.skip(ann, id)).toMatchObject(counted);
    expect(await workflows.complete(ann, id)).toMatchObject(counted);
    expect(Object.hasOwn(await workflows.get(ann, id), "checkpoints_omitted")).toBe(false);
    expect(Object.hasOwn(await workflows.create(ann, some()), "checkpoints_omitted")).toBe(false);
  });

  it("what was read may be made anew: how it was shown is not kept", async () => {
    await reach(1);
    const { workflow_id: _first, id: _item, ...read } = await workflows.get(ann, id, { checkpoints: "none" });
    const copy = await workflows.create(ann, read);
    expect([read.checkpoints_omitted, Object.hasOwn(copy, "checkpoints_omitted")]).toEqual([1, false]);
  });
});

describe("properties in the wrong place", () => {
  it.each(["timeout_seconds", "max_retries", "priority", "environment"])(
    "%s at the top is refused with its place; beside the right one it stays",
    async (name) => {
      const value = name === "environment" ? "production" : 1;
      const made = workflows.create(ann, { ...some(), [name]: value });
      expect((await failure(made, "INVALID")).detail).toContain(
        `${name}: belongs into metadata; write { "metadata": { "${name}": … } }`,
      );
      await failure(workflows.patch(ann, id, { [name]: value }), "INVALID");
      expect(await workflows.create(ann, { ...some(), [name]: value, metadata: { [name]: value } })).toMatchObject({
        [name]: value,
      });
    },
  );

  it("R-AGT-10 what nobody knows stays", async () => {
    expect(await workflows.create(ann, { ...some(), colour: "red" } as never)).toMatchObject({ colour: "red" });
  });
});
