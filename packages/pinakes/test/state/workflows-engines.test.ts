/** The essentials of workflows on every engine, each beside a store of objects. */
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { makeCaller } from "../../src/domain/caller.ts";
import { systemScope } from "../../src/domain/scope.ts";
import { openDynamoItems } from "../../src/drivers/dynamodb/index.ts";
import { startDynamo, testConnection, type DynamoServer } from "../../src/drivers/dynamodb/test-server.ts";
import { openMemoryItems } from "../../src/drivers/memory/index.ts";
import { openMemoryObjects } from "../../src/drivers/memory-objects/index.ts";
import { openPostgresItems } from "../../src/drivers/postgres/index.ts";
import { startPostgres, type TestServer } from "../../src/drivers/postgres/test-server.ts";
import { openSqliteItems } from "../../src/drivers/sqlite/index.ts";
import type { ItemStore } from "../../src/ports/item-store.ts";
import type { ObjectStore } from "../../src/ports/object-store.ts";
import { workflowStates } from "../../src/state/workflows/workflow-states.ts";
import { failure, ManualClock } from "../../src/testing/item-store/fixture.ts";
import { until } from "../support/until.ts";
import { itemsOf } from "../../src/runtime/pages.ts";
import { ann, blob, day, eve, idsOf, long, openWorld, some, type Process, type World } from "./workflows-support.ts";

let postgres: TestServer;
let dynamo: DynamoServer;
const dir = temporaryFolder("workflows");
beforeAll(async () => {
  [postgres, dynamo] = await Promise.all([startPostgres(), startDynamo()]);
});
afterAll(async () => {
  await Promise.all([postgres.stop(), dynamo.stop()]);
});

interface Place {
  readonly clock: ManualClock;
  readonly objects: ObjectStore;
}
const engines: readonly (readonly [string, (place: Place) => Promise<ItemStore>])[] = [
  ["memory", ({ clock }) => openMemoryItems({ clock })],
  ["SQLite", ({ clock }) => openSqliteItems({ dir, clock })],
  ["PostgreSQL", ({ clock }) => openPostgresItems({ url: postgres.url, clock })],
  [
    "DynamoDB",
    ({ clock, objects }) =>
      openDynamoItems({
        ...testConnection,
        endpoint: dynamo.endpoint,
        prefix: "workflows",
        clock,
        objects: { store: objects, scope: systemScope("spills", () => {}) },
      }),
  ],
];

describe.each(engines)("workflows on %s", (name, open) => {
  const clock = new ManualClock();
  const objects = openMemoryObjects({ clock });
  let world: World;
  let process: Process;
  beforeAll(async () => {
    world = await openWorld({ items: await open({ clock, objects }), objects, clock });
    process = await world.process();
  });
  afterAll(() => world.items.close());

  it("R-AGT-12 R-AGT-14 R-AGT-17 R-AGT-19 a workflow from its beginning to its end", async () => {
    const { workflows } = process;
    const { workflow_id } = await workflows.create(ann, some());
    clock.advance(100);
    await workflows.start(ann, workflow_id);
    for (let step = 1; step <= 4; step += 1) {
      clock.advance(1_000);
      await workflows.checkpoint(ann, workflow_id, { step, state: { step }, agent_context: { at: step } });
      await workflows.patch(ann, workflow_id, { current_step: step });
      await workflows.setAgent(ann, workflow_id, `agent-${step}`, { status: "completed" });
    }
    const done = await workflows.complete(ann, workflow_id);
    expect(done).toMatchObject({
      status: "completed",
      performance_metrics: { queue_time_ms: 100, execution_time_ms: 4_000, avg_step_duration_ms: 1_000 },
    });
    const got = await workflows.get(ann, workflow_id);
    // A change tells how many there are; a get shows them.
    const { checkpoints_omitted, ...whole } = done;
    expect([checkpoints_omitted, Object.hasOwn(got, "checkpoints_omitted")]).toEqual([4, false]);
    expect(got).toMatchObject({
      ...whole,
      checkpoints: [1, 2, 3, 4].map((step) => ({ step, state: { step }, agent_context: { at: step } })),
    });
    expect(got.agents.map(({ agent_id }) => agent_id)).toEqual(["agent-1", "agent-2", "agent-3", "agent-4"]);
    expect(await workflows.checkpointAt(ann, workflow_id, 2)).toMatchObject({ state: { step: 2 } });
    expect(
      (await workflows.checkpoints(ann, workflow_id, { order: "desc", limit: 2 })).items.map(({ step }) => step),
    ).toEqual([4, 3]);
    await failure(workflows.start(ann, workflow_id), "CONFLICT");
    await failure(workflows.get(eve, workflow_id), "NOT_FOUND");
  });

  it("R-AGT-23 20 MB of checkpoints are saved and resumed, sent at once or one by one; one of 20 MB too; a delete leaves nothing", async () => {
    const { workflows } = process;
    const before = (await objects.list(ann.scope, "")).keys.length;
    const large = Array.from({ length: 40 }, (_, step) => ({
      step,
      timestamp: "2030-01-01T00:00:00Z",
      state: { text: blob(524_288, step) },
      agent_context: { step },
    }));
    const once = (await workflows.create(ann, long({ checkpoints: large }))).workflow_id;
    const byOne = (await workflows.create(ann, long())).workflow_id;
    for (const checkpoint of large) await workflows.checkpoint(ann, byOne, checkpoint);
    const other = (await world.process()).workflows;
    for (const id of [once, byOne]) {
      expect(await other.resume(ann, id)).toMatchObject({
        checkpoint: { step: 39 },
        state: large[39]?.state,
        agent_context: { step: 39 },
      });
      expect(await other.checkpointAt(ann, id, 17)).toEqual(large[17]);
      expect(await other.get(ann, id)).toMatchObject({ checkpoints_omitted: 39, checkpoints: [{ step: 39 }] });
      const steps = await Array.fromAsync(
        itemsOf((cursor) => other.checkpoints(ann, id, { limit: 100, cursor })),
        ({ step }) => step,
      );
      expect(steps).toEqual(large.map(({ step }) => step));
    }
    const whole = { step: 50, state: { text: blob(20 * 1_048_576) } };
    await workflows.checkpoint(ann, byOne, whole);
    expect((await other.resume(ann, byOne)).state).toEqual(whole.state);
    for (const id of [once, byOne]) await other.delete(ann, id);
    expect([await idsOf(world, once), await idsOf(world, byOne)]).toEqual([[], []]);
    expect((await objects.list(ann.scope, "")).keys).toHaveLength(before);
  });

  it("R-AGT-05 R-AGT-52 of twenty that create one id at once, one succeeds; a stale etag is refused with the current one", async () => {
    const { workflows } = process;
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) => workflows.create(ann, some({ workflow_id: "one", name: `n${n}` }))),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "CONFLICT" });
    const old = await workflows.get(ann, "one");
    const { _etag } = await workflows.patch(ann, "one", { description: "new" });
    expect(
      (
        await failure(
          workflows.patch(ann, "one", { description: "late" }, { ifMatch: old._etag }),
          "PRECONDITION_FAILED",
        )
      ).context.currentEtag,
    ).toBe(_etag);
    expect(await workflows.get(ann, "one")).toMatchObject({ description: "new" });
  });

  it("R-AGT-24 ten workers of five processes: one holder at a time, and every turn is there", async () => {
    const { workflow_id: id } = await process.workflows.create(ann, long());
    const workers = await Promise.all(Array.from({ length: 5 }, () => world.process()));
    const history: string[] = [];
    const worker = async (n: number): Promise<void> => {
      const { workflows } = workers[n % workers.length] as Process;
      for (;;) {
        const lease = await workflows
          .acquireLease(ann, id, { owner: `w${n}`, leaseSeconds: 3_600 })
          .catch((error: unknown) => {
            if ((error as { code?: unknown }).code !== "CONFLICT") throw error;
          });
        if (lease === undefined) {
          await new Promise((resolve) => void setTimeout(resolve, 1));
          continue;
        }
        const { fencing_token: fencingToken } = lease;
        history.push(`begin ${fencingToken}`);
        await workflows.checkpoint(ann, id, { step: fencingToken, state: { n } }, { fencingToken });
        history.push(`end ${fencingToken}`);
        await workflows.releaseLease(ann, id, { fencingToken });
        return;
      }
    };
    await Promise.all(Array.from({ length: 10 }, (_, n) => worker(n)));
    expect(history).toEqual(Array.from({ length: 10 }, (_, i) => [`begin ${i + 1}`, `end ${i + 1}`]).flat());
    const { items } = await process.workflows.checkpoints(ann, id);
    expect(items.map(({ step }) => step)).toEqual(Array.from({ length: 10 }, (_, i) => i + 1));
    expect(new Set(items.map(({ state }) => state["n"])).size).toBe(10);
  });

  it("R-AGT-22 R-AGT-21 lists by status and by type in the order of their indexes, in pages; counts; no index but the declared ones", async () => {
    const { workflows } = process;
    const who = makeCaller({ tenant: `lists-${name}`, userId: "u" });
    for (let i = 0; i < 9; i += 1) {
      clock.advance(1_000);
      const { workflow_id } = await workflows.create(
        who,
        some({ name: `n${i}`, type: i % 3 === 0 ? "saga" : "handoff", status: i % 2 === 0 ? "paused" : "pending" }),
      );
      await workflows.checkpoint(who, workflow_id, { step: 0, state: {} });
    }
    const names = async (query: object): Promise<string> => {
      const all = await Array.fromAsync(
        itemsOf((cursor) => workflows.list(who, { limit: 2, cursor, ...query })),
        (one) => one.name,
      );
      return all.join(" ");
    };
    // DynamoDB's indexes may be late.
    await until(
      async () =>
        (await names({})).length === 26 &&
        (await workflows.stats(who)).by_type.handoff === 6 &&
        (await names({ status: "paused" })).length === 14,
    );
    expect(await names({})).toBe("n8 n7 n6 n5 n4 n3 n2 n1 n0");
    expect(await names({ status: "paused" })).toBe("n8 n6 n4 n2 n0");
    expect(await names({ type: "saga", order: "asc" })).toBe("n0 n3 n6");
    expect(await workflows.stats(who)).toMatchObject({
      total: 9,
      by_status: { paused: 5, pending: 4 },
      by_type: { saga: 3, handoff: 6 },
    });
    const indexes = await world.items.indexes("workflow-states");
    expect(indexes.map((index) => index.name).toSorted()).toEqual([
      "byCreated",
      "byStatus",
      "byStep",
      "byType",
      "byUpdated",
    ]);
  });

  it("R-AGT-18 R-AGT-47 R-AGT-11 timeouts, and the end of the time to live with all that is beside it", async () => {
    const { workflows } = process;
    const slow = (await workflows.create(ann, some({ metadata: { timeout_seconds: 60 } }))).workflow_id;
    await workflows.start(ann, slow);
    await workflows.checkpoint(ann, slow, { step: 1, state: { text: blob(1_048_577) } });
    clock.advance(60_000);
    const { error_details } = await until(async () => {
      await process.sweep();
      const workflow = await workflows.get(ann, slow);
      return workflow.status === "failed" && workflow;
    });
    expect(error_details).toMatchObject({ error_type: "timeout" });
    clock.advance(30 * day - 1);
    expect(await workflows.get(ann, slow)).toMatchObject({ status: "failed" });
    clock.advance(1);
    await failure(workflows.get(ann, slow), "NOT_FOUND");
    clock.advance(60_000);
    await until(async () => {
      await process.sweep();
      return (await idsOf(world, slow)).length + (await objects.list(ann.scope, "state/")).keys.length === 0;
    });
  });
});

describe("on SQLite", () => {
  it("R-AGT-17 checkpoints survive a restart, and a new process goes on from the latest", async () => {
    const own = await mkdtemp(join(dir, "restart-"));
    const clock = new ManualClock();
    const first = await openWorld({ items: await openSqliteItems({ dir: own, clock }), clock });
    const { workflow_id } = await (await first.process()).workflows.create(ann, some());
    const { workflows } = await first.process();
    for (let step = 0; step < 3; step += 1)
      await workflows.checkpoint(ann, workflow_id, { step, state: { step }, agent_context: { a: step } });
    await first.items.close();
    await using items = await openSqliteItems({ dir: own, clock });
    const second = await (await openWorld({ items, clock })).process();
    expect(await second.workflows.resume(ann, workflow_id)).toMatchObject({
      state: { step: 2 },
      agent_context: { a: 2 },
    });
    await second.workflows.checkpoint(ann, workflow_id, { step: 2, state: { step: "2b" } });
    expect((await second.workflows.checkpointAt(ann, workflow_id, "latest")).state).toEqual({ step: "2b" });
  });

  it("R-AGT-21 R-AGT-22 the queries of lists are searches in their indexes; nothing else of a document is indexed", async () => {
    const own = await mkdtemp(join(dir, "explain-"));
    await using items = await openSqliteItems({ dir: own });
    const { workflows } = await (await openWorld({ items })).process();
    const prepare = vi.spyOn(DatabaseSync.prototype, "prepare");
    const statements = async (call: () => Promise<unknown>): Promise<string[]> => {
      prepare.mockClear();
      await call();
      return prepare.mock.calls
        .map(([sql]) => sql)
        .filter((sql) => sql.includes("c_workflow-states") && sql.includes("ORDER BY"));
    };
    const lists = {
      byStatus: await statements(() => workflows.list(ann, { status: "pending" })),
      byType: await statements(() => workflows.list(ann, { type: "saga" })),
      byCreated: await statements(() => workflows.list(ann)),
    };
    prepare.mockRestore();
    const db = new DatabaseSync(join(own, "pinakes.sqlite"), { readOnly: true });
    for (const [index, sqls] of Object.entries(lists)) {
      expect(sqls.length, index).toBeGreaterThan(0);
      for (const sql of sqls) {
        const plan = db
          .prepare(`EXPLAIN QUERY PLAN ${sql}`)
          .all()
          .map(({ detail }) => String(detail))
          .join("; ");
        expect(plan).toMatch(new RegExp(`^SEARCH .* USING INDEX .*k_${index}_1`));
        expect(plan).not.toMatch(/TEMP B-TREE/);
      }
    }
    const columns = db
      .prepare(
        `SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'c_workflow-states' AND name LIKE '%k!_%' ESCAPE '!'`,
      )
      .all();
    db.close();
    expect(columns).toHaveLength(5);
    const paths = JSON.stringify(Object.values(workflowStates.definition.indexes ?? {}));
    for (const wanted of ["workspace_id", "status", "type", "created_at", "updated_at", "current_step"])
      expect(paths).toContain(`"${wanted}"`);
    for (const excluded of ["agents", "checkpoints", "_etag"]) expect(paths).not.toContain(excluded);
    expect(workflowStates.definition.partitionKey).toEqual(["workflow_id"]);
  });

  it("R-AGT-90 a thousand workflows at once, each with four steps and checkpoints, complete, and nothing is lost", async () => {
    const own = await mkdtemp(join(dir, "thousand-"));
    await using items = await openSqliteItems({ dir: own });
    const { workflows } = await (await openWorld({ items })).process();
    const run = async (n: number): Promise<void> => {
      const workflow_id = `wf-${n}`;
      await workflows.create(ann, some({ workflow_id }));
      const { fencing_token: fencingToken } = (
        await workflows.resume(ann, workflow_id, { owner: `worker-${n}`, leaseSeconds: 3_600 })
      ).lease as {
        fencing_token: number;
      };
      for (let step = 1; step <= 4; step += 1) {
        await Promise.all([
          workflows.checkpoint(ann, workflow_id, { step, state: { n, step } }, { fencingToken }),
          workflows.setAgent(ann, workflow_id, `agent-${step}`, { status: "completed" }, { fencingToken }),
          workflows.patch(ann, workflow_id, { current_step: step }, { fencingToken }),
        ]);
      }
      await workflows.complete(ann, workflow_id, { fencingToken });
    };
    await Promise.all(Array.from({ length: 1_000 }, (_, n) => run(n)));
    expect(await workflows.stats(ann)).toMatchObject({ total: 1_000, by_status: { completed: 1_000 } });
    for (let n = 0; n < 1_000; n += 1) {
      const { status, current_step, agents, checkpoints } = await workflows.get(ann, `wf-${n}`);
      expect([status, current_step, agents.length, checkpoints.map(({ state }) => state)]).toEqual([
        "completed",
        4,
        4,
        [1, 2, 3, 4].map((step) => ({ n, step })),
      ]);
    }
  });
});

describe("on PostgreSQL", () => {
  it("R-AGT-22 the queries of lists are served by their indexes", async () => {
    await using items = await openPostgresItems({ url: postgres.url, database: "explained" });
    const { workflows } = await (await openWorld({ items })).process();
    for (let i = 0; i < 200; i += 1) await workflows.create(ann, some({ status: i % 4 === 0 ? "paused" : "pending" }));
    const { default: pg } = await import("pg");
    const raw = new pg.Client(postgres.url);
    await raw.connect();
    const statements: { text: string; values: unknown[] }[] = [];
    const original = pg.Client.prototype.query;
    const spy = vi.spyOn(pg.Client.prototype, "query").mockImplementation(function (
      this: InstanceType<typeof pg.Client>,
      ...args: unknown[]
    ) {
      const [config] = args as [{ text: string; values: unknown[] }];
      if (typeof config === "object" && config.text.includes("c_workflow-states") && config.text.includes("ORDER BY"))
        statements.push(config);
      return Reflect.apply(original, this, args) as never;
    });
    try {
      await workflows.list(ann, { status: "paused" });
      await workflows.list(ann, { type: "sequential" });
    } finally {
      spy.mockRestore();
    }
    // Few rows tempt the planner to sort them; with many it does what it does here.
    await raw.query("SET enable_seqscan = off; SET enable_bitmapscan = off");
    const plans: string[] = [];
    for (const { text, values } of statements) {
      const { rows } = await raw.query<{ "QUERY PLAN": string }>({ text: `EXPLAIN ${text}`, values });
      plans.push(rows.map((row) => row["QUERY PLAN"]).join("\n"));
    }
    await raw.end();
    expect(plans).toHaveLength(2);
    expect(plans[0]).toMatch(/Index Scan .*k_byStatus_1/);
    expect(plans[1]).toMatch(/Index Scan .*k_byType_1/);
    for (const plan of plans) expect(plan).not.toMatch(/Seq Scan|Sort Key/);
  });
});
