/** The essentials of own containers on PostgreSQL and DynamoDB. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { BatchOperation, ContainerSpec } from "@pinakes/client";
import { TestStores } from "../../src/drivers/dynamodb/test-stores.ts";
import { startDynamo, type DynamoServer } from "../../src/drivers/dynamodb/test-server.ts";
import { openPostgresItems } from "../../src/drivers/postgres/index.ts";
import { startPostgres, type TestServer } from "../../src/drivers/postgres/test-server.ts";
import type { ItemStore } from "../../src/ports/item-store.ts";
import { careMs } from "../../src/state/containers/maintenance-work.ts";
import { failure, ManualClock } from "../../src/testing/item-store/fixture.ts";
import { pagesOf } from "../../src/runtime/pages.ts";
import { openContainers, type ContainersFixture } from "./containers-fixture.ts";

let postgres: TestServer;
let dynamo: DynamoServer;
beforeAll(async () => {
  [postgres, dynamo] = await Promise.all([startPostgres(), startDynamo()]);
});
afterAll(async () => {
  await Promise.all([postgres.stop(), dynamo.stop()]);
});
const stores = new TestStores(() => dynamo.endpoint);

describe.each([
  [
    "PostgreSQL",
    (clock: ManualClock) => openPostgresItems({ url: postgres.url, database: "containers", clock }),
    (clock: ManualClock) => openPostgresItems({ url: postgres.url, database: "containers", clock }),
    100,
  ],
  ["DynamoDB", (clock: ManualClock) => stores.open({ clock }), (clock: ManualClock) => stores.reopen({ clock }), 50],
] as const)("own containers on %s", (_, open, reopen, operationsMax) => {
  const clock = new ManualClock();
  let items: ItemStore;
  let test: ContainersFixture;
  beforeAll(async () => {
    items = await open(clock);
    test = await openContainers(items, clock);
  });
  afterAll(() => items.close());

  const policy = {
    includedPaths: [{ path: "/status/?" }, { path: "/n/?" }],
    excludedPaths: [{ path: "/text/?" }],
    compositeIndexes: [[{ path: "/status" }, { path: "/n" }]],
  };
  const spec: ContainerSpec = { partition_key: "/p", default_ttl: -1, indexing_policy: policy };

  it("R-AGT-04 R-AGT-05 R-AGT-52 R-AGT-56 documents, etags, patches with conditions", async () => {
    const { containers, user } = test;
    const info = await containers.put(user, "notes", spec);
    expect(await containers.put(user, "notes", spec)).toEqual(info);
    const made = await containers.create(user, "notes", { id: "a", p: "x", n: 1, status: "open" });
    expect(await containers.read(user, "notes", "x", "a")).toEqual(made);
    await failure(containers.create(user, "notes", { id: "a", p: "x" }), "CONFLICT");
    const changed = await containers.patch(user, "notes", "x", "a", [{ op: "incr", path: "/n", value: 1 }], {
      condition: "from c where c.n = 1",
    });
    expect(
      (
        await failure(
          containers.replace(user, "notes", { id: "a", p: "x" }, { ifMatch: made._etag }),
          "PRECONDITION_FAILED",
        )
      ).context.currentEtag,
    ).toBe(changed._etag);
    await failure(
      containers.patch(user, "notes", "x", "a", [{ op: "incr", path: "/n", value: 1 }], {
        condition: "from c where c.n = 1",
      }),
      "PRECONDITION_FAILED",
    );
    expect(await containers.read(user, "notes", "x", "a")).toMatchObject({ n: 2 });
  });

  it("R-AGT-55 batches are all or nothing, up to what the engine takes, and name it beyond", async () => {
    const { containers, user } = test;
    const many = (n: number): BatchOperation[] =>
      Array.from({ length: n }, (_unused, i) => ({ op: "create", document: { id: `b${i}`, p: "batch" } }));
    const over = await failure(containers.batch(user, "notes", "batch", many(operationsMax + 1)), "LIMIT_EXCEEDED");
    expect(over.detail).toContain(`at most ${operationsMax}`);
    await containers.create(user, "notes", { id: "b7", p: "batch" });
    const failed = await failure(containers.batch(user, "notes", "batch", many(10)), "CONFLICT");
    expect(failed.context.batch).toEqual({ index: 7, statuses: [424, 424, 424, 424, 424, 424, 424, 409, 424, 424] });
    await failure(containers.read(user, "notes", "batch", "b0"), "NOT_FOUND");
    await containers.deleteItem(user, "notes", "batch", "b7");
    expect((await containers.batch(user, "notes", "batch", many(operationsMax))).results).toHaveLength(operationsMax);
    expect(await containers.deletePartition(user, "notes", "batch")).toEqual({ deleted: operationsMax });
  });

  it("rules of a container of the system hold, and its companions stay hidden", async () => {
    const { containers, user } = test;
    await containers.create(user, "test-tasks", { id: "t", list: "l" });
    await containers.patch(user, "test-tasks", "l", "t", [{ op: "set", path: "/state", value: "done" }]);
    await failure(containers.upsert(user, "test-tasks", { id: "t", list: "l", state: "open" }), "INVALID");
    expect((await containers.query(user, "test-tasks", { query: "SELECT VALUE c.id FROM c", pk: "l" })).items).toEqual([
      "t",
    ]);
    expect((await containers.changes(user, "test-tasks", { mode: "all" })).items.map(({ id }) => id)).toEqual([
      "t",
      "t",
    ]);
  });

  it("R-AGT-57 R-AGT-59 R-AGT-60 bulk loads, and queries over them in pages", async () => {
    const { containers, user } = test;
    const documents = Array.from({ length: 120 }, (_unused, i) => ({
      id: `i${i}`,
      p: `p${i % 5}`,
      status: i % 2 === 0 ? "open" : "done",
      n: (i * 7) % 50,
      text: `t${i % 4}`,
    }));
    expect(
      await containers.bulk(
        user,
        "notes",
        documents.map((document) => ({ op: "upsert", document }) as const),
      ),
    ).toMatchObject({ succeeded: 120, failed: 0 });
    const walk = async (query: string): Promise<string[]> => {
      const found: string[] = [];
      for await (const page of pagesOf((cursor) =>
        containers.query(user, "notes", { query, limit: 17, cursor, strict: true }),
      )) {
        found.push(...(page.items as string[]));
      }
      return found;
    };
    const wanted = documents
      .filter(({ status }) => status === "open")
      .toSorted((a, b) => a.n - b.n || (a.id < b.id ? -1 : 1));
    await expect
      .poll(() => walk("SELECT VALUE c.id FROM c WHERE c.status = 'open' AND c.n >= 0 ORDER BY c.status, c.n"))
      .toEqual(expect.arrayContaining(wanted.map(({ id }) => id)));
    const numbers = (await walk(
      "SELECT VALUE c.n FROM c WHERE c.status = 'open' ORDER BY c.status, c.n",
    )) as unknown as number[];
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    await failure(walk("SELECT * FROM c WHERE c.text = 't1'"), "INVALID");
    expect(
      (await containers.query(user, "notes", { query: "SELECT VALUE COUNT(1) FROM c WHERE c.p = 'p3'" })).items,
    ).toEqual([24]);
  });

  it("R-AGT-46 R-AGT-49 R-AGT-51 expired is gone at once; another default holds for what is there", async () => {
    const { containers, user, admin } = test;
    await containers.create(user, "notes", { id: "short", p: "ttl", ttl: 5 });
    await containers.create(user, "notes", { id: "plain", p: "ttl" });
    clock.advance(5_000);
    await failure(containers.read(user, "notes", "ttl", "short"), "NOT_FOUND");
    expect((await containers.query(user, "notes", { equals: { p: "ttl" } })).items).toMatchObject([{ id: "plain" }]);
    await containers.put(admin, "notes", { ...spec, default_ttl: 1 });
    await expect
      .poll(() => containers.read(user, "notes", "ttl", "plain").catch((error: { code?: string }) => error.code))
      .toBe("NOT_FOUND");
    await containers.put(admin, "notes", spec);
    await expect
      .poll(() => containers.read(user, "notes", "ttl", "plain").catch((error: { code?: string }) => error.code))
      .toMatchObject({ id: "plain" });
  });

  it("deleted and made again it is empty, the old items go; after a restart everything is where it was, and expired items go untouched", async () => {
    const { containers, user, admin, sweep } = test;
    await containers.put(user, "brief", { partition_key: "/p" });
    await containers.bulk(
      user,
      "brief",
      Array.from(
        { length: 60 },
        (_unused, i) => ({ op: "create", document: { id: `i${i}`, p: `p${i % 4}` } }) as const,
      ),
    );
    let old = "";
    for await (const entry of test.parts.work.due(Number.MAX_SAFE_INTEGER))
      if (entry.data?.["name"] === "brief") old = entry.key;
    await containers.delete(admin, "brief");
    await failure(containers.read(user, "brief", "p0", "i0"), "NOT_FOUND");
    await containers.put(user, "brief", { partition_key: "/p", default_ttl: 30 });
    expect((await containers.query(user, "brief", { query: "SELECT * FROM c" })).items).toEqual([]);
    await containers.create(user, "brief", { id: "new", p: "p0" });
    await expect
      .poll(async () => {
        await sweep();
        clock.advance(careMs);
        return (
          await Promise.all([0, 1, 2, 3].map((p) => items.query(user.scope, old, { equals: { p: `p${p}` } })))
        ).flatMap((page) => page.items);
      })
      .toEqual([]);
    await items.close();
    items = await reopen(clock);
    test = await openContainers(items, clock);
    clock.advance(careMs);
    await expect
      .poll(async () => {
        await test.sweep();
        clock.advance(careMs);
        const { items: changes } = await test.containers.changes(user, "brief", { mode: "all" });
        return changes.map(({ kind, id, time_to_live_expired }) => `${kind} ${id} ${time_to_live_expired === true}`);
      })
      .toEqual(["put new false", "delete new true"]);
    expect(await test.containers.read(user, "notes", "x", "a")).toMatchObject({ n: 2 });
  });

  it("R-AGT-09 a container of the same name in another workspace is another one", async () => {
    const { containers, user, stranger } = test;
    await failure(containers.read(stranger, "notes", "x", "a"), "NOT_FOUND");
    await containers.put(stranger, "notes", { partition_key: "/q" });
    expect((await containers.query(stranger, "notes", { query: "SELECT * FROM c" })).items).toEqual([]);
    expect((await containers.changes(stranger, "notes", { mode: "all" })).items).toEqual([]);
    await containers.delete(stranger, "notes");
    expect(await containers.read(user, "notes", "x", "a")).toMatchObject({ n: 2 });
  });
});
