/** The default time to live of the containers of the system, changed by a client for its own workspace. */
import type { Container, CosmosClient } from "@azure/cosmos";
import { beforeAll, describe, expect, it } from "vitest";
import { systemScope } from "../../src/domain/scope.ts";
import { useServers } from "../support/servers.ts";
import { cosmosWorld, refused } from "./support/cosmos-world.ts";
import { forAllTests } from "../support/for-tests.ts";

const { postgres } = useServers();

const day = new Date().toISOString().slice(0, 10);
const now = new Date().toISOString();
/** A document of each container of the system, with its partition key. */
const documents: Readonly<Record<string, readonly [string, object]>> = {
  "workflow-states": ["w", { workflow_id: "w", type: "saga", name: "n", total_steps: 2, status: "pending" }],
  "agent-memories": ["a", { agent_id: "a", session_id: "s", content: "hello", message_type: "user" }],
  "agent-metrics": [day, { metric_date: day, agent_id: "a", metric_type: "latency", value: 1, timestamp: now }],
  "tool-invocations": [
    day,
    {
      tool_date: day,
      tool_name: "search",
      agent_id: "a",
      session_id: "s",
      timestamp: now,
      status: "success",
      duration_ms: 1,
      input_args: {},
      output_result: null,
    },
  ],
  "thread-message-store": ["t", { threadId: "t", text: "x" }],
  "system-thread-message-store": ["t", { threadId: "t", text: "x" }],
  "agent-entity-store": ["ag", { agentId: "ag" }],
};

describe.each([
  ["SQLite", () => ({})],
  ["PostgreSQL", () => ({ items: postgres(), objects: "memory:" })],
])("the default time to live of a container of the system, on %s", (_, openWith) => {
  let client: CosmosClient;
  let other: CosmosClient;
  const world = forAllTests(() => cosmosWorld(openWith()));
  beforeAll(async () => {
    client = world.client(await world.accountKey("w1"));
    other = world.client(await world.accountKey("w2"));
  });

  const of = (who: CosmosClient, name: string): Container => who.database("pinakes").container(name);
  const ids = async (container: Container) =>
    (
      await container.items.query<string>("SELECT VALUE c.id FROM c WHERE STARTSWITH(c.id, 'ttl-')").fetchAll()
    ).resources.toSorted();
  const setTtl = async (container: Container, defaultTtl: number | undefined) => {
    const { resource } = await container.read();
    const { defaultTtl: _old, ...rest } = resource as NonNullable<typeof resource>;
    return container.replace({ ...rest, ...(defaultTtl === undefined ? {} : { defaultTtl }) });
  };

  it.each(Object.keys(documents))(
    "R-AGT-51 of %s is changed for existing items of the workspace alone; an item's own stays",
    async (name) => {
      const [pk, document] = documents[name] as readonly [string, object];
      const [mine, theirs] = [of(client, name), of(other, name)];
      const declared = (await mine.read()).resource?.defaultTtl;
      await mine.items.create({ ...document, id: "ttl-default" });
      await mine.items.create({ ...document, id: "ttl-own", ttl: 500 });
      await theirs.items.create({ ...document, id: "ttl-default" });
      const { resource, etag } = await setTtl(mine, 100);
      expect(resource?.defaultTtl).toBe(100);
      expect((await mine.read()).resource).toEqual(resource);
      expect((await mine.read()).etag).toBe(etag);
      expect((await theirs.read()).resource?.defaultTtl).toBe(declared);
      expect(await ids(mine)).toEqual(["ttl-default", "ttl-own"]);
      world.server.later(101_000);
      expect(await ids(mine)).toEqual(["ttl-own"]);
      expect((await mine.item("ttl-default", pk).read()).statusCode).toBe(404);
      expect(await ids(theirs)).toEqual(["ttl-default"]);
      world.server.later(400_000);
      expect(await ids(mine)).toEqual([]);
      // Off: what has not been purged is there again, and nothing expires.
      expect((await setTtl(mine, undefined)).resource?.defaultTtl).toBeUndefined();
      await mine.items.create({ ...document, id: "ttl-ever", ttl: 5 });
      world.server.later(1_000_000);
      expect(await ids(mine)).toContain("ttl-ever");
      expect((await setTtl(mine, declared)).resource?.defaultTtl).toBe(declared);
      expect(await ids(mine)).not.toContain("ttl-ever");
      const shown = (
        await world.server.call("GET", `/v1/containers/${name}`, { key: (await world.accountKey("w1")).key })
      ).json;
      expect(shown["default_ttl"]).toBe(declared);
    },
  );

  it("R-AGT-51 takes an admin, a valid value and the same indexing policy; else nothing changes", async () => {
    const name = "agent-memories";
    const before = (await of(client, name).read()).resource;
    const user = world.client(await world.accountKey("w1", { role: "user" }));
    expect((await refused(setTtl(of(user, name), 50))).code).toBe(403);
    for (const bad of [0, -2, 2_147_483_648]) expect((await refused(setTtl(of(client, name), bad))).code).toBe(400);
    const policy = { indexingMode: "none" as const, automatic: false };
    const given = { id: name, partitionKey: { paths: ["/agent_id"] }, defaultTtl: 50 };
    const told = await refused(of(client, name).replace({ ...given, indexingPolicy: policy }));
    expect(told).toMatchObject({ code: 400 });
    expect(told.message).toContain("indexingPolicy");
    expect((await refused(of(client, name).replace({ ...given, partitionKey: { paths: ["/x"] } }))).code).toBe(400);
    expect((await of(client, name).read()).resource).toEqual(before);
    expect((await of(client, name).replace(given)).resource).toMatchObject({
      defaultTtl: 50,
      indexingPolicy: before?.indexingPolicy,
    });
  });

  it("R-AGT-51 aggregates count what the workspace's time to live leaves, and nothing that was purged under an earlier one", async () => {
    const { key } = await world.accountKey("w3", { role: "admin" });
    const admin = world.client(await world.accountKey("w3"));
    const at = new Date().toISOString();
    const line = (more: object) =>
      JSON.stringify({ agent_id: "a", metric_type: "latency", value: 1, timestamp: at, ...more });
    const sent = await world.server.call("POST", "/v1/metrics:ingest", {
      key,
      body: [line({}), line({}), line({ ttl: 5_000 })].join("\n"),
      headers: { "content-type": "application/x-ndjson" },
    });
    expect(sent.json["accepted"]).toBe(3);
    const counted = async () => {
      const body = {
        from: new Date(Date.parse(at) - 86_400_000).toISOString(),
        to: new Date(Date.parse(at) + 86_400_000).toISOString(),
        aggregates: ["count"],
      };
      const { json } = await world.server.call("POST", "/v1/metrics:aggregate", { key, body });
      return json["rows_aggregated"];
    };
    expect(await counted()).toBe(3);
    const metrics = of(admin, "agent-metrics");
    await setTtl(metrics, 100);
    world.server.later(200_000);
    expect(await counted()).toBe(1);
    await world.server.pinakes.items.purgeExpired(
      systemScope("test", () => {}),
      "agent-metrics",
    );
    await setTtl(metrics, 15_552_000);
    expect(await counted()).toBe(1);
  });
});
