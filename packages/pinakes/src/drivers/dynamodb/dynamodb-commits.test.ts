/** Commits on DynamoDB: several processes, lost answers, and the limits of the service. */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../domain/json.ts";
import { systemScope, tenantScope } from "../../domain/scope.ts";
import type { ItemStore, Operation } from "../../ports/item-store.ts";
import { openDynamoItems } from "./index.ts";
import { startLagProxy } from "./lag-proxy.ts";
import { testConnection } from "./test-server.ts";
import { failure, TestStores, wholeFeed } from "./test-stores.ts";
import { forAllTests } from "../../../test/support/for-tests.ts";

const scope = tenantScope("acme");
const system = systemScope("tests of the DynamoDB driver", () => undefined);

const stores = new TestStores(() => proxy.endpoint);
const proxy = forAllTests(() => startLagProxy({ lagMs: 0 }));

const upsert = (id: string, more: JsonObject = {}): Operation => ({ op: "upsert", document: { id, p: "a", ...more } });
const increment: Operation = { op: "patch", id: "x", patch: [{ op: "incr", path: "/n", value: 1 }] };

describe("several processes", () => {
  it.each([false, true])(
    "R-AGT-53 increments of one item by three engines on the same tables end exact (feed: %s)",
    async (withFeed) => {
      const options = stores.options();
      const engines = await Promise.all(Array.from({ length: 3 }, () => openDynamoItems(options)));
      await Promise.all(
        engines.map((store) => store.openContainer({ name: "notes", partitionKey: ["p"], feed: withFeed })),
      );
      const [first] = engines as [ItemStore];
      await first.write(scope, "notes", ["a"], upsert("x", { n: 0 }));
      await Promise.all(
        engines.flatMap((store) => Array.from({ length: 15 }, () => store.write(scope, "notes", ["a"], increment))),
      );
      expect((await first.read(scope, "notes", { partition: ["a"], id: "x" }))?.document["n"]).toBe(45);
      if (withFeed) expect(new Set((await wholeFeed(first, scope, 7)).map(({ etag }) => etag)).size).toBe(46);
      await Promise.all(engines.map((store) => store.close()));
    },
  );

  it("two batches that each check what the other writes never both get through", async () => {
    const options = stores.options();
    const engines = await Promise.all([openDynamoItems(options), openDynamoItems(options)]);
    for (const store of engines) await store.openContainer({ name: "notes", partitionKey: ["p"] });
    for (let round = 0; round < 15; round += 1) {
      const names = [`${round}-left`, `${round}-right`];
      const batches = engines.map((store, i) =>
        store.batch(
          scope,
          "notes",
          ["a"],
          [
            { op: "check", id: names[i] as string, exists: false },
            { op: "create", document: { id: names[1 - i], p: "a" } },
          ],
        ),
      );
      const outcomes = (await Promise.allSettled(batches)).map(({ status }) => status);
      expect(outcomes.toSorted()).toEqual(["fulfilled", "rejected"]);
    }
    await Promise.all(engines.map((store) => store.close()));
  });

  it("a unique value claimed by two engines at once has one holder, and their unique items match the rows", async () => {
    const options = stores.options();
    const engines = await Promise.all([openDynamoItems(options), openDynamoItems(options)]);
    for (const store of engines)
      await store.openContainer({ name: "notes", partitionKey: ["p"], uniqueKeys: { name: ["name"] } });
    for (let round = 0; round < 10; round += 1) {
      const claims = engines.flatMap((store, e) =>
        Array.from({ length: 3 }, (_, i) =>
          store.write(scope, "notes", ["a"], upsert(`${e}-${i}`, { name: `n${round}` })),
        ),
      );
      const won = (await Promise.allSettled(claims)).filter(({ status }) => status === "fulfilled");
      expect(won).toHaveLength(1);
    }
    await Promise.all(engines.map((store) => store.close()));
  });
});

describe("lost answers", () => {
  it.each([
    ["a single write", {}],
    ["a transaction", { feed: true, uniqueKeys: { u: ["u"] } }],
  ])("%s whose answer is lost takes effect once", async (_what, more) => {
    await using store = await stores.open();
    await store.openContainer({ name: "notes", partitionKey: ["p"], ...more });
    proxy.loseAnswers(1);
    const created = await store.write(scope, "notes", ["a"], {
      op: "create",
      document: { id: "x", p: "a", n: 0, u: 1 },
    });
    expect((await store.read(scope, "notes", { partition: ["a"], id: "x" }))?.etag).toBe(created.etag);
    for (let i = 1; i <= 5; i += 1) {
      proxy.loseAnswers(i % 3);
      await store.write(scope, "notes", ["a"], increment);
      expect((await store.read(scope, "notes", { partition: ["a"], id: "x" }))?.document["n"]).toBe(i);
    }
    proxy.loseAnswers(0);
    if ("feed" in more) expect(await wholeFeed(store, scope, 100)).toHaveLength(6);
  });

  it.each([false, true])(
    "a create whose answer is lost does not restore what another writer has deleted since (feed: %s)",
    async (feed) => {
      const options = stores.options();
      await using ours = await openDynamoItems(options);
      await using theirs = await openDynamoItems(options);
      for (const store of [ours, theirs]) await store.openContainer({ name: "notes", partitionKey: ["p"], feed });
      // A transaction is sent again with its token, and that answer has to get lost too.
      proxy.loseAnswers(1, async () => {
        await theirs.write(scope, "notes", ["a"], { op: "delete", id: "x" });
        if (feed) proxy.loseWrites(2);
      });
      const error = await failure(ours.write(scope, "notes", ["a"], { op: "create", document: { id: "x", p: "a" } }));
      expect([error.code, error.retryable, error.message]).toEqual([
        "UNAVAILABLE",
        false,
        expect.stringMatching(/is unknown whether/),
      ]);
      expect(await theirs.read(scope, "notes", { partition: ["a"], id: "x" })).toBeUndefined();
      expect(await theirs.count(scope, "notes", { equals: { p: "a" } })).toBe(0);
    },
  );

  it("a write that never arrived is repeated if there is evidence that it was not carried out", async () => {
    await using store = await stores.open();
    await store.openContainer({ name: "notes", partitionKey: ["p"], feed: true });
    for (const id of ["x", "y"]) {
      proxy.loseWrites(3);
      await store.write(scope, "notes", ["a"], { op: "create", document: { id, p: "a", n: 0 } });
    }
    expect((await wholeFeed(store, scope, 100)).map(({ id }) => id)).toEqual(["x", "y"]);
    await store.openContainer({ name: "plain", partitionKey: ["p"] });
    await store.write(scope, "plain", ["a"], upsert("x", { n: 0 }));
    proxy.loseWrites(1);
    await store.write(scope, "plain", ["a"], increment);
    expect((await store.read(scope, "plain", { partition: ["a"], id: "x" }))?.document["n"]).toBe(1);
    // No evidence: the item is absent, as if it had been created and deleted.
    proxy.loseWrites(1);
    const create: Operation = { op: "create", document: { id: "y", p: "a" } };
    expect(await failure(store.write(scope, "plain", ["a"], create))).toMatchObject({
      code: "UNAVAILABLE",
      retryable: false,
    });
    await store.write(scope, "plain", ["a"], create);
  });

  it("an error after a lost answer does not hide that the write may have taken effect", async () => {
    await using store = await stores.open();
    await store.openContainer({ name: "notes", partitionKey: ["p"] });
    await store.write(scope, "notes", ["a"], upsert("x", { n: 0 }));
    proxy.loseAnswers(1, () => proxy.throttle(1_000));
    const error = await failure(store.write(scope, "notes", ["a"], increment));
    proxy.throttle(0);
    expect([error.code, error.retryable, error.message]).toEqual([
      "UNAVAILABLE",
      false,
      expect.stringMatching(/is unknown whether/),
    ]);
    expect((await store.read(scope, "notes", { partition: ["a"], id: "x" }))?.document["n"]).toBe(1);
  });

  it("a single delete whose answer is lost reports an unknown outcome, and is not repeated on later data", async () => {
    await using store = await stores.open();
    await store.openContainer({ name: "notes", partitionKey: ["p"] });
    await store.write(scope, "notes", ["a"], upsert("x"));
    proxy.loseAnswers(1);
    const error = await failure(store.write(scope, "notes", ["a"], { op: "delete", id: "x" }));
    expect([error.code, error.retryable, error.message]).toEqual([
      "UNAVAILABLE",
      false,
      expect.stringMatching(/is unknown whether/),
    ]);
    expect((await failure(store.write(scope, "notes", ["a"], { op: "delete", id: "x" }))).code).toBe("NOT_FOUND");
  });

  it("throttled reads, writes and queries are retried", async () => {
    await using store = await stores.open();
    await store.openContainer({ name: "notes", partitionKey: ["p"], feed: true });
    for (let i = 1; i <= 5; i += 1) {
      proxy.throttle(i);
      await store.write(scope, "notes", ["a"], i === 1 ? upsert("x", { n: 1 }) : increment);
      proxy.throttle(i);
      expect((await store.read(scope, "notes", { partition: ["a"], id: "x" }))?.document["n"]).toBe(i);
      proxy.throttle(i);
      expect(await store.count(scope, "notes", { equals: { p: "a" } })).toBe(1);
    }
    proxy.throttle(0);
    expect(await wholeFeed(store, scope, 100)).toHaveLength(5);
  });

  it("an unreachable service is UNAVAILABLE, with the cause", async () => {
    const error = await failure(openDynamoItems({ ...testConnection, endpoint: "http://127.0.0.1:1" }));
    expect([error.code, error.retryable]).toEqual(["UNAVAILABLE", true]);
    expect(error.cause).toBeDefined();
  });
});

it("closing waits for running writes", async () => {
  const store = await stores.open();
  await store.openContainer({ name: "notes", partitionKey: ["p"], feed: true });
  let underWay = 20;
  const writes = Array.from({ length: underWay }, (_, i) =>
    store.write(scope, "notes", ["a"], upsert(`x${i}`)).finally(() => (underWay -= 1)),
  );
  await store.close();
  expect(underWay).toBe(0);
  await Promise.all(writes);
});

describe("limits of the service", () => {
  it("with five unique keys and a feed a batch has room for 16 creates, and we reject one more, naming the count", async () => {
    await using store = await stores.open();
    const uniqueKeys = Object.fromEntries(["a", "b", "c", "d", "e"].map((key) => [key, [key]]));
    await store.openContainer({ name: "notes", partitionKey: ["p"], feed: true, uniqueKeys });
    const batch = (count: number) =>
      Array.from({ length: count }, (_, i) => upsert(`i${i}`, { a: i, b: i, c: i, d: i, e: i }));
    const error = await failure(store.batch(scope, "notes", ["a"], batch(17)));
    expect([error.code, error.message]).toEqual(["LIMIT_EXCEEDED", expect.stringMatching(/105 actions.*100/)]);
    expect(await store.count(scope, "notes", { equals: { p: "a" } })).toBe(0);
    await store.batch(scope, "notes", ["a"], batch(16));
    expect(await store.count(scope, "notes", { equals: { p: "a" } })).toBe(16);
  });

  it("a transaction of 100 actions works and we reject one more, naming the limit", async () => {
    await using store = await stores.open();
    await store.openContainer({ name: "notes", partitionKey: ["p"], uniqueKeys: { u: ["u"], v: ["v"] } });
    // An item and its two values: three actions each, and one that has no value.
    const batch = (plain: number): Operation[] => [
      ...Array.from({ length: 33 }, (_, i) => upsert(`i${i}`, { u: i, v: i })),
      ...Array.from({ length: plain }, (_, i) => upsert(`plain${i}`)),
    ];
    const error = await failure(store.batch(scope, "notes", ["a"], batch(2)));
    expect([error.code, error.message]).toEqual(["LIMIT_EXCEEDED", expect.stringMatching(/101 actions.*100/)]);
    expect(await store.count(scope, "notes", { equals: { p: "a" } })).toBe(0);
    await store.batch(scope, "notes", ["a"], batch(1));
    expect(await store.count(scope, "notes", { equals: { p: "a" } })).toBe(34);
    // Removing them takes as many actions, and must never be rejected.
    expect(await store.deletePartition(scope, "notes", ["a"])).toEqual({ deleted: 34, done: true });
    await store.batch(scope, "notes", ["a"], batch(1));
  });

  it("a transaction over 4 MB is rejected without an object store, naming the limit; with one it works", async () => {
    const { objects: _none, ...options } = stores.options();
    await using plain = await openDynamoItems(options);
    await using spilling = await openDynamoItems(stores.options());
    const grow: Operation[] = Array.from({ length: 12 }, (_, i) => ({
      op: "patch",
      id: `i${i}`,
      patch: [{ op: "set", path: "/more", value: "m".repeat(1_000) }],
    }));
    for (const store of [plain, spilling]) {
      await store.openContainer({ name: "notes", partitionKey: ["p"] });
      for (let i = 0; i < 12; i += 1)
        await store.write(scope, "notes", ["a"], upsert(`i${i}`, { text: "t".repeat(380_000) }));
    }
    const error = await failure(plain.batch(scope, "notes", ["a"], grow));
    expect([error.code, error.message]).toEqual(["LIMIT_EXCEEDED", expect.stringMatching(/4 MB/)]);
    expect((await plain.read(scope, "notes", { partition: ["a"], id: "i0" }))?.document["more"]).toBeUndefined();
    await plain.batch(scope, "notes", ["a"], grow.slice(0, 10));
    await spilling.batch(scope, "notes", ["a"], grow);
    expect(
      (await spilling.query(scope, "notes", { equals: { p: "a" }, filter: { more: { exists: true } } })).items.length,
    ).toBeGreaterThan(0);
    expect(await spilling.count(scope, "notes", { equals: { p: "a" }, filter: { more: { exists: true } } })).toBe(12);
  });

  it("more than the 16 MB that the service returns at once are read in parts", async () => {
    await using store = await stores.open();
    await store.openContainer({
      name: "notes",
      partitionKey: ["p"],
      indexes: { byN: { partition: ["p"], sort: ["n"] } },
    });
    const session: string[] = [];
    for (let n = 0; n < 50; n += 1)
      session.push(
        (await store.write(scope, "notes", ["a"], upsert(`i${n}`, { n, text: "t".repeat(390_000) }))).session,
      );
    const read = await store.readMany(
      scope,
      "notes",
      Array.from({ length: 51 }, (_, n) => ({ partition: ["a"], id: `i${50 - n}` })),
    );
    expect(read.map((item) => item?.document["n"])).toEqual([
      undefined,
      ...Array.from({ length: 50 }, (_, n) => 49 - n),
    ]);
    expect(await store.count(scope, "notes", { index: "byN", equals: { p: "a" }, session })).toBe(50);
    expect(await store.deletePartition(scope, "notes", ["a"], { limit: 8 })).toEqual({ deleted: 8, done: false });
  });

  it("partition keys beyond the service's 2,048 bytes work, are distinct, expire, are unique and appear in the feed as any other", async () => {
    let now = Date.UTC(2030, 0, 1);
    await using store = await stores.open({ clock: { now: () => now } });
    await store.openContainer({
      name: "notes",
      partitionKey: ["a", "b", "c"],
      ttl: 10,
      feed: true,
      uniqueKeys: { u: ["u"] },
      indexes: { all: { partition: [], sort: ["n"] } },
    });
    const long = "é".repeat(512);
    const partitions = [
      [long, long, long],
      [long, long, `${long.slice(0, -1)}e`],
      ["\u0001".repeat(1_000), long, "z"],
    ] as const;
    const sessions: string[] = [];
    for (const [n, [a, b, c]] of partitions.entries()) {
      sessions.push(
        (await store.write(scope, "notes", [a, b, c], { op: "create", document: { id: "x", a, b, c, n, u: 1 } }))
          .session,
      );
      expect(
        (await failure(store.write(scope, "notes", [a, b, c], { op: "create", document: { id: "y", a, b, c, u: 1 } })))
          .code,
      ).toBe("CONFLICT");
    }
    for (const [n, partition] of partitions.entries())
      expect((await store.read(scope, "notes", { partition, id: "x" }))?.document).toMatchObject({
        c: partition[2],
        n,
      });
    expect(
      (await store.query(scope, "notes", { index: "all", equals: {}, session: sessions })).items.map(
        ({ document }) => document["c"],
      ),
    ).toEqual(partitions.map(([, , c]) => c));
    expect(await store.count(scope, "notes", { equals: { a: long, b: long, c: long } })).toBe(1);
    const before = await wholeFeed(store, scope, 100);
    expect(before.map(({ partition }) => partition[2]).toSorted()).toEqual(partitions.map(([, , c]) => c).toSorted());
    now += 10_000;
    for (let purged = 0; purged < 3;) purged += (await store.purgeExpired(system, "notes")).purged;
    expect((await wholeFeed(store, scope, 100)).filter(({ expired }) => expired)).toHaveLength(3);
  });

  it("bounds of a query of an index may be longer than any key; those on ids are rejected beyond the length that orders ids", async () => {
    await using store = await stores.open();
    await store.openContainer({
      name: "notes",
      partitionKey: ["p"],
      indexes: { byName: { partition: ["p"], sort: ["name"] } },
    });
    const [longest, session] = ["x".repeat(255), [] as string[]];
    for (const id of ["a", longest, "y", "é"])
      session.push((await store.write(scope, "notes", ["a"], upsert(id, { name: id }))).session);
    const ids = async (range: object, index?: string) =>
      (
        await store.query(scope, "notes", {
          equals: { p: "a" },
          range,
          session,
          ...(index === undefined ? {} : { index }),
        })
      ).items.map(({ id }) => id);
    for (const index of [undefined, "byName"]) {
      for (const filler of ["x", "é", "\u{1f600}"]) {
        const bound = `${longest}${filler.repeat(3_000)}`;
        if (index === undefined) {
          expect((await failure(ids({ lt: bound }))).code).toBe("INVALID");
          continue;
        }
        expect(await ids({ lt: bound }, index)).toEqual(["a", longest]);
        expect(await ids({ gt: bound }, index)).toEqual(["y", "é"]);
        expect(await ids({ prefix: bound }, index)).toEqual([]);
      }
      expect(await ids({ gt: "y", lt: "a" }, index)).toEqual([]);
      expect(await ids({ lt: "y" }, index)).toEqual(["a", longest]);
      expect(await ids({ lt: "" }, index)).toEqual([]);
    }
    expect((await store.query(scope, "notes", { index: "byName", equals: { p: "q".repeat(3_000) } })).items).toEqual(
      [],
    );
    const id = "\ue000";
    await store.write(scope, "notes", ["a"], upsert(id));
    expect(await ids({ lt: "\ue000" })).toEqual(["a", longest, "y", "é"]);
    expect(await store.count(scope, "notes", { equals: { p: "a" }, range: { lt: "\ue000" } })).toBe(4);
    expect(await store.count(scope, "notes", { equals: { p: "a" }, range: { lte: "\ue000" } })).toBe(5);
  });
});
