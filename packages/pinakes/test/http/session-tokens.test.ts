/** A client's own writes in its next list, on an engine whose indexes are late. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startLagProxy, type LagProxy } from "../../src/drivers/dynamodb/lag-proxy.ts";
import { openTestServer, rootToken, type TestServer } from "./support/server.ts";

let proxy: LagProxy;
let server: TestServer;
beforeAll(async () => {
  vi.stubEnv("AWS_ACCESS_KEY_ID", "test");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "test");
  proxy = await startLagProxy({ lagMs: 0 });
  // Nothing but the requests below: the lag would hold up background work, too.
  server = await openTestServer("memory", {
    items: `dynamodb://local/sessions?endpoint=${proxy.endpoint}`,
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
const ids = (items: unknown) => (items as { collection_id: string }[]).map(({ collection_id }) => collection_id);

describe("X-Session-Token", () => {
  it("comes back from writes, and a list that carries it waits until it shows them; without it the list may be late", async () => {
    const key = rootToken;
    await server.call("POST", "/v1/repositories", { key, body: { repository_id: "kb" } });
    proxy.lag(never);
    const made = await server.call("POST", "/v1/repositories/kb/collections", {
      key,
      body: { collection_id: "fresh", name: "Fresh" },
    });
    expect(made.status).toBe(201);
    const token = made.headers.get("x-session-token") as string;
    expect(token).toMatch(/^collections~\S+/);
    const late = await server.call("GET", "/v1/repositories/kb/collections", { key });
    expect(ids(late.json["items"])).not.toContain("fresh");
    const waiting = server.call("GET", "/v1/repositories/kb/collections", {
      key,
      headers: { "x-session-token": token },
    });
    proxy.lag(0);
    const seen = await waiting;
    expect(ids(seen.json["items"])).toContain("fresh");
    expect(seen.headers.has("x-session-token")).toBe(false);
  });

  it("one that is not ours is refused", async () => {
    for (const token of ["nonsense", "collections~nonsense", "x".repeat(9_000)]) {
      const { status, json } = await server.call("GET", "/v1/collections", {
        key: rootToken,
        headers: { "x-session-token": token },
      });
      expect([token.slice(0, 20), status]).toEqual([token.slice(0, 20), 400]);
      expect(json["code"]).toBe("INVALID");
    }
  });

  it("R-AGT-09 of agents' state comes back from writes, shows them in lists, and is refused in another workspace", async () => {
    const [ann, eve] = [await server.key("w1", "ann"), await server.key("w2", "ann")];
    const body = { session_id: "s", content: "quokka", message_type: "user" };
    const made = await server.call("POST", "/v1/agents/a/memories", { key: ann, body });
    const token = made.headers.get("x-session-token") as string;
    expect([made.status, token.startsWith("agent-memories~")]).toEqual([201, true]);
    const headers = { "x-session-token": token };
    for (const path of ["/v1/agents/a/memories", "/v1/agents/a/sessions/s/messages"]) {
      expect((await server.call("GET", path, { key: ann, headers })).text, path).toContain("quokka");
      const { status, text } = await server.call("GET", path, { key: eve, headers });
      expect([status, text.includes("quokka")], path).toEqual([400, false]);
    }
    const query = { query: "SELECT * FROM c" };
    expect(
      (await server.call("POST", "/v1/containers/agent-memories/query", { key: ann, headers, body: query })).text,
    ).toContain("quokka");
    expect(
      (await server.call("POST", "/v1/containers/agent-memories/query", { key: eve, headers, body: query })).status,
    ).toBe(400);
  });

  it("is not there on engines whose indexes are never late", async () => {
    await using strong = await openTestServer();
    const { headers } = await strong.call("POST", "/v1/repositories", {
      key: rootToken,
      body: { repository_id: "kb" },
    });
    expect(headers.has("x-session-token")).toBe(false);
  });
});
