/** Threads and entities over HTTP. */
import { beforeAll, describe, expect, it } from "vitest";
import { openTestServer, type CallOptions, type Json, type Reply } from "../http/support/server.ts";
import { forAllTests } from "../support/for-tests.ts";

let key: string;
let stranger: string;
const server = forAllTests(() => openTestServer());
beforeAll(async () => {
  key = await server.key("acme", "u1");
  stranger = await server.key("acme2", "u1");
});

const call = (method: string, path: string, options: CallOptions = {}): Promise<Reply> =>
  server.call(method, path, { key, ...options });
const items = ({ json }: Reply): readonly Json[] => json["items"] as readonly Json[];

describe.each(["/v1/threads", "/v1/system-threads"])("%s", (base) => {
  it("R-AGT-45 messages of any shape there and back, in order, in pages, again and away", async () => {
    const at = `${base}/t1/messages`;
    const sent = { id: "m1", role: "user", parts: [{ text: "hi" }], extra: null };
    const made = await call("POST", at, { body: sent });
    expect([made.status, made.json, made.headers.get("location")]).toEqual([
      201,
      { threadId: "t1", ...sent, sequence: 1, _etag: made.json["_etag"], _ts: made.json["_ts"] },
      `${at}/m1`,
    ]);
    expect((await call("GET", `${at}/m1`)).json).toEqual(made.json);
    expect(
      (await call("GET", `${at}/m1`, { headers: { "if-none-match": made.headers.get("etag") as string } })).status,
    ).toBe(304);
    expect((await call("POST", at, { body: sent })).json).toEqual(made.json);
    expect((await call("POST", at, { body: { ...sent, role: "other" } })).status).toBe(409);
    const several = await call("POST", at, { body: { messages: Array.from({ length: 20 }, (_, n) => ({ n })) } });
    expect([several.status, items(several).map(({ sequence }) => sequence)]).toEqual([
      201,
      Array.from({ length: 20 }, (_, i) => i + 2),
    ]);
    expect((await call("POST", at, { body: { messages: Array.from({ length: 21 }, (_, n) => ({ n })) } })).status).toBe(
      413,
    );
    const page = await call("GET", `${at}?limit=15&order=desc`);
    const next = await call("GET", `${at}?limit=15&order=desc&cursor=${page.json["next_cursor"] as string}`);
    expect([...items(page), ...items(next)].map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: 21 }, (_, i) => 21 - i),
    );
    expect((await call("GET", `${at}?cursor=x`)).status).toBe(400);
    expect((await call("POST", at, { body: { id: "~x" } })).status).toBe(400);
    expect((await call("POST", at, { body: { ttl: 0 } })).status).toBe(400);
    expect((await call("POST", at, { body: { workspace_id: "acme2" } })).status).toBe(403);
    expect((await call("DELETE", `${at}/m1`, { headers: { "if-match": '"stale"' } })).status).toBe(412);
    expect(
      (await call("DELETE", `${at}/m1`, { headers: { "if-match": made.headers.get("etag") as string } })).status,
    ).toBe(204);
    expect((await call("GET", `${at}/m1`)).status).toBe(404);
    expect(items(await server.call("GET", at, { key: stranger }))).toEqual([]);
    expect((await server.call("DELETE", at, { key: stranger })).json).toEqual({ deleted: 0 });
    expect((await call("DELETE", at)).json).toEqual({ deleted: 20 });
    expect(items(await call("GET", at))).toEqual([]);
    expect((await server.call("GET", at)).status).toBe(401);
  });
});

describe("/v1/agent-entities", () => {
  it("R-AGT-45 R-AGT-52 R-AGT-54 an entity of any shape with conditions", async () => {
    const at = "/v1/agent-entities/architect-001";
    expect((await call("GET", at)).status).toBe(404);
    expect((await call("PUT", at, { body: {}, headers: { "if-match": "*" } })).status).toBe(412);
    const made = await call("PUT", at, {
      body: { tools: [{ name: "search" }], limits: { day: 5 } },
      headers: { "if-none-match": "*" },
    });
    expect([made.status, made.json]).toEqual([
      200,
      {
        id: "architect-001",
        agentId: "architect-001",
        tools: [{ name: "search" }],
        limits: { day: 5 },
        _etag: made.json["_etag"],
        _ts: made.json["_ts"],
      },
    ]);
    const again = await call("PUT", at, { body: {}, headers: { "if-none-match": "*" } });
    expect([again.status, again.headers.get("etag")]).toEqual([412, made.headers.get("etag")]);
    const changed = await call("PUT", at, {
      body: { n: 1 },
      headers: { "if-match": made.headers.get("etag") as string },
    });
    expect([changed.status, changed.json["tools"]]).toEqual([200, undefined]);
    expect(
      (await call("PUT", at, { body: { n: 2 }, headers: { "if-match": made.headers.get("etag") as string } })).status,
    ).toBe(412);
    expect(
      (await call("GET", at, { headers: { "if-none-match": changed.headers.get("etag") as string } })).status,
    ).toBe(304);
    expect((await call("PUT", at, { body: { id: "other" } })).status).toBe(400);
    expect((await server.call("GET", at, { key: stranger })).status).toBe(404);
    expect((await server.call("DELETE", at, { key: stranger })).status).toBe(404);
    expect((await call("DELETE", at, { headers: { "if-match": '"stale"' } })).status).toBe(412);
    expect((await call("DELETE", at)).status).toBe(204);
    expect((await server.call("GET", at)).status).toBe(401);
  });
});
