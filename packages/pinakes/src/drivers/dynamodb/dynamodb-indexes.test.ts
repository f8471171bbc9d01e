/** Indexes of DynamoDB are late, and change online: query results are current nevertheless, and an index is complete once it answers. */
import { describe, expect, it } from "vitest";
import { PinakesError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { limits } from "../../domain/limits.ts";
import { systemScope, tenantScope } from "../../domain/scope.ts";
import type { ContainerDefinition, ItemStore, Operation } from "../../ports/item-store.ts";
import { connect } from "./client.ts";
import { openDynamoItems } from "./index.ts";
import { startLagProxy } from "./lag-proxy.ts";
import { serviceLimits } from "./service-limits.ts";
import { testConnection } from "./test-server.ts";
import { TestStores } from "./test-stores.ts";
import { forAllTests } from "../../../test/support/for-tests.ts";

const scope = tenantScope("acme");
const never = 3_600_000;
const byN: ContainerDefinition = {
  name: "notes",
  partitionKey: ["p"],
  indexes: { byN: { partition: ["p"], sort: ["n"] } },
};

const stores = new TestStores(() => proxy.endpoint);
const proxy = forAllTests(() => startLagProxy({ lagMs: 0 }));

const upsert = (id: string, more: JsonObject = {}): Operation => ({ op: "upsert", document: { id, p: "a", ...more } });

async function write(store: ItemStore, operation: Operation): Promise<string> {
  return (await store.write(scope, "notes", ["a"], operation)).session;
}

async function ids(store: ItemStore, index: string, session?: string | string[]): Promise<string[]> {
  const page = await store.query(scope, "notes", {
    index,
    equals: { p: "a" },
    limit: 1_000,
    ...(session === undefined ? {} : { session }),
  });
  return page.items.map(({ id }) => id);
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => "fulfilled",
    (error: unknown) =>
      PinakesError.isInstance(error) ? `${error.code}${error.retryable ? " retryable" : ""}` : String(error),
  );
}

async function ready(store: ItemStore): Promise<void> {
  while ((await store.indexes("notes")).some(({ state }) => state !== "ready"))
    await new Promise((resolve) => setTimeout(resolve, 5));
}

describe("late indexes", () => {
  it("an index read never returns a deleted or outdated document, however late the index is", async () => {
    await using store = await stores.open();
    await store.openContainer(byN);
    proxy.lag(0);
    const sessions = [
      await write(store, upsert("stays", { n: 1 })),
      await write(store, upsert("goes", { n: 2 })),
      await write(store, upsert("moves", { n: 3 })),
      await write(store, upsert("changes", { n: 4, text: "old" })),
    ];
    expect(await ids(store, "byN", sessions)).toEqual(["stays", "goes", "moves", "changes"]);
    proxy.lag(never);
    await write(store, { op: "delete", id: "goes" });
    await write(store, upsert("moves", { n: 30 }));
    await write(store, upsert("changes", { n: 4, text: "new" }));
    await write(store, upsert("late", { n: 5 }));
    const page = await store.query(scope, "notes", { index: "byN", equals: { p: "a" } });
    // The index does not know "moves" and "late" at their new keys yet: late, never wrong.
    expect(page.items.map(({ document }) => document)).toEqual([
      { id: "stays", p: "a", n: 1 },
      { id: "changes", p: "a", n: 4, text: "new" },
    ]);
    expect(await store.count(scope, "notes", { index: "byN", equals: { p: "a" } })).toBe(2);
    expect((await store.query(scope, "notes", { equals: { p: "a" } })).items).toHaveLength(4);
    proxy.lag(0);
  });

  it("R-AGT-02 a session token waits until the index shows the write, and fails with UNAVAILABLE at its bound", async () => {
    const options = stores.options({ indexWaitMsMax: 60_000 });
    await using store = await openDynamoItems(options);
    await store.openContainer(byN);
    proxy.lag(never);
    const session = await write(store, upsert("x", { n: 1 }));
    expect(await ids(store, "byN")).toEqual([]);
    const waiting = ids(store, "byN", session);
    proxy.lag(0);
    expect(await waiting).toEqual(["x"]);
    proxy.lag(never);
    await using hasty = await openDynamoItems({ ...options, indexWaitMsMax: 20 });
    await hasty.openContainer(byN);
    const late = await write(hasty, upsert("y", { n: 2 }));
    expect(await codeOf(ids(hasty, "byN", late))).toBe("UNAVAILABLE retryable");
    // A write that left the index, or the table, needs no waiting.
    const gone = [late, await write(hasty, { op: "delete", id: "y" })];
    expect(await ids(hasty, "byN", gone)).toEqual(["x"]);
    proxy.lag(0);
  });

  it("a late index of expiries never purges an item that was renewed", async () => {
    let now = Date.UTC(2030, 0, 1);
    await using store = await stores.open({ clock: { now: () => now } });
    await store.openContainer({ name: "notes", partitionKey: ["p"], ttl: 10 });
    const system = systemScope("test", () => undefined);
    proxy.lag(0);
    await write(store, upsert("renewed"));
    await write(store, upsert("over"));
    now += 9_000;
    // From here on the index shows the old state of both.
    proxy.lag(never);
    await write(store, upsert("renewed"));
    now += 2_000;
    while ((await store.purgeExpired(system, "notes")).purged < 2)
      await new Promise((resolve) => setTimeout(resolve, 5));
    expect((await store.query(scope, "notes", { equals: { p: "a" } })).items.map(({ id }) => id)).toEqual(["renewed"]);
    proxy.lag(0);
  });
});

describe("online changes", () => {
  it("R-AGT-01 opening again writes nothing to the tables or their definitions", async () => {
    const options = stores.options();
    await using store = await openDynamoItems(options);
    await store.openContainer({ ...byN, ttl: 5, feed: true });
    const dynamo = await connect({ ...testConnection, endpoint: proxy.endpoint });
    const state = async () => [
      await dynamo.api.scan({ TableName: `${options.prefix}._meta` }).then(({ Items }) => Items),
      (await dynamo.api.describeTable({ TableName: `${options.prefix}.notes` })).Table,
    ];
    const before = await state();
    await store.openContainer({ ...byN, ttl: 5, feed: true });
    await using other = await openDynamoItems(options);
    await other.openContainer({ ...byN, ttl: 5, feed: true });
    expect(await state()).toEqual(before);
    dynamo.close();
  });

  it("R-AGT-01 concurrent openers, also with different declarations, end with all of them", async () => {
    const options = stores.options();
    const opened = await Promise.all(Array.from({ length: 4 }, () => openDynamoItems(options)));
    const declared = ["a", "b", "a", "c"].map((name): ContainerDefinition => ({
      name: "notes",
      partitionKey: ["p"],
      indexes: { [name]: { partition: ["p"], sort: ["n"] } },
    }));
    await Promise.all(opened.map((store, i) => store.openContainer(declared[i] as ContainerDefinition)));
    const [store] = opened as [ItemStore];
    await ready(store);
    expect((await store.indexes("notes")).map(({ name }) => name)).toEqual(["a", "b", "c"]);
    const session = await write(store, upsert("x", { n: 1 }));
    for (const index of ["a", "b", "c"]) expect(await ids(store, index, session)).toEqual(["x"]);
    await Promise.all(opened.map((each) => each.close()));
  });

  it("R-AGT-62 an index added by one process is complete while another with the old definition continues to write", async () => {
    const options = stores.options({ definitionMaxAgeMs: 300 });
    await using writer = await openDynamoItems(options);
    await using changer = await openDynamoItems(options);
    await writer.openContainer(byN);
    await changer.openContainer(byN);
    let writing = true;
    let count = 0;
    const work = (async () => {
      for (; writing; count += 1)
        await write(writer, { op: "create", document: { id: `w${count}`, p: "a", m: -count } });
    })();
    while (count < 20) await new Promise((resolve) => setTimeout(resolve, 1));
    await changer.openContainer({ ...byN, indexes: { ...byN.indexes, byM: { partition: ["p"], sort: ["m"] } } });
    await ready(changer);
    writing = false;
    await work;
    // Every write before this one has reached the index when this one has: what is missing now was never written to it.
    const session = await write(changer, upsert("last", { m: 1 }));
    expect(await changer.count(scope, "notes", { index: "byM", equals: { p: "a" }, session })).toBe(count + 1);
  });

  it("R-AGT-62 a build continues where a closed process stopped, and the index is rejected until it is complete", async () => {
    const options = stores.options({ definitionMaxAgeMs: 1 });
    const first = await openDynamoItems(options);
    await first.openContainer({ name: "notes", partitionKey: ["p"] });
    for (let start = 0; start < 450; start += 50)
      await first.batch(
        scope,
        "notes",
        ["a"],
        Array.from({ length: 50 }, (_, i) => upsert(`i${start + i}`, { n: start + i })),
      );
    await first.openContainer(byN);
    await first.close();
    await using second = await openDynamoItems(options);
    await second.openContainer(byN);
    const early = await ids(second, "byN").then(
      (found) => found.length,
      (error: PinakesError) => error.code,
    );
    expect(["UNAVAILABLE", 450]).toContain(early);
    await ready(second);
    expect(await ids(second, "byN")).toEqual(Array.from({ length: 450 }, (_, i) => `i${i}`));
  });

  it("a process with an old definition of a redefined index is told to retry, and then answers with the new one", async () => {
    const options = stores.options({ definitionMaxAgeMs: 500 });
    await using unaware = await openDynamoItems(options);
    await using changer = await openDynamoItems(options);
    for (const store of [unaware, changer]) await store.openContainer(byN);
    const session = [await write(unaware, upsert("low", { n: 1 })), await write(unaware, upsert("high", { n: 2 }))];
    expect(await ids(unaware, "byN", session)).toEqual(["low", "high"]);
    await changer.openContainer({
      ...byN,
      indexes: { byN: { partition: ["p"], sort: [{ path: "n", order: "desc" }] } },
    });
    for (;;) {
      const found = await ids(unaware, "byN").catch((error: PinakesError) => error.code);
      if (found === "UNAVAILABLE") break;
      // Until it learns of the change it answers with the old index, which is still right.
      expect(found).toEqual(["low", "high"]);
    }
    await ready(changer);
    expect(await ids(unaware, "byN")).toEqual(["high", "low"]);
  });

  it("an item that cannot be in the new index stops its build with a reason; once it is fixed, the next opening completes the build", async () => {
    await using store = await stores.open();
    await store.openContainer({ name: "notes", partitionKey: ["p"] });
    await write(store, upsert("good", { n: "short" }));
    await write(store, upsert("bad", { n: "x".repeat(1_000) }));
    await store.openContainer(byN);
    for (;;) {
      const error = await store.query(scope, "notes", { index: "byN", equals: { p: "a" } }).then(
        () => undefined,
        (failure: PinakesError) => failure,
      );
      expect(error?.code).toBe("UNAVAILABLE");
      if (error?.message.includes("could not be built")) {
        expect(error.message).toMatch(/"bad".*900/);
        expect(await store.indexes("notes")).toEqual([
          { name: "byN", state: "building", progress: 0, error: expect.stringMatching(/"bad".*900/) },
        ]);
        break;
      }
    }
    await write(store, { op: "delete", id: "bad" });
    await store.openContainer(byN);
    await ready(store);
    expect(await ids(store, "byN")).toEqual(["good"]);
  });

  it("an index requested while the builder of the previous one is finishing is built", async () => {
    await using store = await stores.open();
    await store.openContainer({ name: "notes", partitionKey: ["p"] });
    let releases = 0;
    // The first releases the finished job, the second is the builder's last action.
    const leaving = proxy.hold(
      (operation, body) => operation === "UpdateItem" && body.includes(":zero") && ++releases === 2,
    );
    await store.openContainer(byN);
    await leaving.reached;
    await store.openContainer({ ...byN, indexes: { ...byN.indexes, byM: { partition: ["p"], sort: ["m"] } } });
    leaving.letGo();
    await ready(store);
    expect((await store.indexes("notes")).map(({ name }) => name)).toEqual(["byM", "byN"]);
  });

  it("a container that is opened again while a build failure is being recorded is retried", async () => {
    await using store = await stores.open();
    await store.openContainer({ name: "notes", partitionKey: ["p"] });
    await write(store, upsert("bad", { n: "x".repeat(1_000) }));
    const failing = proxy.hold(
      (operation, body) => operation === "PutItem" && body.includes("build#notes") && body.includes('"error"'),
    );
    await store.openContainer(byN);
    await failing.reached;
    await write(store, { op: "delete", id: "bad" });
    await store.openContainer(byN);
    failing.letGo();
    await ready(store);
    expect(await ids(store, "byN")).toEqual([]);
  });

  it("an index is filled only when no request with the old definition can be in flight", async () => {
    const { inFlightMsMax: _default, ...options } = stores.options({ definitionMaxAgeMs: 1 });
    const inFlightMsMax = 400;
    await using quick = await openDynamoItems({ ...options, inFlightMsMax });
    await using usual = await openDynamoItems(options);
    await quick.openContainer({ name: "notes", partitionKey: ["p"] });
    const slow = proxy.hold((operation, body) => operation === "PutItem" && body.includes("slow"));
    const writing = write(quick, upsert("slow", { n: 1 }));
    await slow.reached;
    const since = performance.now();
    await quick.openContainer(byN);
    slow.letGo();
    await writing;
    await ready(quick);
    expect(performance.now() - since).toBeGreaterThanOrEqual(inFlightMsMax);
    expect(await ids(quick, "byN")).toEqual(["slow"]);
    // By default that is as long as two requests may take.
    await usual.openContainer({ name: "others", partitionKey: ["p"] });
    await usual.openContainer({ ...byN, name: "others" });
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await usual.indexes("others")).toEqual([{ name: "byN", state: "building", progress: 0 }]);
  });

  it("R-KB-01 R-LISA-25 every table is on demand: it has no provisioned capacity to be exceeded", async () => {
    await using store = await stores.open();
    await store.openContainer(byN);
    const dynamo = await connect({ ...testConnection, endpoint: proxy.endpoint });
    const { TableNames = [] } = await dynamo.repeat("list tables", (api) => api.listTables({}));
    expect(TableNames.length).toBeGreaterThan(1);
    for (const TableName of TableNames) {
      const { Table } = await dynamo.repeat("describe table", (api) => api.describeTable({ TableName }));
      expect(Table?.BillingModeSummary?.BillingMode, TableName).toBe("PAY_PER_REQUEST");
      expect(Table?.ProvisionedThroughput?.WriteCapacityUnits ?? 0, TableName).toBe(0);
    }
  });

  it("the largest inline item has room for every index that may be added later, and for replacements", async () => {
    await using store = await stores.open({ definitionMaxAgeMs: 1 });
    await store.openContainer({ name: "notes", partitionKey: ["p"] });
    const t = "t".repeat(880);
    await write(store, upsert("x", { t, text: "x".repeat(serviceLimits.itemInlineBytesMax - t.length - 250) }));
    for (const order of ["asc", "desc"] as const) {
      const indexes = Object.fromEntries(
        Array.from({ length: limits.indexesMax }, (_, i) => [`i${i}`, { partition: [], sort: [{ path: "t", order }] }]),
      );
      await store.openContainer({ name: "notes", partitionKey: ["p"], indexes });
      for (let building = true; building;) {
        const states = await store.indexes("notes");
        expect(states.flatMap(({ error }) => error ?? [])).toEqual([]);
        building = states.some(({ state }) => state === "building");
      }
      for (const index of ["i0", "i14"])
        expect((await store.query(scope, "notes", { index, equals: {} })).items.map(({ id }) => id)).toEqual(["x"]);
    }
  });

  it("a ttl that is switched on later also purges what was written before", async () => {
    let now = Date.UTC(2030, 0, 1);
    await using store = await stores.open({ clock: { now: () => now } });
    await store.openContainer({ name: "notes", partitionKey: ["p"] });
    await write(store, upsert("default"));
    await write(store, upsert("own", { ttl: 5 }));
    await write(store, upsert("never", { ttl: -1 }));
    await store.openContainer({ name: "notes", partitionKey: ["p"], ttl: 10 });
    now += 10_000;
    const system = systemScope("test", () => undefined);
    let purged = 0;
    while (purged < 2) purged += (await store.purgeExpired(system, "notes")).purged;
    await store.openContainer({ name: "notes", partitionKey: ["p"], ttl: null });
    expect((await store.query(scope, "notes", { equals: { p: "a" } })).items.map(({ id }) => id)).toEqual(["never"]);
  });
});
