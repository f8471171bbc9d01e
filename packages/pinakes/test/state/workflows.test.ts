/** Workflows: what a document must be, how it changes, lists and counts, and who sees it. */
import type { NewWorkflow, Stored, Workflow, WorkflowChange } from "@pinakes/client";
import { beforeEach, describe, expect, it } from "vitest";
import { makeCaller } from "../../src/domain/caller.ts";
import type { Workflows } from "../../src/state/workflows/workflows.ts";
import { Partitions } from "../../src/state/workflows/partitions.ts";
import { workflowLimits } from "../../src/state/workflows/limits.ts";
import { failure } from "../../src/testing/item-store/fixture.ts";
import { ann, day, eve, example, idsOf, long, openWorld, some, type Process, type World } from "./workflows-support.ts";

let world: World;
let process: Process;
let workflows: Workflows;
beforeEach(async () => {
  world = await openWorld();
  process = await world.process();
  ({ workflows } = process);
});

const agent = { agent_id: "a", agent_name: "A", status: "pending" } as const;
const without = ({ _etag, _ts, ...document }: Stored<Workflow>): object => document;

describe("the document", () => {
  it("R-AGT-12 the example of the source comes back byte for byte, plus the system's fields", async () => {
    const caller = makeCaller({ tenant: "ws-tenant-001", userId: "user-456" });
    const text = JSON.stringify(JSON.parse(example));
    const made = await workflows.create(caller, JSON.parse(example) as NewWorkflow);
    const got = await workflows.get(caller, "workflow-123");
    for (const document of [made, got]) expect(JSON.stringify(without(document))).toBe(text);
    expect(got).toEqual(made);
    expect(made).toMatchObject({ _etag: expect.any(String) as string, _ts: Math.floor(world.clock.now() / 1000) });
  });

  it("R-AGT-12 R-AGT-10 type, name and total_steps are enough; the rest has defaults, and properties of one's own stay at every depth", async () => {
    const sent = {
      ...some(),
      colour: "red",
      metadata: { team: "x" },
      agents: [{ ...agent, mood: 1 }],
    } as unknown as NewWorkflow;
    const made = await workflows.create(ann, sent);
    const now = new Date(world.clock.now()).toISOString();
    expect(made).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      workflow_id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      workspace_id: "acme",
      type: "sequential",
      name: "Build",
      description: "",
      status: "pending",
      current_step: 0,
      total_steps: 4,
      colour: "red",
      agents: [{ ...agent, mood: 1, started_at: null, completed_at: null, duration_ms: null, result: null }],
      checkpoints: [],
      metadata: {
        team: "x",
        created_by: "ann",
        tags: [],
        priority: 5,
        retry_count: 0,
        max_retries: 3,
        timeout_seconds: 0,
        environment: "development",
      },
      performance_metrics: {
        total_duration_ms: 0,
        queue_time_ms: 0,
        execution_time_ms: 0,
        avg_step_duration_ms: 0,
        total_cost_usd: 0,
      },
      error_details: null,
      created_at: now,
      updated_at: now,
      completed_at: null,
      _etag: made._etag,
      _ts: made._ts,
    });
    expect(await workflows.get(ann, made.workflow_id)).toEqual(made);
  });

  it.each([
    ["type", { type: "parallel" }, ["sequential", "concurrent", "group_chat", "handoff", "state_machine", "saga"]],
    ["status", { status: "done" }, ["pending", "in_progress", "completed", "failed", "paused", "cancelled"]],
    ["metadata.environment", { metadata: { environment: "prod" } }, ["development", "staging", "production"]],
    [
      "agents.0.status",
      { agents: [{ ...agent, status: "gone" }] },
      ["pending", "in_progress", "completed", "failed", "skipped"],
    ],
    [
      "error_details.recovery_action",
      {
        error_details: { error_type: "x", error_message: "", stack_trace: "", failed_step: 0, recovery_action: "pray" },
      },
      ["retry", "skip", "manual_intervention"],
    ],
  ])(
    "R-AGT-08 R-AGT-13 R-AGT-14 R-AGT-16 R-AGT-18 R-AGT-20 an unknown %s is refused, naming the allowed values",
    async (path, more, allowed) => {
      const error = await failure(workflows.create(ann, { ...some(), ...more } as unknown as NewWorkflow), "INVALID");
      expect(error.detail).toContain(`${path}:`);
      for (const value of allowed) expect(error.detail).toContain(`"${value}"`);
      const { workflow_id } = await workflows.create(ann, some());
      await failure(workflows.patch(ann, workflow_id, more as WorkflowChange), "INVALID");
    },
  );

  const usage = (total_tokens: number) => ({
    agents: [
      {
        ...agent,
        result: {
          output: 1,
          tool_calls: [],
          token_usage: { prompt_tokens: 2, completion_tokens: 3, total_tokens },
          error: null,
        },
      },
    ],
  });
  it.each([
    ["R-AGT-15 current_step: -1", { current_step: -1 }, "current_step:"],
    ["R-AGT-15 current_step: 1.5", { current_step: 1.5 }, "current_step:"],
    ["R-AGT-15 current_step beyond total_steps", { current_step: 5 }, "current_step: must be at most total_steps"],
    ["R-AGT-18 priority 0", { metadata: { priority: 0 } }, "metadata.priority:"],
    ["R-AGT-18 priority 11", { metadata: { priority: 11 } }, "metadata.priority:"],
    ["R-AGT-16 a sum of tokens that is none", usage(6), "agents.0.result.token_usage.total_tokens: must be the sum"],
    [
      "R-AGT-07 a time that is not UTC",
      { created_at: "2030-01-01T00:00:00+02:00" },
      "created_at: must be an ISO 8601 time in UTC",
    ],
    ["R-AGT-07 a time of an agent", { agents: [{ ...agent, started_at: "yesterday" }] }, "agents.0.started_at:"],
    [
      "R-AGT-07 a time of a checkpoint",
      { checkpoints: [{ step: 0, timestamp: "2030-01-01", state: {} }] },
      "timestamp: must be an ISO 8601 time in UTC",
    ],
    [
      "R-AGT-17 a checkpoint without a state",
      { checkpoints: [{ step: 0, timestamp: "2030-01-01T00:00:00Z" }] },
      "checkpoints[0].state:",
    ],
    ["an id like the system's own", { id: "~mine" }, "id: must start with a letter or a digit"],
    ["a ttl of 0", { ttl: 0 }, "ttl:"],
    ["no name", { name: "" }, "name:"],
    [
      "a workflow_id that is too long",
      { workflow_id: "w".repeat(workflowLimits.workflowIdCharsMax + 1) },
      "workflow_id:",
    ],
  ])("%s is refused with its path, and nothing is there", async (_, more, told) => {
    const error = await failure(
      workflows.create(ann, { ...some({ workflow_id: "w" }), ...more } as unknown as NewWorkflow),
      "INVALID",
    );
    expect(error.detail).toContain(told);
    expect(await idsOf(world, "w")).toEqual([]);
  });

  it("R-AGT-15 R-AGT-16 R-AGT-18 the bounds themselves are accepted", async () => {
    const workflow_id = "w".repeat(workflowLimits.workflowIdCharsMax);
    const edge = {
      ...some({ workflow_id, current_step: 4 }),
      ...usage(5),
      metadata: { priority: 1 },
    } as unknown as NewWorkflow;
    expect(await workflows.create(ann, edge)).toMatchObject({ current_step: 4, metadata: { priority: 1 } });
    expect(await workflows.patch(ann, workflow_id, { current_step: 0, total_steps: 0 })).toMatchObject({
      current_step: 0,
      total_steps: 0,
    });
    expect(await workflows.create(ann, some({ metadata: { priority: 10 } }))).toMatchObject({
      metadata: { priority: 10 },
    });
  });

  it("R-AGT-05 one workflow_id has one workflow, whatever the ids of the items", async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => workflows.create(ann, some({ workflow_id: "same", name: `n${i}` }))),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "CONFLICT" });
    expect((await idsOf(world, "same")).filter((id) => !id.startsWith("~"))).toHaveLength(1);
  });

  it("the same idempotency key makes one workflow; with another body it is refused; another user's is another key", async () => {
    const key = { idempotencyKey: "k1" };
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, () => workflows.create(ann, some({ metadata: { tags: ["x"] } }), key)),
    );
    expect(new Set(outcomes.map(({ workflow_id, id }) => `${workflow_id} ${id}`)).size).toBe(1);
    await workflows.start(ann, outcomes[0]?.workflow_id as string);
    expect(
      await workflows.create(
        ann,
        { total_steps: 4, name: "Build", type: "sequential", metadata: { tags: ["x"] } },
        key,
      ),
    ).toMatchObject({
      status: "in_progress",
    });
    const error = await failure(workflows.create(ann, some({ name: "Other" }), key), "CONFLICT");
    expect(error.detail).toContain("idempotencyKey");
    const ben = await workflows.create(
      makeCaller({ tenant: "acme", userId: "ben" }),
      some({ metadata: { tags: ["x"] } }),
      key,
    );
    expect(ben.workflow_id).not.toBe(outcomes[0]?.workflow_id);
    const named = await workflows.create(ann, some({ workflow_id: "mine" }), { idempotencyKey: "k2" });
    expect(await workflows.create(ann, some({ workflow_id: "mine" }), { idempotencyKey: "k2" })).toEqual(named);
    await failure(workflows.create(ann, some({ workflow_id: "mine" })), "CONFLICT");
    await failure(workflows.create(ann, some(), { idempotencyKey: "k".repeat(256) }), "INVALID");
    await workflows.create(ann, some(), { idempotencyKey: "k".repeat(255) });
  });
});

describe("changes", () => {
  it("each property given replaces the stored one; null is a value; updated_at is set; what never changes may be named as it is", async () => {
    const made = await workflows.create(ann, some({ description: "old" }));
    world.clock.advance(1_000);
    const next = await workflows.patch(ann, made.workflow_id, {
      ...made,
      description: "new",
      note: null,
      updated_at: made.updated_at,
    } as WorkflowChange);
    expect(without(next)).toEqual({
      ...without(made),
      description: "new",
      note: null,
      updated_at: new Date(world.clock.now()).toISOString(),
    });
    expect(next._etag).not.toBe(made._etag);
    expect(await workflows.get(ann, made.workflow_id)).toEqual(next);
    for (const fixed of [
      { id: "b" },
      { workflow_id: "b" },
      { created_at: "2020-01-01T00:00:00Z" },
      { checkpoints: [{ step: 1 }] },
    ])
      expect((await failure(workflows.patch(ann, made.workflow_id, fixed as never), "INVALID")).detail).toContain(
        Object.keys(fixed)[0],
      );
    await failure(workflows.patch(ann, made.workflow_id, { workspace_id: "b" } as never), "FORBIDDEN");
  });

  it("R-AGT-52 R-AGT-54 a stale etag is refused with the current one, in every kind of write, and nothing changes", async () => {
    const made = await workflows.create(ann, some());
    const now = await workflows.patch(ann, made.workflow_id, { description: "b" });
    const stale = { ifMatch: made._etag };
    const id = made.workflow_id;
    const attempts = [
      workflows.patch(ann, id, { description: "c" }, stale),
      workflows.start(ann, id, stale),
      workflows.cancel(ann, id, stale),
      workflows.setAgent(ann, id, "a", {}, stale),
      workflows.checkpoint(ann, id, { step: 0, state: {} }, stale),
      workflows.resume(ann, id, stale),
      workflows.resume(ann, id, { ...stale, owner: "w" }),
      workflows.delete(ann, id, stale),
    ];
    for (const attempt of attempts)
      expect((await failure(attempt, "PRECONDITION_FAILED")).context.currentEtag).toBe(now._etag);
    expect(await workflows.get(ann, id)).toEqual(now);
    await workflows.patch(ann, id, { description: "c" }, { ifMatch: now._etag });
  });

  it("a hundred changes at once from two processes are all there", async () => {
    const { workflow_id } = await workflows.create(ann, some());
    const other = (await world.process()).workflows;
    await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        (i % 2 === 0 ? workflows : other).setAgent(ann, workflow_id, `agent-${i}`, { status: "in_progress" }),
      ),
    );
    const { agents } = await workflows.get(ann, workflow_id);
    expect(new Set(agents.map(({ agent_id }) => agent_id)).size).toBe(100);
  });

  it("R-AGT-16 an agent is added, changed and timed by its status", async () => {
    const { workflow_id } = await workflows.create(ann, some());
    const at = () => new Date(world.clock.now()).toISOString();
    const agentNow = async () => (await workflows.get(ann, workflow_id)).agents[0];
    await workflows.setAgent(ann, workflow_id, "dev", { agent_name: "Developer" });
    expect(await agentNow()).toEqual({
      agent_id: "dev",
      agent_name: "Developer",
      status: "pending",
      started_at: null,
      completed_at: null,
      duration_ms: null,
      result: null,
    });
    const begun = at();
    await workflows.setAgent(ann, workflow_id, "dev", { status: "in_progress" });
    world.clock.advance(330_000);
    const token_usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
    await workflows.setAgent(ann, workflow_id, "dev", {
      status: "completed",
      result: { output: { ok: true }, tool_calls: [], token_usage, error: null },
    });
    expect(await agentNow()).toMatchObject({
      agent_name: "Developer",
      status: "completed",
      started_at: begun,
      completed_at: at(),
      duration_ms: 330_000,
    });
    world.clock.advance(1_000);
    await workflows.setAgent(ann, workflow_id, "dev", { status: "in_progress" });
    expect(await agentNow()).toMatchObject({ started_at: at(), completed_at: null, duration_ms: null });
    await workflows.setAgent(ann, workflow_id, "dev", {
      status: "failed",
      completed_at: "2030-06-01T00:00:00Z",
      duration_ms: 7,
    });
    expect(await agentNow()).toMatchObject({ completed_at: "2030-06-01T00:00:00Z", duration_ms: 7 });
    await failure(workflows.setAgent(ann, workflow_id, "dev", { agent_id: "other" }), "INVALID");
    await failure(workflows.setAgent(ann, workflow_id, "", {}), "INVALID");
  });

  it("R-AGT-47 R-AGT-11 it lives 30 days from its last change, or as long as its ttl says; then it is gone and can be made anew", async () => {
    const { workflow_id } = await workflows.create(ann, some({ workflow_id: "w" }));
    await workflows.create(ann, some({ workflow_id: "short", ttl: 60 }));
    world.clock.advance(60_000);
    await failure(workflows.get(ann, "short"), "NOT_FOUND");
    world.clock.advance(29 * day);
    await workflows.patch(ann, workflow_id, { description: "renewed" });
    world.clock.advance(30 * day - 1);
    expect(await workflows.get(ann, workflow_id)).toMatchObject({ description: "renewed" });
    world.clock.advance(1);
    await failure(workflows.get(ann, workflow_id), "NOT_FOUND");
    await failure(workflows.checkpointAt(ann, workflow_id, "latest"), "NOT_FOUND");
    expect(await workflows.create(ann, some({ workflow_id, name: "Again" }))).toMatchObject({
      name: "Again",
      status: "pending",
    });
  });

  it("a deleted workflow is gone with all that was beside it, and its id can be used again", async () => {
    const { workflow_id } = await workflows.create(ann, long());
    for (let i = 0; i < 60; i += 1) await workflows.checkpoint(ann, workflow_id, { step: i, state: { i } });
    await workflows.delete(ann, workflow_id);
    expect(await idsOf(world, workflow_id)).toEqual([]);
    await failure(workflows.delete(ann, workflow_id), "NOT_FOUND");
    await workflows.create(ann, some({ workflow_id }));
    expect((await workflows.checkpoints(ann, workflow_id)).items).toEqual([]);
  });
});

describe("lists and counts", () => {
  const walk = async (query: object): Promise<string[]> => {
    const names: string[] = [];
    let cursor: string | undefined;
    for (let pages = 0; pages < 100; pages += 1) {
      const page = await workflows.list(ann, { limit: 3, cursor, ...query });
      names.push(...page.items.map(({ name }) => name));
      if (page.next_cursor === null) return names;
      cursor = page.next_cursor;
    }
    throw new Error("a list without end");
  };

  it("R-AGT-22 by status newest first, by type last changed first, all newest first; in pages, both ways; without checkpoints", async () => {
    const ids: string[] = [];
    for (let i = 0; i < 12; i += 1) {
      world.clock.advance(1_000);
      const type = i % 2 === 0 ? "saga" : "handoff";
      ids.push((await workflows.create(ann, some({ name: `n${i}`, type }))).workflow_id);
      await workflows.checkpoint(ann, ids[i] as string, { step: 0, state: {} });
    }
    await workflows.create(eve, some({ name: "theirs" }));
    const all = Array.from({ length: 12 }, (_, i) => `n${i}`);
    expect(await walk({})).toEqual(all.toReversed());
    expect(await walk({ order: "asc" })).toEqual(all);
    for (const i of [2, 7]) {
      world.clock.advance(1_000);
      await workflows.start(ann, ids[i] as string);
    }
    expect(await walk({ status: "in_progress" })).toEqual(["n7", "n2"]);
    expect(await walk({ status: "pending", order: "asc" })).toEqual(
      all.filter((name) => name !== "n2" && name !== "n7"),
    );
    expect(await walk({ type: "saga" })).toEqual(["n2", "n10", "n8", "n6", "n4", "n0"]);
    expect(await walk({ status: "in_progress", type: "handoff" })).toEqual(["n7"]);
    expect((await workflows.list(ann)).items.every(({ checkpoints }) => checkpoints.length === 0)).toBe(true);
    expect(await workflows.stats(ann)).toEqual({
      total: 12,
      by_status: { pending: 10, in_progress: 2, completed: 0, failed: 0, paused: 0, cancelled: 0 },
      by_type: { sequential: 0, concurrent: 0, group_chat: 0, handoff: 6, state_machine: 0, saga: 6 },
    });
  });

  it("a page has 20 when nothing is said and at most 100; wrong questions are refused", async () => {
    for (let i = 0; i < 21; i += 1) await workflows.create(ann, some());
    expect((await workflows.list(ann)).items).toHaveLength(20);
    expect((await workflows.list(ann, { limit: workflowLimits.pageItemsMax })).items).toHaveLength(21);
    for (const query of [
      { limit: 0 },
      { limit: workflowLimits.pageItemsMax + 1 },
      { status: "x" },
      { type: "x" },
      { order: "up" },
      { cursor: "x" },
    ])
      await failure(workflows.list(ann, query as never), "INVALID");
  });
});

describe("other workspaces", () => {
  it("R-AGT-09 see nothing, in the same words as where nothing is; without a caller nothing is done", async () => {
    const { workflow_id } = await workflows.create(ann, some());
    await workflows.checkpoint(ann, workflow_id, { step: 1, state: { secret: 1 } });
    const { fencing_token } = await workflows.acquireLease(ann, workflow_id, { owner: "w" });
    const before = await workflows.get(ann, workflow_id);
    const signal = new AbortController().signal;
    const calls = {
      get: (who: typeof eve, id: string) => workflows.get(who, id),
      none: (who: typeof eve, id: string) => workflows.get(who, id, { checkpoints: "none" }),
      patch: (who: typeof eve, id: string) => workflows.patch(who, id, { name: "x" }),
      delete: (who: typeof eve, id: string) => workflows.delete(who, id),
      start: (who: typeof eve, id: string) => workflows.start(who, id),
      pause: (who: typeof eve, id: string) => workflows.pause(who, id),
      cancel: (who: typeof eve, id: string) => workflows.cancel(who, id),
      complete: (who: typeof eve, id: string) => workflows.complete(who, id),
      fail: (who: typeof eve, id: string) => workflows.fail(who, id, {}),
      retry: (who: typeof eve, id: string) => workflows.retry(who, id),
      skip: (who: typeof eve, id: string) => workflows.skip(who, id),
      resume: (who: typeof eve, id: string) => workflows.resume(who, id, { owner: "e" }),
      setAgent: (who: typeof eve, id: string) => workflows.setAgent(who, id, "a", {}),
      checkpoint: (who: typeof eve, id: string) => workflows.checkpoint(who, id, { step: 0, state: {} }),
      checkpoints: (who: typeof eve, id: string) => workflows.checkpoints(who, id),
      checkpointAt: (who: typeof eve, id: string) => workflows.checkpointAt(who, id, 1),
      acquire: (who: typeof eve, id: string) => workflows.acquireLease(who, id, { owner: "e" }),
      renew: (who: typeof eve, id: string) => workflows.renewLease(who, id, { fencingToken: fencing_token }),
      release: (who: typeof eve, id: string) => workflows.releaseLease(who, id, { fencingToken: fencing_token }),
      events: async (who: typeof eve, id: string) =>
        workflows.events(who, id, { signal })[Symbol.asyncIterator]().next(),
    };
    for (const [name, call] of Object.entries(calls)) {
      const theirs = await failure(call(eve, workflow_id), "NOT_FOUND");
      const never = await failure(call(eve, "never"), "NOT_FOUND");
      expect(theirs.detail.replace(workflow_id, "…"), name).toBe(never.detail.replace("never", "…"));
      await failure(call({ ...ann }, workflow_id), "UNAUTHENTICATED");
    }
    expect((await workflows.list(eve)).items).toEqual([]);
    expect((await workflows.stats(eve)).total).toBe(0);
    expect(await workflows.get(ann, workflow_id)).toEqual(before);
    await failure(workflows.create(eve, some({ workspace_id: "acme" })), "FORBIDDEN");
    await expect(workflows.create(eve, some({ workflow_id }))).resolves.toMatchObject({ workspace_id: "evil" });
    await failure(workflows.create({ ...ann }, some()), "UNAUTHENTICATED");
    await failure(workflows.list({ ...ann }), "UNAUTHENTICATED");
    await failure(workflows.stats({ ...ann }), "UNAUTHENTICATED");
  });
});

describe("cost", () => {
  it("the usual get and the latest checkpoint are point reads; a change is one read and one batch", async () => {
    const { workflow_id } = await workflows.create(ann, some());
    await workflows.checkpoint(ann, workflow_id, { step: 1, state: {} });
    const cost = async (call: () => Promise<unknown>): Promise<string[]> => {
      process.calls.names.length = 0;
      await call();
      return process.calls.names.map((name) => name.split(" ")[0] as string);
    };
    expect(await cost(() => workflows.get(ann, workflow_id, { checkpoints: "none" }))).toEqual(["readMany"]);
    expect(await cost(() => workflows.checkpointAt(ann, workflow_id, "latest"))).toEqual(["readMany", "read"]);
    expect(await cost(() => workflows.patch(ann, workflow_id, { name: "x" }))).toEqual(["readMany", "batch"]);
    expect(await cost(() => workflows.checkpoint(ann, workflow_id, { step: 2, state: {} }))).toEqual([
      "readMany",
      "batch",
    ]);
    // Another process does not know the item's id yet: it asks the lease, once.
    const other = await world.process();
    await other.workflows.get(ann, workflow_id, { checkpoints: "none" });
    await other.workflows.get(ann, workflow_id, { checkpoints: "none" });
    expect(other.calls.names.map((name) => name.split(" ")[0])).toEqual(["read", "read", "readMany", "readMany"]);
  });

  it("a process remembers 10,000 ids and forgets the oldest", async () => {
    const { workflow_id, id } = await workflows.create(ann, some());
    const partitions = new Partitions(process.parts.items);
    const reads = async () => {
      process.calls.names.length = 0;
      await partitions.workflow(ann.scope, workflow_id);
      return process.calls.names.map((name) => name.split(" ")[0]);
    };
    partitions.remember(ann.scope, workflow_id, id);
    for (let i = 1; i < workflowLimits.knownIdsMax; i += 1) partitions.remember(ann.scope, `w${i}`, "x");
    expect(await reads()).toEqual(["read"]);
    partitions.remember(ann.scope, "one more", "x");
    expect(await reads()).toEqual(["read", "read"]);
    expect(await reads()).toEqual(["read"]);
  });
});
