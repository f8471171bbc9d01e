import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { makeCaller } from "../../../domain/caller.ts";
import { docsPage } from "./page.ts";
import {
  accepted,
  defineRoute,
  mount,
  mountReference,
  noContent,
  ok,
  openApi,
  queryFlag,
  queryInteger,
  type KitEnv,
  type Route,
} from "../index.ts";

const id = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,128}$/)
  .meta({ description: "Letters, digits, dot, underscore, dash." });
const Chunking = z
  .strictObject({
    type: z.enum(["fixed", "none"]).default("fixed"),
    chunk_size: z.int().min(1).max(10_000).default(512),
  })
  .meta({ id: "Chunking" });
const Tag = z.strictObject({ name: z.string() }).meta({ id: "Tag" });
const Collection = z
  .strictObject({
    collection_id: id,
    name: z.string().max(100),
    chunking: Chunking,
    tags: z.array(Tag),
    created_at: z.iso.datetime(),
    etag: z.string(),
  })
  .meta({ id: "Collection", description: "A collection." });
const Tree: z.ZodType = z
  .strictObject({
    name: z.string(),
    get children() {
      return z.array(Tree).optional();
    },
  })
  .meta({ id: "Tree" });
const params = z.strictObject({ cid: id });
const base = { auth: "caller", tag: "collections" } as const;

const routes: readonly Route[] = [
  defineRoute({
    ...base,
    method: "GET",
    path: "/v1/collections/{cid}",
    operationId: "getCollection",
    summary: "Read a collection",
    conditional: true,
    params,
    answers: { 200: { description: "It.", schema: Collection }, 304: { description: "Unchanged." } },
    handler: () => noContent(),
  }),
  defineRoute({
    ...base,
    method: "DELETE",
    path: "/v1/collections/{cid}",
    operationId: "deleteCollection",
    summary: "Delete a collection",
    conditional: true,
    params,
    query: z.strictObject({
      confirm: z.string().meta({ description: "The id again." }),
      purge: queryFlag().optional(),
    }),
    answers: { 202: { description: "The job." } },
    handler: () => accepted({}),
  }),
  defineRoute({
    ...base,
    method: "POST",
    path: "/v1/collections/{cid}:archive",
    operationId: "archiveCollection",
    summary: "Archive a collection",
    params,
    answers: { 204: { description: "Done." } },
    handler: () => noContent(),
  }),
  defineRoute({
    ...base,
    method: "POST",
    path: "/v1/collections",
    operationId: "createCollection",
    summary: "Create a collection",
    description: 'Names ignore case & "quotes" <b>count</b>.',
    idempotent: true,
    body: z.strictObject({
      name: z.string().min(1).max(100).meta({ description: "Shown to people." }),
      chunking: Chunking.optional(),
      tags: z.array(Tag).max(50).optional(),
    }),
    answers: { 201: { description: "Made.", schema: Collection } },
    handler: () => noContent(),
  }),
  defineRoute({
    ...base,
    method: "GET",
    path: "/v1/collections",
    operationId: "listCollections",
    summary: "List collections",
    query: z.strictObject({ limit: queryInteger({ min: 1, max: 1_000 }).default(100), cursor: z.string().optional() }),
    answers: {
      200: {
        description: "A page.",
        schema: z.strictObject({ items: z.array(Collection), next_cursor: z.string().nullable() }),
      },
    },
    handler: () => noContent(),
  }),
  defineRoute({
    ...base,
    tag: "documents",
    method: "POST",
    path: "/v1/collections/{cid}/documents",
    operationId: "uploadDocuments",
    summary: "Upload documents",
    params,
    body: {
      multipart: true,
      json: z.strictObject({ name: z.string(), text: z.string(), tree: Tree.optional() }),
      fields: { file: { description: "Files.", file: true, required: true }, metadata: { description: "JSON." } },
    },
    answers: { 202: { description: "Taken in." } },
    handler: () => accepted({}),
  }),
  defineRoute({
    ...base,
    tag: "documents",
    method: "POST",
    path: "/v1/collections/{cid}/triples",
    operationId: "loadTriples",
    summary: "Load triples",
    params,
    body: { raw: ["text/turtle"] },
    answers: { 204: { description: "Done." } },
    handler: () => noContent(),
  }),
  defineRoute({
    method: "GET",
    path: "/v1/info",
    operationId: "getInfo",
    summary: "What this server is",
    tag: "system",
    auth: "public",
    answers: { 200: { description: "It." } },
    handler: () => ok({}),
  }),
];
const info = {
  title: "Pinakes",
  version: "0.1.0",
  description: "The data plane of AI agents.",
  tags: [{ name: "documents", description: "Files and their text." }, { name: "unused" }],
};
const document = openApi(routes, info);

function walk(value: unknown, visit: (key: string, value: unknown) => void): void {
  if (typeof value !== "object" || value === null) return;
  for (const [key, child] of Object.entries(value)) {
    visit(key, child);
    walk(child, visit);
  }
}

describe("http kit: OpenAPI", () => {
  it("every reference leads somewhere, and every component is used", () => {
    const references = new Set<string>();
    walk(document, (key, value) => void (key === "$ref" && references.add(value as string)));
    for (const reference of references) {
      const target = reference
        .slice(2)
        .split("/")
        .reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], document);
      expect(target, reference).toBeDefined();
      expect(reference).toMatch(/^#\/components\//);
    }
    for (const name of Object.keys(document.components.schemas))
      expect(references).toContain(`#/components/schemas/${name}`);
    expect(JSON.stringify(document)).not.toContain("$defs");
  });

  it("operations have unique ids, declared path parameters, known tags, answers, problems and security", () => {
    const ids: string[] = [];
    const schemes = Object.keys(document.components.securitySchemes);
    for (const [path, item] of Object.entries(document.paths)) {
      for (const operation of Object.values(item)) {
        ids.push(operation.operationId);
        const inPath = (operation.parameters ?? []).filter((parameter) => parameter.in === "path");
        expect(inPath.map(({ name }) => name)).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
        expect(inPath.every(({ required }) => required)).toBe(true);
        expect(document.tags.map(({ name }) => name)).toContain(operation.tags[0]);
        expect(Object.keys(operation.responses).filter((status) => /^[23]\d\d$/.test(status)).length).toBeGreaterThan(
          0,
        );
        expect(operation.responses["default"]).toEqual({ $ref: "#/components/responses/Problem" });
        for (const requirement of operation.security) expect(schemes).toContain(Object.keys(requirement)[0]);
      }
    }
    expect(new Set(ids).size).toBe(routes.length);
    expect(document.tags.map(({ name }) => name)).toEqual(["documents", "collections", "system"]);
    expect(document.paths["/v1/info"]?.["get"]?.security).toEqual([]);
    expect(Object.keys(document.paths)).toContain("/v1/collections/{cid}:archive");
  });

  it("the order of the declarations does not matter", () => {
    expect(JSON.stringify(openApi(routes.toReversed(), info))).toBe(JSON.stringify(document));
  });

  it("a schema is one component, and two where what is taken differs from what is answered", () => {
    expect(Object.keys(document.components.schemas)).toEqual([
      "Chunking",
      "ChunkingInput",
      "Collection",
      "Tag",
      "Tree",
      "Problem",
    ]);
    expect(document.components.schemas["Chunking"]?.["required"]).toEqual(["type", "chunk_size"]);
    expect(document.components.schemas["ChunkingInput"]?.["required"]).toBeUndefined();
    const other = defineRoute({
      ...base,
      method: "GET",
      path: "/v1/x",
      operationId: "x",
      summary: "x",
      answers: { 200: { description: "x", schema: z.strictObject({ a: z.int() }).meta({ id: "Tag2" }) } },
      handler: () => noContent(),
    });
    const clash = defineRoute({
      ...base,
      method: "GET",
      path: "/v1/y",
      operationId: "y",
      summary: "y",
      answers: { 200: { description: "y", schema: z.strictObject({ b: z.int() }).meta({ id: "Problem" }) } },
      handler: () => noContent(),
    });
    expect(openApi([other], info).components.schemas["Tag2"]).toEqual({
      type: "object",
      properties: { a: { type: "integer" } },
      required: ["a"],
      additionalProperties: false,
    });
    expect(() => openApi([clash], info)).toThrow(/cannot be the id/);
  });

  it("a schema that refers to one with two forms has two forms itself", () => {
    const Outer = z.strictObject({ chunking: Chunking }).meta({ id: "Outer" });
    const both = defineRoute({
      ...base,
      method: "PUT",
      path: "/v1/o",
      operationId: "o",
      summary: "o",
      body: Outer,
      answers: { 200: { description: "o", schema: Outer } },
      handler: () => noContent(),
    });
    const { schemas } = openApi([both], info).components;
    expect(Object.keys(schemas)).toEqual(["Chunking", "ChunkingInput", "Outer", "OuterInput", "Problem"]);
    expect(schemas["OuterInput"]?.["properties"]).toEqual({ chunking: { $ref: "#/components/schemas/ChunkingInput" } });
    expect(schemas["Outer"]?.["properties"]).toEqual({ chunking: { $ref: "#/components/schemas/Chunking" } });
  });

  it("parameters, forms and raw bodies are described", () => {
    const list = document.paths["/v1/collections"]?.["get"];
    expect(list?.parameters).toEqual([
      {
        name: "limit",
        in: "query",
        required: false,
        schema: { type: "integer", minimum: 1, maximum: 1_000, default: 100 },
      },
      { name: "cursor", in: "query", required: false, schema: { type: "string" } },
    ]);
    expect(document.paths["/v1/collections"]?.["post"]?.parameters).toMatchObject([
      { name: "Idempotency-Key", in: "header" },
    ]);
    expect(
      document.paths["/v1/collections/{cid}"]?.["delete"]?.parameters?.map(({ name, required }) => [name, required]),
    ).toEqual([
      ["cid", true],
      ["confirm", true],
      ["purge", false],
      ["If-Match", false],
    ]);
    const upload = document.paths["/v1/collections/{cid}/documents"]?.["post"]?.requestBody;
    expect(Object.keys(upload?.content ?? {})).toEqual(["multipart/form-data", "application/json"]);
    expect(upload?.content["multipart/form-data"]?.schema).toMatchObject({
      required: ["file"],
      properties: { file: { items: { contentMediaType: "application/octet-stream" } } },
    });
    expect(Object.keys(document.paths["/v1/collections/{cid}/triples"]?.["post"]?.requestBody?.content ?? {})).toEqual([
      "text/turtle",
    ]);
  });
});

describe("http kit: the reference page", () => {
  const page = docsPage(document);

  it("has every route with its method, path, parameters, nested fields, answers and a command", () => {
    for (const { operationId, summary } of routes) {
      expect(page).toContain(`<article id="${operationId}">`);
      expect(page).toContain(summary);
    }
    expect(page).toContain('<td class="name depth-1"><code>chunk_size</code>');
    expect(page).toContain("default 512");
    expect(page).toContain("1–10,000");
    expect(page).toContain("curl -X DELETE &quot;$PINAKES_URL/v1/collections/CID?confirm=CONFIRM&quot;");
    expect(page).toContain("-F file=@report.pdf");
    expect(page).toContain("-d &#39;{&quot;name&quot;:&quot;NAME&quot;}&#39;");
    expect(page).not.toContain("ChunkingInput");
    expect(page).toContain("Files and their text.");
  });

  it("is escaped, has no scripts, no inline styles and nothing from elsewhere", () => {
    expect(page).toContain("Names ignore case &amp; &quot;quotes&quot; &lt;b&gt;count&lt;/b&gt;.");
    expect(page).not.toMatch(/<script|<style|\sstyle=|\son\w+=|(?:src|href)="(?:https?:)?\/\//);
    const hostile = docsPage(
      openApi(
        [
          defineRoute({
            ...base,
            tag: '"><img>',
            method: "GET",
            path: "/v1/x",
            operationId: "x",
            summary: "<script>alert(1)</script>",
            description: "${x}",
            answers: { 200: { description: "</dd><iframe>" } },
            handler: () => ok({}),
          }),
        ],
        { title: "<i>", version: "'" },
      ),
    );
    expect(hostile).not.toMatch(/<script|<img|<iframe|<i>/);
  });

  it("its elements are closed in order", () => {
    const open: string[] = [];
    for (const [, close, name = ""] of page.matchAll(/<(\/?)([a-z][a-z0-9]*)\b[^>]*>/g)) {
      if (["meta", "link", "wbr"].includes(name)) continue;
      if (close === "") open.push(name);
      else expect(open.pop()).toBe(name);
    }
    expect(open).toEqual([]);
  });

  it("is served with the document and the style, cached by etag, under the policy of pages", async () => {
    const app = new Hono<KitEnv>();
    mount(app, [], { authenticate: async () => ({ caller: makeCaller({ tenant: "w", userId: "u" }), via: "key" }) });
    mountReference(app, routes, info);
    const docs = await app.request("/docs");
    expect([docs.status, docs.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(docs.headers.get("content-security-policy")).toContain("default-src 'self'");
    expect(await docs.text()).toBe(page);
    expect((await app.request("/docs", { headers: { "if-none-match": docs.headers.get("etag") ?? "" } })).status).toBe(
      304,
    );
    expect((await app.request("/docs/style.css")).headers.get("content-type")).toBe("text/css; charset=utf-8");
    expect(await (await app.request("/v1/openapi.json")).json()).toEqual(JSON.parse(JSON.stringify(document)));
  });
});
