/** What a person needs who opens a page and knows no id: figures, the trash, agents, sessions, tools, containers, and why somebody sees something. */
import { beforeAll, describe, expect, it } from "vitest";
import { newSite, openTestServer, sendAndSettle, sendText, type CallOptions, type Json } from "./support/server.ts";
import { forAllTests } from "../support/for-tests.ts";

let key: string;
const server = forAllTests(() => openTestServer("sqlite"));
beforeAll(async () => {
  key = await server.key("w1", "ann", { role: "admin" });
});

const get = (path: string, options: CallOptions = {}) => server.call("GET", path, { key, ...options });
const post = (path: string, body: unknown, options: CallOptions = {}) =>
  server.call("POST", path, { key, body, ...options });
const items = ({ json }: { readonly json: Json }) => json["items"] as readonly Json[];

describe("a document", () => {
  it("R-KB-45 the text that a citation points into, whole or in windows; what is wrong with a window is told", async () => {
    const site = await newSite(server, key);
    const { document_id } = await sendAndSettle(
      site,
      "a.md",
      "# Replicas\n\nA replica is promoted by the 🜁 operator.\n",
    );
    const at = `${site.at}/documents/${document_id as string}`;
    const { hits } = (await post(`${site.at}/search`, { query: "who promotes a replica" })).json as {
      hits: [{ citation: { start: number; end: number; quote: string } }];
    };
    const [{ citation }] = hits;
    const { start, end, quote } = citation;
    const { status, json } = await get(`${at}/text`);
    expect(status).toBe(200);
    expect((json["text"] as string).slice(start, end)).toContain(quote);
    expect(json).toMatchObject({
      document_id,
      version: 1,
      start: 0,
      next_start: null,
      pages: [],
      sections: [{ path: ["Replicas"] }],
      warnings: [],
    });
    const window = (await get(`${at}/text?version=1&start=${start}&end=${end}`)).json;
    expect([window["text"], window["start"], window["end"]]).toEqual([
      (json["text"] as string).slice(start, end),
      start,
      end,
    ]);
    for (const query of ["start=-1", "start=5&end=4", "start=0&end=1000001", "version=0", "start=x"])
      expect((await get(`${at}/text?${query}`)).status).toBe(400);
    expect((await get(`${at}/text?version=2`)).json).toMatchObject({ status: 404, code: "NOT_FOUND" });
    expect((await get(`${site.at}/documents/nobody/text`)).status).toBe(404);
  });

  it("R-TG-128 the triples that its passages state, page by page", async () => {
    const site = await newSite(server, key);
    const { document_id } = await sendAndSettle(
      site,
      "a.nt",
      '<urn:s> <urn:p> "one"@en .\n<urn:s> <urn:p> <urn:o> .\n',
    );
    await sendAndSettle(site, "b.nt", "<urn:other> <urn:p> <urn:o> .\n");
    const at = `${site.at}/documents/${document_id as string}/triples`;
    const found: Json[] = [];
    for (let cursor = ""; ;) {
      const { status, json } = await get(`${at}?limit=1${cursor}`);
      expect(status).toBe(200);
      found.push(...(json["items"] as Json[]));
      if (json["next_cursor"] === null) break;
      cursor = `&cursor=${json["next_cursor"] as string}`;
    }
    const passages = [{ chunk_id: expect.stringContaining(document_id as string) as string, index: 0 }];
    const [s, p] = [
      { type: "iri", value: "urn:s" },
      { type: "iri", value: "urn:p" },
    ];
    expect(found).toHaveLength(2);
    expect(found).toContainEqual({ s, p, o: { type: "iri", value: "urn:o" }, g: null, passages });
    expect(found).toContainEqual(
      expect.objectContaining({
        s,
        p,
        o: expect.objectContaining({ type: "literal", value: "one", language: "en" }) as object,
        passages,
      }),
    );
    expect((await get(`${at}?cursor=made-up`)).status).toBe(400);
  });
});

describe("figures", () => {
  it("R-TG-109 queues tell the age of what waits, and deletes their lag with its limit; users who are no admins are refused", async () => {
    const { json } = await get("/v1/queues");
    expect((json["items"] as Json[])[0]).toEqual({
      name: "documents",
      waiting: 0,
      in_progress: 0,
      failed: 0,
      dead: 0,
      oldest_age_seconds: null,
    });
    expect((await get("/v1/operations:lag")).json).toEqual({
      unfinished: 0,
      failed: 0,
      lag_seconds: 0,
      limit_seconds: 300,
      oldest: null,
      warning: null,
    });
    const ben = await server.key("w1", "ben");
    expect([
      (await get("/v1/operations:lag", { key: ben })).status,
      (await get("/v1/queues", { key: ben })).status,
    ]).toEqual([403, 403]);
    await using still = await openTestServer("memory", { background: false, deletionLagSeconds: 7 });
    const admin = await still.key("w1", "ann", { role: "admin" });
    await sendText(await newSite(still, admin), "a.txt", "words");
    still.later(90_000);
    const [documents] = (await still.call("GET", "/v1/queues", { key: admin })).json["items"] as [Json];
    expect(documents).toMatchObject({ waiting: 1 });
    expect(documents["oldest_age_seconds"]).toBeGreaterThanOrEqual(90);
    expect((await still.call("GET", "/v1/operations:lag", { key: admin })).json["limit_seconds"]).toBe(7);
    const alarms = (await still.call("GET", "/v1/alarms", { key: admin })).json["items"] as Json[];
    const quiet = { value: 0, firing: false, detail: null };
    expect(alarms).toMatchObject([
      { name: "deletion_lag", unit: "seconds", threshold: 7, ...quiet },
      { name: "failed_deletions", unit: "operations", threshold: 0, ...quiet },
    ]);
    const user = await still.key("w1", "ben");
    expect((await still.call("GET", "/v1/alarms", { key: user })).status).toBe(403);
  });

  it("R-LISA-52 storage by collection, the largest first; the trash with when it was deleted and when it goes, and back from there", async () => {
    const other = await server.key("w2", "eve", { role: "admin" });
    const [small, large] = [await newSite(server, other), await newSite(server, other)];
    await sendAndSettle(small, "a.txt", "few words");
    for (const name of ["a.txt", "b.txt"]) await sendAndSettle(large, name, "many words ".repeat(50));
    const bySize = items(await get("/v1/collections?sort=size&min_size_bytes=1", { key: other }));
    expect(bySize.map((one) => [one["repository_id"], one["total_size_bytes"], one["document_count"]])).toEqual([
      [large.repository, 2 * "many words ".length * 50, 2],
      [small.repository, "few words".length, 1],
    ]);
    expect((await server.call("DELETE", large.at, { key: other })).status).toBe(202);
    const [trashed, ...more] = items(await get("/v1/collections?status=DELETED&sort=updated_at", { key: other }));
    expect(more).toEqual([]);
    expect(trashed).toMatchObject({
      collection_id: large.collection,
      status: "DELETED",
      total_size_bytes: 1_100,
      document_count: 2,
    });
    const { deleted_at, purge_at, incarnation } = trashed as {
      deleted_at: string;
      purge_at: string;
      incarnation: string;
    };
    expect(Date.parse(purge_at) - Date.parse(deleted_at)).toBe(90 * 86_400_000);
    expect((await post(`${large.at}:restore`, { incarnation }, { key: other })).status).toBe(200);
    expect(items(await get("/v1/collections?status=DELETED", { key: other }))).toEqual([]);
    expect((await get(large.at, { key: other })).json).toMatchObject({
      status: "ACTIVE",
      deleted_at: null,
      purge_at: null,
      document_count: 2,
    });
  });
});

describe("state without ids", () => {
  const span = { from: "2026-01-01T00:00:00Z", to: "2026-01-03T00:00:00Z" };
  const timestamp = "2026-01-02T10:00:00.000Z";
  const container = (name: string, query: object) => post(`/v1/containers/${name}/query`, query);

  beforeAll(async () => {
    for (const [agent, session] of [
      ["analyst", "s1"],
      ["analyst", "s2"],
      ["writer", "s1"],
    ] as const)
      await post(`/v1/agents/${agent}/memories`, {
        session_id: session,
        message_type: "user",
        content: `words of ${session}`,
      });
    const metrics = [
      ["analyst", "latency"],
      ["analyst", "cost"],
      ["writer", "latency"],
    ] as const;
    await post("/v1/metrics:ingest", {
      items: metrics.map(([agent_id, metric_type]) => ({ agent_id, metric_type, value: 1, timestamp })),
    });
    const calls = ["search", "fetch", "search"].map((tool_name) => ({
      tool_name,
      agent_id: "analyst",
      session_id: "s1",
      status: "success",
      duration_ms: 5,
      timestamp,
    }));
    await post("/v1/tool-invocations:ingest", { items: calls });
    await post("/v1/threads/t1/messages", { text: "one" });
    await post("/v1/threads/t2/messages", { text: "two" });
  });

  it("agents with memories, page by page, and the sessions of each", async () => {
    const first = await get("/v1/agents?limit=1");
    expect([first.status, items(first).map(({ agent_id }) => agent_id)]).toEqual([200, ["analyst"]]);
    const second = await get(`/v1/agents?limit=1&cursor=${first.json["next_cursor"] as string}`);
    expect([items(second).map(({ agent_id }) => agent_id), second.json["next_cursor"]]).toEqual([["writer"], null]);
    expect(
      items(await get("/v1/agents/analyst/sessions")).map(({ session_id, message_count }) => [
        session_id,
        message_count,
      ]),
    ).toEqual([
      ["s1", 1],
      ["s2", 1],
    ]);
    for (const query of ["limit=0", "limit=101", "cursor=made-up"])
      expect((await get(`/v1/agents?${query}`)).status).toBe(400);
  });

  it("types and agents of metrics, and tools of the log, are groups of an aggregate", async () => {
    const groups = async (path: string, by: string) =>
      items(await post(path, { ...span, aggregates: ["count"], group_by: [by] })).map(({ group, values }) => [
        (group as Json)[by],
        (values as Json)["count"],
      ]);
    expect(await groups("/v1/metrics:aggregate", "metric_type")).toEqual([
      ["cost", 1],
      ["latency", 2],
    ]);
    expect(await groups("/v1/metrics:aggregate", "agent_id")).toEqual([
      ["analyst", 2],
      ["writer", 1],
    ]);
    expect(await groups("/v1/tool-invocations:aggregate", "tool_name")).toEqual([
      ["fetch", 1],
      ["search", 2],
    ]);
    expect(await groups("/v1/tool-invocations:aggregate", "status")).toEqual([["success", 3]]);
  });

  it("threads are values of a query", async () => {
    const { status, json } = await container("thread-message-store", {
      query: "SELECT DISTINCT VALUE c.threadId FROM c",
    });
    expect([status, (json["items"] as string[]).toSorted()]).toEqual([200, ["t1", "t2"]]);
    const counted = await container("agent-memories", {
      query: "SELECT c.agent_id, COUNT(1) AS messages FROM c GROUP BY c.agent_id",
    });
    expect(items(counted).toSorted((a, b) => String(a["agent_id"]).localeCompare(String(b["agent_id"])))).toEqual([
      { agent_id: "analyst", messages: 2 },
      { agent_id: "writer", messages: 1 },
    ]);
  });

  it("all containers are listed, the system's first, and the items of each can be walked through", async () => {
    expect((await server.call("PUT", "/v1/containers/notes", { key, body: { partition_key: "/owner" } })).status).toBe(
      200,
    );
    for (const id of ["n1", "n2", "n3"]) await post("/v1/containers/notes/items", { id, owner: "ann" });
    const containers = items(await get("/v1/containers"));
    expect(containers.map(({ name, kind }) => [name, kind])).toEqual([
      ["workflow-states", "system"],
      ["agent-memories", "system"],
      ["agent-metrics", "system"],
      ["tool-invocations", "system"],
      ["thread-message-store", "system"],
      ["system-thread-message-store", "system"],
      ["agent-entity-store", "system"],
      ["notes", "own"],
    ]);
    const counts: Record<string, number> = {};
    for (const { name } of containers) {
      const ids = new Set<unknown>();
      let cursor: unknown = null;
      do {
        const { status, text, json } = await container(name as string, { query: "SELECT * FROM c", limit: 1, cursor });
        expect(status, text).toBe(200);
        for (const { id, _etag } of json["items"] as Json[]) {
          expect(_etag).toBeTypeOf("string");
          expect(ids.has(id)).toBe(false);
          ids.add(id);
        }
        cursor = json["next_cursor"];
      } while (cursor !== null);
      counts[name as string] = ids.size;
    }
    expect(counts).toMatchObject({
      "agent-memories": 3,
      "agent-metrics": 3,
      "tool-invocations": 3,
      "thread-message-store": 2,
      notes: 3,
    });
  });
});

describe("why somebody sees something, or not", () => {
  it("a repository, a collection, a document: each with the rule that decided", async () => {
    const site = await newSite(server, key, { allowed_groups: ["readers"] });
    const { document_id } = await sendAndSettle(site, "a.txt", "words");
    const about = { repository: site.repository, collection: site.collection };
    const explain = async (more: object, options: CallOptions = {}) =>
      (await post("/v1/access:explain", { ...about, ...more }, options)).json;
    const ben = { user_id: "ben", groups: ["others"] };
    expect(await explain({ user: ben })).toEqual({
      level: null,
      reason: "the caller is in none of the collection's groups",
      groups: [],
    });
    expect(await explain({ user: { user_id: "ben", groups: ["readers"] } })).toMatchObject({
      level: "WRITE",
      groups: ["readers"],
    });
    expect(await explain({ collection: undefined, user: ben })).toMatchObject({
      level: "WRITE",
      reason: "the repository is open to the workspace",
    });
    expect(await explain({ document: document_id, user: ben })).toEqual({
      level: null,
      reason: "the caller is in none of the collection's groups",
      groups: [],
      document: {
        document_id,
        status: "indexed",
        uploaded_by: "ann",
        searchable: true,
        allowed_groups: null,
        allowed_users: null,
        sensitivity: [],
      },
    });
    expect(await explain({ document: "nobody" })).toMatchObject({ status: 404 });
    expect(await explain({ document: document_id, collection: undefined })).toMatchObject({ status: 400 });
    // Who may not see it is told nothing about it, also not about oneself; and only admins ask about others.
    const outsider = await server.key("w1", "ben", { groups: ["others"] });
    expect(await explain({ document: document_id }, { key: outsider })).toMatchObject({ status: 404 });
    expect(await explain({ user: ben }, { key: outsider })).toMatchObject({ status: 403 });
  });
});
