/** The request budget of a container: what is refused once it is used up, in which form, and when it is accepted again. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { cosmosWorld, type AccountKey, type CosmosWorld } from "./support/cosmos-world.ts";
import { signed, type SignedCall } from "./support/signed.ts";

let world: CosmosWorld;
let key: AccountKey;
let other: AccountKey;
/** What the server calls now: it passes only when the test says so. */
let time = Date.now();
beforeAll(async () => {
  const clock = { now: () => time };
  world = await cosmosWorld({ clock }, { clock });
  key = await world.accountKey("w1");
  other = await world.accountKey("w2");
  for (const who of [key, other]) {
    const { database } = await world.client(who).databases.create({ id: "base" });
    for (const id of ["busy", "calm"])
      await database.containers.create({ id, partitionKey: { paths: ["/pk"] }, throughput: 400 });
  }
});
afterAll(() => world?.[Symbol.asyncDispose]());

const inP = { "x-ms-documentdb-partitionkey": '["p"]' };
const at = (container: string) => `/dbs/base/colls/${container}/docs`;
const ask = (call: SignedCall, who = key) => signed(world.url, who.account_key, { date: new Date(time), ...call });
const create = (id: string, container = "busy", who = key) => {
  const body = { id, pk: "p", text: "x".repeat(1_000_000) };
  return ask({ method: "POST", path: at(container), headers: inP, body }, who);
};

it("R-AGT-93 a used-up budget is 429 for every request of that container alone, nothing is written, and the told time is enough", async () => {
  let refused = await create("item-0");
  let written = 0;
  for (; refused.status === 201 && written < 100; refused = await create(`item-${written}`)) written += 1;
  expect(refused.status).toBe(429);
  expect(refused.headers.get("x-ms-substatus")).toBe("3200");
  const waitMs = Number(refused.headers.get("x-ms-retry-after-ms"));
  expect(waitMs).toBeGreaterThan(0);
  expect(Number(refused.headers.get("retry-after"))).toBe(Math.ceil(waitMs / 1_000));
  expect(refused.json.code).toBe("TooManyRequests");
  expect(refused.json.message).toMatch(/^The request rate is large.+\r\nActivityId: [0-9a-f-]{36}$/);
  const query = { "content-type": "application/query+json", "x-ms-documentdb-isquery": "True" };
  const batch = { ...inP, "x-ms-cosmos-is-batch-request": "True", "x-ms-cosmos-batch-atomic": "True" };
  for (const call of [
    { path: `${at("busy")}/item-0`, headers: inP },
    { path: at("busy") },
    { method: "POST", path: at("busy"), headers: query, body: { query: "SELECT * FROM c" } },
    { method: "PATCH", path: `${at("busy")}/item-0`, headers: inP, body: [{ op: "set", path: "/a", value: 1 }] },
    { method: "POST", path: at("busy"), headers: batch, body: [{ operationType: "Delete", id: "item-0" }] },
    { method: "DELETE", path: `${at("busy")}/item-0`, headers: inP },
  ])
    expect((await ask(call)).status, JSON.stringify(call)).toBe(429);
  // Others are not concerned: a container of the same account, and one with the same name of another.
  expect((await create("x", "calm")).status).toBe(201);
  expect((await create("x", "busy", other)).status).toBe(201);
  time += waitMs;
  expect((await ask({ path: `${at("busy")}/item-0`, headers: inP })).status).toBe(200);
  time += 60_000;
  const count = { query: "SELECT VALUE COUNT(1) FROM c" };
  const { json } = await ask({ method: "POST", path: at("busy"), headers: query, body: count });
  expect(json["Documents"]).toEqual([written]);
  expect((await ask({ path: `${at("busy")}/item-${written}`, headers: inP })).status).toBe(404);
  expect((await ask({ path: `${at("busy")}/item-0`, headers: inP })).json).not.toHaveProperty("a");
});
