/** The graph of documents for clients: settings, documents, searches, provenance. */
import { beforeAll, describe, expect, it } from "vitest";
import { newSite, openTestServer, sendAndSettle, type Json } from "../http/support/server.ts";
import { forAllTests } from "../support/for-tests.ts";

let key: string;
const server = forAllTests(() => openTestServer());
beforeAll(async () => {
  key = await server.key("w1", "ann", { role: "admin" });
});

describe("the graph over HTTP", () => {
  it("R-TG-128 R-TG-130 a setting, a document, a search with edges and their chunks, and the provenance of a triple", async () => {
    const site = await newSite(server, key);
    const made = await server.call("GET", site.at, { key });
    expect(made.json).toMatchObject({ graph: { extract: "structured" }, own_graph: null });
    const changed = await server.call("PATCH", site.at, {
      key,
      body: { graph: { extract: "structured", key: "name" } },
    });
    expect([changed.status, changed.json["own_graph"]]).toEqual([200, { extract: "structured", key: "name" }]);
    expect((await server.call("PATCH", site.at, { key, body: { graph: { extract: "magic" } } })).status).toBe(400);
    const document = await sendAndSettle(
      site,
      "people.csv",
      "name,manager\nAda Lovelace,Grace Hopper\nGrace Hopper,Zed\n",
    );
    expect(document).toMatchObject({ status: "indexed", graph: { triples: 8 } });
    const { status, json } = await server.call("POST", `${site.at}/search`, {
      key,
      body: { query: "Ada Lovelace", mode: "graph", graph: { hops: 2, limit: 50 } },
    });
    expect(status).toBe(200);
    const { graph, hits, mode_used } = json as {
      graph: { entities: Json[]; edges: { s: Json; p: Json; o: Json; sources: Json[] }[] };
      hits: Json[];
      mode_used: string;
    };
    expect([mode_used, hits.length, graph.entities.length]).toEqual(["graph", 1, 1]);
    const edge = graph.edges.find(({ o }) => o["value"] === "Zed");
    expect(edge?.sources).toMatchObject([{ filename: "people.csv", version: 1 }]);
    const term = ({ type, value }: Json) => (type === "iri" ? `<${value as string}>` : `"${value as string}"`);
    const query = new URLSearchParams({ s: term(edge?.s as Json), p: term(edge?.p as Json), o: term(edge?.o as Json) });
    const from = await server.call("GET", `${site.at}/triples/provenance?${query.toString()}`, { key });
    expect(from.json).toMatchObject({
      asserted: false,
      sources: [{ filename: "people.csv", quote: expect.stringContaining("Zed") }],
    });
    expect(
      (await server.call("POST", `${site.at}/search`, { key, body: { query: "x", graph: { hops: 4 } } })).status,
    ).toBe(400);
    expect(
      (await server.call("POST", `${site.at}/search`, { key, body: { query: "x", graph: { steps: 1 } } })).status,
    ).toBe(400);
    expect((await server.call("GET", `${site.at}/triples/provenance?s=urn:x&p=urn:y&o=urn:z`, { key })).status).toBe(
      404,
    );
  });

  it("a repository's setting applies to its collections, and null resets it", async () => {
    const { json } = await server.call("POST", "/v1/repositories", {
      key,
      body: { repository_id: "graphs", graph: { extract: "off" } },
    });
    expect(json["graph"]).toEqual({ extract: "off" });
    const made = await server.call("POST", "/v1/repositories/graphs/collections", {
      key,
      body: { name: "C", graph: { extract: "cooccurrence" } },
    });
    expect(made.json).toMatchObject({ graph: { extract: "cooccurrence" } });
    const at = `/v1/repositories/graphs/collections/${made.json["collection_id"] as string}`;
    expect((await server.call("PATCH", at, { key, body: { graph: null } })).json).toMatchObject({
      graph: { extract: "off" },
      own_graph: null,
    });
  });
});
