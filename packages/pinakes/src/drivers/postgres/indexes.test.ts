/** Indexes that change while several processes use the container. */
import { expect, it, vi } from "vitest";
import { until } from "../../../test/support/until.ts";
import { systemScope } from "../../domain/scope.ts";
import type { ContainerDefinition, ItemStore } from "../../ports/item-store.ts";
import { itemsOf } from "../../runtime/pages.ts";
import { Names } from "./names.ts";
import { refusal, scope, TestDatabases, untilReady } from "./test-databases.ts";

const databases = new TestDatabases();
const plain: ContainerDefinition = { name: "tasks", partitionKey: ["p"] };
const indexed: ContainerDefinition = { ...plain, indexes: { byStatus: { partition: ["status"], sort: ["n"] } } };

async function fill(store: ItemStore, count: number): Promise<void> {
  const partitions = Math.ceil(count / 100);
  for (let p = 0; p < partitions; p += 1) {
    const name = `p${String(p).padStart(3, "0")}`;
    const size = Math.min(100, count - p * 100);
    await store.batch(
      scope,
      "tasks",
      [name],
      Array.from({ length: size }, (_, i) => ({
        op: "create",
        document: { id: `i${i}`, p: name, status: i % 2 === 0 ? "open" : "done", n: p * 100 + i },
      })),
    );
  }
}

const numbers = async (store: ItemStore, status: string): Promise<number[]> => {
  return Array.fromAsync(
    itemsOf((cursor) =>
      store.query(scope, "tasks", {
        index: "byStatus",
        equals: { status },
        limit: 1000,
        ...(cursor === undefined ? {} : { cursor }),
      }),
    ),
    ({ document }) => document["n"] as number,
  );
};

it("R-AGT-62 an index is built online: writes and other reads continue, progress is visible, and the result is complete", async () => {
  const database = databases.fresh();
  const store = await databases.store(database);
  await store.openContainer(plain);
  await fill(store, 3_000);
  // The test locks one partition in the middle, so that the build stops there.
  const raw = await databases.raw();
  await raw.query("SELECT pg_advisory_lock($1)", [
    new Names(database).lockKey("partition", "tasks", '["acme","p015"]'),
  ]);
  await store.openContainer(indexed);
  await until(
    async () => (await raw.query("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")).rowCount === 1,
  );
  expect(await store.indexes("tasks")).toMatchObject([{ name: "byStatus", state: "building" }]);
  expect(
    await refusal(store.query(scope, "tasks", { index: "byStatus", equals: { status: "open" } }), "UNAVAILABLE"),
  ).toMatch(/being built/);
  await refusal(store.count(scope, "tasks", { index: "byStatus", equals: { status: "open" } }), "UNAVAILABLE");

  await store.write(scope, "tasks", ["p000"], {
    op: "patch",
    id: "i0",
    patch: [{ op: "set", path: "/status", value: "done" }],
  });
  await store.write(scope, "tasks", ["p029"], { op: "delete", id: "i2" });
  await store.write(scope, "tasks", ["p029"], {
    op: "create",
    document: { id: "new", p: "p029", status: "open", n: 9_999 },
  });
  expect(await store.count(scope, "tasks", { equals: { p: "p001" } })).toBe(100);

  // The build has read this row and waits for its partition: concurrent writes to it must win.
  await raw.query(
    `UPDATE "${database}"."c_tasks" SET etag = 'raw', "k_byStatus_2" = NULL WHERE pk = '["acme","p015"]' AND id = 'i0'`,
  );
  await raw.query("SELECT pg_advisory_unlock_all()");
  const progress = await untilReady(store, "tasks");
  expect(progress[0]).toBeGreaterThan(0);
  expect(progress[0]).toBeLessThan(1);
  expect(progress).toEqual(progress.toSorted((a, b) => a - b));
  const open = Array.from({ length: 1_500 }, (_, i) => i * 2).filter((n) => n !== 0 && n !== 1_500 && n !== 2_902);
  expect(await numbers(store, "open")).toEqual([...open, 9_999]);
  expect(await numbers(store, "done")).toHaveLength(1_501);
});

it("an interrupted build continues where it was, in whatever process opens the container", async () => {
  const database = databases.fresh();
  const first = await databases.store(database);
  await first.openContainer(plain);
  await fill(first, 600);
  const raw = await databases.raw();
  await raw.query("SELECT pg_advisory_lock($1)", [
    new Names(database).lockKey("partition", "tasks", '["acme","p004"]'),
  ]);
  await first.openContainer(indexed);
  await until(async () => ((await first.indexes("tasks"))[0]?.progress ?? 0) > 0.5);
  await first.close();
  const rows = await raw.query<{ cursor_pk: string; rows_done: string }>(
    `SELECT cursor_pk, rows_done FROM "${database}"."pinakes_indexes"`,
  );
  expect(rows.rows).toEqual([{ cursor_pk: '["acme","p003"]', rows_done: "400" }]);
  await raw.query("SELECT pg_advisory_unlock_all()");
  const second = await databases.store(database);
  await second.openContainer(plain);
  await untilReady(second, "tasks");
  expect(await numbers(second, "open")).toEqual(Array.from({ length: 300 }, (_, i) => i * 2));
});

it("an index that PostgreSQL left invalid is rebuilt", async () => {
  const database = databases.fresh();
  const store = await databases.store(database);
  await store.openContainer(plain);
  await fill(store, 50);
  // CREATE INDEX CONCURRENTLY waits for this old snapshot; closing cancels it and leaves the invalid index behind.
  const raw = await databases.raw();
  await raw.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
  await raw.query("SELECT 1");
  await store.openContainer(indexed);
  const watch = await databases.raw();
  const invalid = async () =>
    (
      await watch.query(
        `SELECT 1 FROM pg_index WHERE NOT indisvalid AND indrelid = '"${database}"."c_tasks"'::regclass`,
      )
    ).rowCount === 1;
  await until(invalid);
  await store.close();
  expect(await invalid()).toBe(true);
  await raw.query("COMMIT");
  const again = await databases.store(database);
  await again.openContainer(indexed);
  await untilReady(again, "tasks");
  expect(await invalid()).toBe(false);
  expect(await numbers(again, "open")).toHaveLength(25);
});

it("R-AGT-62 a process with the old definition keeps the new index complete", async () => {
  const database = databases.fresh();
  const old = await databases.store(database);
  await old.openContainer(plain);
  await fill(old, 10);
  const next = await databases.store(database);
  await next.openContainer(indexed);
  await old.batch(
    scope,
    "tasks",
    ["p000"],
    [
      { op: "create", document: { id: "late", p: "p000", status: "open", n: 100 } },
      { op: "delete", id: "i0" },
      { op: "patch", id: "i2", patch: [{ op: "set", path: "/n", value: 50 }] },
    ],
  );
  await untilReady(next, "tasks");
  expect(await numbers(next, "open")).toEqual([4, 6, 8, 50, 100]);
  // It has noticed by now, and can use the index itself.
  expect(await numbers(old, "open")).toEqual([4, 6, 8, 50, 100]);
});

it("R-AGT-62 an index that is built while two processes write at random equals the rows", async () => {
  const database = databases.fresh();
  const [a, b] = [await databases.store(database), await databases.store(database)];
  await a.openContainer(plain);
  await b.openContainer(plain);
  await fill(a, 1_000);
  await a.openContainer(indexed);
  const write = async (store: ItemStore, w: number) => {
    for (let i = 0; i < 60; i += 1) {
      const p = `p00${(i * 7 + w) % 10}`;
      const id = `i${(i * 13 + w * 5) % 110}`;
      const status = ["open", "done", "new"][(i + w) % 3] as string;
      if (i % 5 === 0) await store.write(scope, "tasks", [p], { op: "delete", id }).catch(() => undefined);
      else
        await store.write(scope, "tasks", [p], {
          op: "upsert",
          document: { id, p, n: i, ...(i % 7 === 0 ? {} : { status }) },
        });
    }
  };
  await Promise.all([write(a, 0), write(a, 1), write(b, 2), write(b, 3)]);
  await untilReady(b, "tasks");
  const rows: string[] = [];
  for (let p = 0; p < 10; p += 1) {
    const { items } = await a.query(scope, "tasks", { equals: { p: `p00${p}` }, limit: 1_000 });
    for (const { document } of items) if (document["status"] !== undefined) rows.push(JSON.stringify(document));
  }
  const found: string[] = [];
  for (const status of ["open", "done", "new"]) {
    const { items } = await b.query(scope, "tasks", { index: "byStatus", equals: { status }, limit: 1_000 });
    found.push(...items.map(({ document }) => JSON.stringify(document)));
  }
  expect(found.toSorted()).toEqual(rows.toSorted());
});

it("a query planned for an index that another process has redefined is rejected, never answered with the wrong keys", async () => {
  const database = databases.fresh();
  const old = await databases.store(database);
  await old.openContainer(indexed);
  await fill(old, 10);
  expect(await numbers(old, "open")).toHaveLength(5);
  const next = await databases.store(database);
  await next.openContainer({ ...plain, indexes: { byStatus: { partition: ["n"], sort: ["status"] } } });
  await untilReady(next, "tasks");
  expect(await refusal(numbers(old, "open"), "UNAVAILABLE")).toMatch(/changed by another process/);
  await refusal(numbers(old, "open"), "INVALID");
  const found = await old.query(scope, "tasks", { index: "byStatus", equals: { n: 3 } });
  expect(found.items.map(({ id }) => id)).toEqual(["i3"]);
});

it("a document that cannot be in a new index stops its build, is named, and releases it once it is changed", async () => {
  const database = databases.fresh();
  const store = await databases.store(database);
  await store.openContainer(plain);
  await fill(store, 5);
  await store.write(scope, "tasks", ["p000"], {
    op: "create",
    document: { id: "huge", p: "p000", status: "s".repeat(2_000), n: 1 },
  });
  await store.openContainer(indexed);
  let message = "";
  await until(async () => {
    message = await refusal(
      store.query(scope, "tasks", { index: "byStatus", equals: { status: "open" } }),
      "UNAVAILABLE",
    );
    return message.includes("huge");
  });
  expect(message).toMatch(/"huge".*at most 900/);
  await store.write(scope, "tasks", ["p000"], {
    op: "replace",
    document: { id: "huge", p: "p000", status: "open", n: 77 },
  });
  await untilReady(store, "tasks");
  expect(await numbers(store, "open")).toEqual([0, 2, 4, 77]);
});

it("R-AGT-51 a time to live that is switched on later gets its indexes in the background, and finds items that have expired meanwhile", async () => {
  let now = Date.UTC(2030, 0, 1);
  const database = databases.fresh();
  const store = await databases.store(database, { clock: { now: () => now } });
  await store.openContainer(indexed);
  await fill(store, 20);
  now += 60_000;
  await store.openContainer({ ...indexed, ttl: 30 });
  expect(await store.count(scope, "tasks", { equals: { p: "p000" } })).toBe(0);
  const raw = await databases.raw();
  await until(
    async () => (await raw.query(`SELECT 1 FROM "${database}"."pinakes_indexes" WHERE ready`)).rowCount === 3,
  );
  const { rows } = await raw.query<{ indexname: string }>(
    `SELECT indexname FROM pg_indexes WHERE schemaname = $1 AND indexname LIKE '%~%' ORDER BY 1`,
    [database],
  );
  expect(rows.map(({ indexname }) => indexname)).toEqual(["x_tasks_~modified_at", "x_tasks_~own_expiry"]);
  expect(await store.indexes("tasks")).toEqual([{ name: "byStatus", state: "ready", progress: 1 }]);
  expect(
    await store.purgeExpired(
      systemScope("test", () => {}),
      "tasks",
    ),
  ).toEqual({ purged: 20, backlog: 0 });
});

it("a query runs over the partial index, in its order, without a sequential scan or a sort", async () => {
  const database = databases.fresh();
  const store = await databases.store(database, { poolSize: 1 });
  await store.openContainer({ ...indexed, ttl: -1 });
  await fill(store, 2_000);
  const raw = await databases.raw();
  await raw.query(`ANALYZE "${database}"."c_tasks"`);
  const query = () =>
    store.query(scope, "tasks", {
      index: "byStatus",
      equals: { status: "open" },
      range: { gte: 500 },
      order: "desc",
      limit: 20,
    });
  const { plans } = await planned(raw, query);
  expect(plans.length).toBeGreaterThan(0);
  for (const plan of plans) {
    expect(plan).toMatch(/Index Scan Backward using "x_tasks_k_byStatus_1"/);
    expect(plan).not.toMatch(/Seq Scan|Sort/);
  }
});

/** The plans of the statements that a call runs, as the server logs them. */
async function planned(
  raw: Awaited<ReturnType<TestDatabases["raw"]>>,
  call: () => Promise<unknown>,
): Promise<{ plans: string[] }> {
  const { default: pg } = await import("pg");
  const statements: { text: string; values: unknown[] }[] = [];
  const original = pg.Client.prototype.query;
  pg.Client.prototype.query = function (this: unknown, ...args: unknown[]) {
    const [config] = args as [{ text: string; values: unknown[] } | string];
    if (typeof config === "object" && config.text.includes("c_tasks")) statements.push(config);
    return (original as (...all: unknown[]) => unknown).apply(this, args);
  } as typeof original;
  try {
    await call();
  } finally {
    pg.Client.prototype.query = original;
  }
  const plans: string[] = [];
  for (const { text, values } of statements) {
    const { rows } = await raw.query<{ "QUERY PLAN": string }>({ text: `EXPLAIN ${text}`, values });
    plans.push(rows.map((row) => row["QUERY PLAN"]).join("\n"));
  }
  return { plans };
}

it("an index can be added while another is being built and waits for an old transaction", async () => {
  const database = databases.fresh();
  const [a, b] = [await databases.store(database), await databases.store(database)];
  await a.openContainer(plain);
  await b.openContainer(plain);
  await fill(a, 10);
  const report = await databases.raw();
  await report.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
  await report.query("SELECT 1");
  await a.openContainer(indexed);
  const watch = await databases.raw();
  const building = `SELECT 1 FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX CONCURRENTLY%"${database}"%' AND state = 'active' AND wait_event_type = 'Lock'`;
  await until(async () => (await watch.query(building)).rowCount === 1);
  await b.openContainer({ ...plain, indexes: { ...indexed.indexes, byN: { partition: ["p"], sort: ["n"] } } });
  await fillOne(b, "late");
  await report.query("COMMIT");
  await untilReady(b, "tasks");
  expect(await numbers(b, "open")).toEqual([-1, 0, 2, 4, 6, 8]);
  expect((await b.query(scope, "tasks", { index: "byN", equals: { p: "p000" } })).items).toHaveLength(10);
});

const fillOne = (store: ItemStore, id: string) =>
  store.write(scope, "tasks", ["q"], { op: "create", document: { id, p: "q", status: "open", n: -1 } });

it("a change of the indexes waits for a long reader of the table without making others wait behind it", async () => {
  const database = databases.fresh();
  const store = await databases.store(database);
  await store.openContainer(plain);
  await fill(store, 10);
  const dump = await databases.raw();
  await dump.query("BEGIN");
  await dump.query(`SELECT count(*) FROM "${database}"."c_tasks"`);
  const watch = await databases.raw();
  await watch.query("SELECT pg_sleep(1.1)");
  let opened = false;
  const opening = store.openContainer(indexed).then(() => (opened = true));
  for (let i = 0; i < 40; i += 1) {
    const { rowCount } = await watch.query(
      `SELECT pg_sleep(0.01), 1 FROM pg_locks WHERE relation = '"${database}"."c_tasks"'::regclass AND NOT granted`,
    );
    expect(rowCount).toBe(0);
    await watch.query("SELECT pg_sleep(0.01)");
  }
  expect(opened).toBe(false);
  await dump.query("COMMIT");
  await opening;
  await untilReady(store, "tasks");
});

it("a process that was idle learns of a changed time to live before it answers", async () => {
  let now = Date.UTC(2030, 0, 1);
  const database = databases.fresh();
  const clock = { now: () => now };
  const [a, b] = [await databases.store(database, { clock }), await databases.store(database, { clock })];
  for (const store of [a, b]) await store.openContainer(plain);
  await fillOne(a, "x");
  const key = { partition: ["q"], id: "x" };
  const real = performance.now.bind(performance);
  let idleMs = 0;
  const ticking = vi.spyOn(performance, "now").mockImplementation(() => real() + idleMs);
  try {
    // Each answer is the first one after a while: none may rely on what an earlier one learned.
    const first = async (ttl: number, call: () => Promise<unknown>): Promise<unknown> => {
      await a.openContainer({ ...plain, ttl });
      idleMs += 10_000;
      return call();
    };
    expect(await b.read(scope, "tasks", key)).toBeDefined();
    now += 5_000;
    expect(await first(1, () => b.read(scope, "tasks", key))).toBeUndefined();
    expect(await first(60, () => b.read(scope, "tasks", key))).toMatchObject({ id: "x" });
    expect(await first(1, () => b.count(scope, "tasks", { equals: { p: "q" } }))).toBe(0);
    expect(await first(60, () => b.readRaw(scope, "tasks", key))).toMatchObject({ id: "x" });
    expect(await first(1, () => b.readMany(scope, "tasks", [key]))).toEqual([undefined]);
    expect(await first(60, async () => (await b.query(scope, "tasks", { equals: { p: "q" } })).items.length)).toBe(1);
  } finally {
    ticking.mockRestore();
  }
});
