/** A client's own writes in its next query, on an engine whose indexes are late. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startLagProxy, type LagProxy } from "../../src/drivers/dynamodb/lag-proxy.ts";
import { openTestServer, rootToken, type TestServer } from "../http/support/server.ts";

let proxy: LagProxy;
let server: TestServer;
beforeAll(async () => {
  vi.stubEnv("AWS_ACCESS_KEY_ID", "test");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "test");
  proxy = await startLagProxy({ lagMs: 0 });
  server = await openTestServer("memory", {
    items: `dynamodb://local/container-sessions?endpoint=${proxy.endpoint}`,
    objects: "memory:",
    background: false,
  });
});
afterAll(async () => {
  proxy.lag(0);
  await server[Symbol.asyncDispose]();
  await proxy.stop();
  vi.unstubAllEnvs();
});

const never = 3_600_000;

describe("X-Session-Token and containers", () => {
  it.each([
    ["in SQL", { query: "SELECT VALUE c.id FROM c" }],
    ["by an index", { index: "all", equals: {} }],
  ])(
    "R-AGT-02 a query %s that carries the token of a write shows it; without, it may be late; of another container it means nothing",
    async (how, query) => {
      const key = rootToken;
      const name = how === "in SQL" ? "sql" : "index";
      const at = `/v1/containers/${name}`;
      expect((await server.call("PUT", at, { key, body: { partition_key: "/p" } })).status).toBe(200);
      proxy.lag(never);
      const made = await server.call("POST", `${at}/items`, { key, body: { id: "fresh", p: "a" } });
      expect(made.status).toBe(201);
      const token = made.headers.get("x-session-token") as string;
      expect(token).toMatch(/own-[0-9a-f]{40}~\S+/);
      expect((await server.call("POST", `${at}/query`, { key, body: query })).json["items"]).toEqual([]);
      const waiting = server.call("POST", `${at}/query`, { key, body: query, headers: { "x-session-token": token } });
      proxy.lag(0);
      expect((await waiting).json["items"]).toHaveLength(1);
      const container = token
        .split(" ")
        .findLast((part) => part.startsWith("own-"))
        ?.split("~")[0] as string;
      const bad = await server.call("POST", `${at}/query`, {
        key,
        body: query,
        headers: { "x-session-token": `${container}~nonsense` },
      });
      expect(bad.status).toBe(400);
      const elsewhere = await server.call("POST", "/v1/containers/agent-entity-store/query", {
        key,
        body: query,
        headers: { "x-session-token": token },
      });
      expect(elsewhere.json["items"]).toEqual([]);
    },
  );
});
