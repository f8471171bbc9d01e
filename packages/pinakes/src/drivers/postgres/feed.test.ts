/** The feed against overlapping transactions: none skipped, none returned twice, however late it becomes visible. */
import { expect, it } from "vitest";
import { systemScope, tenantScope } from "../../domain/scope.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import { scope, TestDatabases } from "./test-databases.ts";

const databases = new TestDatabases();

async function follow(
  store: ItemStore,
  cursor: string | undefined,
): Promise<{ ids: string[]; cursor: string; more: boolean }> {
  const page = await store.changes(scope, "notes", cursor === undefined ? {} : { cursor });
  return { ids: page.changes.map(({ id }) => id), cursor: page.cursor, more: page.more };
}

async function open(database: string): Promise<ItemStore> {
  const store = await databases.store(database);
  await store.openContainer({ name: "notes", partitionKey: ["p"], feed: true });
  return store;
}

const put = (store: ItemStore, id: string, p = "a") =>
  store.write(scope, "notes", [p], { op: "upsert", document: { id, p } });

/** A change as the driver would write it, in a transaction that the test ends. */
const insert = (database: string) =>
  `INSERT INTO "${database}"."f_notes" (epoch, xid, n, tenant, pk, id_key, id, kind, etag, at, expired)
   VALUES (1, pg_current_xact_id(), 1, 'acme', '["acme","b"]', 'late', 'late', 'put', 'e-late', 1, false)`;

it("a transaction that began first and commits last is not skipped by a reader in between", async () => {
  const database = databases.fresh();
  const store = await open(database);
  const slow = await databases.raw();
  await put(store, "before");
  await slow.query("BEGIN");
  await slow.query(insert(database));
  await put(store, "after");
  const first = await follow(store, undefined);
  expect(first).toMatchObject({ ids: ["before"], more: true });
  const second = await follow(store, first.cursor);
  expect(second).toMatchObject({ ids: [], more: true });
  await slow.query("COMMIT");
  const third = await follow(store, second.cursor);
  expect(third).toMatchObject({ ids: ["late", "after"], more: false });
  expect(await follow(store, third.cursor)).toMatchObject({ ids: [], more: false });
});

it("two processes that write one partition are serialised by the database, and the feed tells their commits in order", async () => {
  const database = databases.fresh();
  const [a, b] = [await open(database), await open(database)];
  await a.write(scope, "notes", ["a"], { op: "create", document: { id: "x", p: "a", n: 0 } });
  const made = new Map<string, number>();
  const increment = async (store: ItemStore) => {
    for (let i = 0; i < 40; i += 1) {
      const { etag, document } = await store.write(scope, "notes", ["a"], {
        op: "patch",
        id: "x",
        patch: [{ op: "incr", path: "/n", value: 1 }],
      });
      made.set(etag as string, document?.["n"] as number);
    }
  };
  await Promise.all([increment(a), increment(b), increment(a), increment(b)]);
  const told: (number | undefined)[] = [];
  for (let cursor: string | undefined, more = true; more;) {
    const page = await a.changes(scope, "notes", { limit: 50, ...(cursor === undefined ? {} : { cursor }) });
    told.push(...page.changes.map(({ etag }) => made.get(etag)));
    ({ cursor, more } = page);
  }
  expect(told.slice(1)).toEqual(Array.from({ length: 160 }, (_, i) => i + 1));
});

it("a reader that asks until there is no more sees what was acknowledged before it asked, also while an older transaction is running", async () => {
  const database = databases.fresh();
  const store = await open(database);
  const slow = await databases.raw();
  await slow.query("BEGIN");
  await slow.query("SELECT pg_current_xact_id()");
  await put(store, "x");
  const told: string[] = [];
  const reading = (async () => {
    for (let cursor: string | undefined, more = true; more;) {
      const page = await follow(store, cursor);
      told.push(...page.ids);
      ({ cursor, more } = page);
    }
  })();
  await slow.query("ROLLBACK");
  await reading;
  expect(told).toEqual(["x"]);
});

it('"now" distinguishes committed from running transactions, though their numbers overlap', async () => {
  const database = databases.fresh();
  const store = await open(database);
  const slow = await databases.raw();
  await slow.query("BEGIN");
  await slow.query(insert(database));
  await put(store, "past");
  const { cursor } = await store.changes(scope, "notes", { from: "now" });
  await put(store, "future");
  await slow.query("COMMIT");
  const next = await follow(store, cursor);
  expect(next.ids.toSorted()).toEqual(["future", "late"]);
  await put(store, "last");
  expect((await follow(store, next.cursor)).ids).toEqual(["last"]);
});

it("an idle reader advances with the database, and is not rejected when changes it never needed are trimmed", async () => {
  let now = 1_000;
  const database = databases.fresh();
  const store = await databases.store(database, { clock: { now: () => now } });
  await store.openContainer({ name: "notes", partitionKey: ["p"], feed: true });
  const start = await follow(store, undefined);
  await store.write(tenantScope("other"), "notes", ["a"], { op: "create", document: { id: "x", p: "a" } });
  const idle = await follow(store, start.cursor);
  expect(idle.ids).toEqual([]);
  now += 8 * 86_400_000;
  await store.purgeExpired(
    systemScope("test", () => {}),
    "notes",
  );
  expect((await follow(store, idle.cursor)).ids).toEqual([]);
  await expect(follow(store, start.cursor)).rejects.toMatchObject({ code: "PRECONDITION_FAILED" });
});

it("data that moves to a cluster whose transaction numbers are lower keeps its order, and existing readers miss nothing", async () => {
  const database = databases.fresh();
  const before = await open(database);
  await put(before, "old");
  const { cursor } = await follow(before, undefined);
  await before.close();
  // As a dump from a cluster far ahead of this one would leave it.
  const raw = await databases.raw();
  await raw.query(`UPDATE "${database}"."f_notes" SET xid = '4000000000'`);
  await raw.query(`UPDATE "${database}"."pinakes_meta" SET value = 'elsewhere:00000001' WHERE name = 'cluster'`);
  const after = await open(database);
  await put(after, "new");
  expect((await follow(after, undefined)).ids).toEqual(["old", "new"]);
  expect((await follow(after, cursor)).ids).toContain("new");
  const rows = await raw.query<{ feed_epoch: number }>(`SELECT feed_epoch FROM "${database}"."pinakes_containers"`);
  expect(rows.rows).toEqual([{ feed_epoch: 2 }]);
  const again = await open(database);
  expect((await follow(again, undefined)).ids).toEqual(["old", "new"]);
  expect(
    (await raw.query<{ feed_epoch: number }>(`SELECT feed_epoch FROM "${database}"."pinakes_containers"`)).rows,
  ).toEqual(rows.rows);
});
