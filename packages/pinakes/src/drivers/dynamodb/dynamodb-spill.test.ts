/** Documents beyond the 400 KB of an item: stored in the object store, found again, cleaned up. */
import { expect, it } from "vitest";
import type { JsonObject } from "../../domain/json.ts";
import { systemScope, tenantScope } from "../../domain/scope.ts";
import { createItemStore } from "../../items/create-item-store.ts";
import type { ItemStore, Operation } from "../../ports/item-store.ts";
import type { ObjectStore } from "../../ports/object-store.ts";
import { ObjectFaults } from "../memory-objects/faults.ts";
import { openMemoryObjects } from "../memory-objects/index.ts";
import { connect } from "./client.ts";
import { connectDynamoEngine, openDynamoItems } from "./index.ts";
import { serviceLimits } from "./service-limits.ts";
import { startDynamo, testConnection } from "./test-server.ts";
import { failure, TestStores } from "./test-stores.ts";
import { forAllTests } from "../../../test/support/for-tests.ts";

const scope = tenantScope("acme");
const system = systemScope("tests of the DynamoDB driver", () => undefined);
const hour = 3_600_000;

const stores = new TestStores(() => server.endpoint);
const server = forAllTests(() => startDynamo());

async function openSpilling(faults?: ObjectFaults) {
  const time = { now: Date.UTC(2030, 0, 1) };
  const clock = { now: () => time.now };
  const objects = openMemoryObjects(faults === undefined ? {} : { faults });
  const engine = await connectDynamoEngine(stores.options({ clock, objects: { store: objects, scope: system } }));
  const store = await createItemStore(engine, { clock });
  await store.openContainer({
    name: "notes",
    partitionKey: ["p"],
    indexes: { byN: { partition: ["p"], sort: ["n"] } },
  });
  return { engine, store, objects, time };
}

const big = (id: string, more: JsonObject = {}, bytes = 500_000): Operation => ({
  op: "upsert",
  document: { id, p: "a", text: "é".repeat(bytes / 2), ...more },
});
const write = (store: ItemStore, operation: Operation) => store.write(scope, "notes", ["a"], operation);
const read = (store: ItemStore, id: string) => store.read(scope, "notes", { partition: ["a"], id });
const blobs = async (objects: ObjectStore) => (await objects.list(system, "spill/")).keys.map(({ key }) => key);

it("R-AGT-23 at the limit of an item nothing spills, one byte past it does, and both are read back", async () => {
  const { store, objects } = await openSpilling();
  const document = (bytes: number) => ({ id: "x", p: "a", text: "t".repeat(bytes) });
  // The largest text that stays inline, found by binary search; the rest of the item has less than 300 bytes.
  let [inline, spilled] = [serviceLimits.itemInlineBytesMax - 300, serviceLimits.itemInlineBytesMax];
  while (spilled - inline > 1) {
    const middle = Math.floor((inline + spilled) / 2);
    await write(store, { op: "upsert", document: document(middle) });
    if ((await blobs(objects)).length === 0) inline = middle;
    else spilled = middle;
  }
  expect(spilled).toBeLessThan(serviceLimits.itemInlineBytesMax);
  for (const [bytes, objectCount] of [
    [inline, 0],
    [spilled, 1],
    [inline, 0],
  ] as const) {
    await write(store, { op: "upsert", document: document(bytes) });
    expect(await blobs(objects)).toHaveLength(objectCount);
    expect((await read(store, "x"))?.document).toEqual(document(bytes));
  }
  await store.close();
});

it("without an object store a larger document is rejected, saying what to do, and nothing is written", async () => {
  const { objects: _none, ...options } = stores.options();
  await using store = await openDynamoItems(options);
  await store.openContainer({ name: "notes", partitionKey: ["p"] });
  const error = await failure(write(store, big("x")));
  expect([error.code, error.message]).toEqual(["LIMIT_EXCEEDED", expect.stringMatching(/400 KB.*objects/)]);
  const batch = await failure(
    store.batch(scope, "notes", ["a"], [{ op: "create", document: { id: "y", p: "a" } }, big("x")]),
  );
  expect([batch.code, batch.context.batch]).toEqual(["LIMIT_EXCEEDED", { index: 1, statuses: [424, 413] }]);
  expect(await store.count(scope, "notes", { equals: { p: "a" } })).toBe(0);
});

it("spilled documents are read, queried, patched, checked and read raw as any other", async () => {
  const { store, objects } = await openSpilling();
  await write(store, big("x", { n: 1 }));
  await write(store, big("y", { n: 2 }));
  const { session } = await write(store, { op: "upsert", document: { id: "z", p: "a", n: 3 } });
  await store.batch(
    scope,
    "notes",
    ["a"],
    [
      { op: "check", id: "y", where: { n: 2 } },
      { op: "patch", id: "x", patch: [{ op: "incr", path: "/n", value: 10 }], where: { n: 1 } },
    ],
  );
  const page = await store.query(scope, "notes", { index: "byN", equals: { p: "a" }, session });
  expect(
    page.items.map(({ id, document }) => [id, document["n"], (document["text"] as string | undefined)?.length]),
  ).toEqual([
    ["y", 2, 250_000],
    ["z", 3, undefined],
    ["x", 11, 250_000],
  ]);
  expect((await store.query(scope, "notes", { equals: { p: "a" } })).items.map(({ id }) => id)).toEqual([
    "x",
    "y",
    "z",
  ]);
  const raw = await store.readRaw(scope, "notes", { partition: ["a"], id: "x" });
  expect(JSON.parse(Buffer.from(raw?.bytes ?? []).toString())).toMatchObject({ id: "x", n: 11 });
  expect(
    (
      await store.readMany(scope, "notes", [
        { partition: ["a"], id: "y" },
        { partition: ["a"], id: "none" },
      ])
    ).map((item) => item?.document["n"]),
  ).toEqual([2, undefined]);
  expect(await blobs(objects)).toHaveLength(2);
  await store.close();
});

it("a blob is removed with the write that replaces or deletes its item", async () => {
  const { store, objects } = await openSpilling();
  await write(store, big("x"));
  const [first] = await blobs(objects);
  await write(store, big("x", { again: true }));
  const [second, ...none] = await blobs(objects);
  expect([second !== first, none]).toEqual([true, []]);
  await failure(write(store, { op: "create", document: { id: "x", p: "a" } }));
  expect(await blobs(objects)).toEqual([second]);
  await write(store, { op: "delete", id: "x" });
  expect(await blobs(objects)).toEqual([]);
  await write(store, big("y"));
  await store.deletePartition(scope, "notes", ["a"]);
  expect(await blobs(objects)).toEqual([]);
  await store.close();
});

it("the sweep removes unreferenced blobs after their grace period, and no others", async () => {
  const faults = new ObjectFaults();
  const { engine, store, objects, time } = await openSpilling(faults);
  await write(store, big("kept"));
  await write(store, big("gone"));
  // The delete of the blob fails after its item is gone: the write succeeds, an orphan remains.
  faults.add({ call: "delete", nth: 1, kind: "fail" });
  await write(store, { op: "delete", id: "gone" });
  expect(await blobs(objects)).toHaveLength(2);
  expect(await engine.sweepSpills(hour)).toEqual({ examined: 0, deleted: 0 });
  time.now += hour;
  await write(store, big("young"));
  expect(await engine.sweepSpills(hour)).toEqual({ examined: 2, deleted: 1 });
  expect(await blobs(objects)).toHaveLength(2);
  for (const id of ["kept", "young"]) expect((await read(store, id))?.document["id"]).toBe(id);
  expect(await engine.sweepSpills(0)).toEqual({ examined: 2, deleted: 0 });
  await store.close();
});

it("databases that share an object store, and their prefix, leave each other's documents alone", async () => {
  const elsewhere = await startDynamo();
  const time = { now: Date.UTC(2030, 0, 1) };
  const clock = { now: () => time.now };
  const options = stores.options({ clock });
  const open = async (endpoint: string) => {
    const engine = await connectDynamoEngine({ ...options, endpoint });
    const store = await createItemStore(engine, { clock });
    await store.openContainer({ name: "notes", partitionKey: ["p"] });
    return { engine, store };
  };
  const [ours, theirs] = [await open(server.endpoint), await open(elsewhere.endpoint)];
  await write(ours.store, big("x"));
  await write(theirs.store, big("y"));
  time.now += 2 * hour;
  expect(await theirs.engine.sweepSpills(hour)).toEqual({ examined: 1, deleted: 0 });
  expect((await read(ours.store, "x"))?.id).toBe("x");
  // As in a restored copy of our tables: it reads our document, and does not delete it with its own item.
  const [from, to] = await Promise.all(
    [server.endpoint, elsewhere.endpoint].map((endpoint) => connect({ ...testConnection, endpoint })),
  );
  const TableName = `${options.prefix}.notes`;
  const { Items: rows = [] } = (await from?.api.scan({ TableName })) ?? {};
  for (const Item of rows) await to?.api.putItem({ TableName, Item });
  expect((await read(theirs.store, "x"))?.id).toBe("x");
  await write(theirs.store, { op: "delete", id: "x" });
  expect((await read(ours.store, "x"))?.id).toBe("x");
  for (const each of [from, to]) each?.close();
  for (const { store } of [ours, theirs]) await store.close();
  await elsewhere.stop();
});

it("a failing object store leaves the item as it was; a corrupt one is detected", async () => {
  const faults = new ObjectFaults();
  const { store } = await openSpilling(faults);
  await write(store, { op: "upsert", document: { id: "x", p: "a", n: 1 } });
  faults.add({ call: "put", nth: 1, kind: "fail" });
  expect((await failure(write(store, big("x")))).code).toBe("UNAVAILABLE");
  expect((await read(store, "x"))?.document).toEqual({ id: "x", p: "a", n: 1 });
  faults.add({ call: "put", nth: 1, kind: "truncate", bytes: 1_000 });
  await write(store, big("x"));
  expect((await failure(read(store, "x"))).code).toBe("CORRUPT");
  // Replacing and deleting need no document.
  await write(store, { op: "replace", document: { id: "x", p: "a", n: 2 } });
  expect((await read(store, "x"))?.document).toEqual({ id: "x", p: "a", n: 2 });
  await store.close();
});

it("a reader whose blob is removed while it reads gets the newest document, or none, never an error", async () => {
  const faults = new ObjectFaults();
  const { store } = await openSpilling(faults);
  /** Runs `change` after `reading` has found the item and before it gets the blob. */
  const meanwhile = async <T>(reading: () => Promise<T>, change: () => Promise<unknown>): Promise<T> => {
    const changed = Promise.withResolvers<void>();
    faults.add({ call: "get", nth: 1, kind: "delay", until: changed.promise });
    const result = reading();
    while (faults.pending > 0) await new Promise((resolve) => setTimeout(resolve, 1));
    await change();
    changed.resolve();
    return result;
  };
  const indexed = async () =>
    (await store.query(scope, "notes", { index: "byN", equals: { p: "a", n: 1 } })).items.map(
      ({ document }) => document["v"],
    );
  await write(store, big("x", { n: 1, v: 1 }));
  expect(
    (
      await meanwhile(
        () => read(store, "x"),
        () => write(store, big("x", { n: 1, v: 2 })),
      )
    )?.document["v"],
  ).toBe(2);
  expect(await meanwhile(indexed, () => write(store, big("x", { n: 1, v: 3 })))).toEqual([3]);
  expect(await meanwhile(indexed, () => write(store, big("x", { n: 2, v: 4 })))).toEqual([]);
  expect(
    await meanwhile(
      () => read(store, "x"),
      () => write(store, { op: "delete", id: "x" }),
    ),
  ).toBeUndefined();
  await store.close();
});

it("R-AGT-53 a patch whose document is removed while it is planned is planned again", async () => {
  const faults = new ObjectFaults();
  const time = { clock: { now: () => Date.UTC(2030, 0, 1) } };
  const options = stores.options({ ...time, objects: { store: openMemoryObjects({ faults }), scope: system } });
  await using ours = await openDynamoItems(options);
  await using theirs = await openDynamoItems(options);
  for (const store of [ours, theirs]) await store.openContainer({ name: "notes", partitionKey: ["p"] });
  await write(ours, big("x", { n: 1 }));
  const changed = Promise.withResolvers<void>();
  faults.add({ call: "get", nth: 1, kind: "delay", until: changed.promise });
  const patching = write(ours, { op: "patch", id: "x", patch: [{ op: "incr", path: "/n", value: 1 }] });
  while (faults.pending > 0) await new Promise((resolve) => setTimeout(resolve, 1));
  await write(theirs, big("x", { n: 10 }));
  changed.resolve();
  await patching;
  expect((await read(ours, "x"))?.document["n"]).toBe(11);
});
