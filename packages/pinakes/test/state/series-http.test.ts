/** Metrics, the tool log and OTLP over HTTP. */
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { openTestServer, type Json } from "../http/support/server.ts";
import { forAllTests } from "../support/for-tests.ts";

let admin: string;
let key: string;
let stranger: string;
const server = forAllTests(() => openTestServer());
beforeAll(async () => {
  admin = await server.key("w1", "boss", { role: "admin" });
  key = await server.key("w1", "ann");
  stranger = await server.key("w2", "eve", { role: "admin" });
});

const ndjson = { "content-type": "application/x-ndjson" };
const line = (id: string, more: object = {}) =>
  JSON.stringify({ id, agent_id: "a1", metric_type: "latency", value: 1, timestamp: "2030-05-01T10:00:00Z", ...more });
const list = async (query: string, who = key) =>
  (await server.call("GET", `/v1/metrics?${query}`, { key: who })).json as {
    items: Json[];
    next_cursor: string | null;
  };

describe("metrics", () => {
  it("R-AGT-39 NDJSON: line 7 is told as line 7, blank lines count, the others are stored", async () => {
    const lines = [
      line("n1"),
      "",
      line("n2"),
      "   ",
      line("n3"),
      line("n4"),
      "{ broken",
      line("n5"),
      `{"agent_id":"a1","metric_type":"latency","value":NaN}`,
      line("n1"),
    ];
    const { status, json } = await server.call("POST", "/v1/metrics:ingest", {
      key,
      body: `${lines.join("\r\n")}\n`,
      headers: ndjson,
    });
    expect(status).toBe(200);
    expect(json).toMatchObject({ accepted: 5, duplicates: 1, failed: 2 });
    expect((json["lines"] as Json[]).map(({ line: number, status: of }) => [number, of])).toEqual([
      [7, 400],
      [9, 400],
    ]);
    const reported = await server.call("POST", "/v1/metrics:ingest?report=all", {
      key,
      body: line("n6"),
      headers: ndjson,
    });
    expect(reported.json["lines"]).toEqual([{ line: 1, status: 201, id: "n6" }]);
  });

  it("R-AGT-36 NaN in NDJSON is refused; all_or_nothing stores nothing because of it", async () => {
    const body = `${line("all-1", { agent_id: "all" })}\n{"agent_id":"all","metric_type":"latency","value":NaN}`;
    const { status, json } = await server.call("POST", "/v1/metrics:ingest?all_or_nothing=true", {
      key,
      body,
      headers: ndjson,
    });
    expect([status, json["accepted"], json["failed"]]).toEqual([200, 0, 1]);
    expect((await list("agent_id=all")).items).toEqual([]);
  });

  it("R-AGT-39 JSON: a list, or items; 10,001 are refused and nothing is stored", async () => {
    const rows = [{ agent_id: "json", metric_type: "cost", value: 2 }];
    expect((await server.call("POST", "/v1/metrics:ingest", { key, body: rows })).json).toMatchObject({ accepted: 1 });
    expect((await server.call("POST", "/v1/metrics:ingest", { key, body: { items: rows } })).json).toMatchObject({
      accepted: 1,
    });
    expect((await list("agent_id=json")).items.length).toBe(2);
    const many = Array.from({ length: 10_001 }, (_, i) =>
      JSON.stringify({ id: `x${i}`, agent_id: "many", metric_type: "cost", value: 1 }),
    ).join("\n");
    expect(await server.call("POST", "/v1/metrics:ingest", { key, body: many, headers: ndjson })).toMatchObject({
      status: 413,
      json: { code: "LIMIT_EXCEEDED" },
    });
    expect((await list("agent_id=many")).items).toEqual([]);
    expect(
      (await server.call("POST", "/v1/metrics:ingest", { key, body: "x", headers: { "content-type": "text/plain" } }))
        .status,
    ).toBe(415);
  });

  it("custom types and dimensions over HTTP: in, listed, aggregated, named, and forgotten by an admin", async () => {
    const own = (id: string, value: number, region?: string) =>
      line(id, {
        agent_id: "own",
        metric_type: "custom.faithfulness",
        value,
        dimensions: region === undefined ? {} : { region },
      });
    const body = [
      own("o1", 0.5, "eu"),
      own("o2", 1, "us"),
      own("o3", 0.25),
      line("o4", { metric_type: "faithfulness" }),
    ].join("\n");
    const taken = await server.call("POST", "/v1/metrics:ingest", { key, body, headers: ndjson });
    expect(taken.json).toMatchObject({ accepted: 3, failed: 1, lines: [{ line: 4, status: 400 }] });
    expect((await list("metric_type=custom.faithfulness")).items.length).toBe(3);
    const wrong = await server.call("GET", "/v1/metrics?metric_type=faithfulness", { key });
    expect([wrong.status, wrong.json["detail"]]).toEqual([400, expect.stringContaining("custom.<name>") as string]);
    const query = {
      from: "2030-05-01T00:00:00Z",
      to: "2030-05-02T00:00:00Z",
      aggregates: ["avg"],
      filter: { metric_type: "custom.faithfulness" },
    };
    const asked = await server.call("POST", "/v1/metrics:aggregate", {
      key,
      body: { ...query, group_by: ["dimensions.region"] },
    });
    expect((asked.json["items"] as Json[]).map(({ group, values }) => [group, values])).toEqual([
      [{ "dimensions.region": null }, { avg: 0.25 }],
      [{ "dimensions.region": "eu" }, { avg: 0.5 }],
      [{ "dimensions.region": "us" }, { avg: 1 }],
    ]);
    const filtered = { ...query, filter: { ...query.filter, "dimensions.region": "us" } };
    expect((await server.call("POST", "/v1/metrics:aggregate", { key, body: filtered })).json).toMatchObject({
      rows_aggregated: 1,
    });
    for (const group of ["region", "dimensions.Region", "dimensions.model"])
      expect(
        (await server.call("POST", "/v1/metrics:aggregate", { key, body: { ...query, group_by: [group] } })).status,
        group,
      ).toBe(400);
    const names = {
      types: ["custom.faithfulness"],
      dimensions: ["dimensions.region"],
      types_max: 200,
      dimensions_max: 100,
    };
    expect((await server.call("GET", "/v1/metrics/names", { key })).json).toEqual(names);
    expect((await server.call("GET", "/v1/metrics/names", { key: stranger })).json).toEqual({
      ...names,
      types: [],
      dimensions: [],
    });
    expect((await server.call("DELETE", "/v1/metrics/names/dimensions.region", { key })).status).toBe(403);
    expect((await server.call("DELETE", "/v1/metrics/names/dimensions.region", { key: stranger })).status).toBe(404);
    expect((await server.call("DELETE", "/v1/metrics/names/dimensions.region", { key: admin })).status).toBe(204);
    expect((await server.call("GET", "/v1/metrics/names", { key })).json).toEqual({ ...names, dimensions: [] });
  });

  it("an Idempotency-Key makes a repetition answer the same, also for lines without ids", async () => {
    const send = () =>
      server.call("POST", "/v1/metrics:ingest", {
        key,
        body: [{ agent_id: "idem", metric_type: "cost", value: 2 }],
        headers: { "idempotency-key": "once" },
      });
    expect((await send()).json).toEqual((await send()).json);
    expect((await list("agent_id=idem")).items.length).toBe(1);
  });

  it("R-AGT-38 lists and aggregates over HTTP; wrong questions are told by their fields", async () => {
    const body = Array.from({ length: 5 }, (_, i) =>
      line(`p${i}`, { agent_id: "pages", timestamp: `2030-05-0${i + 1}T10:00:00Z`, value: i }),
    ).join("\n");
    await server.call("POST", "/v1/metrics:ingest", { key, body, headers: ndjson });
    const first = await list("agent_id=pages&limit=3&order=asc&from=2030-05-01T00:00:00Z");
    const second = await list(
      `agent_id=pages&limit=3&order=asc&from=2030-05-01T00:00:00Z&cursor=${encodeURIComponent(first.next_cursor as string)}`,
    );
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(["p0", "p1", "p2", "p3", "p4"]);
    expect(first.items[0]).toMatchObject({ _etag: expect.any(String) as string, workspace_id: "w1" });
    const query = {
      from: "2030-05-01T00:00:00Z",
      to: "2030-06-01T00:00:00Z",
      aggregates: ["sum", "p99"],
      filter: { agent_id: "pages" },
    };
    const reader = await server.key("w1", "reader", { scopes: ["read"] });
    const sums = await server.call("POST", "/v1/metrics:aggregate", { key: reader, body: query });
    expect(sums.json).toEqual({
      items: [{ bucket: null, group: {}, values: { sum: 10, p99: 4 } }],
      rows_aggregated: 5,
      from: "2030-05-01T00:00:00.000Z",
      to: "2030-06-01T00:00:00.000Z",
    });
    expect((await server.call("POST", "/v1/metrics:ingest", { key: reader, body: [] })).status).toBe(403);
    for (const wrong of [
      { ...query, aggregates: ["mode"] },
      { ...query, group_by: ["x"] },
      { ...query, bucket: "1s" },
      { ...query, aggregates: [] },
    ])
      expect((await server.call("POST", "/v1/metrics:aggregate", { key, body: wrong })).status).toBe(400);
    expect((await server.call("GET", "/v1/metrics?metric_type=speed", { key })).text).toContain("success_rate");
    expect((await server.call("GET", "/v1/metrics?from=soon", { key })).status).toBe(400);
    const rollups = await server.call("GET", "/v1/metrics/rollups?from=2030-05-02T00:00:00Z&to=2030-05-03T00:00:00Z", {
      key,
    });
    expect(rollups.json).toEqual({
      items: [{ metric_date: "2030-05-02", hour: 10, rows: 1, state: "open", sealed_at: null }],
      next_cursor: null,
    });
  });

  it("R-AGT-09 another workspace sees nothing, and nobody without a key", async () => {
    expect((await list("", stranger)).items).toEqual([]);
    const body = { from: "2030-05-01T00:00:00Z", to: "2030-06-01T00:00:00Z", aggregates: ["count"] };
    expect((await server.call("POST", "/v1/metrics:aggregate", { key: stranger, body })).json).toMatchObject({
      items: [],
      rows_aggregated: 0,
    });
    expect((await server.call("GET", "/v1/metrics")).status).toBe(401);
    const foreign = await server.call("POST", "/v1/metrics:ingest", {
      key,
      body: line("f1", { workspace_id: "w2" }),
      headers: ndjson,
    });
    expect(foreign.json["lines"]).toMatchObject([{ status: 403 }]);
  });
});

describe("the tool log", () => {
  const invocation = (id: string, more: object = {}) => ({
    id,
    tool_name: "web/search",
    agent_id: "a1",
    session_id: "s1",
    status: "success",
    duration_ms: 5,
    timestamp: "2030-05-01T10:00:00Z",
    ...more,
  });
  const ingest = (items: readonly object[], who = key) =>
    server.call("POST", "/v1/tool-invocations:ingest", { key: who, body: { items } });

  it("R-AGT-41 R-AGT-44 rules are made by admins and hold; entries are read with their etag", async () => {
    const path = `/v1/tool-redactions/${encodeURIComponent("web/search")}`;
    expect((await server.call("PUT", path, { key, body: { sensitive: true } })).status).toBe(403);
    expect((await server.call("PUT", path, { key: admin, body: { mask: ["input_args.token"] } })).json).toEqual({
      tool_name: "web/search",
      sensitive: false,
      drop: [],
      mask: ["input_args.token"],
    });
    expect((await ingest([invocation("t1", { input_args: { token: "s3cret", q: 1 } })])).json).toMatchObject({
      accepted: 1,
    });
    const one = await server.call("GET", "/v1/tool-invocations/2030-05-01/t1", { key });
    expect(one.json).toMatchObject({ input_args: { token: "[redacted]", q: 1 } });
    expect(one.headers.get("etag")).toBe(`"${one.json["_etag"] as string}"`);
    expect(
      (
        await server.call("GET", "/v1/tool-invocations/2030-05-01/t1", {
          key,
          headers: { "if-none-match": one.headers.get("etag") as string },
        })
      ).status,
    ).toBe(304);
    expect((await server.call("GET", "/v1/tool-redactions", { key })).json).toMatchObject({
      items: [{ tool_name: "web/search" }],
    });
    expect((await server.call("GET", "/v1/tool-redactions", { key: stranger })).json).toEqual({ items: [] });
    expect((await server.call("DELETE", path, { key: admin })).status).toBe(204);
    expect((await server.call("DELETE", path, { key: admin })).status).toBe(404);
  });

  it("R-AGT-42 R-AGT-08 what is wrong with a line is told", async () => {
    const { json } = await ingest([invocation("t2", { status: "error" }), invocation("t3", { status: "done" })]);
    expect(json["lines"]).toMatchObject([
      { line: 1, status: 400 },
      { line: 2, status: 400 },
    ]);
  });

  it("lists, aggregates and exports; another workspace has none of it", async () => {
    await ingest([
      invocation("e1", { session_id: "exp", agent_id: "=cmd()" }),
      invocation("e2", { session_id: "exp", duration_ms: 7, timestamp: "2030-05-02T10:00:00Z" }),
    ]);
    const listed = await server.call("GET", "/v1/tool-invocations?session_id=exp&order=asc", { key });
    expect((listed.json["items"] as Json[]).map(({ id }) => id)).toEqual(["e1", "e2"]);
    const body = {
      from: "2030-05-01T00:00:00Z",
      to: "2030-05-03T00:00:00Z",
      bucket: "day",
      aggregates: ["max"],
      filter: { session_id: "exp" },
    };
    expect(
      ((await server.call("POST", "/v1/tool-invocations:aggregate", { key, body })).json["items"] as Json[]).map(
        ({ values }) => values,
      ),
    ).toEqual([{ max: 5 }, { max: 7 }]);
    const lines = await server.raw("GET", "/v1/tool-invocations:export?format=ndjson&session_id=exp", { key });
    expect(lines.headers.get("content-type")).toBe("application/x-ndjson");
    expect(
      (await lines.text())
        .trimEnd()
        .split("\n")
        .map((text) => (JSON.parse(text) as Json)["id"]),
    ).toEqual(["e1", "e2"]);
    const csv = await server.call("GET", "/v1/tool-invocations:export?format=csv&session_id=exp", { key });
    expect(csv.headers.get("content-type")).toContain("text/csv");
    expect(csv.text).toContain("'=cmd()");
    expect((await server.call("GET", "/v1/tool-invocations:export?format=xml", { key })).status).toBe(400);
    expect((await server.call("GET", "/v1/tool-invocations:export?format=ndjson", { key: stranger })).text).toBe("");
    const [missing, never] = await Promise.all(
      ["e1", "e9"].map((id) =>
        server.call("GET", `/v1/tool-invocations/2030-05-01/${id}`, {
          key: stranger,
          headers: { "x-request-id": "r" },
        }),
      ),
    );
    expect(missing?.status).toBe(404);
    expect(missing?.text.replaceAll("e1", "e9")).toBe(never?.text);
  });

  it("R-AGT-40 the chain is switched on by admins and checked by anybody of the workspace", async () => {
    expect((await server.call("PUT", "/v1/tool-log/settings", { key, body: { hash_chain: true } })).status).toBe(403);
    expect(
      (await server.call("PUT", "/v1/tool-log/settings", { key: admin, body: { hash_chain: true } })).json,
    ).toEqual({ hash_chain: true });
    expect((await server.call("GET", "/v1/tool-log/settings", { key })).json).toEqual({ hash_chain: true });
    await ingest([
      invocation("c1", { timestamp: "2030-06-01T00:00:00Z" }),
      invocation("c2", { timestamp: "2030-06-01T00:00:00Z" }),
    ]);
    expect((await server.call("GET", "/v1/tool-log/2030-06-01/chain", { key })).json).toMatchObject({
      entries: 2,
      intact: true,
    });
    expect((await server.call("GET", "/v1/tool-log/2030-06-01/chain", { key: stranger })).json).toMatchObject({
      entries: 0,
      head: null,
    });
    expect((await server.call("GET", "/v1/tool-log/june/chain", { key })).status).toBe(400);
  });
});

describe("OTLP", () => {
  const traces = {
    resourceSpans: [
      {
        resource: { attributes: [{ key: "service.name", value: { stringValue: "otlp" } }] },
        scopeSpans: [
          {
            spans: [
              {
                traceId: "5b8efff798038103d269b633813fc60c",
                spanId: "eee19b7ec3c1b174",
                name: "execute_tool x",
                startTimeUnixNano: "1904000000000000000",
                endTimeUnixNano: "1904000001000000000",
                attributes: [{ key: "gen_ai.operation.name", value: { stringValue: "execute_tool" } }],
              },
            ],
          },
        ],
      },
    ],
  };

  it("R-AGT-98 exports as JSON, gzipped or not, are taken, once", async () => {
    expect(await server.call("POST", "/v1/otlp/v1/traces", { key, body: traces })).toMatchObject({
      status: 200,
      text: "{}",
    });
    const packed = gzipSync(JSON.stringify(traces));
    const headers = { "content-type": "application/json", "content-encoding": "gzip" };
    expect(await server.call("POST", "/v1/otlp/v1/traces", { key, body: packed, headers })).toMatchObject({
      status: 200,
      text: "{}",
    });
    const listed = await server.call("GET", "/v1/tool-invocations?agent_id=otlp", { key });
    expect(listed.json["items"]).toMatchObject([{ tool_name: "x", duration_ms: 1000 }]);
    expect((await server.call("POST", "/v1/otlp/v1/metrics", { key, body: { resourceMetrics: [] } })).status).toBe(200);
    expect((await server.call("POST", "/v1/otlp/v1/logs", { key, body: {} })).status).toBe(200);
  });

  it("R-AGT-98 protobuf is answered with protobuf; other bodies are refused", async () => {
    const headers = { "content-type": "application/x-protobuf" };
    const response = await server.raw("POST", "/v1/otlp/v1/traces", { key, body: new Uint8Array(), headers });
    expect([response.status, response.headers.get("content-type"), (await response.arrayBuffer()).byteLength]).toEqual([
      200,
      "application/x-protobuf",
      0,
    ]);
    expect(
      (await server.call("POST", "/v1/otlp/v1/traces", { key, body: "x", headers: { "content-type": "text/plain" } }))
        .status,
    ).toBe(415);
    expect(
      (await server.call("POST", "/v1/otlp/v1/traces", { key, body: Buffer.from([255, 255]), headers })).status,
    ).toBe(400);
    expect((await server.call("POST", "/v1/otlp/v1/traces", { body: traces })).status).toBe(401);
    // Elsewhere a packed body is still refused.
    expect(
      (
        await server.call("POST", "/v1/metrics:ingest", {
          key,
          body: gzipSync("[]"),
          headers: { "content-type": "application/json", "content-encoding": "gzip" },
        })
      ).status,
    ).toBe(415);
  });
});
