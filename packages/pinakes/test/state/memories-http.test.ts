/** Memories over HTTP: the source's example, etags, pages, sessions, contexts, searches, and what is refused. */
import { beforeAll, describe, expect, it } from "vitest";
import { openTestServer, type CallOptions, type Json, type Reply } from "../http/support/server.ts";
import { memoryExample } from "./containers-examples.ts";
import { forAllTests } from "../support/for-tests.ts";

let key: string;
let stranger: string;
const server = forAllTests(() => openTestServer());
beforeAll(async () => {
  key = await server.key("ws-tenant-001", "u1");
  stranger = await server.key("ws-tenant-002", "u1");
});

const call = (method: string, path: string, options: CallOptions = {}): Promise<Reply> =>
  server.call(method, path, { key, ...options });
const post = (path: string, body: unknown, more: CallOptions = {}): Promise<Reply> =>
  call("POST", path, { body, ...more });
const said = (content: string, more: object = {}): Json => ({
  session_id: "s1",
  content,
  message_type: "user",
  ...more,
});
const items = ({ json }: Reply): readonly Json[] => json["items"] as readonly Json[];
const contents = (reply: Reply): unknown[] => items(reply).map(({ content }) => content);

const example = memoryExample;

describe("memories over HTTP", () => {
  it("R-AGT-26 R-AGT-54 the source's example goes there and back as it is, with its etag; unchanged is a 304", async () => {
    const made = await post("/v1/agents/architect-001/memories", example);
    const { _etag, _ts, ...document } = made.json;
    expect([made.status, JSON.stringify(document)]).toEqual([201, JSON.stringify(example)]);
    expect([made.headers.get("etag"), made.headers.get("location")]).toEqual([
      `"${_etag as string}"`,
      `/v1/agents/architect-001/memories/${example.id}`,
    ]);
    const at = made.headers.get("location") as string;
    const read = await call("GET", at);
    expect([read.status, read.json]).toEqual([200, { ...example, _etag, _ts }]);
    expect((await call("GET", at, { headers: { "if-none-match": `"${_etag as string}"` } })).status).toBe(304);
    expect((await post("/v1/agents/architect-001/memories", example)).status).toBe(409);
  });

  it("R-AGT-52 a change with If-Match: stale is a 412 with the current etag", async () => {
    const { json } = await post("/v1/agents/a1/memories", said("one"));
    const at = `/v1/agents/a1/memories/${json["id"] as string}`;
    const changed = await call("PATCH", at, {
      body: { relevance_score: 0.9 },
      headers: { "if-match": `"${json["_etag"] as string}"` },
    });
    expect([changed.status, changed.json["relevance_score"]]).toEqual([200, 0.9]);
    const stale = await call("PATCH", at, {
      body: { content: "lost" },
      headers: { "if-match": `"${json["_etag"] as string}"` },
    });
    expect([stale.status, stale.headers.get("etag")]).toEqual([412, changed.headers.get("etag")]);
    expect((await call("DELETE", at, { headers: { "if-match": `"${json["_etag"] as string}"` } })).status).toBe(412);
    expect((await call("DELETE", at, { headers: { "if-match": changed.headers.get("etag") as string } })).status).toBe(
      204,
    );
    expect((await call("GET", at)).status).toBe(404);
    expect((await call("PATCH", at, { body: {} })).status).toBe(404);
  });

  it.each([
    ["R-AGT-28", { relevance_score: 1.1 }, "relevance_score"],
    ["R-AGT-27", { message_type: "shout" }, "tool_result"],
    ["R-AGT-28", { token_count: -1 }, "token_count"],
    ["R-AGT-07", { timestamp: "soon" }, "timestamp"],
    ["R-AGT-29", { parent_message_id: "nobody" }, "parent_message_id"],
    ["R-AGT-48", { ttl: 0 }, "ttl"],
    ["R-AGT-48", { ttl: null }, "ttl"],
    ["R-AGT-48", { ttl: -2 }, "ttl"],
    ["R-AGT-48", { ttl: 2 ** 31 }, "ttl"],
    ["R-AGT-48", { ttl: 1.5 }, "ttl"],
    ["R-AGT-06", { agent_id: "other" }, "agent_id"],
    ["R-AGT-33", { ttl_unit: "day" }, "ttl_unit"],
  ])("%s a message with %j is a 400 that names it", async (_, more, named) => {
    const reply = await post("/v1/agents/bad/memories", said("x", more));
    expect([reply.status, reply.text.includes(named)]).toEqual([400, true]);
    expect(items(await call("GET", "/v1/agents/bad/memories"))).toEqual([]);
  });

  it("several at once, in order, repeated under one key, and read in pages", async () => {
    const body = {
      messages: Array.from({ length: 20 }, (_, i) =>
        said(`${i}`, { relevance_score: i / 20, message_type: i % 2 === 0 ? "user" : "assistant" }),
      ),
    };
    const headers = { "idempotency-key": "batch-1" };
    const made = await post("/v1/agents/many/memories", body, { headers });
    expect([made.status, contents(made)]).toEqual([201, Array.from({ length: 20 }, (_, i) => `${i}`)]);
    expect((await post("/v1/agents/many/memories", body, { headers })).json).toEqual(made.json);
    expect(
      (await post("/v1/agents/many/memories", { messages: Array.from({ length: 21 }, () => said("x")) })).status,
    ).toBe(413);
    const units = await post("/v1/agents/unit/memories?ttl_unit=session", {
      items: [said("a", { ttl: 60 }), said("b")],
    });
    expect([units.status, items(units).map(({ ttl_unit }) => ttl_unit)]).toEqual([201, ["session", "session"]]);
    const first = await call("GET", "/v1/agents/many/sessions/s1/messages?limit=15");
    const rest = await call(
      "GET",
      `/v1/agents/many/sessions/s1/messages?limit=15&cursor=${first.json["next_cursor"] as string}`,
    );
    expect([...contents(first), ...contents(rest)]).toEqual(Array.from({ length: 20 }, (_, i) => `${i}`));
    expect(contents(await call("GET", "/v1/agents/many/memories?sort=relevance&limit=2"))).toEqual(["19", "18"]);
    expect(
      contents(await call("GET", "/v1/agents/many/memories?session_id=s1&message_type=assistant&limit=3&order=desc")),
    ).toEqual(["19", "17", "15"]);
    expect((await call("GET", "/v1/agents/many/memories?sort=size")).status).toBe(400);
    expect((await call("GET", "/v1/agents/many/memories?limit=1001")).status).toBe(400);
    expect((await call("GET", "/v1/agents/many/memories?cursor=x")).status).toBe(400);
  });

  it("R-AGT-29 threads of messages; dangling only when asked for", async () => {
    const root = await post("/v1/agents/tree/memories", said("root"));
    const id = root.json["id"] as string;
    await post("/v1/agents/tree/memories", said("answer", { parent_message_id: id }));
    const thread = await call("GET", `/v1/agents/tree/memories/${id}/thread`);
    expect([
      thread.json["ancestors"],
      (thread.json["message"] as Json)["content"],
      (thread.json["children"] as Json[]).map(({ content }) => content),
    ]).toEqual([[], "root", ["answer"]]);
    expect(
      (await post("/v1/agents/tree/memories?allow_dangling=true", said("x", { parent_message_id: "nobody" }))).status,
    ).toBe(201);
  });

  it("R-AGT-32 R-AGT-33 sessions: listed, summed, as a context, forked, ended as a unit, deleted", async () => {
    await post("/v1/agents/talk/memories", {
      messages: Array.from({ length: 6 }, (_, i) => said(`${i}`, { id: `t${i}`, token_count: 10 })),
    });
    const context = await call("GET", "/v1/agents/talk/sessions/s1/context?max_tokens=25");
    expect([
      (context.json["messages"] as Json[]).map(({ content }) => content),
      context.json["token_count"],
      context.json["omitted"],
    ]).toEqual([["4", "5"], 20, 4]);
    expect((await call("GET", "/v1/agents/talk/sessions/s1/context?max_tokens=25&strategy=relevance")).status).toBe(
      200,
    );
    for (const query of ["", "?max_tokens=0", "?max_tokens=x", "?max_tokens=5&strategy=best"])
      expect((await call("GET", `/v1/agents/talk/sessions/s1/context${query}`)).status).toBe(400);
    const fork = await post("/v1/agents/talk/sessions/s1:fork", { session_id: "s2", up_to: "t2" });
    expect([fork.status, fork.json["message_count"], fork.json["forked_from"], fork.headers.get("location")]).toEqual([
      201,
      3,
      "s1",
      "/v1/agents/talk/sessions/s2",
    ]);
    expect((await post("/v1/agents/talk/sessions/s1:fork", { session_id: "s2", up_to: "t3" })).status).toBe(409);
    await post("/v1/agents/talk/memories", said("unit", { session_id: "u", ttl: 60, ttl_unit: "session" }));
    const sessions = await call("GET", "/v1/agents/talk/sessions");
    expect(
      items(sessions).map(({ session_id, ttl_unit, message_count }) => [session_id, ttl_unit, message_count]),
    ).toEqual([
      ["s1", "message", 6],
      ["s2", "message", 3],
      ["u", "session", 1],
    ]);
    expect((await call("GET", "/v1/agents/talk/sessions/s1")).json).toMatchObject({
      token_count: 60,
      message_count: 6,
    });
    server.later(60_000);
    expect((await call("GET", "/v1/agents/talk/sessions/u")).status).toBe(404);
    expect(items(await call("GET", "/v1/agents/talk/sessions/u/messages"))).toEqual([]);
    expect((await call("DELETE", "/v1/agents/talk/sessions/s1")).json).toEqual({ deleted: 6 });
    expect((await call("DELETE", "/v1/agents/talk/sessions/s1")).json).toEqual({ deleted: 0 });
  });

  it("a search by words; a key that only reads may ask", async () => {
    await post("/v1/agents/find/memories", said("the quick brown otter"));
    const reader = await server.key("ws-tenant-001", "u2", { scopes: ["read"] });
    const found = await server.call("POST", "/v1/memories:search", {
      key: reader,
      body: { query: "otter", mode: "keyword", agent_id: "find" },
    });
    expect([
      found.status,
      (found.json["hits"] as Json[]).map(({ memory }) => (memory as Json)["content"]),
      found.json["mode_used"],
    ]).toEqual([200, ["the quick brown otter"], "keyword"]);
    expect((await post("/v1/memories:search", { query: "" })).status).toBe(400);
    expect((await server.call("POST", "/v1/agents/find/memories", { key: reader, body: said("x") })).status).toBe(403);
  });

  it("R-AGT-09 another workspace sees nothing of it, and cannot tell it from what never was", async () => {
    const made = await post("/v1/agents/mine/memories", said("secret otter", { id: "mine-1" }));
    expect(made.status).toBe(201);
    const theirs = (method: string, path: string, body?: unknown) =>
      server.call(method, path, { key: stranger, ...(body === undefined ? {} : { body }) });
    for (const [method, path, body] of [
      ["GET", "/v1/agents/mine/memories/ID"],
      ["PATCH", "/v1/agents/mine/memories/ID", { content: "x" }],
      ["DELETE", "/v1/agents/mine/memories/ID"],
      ["GET", "/v1/agents/mine/memories/ID/thread"],
    ] as const) {
      const [real, none] = [
        await theirs(method, path.replace("ID", "mine-1"), body),
        await theirs(method, path.replace("ID", "none-1"), body),
      ];
      expect([method, path, real.status, real.json["detail"]]).toEqual([
        method,
        path,
        404,
        (none.json["detail"] as string).replace("none-1", "mine-1"),
      ]);
    }
    expect((await theirs("GET", "/v1/agents/mine/sessions/s1")).status).toBe(404);
    expect((await theirs("POST", "/v1/agents/mine/sessions/s1:fork", { session_id: "s2" })).status).toBe(404);
    for (const path of ["memories", "sessions", "sessions/s1/messages"])
      expect(items(await theirs("GET", `/v1/agents/mine/${path}`))).toEqual([]);
    expect((await theirs("GET", "/v1/agents/mine/sessions/s1/context?max_tokens=100")).json).toEqual({
      messages: [],
      token_count: 0,
      omitted: 0,
    });
    expect((await theirs("POST", "/v1/memories:search", { query: "secret", mode: "keyword" })).json["hits"]).toEqual(
      [],
    );
    expect((await theirs("DELETE", "/v1/agents/mine/sessions/s1")).json).toEqual({ deleted: 0 });
    expect(
      (await theirs("POST", "/v1/agents/mine/memories", said("x", { workspace_id: "ws-tenant-001" }))).status,
    ).toBe(403);
    expect((await call("GET", "/v1/agents/mine/memories/mine-1")).status).toBe(200);
    expect((await server.call("GET", "/v1/agents/mine/memories")).status).toBe(401);
  });
});
