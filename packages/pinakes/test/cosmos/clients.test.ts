/** Cosmos DB's official client against a started server, operation by operation, on the engines that servers run on. */
import {
  ChangeFeedStartFrom,
  type ErrorResponse,
  PartitionKeyDefinitionVersion,
  PartitionKeyKind,
  type Container,
  type CosmosClient,
  type OperationInput,
} from "@azure/cosmos";
import { beforeAll, describe, expect, it } from "vitest";
import { useServers } from "../support/servers.ts";
import { cosmosWorld, refused } from "./support/cosmos-world.ts";
import { forAllTests } from "../support/for-tests.ts";

const { postgres } = useServers();

const ids = (items: readonly { readonly id: string }[]) => items.map(({ id }) => id);

describe.each([
  ["SQLite", () => ({})],
  ["PostgreSQL", () => ({ items: postgres(), objects: "memory:" })],
])("@azure/cosmos on %s", (_, openWith) => {
  let client: CosmosClient;
  const world = forAllTests(() => cosmosWorld(openWith()));
  beforeAll(async () => {
    client = world.client(await world.accountKey("w1"));
  });

  it("R-AGT-96 an account says where it is read and written, and databases come and go", async () => {
    const { resource: account } = await client.getDatabaseAccount();
    expect(account?.writableLocations).toMatchObject([{ databaseAccountEndpoint: `${world.url}/` }]);
    expect(account?.consistencyPolicy).toBe("Session");
    const { resource: made } = await client.databases.create({ id: "Ein Name, 名前" });
    expect(made).toMatchObject({ id: "Ein Name, 名前", _colls: "colls/" });
    expect(ids((await client.databases.readAll().fetchAll()).resources)).toContain("Ein Name, 名前");
    const query = {
      query: "SELECT * FROM root r WHERE r.id=@id",
      parameters: [{ name: "@id", value: made?.id ?? "" }],
    };
    expect((await client.databases.query(query).fetchAll()).resources).toEqual([made]);
    expect((await refused(client.databases.create({ id: "Ein Name, 名前" }))).code).toBe(409);
    expect((await client.databases.createIfNotExists({ id: "Ein Name, 名前" })).resource).toEqual(made);
    await client.database("Ein Name, 名前").delete();
    expect((await refused(client.database("Ein Name, 名前").read())).code).toBe(404);
  });

  it("R-AGT-96 containers: declared, shown as they were declared, replaced within limits, deleted", async () => {
    const { database } = await client.databases.create({ id: "containers" });
    const { resource, container } = await database.containers.create({
      id: "sample container",
      partitionKey: { paths: ["/city", "/address/zip"], kind: PartitionKeyKind.MultiHash, version: 2 },
      uniqueKeyPolicy: { uniqueKeys: [{ paths: ["/email"] }] },
      indexingPolicy: { includedPaths: [{ path: "/*" }], excludedPaths: [{ path: '/"systemMetadata"/*' }] },
      defaultTtl: 100,
      throughput: 500,
    });
    expect(resource).toMatchObject({
      id: "sample container",
      partitionKey: { paths: ["/city", "/address/zip"], kind: "MultiHash", version: 2 },
      uniqueKeyPolicy: { uniqueKeys: [{ paths: ["/email"] }] },
      indexingPolicy: {
        indexingMode: "consistent",
        automatic: true,
        includedPaths: [{ path: "/*" }],
        excludedPaths: [{ path: '/"systemMetadata"/*' }, { path: '/"_etag"/?' }],
      },
      defaultTtl: 100,
      conflictResolutionPolicy: { mode: "LastWriterWins", conflictResolutionPath: "/_ts" },
      geospatialConfig: { type: "Geography" },
    });
    expect((await container.read()).resource).toEqual(resource);
    expect((await database.containers.readAll().fetchAll()).resources).toEqual([resource]);
    const { offer } = await container.readOffer();
    expect((await container.readOffer()).resource?.content?.offerThroughput).toBe(500);
    await offer?.replace({ ...(await container.readOffer()).resource, content: { offerThroughput: 700 } } as never);
    expect((await container.readOffer()).resource?.content?.offerThroughput).toBe(700);
    const { defaultTtl: _ttl, ...without } = resource as NonNullable<typeof resource>;
    expect((await container.replace(without)).resource?.defaultTtl).toBeUndefined();
    expect((await refused(container.replace({ ...without, partitionKey: { paths: ["/other"] } }))).code).toBe(400);
    const quota = await container.read({ populateQuotaInfo: true });
    expect(quota.headers["x-ms-resource-quota"]).toContain("collectionSize=");
    expect((await container.conflicts.readAll().fetchAll()).resources).toEqual([]);
    await container.delete();
    expect((await refused(container.read())).code).toBe(404);
    expect((await container.item("x", ["a", "b"]).read()).statusCode).toBe(404);
  });

  it("R-AGT-05 R-AGT-10 R-AGT-96 items: created, read, put, patched, replaced and deleted, with any id and key", async () => {
    const container = await world.container(client);
    const sent = { zebra: 1, id: "a b?x\twith%20+~^${}[]鱀 ", pk: "p", nested: { b: [1, { c: null }], a: "" } };
    const { resource: made, statusCode } = await container.items.create(sent);
    expect(statusCode).toBe(201);
    const { resource: read, headers } = await container.item(sent.id, "p").read();
    expect(JSON.stringify(read)).toBe(JSON.stringify(made));
    expect(Object.keys(read as object).slice(0, 4)).toEqual(Object.keys(sent));
    const { resources: queried } = await container.items.query("SELECT * FROM c").fetchAll();
    expect(JSON.stringify(queried)).toBe(JSON.stringify([made]));
    expect(made?._etag).toBe(headers["etag"]);
    expect(made?._self).toMatch(/^dbs\/.+\/colls\/.+\/docs\/.+\/$/);
    expect(Buffer.from(String(headers["x-ms-content-path"]), "base64")).toHaveLength(8);
    expect((await refused(container.items.create(sent))).code).toBe(409);
    for (const [pk, id] of [
      [null, "null"],
      [undefined, "none"],
      [true, "true"],
      [5, "five"],
      ["", "empty"],
    ] as const) {
      await container.items.create({ id, ...(pk === undefined ? {} : { pk }) });
      expect((await container.item(id, pk as never).read()).resource?.id).toBe(id);
    }
    expect((await container.items.upsert({ id: "u", pk: "p", n: 1 })).statusCode).toBe(201);
    expect((await container.items.upsert({ id: "u", pk: "p", n: 2 })).statusCode).toBe(200);
    const patched = await container.item("u", "p").patch([
      { op: "incr", path: "/n", value: 3 },
      { op: "set", path: "/tags", value: ["x"] },
      { op: "add", path: "/tags/-", value: "y" },
    ]);
    expect(patched.resource).toMatchObject({ n: 5, tags: ["x", "y"] });
    const condition = "from c where c.n = 99";
    const operations = [{ op: "set", path: "/n", value: 0 }] as const;
    expect((await refused(container.item("u", "p").patch({ condition, operations: [...operations] }))).code).toBe(412);
    expect((await refused(container.item("u", "p").patch([{ op: "remove", path: "/none" }]))).code).toBe(400);
    const { resource: replaced } = await container.item("u", "p").replace({ id: "u", pk: "p", n: 6 });
    expect(replaced).toMatchObject({ n: 6 });
    await container.item("u", "p").delete();
    expect((await container.item("u", "p").read()).statusCode).toBe(404);
    const created: OperationInput = { operationType: "Create", partitionKey: "p", resourceBody: { id: "m", pk: "p" } };
    const [minimal] = await container.items.executeBulkOperations([created], { contentResponseOnWriteEnabled: false });
    expect(minimal?.response).toMatchObject({ statusCode: 201, resourceBody: undefined });
  });

  it("R-AGT-52 R-AGT-54 R-AGT-96 etags: a stale one is 412 and changes nothing, an unchanged item 304", async () => {
    const container = await world.container(client);
    const { resource: first } = await container.items.create({ id: "x", pk: "p", n: 1 });
    await container.item("x", "p").replace({ id: "x", pk: "p", n: 2 });
    const accessCondition = { type: "IfMatch", condition: first?._etag as string };
    const item = container.item("x", "p");
    expect((await refused(item.replace({ id: "x", pk: "p", n: 3 }, { accessCondition }))).code).toBe(412);
    expect((await refused(item.delete({ accessCondition }))).code).toBe(412);
    const { resource: now } = await item.read();
    expect(now).toMatchObject({ n: 2 });
    const unchanged = await item.read({ accessCondition: { type: "IfNoneMatch", condition: now?._etag as string } });
    expect(unchanged.statusCode).toBe(304);
  });

  it("R-AGT-06 hierarchical keys: every item in its partition, a query for the beginning of a key", async () => {
    const container = await world.container(client, {
      partitionKey: {
        paths: ["/a", "/b"],
        kind: PartitionKeyKind.MultiHash,
        version: PartitionKeyDefinitionVersion.V2,
      },
    });
    const documents = [
      { id: "1", a: "x", b: 1 },
      { id: "2", a: "x", b: 2 },
      { id: "3", a: "y", b: 1 },
      { id: "4", b: 1 },
      { id: "5", a: "x" },
    ];
    for (const document of documents) await container.items.create(document);
    const asked = async (partitionKey: unknown) =>
      ids(
        (
          await container.items
            .query("SELECT * FROM c ORDER BY c.id", { partitionKey: partitionKey as never })
            .fetchAll()
        ).resources as never,
      );
    expect(await asked(["x", 1])).toEqual(["1"]);
    expect(await asked(["x"])).toEqual(["1", "2", "5"]);
    expect(await asked([undefined, 1])).toEqual(["4"]);
    expect((await container.item("5", ["x", undefined] as never).read()).resource?.id).toBe("5");
    expect((await refused(container.item("5", ["x"] as never).replace({ id: "5", a: "x" }))).code).toBe(400);
  });

  it("R-AGT-55 R-AGT-96 a batch: all of it or nothing, each operation with its own status", async () => {
    const container = await world.container(client);
    await container.items.create({ id: "old", pk: "p", n: 1 });
    const { resource: gone } = await container.items.create({ id: "gone", pk: "p" });
    const operations: OperationInput[] = [
      { operationType: "Create", resourceBody: { id: "new", pk: "p" } },
      { operationType: "Upsert", resourceBody: { id: "up", pk: "p" } },
      { operationType: "Upsert", resourceBody: { id: "old", pk: "p", n: 2 } },
      { operationType: "Read", id: "old" },
      { operationType: "Patch", id: "old", resourceBody: { operations: [{ op: "incr", path: "/n", value: 5 }] } },
      { operationType: "Delete", id: "gone", ifMatch: gone?._etag } as OperationInput,
    ];
    const { result, code } = await container.items.batch(operations, "p");
    expect(code).toBe(200);
    expect(result?.map(({ statusCode }) => statusCode)).toEqual([201, 201, 200, 200, 200, 204]);
    expect(result?.[4]?.resourceBody).toMatchObject({ n: 7 });
    const failing: OperationInput[] = [
      { operationType: "Create", resourceBody: { id: "never", pk: "p" } },
      { operationType: "Replace", id: "old", resourceBody: { id: "old", pk: "p" }, ifMatch: '"stale"' },
      { operationType: "Delete", id: "new" },
    ];
    const failed = await container.items.batch(failing, "p");
    expect(failed.code).toBe(207);
    expect(failed.result?.map(({ statusCode }) => statusCode)).toEqual([424, 412, 424]);
    expect((await container.item("never", "p").read()).statusCode).toBe(404);
    const other: OperationInput[] = [
      { operationType: "Create", resourceBody: { id: "z", pk: "q" }, partitionKey: "q" },
    ];
    await expect(container.items.batch(other, "p")).rejects.toThrow(
      "One or more operations within the batch request have a different partition key value than the request.",
    );
    const many = Array.from({ length: 100 }, (_one, i): OperationInput => ({
      operationType: "Create",
      resourceBody: { id: `m${i}`, pk: "m" },
    }));
    expect((await container.items.batch(many, "m")).code).toBe(200);
    await expect(container.items.batch([...many, ...many.slice(0, 1)], "m")).rejects.toThrow(/100/);
  });

  it.each([400, 12_000, 25_100])(
    "R-AGT-96 bulk, queries and feeds over the ranges of %i request units",
    async (throughput) => {
      const container = await world.container(client, { throughput, partitionKey: { paths: ["/pk"], version: 2 } });
      const operations: OperationInput[] = Array.from({ length: 60 }, (_one, i) => ({
        operationType: "Create",
        partitionKey: `pk-${i % 20}`,
        resourceBody: { id: `item-${String(i).padStart(2, "0")}`, pk: `pk-${i % 20}`, sequence: i },
      }));
      const results = await container.items.executeBulkOperations(operations);
      expect(results.every(({ response }) => response?.statusCode === 201)).toBe(true);
      const { resources: ranges } = await container.readPartitionKeyRanges().fetchAll();
      expect(ranges.map(({ minInclusive }) => minInclusive)[0]).toBe("");
      expect(ranges).toHaveLength(throughput > 20_000 ? 4 : throughput > 10_000 ? 2 : 1);
      for (const options of [
        {},
        { forceQueryPlan: true },
        { maxItemCount: 7 },
        { maxItemCount: 7, enableQueryControl: true },
      ]) {
        const { resources } = await container.items.query("SELECT * FROM c ORDER BY c.sequence", options).fetchAll();
        expect(resources.map(({ sequence }) => sequence as number)).toEqual(operations.map((_one, i) => i));
      }
      expect((await container.items.readAll({ maxItemCount: 11 }).fetchAll()).resources).toHaveLength(60);
      const seen: string[] = [];
      for (const range of await container.getFeedRanges()) {
        const feed = container.items.getChangeFeedIterator({
          changeFeedStartFrom: ChangeFeedStartFrom.Beginning(range),
          maxItemCount: 13,
        });
        for (let page = await feed.readNext(); page.statusCode !== 304; page = await feed.readNext())
          seen.push(...ids(page.result));
      }
      expect(seen.toSorted()).toEqual(operations.map((_one, i) => `item-${String(i).padStart(2, "0")}`));
    },
  );

  it("R-AGT-96 the change feed: from the beginning, from now, of one partition, going on where it stopped", async () => {
    const container = await world.container(client);
    const drain = async (start: ChangeFeedStartFrom, container_: Container = container) => {
      const feed = container_.items.getChangeFeedIterator({ changeFeedStartFrom: start, maxItemCount: 2 });
      const found: string[] = [];
      let page = await feed.readNext();
      for (; page.statusCode !== 304; page = await feed.readNext()) found.push(...ids(page.result));
      return { found, token: page.continuationToken };
    };
    for (const id of ["1", "2", "3"]) await container.items.create({ id, pk: "p" });
    await container.items.create({ id: "4", pk: "q" });
    await container.items.upsert({ id: "1", pk: "p", n: 2 });
    await container.item("2", "p").delete();
    const { found, token } = await drain(ChangeFeedStartFrom.Beginning());
    expect(found).toEqual(["3", "4", "1"]);
    expect((await drain(ChangeFeedStartFrom.Beginning("p"))).found).toEqual(["3", "1"]);
    const now = container.items.getChangeFeedIterator({ changeFeedStartFrom: ChangeFeedStartFrom.Now() });
    expect((await now.readNext()).statusCode).toBe(304);
    await container.items.create({ id: "5", pk: "p" });
    expect(ids((await now.readNext()).result)).toEqual(["5"]);
    expect((await drain(ChangeFeedStartFrom.Continuation(token))).found).toEqual(["5"]);
    expect((await drain(ChangeFeedStartFrom.Time(new Date(Date.now() + 3_600_000)))).found).toEqual([]);
  });

  it("R-AGT-57 R-AGT-60 R-AGT-96 queries: every clause, page by page", async () => {
    const container = await world.container(client, {
      throughput: 11_000,
      indexingPolicy: {
        includedPaths: [{ path: "/" }] as never,
        compositeIndexes: [
          [
            { path: "/team", order: "ascending" },
            { path: "/n", order: "descending" },
          ],
        ] as never,
      },
    });
    const documents = Array.from({ length: 12 }, (_one, i) => ({
      id: `d${String(i).padStart(2, "0")}`,
      pk: `p${i % 4}`,
      n: i,
      team: i % 3 ? "B" : "A",
      tags: [i, "t"],
    }));
    await Promise.all(documents.map((document) => container.items.create(document)));
    const ask = async (query: string, options: object = {}) =>
      (await container.items.query(query, options).fetchAll()).resources as unknown[];
    expect(await ask("SELECT VALUE COUNT(1) FROM c")).toEqual([12]);
    expect(await ask("select value sum(c.n) from c where c.team = 'A'")).toEqual([18]);
    expect(await ask("SELECT VALUE AVG(r.n) FROM r ORDER BY r.n, r.team")).toEqual([5.5]);
    expect(await ask("SELECT AVG(c.n), MAX(c.id) FROM c")).toEqual([{ $1: 5.5, $2: "d11" }]);
    expect(await ask("SELECT c.team, COUNT(1) AS n FROM c GROUP BY c.team")).toEqual([
      { team: "A", n: 4 },
      { team: "B", n: 8 },
    ]);
    expect(await ask("SELECT DISTINCT VALUE c.team FROM c ORDER BY c.team DESC", { maxItemCount: 1 })).toEqual([
      "B",
      "A",
    ]);
    expect(await ask("SELECT TOP 2 VALUE c.id FROM c ORDER BY c.n DESC", { maxItemCount: 1 })).toEqual(["d11", "d10"]);
    expect(await ask("SELECT VALUE c.id FROM c ORDER BY c.n OFFSET 3 LIMIT 2", { maxItemCount: 1 })).toEqual([
      "d03",
      "d04",
    ]);
    expect(await ask("SELECT VALUE c.id FROM c ORDER BY c.team DESC, c.n OFFSET 0 LIMIT 2")).toEqual(["d01", "d02"]);
    expect(await ask("SELECT VALUE t FROM c JOIN t IN c.tags WHERE c.n = 3")).toEqual([3, "t"]);
    expect(await ask("SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.tags, 5)")).toEqual(["d05"]);
    expect(await ask("SELECT VALUE c._self FROM c WHERE c.id = 'd01'")).toEqual([expect.stringContaining("/docs/")]);
    const two = await refused(ask("SELECT * FROM c ORDER BY c.team, c.n"));
    expect(two.message).toContain("does not have a corresponding composite index");
    const { queryMetrics, requestCharge } = await container.items
      .query("SELECT * FROM c", { populateQueryMetrics: true, populateIndexMetrics: true })
      .fetchNext();
    expect(queryMetrics).toMatchObject({ "0": expect.anything() as unknown });
    expect(requestCharge).toBeGreaterThan(0);
  });

  it("R-AGT-47 R-AGT-51 R-AGT-96 time to live: by the container, by the item, and changed later", async () => {
    const container = await world.container(client, { defaultTtl: 100 });
    await container.items.create({ id: "short", pk: "p", ttl: 10 });
    await container.items.create({ id: "ever", pk: "p", ttl: -1 });
    await container.items.create({ id: "plain", pk: "p" });
    for (const ttl of [0, null as never, -10, 1.5])
      expect((await refused(container.items.create({ id: "bad", pk: "p", ttl }))).code).toBe(400);
    const left = async () => ids((await container.items.readAll().fetchAll()).resources as never);
    expect(await left()).toEqual(["ever", "plain", "short"]);
    world.server.later(11_000);
    expect(await left()).toEqual(["ever", "plain"]);
    expect((await container.items.create({ id: "short", pk: "p" })).statusCode).toBe(201);
    world.server.later(95_000);
    expect(await left()).toEqual(["ever", "short"]);
    const { resource } = await container.read();
    const { defaultTtl: _ttl, ...without } = resource as NonNullable<typeof resource>;
    await container.replace(without);
    world.server.later(1_000_000);
    expect(await left()).toContain("ever");
  });

  it("deletes all items of a partition, and no others", async () => {
    const container = await world.container(client);
    for (const [id, pk] of [
      ["1", "a"],
      ["2", "a"],
      ["3", "b"],
    ] as const)
      await container.items.create({ id, pk });
    await container.deleteAllItemsForPartitionKey("a");
    expect(ids((await container.items.readAll().fetchAll()).resources as never)).toEqual(["3"]);
  });

  it("R-AGT-93 a budget that is used up is 429 with the time to wait, which the client waits by itself", async () => {
    const impatient = world.client(await world.accountKey("w1"), {
      connectionPolicy: {
        retryOptions: { maxRetryAttemptCount: 0, fixedRetryIntervalInMilliseconds: 0, maxWaitTimeInSeconds: 0 },
      },
    });
    const container = await world.container(client, { throughput: 400 });
    const text = "x".repeat(1_000_000);
    const busy = impatient.database(container.database.id).container("Things");
    let told: ErrorResponse | undefined;
    for (let i = 0; told === undefined && i < 30; i += 1)
      told = await busy.items.create({ id: `${i}`, pk: "p", text }).then(
        () => undefined,
        (error: unknown) => error as ErrorResponse,
      );
    expect(told).toMatchObject({ code: 429, substatus: 3200 });
    expect(told?.retryAfterInMs).toBeGreaterThan(0);
    expect((await container.item("0", "p").read()).resource?.id).toBe("0");
    const free = await world.container(client);
    for (let i = 0; i < 12; i += 1) await free.items.create({ id: `${i}`, pk: "p", text });
  });

  it("the containers of the system are in the default database, and behave as containers", async () => {
    const { database } = client.database("pinakes").container("agent-memories");
    const memories = database.container("agent-memories");
    expect((await memories.read()).resource).toMatchObject({
      id: "agent-memories",
      partitionKey: { paths: ["/agent_id"] },
    });
    const { resource } = await memories.items.create({
      agent_id: "a",
      session_id: "s",
      content: "hello",
      message_type: "user",
      id: "m1",
    });
    expect(resource).toMatchObject({ content: "hello", workspace_id: "w1" });
    expect(ids((await client.databases.readAll().fetchAll()).resources)).toContain("pinakes");
    expect(
      (await memories.items.query("SELECT VALUE c.content FROM c WHERE c.agent_id = 'a'").fetchAll()).resources,
    ).toEqual(["hello"]);
    expect((await refused(memories.delete())).code).toBe(403);
    expect((await refused(database.delete())).code).toBe(403);
    const names = ids((await database.containers.readAll().fetchAll()).resources);
    expect(names).toEqual(expect.arrayContaining(["workflow-states", "tool-invocations", "thread-message-store"]));
    await database.containers.create({ id: "Own One", partitionKey: "/pk" });
    await database.containers.create({ id: "plain-one", partitionKey: "/pk" });
    const after = ids((await database.containers.readAll().fetchAll()).resources);
    expect(after).toEqual(expect.arrayContaining(["Own One", "plain-one"]));
    expect(after.some((name) => name.startsWith("db-"))).toBe(false);
  });
});
