/** The containers of the system through the containers API, in a whole Pinakes, on every engine. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StateApi } from "@pinakes/client";
import { failure } from "../../src/testing/item-store/fixture.ts";
import { openTestPinakes, type TestPinakes } from "../knowledge/support/test-pinakes.ts";
import { useServers } from "../support/servers.ts";
import { memoryExample, metricExample, toolExample, workflowExample, workspace } from "./containers-examples.ts";

const { postgres, dynamo } = useServers();

const system = [
  "workflow-states",
  "agent-memories",
  "agent-metrics",
  "tool-invocations",
  "thread-message-store",
  "system-thread-message-store",
  "agent-entity-store",
];

describe.each([
  ["memory", () => ({})],
  ["sqlite", () => ({})],
  ["PostgreSQL", () => ({ items: postgres() })],
  ["DynamoDB", () => ({ items: dynamo("containers") })],
] as const)("the containers of the system on %s", (engine, stores) => {
  let test: TestPinakes;
  let api: StateApi;
  beforeAll(async () => {
    const near = engine === "memory" || engine === "sqlite" ? engine : "elsewhere";
    test = await openTestPinakes(near, { ...stores(), background: false });
    api = test.pinakes.state.as(test.pinakes.as({ tenant: workspace, userId: "ann" }));
  });
  afterAll(() => test[Symbol.asyncDispose]());

  const withoutSystem = ({ _etag, _ts, ...document }: { readonly _etag: string; readonly _ts: number }): object =>
    document;

  it("R-AGT-01 R-AGT-11 R-AGT-25 R-AGT-34 R-AGT-40 R-AGT-45 one open makes all of them, with their partitions and times to live", async () => {
    const { items } = await api.containers.list();
    expect(
      items.map(({ name, kind, partition_key, default_ttl, append_only }) => [
        name,
        kind,
        partition_key,
        default_ttl,
        append_only,
      ]),
    ).toEqual([
      ["workflow-states", "system", "/workflow_id", 2_592_000, false],
      ["agent-memories", "system", "/agent_id", 7_776_000, false],
      ["agent-metrics", "system", "/metric_date", 15_552_000, false],
      ["tool-invocations", "system", "/tool_date", 7_776_000, true],
      ["thread-message-store", "system", "/threadId", -1, false],
      ["system-thread-message-store", "system", "/threadId", -1, false],
      ["agent-entity-store", "system", "/agentId", -1, false],
    ]);
    for (const name of system)
      expect((await api.containers.indexes(name)).items.every(({ state }) => state === "ready")).toBe(true);
  });

  it("R-AGT-12 R-AGT-26 R-AGT-35 the example documents come back as they were sent, byte for byte but for _etag and _ts", async () => {
    for (const [name, pk, example] of [
      ["workflow-states", "workflow-123", workflowExample],
      ["agent-memories", "architect-001", memoryExample],
      ["agent-metrics", "2025-10-07", metricExample],
    ] as const) {
      const made = await api.containers.create(name, example);
      expect(JSON.stringify(withoutSystem(made))).toBe(JSON.stringify(example));
      expect(await api.containers.read(name, pk, example.id)).toEqual(made);
      await failure(api.containers.create(name, example), "CONFLICT");
      const [found] = (
        await api.containers.query(name, {
          query: "SELECT * FROM c WHERE c.id = @id",
          parameters: [{ name: "@id", value: example.id }],
          pk,
        })
      ).items;
      expect(found).toEqual(made);
    }
    await api.tools.ingest([toolExample]);
    const logged = await api.containers.read("tool-invocations", "2025-10-07", toolExample.id);
    expect(withoutSystem(logged)).toEqual(toolExample);
  });

  it("custom names of metrics are counted however they are written, and the limit holds here, too", async () => {
    const own = (i: number) => ({ ...metricExample, id: `own-${i}`, metric_type: `custom.name_${i}` });
    await api.metrics.ingest(
      Array.from({ length: 198 }, (_, i) => ({ ...own(i), metric_type: `custom.name_${i}` as const })),
    );
    await api.containers.create("agent-metrics", own(198));
    await api.containers.patch("agent-metrics", "2025-10-07", "own-0", [
      { op: "set", path: "/metric_type", value: "custom.patched" },
    ]);
    expect((await api.metrics.names()).types.length).toBe(200);
    await failure(api.containers.create("agent-metrics", own(200)), "LIMIT_EXCEEDED");
    await failure(
      api.containers.batch("agent-metrics", "2025-10-07", [{ op: "create", document: own(201) }]),
      "LIMIT_EXCEEDED",
    );
    await failure(api.containers.read("agent-metrics", "2025-10-07", "own-201"), "NOT_FOUND");
    const bulk = await api.containers.bulk("agent-metrics", [
      { op: "create", document: own(202) },
      { op: "create", document: { ...own(203), metric_type: "custom.name_7" } },
    ]);
    expect([bulk.succeeded, bulk.failed, bulk.lines[0]?.error?.code]).toEqual([1, 1, "LIMIT_EXCEEDED"]);
  });

  it("R-AGT-40 tool invocations are only added, and only where they are redacted", async () => {
    const [pk, id] = ["2025-10-07", toolExample.id];
    const admin = test.pinakes.state.as(test.pinakes.as({ tenant: workspace, userId: "adam", role: "admin" }));
    await admin.tools.putRule({ tool_name: "hushed", sensitive: true });
    const hushed = { ...toolExample, id: "another", tool_name: "hushed" };
    const made = await api.containers.create("tool-invocations", hushed);
    expect(made).toMatchObject({ id: "another", input_args: {}, workspace_id: made["workspace_id"] });
    expect(await api.containers.read("tool-invocations", pk, "another")).toEqual(made);
    await failure(api.containers.create("tool-invocations", hushed), "CONFLICT");
    await failure(
      api.containers.create("tool-invocations", { ...hushed, id: "third", tool_date: "2020-01-01" }),
      "INVALID",
    );
    await failure(api.containers.create("tool-invocations", { ...hushed, id: "third", status: "odd" }), "INVALID");
    await failure(api.containers.upsert("tool-invocations", toolExample), "CONFLICT");
    await failure(api.containers.replace("tool-invocations", toolExample), "CONFLICT");
    await failure(
      api.containers.patch("tool-invocations", pk, id, [{ op: "set", path: "/status", value: "error" }]),
      "CONFLICT",
    );
    await failure(api.containers.deleteItem("tool-invocations", pk, id), "CONFLICT");
    await failure(api.containers.deletePartition("tool-invocations", pk), "CONFLICT");
    expect(await api.containers.read("tool-invocations", pk, id)).toMatchObject({ status: "success" });
  });

  it("R-AGT-07 R-AGT-08 R-AGT-09 wrong times, unknown values and other workspaces are refused with their path", async () => {
    const times = await failure(
      api.containers.create("agent-memories", { ...memoryExample, id: "m2", timestamp: "yesterday" }),
      "INVALID",
    );
    expect(times.detail).toMatch(/timestamp: .*ISO 8601/);
    const kinds = await failure(
      api.containers.create("agent-metrics", { ...metricExample, id: "m3", metric_type: "speed" }),
      "INVALID",
    );
    expect(kinds.detail).toMatch(/metric_type: .*"latency"/);
    await failure(
      api.containers.create("agent-memories", { ...memoryExample, id: "m4", workspace_id: "other" }),
      "FORBIDDEN",
    );
    await failure(
      api.containers.create("workflow-states", { ...workflowExample, workflow_id: "w2", status: "sleeping" }),
      "INVALID",
    );
    await failure(
      api.containers.create("agent-metrics", { ...metricExample, id: "m5", metric_date: "2025-10-08" }),
      "INVALID",
    );
    const derived = await api.containers.create("agent-metrics", {
      ...metricExample,
      id: "m6",
      metric_date: undefined,
      value: 5,
    });
    expect(derived["metric_date"]).toBe("2025-10-07");
    const made = await api.containers.create("workflow-states", {
      type: "sequential",
      name: "Made here",
      total_steps: 2,
    });
    expect(await api.workflows.get(made["workflow_id"] as string)).toMatchObject({
      id: made.id,
      name: "Made here",
      status: "pending",
    });
    const { lines } = await api.containers.bulk("agent-metrics", [
      { op: "create", document: { ...metricExample, id: "m7", metric_date: undefined } },
    ]);
    expect(lines).toEqual([{ line: 1, status: 201, id: "m7" }]);
  });

  it("R-AGT-05 a partition takes further documents: the workflow is the one that was first, and keeps its checkpoints and its lease", async () => {
    const { containers, workflows } = api;
    const document = { type: "sequential", name: "One", total_steps: 4, current_step: 0, workflow_id: "shared" };
    await containers.create("workflow-states", { ...document, id: "m" });
    await workflows.checkpoint("shared", { step: 2, state: { at: 2 } });
    // Before and after it in the order of ids.
    for (const id of ["a", "z"]) await containers.create("workflow-states", { ...document, id, name: id });
    await failure(containers.create("workflow-states", { ...document, id: "a" }), "CONFLICT");
    await containers.upsert("workflow-states", { ...document, id: "y", name: "y" });
    expect(await workflows.get("shared")).toMatchObject({ id: "m", name: "One", current_step: 2 });
    const query = { query: "SELECT VALUE c.id FROM c ORDER BY c.id", pk: "shared" };
    expect((await containers.query("workflow-states", query)).items).toEqual(["a", "m", "y", "z"]);
    const listed = (await workflows.list({ limit: 100 })).items.filter(({ workflow_id }) => workflow_id === "shared");
    expect(listed.map(({ id, current_step }) => [id, current_step]).toSorted()).toEqual([
      ["a", 0],
      ["m", 2],
      ["y", 0],
      ["z", 0],
    ]);
    const error = await failure(workflows.create({ ...document, id: "n" } as never), "CONFLICT");
    expect(error.message).toContain('"shared"');
    expect(error.message).not.toMatch(/~|lease|atch/);
    await containers.patch("workflow-states", "shared", "a", [{ op: "set", path: "/name", value: "A" }]);
    await containers.deleteItem("workflow-states", "shared", "a");
    await containers.batch("workflow-states", "shared", [
      { op: "create", document: { ...document, id: "b" } },
      { op: "delete", id: "y" },
    ]);
    await failure(
      containers.batch("workflow-states", "shared", [
        { op: "create", document: { ...document, id: "c" } },
        { op: "delete", id: "m" },
      ]),
      "CONFLICT",
    );
    expect(await workflows.checkpointAt("shared", "latest")).toMatchObject({ step: 2, state: { at: 2 } });
    await workflows.acquireLease("shared", { owner: "worker", leaseSeconds: 60 });
    for (const change of [
      () => containers.create("workflow-states", { ...document, id: "d" }),
      () => containers.patch("workflow-states", "shared", "b", [{ op: "set", path: "/name", value: "B" }]),
      () => containers.deleteItem("workflow-states", "shared", "b"),
      () => containers.deleteItem("workflow-states", "shared", "m"),
    ]) {
      const held = await failure(change(), "CONFLICT");
      expect(held.message).toMatch(/"shared" is leased/);
      expect(held.message).not.toContain("~");
    }
    expect((await containers.query("workflow-states", query)).items).toEqual(["b", "m", "z"]);
  });

  it("R-AGT-05 when the workflow is deleted, the first of the other documents takes its place; a whole partition goes at once", async () => {
    const { containers, workflows } = api;
    const document = { type: "handoff", name: "One", total_steps: 4, current_step: 1, workflow_id: "heirs" };
    for (const id of ["m", "z", "a"]) await containers.create("workflow-states", { ...document, id, name: id });
    expect(await workflows.get("heirs")).toMatchObject({ id: "m" });
    await containers.deleteItem("workflow-states", "heirs", "m");
    expect(await workflows.get("heirs")).toMatchObject({ id: "a", name: "a" });
    await containers.patch("workflow-states", "heirs", "z", [{ op: "set", path: "/name", value: "Z" }]);
    await containers.deleteItem("workflow-states", "heirs", "z");
    await workflows.checkpoint("heirs", { step: 3, state: {} });
    await containers.create("workflow-states", { ...document, id: "0" });
    expect(await workflows.get("heirs")).toMatchObject({ id: "a", current_step: 3 });
    for (let i = 0; i < 30; i += 1) await containers.create("workflow-states", { ...document, id: `more-${i}` });
    // 32 documents and the checkpoint, in several steps.
    expect(await containers.deletePartition("workflow-states", "heirs")).toEqual({ deleted: 33 });
    await failure(workflows.get("heirs"), "NOT_FOUND");
    await workflows.create({ ...document, id: "new" } as never);
    expect(await workflows.get("heirs")).toMatchObject({ id: "new", current_step: 1 });
  });

  it("R-AGT-14 R-AGT-24 the rules of workflows hold: transitions, and the lease that somebody holds", async () => {
    await failure(
      api.containers.patch("workflow-states", "workflow-123", workflowExample.id, [
        { op: "set", path: "/status", value: "pending" },
      ]),
      "CONFLICT",
    );
    const paused = await api.containers.patch(
      "workflow-states",
      "workflow-123",
      workflowExample.id,
      [{ op: "set", path: "/status", value: "paused" }],
      {
        condition: "from c where c.status = 'in_progress'",
      },
    );
    expect(paused).toMatchObject({ status: "paused" });
    const lease = await api.workflows.acquireLease("workflow-123", { owner: "worker", leaseSeconds: 60 });
    expect(lease).toMatchObject({ owner: "worker" });
    await failure(
      api.containers.patch("workflow-states", "workflow-123", workflowExample.id, [
        { op: "set", path: "/name", value: "mine" },
      ]),
      "CONFLICT",
    );
    await failure(api.containers.deleteItem("workflow-states", "workflow-123", workflowExample.id), "CONFLICT");
    await failure(api.containers.deletePartition("workflow-states", "workflow-123"), "CONFLICT");
    expect(await api.workflows.get("workflow-123")).toMatchObject({ name: workflowExample.name, status: "paused" });
  });

  it("R-AGT-45 R-AGT-57 threads and entities keep their shape; what the features wrote is found here, and their companions are not", async () => {
    const old = { id: "m1", threadId: "t1", role: "user", parts: [{ text: "hi" }] };
    const kept = withoutSystem(await api.containers.create("thread-message-store", old));
    expect(kept).toEqual({ ...old, workspace_id: workspace });
    await api.threads.append("t1", { role: "assistant", text: "hello" });
    await api.containers.upsert("agent-entity-store", { id: "e1", agentId: "a1", any: ["shape"] });
    const ids = async (name: string, query: string): Promise<readonly unknown[]> =>
      (await api.containers.query(name, { query, limit: 1_000 })).items;
    await expect
      .poll(() => ids("thread-message-store", "SELECT VALUE c.role FROM c WHERE c.threadId = 't1'"))
      .toHaveLength(2);
    for (const name of system) {
      const where = "SELECT VALUE c.id FROM c WHERE c.workspace_id = @workspace_id";
      const page = await api.containers.query(name, {
        query: where,
        parameters: [{ name: "@workspace_id", value: workspace }],
      });
      expect([name, page.items.filter((id) => String(id).startsWith("~"))]).toEqual([name, []]);
      await expect
        .poll(async () => (await ids(name, "SELECT VALUE COUNT(1) FROM c"))[0])
        .toBeGreaterThan(name.startsWith("system") ? -1 : 0);
      expect([
        name,
        (await ids(name, "SELECT VALUE c.id FROM c WHERE IS_DEFINED(c.pinakes_companion)")).length,
      ]).toEqual([name, 0]);
    }
  });

  it("checkpoints are no documents: neither SQL, nor a list, nor the feed shows them; by its id one is read", async () => {
    for (const n of [1, 2, 3]) {
      const { workflow_id } = await api.workflows.create({
        workflow_id: `hidden-${n}`,
        type: "saga",
        name: "Hidden",
        total_steps: 3,
      });
      for (let step = 1; step <= n; step += 1) await api.workflows.checkpoint(workflow_id, { step, state: { step } });
    }
    const { total, by_status } = await api.workflows.stats();
    const ask = async (query: string): Promise<readonly unknown[]> =>
      (await api.containers.query("workflow-states", { query, limit: 1_000 })).items;
    await expect.poll(() => ask("SELECT VALUE COUNT(1) FROM c WHERE c.type = 'saga'")).toEqual([3]);
    expect(await ask("SELECT VALUE COUNT(1) FROM c")).toEqual([total]);
    expect(await ask("SELECT VALUE COUNT(1) FROM c WHERE c.workflow_id = 'hidden-3'")).toEqual([1]);
    const groups = (await ask("SELECT c.status, COUNT(1) AS n FROM c GROUP BY c.status")) as readonly {
      readonly status?: string;
      readonly n: number;
    }[];
    expect(Object.fromEntries(groups.map(({ status, n }) => [status, n]))).toEqual(
      Object.fromEntries(Object.entries(by_status).filter(([, n]) => n > 0)),
    );
    for (const query of [
      "SELECT * FROM c",
      "SELECT * FROM c ORDER BY c.updated_at",
      "SELECT * FROM c WHERE c.step > 0",
      "SELECT * FROM c WHERE c.workflow_id = 'hidden-3'",
    ])
      expect([
        query,
        (await ask(query)).filter((document) => (document as { kind?: unknown }).kind === "checkpoint"),
      ]).toEqual([query, []]);
    const listed = await api.containers.query("workflow-states", {
      index: "byCreated",
      equals: { workspace_id: workspace },
      limit: 100,
    });
    expect(listed.items).toHaveLength(total);
    expect((await api.containers.query("workflow-states", { equals: { workflow_id: "hidden-3" } })).items).toHaveLength(
      1,
    );
    expect((await api.containers.explain("workflow-states", { query: "SELECT * FROM c" })).evaluated).toEqual([]);
    for (const mode of ["latest", "all"] as const) {
      const { items } = await api.containers.changes("workflow-states", { mode, limit: 1_000 });
      expect(items.filter(({ id }) => id.startsWith("~"))).toEqual([]);
      expect(items.map(({ pk }) => pk[0])).toContain("hidden-3");
    }
    const page = await test.pinakes.items.query(
      test.pinakes.as({ tenant: workspace, userId: "ann" }).scope,
      "workflow-states",
      {
        equals: { workflow_id: "hidden-3" },
        range: { prefix: "~checkpoint-" },
      },
    );
    expect(page.items).toHaveLength(3);
    expect(await api.containers.read("workflow-states", "hidden-3", page.items[0]?.id as string)).toMatchObject({
      kind: "checkpoint",
      step: 1,
    });
    expect(await api.containers.deletePartition("workflow-states", "hidden-3")).toEqual({ deleted: 4 });
  });

  it("R-AGT-09 another workspace finds nothing in any of them", async () => {
    const other = test.pinakes.state.as(test.pinakes.as({ tenant: "ws-other", userId: "eve", role: "admin" }));
    for (const name of system) {
      expect([name, (await other.containers.query(name, { query: "SELECT * FROM c" })).items]).toEqual([name, []]);
      expect(
        (await other.containers.query(name, { query: `SELECT * FROM c WHERE c.workspace_id = '${workspace}'` })).items,
      ).toEqual([]);
      if (name !== "agent-metrics") expect((await other.containers.changes(name, { mode: "all" })).items).toEqual([]);
    }
    await failure(other.containers.read("workflow-states", "workflow-123", workflowExample.id), "NOT_FOUND");
    await failure(other.containers.deleteItem("agent-memories", "architect-001", memoryExample.id), "NOT_FOUND");
    expect(await other.containers.deletePartition("agent-memories", "architect-001")).toEqual({ deleted: 0 });
    expect(await api.containers.read("agent-memories", "architect-001", memoryExample.id)).toMatchObject({
      content: memoryExample.content,
    });
  });
});
