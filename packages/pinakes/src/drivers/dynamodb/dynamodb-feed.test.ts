/** The feed on DynamoDB: shards, entries that become visible late, trimming. */
import { describe, expect, it } from "vitest";
import { limits } from "../../domain/limits.ts";
import { systemScope, tenantScope } from "../../domain/scope.ts";
import type { CompiledContainer } from "../../items/compiled-container.ts";
import { createItemStore } from "../../items/create-item-store.ts";
import { connect } from "./client.ts";
import { connectDynamoEngine, openDynamoItems } from "./index.ts";
import { startDynamo, testConnection } from "./test-server.ts";
import { failure, TestStores, wholeFeed } from "./test-stores.ts";
import { forAllTests } from "../../../test/support/for-tests.ts";

const scope = tenantScope("acme");
const system = systemScope("tests of the DynamoDB driver", () => undefined);

const stores = new TestStores(() => server.endpoint);
const server = forAllTests(() => startDynamo());

describe("feed", () => {
  it("a page may end inside a commit, shards take turns, and nothing is returned twice", async () => {
    await using store = await stores.open();
    await store.openContainer({ name: "notes", partitionKey: ["p"], feed: true });
    const expected: string[] = [];
    for (let p = 0; p < 12; p += 1) {
      const { results } = await store.batch(
        scope,
        "notes",
        [`p${p}`],
        Array.from({ length: 5 }, (_, i) => ({ op: "create", document: { id: `i${i}`, p: `p${p}` } })),
      );
      expected.push(...results.map(({ etag }) => etag as string));
    }
    for (const limit of [1, 2, 3, 7, 1_000]) {
      const changes = await wholeFeed(store, scope, limit);
      expect(changes.map(({ etag }) => etag).toSorted()).toEqual(expected.toSorted());
      for (let p = 0; p < 12; p += 1)
        expect(changes.filter(({ partition }) => partition[0] === `p${p}`).map(({ id }) => id)).toEqual([
          "i0",
          "i1",
          "i2",
          "i3",
          "i4",
        ]);
    }
  });

  it("every opener of a container whose feed was just switched on waits for writers with the old definition", async () => {
    const definitionMaxAgeMs = 250;
    const options = stores.options({ definitionMaxAgeMs });
    const dynamo = await connect({ ...testConnection, endpoint: server.endpoint });
    const stored = async () =>
      (await dynamo.api.getItem({ TableName: `${options.prefix}._meta`, Key: { pk: { S: "container#notes" } } }))
        .Item?.["def"]?.S ?? "";
    await using first = await openDynamoItems(options);
    await first.openContainer({ name: "notes", partitionKey: ["p"] });
    // Switches it on, and dies before it has waited.
    const second = await openDynamoItems({ ...options, inFlightMsMax: 3_600_000 });
    const opening = failure(second.openContainer({ name: "notes", partitionKey: ["p"], feed: true }));
    while (!(await stored()).includes('"feed":true')) await new Promise((resolve) => setTimeout(resolve, 1));
    await second.close();
    expect((await opening).code).toBe("UNAVAILABLE");
    await using third = await openDynamoItems(options);
    const since = performance.now();
    await third.openContainer({ name: "notes", partitionKey: ["p"], feed: true });
    expect(performance.now() - since).toBeGreaterThanOrEqual(2 * definitionMaxAgeMs - 5);
    // From here on nothing is missed, and later openers need not wait.
    await first.write(scope, "notes", ["a"], { op: "create", document: { id: "x", p: "a" } });
    expect((await wholeFeed(third, scope, 10)).map(({ id }) => id)).toEqual(["x"]);
    await using hasty = await openDynamoItems({ ...options, inFlightMsMax: 3_600_000 });
    await hasty.openContainer({ name: "notes", partitionKey: ["p"], feed: true });
    dynamo.close();
  });

  it("the feed waits for an entry that becomes visible late, and never skips it", async () => {
    const options = stores.options();
    await using store = await openDynamoItems(options);
    await store.openContainer({ name: "notes", partitionKey: ["p"], feed: true });
    for (const id of ["1", "2", "3"])
      await store.write(scope, "notes", ["a"], { op: "upsert", document: { id, p: "a" } });
    const dynamo = await connect({ ...testConnection, endpoint: server.endpoint });
    const table = `${options.prefix}.notes`;
    const entries =
      (await dynamo.api.scan({ TableName: table })).Items?.filter(({ sk }) => sk?.S?.startsWith("l") === true).toSorted(
        (a, b) => ((a["sk"]?.S as string) < (b["sk"]?.S as string) ? -1 : 1),
      ) ?? [];
    const second = entries[1] as Record<string, never>;
    await dynamo.api.deleteItem({ TableName: table, Key: { pk: second["pk"] as never, sk: second["sk"] as never } });
    const page = await store.changes(scope, "notes");
    expect([page.changes.map(({ id }) => id), page.more]).toEqual([["1"], true]);
    await dynamo.api.putItem({ TableName: table, Item: second });
    const rest = await store.changes(scope, "notes", { cursor: page.cursor });
    expect([rest.changes.map(({ id }) => id), rest.more]).toEqual([["2", "3"], false]);
    dynamo.close();
  });

  it("trimming is bounded, covers all tenants, and leaves no entry behind", async () => {
    let now = Date.UTC(2030, 0, 1);
    const options = stores.options({ clock: { now: () => now } });
    const engine = await connectDynamoEngine(options);
    await using store = await createItemStore(engine, { clock: { now: () => now } });
    await store.openContainer({ name: "notes", partitionKey: ["p"], feed: true });
    const tenants = ["t1", "t2", "t3"].map(tenantScope);
    for (const tenant of tenants)
      for (let p = 0; p < 6; p += 1)
        await store.batch(
          tenant,
          "notes",
          [`p${p}`],
          [
            { op: "create", document: { id: "1", p: `p${p}` } },
            { op: "create", document: { id: "2", p: `p${p}` } },
          ],
        );
    now += limits.feedRetentionMs + 1;
    const dynamo = await connect({ ...testConnection, endpoint: server.endpoint });
    const left = async () =>
      (await dynamo.api.scan({ TableName: `${options.prefix}.notes` })).Items?.filter(
        ({ sk }) => sk?.S?.startsWith("l") === true,
      ).length ?? 0;
    for (let before = 18; before > 0;) {
      await engine.trimFeed(engine.container("notes") as CompiledContainer, now - limits.feedRetentionMs, 5);
      const after = await left();
      expect(before - after).toBeLessThanOrEqual(2);
      expect(after).toBeLessThan(before);
      before = after;
    }
    expect(await store.purgeExpired(system, "notes")).toEqual({ purged: 0, backlog: 0 });
    for (const tenant of tenants) expect((await store.changes(tenant, "notes")).changes).toEqual([]);
    await store.write(tenants[0] as never, "notes", ["p0"], { op: "upsert", document: { id: "new", p: "p0" } });
    expect((await store.changes(tenants[0] as never, "notes")).changes).toHaveLength(1);
    dynamo.close();
  });
});
