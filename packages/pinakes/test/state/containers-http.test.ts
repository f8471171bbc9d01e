/** Containers over HTTP: what a client sends and gets, on a whole server. */
import { beforeAll, describe, expect, it } from "vitest";
import { openTestServer, type Json } from "../http/support/server.ts";
import { forAllTests } from "../support/for-tests.ts";

let key: string;
let adminKey: string;
let strangerKey: string;
const server = forAllTests(() => openTestServer("sqlite"));
beforeAll(async () => {
  [key, adminKey, strangerKey] = await Promise.all([
    server.key("ws-tenant-001", "ann"),
    server.key("ws-tenant-001", "root", { role: "admin" }),
    server.key("ws-other", "eve", { role: "admin" }),
  ]);
});

const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>, as = key) =>
  server.call(method, `/v1/containers${path}`, {
    key: as,
    ...(body === undefined ? {} : { body }),
    ...(headers === undefined ? {} : { headers }),
  });
const problem = (status: number, code: string, detail: RegExp) =>
  expect.objectContaining({ status, code, detail: expect.stringMatching(detail) as string }) as Json;

let made = 0;
async function fresh(spec: object = {}): Promise<string> {
  const name = `h${(made += 1)}`;
  const answer = await call("PUT", `/${name}`, { partition_key: "/p", ...spec });
  expect([answer.status, answer.json["detail"]]).toEqual([200, undefined]);
  return `/${name}`;
}

describe("containers over HTTP", () => {
  it("R-AGT-01 the database and all its containers are there after one start; declaring one again changes nothing", async () => {
    expect(server.pinakes.info().database).toBe("pinakes");
    const { json } = await call("GET", "");
    const names = (json["items"] as Json[]).map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(["workflow-states", "agent-memories", "agent-metrics", "tool-invocations"]),
    );
    const at = await fresh({ default_ttl: 5 });
    const first = await call("GET", at);
    const again = await call("PUT", at, { partition_key: ["/p"], default_ttl: 5 });
    expect([again.status, again.json]).toEqual([200, first.json]);
    expect((await call("GET", at, undefined, { "if-none-match": first.headers.get("etag") as string })).status).toBe(
      304,
    );
    expect((await call("PUT", at, { partition_key: "/p", default_ttl: 6 })).json).toEqual(
      problem(403, "FORBIDDEN", /admin/),
    );
    expect((await call("PUT", at, { partition_key: "/q", default_ttl: 5 }, {}, adminKey)).json).toEqual(
      problem(409, "CONFLICT", /partition_key/),
    );
    expect(
      (await call("PUT", at, { partition_key: "/p", default_ttl: 6 }, { "if-match": '"old"' }, adminKey)).status,
    ).toBe(412);
    expect(
      (
        await call(
          "PUT",
          at,
          { partition_key: "/p", default_ttl: 6 },
          { "if-match": first.headers.get("etag") as string },
          adminKey,
        )
      ).status,
    ).toBe(200);
    const asNew = { "if-none-match": "*" };
    const before = (await call("GET", at)).json;
    expect((await call("PUT", at, { partition_key: "/p", default_ttl: 7 }, asNew, adminKey)).json).toEqual(
      problem(412, "PRECONDITION_FAILED", /already/),
    );
    expect(
      (await call("PUT", at, { partition_key: "/p", default_ttl: 7 }, { "if-none-match": '"other"' }, adminKey)).json,
    ).toEqual(problem(400, "INVALID", /only \*/));
    expect((await call("GET", at)).json).toEqual(before);
    expect((await call("PUT", `${at}-new`, { partition_key: "/p" }, asNew)).status).toBe(200);
    expect((await call("PUT", at, { partition_key: "/p", nonsense: 1 })).json).toEqual(
      problem(400, "INVALID", /nonsense/),
    );
    expect((await call("PUT", "/workflow-states", { partition_key: "/p" }, {}, adminKey)).status).toBe(409);
    expect((await call("GET", `${at}/indexes`)).json).toEqual({
      items: [{ name: "all", partition: [], sort: ["id"], state: "ready", progress: 1 }],
    });
    expect((await call("DELETE", at)).status).toBe(403);
    expect((await call("DELETE", at, undefined, {}, adminKey)).status).toBe(204);
    expect((await call("GET", at)).status).toBe(404);
    expect((await call("DELETE", "/agent-metrics", undefined, {}, adminKey)).status).toBe(409);
  });

  it("R-AGT-05 R-AGT-54 create, read, 304, create-only, upsert, replace, patch, delete", async () => {
    const at = await fresh();
    const created = await call("POST", `${at}/items`, { p: "a", n: 1 });
    const id = created.json["id"] as string;
    expect([created.status, created.headers.get("location")]).toEqual([201, `/v1/containers${at}/items/${id}`]);
    expect(created.headers.get("etag")).toBe(`"${created.json["_etag"] as string}"`);
    const read = await call("GET", `${at}/items/${id}?pk=a`);
    expect(read.json).toEqual(created.json);
    const known = { "if-none-match": read.headers.get("etag") as string };
    expect((await call("GET", `${at}/items/${id}?pk=a`, undefined, known)).status).toBe(304);
    expect((await call("POST", `${at}/items`, { id, p: "a" })).json).toEqual(problem(409, "CONFLICT", new RegExp(id)));
    expect((await call("POST", `${at}/items?upsert=true`, { id, p: "a", n: 2 }, { "if-none-match": "*" })).status).toBe(
      412,
    );
    expect(
      (await call("POST", `${at}/items?upsert=true`, { id, p: "a", n: 2 }, { "if-match": '"stale"' })).status,
    ).toBe(412);
    const upserted = await call(
      "POST",
      `${at}/items?upsert=true`,
      { id, p: "a", n: 2 },
      { "if-match": read.headers.get("etag") as string },
    );
    expect([upserted.status, upserted.json["n"]]).toEqual([200, 2]);
    expect((await call("POST", `${at}/items?upsert=true`, { id: "none", p: "a" }, { "if-match": "*" })).status).toBe(
      404,
    );
    expect((await call("POST", `${at}/items`, { p: "a" }, { "if-match": '"x"' })).status).toBe(400);
    expect((await call("PUT", `${at}/items/made`, { p: "a" }, { "if-none-match": "*" })).status).toBe(201);
    expect((await call("PUT", `${at}/items/made`, { p: "a" }, { "if-none-match": "*" })).status).toBe(412);
    expect((await call("PUT", `${at}/items/made`, { p: "a" }, { "if-none-match": '"x"' })).status).toBe(400);
    expect((await call("PUT", `${at}/items/none`, { p: "a" })).status).toBe(404);
    const stale = await call(
      "PUT",
      `${at}/items/${id}?pk=a`,
      { p: "a", n: 3 },
      { "if-match": created.headers.get("etag") as string },
    );
    expect([stale.status, stale.headers.get("etag"), stale.json["current_etag"]]).toEqual([
      412,
      upserted.headers.get("etag"),
      upserted.json["_etag"],
    ]);
    expect((await call("PUT", `${at}/items/${id}`, { id: "other", p: "a" })).json).toEqual(
      problem(400, "INVALID", /id/),
    );
    expect((await call("PUT", `${at}/items/${id}?pk=b`, { p: "a" })).json).toEqual(
      problem(400, "INVALID", /partition key/),
    );
    expect((await call("PUT", `${at}/items/${id}?pk=a`, { p: "a", n: 3 })).json["n"]).toBe(3);
    const patch = { operations: [{ op: "incr", path: "/n", value: 1 }], condition: "from c where c.n = 3" };
    expect((await call("PATCH", `${at}/items/${id}?pk=a`, patch)).json["n"]).toBe(4);
    expect((await call("PATCH", `${at}/items/${id}?pk=a`, patch)).status).toBe(412);
    expect((await call("DELETE", `${at}/items/${id}?pk=a`, undefined, { "if-match": '"stale"' })).status).toBe(412);
    expect((await call("DELETE", `${at}/items/${id}?pk=a`)).status).toBe(204);
    expect((await call("GET", `${at}/items/${id}?pk=a`)).status).toBe(404);
    expect((await call("GET", `${at}/items/${id}`)).json).toEqual(problem(400, "INVALID", /pk/));
  });

  it("a repeated create with one Idempotency-Key makes one document", async () => {
    const at = await fresh();
    const headers = { "idempotency-key": "k1" };
    const [first, second] = [
      await call("POST", `${at}/items`, { p: "a" }, headers),
      await call("POST", `${at}/items`, { p: "a" }, headers),
    ];
    expect(second.json).toEqual(first.json);
    expect((await call("POST", `${at}/query`, { query: "SELECT VALUE COUNT(1) FROM c" })).json["items"]).toEqual([1]);
  });

  it("partition keys in addresses: texts as they are, everything else in a JSON list", async () => {
    const at = await fresh();
    for (const [p, pk] of [
      ["5", "5"],
      [5, "[5]"],
      [true, "[true]"],
      ["true", "true"],
      ["[x", '["[x"]'],
      ["a/b c?&ü", "a/b c?&ü"],
      ["", ""],
    ] as const) {
      const id = `id ${String(p).length}~:ü`;
      const sent = await call("POST", `${at}/items`, { id, p });
      expect(sent.status).toBe(201);
      const found = await call("GET", `${at}/items/${encodeURIComponent(id)}?pk=${encodeURIComponent(pk)}`);
      expect([found.status, found.json["p"]]).toEqual([200, p]);
    }
    expect((await call("GET", `${at}/items/x?pk=${encodeURIComponent("[x")}`)).json).toEqual(
      problem(400, "INVALID", /JSON list/),
    );
    expect((await call("GET", `${at}/items/x?pk=${encodeURIComponent("[null]")}`)).status).toBe(400);
    expect((await call("GET", `${at}/items/x?pk=${encodeURIComponent('["a","b"]')}`)).json).toEqual(
      problem(400, "INVALID", /partitioned by \/p/),
    );
    const pair = await fresh({ partition_key: ["/a", "/b"] });
    await call("POST", `${pair}/items`, { id: "x", a: "k", b: 2 });
    expect((await call("GET", `${pair}/items/x?pk=${encodeURIComponent('["k",2]')}`)).status).toBe(200);
    expect((await call("GET", `${pair}/items/x?pk=k`)).status).toBe(400);
    expect(
      (
        await call("POST", `${pair}/items:readMany`, {
          keys: [
            { pk: ["k", 2], id: "x" },
            { pk: ["k", 3], id: "x" },
          ],
        })
      ).json["items"],
    ).toMatchObject([{ id: "x" }, null]);
    expect((await call("DELETE", `${pair}/partitions/${encodeURIComponent('["k",2]')}`)).json).toEqual({ deleted: 1 });
    expect((await call("DELETE", `${at}/partitions/${encodeURIComponent("a/b c?&ü")}`)).json).toEqual({ deleted: 1 });
  });

  it("R-AGT-55 a batch answers each operation, or the failing one's status and 424 for the others", async () => {
    const at = await fresh();
    const operations = [
      { op: "create", document: { id: "a", p: "x" } },
      { op: "read", id: "a" },
      { op: "delete", id: "a" },
    ];
    const good = await call("POST", `${at}/batch`, { pk: "x", operations });
    expect((good.json["results"] as Json[]).map(({ status }) => status)).toEqual([201, 200, 204]);
    const bad = await call("POST", `${at}/batch`, {
      pk: "x",
      operations: [operations[0], { op: "replace", document: { id: "none", p: "x" } }, operations[2]],
    });
    expect([bad.status, bad.json["batch"]]).toEqual([404, { index: 1, statuses: [424, 404, 424] }]);
    const many = (n: number) =>
      Array.from({ length: n }, (_, i) => ({ op: "upsert", document: { id: `i${i}`, p: "x" } }));
    expect((await call("POST", `${at}/batch`, { pk: "x", operations: many(100) })).status).toBe(200);
    expect((await call("POST", `${at}/batch`, { pk: "x", operations: many(101) })).json).toEqual(
      problem(413, "LIMIT_EXCEEDED", /at most 100/),
    );
    expect((await call("POST", `${at}/batch`, { operations: many(1) })).status).toBe(400);
  });

  it("bulk as NDJSON and as JSON: lines as in an editor; a broken line stops everything before it begins", async () => {
    const at = await fresh();
    const ndjson = { "content-type": "application/x-ndjson" };
    const line = (i: number) => JSON.stringify({ op: "create", document: { id: `i${i}`, p: `p${i % 2}` } });
    const sent = await call(
      "POST",
      `${at}/bulk`,
      `${line(0)}\n\n${line(1)}\r\n${line(0)}\n{"op":"delete","pk":"p1","id":"i1"}`,
      ndjson,
    );
    expect(sent.json).toMatchObject({ succeeded: 3, failed: 1 });
    expect((sent.json["lines"] as Json[]).map((entry) => [entry["line"], entry["status"]])).toEqual([
      [1, 201],
      [3, 201],
      [4, 409],
      [5, 204],
    ]);
    const lines = Array.from({ length: 10 }, (_, i) => line(100 + i));
    lines[6] = '{"op": "create", "document": {';
    expect((await call("POST", `${at}/bulk`, lines.join("\n"), ndjson)).json).toEqual(
      problem(400, "INVALID", /^Line 7: .*not valid JSON.*Nothing was written/),
    );
    lines[6] = "[1]";
    expect((await call("POST", `${at}/bulk`, lines.join("\n"), ndjson)).json).toEqual(
      problem(400, "INVALID", /^Line 7: /),
    );
    expect((await call("POST", `${at}/query`, { query: "SELECT VALUE COUNT(1) FROM c" })).json["items"]).toEqual([1]);
    const operations = Array.from({ length: 10_001 }, (_, i) => ({ op: "upsert", document: { id: `i${i}`, p: "x" } }));
    expect((await call("POST", `${at}/bulk`, { operations })).json).toEqual(
      problem(413, "LIMIT_EXCEEDED", /at most 10000/),
    );
    expect((await call("POST", `${at}/bulk`, { operations: operations.slice(0, 3) })).json).toMatchObject({
      succeeded: 3,
    });
    expect((await call("POST", `${at}/bulk`, "x", { "content-type": "text/csv" })).status).toBe(415);
    expect((await call("POST", `${at}/bulk`, "", ndjson)).json).toEqual({ succeeded: 0, failed: 0, lines: [] });
  });

  it("R-AGT-57 R-AGT-59 R-AGT-60 queries in SQL and by index, cursors, explain, and X-Index-Advice", async () => {
    const at = await fresh({
      indexing_policy: { includedPaths: [{ path: "/n/?" }], excludedPaths: [{ path: "/text/?" }] },
    });
    await call("POST", `${at}/bulk`, {
      operations: Array.from({ length: 20 }, (_, i) => ({
        op: "create",
        document: { id: `i${i}`, p: "a", n: i, text: `t${i % 3}` },
      })),
    });
    const body = {
      query: "SELECT * FROM c WHERE c.workspace_id = @workspace_id",
      parameters: [{ name: "@workspace_id", value: "ws-tenant-001" }],
      limit: 12,
    };
    const page = await call("POST", `${at}/query`, body);
    expect(page.json["items"]).toHaveLength(12);
    const rest = await call("POST", `${at}/query`, { ...body, cursor: page.json["next_cursor"] });
    expect([rest.json["items"], rest.json["next_cursor"]]).toEqual([expect.objectContaining({ length: 8 }), null]);
    expect(
      (await call("POST", `${at}/query`, { ...body, cursor: `${page.json["next_cursor"] as string}x` })).status,
    ).toBe(400);
    expect(
      (await call("POST", `${at}/query`, { ...body, cursor: page.json["next_cursor"] }, {}, strangerKey)).status,
    ).toBe(404);
    expect(
      (await call("POST", `${at}/query`, { index: "by_n", equals: {}, range: { gte: 18 }, cursor: null })).json[
        "items"
      ],
    ).toMatchObject([{ n: 18 }, { n: 19 }]);
    const slow = await call("POST", `${at}/query`, { query: "SELECT VALUE c.id FROM c WHERE c.text = 't1'" });
    expect([slow.status, slow.headers.get("x-index-advice")]).toEqual([200, expect.stringContaining("/text")]);
    const plan = await call("POST", `${at}/query:explain`, { query: "SELECT * FROM c ORDER BY c.n DESC, c.text" });
    expect(plan.json).toMatchObject({ order_served: false });
    expect(plan.headers.get("x-index-advice")).toContain("composite");
    expect(
      (await call("POST", `${at}/query`, { query: "SELECT * FROM c WHERE c.text = 't1'", strict: true })).json,
    ).toEqual(problem(400, "INVALID", /excludes/));
    expect(
      (await call("POST", `${at}/query`, { query: "SELECT * FROM c ORDER BY c.n, c.text", strict: true })).json,
    ).toEqual(problem(400, "INVALID", /index/));
    expect((await call("POST", `${at}/query`, { query: "SELECT * FROM c WHERE ST_WITHIN(c.a, c.b)" })).json).toEqual(
      problem(400, "INVALID", /ST_WITHIN/),
    );
    expect((await call("POST", `${at}/query`, {})).status).toBe(400);
    expect((await call("POST", `${at}/query`, { query: "SELECT * FROM c", nonsense: 1 })).status).toBe(400);
    const reader = await server.key("ws-tenant-001", "reader", { scopes: ["read"] });
    expect((await call("POST", `${at}/query`, { query: "SELECT * FROM c" }, {}, reader)).status).toBe(200);
    expect((await call("POST", `${at}/items`, { p: "a" }, {}, reader)).status).toBe(403);
  });

  it("changes: pages and a stream that goes on after Last-Event-ID", async () => {
    const at = await fresh();
    await call("POST", `${at}/items`, { id: "a", p: "x" });
    const first = await call("GET", `${at}/changes?mode=all&limit=10`);
    expect(first.json).toMatchObject({ items: [{ kind: "put", id: "a", pk: ["x"] }], more: false });
    await call("DELETE", `${at}/items/a?pk=x`);
    const cursor = first.json["cursor"] as string;
    expect((await call("GET", `${at}/changes?mode=all&cursor=${cursor}`)).json["items"]).toMatchObject([
      { kind: "delete", id: "a" },
    ]);
    expect((await call("GET", `${at}/changes?cursor=nonsense`)).status).toBe(400);
    expect((await call("GET", `${at}/changes?mode=some`)).status).toBe(400);
    const events = { accept: "text/event-stream" };
    expect((await call("GET", `${at}/changes`, undefined, { ...events, "last-event-id": "nonsense" })).status).toBe(
      400,
    );
    expect((await call("GET", "/unknown/changes", undefined, events)).status).toBe(404);
    const stop = new AbortController();
    const response = await server.raw("GET", `/v1/containers${at}/changes?mode=all`, {
      key,
      headers: { ...events, "last-event-id": cursor },
      signal: stop.signal,
    });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let text = "";
    const until = async (wanted: string): Promise<void> => {
      while (!text.includes(wanted)) {
        const { done, value } = await reader.read();
        if (done) throw new Error(`ended without ${wanted}: ${text}`);
        text += Buffer.from(value).toString("utf8");
      }
    };
    await until("event: delete");
    expect(text).not.toContain('"kind":"put"');
    await call("POST", `${at}/items`, { id: "later", p: "x" });
    await until('"id":"later"');
    await reader.cancel();
    stop.abort();
    expect(text).toMatch(/id: \S+\nevent: put/);
    expect((await call("GET", "/agent-metrics/changes")).json).toEqual(problem(501, "NOT_SUPPORTED", /no change feed/));
  });

  it("a stream ends with the key that opened it", async () => {
    const at = await fresh();
    const guest = await server.call("POST", "/v1/keys", {
      key: "root-token-of-these-tests-0123456789",
      body: { workspace_id: "ws-tenant-001", user_id: "guest" },
    });
    const response = await server.raw("GET", `/v1/containers${at}/changes`, {
      key: guest.json["key"] as string,
      headers: { accept: "text/event-stream" },
    });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    expect(
      (
        await server.call("DELETE", `/v1/keys/${guest.json["key_id"] as string}`, {
          key: "root-token-of-these-tests-0123456789",
        })
      ).status,
    ).toBe(204);
    await call("POST", `${at}/items`, { id: "secret", p: "x" });
    let text = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      text += Buffer.from(value).toString("utf8");
    }
    expect(text).toContain("event: problem");
    expect(text).not.toContain("secret");
  });

  it("R-AGT-09 another workspace gets the same answers for what is there as for what never was", async () => {
    const at = await fresh();
    await call("POST", `${at}/items`, { id: "s", p: "a" });
    const paths: readonly (readonly [string, string, unknown?])[] = [
      ["GET", ""],
      ["DELETE", ""],
      ["GET", "/indexes"],
      ["POST", "/items", { p: "a" }],
      ["GET", "/items/s?pk=a"],
      ["PUT", "/items/s", { p: "a" }],
      ["PATCH", "/items/s?pk=a", { operations: [{ op: "set", path: "/x", value: 1 }] }],
      ["DELETE", "/items/s?pk=a"],
      ["POST", "/items:readMany", { keys: [{ pk: "a", id: "s" }] }],
      ["POST", "/batch", { pk: "a", operations: [{ op: "read", id: "s" }] }],
      ["POST", "/bulk", { operations: [{ op: "delete", pk: "a", id: "s" }] }],
      ["POST", "/query", { query: "SELECT * FROM c" }],
      ["POST", "/query:explain", { query: "SELECT * FROM c" }],
      ["GET", "/changes"],
      ["DELETE", "/partitions/a"],
    ];
    for (const [method, rest, body] of paths) {
      const real = await call(method, `${at}${rest}`, body, {}, strangerKey);
      const absent = await call(method, `/never${rest}`, body, {}, strangerKey);
      const plain = (
        { status, json: { request_id: _request, instance: _instance, ...json } }: { status: number; json: Json },
        name: string,
      ) => `${status} ${JSON.stringify(json).replaceAll(name, "*")}`;
      expect([method, rest, plain(real, at.slice(1))]).toEqual([method, rest, plain(absent, "never")]);
      expect(real.status).toBe(404);
    }
    expect((await call("GET", `${at}/items/s?pk=a`)).status).toBe(200);
  });
});
