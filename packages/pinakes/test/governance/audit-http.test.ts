/** What calls leave in the audit log, over HTTP, on the engines; and that no interface can forget it. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { allRoutes } from "../../src/http/app.ts";
import { verifyExport } from "../../src/governance/audit-log/verify-export.ts";
import { resourceFields } from "../../src/governance/audit-log/resource-ids.ts";
import { openTestServer, rootToken, type Json, type TestServer } from "../http/support/server.ts";
import { useServers } from "../support/servers.ts";

const { postgres, dynamo } = useServers();

/** Every POST that a key which may only read may send. Those of TrustGraph, and SPARQL, note what they change. */
const reads = [
  "aggregateMetrics",
  "aggregateToolInvocations",
  "answer",
  "createChatCompletion",
  "createEmbeddings",
  "deselectCatalog",
  "explainAccess",
  "explainContainerQuery",
  "manageCollections",
  "matchTriplesAcross",
  "previewChunking",
  "previewRetention",
  "queryCatalog",
  "queryContainer",
  "querySelectedCatalog",
  "queryVectors",
  "readManyItems",
  "search",
  "searchCollection",
  "searchMemories",
  "searchRepository",
  "searchVectorStore",
  "selectCatalog",
  "sparql",
  "sparqlAcross",
  "trustGraphCollections",
  "trustGraphDocumentEmbeddings",
  "trustGraphDocumentLoad",
  "trustGraphEmbeddings",
  "trustGraphFlows",
  "trustGraphGraphEmbeddings",
  "trustGraphKnowledge",
  "trustGraphLibrarian",
  "trustGraphTextLoad",
  "trustGraphTriples",
  "verifyCitations",
];

async function entries(server: TestServer, key: string, query = ""): Promise<readonly Json[]> {
  const { status, json, text } = await server.call("GET", `/v1/audit?limit=500&${query}`, { key });
  if (status !== 200) throw new Error(text);
  return json["items"] as Json[];
}

describe.each([
  ["SQLite", () => undefined],
  ["PostgreSQL", () => postgres()],
  ["DynamoDB", () => dynamo("audit-http")],
])("the audit log over HTTP on %s", (_, address) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await openTestServer("sqlite", { items: address(), objects: "memory:" });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it("R-TG-103 create, update, delete, restore, purge and denials: who, what, when, from where, outcome", async () => {
    const admin = await server.key("w1", "ann", { role: "admin" });
    const mallory = await server.key("w1", "mallory");
    const at = "/v1/repositories/kb/collections";
    const headers = { "user-agent": "curl/8.5 (secret text)", "x-request-id": "req-1" };
    const call = async (method: string, path: string, body?: object, key = admin) =>
      (await server.call(method, path, { key, body, headers })).status;
    const done = [
      await call("POST", "/v1/repositories", { repository_id: "kb", allowed_groups: ["staff"] }),
      await call("POST", at, { collection_id: "papers", name: "Secret Papers" }),
      await call("PATCH", `${at}/papers`, { description: "secret words" }),
      await call("DELETE", `${at}/papers`),
      await call("POST", `${at}/papers:restore`),
      await call("DELETE", `${at}/papers?purge=true&confirm=papers`),
    ];
    expect(done).toEqual([201, 201, 200, 202, 200, 202]);
    expect([
      await call("GET", "/v1/repositories/kb", undefined, mallory),
      await call("GET", "/v1/alarms", undefined, mallory),
      await call("GET", "/v1/repositories/none", undefined, mallory),
    ]).toEqual([404, 403, 404]);
    const list = (await entries(server, admin)).toReversed().filter(({ resource }) => resource !== "identity");
    expect(list.map(({ verb, action, outcome, actor }) => [verb, action, outcome, (actor as Json)["id"]])).toEqual([
      ["create", "createRepository", "ok", "ann"],
      ["create", "createCollection", "ok", "ann"],
      ["update", "updateCollection", "ok", "ann"],
      ["delete", "deleteCollection", "ok", "ann"],
      ["restore", "restoreCollection", "ok", "ann"],
      ["purge", "deleteCollection", "ok", "ann"],
      ["read", "getRepository", "denied", "mallory"],
      ["read", "listAlarms", "denied", "mallory"],
      ["read", "getRepository", "not_found", "mallory"],
    ]);
    expect(list[1]).toMatchObject({
      status: 201,
      role: "admin",
      via: "key",
      ids: { repository: "kb", collection: "kb/papers" },
      face: "http",
      user_agent: "curl/8.5",
      request_id: "req-1",
    });
    const bytes = (await server.call("GET", "/v1/audit:export", { key: admin })).text;
    for (const secret of ["ecret", "papers", "ann", "curl", "req-1"])
      expect(bytes.includes(secret), secret).toBe(false);
    const { keys } = (await server.call("GET", "/v1/audit/checkpoint", { key: admin })).json as { keys: string[] };
    expect(await verifyExport([Buffer.from(bytes)], { keys })).toMatchObject({ ok: true });
  });

  it("R-KB-48 another user's catalog: the same answer as not found, and the attempt is in the log", async () => {
    const [ann, bob] = [await server.key("w2", "ann"), await server.key("w2", "bob")];
    const auditor = await server.key("w2", "eva", { role: "admin" });
    const path = "/v1/repositories/me/collections";
    await server.call("POST", path, { key: ann, body: { collection_id: "diary", name: "Diary" } });
    const headers = { "x-request-id": "r" };
    const theirs = await server.call("GET", `${path}/diary`, { key: bob, headers });
    const never = await server.call("GET", `${path}/diary`, { key: await server.key("w5", "bob"), headers });
    expect([theirs.status, theirs.text]).toEqual([404, never.text]);
    const tool = await server.call("DELETE", "/catalogs/diary?confirm=true", { key: bob, headers });
    const none = await server.call("DELETE", "/catalogs/nothing?confirm=true", { key: bob, headers });
    expect([tool.status, tool.text]).toEqual([404, none.text.replaceAll("nothing", "diary")]);
    const attempts = await entries(server, auditor, "actor=bob&outcome=not_found");
    expect(attempts.toReversed()).toMatchObject([
      { action: "getCollection", face: "http", ids: { collection: "me:bob/diary" } },
      { action: "deleteCatalog", verb: "delete", face: "catalogs", ids: { collection: "me:bob/diary" } },
      { action: "deleteCatalog", verb: "delete", face: "catalogs", ids: { collection: "me:bob/nothing" } },
    ]);
  });

  it("sign-ins that fail are the operator's to see; those that succeed are in the workspace, as is acting for others", async () => {
    const admin = await server.key("w3", "ann", { role: "admin" });
    await server.call("POST", "/v1/sessions", { body: { token: "pk_wrong" } });
    await server.call("POST", "/v1/sessions", { body: { token: admin } });
    await server.call("GET", "/v1/me", { key: "pk_wrong" });
    await server.call("POST", "/v1/search", { key: admin, body: { query: "x", as_user: { user_id: "bob" } } });
    expect(await entries(server, admin)).toMatchObject([
      { verb: "read", action: "search", acted_for: { id: "bob" }, actor: { id: "ann" } },
      { verb: "sign_in", outcome: "ok", actor: { id: "ann" } },
    ]);
    const instance = await entries(server, rootToken, "log=instance");
    expect(instance.slice(0, 2)).toMatchObject([
      { action: "getMe", outcome: "denied", status: 401 },
      { verb: "sign_in", outcome: "denied", status: 401 },
    ]);
    expect((await server.call("GET", "/v1/audit?log=instance", { key: admin })).status).toBe(403);
  });

  it("is for admins and auditors of the workspace, and another workspace's is not there", async () => {
    const [admin, eve, user] = [
      await server.key("w6", "ann", { role: "admin" }),
      await server.key("w7", "eve", { role: "admin" }),
      await server.key("w6", "user-uma"),
    ];
    const body = { user_id: "user-otto", permissions: ["audit"], scopes: ["read"] };
    const { json } = await server.call("POST", "/v1/keys", { key: admin, body });
    const paths = ["/v1/audit", "/v1/audit/checkpoint", "/v1/audit:export", "/v1/audit/proofs/inclusion?index=0"];
    for (const path of paths) {
      expect((await server.call("GET", path, { key: json["key"] as string })).status, path).toBe(200);
      expect((await server.call("GET", path, { key: user })).status, path).toBe(403);
      const foreign = await server.call("GET", path, { key: eve });
      expect(foreign.text.includes("user-otto") || foreign.text.includes("user-uma"), path).toBe(false);
    }
    expect((await entries(server, eve)).every(({ actor }) => (actor as Json)["id"] === "eve")).toBe(true);
  });

  it("a change that cannot be recorded is not answered, and says so", async () => {
    const admin = await server.key("w8", "ann", { role: "admin" });
    const { audit } = server.pinakes;
    const { batch } = audit.items;
    audit.items.batch = () => Promise.reject(new Error("no disk"));
    try {
      const { status, json } = await server.call("POST", "/v1/repositories", {
        key: admin,
        body: { repository_id: "r" },
      });
      expect([status, json["code"]]).toEqual([503, "UNAVAILABLE"]);
      expect(json["detail"]).toContain("audit log could not be written");
    } finally {
      audit.items.batch = batch;
    }
    expect((await server.call("GET", "/v1/repositories/r", { key: admin })).status).toBe(200);
  });
});

describe("no route can be forgotten", () => {
  it("each route that changes something is recorded, each id of a path has a way to be written", async () => {
    await using server = await openTestServer();
    const routes = allRoutes(server.pinakes);
    const changes = routes.filter(({ method, readOnlyOk }) => method !== "GET" && !readOnlyOk);
    expect(changes.length).toBeGreaterThan(90);
    expect(changes.filter(({ audit }) => audit === "none").map(({ operationId }) => operationId)).toEqual([]);
    const reading = routes.filter(({ method, audit }) => method !== "GET" && audit === "none");
    expect(reading.map(({ operationId }) => operationId).toSorted()).toEqual(reads);
    const parameters = new Set(routes.flatMap(({ path }) => path.parameters));
    expect([...parameters].filter((name) => !Object.hasOwn(resourceFields, name)).toSorted()).toEqual(["graph"]);
  });

  it("reads of documents are recorded where the setting says so", async () => {
    await using server = await openTestServer("memory", { audit: "reads" });
    const key = await server.key("w1", "ann", { role: "admin" });
    await server.call("POST", "/v1/repositories/me/collections", { key, body: { collection_id: "n", name: "N" } });
    const { json } = await server.call("POST", "/v1/repositories/me/collections/n/documents", {
      key,
      body: { name: "a.txt", text: "words" },
    });
    const { document_id } = (json["documents"] as Json[])[0] as Json;
    const path = `/v1/repositories/me/collections/n/documents/${document_id as string}`;
    await server.call("GET", path, { key });
    await server.call("GET", `${path}/content`, { key });
    const read = await entries(server, key, "verb=read");
    expect(read.map(({ action, ids }) => [action, (ids as Json)["document"]])).toEqual([
      ["getDocumentContent", document_id],
      ["getDocument", document_id],
    ]);
  });

  it("nothing is recorded, and nothing is in the way, where it is off", async () => {
    await using server = await openTestServer("memory", { audit: "off" });
    const key = await server.key("w1", "ann", { role: "admin" });
    expect((await server.call("POST", "/v1/repositories", { key, body: { repository_id: "kb" } })).status).toBe(201);
    expect(await entries(server, key)).toEqual([]);
  });
});
