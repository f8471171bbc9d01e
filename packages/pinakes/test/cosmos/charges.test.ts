/** Request charges: what docs/clients.md says, for every kind of request, and the same for equal work. */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { ChangeFeedStartFrom, type Container, type CosmosClient } from "@azure/cosmos";
import { afterAll, beforeAll, expect, it } from "vitest";
import { cosmosWorld, type CosmosWorld } from "./support/cosmos-world.ts";

let world: CosmosWorld;
let client: CosmosClient;
beforeAll(async () => {
  world = await cosmosWorld();
  client = world.client(await world.accountKey("w1"));
});
afterAll(() => world?.[Symbol.asyncDispose]());

const kib = (value: unknown): number => Math.max(1, Math.ceil(Buffer.byteLength(JSON.stringify(value)) / 1_024));
const filled = async (count: number, options: object = {}): Promise<Container> => {
  const container = await world.container(client, options);
  for (let i = 0; i < count; i += 1)
    await container.items.create({ id: `item-${String(i).padStart(2, "0")}`, pk: `p${i % 3}`, n: i });
  return container;
};

it("R-AGT-96 reads cost 1 for each KiB begun, writes 5 more, at and past a KiB", async () => {
  const container = await world.container(client);
  for (const length of [1, 600, 5_000, 100_000]) {
    const document = { id: `t${length}`, pk: "p", text: "ü".repeat(length) };
    const made = await container.items.create(document);
    expect(made.requestCharge).toBe(5 + kib(made.resource));
    const read = await container.item(document.id, "p").read();
    expect(read.requestCharge).toBe(kib(read.resource));
    const replaced = await container.item(document.id, "p").replace(document);
    expect(replaced.requestCharge).toBe(5 + kib(replaced.resource));
    expect((await container.item(document.id, "p").delete()).requestCharge).toBe(6);
  }
  // Sizes around a whole KiB of the stored item: its system properties have always the same length.
  const empty = (await container.items.create({ id: "edge", pk: "p", text: "" })).resource;
  const room = 1_024 - Buffer.byteLength(JSON.stringify(empty));
  for (const [more, charge] of [
    [0, 6],
    [1, 7],
  ] as const)
    expect((await container.items.upsert({ id: "edge", pk: "p", text: "x".repeat(room + more) })).requestCharge).toBe(
      charge,
    );
});

it("R-AGT-96 a page of a query costs by the items looked at and the bytes answered", async () => {
  const container = await filled(12);
  const { resources, requestCharge } = await container.items.query("SELECT * FROM c").fetchNext();
  const bytes = Buffer.byteLength(JSON.stringify(resources));
  expect(requestCharge).toBeCloseTo(2.25 + 0.05 * 12 + (0.25 * bytes) / 1_024, 1);
  const filter = await container.items.query("SELECT VALUE c.id FROM c WHERE c.n = 3").fetchNext();
  expect(filter.requestCharge).toBeCloseTo(2.25 + 0.05 * 12, 1);
  expect(filter.resources).toEqual(["item-03"]);
});

it("R-AGT-96 equal work has an equal charge: again, all at once or page by page, over one range or several", async () => {
  for (const throughput of [undefined, 10_100, 25_100]) {
    const container = await filled(12, throughput === undefined ? {} : { throughput });
    for (const query of [
      "SELECT VALUE COUNT(1) FROM c",
      "SELECT VALUE MAX(c.n) FROM c",
      "SELECT * FROM c ORDER BY c.n",
    ]) {
      const iterator = container.items.query(query, { maxItemCount: 4 });
      const all = (await iterator.fetchAll()).requestCharge;
      iterator.reset();
      expect((await iterator.fetchAll()).requestCharge).toBe(all);
      iterator.reset();
      let pages = 0;
      while (iterator.hasMoreResults()) pages += (await iterator.fetchNext()).requestCharge;
      expect(Math.abs(pages - all) / all).toBeLessThan(0.01);
    }
  }
});

it("R-AGT-96 a batch costs the sum of its operations, a page of the change feed its items and bytes", async () => {
  const container = await filled(3);
  const { result, headers } = await container.items.batch(
    [
      { operationType: "Create", resourceBody: { id: "a", pk: "p", text: "x".repeat(3_000) } },
      { operationType: "Upsert", resourceBody: { id: "b", pk: "p" } },
      { operationType: "Delete", id: "b" },
    ],
    "p",
  );
  const charges = result?.map(({ requestCharge }) => requestCharge);
  expect(charges).toEqual([5 + kib(result?.[0]?.resourceBody), 6, 6]);
  expect(Number(headers?.["x-ms-request-charge"])).toBe(charges?.reduce((sum, charge) => sum + charge, 0));
  const feed = container.items.getChangeFeedIterator({ changeFeedStartFrom: ChangeFeedStartFrom.Beginning() });
  const page = await feed.readNext();
  const bytes = Buffer.byteLength(JSON.stringify(page.result));
  // The client's own property drops the fraction.
  expect(Number(page.headers["x-ms-request-charge"])).toBeCloseTo(1 + 0.05 * page.count + (0.25 * bytes) / 1_024, 1);
});

it("the guide states these numbers", async () => {
  const guide = await readFile(fileURLToPath(new URL("../../../../docs/clients.md", import.meta.url)), "utf8");
  for (const row of [
    "| point read | 1 per KiB, at least 1 |",
    "| create, replace, upsert, patch | 5 + 1 per KiB |",
    "| delete | 6 |",
    "| page of a query | 2.25 + 0.05 per examined item + 0.25 per KiB of the answer |",
    "| page of a change feed | 1 + 0.05 per item + 0.25 per KiB |",
    "| batch | the sum of its operations |",
  ])
    expect(guide).toContain(row);
});
