/** What earlier versions of the official clients send, sessions of several ranges, and the containers of the system. */
import type { CosmosClient } from "@azure/cosmos";
import { beforeAll, describe, expect, it } from "vitest";
import { cosmosWorld, refused, type AccountKey } from "./support/cosmos-world.ts";
import { signed, type SignedCall } from "./support/signed.ts";
import { forAllTests } from "../support/for-tests.ts";

let key: AccountKey;
let client: CosmosClient;
const world = forAllTests(() => cosmosWorld());
beforeAll(async () => {
  key = await world.accountKey("w1");
  client = world.client(key);
});

const ask = (call: SignedCall) => signed(world.url, key.account_key, call);

describe("a client of 2018", () => {
  const old = { "x-ms-version": "2018-06-18" };

  it("R-AGT-96 makes a container without a partition key, does not see one, and sends none", async () => {
    const { database } = await client.databases.create({ id: "old" });
    const made = await ask({
      method: "POST",
      path: "/dbs/old/colls",
      headers: old,
      body: { id: "plain", indexingPolicy: { indexingMode: "Lazy" } },
    });
    expect(made.status).toBe(201);
    expect(made.json).not.toHaveProperty("partitionKey");
    expect(made.json).toMatchObject({ indexingPolicy: { indexingMode: "lazy" } });
    const docs = "/dbs/old/colls/plain/docs";
    expect((await ask({ method: "POST", path: docs, headers: old, body: { id: "a", n: 1 } })).status).toBe(201);
    expect((await ask({ path: `${docs}/a`, headers: old })).json).toMatchObject({ id: "a", n: 1 });
    expect((await ask({ method: "PUT", path: `${docs}/a`, headers: old, body: { id: "a", n: 2 } })).json).toMatchObject(
      { n: 2 },
    );
    // A client of today sees the key of the system, and finds the same item.
    const container = database.container("plain");
    expect((await container.read()).resource?.partitionKey).toMatchObject({ systemKey: true });
    expect((await container.item("a", undefined).read()).resource).toMatchObject({ n: 2 });
    expect((await ask({ method: "DELETE", path: `${docs}/a`, headers: old })).status).toBe(204);
    expect((await ask({ path: `${docs}/a`, headers: old })).status).toBe(404);
  });

  it("doubles the slash between the endpoint and a path", async () => {
    const call = { method: "POST", path: "//dbs", type: "dbs", link: "", headers: old, body: { id: "slashes" } };
    expect((await ask(call)).status).toBe(201);
    expect((await ask({ path: "//dbs//slashes", type: "dbs", link: "dbs/slashes" })).json).toMatchObject({
      id: "slashes",
    });
  });
});

describe("sessions and continuations", () => {
  it("R-AGT-96 each range has a token of its own, which its writes raise and its reads repeat", async () => {
    const container = await world.container(client, {
      throughput: 25_100,
      partitionKey: { paths: ["/pk"], version: 2 },
    });
    const tokens = new Map<string, string>();
    for (let i = 0; tokens.size < 2; i += 1) {
      const { headers } = await container.items.create({ id: "x", pk: `p${i}` });
      const token = headers["x-ms-session-token"] as string;
      const range = headers["x-ms-documentdb-partitionkeyrangeid"] as string;
      expect(token.startsWith(`${range}:`)).toBe(true);
      if (!tokens.has(range)) tokens.set(range, `p${i}`);
    }
    const [first, second] = [...tokens.values()] as [string, string];
    const tokenOf = async (pk: string) => (await container.item("x", pk).read()).headers["x-ms-session-token"];
    const before = [await tokenOf(first), await tokenOf(second)];
    const written = await container.item("x", first).replace({ id: "x", pk: first, n: 1 });
    expect(written.headers["x-ms-session-token"]).not.toBe(before[0]);
    expect([await tokenOf(first), await tokenOf(second)]).toEqual([written.headers["x-ms-session-token"], before[1]]);
    expect((await container.read()).headers).not.toHaveProperty("x-ms-session-token");
    const gone = await container.item("none", first).read();
    expect(gone.statusCode).toBe(404);
    expect(gone.headers).not.toHaveProperty("x-ms-session-token");
  });

  it("R-AGT-60 a walk that begins again at every token ends, in order and complete, over one range and several", async () => {
    for (const throughput of [400, 12_000]) {
      const container = await world.container(client, { throughput });
      const wanted = Array.from({ length: 12 }, (_one, i) => `item-${String(i).padStart(2, "0")}`);
      await Promise.all(wanted.map((id, n) => container.items.create({ id, pk: `p${n % 4}`, n })));
      for (const query of ["SELECT * FROM c", "SELECT * FROM c ORDER BY c.n"]) {
        const options = { maxItemCount: 4, enableQueryControl: true };
        const found: string[] = [];
        let pages = 0;
        for (let walk = container.items.query(query, options); walk.hasMoreResults() && pages < 20; pages += 1) {
          const { resources, continuationToken } = await walk.fetchNext();
          found.push(...(resources as { id: string }[]).map(({ id }) => id));
          if (continuationToken !== undefined && continuationToken !== "" && walk.hasMoreResults())
            walk = container.items.query(query, { ...options, continuationToken });
        }
        expect(pages).toBeLessThan(20);
        expect(query.includes("ORDER") ? found : found.toSorted()).toEqual(wanted);
      }
    }
  });
});

describe("the containers of the system", () => {
  const system = (name: string) => client.database("pinakes").container(name);

  it("R-AGT-40 take tool invocations, which never change afterwards", async () => {
    const day = new Date().toISOString().slice(0, 10);
    const tools = system("tool-invocations");
    const call = {
      id: "t1",
      tool_date: day,
      tool_name: "search",
      agent_id: "a",
      session_id: "s",
      timestamp: new Date().toISOString(),
      status: "success",
      duration_ms: 1,
      input_args: {},
      output_result: null,
    };
    expect((await tools.items.create(call)).statusCode).toBe(201);
    expect((await tools.item("t1", day).read()).resource).toMatchObject({ tool_name: "search", workspace_id: "w1" });
    expect((await refused(tools.items.create(call))).code).toBe(409);
    expect((await refused(tools.item("t1", day).replace({ ...call, status: "error" }))).code).toBeGreaterThan(399);
    expect((await tools.item("t1", day).read()).resource).toMatchObject({ status: "success" });
  });

  it("R-AGT-09 R-AGT-45 take threads and entities of any shape, and give them the workspace and an etag", async () => {
    for (const [name, pk, document] of [
      ["thread-message-store", "t", { id: "m", threadId: "t", any: [1, { deep: true }] }],
      ["system-thread-message-store", "t", { id: "m", threadId: "t", role: 5 }],
      ["agent-entity-store", "ag", { id: "ag", agentId: "ag", memory: { a: null } }],
    ] as const) {
      const { resource } = await system(name).items.upsert<Record<string, unknown>>(document);
      expect(resource).toMatchObject({ ...document, workspace_id: "w1" });
      const query = "SELECT VALUE c.id FROM c WHERE c.workspace_id = 'w1'";
      expect((await system(name).items.query(query).fetchAll()).resources).toEqual([document.id]);
      const item = system(name).item(document.id, pk);
      const accessCondition = { type: "IfMatch", condition: '"stale"' };
      expect((await refused(item.replace({ ...document }, { accessCondition }))).code).toBe(412);
      expect((await item.read()).resource).toMatchObject(document);
    }
  });
});
