/** From status to status: every pair, what follows from each, the three ways out of a failure, and timeouts. */
import { workflowStatuses, type RecoveryAction, type WorkflowStatus } from "@pinakes/client";
import { beforeEach, describe, expect, it } from "vitest";
import type { Workflows } from "../../src/state/workflows/workflows.ts";
import { failure } from "../../src/testing/item-store/fixture.ts";
import { ann, day, openWorld, some, type Process, type World } from "./workflows-support.ts";

let world: World;
let process: Process;
let workflows: Workflows;
beforeEach(async () => {
  world = await openWorld();
  process = await world.process();
  ({ workflows } = process);
});

const at = (): string => new Date(world.clock.now()).toISOString();
const inStatus = async (status: WorkflowStatus): Promise<string> =>
  (await workflows.create(ann, some({ status }))).workflow_id;

/** Written out on purpose: the table of the code is what is tested. */
const legal: Readonly<Record<WorkflowStatus, readonly WorkflowStatus[]>> = {
  pending: ["in_progress", "failed", "cancelled"],
  in_progress: ["paused", "completed", "failed", "cancelled"],
  paused: ["in_progress", "failed", "cancelled"],
  failed: ["in_progress", "cancelled"],
  completed: [],
  cancelled: [],
};
const pairs = workflowStatuses.flatMap((from) =>
  workflowStatuses.filter((to) => to !== from).map((to) => ({ from, to, allowed: legal[from].includes(to) })),
);

describe("every pair of two statuses", () => {
  it.each(pairs.filter(({ allowed }) => allowed))("R-AGT-14 $from → $to is allowed", async ({ from, to }) => {
    const id = await inStatus(from);
    expect(await workflows.patch(ann, id, { status: to })).toMatchObject({ status: to });
    expect(await workflows.get(ann, id)).toMatchObject({ status: to });
  });

  it.each(pairs.filter(({ allowed }) => !allowed))(
    "R-AGT-14 $from → $to is refused and changes nothing",
    async ({ from, to }) => {
      const id = await inStatus(from);
      const before = await workflows.get(ann, id);
      const error = await failure(workflows.patch(ann, id, { status: to, name: "changed" }), "CONFLICT");
      expect([error.status, error.detail]).toEqual([
        409,
        expect.stringContaining(`is ${from} and cannot become ${to}`),
      ]);
      expect(await workflows.get(ann, id)).toEqual(before);
    },
  );

  it.each(workflowStatuses)("R-AGT-14 %s again is no transition", async (status) => {
    const id = await inStatus(status);
    world.clock.advance(1_000);
    const { completed_at } = await workflows.get(ann, id);
    expect(await workflows.patch(ann, id, { status, name: "New" })).toMatchObject({
      status,
      name: "New",
      completed_at,
    });
  });

  const verbs = {
    start: { from: ["pending"], to: "in_progress" },
    pause: { from: ["in_progress"], to: "paused" },
    complete: { from: ["in_progress"], to: "completed" },
    cancel: { from: ["pending", "in_progress", "paused", "failed"], to: "cancelled" },
    retry: { from: ["failed"], to: "in_progress" },
    skip: { from: ["failed"], to: "in_progress" },
  } as const;
  const tries = Object.entries(verbs).flatMap(([verb, { from, to }]) =>
    workflowStatuses.map((status) => ({
      verb: verb as keyof typeof verbs,
      status,
      to: (from as readonly string[]).includes(status) ? to : null,
    })),
  );
  it.each(tries)("R-AGT-14 $verb when $status gives $to", async ({ verb, status, to }) => {
    const id = await inStatus(status);
    if (to === null) await failure(workflows[verb](ann, id), "CONFLICT");
    expect(to === null ? (await workflows.get(ann, id)).status : (await workflows[verb](ann, id)).status).toBe(
      to ?? status,
    );
  });

  it.each(workflowStatuses)("R-AGT-14 fail and resume when %s", async (status) => {
    const canFail = legal[status].includes("failed");
    const canResume = status === "in_progress" || legal[status].includes("in_progress");
    if (canFail) expect(await workflows.fail(ann, await inStatus(status), {})).toMatchObject({ status: "failed" });
    else await failure(workflows.fail(ann, await inStatus(status), {}), "CONFLICT");
    if (canResume)
      expect((await workflows.resume(ann, await inStatus(status))).workflow).toMatchObject({ status: "in_progress" });
    else await failure(workflows.resume(ann, await inStatus(status)), "CONFLICT");
  });
});

describe("what follows from a transition", () => {
  it("R-AGT-19 R-AGT-14 times and performance of a run with a pause, the cost from its agents", async () => {
    const { workflow_id, created_at } = await workflows.create(ann, some());
    world.clock.advance(1_200);
    expect(await workflows.start(ann, workflow_id)).toMatchObject({
      started_at: at(),
      performance_metrics: { queue_time_ms: 1_200 },
    });
    world.clock.advance(60_000);
    expect(await workflows.pause(ann, workflow_id)).toMatchObject({
      completed_at: null,
      performance_metrics: { execution_time_ms: 60_000, total_duration_ms: 0 },
    });
    world.clock.advance(1_000_000);
    await workflows.resume(ann, workflow_id);
    world.clock.advance(20_000);
    const token_usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
    const result = (cost_usd: number) => ({ output: null, tool_calls: [], token_usage, error: null, cost_usd });
    await workflows.setAgent(ann, workflow_id, "a", { status: "completed", result: result(0.25) });
    await workflows.setAgent(ann, workflow_id, "b", { status: "completed", result: result(0.5) });
    await workflows.patch(ann, workflow_id, { current_step: 4 });
    expect(await workflows.complete(ann, workflow_id)).toMatchObject({
      status: "completed",
      completed_at: at(),
      updated_at: at(),
      performance_metrics: {
        queue_time_ms: 1_200,
        execution_time_ms: 80_000,
        avg_step_duration_ms: 20_000,
        total_duration_ms: world.clock.now() - Date.parse(created_at),
        total_cost_usd: 0.75,
      },
    });
  });

  it("R-AGT-19 what is given is not computed", async () => {
    const given = {
      total_duration_ms: 1,
      queue_time_ms: 2,
      execution_time_ms: 3,
      avg_step_duration_ms: 4,
      total_cost_usd: 5,
    };
    const completed_at = "2031-01-01T00:00:00Z";
    const id = await inStatus("in_progress");
    world.clock.advance(5_000);
    expect(
      await workflows.patch(ann, id, { status: "completed", completed_at, performance_metrics: given }),
    ).toMatchObject({
      completed_at,
      performance_metrics: given,
    });
    const costly = await workflows.create(
      ann,
      some({ status: "in_progress", performance_metrics: { total_cost_usd: 9, queue_time_ms: 8 } }),
    );
    expect(await workflows.cancel(ann, costly.workflow_id)).toMatchObject({
      performance_metrics: { total_cost_usd: 9, queue_time_ms: 8 },
    });
  });

  it.each(["completed", "failed", "cancelled"] as const)(
    "R-AGT-14 %s has completed_at, also when it is made so",
    async (status) => {
      expect(await workflows.create(ann, some({ status }))).toMatchObject({ completed_at: at() });
      const id = await inStatus("in_progress");
      world.clock.advance(1);
      expect(await workflows.patch(ann, id, { status })).toMatchObject({ completed_at: at() });
    },
  );
});

describe("after a failure", () => {
  const failedAt = async (recovery_action: RecoveryAction, max_retries = 3): Promise<string> => {
    const { workflow_id } = await workflows.create(ann, some({ current_step: 2, metadata: { max_retries } }));
    await workflows.start(ann, workflow_id);
    const failed = await workflows.fail(ann, workflow_id, { error_type: "Oops", recovery_action, failed_step: 1 });
    expect(failed).toMatchObject({
      status: "failed",
      error_details: { error_type: "Oops", error_message: "", stack_trace: "", failed_step: 1, recovery_action },
    });
    return workflow_id;
  };

  it("R-AGT-18 R-AGT-20 retry goes back to the failed step, counts, and is refused beyond max_retries", async () => {
    const id = await failedAt("retry", 2);
    for (const retry_count of [1, 2]) {
      expect(await workflows.retry(ann, id)).toMatchObject({
        status: "in_progress",
        current_step: 1,
        error_details: null,
        completed_at: null,
        metadata: { retry_count },
      });
      await workflows.fail(ann, id, {});
    }
    const before = await workflows.get(ann, id);
    expect((await failure(workflows.retry(ann, id), "CONFLICT")).detail).toContain("max_retries is 2");
    expect(await workflows.get(ann, id)).toEqual(before);
    await workflows.patch(ann, id, { metadata: { ...before.metadata, max_retries: 3 } });
    expect(await workflows.retry(ann, id)).toMatchObject({ metadata: { retry_count: 3 } });
  });

  it("R-AGT-20 skip goes on after the failed step, at the last one to the end", async () => {
    expect(await workflows.skip(ann, await failedAt("skip"))).toMatchObject({
      status: "in_progress",
      current_step: 2,
      error_details: null,
      metadata: { retry_count: 0 },
    });
    const { workflow_id } = await workflows.create(ann, some({ status: "in_progress", current_step: 4 }));
    await workflows.fail(ann, workflow_id, {});
    expect(await workflows.skip(ann, workflow_id)).toMatchObject({ current_step: 4 });
  });

  it("R-AGT-20 manual_intervention stops retry and skip until a person resumes it or says otherwise", async () => {
    const id = await failedAt("manual_intervention");
    for (const verb of ["retry", "skip"] as const)
      expect((await failure(workflows[verb](ann, id), "CONFLICT")).detail).toContain("waits for a person");
    expect((await workflows.resume(ann, id)).workflow).toMatchObject({
      status: "in_progress",
      current_step: 2,
      error_details: null,
    });
    const { error_details } = await workflows.fail(ann, id, { recovery_action: "manual_intervention" });
    await workflows.patch(ann, id, {
      error_details: { ...(error_details as NonNullable<typeof error_details>), recovery_action: "retry" },
    });
    expect(await workflows.retry(ann, id)).toMatchObject({ status: "in_progress" });
  });

  it("R-AGT-20 an error that is none is refused", async () => {
    const id = await inStatus("in_progress");
    for (const error of [{ failed_step: -1 }, { recovery_action: "x" }, { error_type: 5 }, null, "broken"])
      await failure(workflows.fail(ann, id, error as never), "INVALID");
    expect(await workflows.get(ann, id)).toMatchObject({ status: "in_progress" });
  });
});

describe("timeouts", () => {
  const timed = (more: object = {}) => some({ metadata: { timeout_seconds: 60 }, ...more });

  it("R-AGT-18 one that is in progress for too long fails with error_type timeout, and can be retried; the time begins anew", async () => {
    const { workflow_id } = await workflows.create(ann, timed());
    world.clock.advance(3_600_000);
    await process.sweep();
    expect(await workflows.get(ann, workflow_id)).toMatchObject({ status: "pending" });
    await workflows.start(ann, workflow_id);
    world.clock.advance(59_999);
    await process.sweep();
    expect(await workflows.get(ann, workflow_id)).toMatchObject({ status: "in_progress" });
    world.clock.advance(1);
    // Another process, which never saw it.
    await (await world.process()).sweep();
    expect(await workflows.get(ann, workflow_id)).toMatchObject({
      status: "failed",
      completed_at: at(),
      error_details: { error_type: "timeout", failed_step: 0, recovery_action: "retry" },
    });
    await workflows.retry(ann, workflow_id);
    await process.sweep();
    world.clock.advance(30_000);
    await process.sweep();
    expect(await workflows.get(ann, workflow_id)).toMatchObject({
      status: "in_progress",
      metadata: { retry_count: 1 },
    });
    world.clock.advance(30_000);
    await process.sweep();
    expect(await workflows.get(ann, workflow_id)).toMatchObject({ status: "failed" });
  });

  it("R-AGT-18 a pause does not time out, and whoever completes in time is not failed", async () => {
    const paused = (await workflows.create(ann, timed({ status: "in_progress" }))).workflow_id;
    const done = (await workflows.create(ann, timed({ status: "in_progress" }))).workflow_id;
    await workflows.pause(ann, paused);
    await workflows.complete(ann, done);
    world.clock.advance(61_000);
    await process.sweep();
    expect([(await workflows.get(ann, paused)).status, (await workflows.get(ann, done)).status]).toEqual([
      "paused",
      "completed",
    ]);
    await workflows.resume(ann, paused);
    world.clock.advance(60_000);
    await process.sweep();
    expect(await workflows.get(ann, paused)).toMatchObject({
      status: "failed",
      error_details: { error_type: "timeout" },
    });
  });

  it("R-AGT-18 one that came in under way counts from when it came; a timeout that is set later counts too; a lease does not save it", async () => {
    const old = (
      await workflows.create(
        ann,
        timed({ status: "in_progress", created_at: "2020-01-01T00:00:00Z", updated_at: "2020-01-01T00:00:00Z" }),
      )
    ).workflow_id;
    const later = (await workflows.create(ann, some({ status: "in_progress" }))).workflow_id;
    const { metadata } = await workflows.get(ann, later);
    await workflows.patch(ann, later, { metadata: { ...metadata, timeout_seconds: 60 } });
    await workflows.acquireLease(ann, later, { owner: "w", leaseSeconds: 3_600 });
    await process.sweep();
    expect([(await workflows.get(ann, old)).status, (await workflows.get(ann, later)).status]).toEqual([
      "in_progress",
      "in_progress",
    ]);
    world.clock.advance(60_000);
    await process.sweep();
    expect([(await workflows.get(ann, old)).status, (await workflows.get(ann, later)).status]).toEqual([
      "failed",
      "failed",
    ]);
  });

  it("R-AGT-18 whoever went on between the look and the write is not failed", async () => {
    const { workflow_id } = await workflows.create(ann, timed({ status: "in_progress" }));
    world.clock.advance(60_000);
    const sweeper = await world.process();
    const held = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    sweeper.calls.add({
      at: (name) => name === "batch workflow-states",
      kind: "hold",
      until: held.promise,
      reached: reached.resolve,
    });
    const swept = sweeper.sweep();
    await reached.promise;
    await workflows.complete(ann, workflow_id);
    held.resolve();
    await swept;
    expect(await workflows.get(ann, workflow_id)).toMatchObject({ status: "completed", error_details: null });
  });

  it("the registry forgets what is over and gone", async () => {
    for (const ttl of [60, 3_600]) await workflows.create(ann, timed({ ttl }));
    await workflows.create(ann, some({ ttl: -1 }));
    for (let i = 0; i < 5; i += 1) {
      world.clock.advance(day);
      await process.sweep();
    }
    world.clock.advance(365 * day);
    expect(await process.sweep()).toBe(0);
    expect((await workflows.list(ann)).items).toHaveLength(1);
  });
});
