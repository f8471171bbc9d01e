/** Servers that die, connections that break, and processes that start together. */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { expect, it } from "vitest";
import { until } from "../../../test/support/until.ts";
import { systemScope } from "../../domain/scope.ts";
import type { ContainerDefinition, ItemStore } from "../../ports/item-store.ts";
import { Database } from "./connection.ts";
import { openPostgresItems } from "./index.ts";
import { refusal, scope, TestDatabases } from "./test-databases.ts";

const databases = new TestDatabases();
const container: ContainerDefinition = {
  name: "notes",
  partitionKey: ["p"],
  ttl: 3_600,
  feed: true,
  uniqueKeys: { title: ["title"] },
  indexes: { byN: { partition: ["p"], sort: ["n"] } },
};
const create = (store: ItemStore, id: string) =>
  store.write(scope, "notes", ["a"], { op: "create", document: { id, p: "a", n: 1 } });

it("R-AGT-01 opening again, and opening from many processes at once, changes nothing", async () => {
  const database = databases.fresh();
  const raw = await databases.raw();
  const stores = await Promise.all(Array.from({ length: 6 }, () => databases.store(database, { poolSize: 2 })));
  await Promise.all(stores.map((store) => store.openContainer(container)));
  await create(stores[0] as ItemStore, "x");
  const before = await described(raw, database);
  expect(before).toMatch(/c_notes/);
  const again = await databases.store(database);
  await again.openContainer(container);
  expect(await described(raw, database)).toBe(before);
  for (const store of stores) expect(await store.read(scope, "notes", { partition: ["a"], id: "x" })).toBeDefined();
  // One signing key: a cursor of one process is valid in the others.
  const { cursor } = await (stores[0] as ItemStore).changes(scope, "notes");
  expect((await again.changes(scope, "notes", { cursor })).changes).toEqual([]);
});

async function described(raw: Awaited<ReturnType<TestDatabases["raw"]>>, database: string): Promise<string> {
  const parts: unknown[] = [];
  for (const text of [
    `SELECT table_name, column_name, data_type, collation_name, is_nullable, column_default FROM information_schema.columns WHERE table_schema = '${database}' ORDER BY 1, 2`,
    `SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = '${database}' ORDER BY 1`,
    `SELECT xmin, t.* FROM "${database}".pinakes_meta t ORDER BY name`,
    `SELECT xmin, t.* FROM "${database}".pinakes_containers t ORDER BY name`,
    `SELECT xmin, t.* FROM "${database}".pinakes_indexes t ORDER BY name`,
  ]) {
    parts.push((await raw.query<Record<string, unknown>>(text)).rows);
  }
  return JSON.stringify(parts, null, 1);
}

it("R-AGT-55 a server killed in the middle keeps every acknowledged batch whole, and of the others all or nothing", async () => {
  const database = databases.fresh();
  const store = await databases.store(database);
  await store.openContainer(container);
  const acknowledged = new Set<number>();
  let tried = 0;
  let down = false;
  const writers = Array.from({ length: 4 }, async () => {
    while (!down) {
      const i = (tried += 1);
      const operations = ["l", "r"].map(
        (side) => ({ op: "create", document: { id: `${i}${side}`, p: `p${i % 3}`, n: i } }) as const,
      );
      await store.batch(scope, "notes", [`p${i % 3}`], operations).then(
        () => acknowledged.add(i),
        (error: { code: string }) => {
          expect(error.code).toBe("UNAVAILABLE");
          down = true;
        },
      );
    }
  });
  await until(async () => acknowledged.size >= 40);
  await databases.server.kill9();
  await Promise.all(writers);
  await databases.server.restart();
  // The same store recovers by itself.
  const found = new Set<string>();
  for (const p of ["p0", "p1", "p2"])
    for (const { id } of (await store.query(scope, "notes", { equals: { p }, limit: 1_000 })).items) found.add(id);
  for (let i = 1; i <= tried; i += 1) {
    expect(found.has(`${i}l`)).toBe(found.has(`${i}r`));
    if (acknowledged.has(i)) expect(found.has(`${i}l`)).toBe(true);
  }
  const told = new Set<string>();
  for (let cursor: string | undefined, more = true; more;) {
    const page = await store.changes(scope, "notes", { limit: 1_000, ...(cursor === undefined ? {} : { cursor }) });
    for (const { id } of page.changes) told.add(id);
    ({ cursor, more } = page);
  }
  expect([...told].toSorted()).toEqual([...found].toSorted());
});

const terminate = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'pinakes' AND pid <> pg_backend_pid()`;

it("connections that were cut while idle are replaced silently", async () => {
  const store = await databases.store(databases.fresh());
  await store.openContainer(container);
  const raw = await databases.raw();
  for (let i = 0; i < 5; i += 1) {
    await raw.query(terminate);
    await create(store, `i${i}`);
    await raw.query(terminate);
    expect(await store.read(scope, "notes", { partition: ["a"], id: `i${i}` })).toBeDefined();
  }
});

it("a connection that breaks before the commit is sent costs nothing: the write is repeated", async () => {
  const database = databases.fresh();
  const store = await databases.store(database);
  await store.openContainer(container);
  const raw = await databases.raw();
  // The write waits for a row of the catalogue of containers behind the partition's lock, and is cut there.
  await raw.query("BEGIN");
  await raw.query(`LOCK TABLE "${database}"."pinakes_containers" IN ACCESS EXCLUSIVE MODE`);
  const writing = create(store, "x");
  const watch = await databases.raw();
  await until(
    async () =>
      (
        await watch.query(
          `SELECT 1 FROM pg_stat_activity WHERE application_name = 'pinakes' AND wait_event_type = 'Lock'`,
        )
      ).rowCount === 1,
  );
  await watch.query(terminate);
  await raw.query("COMMIT");
  await writing;
  expect((await store.changes(scope, "notes")).changes).toHaveLength(1);
});

it("a connection that breaks during the commit is an unknown outcome, which is not safe to repeat blindly", async () => {
  const database = databases.fresh();
  const store = await databases.store(database);
  await store.openContainer(container);
  const raw = await databases.raw();
  await raw.query(
    `CREATE FUNCTION "${database}".slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(42); RETURN NULL; END'`,
  );
  await raw.query(
    `CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON "${database}"."c_notes" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION "${database}".slow()`,
  );
  await raw.query("SELECT pg_advisory_lock(42)");
  const writing = create(store, "x").catch((error: unknown) => error);
  const watch = await databases.raw();
  await until(
    async () =>
      (
        await watch.query(
          `SELECT 1 FROM pg_stat_activity WHERE application_name = 'pinakes' AND query = 'COMMIT' AND wait_event_type = 'Lock'`,
        )
      ).rowCount === 1,
  );
  await watch.query(terminate);
  expect(await writing).toMatchObject({
    code: "UNAVAILABLE",
    retryable: false,
    message: expect.stringMatching(/may have been stored or not.*read the item and decide/) as string,
  });
  await raw.query("SELECT pg_advisory_unlock(42)");
  await create(store, "x");
  expect(await refusal(create(store, "x"), "CONFLICT")).toMatch(/exists/);
});

it("an unreachable server, a wrong address and a foreign format are reported as such", async () => {
  await refusal(openPostgresItems({ url: "postgres://postgres:x@127.0.0.1:1/postgres" }), "UNAVAILABLE");
  await refusal(openPostgresItems({ url: "mysql://localhost" }), "INVALID");
  expect(await refusal(openPostgresItems({ url: databases.server.url.replace(":x@", ":y@") }), "INVALID")).toMatch(
    /password/,
  );
  await refusal(openPostgresItems({ url: databases.server.url, database: "pg_mine" }), "INVALID");
  const database = databases.fresh();
  await databases.store(database);
  const raw = await databases.raw();
  await raw.query(`UPDATE "${database}"."pinakes_meta" SET value = '9' WHERE name = 'format'`);
  expect(await refusal(openPostgresItems({ url: databases.server.url, database }), "NOT_SUPPORTED")).toMatch(
    /format 9/,
  );
});

it("partition keys longer than a B-tree allows work everywhere", async () => {
  let now = Date.UTC(2030, 0, 1);
  const store = await databases.store(databases.fresh(), { clock: { now: () => now } });
  const name = {
    name: "wide",
    partitionKey: ["a", "b", "c"],
    ttl: 60,
    feed: true,
    uniqueKeys: { u: ["u"] },
    indexes: { byN: { partition: [], sort: ["n"] } },
  };
  await store.openContainer(name);
  const wide = (c: string) =>
    Array.from({ length: 1_020 }, (_, i) => String.fromCodePoint(97 + ((i * 7) % 26))).join("") + c;
  for (const c of ["x", "y"]) {
    const [a, b] = [wide("a"), wide("b")];
    const document = { id: "i", a, b, c: wide(c), n: 1, u: "same" };
    await store.batch(
      scope,
      "wide",
      [a, b, wide(c)],
      [
        { op: "create", document },
        { op: "create", document: { ...document, id: "j", n: 2, u: "other" } },
      ],
    );
    expect(await store.read(scope, "wide", { partition: [a, b, wide(c)], id: "i" })).toMatchObject({ document });
    expect(await store.count(scope, "wide", { equals: { a, b, c: wide(c) } })).toBe(2);
  }
  const { items } = await store.query(scope, "wide", { index: "byN", equals: {} });
  expect(
    items.map(({ document }) => `${document["n"] as number}${(document["c"] as string).at(-1)}`).toSorted(),
  ).toEqual(["1x", "1y", "2x", "2y"]);
  expect((await store.changes(scope, "wide")).changes.map(({ partition }) => (partition[2] as string).at(-1))).toEqual([
    "x",
    "x",
    "y",
    "y",
  ]);
  now += 61_000;
  expect(
    await store.purgeExpired(
      systemScope("test", () => {}),
      "wide",
    ),
  ).toEqual({ purged: 4, backlog: 0 });
});

it("closing waits for running calls, answers later ones, and is idempotent", async () => {
  const database = databases.fresh();
  const store = await databases.store(database, { poolSize: 1 });
  await store.openContainer(container);
  const writes = Array.from({ length: 20 }, (_, i) =>
    store.write(scope, "notes", [`p${i}`], { op: "create", document: { id: "x", p: `p${i}`, n: 1 } }),
  );
  await Promise.all([store.close(), store.close()]);
  await Promise.all(writes);
  await refusal(create(store, "late"), "UNAVAILABLE");
  const again = await databases.store(database);
  await again.openContainer(container);
  expect((await again.changes(scope, "notes")).changes).toHaveLength(20);
});

it("closing carries out the writes that wait their turn on one partition", async () => {
  const database = databases.fresh();
  const store = await databases.store(database);
  await store.openContainer(container);
  const writes = Array.from({ length: 20 }, (_, i) => create(store, `i${i}`));
  await store.close();
  expect((await Promise.allSettled(writes)).filter(({ status }) => status === "rejected")).toEqual([]);
});

it("existing readers do not skip transaction numbers that a crash reuses", async () => {
  const database = databases.fresh();
  const store = await databases.store(database);
  await store.openContainer(container);
  await create(store, "before");
  const raw = await databases.raw();
  const burn = async (): Promise<void> => {
    for (let i = 0; i < 20; i += 1) await raw.query("SELECT pg_current_xact_id()");
  };
  // While an older transaction is running, "now" includes a snapshot.
  const slow = await databases.raw();
  await slow.query("BEGIN");
  await slow.query("SELECT pg_current_xact_id()");
  await create(store, "past");
  await burn();
  const overlapping = await store.changes(scope, "notes", { from: "now" });
  await slow.query("ROLLBACK");
  const followed = await store.changes(scope, "notes");
  expect(followed.changes).toHaveLength(2);
  const now = await store.changes(scope, "notes", { from: "now" });
  await databases.server.kill9();
  await databases.server.restart();
  const ids = Array.from({ length: 10 }, (_, i) => `after${i}`);
  for (const id of ids) await create(store, id);
  const told = async (cursor: string) =>
    (await store.changes(scope, "notes", { cursor, limit: 1_000 })).changes.map(({ id }) => id);
  for (const { cursor } of [followed, now, overlapping]) expect(await told(cursor)).toEqual(ids);
});

it("commits are durable before they are visible, whatever the server's default", async () => {
  const raw = await databases.raw();
  await raw.query("ALTER DATABASE postgres SET synchronous_commit = off");
  try {
    for (const options of ["", "?options=-c%20work_mem%3D8MB"]) {
      const database = await Database.open(databases.server.url + options, 1);
      expect(await database.query("SHOW synchronous_commit")).toEqual([["on"]]);
      await database.close();
    }
  } finally {
    await raw.query("ALTER DATABASE postgres RESET synchronous_commit");
  }
});

it("a process that survives a failover begins a new epoch before it writes", async () => {
  const database = databases.fresh();
  const store = await databases.store(database);
  await store.openContainer(container);
  await create(store, "old");
  const { cursor } = await store.changes(scope, "notes");
  await databases.server.kill9();
  await databases.server.failOver();
  await until(() =>
    create(store, "new").then(
      () => true,
      () => false,
    ),
  );
  expect((await store.changes(scope, "notes", { cursor })).changes.map(({ id }) => id)).toEqual(["new"]);
  const raw = await databases.raw();
  const { rows } = await raw.query<{ id: string; epoch: number }>(
    `SELECT id, epoch FROM "${database}"."f_notes" ORDER BY epoch`,
  );
  expect(rows).toEqual([
    { id: "old", epoch: 1 },
    { id: "new", epoch: 2 },
  ]);
});

/** A proxy that can go silent, as a network does: existing connections stay open, and no data passes. */
async function silentProxy(): Promise<{ url: string; silence(): void; stop(): void }> {
  const { port, url } = databases.server;
  const open = new Set<Socket>();
  const silent = new Set<Socket>();
  const proxy = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    open.add(client);
    client.on("data", (data) => silent.has(client) || upstream.write(data));
    upstream.on("data", (data) => silent.has(client) || client.write(data));
    for (const socket of [client, upstream]) socket.on("error", () => undefined);
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  return {
    url: url.replace(`:${port}/`, `:${(proxy.address() as AddressInfo).port}/`),
    silence: () => open.forEach((socket) => silent.add(socket)),
    stop() {
      proxy.close();
      for (const socket of open) socket.destroy();
    },
  };
}

it("a silent network times out: reads are repeated elsewhere, and a commit that was sent has an unknown outcome", async () => {
  const proxy = await silentProxy();
  const database = await Database.open(proxy.url, 8, 1_000);
  try {
    // More connections than a call has attempts, all of them silent.
    await Promise.all(Array.from({ length: 8 }, () => database.query("SELECT pg_sleep(0.1)")));
    proxy.silence();
    expect(await database.query("SELECT 1")).toEqual([[1]]);
    const writing = database.transact(async (transaction) => {
      await transaction.run("BEGIN");
      proxy.silence();
      await transaction.commit();
    });
    await expect(writing).rejects.toMatchObject({ code: "UNAVAILABLE", retryable: false });
  } finally {
    proxy.stop();
    await database.close();
  }
});
