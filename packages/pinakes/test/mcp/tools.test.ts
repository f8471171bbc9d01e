/** Every tool through the official client, at both revisions: real data, and the answers of `/v1`. */
import type { Client } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import { tools } from "../../src/mcp/tools/index.ts";
import type { Json } from "../http/support/server.ts";
import { until } from "../support/until.ts";
import { base64, call, engines, metadataOf, pathOf, revisions, succeed, useWorld } from "./support/mcp-world.ts";

const names = [
  "search",
  "verify_citation",
  "answer",
  "create_catalog",
  "list_catalogs",
  "upload_to_catalog",
  "list_catalog_documents",
  "delete_catalog_document",
  "select_catalog",
  "query_catalog",
  "delete_catalog",
  "get_indexing_status",
  "download_from_catalog",
  "triples_match",
  "sparql_select",
  "workflow_list",
  "workflow_get",
  "workflow_create",
  "workflow_update",
  "workflow_checkpoint",
  "workflow_resume",
  "memory_append",
  "memory_recall",
  "memory_search",
  "session_list",
  "metrics_query",
  "tool_log_search",
  "state_query",
  "erasure_request",
  "erasure_status",
  "job_wait",
];
const readers = new Set(
  names.filter((name) =>
    /^(search|verify|answer|list_|query|get_|download|triples|sparql|memory_(recall|search))/.test(name),
  ),
);
for (const name of ["workflow_list", "workflow_get", "session_list", "metrics_query", "tool_log_search"])
  readers.add(name);
for (const name of ["state_query", "erasure_status", "job_wait"]) readers.add(name);

const papers = "library/papers";
const day = "2025-03-01";

describe.each(engines)("tools on %s", (engine) => {
  let ann: string;
  let document: Json;
  const world = useWorld(engine, async (opened) => {
    const boss = await opened.key("w1", "boss", { role: "admin" });
    ann = await opened.key("w1", "ann");
    await opened.ok(boss, "POST", "/v1/repositories", { repository_id: "library" });
    await opened.ok(ann, "POST", "/v1/repositories/library/collections", { collection_id: "papers", name: "Papers" });
    document = await opened.indexed(ann, papers, "otters.md", "# Otters\n\nOtters hold hands while they sleep.\n");
    await opened.ok(ann, "POST", `${pathOf(papers)}/triples`, [
      { s: "a:otter", p: "a:eats", o: { type: "literal", value: "fish" } },
      { s: "a:otter", p: "a:is", o: { type: "iri", value: "a:mammal" } },
    ]);
    const metric = { agent_id: "a1", metric_type: "latency", metric_name: "turn", unit: "ms" };
    await opened.ok(ann, "POST", "/v1/metrics:ingest", [
      { ...metric, value: 100, timestamp: `${day}T10:00:00.000Z` },
      { ...metric, value: 300, timestamp: `${day}T10:30:00.000Z` },
    ]);
    await opened.ok(ann, "POST", "/v1/tool-invocations:ingest", [
      { tool_name: "grep", agent_id: "a1", session_id: "s1", status: "success", duration_ms: 12 },
    ]);
  });

  describe.each(revisions)("at %s", (revision) => {
    const connected = (key = ann): Promise<Client> => world().client(revision, key);
    const v1 = (method: string, path: string, body?: unknown): Promise<Json> => world().ok(ann, method, path, body);

    it("lists every tool with its description, schemas and annotations", async () => {
      const client = await connected();
      expect(client.getNegotiatedProtocolVersion()).toBe(revision);
      const { tools: listed } = await client.listTools();
      expect(listed.map(({ name }) => name)).toEqual(names);
      expect(tools.map(({ name }) => name)).toEqual(names);
      for (const { name, title, description, inputSchema, outputSchema, annotations } of listed) {
        expect(title, name).toMatch(/^[A-Z]/);
        expect(description?.length, name).toBeGreaterThan(20);
        expect(inputSchema, name).toMatchObject({ type: "object", additionalProperties: false });
        for (const [field, schema] of Object.entries(inputSchema.properties ?? {}))
          expect(Object.keys(schema as object).length, `${name}.${field}`).toBeGreaterThan(0);
        expect(outputSchema, name).toMatchObject({ type: "object" });
        expect(annotations, name).toEqual({
          readOnlyHint: readers.has(name),
          destructiveHint: /^(upload_to|delete_|erasure_request)/.test(name),
          idempotentHint: expect.any(Boolean),
          openWorldHint: false,
        });
      }
    });

    it("search and verify_citation answer as POST /v1/search and /v1/citations:verify", async () => {
      const client = await connected();
      const query = "how do otters sleep?";
      const found = await succeed(client, "search", { query, in: [papers], limit: 3 });
      const same = await v1("POST", "/v1/search", {
        query,
        collections: [{ repository: "library", collection: "papers" }],
        limit: 3,
      });
      const hits = found["hits"] as Json[];
      expect(found["outcome"]).toBe("ok");
      expect(found["mode_used"]).toEqual(same["mode_used"]);
      const shown = ({ text, score, document_id, chunk_id, metadata, citation }: Json) => ({
        text,
        score,
        document_id,
        chunk_id,
        metadata,
        citation,
      });
      expect(hits.map(shown)).toEqual((same["hits"] as Json[]).map(shown));
      expect(hits[0]?.["text"]).toContain("hold hands");
      const citation = hits[0]?.["citation"] as Json;
      const checked = await succeed(client, "verify_citation", { citation });
      const { checks } = await v1("POST", "/v1/citations:verify", { citations: [citation] });
      expect(checked).toEqual((checks as Json[])[0]);
      expect(checked).toMatchObject({ valid: true, current: true });
      const forged = { ...citation, quote: "Otters hold grudges." };
      expect(await succeed(client, "verify_citation", { citation: forged })).toMatchObject({ valid: false });
    });

    it("answer answers as POST /v1/answers, each sentence with a citation that stands; refusals say why", async () => {
      const client = await connected();
      const question = "What do otters do while they sleep?";
      const answered = await succeed(client, "answer", { question, in: [papers], mode: "extractive" });
      const same = await v1("POST", "/v1/answers", {
        question,
        mode: "extractive",
        collections: [{ repository: "library", collection: "papers" }],
      });
      const shown = ({ text, mode, model, outcome, sentences, finish }: Json) => ({
        text,
        mode,
        model,
        outcome,
        sentences,
        finish,
      });
      expect(shown(answered)).toEqual(shown(same));
      const [sentence] = answered["sentences"] as { supported: boolean; citations: Json[] }[];
      expect(sentence).toMatchObject({ supported: true, citations: [{ filename: "otters.md" }] });
      expect(await succeed(client, "verify_citation", { citation: sentence?.citations[0] })).toMatchObject({
        valid: true,
      });
      const refused = await succeed(client, "answer", { question: "zxqv blorp quetzal?", in: [papers] });
      expect(refused).toMatchObject({ text: "", refusal: { reason: "no_match" } });
    });

    it("search says why it is empty, and links to each document", async () => {
      const client = await connected();
      const { result } = await call(client, "search", { query: "otters", in: ["library"] });
      expect(result.content.filter(({ type }) => type === "resource_link")).toEqual([
        expect.objectContaining({
          uri: `pinakes://repositories/library/collections/papers/documents/${String(document["document_id"])}`,
          name: "otters.md",
        }),
      ]);
      const nothing = await call(client, "search", { query: "otters", in: ["me"] });
      expect(nothing.structured).toMatchObject({ outcome: "empty", hits: [] });
      expect(nothing.text).toContain("upload documents");
    });

    it("R-KB-42 the ten tools of catalogs answer in their envelope, with what /v1 has", async () => {
      const key = await world().key("w1", `kb-${revision}`);
      const client = await connected(key);
      const own = (path: string): Promise<Json> => world().ok(key, "GET", `/v1/repositories/me/collections${path}`);
      const created = await succeed(client, "create_catalog", { catalog_name: "Recipes", description: "What we cook" });
      expect(created).toMatchObject({ status: "success", metadata: { tool_type: "knowledge_base" } });
      const { catalog_id } = metadataOf(created) as { catalog_id: string };
      expect(await own(`/${catalog_id}`)).toMatchObject({
        name: "Recipes",
        description: "What we cook",
        private: true,
      });
      const uploaded = await succeed(client, "upload_to_catalog", {
        catalog_id,
        filename: "soup.txt",
        file_content: base64("Leek soup needs potatoes and cream."),
      });
      const { document_id } = metadataOf(uploaded) as { document_id: string };
      const status = await until(async () => {
        const { metadata } = (await succeed(client, "get_indexing_status", { catalog_id })) as { metadata: Json };
        return (metadata["statistics"] as Json)["documents_indexed"] === 1 ? metadata : undefined;
      });
      expect(status["statistics"]).toMatchObject({ documents_scanned: 1, documents_failed: 0 });
      const listed = metadataOf(await succeed(client, "list_catalogs"));
      const collection = await own(`/${catalog_id}`);
      expect(listed).toMatchObject({
        catalog_count: 1,
        catalogs: [{ id: catalog_id, name: "Recipes", document_count: collection["document_count"] }],
      });
      const documents = metadataOf(await succeed(client, "list_catalog_documents", { catalog_id }));
      const { etag: _, ...stored } = await own(`/${catalog_id}/documents/${document_id}`);
      expect(documents["documents"]).toEqual([
        expect.objectContaining({
          document_id,
          filename: stored["name"],
          file_type: stored["file_type"],
          indexing_status: stored["status"],
          uploaded_at: Date.parse(stored["uploaded_at"] as string),
        }),
      ]);
      const selected = metadataOf(await succeed(client, "select_catalog", { catalog_id }));
      const { selection_handle } = selected;
      expect(selection_handle === undefined).toBe(revision === "2025-11-25");
      const asked = metadataOf(
        await succeed(client, "query_catalog", {
          query: "what is in leek soup?",
          ...(selection_handle === undefined ? {} : { selection_handle }),
        }),
      );
      const { hits } = await world().ok(key, "POST", `/v1/repositories/me/collections/${catalog_id}/search`, {
        query: "what is in leek soup?",
        limit: 5,
      });
      expect((asked["sources"] as Json[]).map(({ text, score }) => ({ text, score }))).toEqual(
        (hits as Json[]).map(({ text, score }) => ({ text, score })),
      );
      const { download_url } = metadataOf(await succeed(client, "download_from_catalog", { catalog_id, document_id }));
      expect(await (await fetch(download_url as string)).text()).toBe("Leek soup needs potatoes and cream.");
      await succeed(client, "delete_catalog_document", { catalog_id, document_id, confirm: true });
      expect((await own(`/${catalog_id}/documents`))["items"]).toEqual([]);
      await succeed(client, "delete_catalog", { catalog_id, confirm: true });
      expect((await own(""))["items"]).toEqual([]);
    });

    it("R-KB-42 the ten tools answer errors in their envelope, with the codes of their contract", async () => {
      const client = await connected(await world().key("w1", `kb-errors-${revision}`));
      const code = async (name: string, args: Record<string, unknown>) => {
        const { structured, isError, text } = await call(client, name, args);
        expect(isError, `${name}: ${text}`).toBe(true);
        expect(structured, `${name}: ${text}`).toMatchObject({ status: "error", content: [{ text }] });
        return metadataOf(structured)["error_code"];
      };
      expect(await code("create_catalog", { catalog_name: "a/b" })).toBe("INVALID_NAME");
      expect(await code("create_catalog", {})).toBe("INVALID_NAME");
      expect(await code("create_catalog", { catalog_name: "A", description: "<b>bold</b>" })).toBe(
        "INVALID_DESCRIPTION",
      );
      const { catalog_id } = metadataOf(await succeed(client, "create_catalog", { catalog_name: "Taken" })) as {
        catalog_id: string;
      };
      expect(await code("create_catalog", { catalog_name: "taken" })).toBe("DUPLICATE_NAME");
      expect(await code("create_catalog", { catalog_name: "B", colour: "red" })).toBe("INVALID_INPUT");
      expect(await code("list_catalogs", { all: true })).toBe("INVALID_INPUT");
      const upload = (fields: object) => code("upload_to_catalog", { catalog_id, filename: "a.txt", ...fields });
      expect(await upload({ filename: "../a.txt", file_content: base64("x") })).toBe("INVALID_FILENAME");
      expect(await upload({ filename: "a.exe", file_content: base64("x") })).toBe("INVALID_FILE_TYPE");
      expect(await upload({ file_content: "not base64!" })).toBe("INVALID_FILE_CONTENT");
      expect(await upload({ file_content: 7 })).toBe("INVALID_FILE_CONTENT");
      expect(await upload({})).toBe("NO_FILES_UPLOADED");
      expect(await code("list_catalog_documents", { catalog_id: "none-such" })).toBe("CATALOG_NOT_FOUND");
      expect(await code("list_catalog_documents", { catalog_id: 7 })).toBe("INVALID_INPUT");
      const document_id = "none-such";
      expect(await code("delete_catalog_document", { catalog_id, document_id, confirm: true })).toBe(
        "DOCUMENT_NOT_FOUND",
      );
      expect(await code("delete_catalog_document", { catalog_id, document_id })).toBe("DOCUMENT_NOT_FOUND");
      expect(await code("delete_catalog_document", { catalog_id: "none-such", document_id })).toBe("CATALOG_NOT_FOUND");
      expect(await code("download_from_catalog", { catalog_id, document_id })).toBe("DOCUMENT_NOT_FOUND");
      expect(await code("select_catalog", { catalog_id: "none-such" })).toBe("CATALOG_NOT_FOUND");
      expect(await code("select_catalog", { catalog_id })).toBe("CATALOG_EMPTY");
      expect(await code("select_catalog", { catalog_id, selection_handle: "short" })).toBe("INVALID_INPUT");
      expect(await code("query_catalog", { query: "x" })).toBe("NO_CATALOG_SELECTED");
      expect(await code("query_catalog", { query: "x", catalog_id })).toBe("CATALOG_EMPTY");
      expect(await code("query_catalog", { query: "", catalog_id })).toBe("INVALID_INPUT");
      expect(await code("get_indexing_status", { catalog_id: "none-such" })).toBe("CATALOG_NOT_FOUND");
      expect(await code("delete_catalog", { catalog_id: "none-such", confirm: true })).toBe("CATALOG_NOT_FOUND");
      expect(await code("delete_catalog", { catalog_id: "none-such" })).toBe("CATALOG_NOT_FOUND");
      expect(await code("delete_catalog", { catalog_id, confirm: "yes" })).toBe("INVALID_INPUT");
      expect(await code("delete_catalog", { catalog_id })).toBe("CONFIRMATION_REQUIRED");
    });

    it("triples_match and sparql_select answer as /v1", async () => {
      const client = await connected();
      const matched = await succeed(client, "triples_match", { collection: papers, s: "<a:otter>", limit: 1 });
      const same = await v1("GET", `${pathOf(papers)}/triples?s=${encodeURIComponent("<a:otter>")}&limit=1`);
      expect({ ...matched, next_cursor: "" }).toEqual({ ...same, next_cursor: "" });
      const rest = await succeed(client, "triples_match", {
        collection: papers,
        s: "<a:otter>",
        cursor: matched["next_cursor"],
      });
      expect(rest).toMatchObject({ items: [expect.anything()], next_cursor: null });
      const none = { collection: papers, g: null, p: "<a:eats>" };
      expect((await succeed(client, "triples_match", none))["items"]).toHaveLength(1);
      const query = "SELECT ?what WHERE { <a:otter> <a:eats> ?what }";
      const rows = await succeed(client, "sparql_select", { collection: papers, query });
      expect(rows).toEqual({ variables: ["what"], rows: [{ what: expect.objectContaining({ value: "fish" }) }] });
      const { results } = await v1("GET", `${pathOf(papers)}/sparql?query=${encodeURIComponent(query)}`);
      expect((results as { bindings: Json[] }).bindings).toEqual([{ what: { type: "literal", value: "fish" } }]);
      const asks = { collection: papers, query: "ASK { <a:otter> <a:is> <a:mammal> }" };
      expect(await succeed(client, "sparql_select", asks)).toEqual({ value: true });
      for (const refused of ["DESCRIBE <a:otter>", "INSERT DATA { <a:b> <a:c> <a:d> }", "SELECT nonsense"]) {
        const { isError, text } = await call(client, "sparql_select", { collection: papers, query: refused });
        expect(isError, refused).toBe(true);
        expect(text, refused).toMatch(/^(INVALID|NOT_SUPPORTED): /);
      }
    });

    it("the tools of workflows answer as /v1", async () => {
      const client = await connected();
      const input = { type: "sequential", name: `Research ${revision}`, total_steps: 3, idempotency_key: revision };
      const { workflow } = (await succeed(client, "workflow_create", input)) as { workflow: Json };
      expect(await succeed(client, "workflow_create", input)).toEqual({ workflow });
      const id = workflow["workflow_id"] as string;
      expect(await v1("GET", `/v1/workflows/${id}`)).toEqual(workflow);
      const change = { status: "in_progress" };
      const updated = (await succeed(client, "workflow_update", {
        workflow_id: id,
        change,
        if_match: workflow["_etag"],
      })) as { workflow: Json };
      expect(updated.workflow).toMatchObject(change);
      const stale = await call(client, "workflow_update", {
        workflow_id: id,
        change: { name: "Lost" },
        if_match: workflow["_etag"],
      });
      expect(stale.isError).toBe(true);
      expect(stale.text).toMatch(/^PRECONDITION_FAILED: /);
      expect(stale.result._meta).toMatchObject({
        "io.pinakes/error": { code: "PRECONDITION_FAILED", retryable: false },
      });
      const saved = await succeed(client, "workflow_checkpoint", {
        workflow_id: id,
        step: 1,
        state: { found: ["a"] },
        agent_context: { turn: 2 },
      });
      expect(saved["checkpoint"]).toEqual(await v1("GET", `/v1/workflows/${id}/checkpoints/1`));
      const resumed = await succeed(client, "workflow_resume", { workflow_id: id, owner: "worker-1" });
      expect(resumed).toMatchObject({
        state: { found: ["a"] },
        agent_context: { turn: 2 },
        lease: { owner: "worker-1", fencing_token: expect.any(Number) },
      });
      const unfenced = await call(client, "workflow_checkpoint", { workflow_id: id, step: 2, state: {} });
      expect(unfenced.text).toMatch(/^(CONFLICT|PRECONDITION_FAILED): /);
      const { fencing_token } = resumed["lease"] as Json;
      await succeed(client, "workflow_checkpoint", { workflow_id: id, step: 2, state: {}, fencing_token });
      expect((await succeed(client, "workflow_get", { workflow_id: id }))["workflow"]).toEqual(
        await v1("GET", `/v1/workflows/${id}`),
      );
      const listed = await succeed(client, "workflow_list", { status: "in_progress" });
      expect(listed).toEqual(await v1("GET", "/v1/workflows?status=in_progress&limit=20"));
      expect((listed["items"] as Json[]).map(({ workflow_id }) => workflow_id)).toContain(id);
      const missing = await call(client, "workflow_get", { workflow_id: "none-such" });
      expect(missing.text).toMatch(/^NOT_FOUND: /);
    });

    it("the tools of memories answer as /v1", async () => {
      const client = await connected();
      const session_id = `talk-${revision}`;
      const message = { agent_id: "a1", session_id, message_type: "user" };
      const once = { ...message, content: "I prefer night trains.", idempotency_key: `first-${revision}` };
      const { memory } = (await succeed(client, "memory_append", once)) as { memory: Json };
      expect(await succeed(client, "memory_append", once)).toEqual({ memory });
      expect(await v1("GET", `/v1/agents/a1/memories/${String(memory["id"])}`)).toEqual(memory);
      await succeed(client, "memory_append", {
        ...message,
        message_type: "assistant",
        content: "Noted: night trains.",
        parent_message_id: memory["id"],
        metadata: { tags: ["travel"] },
      });
      const recalled = await succeed(client, "memory_recall", { agent_id: "a1", session_id, max_tokens: 1_000 });
      expect(recalled).toEqual(await v1("GET", `/v1/agents/a1/sessions/${session_id}/context?max_tokens=1000`));
      expect((recalled["messages"] as Json[]).map(({ content }) => content)).toEqual([
        "I prefer night trains.",
        "Noted: night trains.",
      ]);
      const query = { query: "night trains", agent_id: "a1", session_id, limit: 5 };
      const found = await until(async () => {
        const answer = await succeed(client, "memory_search", query);
        return answer["incomplete"] === undefined && answer;
      });
      expect((found["hits"] as Json[]).length).toBe(2);
      expect(found).toEqual(await v1("POST", "/v1/memories:search", query));
      const sessions = await succeed(client, "session_list", { agent_id: "a1" });
      expect(sessions).toEqual(await v1("GET", "/v1/agents/a1/sessions?limit=20"));
      expect((sessions["items"] as Json[]).map((one) => one["session_id"])).toContain(session_id);
    });

    it("metrics_query, tool_log_search and state_query answer as /v1", async () => {
      const client = await connected();
      const aggregate = {
        aggregates: ["count", "avg", "p95"],
        group_by: ["agent_id"],
        bucket: "hour",
        filter: { metric_type: "latency" },
        from: `${day}T00:00:00.000Z`,
        to: `${day}T23:00:00.000Z`,
      };
      const figures = await succeed(client, "metrics_query", aggregate);
      expect(figures["items"]).toMatchObject([{ values: { count: 2, avg: 200 } }]);
      expect(figures).toEqual(await v1("POST", "/v1/metrics:aggregate", aggregate));
      const logged = await succeed(client, "tool_log_search", { tool_name: "grep", limit: 10 });
      expect(logged["items"]).toHaveLength(1);
      expect(logged).toEqual(await v1("GET", "/v1/tool-invocations?tool_name=grep&limit=10"));
      const query = {
        query: "SELECT c.tool_name, c.duration_ms FROM c WHERE c.status = @status",
        parameters: [{ name: "@status", value: "success" }],
      };
      const rows = await succeed(client, "state_query", { container: "tool-invocations", ...query });
      expect(rows["items"]).toEqual([{ tool_name: "grep", duration_ms: 12 }]);
      const same = await v1("POST", "/v1/containers/tool-invocations/query", { ...query, limit: 100 });
      expect(rows["items"]).toEqual(same["items"]);
    });

    it("job_wait waits for a job with progress, and answers as GET /v1/jobs", async () => {
      const client = await connected();
      const { job_id } = (await v1("POST", `${pathOf(papers)}:reindex`, {})) as { job_id: string };
      const seen: number[] = [];
      const { structuredContent } = await client.callTool(
        { name: "job_wait", arguments: { job_id, timeout_seconds: 120 } },
        { onprogress: ({ progress }) => void seen.push(progress), timeout: 240_000 },
      );
      expect(structuredContent).toMatchObject({ job_id, status: "succeeded" });
      expect(structuredContent).toEqual(await v1("GET", `/v1/jobs/${job_id}`));
      expect(seen.length).toBeGreaterThan(0);
      expect(await succeed(client, "job_wait", { job_id, timeout_seconds: 0 })).toMatchObject({ status: "succeeded" });
      expect((await call(client, "job_wait", { job_id: "none-such" })).text).toMatch(/^NOT_FOUND: /);
    });

    it("refuses unknown tools, and arguments that are missing, unknown or of the wrong type", async () => {
      const client = await connected();
      await expect(client.callTool({ name: "no_such_tool", arguments: {} })).rejects.toMatchObject({ code: -32_602 });
      const refused: readonly [string, Record<string, unknown>, RegExp][] = [
        ["search", {}, /query/],
        ["search", { query: 7 }, /query/],
        ["search", { query: "x", limit: 0 }, /limit/],
        ["search", { query: "x", colour: "red" }, /colour/],
        ["workflow_create", { type: "spiral", name: "x", total_steps: 1 }, /type/],
        ["memory_append", { agent_id: "a1", session_id: "s", message_type: "user" }, /content/],
        ["state_query", { container: "agent-metrics", query: "SELECT 1", parameters: [{ name: 1 }] }, /parameters/],
        ["job_wait", { job_id: "x", timeout_seconds: 601 }, /timeout_seconds/],
      ];
      for (const [name, args, about] of refused) {
        const { isError, text } = await call(client, name, args);
        expect(isError, `${name} ${JSON.stringify(args)}: ${text}`).toBe(true);
        expect(text).toMatch(about);
      }
      const sql = await call(client, "state_query", { container: "agent-metrics", query: "DELETE FROM c" });
      expect(sql.text).toMatch(/^INVALID: /);
      expect((await call(client, "state_query", { container: "nope", query: "SELECT * FROM c" })).text).toMatch(
        /^NOT_FOUND: /,
      );
    });

    it("a key that may only read calls the tools that read, and no other", async () => {
      const reader = await connected(await world().key("w1", "ann", { scopes: ["read"] }));
      const { tools: listed } = await reader.listTools();
      const writers = listed.filter(({ annotations }) => annotations?.readOnlyHint !== true);
      expect(writers.map(({ name }) => name).toSorted()).toEqual(names.filter((name) => !readers.has(name)).toSorted());
      const args: Readonly<Record<string, Record<string, unknown>>> = {
        create_catalog: { catalog_name: "A" },
        upload_to_catalog: { catalog_id: "c", filename: "a.txt", file_content: base64("x") },
        delete_catalog_document: { catalog_id: "c", document_id: "d", confirm: true },
        select_catalog: { catalog_id: "c" },
        delete_catalog: { catalog_id: "c", confirm: true },
        workflow_create: { type: "sequential", name: "x", total_steps: 1 },
        workflow_update: { workflow_id: "w", change: {} },
        workflow_checkpoint: { workflow_id: "w", step: 1, state: {} },
        workflow_resume: { workflow_id: "w" },
        memory_append: { agent_id: "a", session_id: "s", message_type: "user", content: "x" },
        erasure_request: { subject: { type: "user", id: "ann" } },
      };
      for (const { name } of writers) {
        const { isError, text } = await call(reader, name, args[name]);
        expect(isError, name).toBe(true);
        expect(text, name).toMatch(/^FORBIDDEN: This key is read-only/);
      }
      expect(await succeed(reader, "search", { query: "otters", in: [papers] })).toMatchObject({ outcome: "ok" });
      expect(await succeed(reader, "list_catalogs")).toMatchObject({ status: "success" });
    });
  });
});
