/** The ten tools as HTTP resources: statuses, forms with several files, sessions, server-sent events, and the form of every error. */
import { beforeAll, describe, expect, it } from "vitest";
import { consoleRoutes, isConsoleRoute } from "../../src/http/console-routes.ts";
import { openTestServer, type Json, type Reply } from "../http/support/server.ts";
import { until } from "../support/until.ts";
import { startPostgres } from "../../src/drivers/postgres/test-server.ts";
import { forAllTests } from "../support/for-tests.ts";

const postgres = forAllTests(() => startPostgres());

function form(
  files: Readonly<Record<string, string | Uint8Array<ArrayBuffer>>>,
  fields: Readonly<Record<string, string>> = {},
) {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.append(name, value);
  for (const [name, content] of Object.entries(files)) data.append("file", new Blob([content]), name);
  return data;
}

function expectRefusal(reply: Reply, status: number, error_code: string): void {
  expect(reply.json, reply.text).toMatchObject({
    status: "error",
    metadata: { tool_type: "knowledge_base", error_code },
  });
  expect(reply.status, reply.text).toBe(status);
  expect((reply.json["content"] as readonly Json[])[0]?.["text"]).toBeTruthy();
}

describe.each([
  ["SQLite", () => ({})],
  ["PostgreSQL", () => ({ items: postgres.url })],
])("catalogs over REST on %s", (_engine, stores) => {
  let ann: string;
  const server = forAllTests(() => openTestServer("sqlite", stores()));
  beforeAll(async () => {
    ann = await server.key("acme", "ann");
  });

  const call = (method: string, path: string, body?: unknown, key = ann): Promise<Reply> =>
    server.call(method, path, { key, body });
  const metadataOf = ({ json }: Reply): Json => json["metadata"] as Json;

  async function catalog(name: string, files: Readonly<Record<string, string>> = {}, key = ann): Promise<string> {
    const { catalog_id } = metadataOf(await call("POST", "/catalogs", { catalog_name: name }, key));
    if (Object.keys(files).length > 0) {
      expect((await call("POST", `/catalogs/${catalog_id as string}/documents`, form(files), key)).status).toBe(202);
      await settled(catalog_id as string, key);
    }
    return catalog_id as string;
  }

  async function settled(id: string, key = ann): Promise<Json> {
    return until(async () => {
      const status = metadataOf(await call("GET", `/catalogs/${id}/status`, undefined, key));
      return (status["statistics"] as Json)["documents_in_progress"] === 0 ? status : undefined;
    });
  }

  it("R-KB-42 the whole way over REST: create, upload, ask, list, download, delete", async () => {
    const made = await call("POST", "/catalogs", { catalog_name: "Travel", description: "Of Ada." });
    expect(made.status).toBe(201);
    const id = metadataOf(made)["catalog_id"] as string;
    expect(metadataOf(made)).toMatchObject({ s3_prefix: `ann/${id}/` });
    expect(metadataOf(await call("GET", "/catalogs"))).toMatchObject({ catalogs: [{ id, name: "Travel" }] });
    const text = "Ada prefers trains to planes.";
    const sent = await call("POST", `/catalogs/${id}/documents`, {
      filename: "ada.txt",
      file_content: Buffer.from(text).toString("base64"),
    });
    expect(sent.status, sent.text).toBe(202);
    const { document_id } = metadataOf(sent) as { document_id: string };
    expect(await settled(id)).toMatchObject({ overall_status: "ready", job_id: expect.any(String) });
    const asked = await call("POST", `/catalogs/${id}/query`, { query: "How does Ada travel?" });
    expect(metadataOf(asked)).toMatchObject({ sources: [{ filename: "ada.txt", text, document_id }] });
    const [source] = metadataOf(asked)["sources"] as readonly { uri: string }[];
    expect((await call("GET", new URL(source?.uri ?? "").pathname)).text).toBe(text);
    const listed = await call("GET", `/catalogs/${id}/documents`);
    expect(metadataOf(listed)).toMatchObject({ documents: [{ document_id, indexing_status: "indexed" }] });
    const link = metadataOf(await call("GET", `/catalogs/${id}/documents/${document_id}/download`));
    expect(link["expires_in_seconds"]).toBe(900);
    const { pathname } = new URL(link["download_url"] as string);
    expect((await server.call("GET", pathname)).text).toBe(text);
    server.later(901_000);
    expect((await server.call("GET", pathname)).status).toBe(404);
    const gone = await call("DELETE", `/catalogs/${id}/documents/${document_id}`);
    expect(metadataOf(gone)).toMatchObject({ filename: "ada.txt", vectors_removed: 1 });
    expectRefusal(await call("DELETE", `/catalogs/${id}`), 400, "CONFIRMATION_REQUIRED");
    expectRefusal(await call("DELETE", `/catalogs/${id}?confirm=false`), 400, "CONFIRMATION_REQUIRED");
    expectRefusal(await call("DELETE", `/catalogs/${id}?confirm=yes`), 400, "INVALID_INPUT");
    expect(metadataOf(await call("DELETE", `/catalogs/${id}?confirm=true`))).toMatchObject({
      data_source_deleted: true,
    });
    expectRefusal(await call("GET", `/catalogs/${id}/status`), 404, "CATALOG_NOT_FOUND");
  });

  describe("R-KB-43 several files in one operation", () => {
    it("each has its own result, under one job", async () => {
      const id = await catalog("Several", { "there.txt": "Already there." });
      const files = {
        "one.txt": "Words about rivers.",
        "there.txt": "Another text.",
        "two.md": "Words about lakes.",
        "program.exe": "MZ",
        "empty.txt": "",
        "three.csv": "a,b\n1,2\n",
      };
      const reply = await call("POST", `/catalogs/${id}/documents`, form(files));
      expect(reply.status).toBe(202);
      const { documents, errors, job_id } = metadataOf(reply);
      expect((documents as readonly Json[]).map(({ filename }) => filename)).toEqual([
        "one.txt",
        "two.md",
        "three.csv",
      ]);
      expect(errors).toMatchObject([
        { filename: "there.txt", error_code: "DUPLICATE_FILE" },
        { filename: "program.exe", error_code: "INVALID_FILE_TYPE" },
        { filename: "empty.txt", error_code: "INVALID_FILE_CONTENT" },
      ]);
      expect((await call("GET", `/v1/jobs/${job_id as string}`)).status).toBe(200);
      expect(await settled(id)).toMatchObject({ document_count: 4, job_id, statistics: { job_status: "succeeded" } });
    });

    it("R-KB-44 replace=true applies to the files after it", async () => {
      const id = await catalog("Replaced", { "a.txt": "Old words.", "b.txt": "Old words, too." });
      const data = new FormData();
      data.append("file", new Blob(["New words."]), "a.txt");
      data.append("replace", "true");
      data.append("file", new Blob(["New words, too."]), "B.txt");
      const { documents, errors } = metadataOf(await call("POST", `/catalogs/${id}/documents`, data));
      expect(documents).toMatchObject([{ filename: "B.txt" }]);
      expect(errors).toMatchObject([{ filename: "a.txt", error_code: "DUPLICATE_FILE" }]);
      expect(await settled(id)).toMatchObject({ document_count: 2, counts: { indexed: 2 } });
    });

    it("R-KB-21 R-KB-40 a file past a limit is refused as it comes, and leaves nothing; the others are stored", async () => {
      const id = await catalog("Too large");
      const over = new Uint8Array(52_428_801).fill(97);
      const reply = await call(
        "POST",
        `/catalogs/${id}/documents`,
        form({ "over.txt": over, "fine.txt": "Some words." }),
      );
      expect(metadataOf(reply)).toMatchObject({
        documents: [{ filename: "fine.txt" }],
        errors: [{ filename: "over.txt", error_code: "FILE_TOO_LARGE" }],
      });
      expect((await settled(id))["document_count"]).toBe(1);
    });

    it("where none is stored, the answer is the error", async () => {
      const id = await catalog("Errors", { "there.txt": "Already there." });
      const at = `/catalogs/${id}/documents`;
      expectRefusal(await call("POST", at, new FormData()), 400, "NO_FILES_UPLOADED");
      expectRefusal(await call("POST", at, form({ "there.txt": "x" })), 409, "DUPLICATE_FILE");
      expectRefusal(await call("POST", at, form({ "a.exe": "x" })), 415, "INVALID_FILE_TYPE");
      expectRefusal(await call("POST", at, form({ "a/b.txt": "x" })), 400, "INVALID_FILENAME");
      const both = await call("POST", at, form({ "a.exe": "x", "there.txt": "x" }));
      expectRefusal(both, 415, "INVALID_FILE_TYPE");
      expect(metadataOf(both)["errors"]).toHaveLength(2);
      expectRefusal(await call("POST", at, form({ "a.txt": "x" }, { owner: "bob" })), 400, "INVALID_INPUT");
      expectRefusal(await call("POST", at, form({ "a.txt": "x" }, { replace: "yes" })), 400, "INVALID_INPUT");
      expectRefusal(await call("POST", at, { filename: "a.txt" }), 400, "NO_FILES_UPLOADED");
      expectRefusal(
        await call("POST", "/catalogs/nothing/documents", form({ "a.txt": "x" })),
        404,
        "CATALOG_NOT_FOUND",
      );
      expect((await settled(id))["document_count"]).toBe(1);
    });
  });

  describe("sessions", () => {
    it("R-KB-31 R-KB-33 a session has what it selected: null at first, changed by PUT, gone by DELETE", async () => {
      const rivers = await catalog("Rivers", { "rivers.txt": "Words about rivers." });
      const lakes = await catalog("Lakes", { "lakes.txt": "Words about lakes." });
      const query = { query: "words about rivers or lakes" };
      expect(metadataOf(await call("GET", "/sessions/s1/catalog"))).toMatchObject({
        selected_catalog_id: null,
        selected_at: null,
      });
      expectRefusal(await call("POST", "/sessions/s1/query", query), 409, "NO_CATALOG_SELECTED");
      const put = await call("PUT", "/sessions/s1/catalog", { catalog_id: rivers });
      expect(metadataOf(put)).toMatchObject({ active: true, document_count: 1 });
      const got = metadataOf(await call("GET", "/sessions/s1/catalog"));
      expect(got).toMatchObject({ selected_catalog_id: rivers, selected_at: metadataOf(put)["selected_at"] });
      expect(metadataOf(await call("POST", "/sessions/s1/query", query))).toMatchObject({ catalog_id: rivers });
      await call("PUT", `/sessions/${encodeURIComponent("a/b c")}/catalog`, { catalog_id: lakes });
      expect(metadataOf(await call("POST", `/sessions/${encodeURIComponent("a/b c")}/query`, query))).toMatchObject({
        catalog_id: lakes,
      });
      expect(metadataOf(await call("POST", "/sessions/s1/query", { ...query, catalog_id: lakes }))).toMatchObject({
        catalog_id: lakes,
      });
      const bob = await server.key("acme", "bob");
      expect(metadataOf(await call("GET", "/sessions/s1/catalog", undefined, bob))["selected_catalog_id"]).toBeNull();
      expectRefusal(await call("PUT", "/sessions/s1/catalog", { catalog_id: rivers }, bob), 404, "CATALOG_NOT_FOUND");
      expect((await call("DELETE", "/sessions/s1/catalog")).status).toBe(200);
      expectRefusal(await call("POST", "/sessions/s1/query", query), 409, "NO_CATALOG_SELECTED");
      await call("PUT", "/sessions/s1/catalog", { catalog_id: lakes });
      await call("DELETE", `/catalogs/${lakes}?confirm=true`);
      expect(metadataOf(await call("GET", "/sessions/s1/catalog"))["selected_catalog_id"]).toBeNull();
      expectRefusal(await call("GET", `/sessions/${"x".repeat(257)}/catalog`), 400, "INVALID_INPUT");
    });

    it("R-KB-45 an empty catalog is a conflict of its own; nothing relevant is an answer without sources", async () => {
      const empty = await catalog("Nothing in it");
      expectRefusal(await call("PUT", "/sessions/s2/catalog", { catalog_id: empty }), 409, "CATALOG_EMPTY");
      expectRefusal(await call("POST", `/catalogs/${empty}/query`, { query: "anything?" }), 409, "CATALOG_EMPTY");
      const full = await catalog("Something in it", { "a.txt": "Words about rivers." });
      const reply = await call("POST", `/catalogs/${full}/query`, { query: "zyxgrble fnord quux" });
      expect([reply.status, metadataOf(reply)["sources"]]).toEqual([200, []]);
    });
  });

  it("R-KB-24 R-KB-46 the status as server-sent events: now, after each change, and an end when the catalog is deleted", async () => {
    const id = await catalog("Watched");
    const stop = new AbortController();
    const response = await server.raw("GET", `/catalogs/${id}/status`, {
      key: ann,
      headers: { accept: "text/event-stream" },
      signal: stop.signal,
    });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    const readUntil = async (wanted: RegExp): Promise<void> => {
      while (!wanted.test(text)) {
        const { done, value } = await reader.read();
        if (done) throw new Error(`The stream ended: ${text}`);
        text += value;
      }
    };
    await readUntil(/"document_count":0/);
    await call("POST", `/catalogs/${id}/documents`, form({ "a.txt": "Words about rivers." }));
    await readUntil(/"overall_status":"ready"/);
    await call("DELETE", `/catalogs/${id}?confirm=true`);
    await readUntil(/CATALOG_NOT_FOUND/);
    expect((await reader.read()).done).toBe(true);
    stop.abort();
    const headers = { accept: "text/event-stream" };
    expectRefusal(await server.call("GET", `/catalogs/${id}/status`, { key: ann, headers }), 404, "CATALOG_NOT_FOUND");
  });

  it("every error has the form of the tools, also those that end a request before its tool", async () => {
    expectRefusal(await server.call("GET", "/catalogs"), 401, "UNAUTHENTICATED");
    expectRefusal(await call("GET", "/catalogs?user_id=bob"), 400, "INVALID_INPUT");
    const headers = { "content-type": "application/json" };
    expectRefusal(await server.call("POST", "/catalogs", { key: ann, body: "{", headers }), 400, "INVALID_INPUT");
    const text = await server.call("POST", "/catalogs", {
      key: ann,
      body: "x",
      headers: { "content-type": "text/plain" },
    });
    expect(text.json, text.text).toMatchObject({ status: "error", metadata: { error_code: "INVALID_INPUT" } });
    expectRefusal(await call("POST", "/catalogs", { catalog_name: "x".repeat(2_000_000) }), 413, "LIMIT_EXCEEDED");
    for (const body of [undefined, {}, { catalog_name: "" }])
      expectRefusal(await call("POST", "/catalogs", body), 400, "INVALID_NAME");
    for (const body of [[], "x", 5]) {
      const reply = await server.call("POST", "/catalogs", { key: ann, body: JSON.stringify(body), headers });
      expectRefusal(reply, 400, "INVALID_INPUT");
    }
    const id = await catalog("Fields");
    const other = { query: "x", catalog_id: "other" };
    expectRefusal(await call("POST", `/catalogs/${id}/query`, other), 400, "INVALID_INPUT");
    expectRefusal(await call("POST", `/catalogs/${id}/query`, { query: "x", num_results: 0 }), 400, "INVALID_INPUT");
    expectRefusal(await call("POST", "/catalogs", { catalog_name: "fields" }), 409, "DUPLICATE_NAME");
    const reader = await server.key("acme", "ann", { scopes: ["read"] });
    expectRefusal(await call("POST", "/catalogs", { catalog_name: "Read" }, reader), 403, "ACCESS_DENIED");
    expectRefusal(await call("POST", `/catalogs/${id}/query`, { query: "x" }, reader), 409, "CATALOG_EMPTY");
  });
});

it("the console has no address that a route of catalogs has", () => {
  for (const path of ["/catalogs", "/catalogs/x", "/catalogs/x/documents", "/catalogs/x/status", "/sessions/x/catalog"])
    expect(isConsoleRoute(path), path).toBe(false);
  expect(consoleRoutes.filter((route) => /^\/(catalogs|sessions)/.test(route))).toEqual([]);
});
