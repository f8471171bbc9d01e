/** Collection records beside query results over HTTP: in JSON bodies, or in headers of formats without room for them. */
import { beforeAll, describe, expect, it, vi } from "vitest";
import { newSite, openTestServer, type Json, type Site } from "../http/support/server.ts";
import { forAllTests } from "../support/for-tests.ts";

let key: string;
let site: Site;
let repository: string;
let collection: string;
const server = forAllTests(() => openTestServer());
beforeAll(async () => {
  key = await server.key("w1", "boss", { role: "admin" });
  site = await newSite(server, key);
  const [, , , rid, , cid] = site.at.split("/");
  [repository, collection] = [rid as string, cid as string];
  await server.call("POST", `${site.at}/triples`, { key, body: [{ s: "a:s", p: "a:p", o: "a:o" }] });
  await server.call("POST", `${site.at}/vectors:upsert`, { key, body: { items: [{ id: "a", vector: [1, 2] }] } });
});

const path = (id: string) => `/v1/repositories/${repository}/collections/${id}`;
const link = (id: string) => `<${path(id)}>; rel="describedby"; type="application/json"`;
const sparql = (fields: Readonly<Record<string, string>>, accept = "application/sparql-results+json") =>
  server.call("GET", `${site.at}/sparql?${new URLSearchParams(fields).toString()}`, { key, headers: { accept } });
const post = (at: string, body: Json, accept = "application/json") =>
  server.call("POST", at, { key, body, headers: { accept } });
const across = (ids: readonly string[], more: Json, accept?: string) =>
  post(
    "/v1/sparql",
    { query: "SELECT ?o { ?s ?p ?o }", collections: ids.map((id) => ({ repository, collection: id })), ...more },
    accept,
  );

describe("include_metadata", () => {
  it("R-TG-29 vectors:query and triples:query add the record, and omit it by default", async () => {
    for (const more of [{}, { include_metadata: false }]) {
      expect((await post(`${site.at}/vectors:query`, { vector: [1, 2], ...more })).json).not.toHaveProperty(
        "collection",
      );
      expect(
        (await post("/v1/triples:query", { collections: [{ repository, collection }], ...more })).json,
      ).not.toHaveProperty("collections");
    }
    const rows = await post(`${site.at}/vectors:query`, { vector: [1, 2], include_metadata: true });
    expect(rows.json).toMatchObject({
      hits: [{ id: "a" }],
      collection: { collection_id: collection, status: "ACTIVE" },
    });
    const triples = await post("/v1/triples:query", {
      collections: [{ repository, collection }],
      include_metadata: true,
    });
    expect(triples.json).toMatchObject({
      items: [{ collection_id: collection }],
      collections: [{ collection_id: collection }],
    });
  });

  it("R-TG-29 R-TG-122 JSON results have it beside head, and are otherwise unchanged", async () => {
    for (const query of ["SELECT ?o { ?s ?p ?o }", "ASK { ?s ?p ?o }"]) {
      const plain = (await sparql({ query })).json;
      expect(Object.keys(plain)).toEqual(["head", query.startsWith("ASK") ? "boolean" : "results"]);
      const { collections, ...rest } = (await sparql({ query, include_metadata: "true" })).json;
      expect(rest).toEqual(plain);
      expect(collections).toMatchObject([{ repository_id: repository, collection_id: collection, status: "ACTIVE" }]);
    }
    const form = await server.call("POST", `${site.at}/sparql`, {
      key,
      body: new URLSearchParams({ query: "ASK {}", include_metadata: "true" }).toString(),
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    expect(form.json).toMatchObject({ boolean: true, collections: [{ collection_id: collection }] });
    const wrong = new URLSearchParams({ query: "ASK {}", include_metadata: "perhaps" }).toString();
    const refused = await server.call("POST", `${site.at}/sparql`, {
      key,
      body: wrong,
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    expect([refused.status, refused.json["detail"]]).toEqual([400, "include_metadata: must be true or false."]);
  });

  it.each([
    ["SELECT ?o { ?s ?p ?o }", "text/csv"],
    ["SELECT ?o { ?s ?p ?o }", "text/tab-separated-values"],
    ["SELECT ?o { ?s ?p ?o }", "application/sparql-results+xml"],
    ["ASK {}", "application/sparql-results+xml"],
    ["CONSTRUCT WHERE { ?s ?p ?o }", "text/turtle"],
    ["DESCRIBE <a:s>", "application/ld+json"],
  ])("R-TG-29 %s as %s has a link to it, and the same bytes", async (query, accept) => {
    const plain = await sparql({ query }, accept);
    expect([plain.status, plain.headers.get("link")]).toEqual([200, null]);
    const more = await sparql({ query, include_metadata: "true" }, accept);
    expect([more.text, more.headers.get("link")]).toEqual([plain.text, link(collection)]);
    // The link leads to the record.
    const [target = ""] = /(?<=<)[^>]+/.exec(more.headers.get("link") ?? "") ?? [];
    expect((await server.call("GET", target, { key })).json).toMatchObject({ collection_id: collection });
  });

  it("R-TG-29 so has a download of triples, which has no paging", async () => {
    const get = (query: string) =>
      server.call("GET", `${site.at}/triples?${query}`, { key, headers: { accept: "application/n-quads" } });
    expect((await get("")).headers.get("link")).toBeNull();
    expect((await get("include_metadata=true")).headers.get("link")).toBe(link(collection));
    for (const wrong of ["limit=1", "cursor=x"]) expect((await get(wrong)).status).toBe(400);
  });
});

describe("several collections", () => {
  it("W6 R-TG-29 missing collections are reported in JSON and in a header, and are an error unless requested", async () => {
    const missing = [{ repository, collection: "no where" }];
    const empty = { unknown_collections: "empty" };
    expect((await across([collection, "no where"], empty)).json).toMatchObject({
      collection_exists: false,
      missing,
      results: { bindings: [{}] },
    });
    expect((await across(["no where"], empty)).json).toMatchObject({
      collection_exists: false,
      missing,
      results: { bindings: [] },
    });
    const csv = await across([collection, "no where"], { ...empty, include_metadata: true }, "text/csv");
    expect([csv.status, csv.headers.get("x-missing-collections"), csv.headers.get("link")]).toEqual([
      200,
      `${repository}/no%20where`,
      link(collection),
    ]);
    expect((await across([collection, "no where"], {})).status).toBe(404);
    expect((await post("/v1/triples:query", { collections: missing, ...empty })).json).toMatchObject({
      items: [],
      collection_exists: false,
      missing,
    });
    expect((await post("/v1/triples:query", { collections: missing, unknown_collections: "perhaps" })).status).toBe(
      400,
    );
  });

  it("headers link to at most linkedCollectionsMax collections, JSON to any number", async () => {
    const ids = Array.from({ length: 21 }, (_, i) => `nowhere-${i}`);
    const empty = { unknown_collections: "empty" };
    const at = await across(ids.slice(1), empty, "text/csv");
    expect([at.status, at.headers.get("x-missing-collections")?.split(", ").length]).toEqual([200, 20]);
    const past = await across(ids, empty, "text/csv");
    expect([past.status, past.json["detail"]]).toEqual([
      400,
      expect.stringContaining("with more than 20 collections they are only available in JSON"),
    ]);
    expect((await across(ids, empty)).json["missing"]).toHaveLength(21);
    // No unnecessary lookups.
    const looked = vi.spyOn(server.pinakes.triples, "match");
    const ask = (accept: string) => across([collection, ...ids], { ...empty, query: "ASK { ?s ?p ?o }" }, accept);
    const { status, json } = await ask("application/sparql-results+xml, application/sparql-results+json;q=0.5");
    expect([status, json["detail"], looked.mock.calls]).toEqual([
      400,
      expect.stringContaining("only available in JSON"),
      [],
    ]);
    expect((await ask("text/csv, application/sparql-results+json;q=0.5")).json).toMatchObject({
      boolean: true,
      collection_exists: false,
    });
    expect(looked).toHaveBeenCalled();
    looked.mockRestore();
  });
});
