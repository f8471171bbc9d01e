/** Triples, vectors, loads, cores and flows over REST, in the words of both versions, on the engines that servers run on. */
import { decodeMulti, encode } from "@msgpack/msgpack";
import { describe, expect, it } from "vitest";
import { openTestServer, type Json } from "../http/support/server.ts";
import { useServers } from "../support/servers.ts";
import { until } from "../support/until.ts";
import { ApplicationException, newClient, oldClient, pythonApi } from "./support/python-api.ts";
import { forAllTests } from "../support/for-tests.ts";

const { postgres } = useServers();
const e = (v: string) => ({ v: `http://e.org/${v}`, e: true });
const i = (v: string) => ({ t: "i", i: `http://e.org/${v}` });

describe.each([
  ["SQLite", () => ({})],
  ["PostgreSQL", () => ({ items: postgres(), objects: "memory:" })],
])("TrustGraph's services on %s", (_, options) => {
  const server = forAllTests(() => openTestServer("sqlite", options()));
  const clients = async (user: string) => {
    const key = await server.key("w1", user);
    const api = pythonApi(server, { token: key });
    return { key, api, old: oldClient(api, user), newer: newClient(api) };
  };
  const core = (triples: readonly object[]) => ({
    metadata: { id: "c", metadata: [], user: "", collection: "default" },
    triples,
  });

  it("triples: eight patterns, both forms of terms, limits; a missing collection has none and is not made", async () => {
    const { old, newer } = await clients("triples");
    const triples = [
      { s: i("a"), p: i("p"), o: i("b") },
      { s: i("a"), p: i("p"), o: { t: "l", v: "http://not-an-iri" } },
      { s: i("b"), p: i("q"), o: { t: "l", v: "7", dt: "http://www.w3.org/2001/XMLSchema#integer" } },
      { s: { t: "b", d: "x1" }, p: i("q"), o: { t: "l", v: "Wald", ln: "de" }, g: "http://e.org/graph" },
    ];
    await newer.knowledge({ operation: "put-kg-core", id: "c", triples: core(triples) });
    await newer.knowledge({ operation: "load-kg-core", id: "c", flow: "default", collection: "default" });
    const response = async (more: Json) => (await newer.flow("triples", more))["response"] as object[];
    expect(await response({ g: "*" })).toEqual(expect.arrayContaining(triples));
    expect(await response({})).toHaveLength(3);
    expect(await response({ g: "http://e.org/graph" })).toEqual([triples[3]]);
    expect(await response({ s: i("a") })).toHaveLength(2);
    expect(await response({ p: i("p"), o: i("b") })).toEqual([triples[0]]);
    expect(await response({ o: triples[2]?.o })).toEqual([triples[2]]);
    expect(await response({ o: { t: "l", v: "7" } })).toEqual([]);
    expect(await response({ limit: 1 })).toHaveLength(1);
    const olds = async (more: Json) => (await old.flow("triples", more))["response"] as object[];
    expect(await olds({})).toHaveLength(4);
    expect(await olds({ s: e("a"), p: e("p"), o: { v: "http://not-an-iri", e: false } })).toEqual([
      { s: e("a"), p: e("p"), o: { v: "http://not-an-iri", e: false } },
    ]);
    // A user, and terms in the newer form: versions in between.
    expect(await olds({ s: i("a"), o: i("b") })).toEqual([triples[0]]);
    expect(await olds({ collection: "typo" })).toEqual([]);
    expect((await old.listCollections()).map(({ collection }) => collection)).toEqual(["default"]);
    for (const more of [
      { limit: 0 },
      { limit: 100_001 },
      { limit: "x" },
      { s: "a" },
      { s: { v: 7, e: true } },
      { s: { t: "q" } },
      { s: { t: "t", tr: {} } },
      { s: { v: "no iri", e: true } },
    ])
      await expect(old.flow("triples", more as Json), JSON.stringify(more)).rejects.toThrow(ApplicationException);
    const stranger = await clients("stranger");
    expect(await stranger.old.flow("triples", {})).toEqual({ response: [] });
  });

  it("embeddings, and vectors of entities and chunks that are found again by vectors", async () => {
    const { old, newer } = await clients("vectors");
    const one = (await old.flow("embeddings", { text: "owls" }))["vectors"] as number[][];
    const two = (await newer.flow("embeddings", { texts: ["owls", "rivers"] }))["vectors"] as number[][];
    expect([one.length, two.length, one[0]?.length]).toEqual([1, 2, 384]);
    expect(two[0]).toEqual(one[0]);
    const [owls, rivers] = two as [number[], number[]];
    const put = {
      "graph-embeddings": {
        metadata: { id: "c", metadata: [], user: "vectors", collection: "x" },
        entities: [
          { entity: e("owl"), vectors: [owls, rivers] },
          { entity: e("river"), vectors: [rivers] },
        ],
      },
    };
    await old.knowledge({ operation: "put-kg-core", id: "c", ...put });
    for (let twice = 0; twice < 2; twice += 1)
      await old.knowledge({ operation: "load-kg-core", id: "c", collection: "x" });
    const found = await old.flow("graph-embeddings", { vectors: [owls], limit: 10, collection: "x" });
    expect(found).toEqual({ entities: [e("owl"), e("river")] });
    const scored = (await newer.flow("graph-embeddings", { vector: rivers, limit: 1, collection: "x" }))[
      "entities"
    ] as Json[];
    expect(scored).toMatchObject([{ score: expect.closeTo(1, 2) as number }]);
    await newer.knowledge({
      operation: "put-de-core",
      id: "d",
      "document-embeddings": {
        metadata: {},
        chunks: [
          { chunk_id: "doc/c1", vector: owls },
          { chunk_id: "doc/c2", vector: rivers },
        ],
      },
    });
    await newer.knowledge({ operation: "load-de-core", id: "d", collection: "x" });
    expect(await newer.flow("document-embeddings", { vector: owls, limit: 1, collection: "x" })).toMatchObject({
      chunks: [{ chunk_id: "doc/c1", score: expect.closeTo(1, 2) as number }],
    });
    expect(await newer.flow("graph-embeddings", { vector: owls, collection: "none" })).toEqual({ entities: [] });
    for (const more of [{}, { vector: [] }, { vector: ["a"] }, { vector: [1, 2] }, { vectors: [[1], "x"] }])
      await expect(newer.flow("graph-embeddings", { collection: "x", ...more }), JSON.stringify(more)).rejects.toThrow(
        ApplicationException,
      );
  });

  it("R-TG-16 R-TG-28 text-load and document-load put documents into collections; the same id replaces itself", async () => {
    const { old, newer, key } = await clients("loader");
    const about = { s: i("owls"), p: i("label"), o: { t: "l", v: "Owls" } };
    const load = (text: string, more: Json = {}) =>
      old.flow("text-load", {
        id: "urn:doc:1",
        metadata: [],
        charset: "utf-8",
        text: Buffer.from(text).toString("base64"),
        collection: "texts",
        ...more,
      });
    expect(await load("Owls hunt at night.")).toEqual({});
    expect(await load("Owls hunt at dusk.", { metadata: [about] })).toEqual({});
    const documents = async () =>
      (await server.call("GET", "/v1/repositories/me/collections/texts/documents", { key })).json["items"] as Json[];
    await until(async () => (await documents()).every(({ status }) => status === "indexed"));
    expect(await documents()).toMatchObject([{ metadata: { trustgraph_id: "urn:doc:1" }, version: 2 }]);
    expect(await newer.flow("triples", { collection: "texts" })).toEqual({ response: [about] });
    await newer.flow("document-load", {
      id: "two",
      metadata: [],
      data: Buffer.from("plain").toString("base64"),
      collection: "texts",
    });
    await newer.flow("text-load", { id: "three", metadata: [], text: "as it is, no base64", collection: "texts" });
    expect(await documents()).toHaveLength(3);
    await expect(load("x", { text: "not base64!" })).rejects.toThrow(/base64/);
    await expect(load("x", { charset: "klingon" })).rejects.toThrow(/charset/);
    await expect(load("x", { metadata: [{ s: 1 }], collection: "never" })).rejects.toThrow(ApplicationException);
    await expect(old.flow("document-load", { id: "x", data: "%%%", collection: "never" })).rejects.toThrow(/base64/);
    expect((await old.listCollections()).map(({ collection }) => collection)).toEqual(["texts"]);
  });

  it("cores: put together, listed, imported and exported as MessagePack, loaded, deleted", async () => {
    const { old, newer, key } = await clients("cores");
    const triples = [{ s: e("a"), p: e("p"), o: { v: "x", e: false } }];
    await old.knowledge({ operation: "put-kg-core", id: "one", triples: core(triples) });
    await old.knowledge({
      operation: "put-kg-core",
      id: "one",
      "graph-embeddings": { metadata: {}, entities: [{ entity: e("a"), vectors: [[1, 0]] }] },
    });
    expect(await old.knowledge({ operation: "list-kg-cores" })).toEqual({ ids: ["one"] });
    const at = (id: string) => `/api/v1/export-core?id=${id}&user=cores`;
    const exported = Buffer.from(await (await server.raw("GET", at("one"), { key })).arrayBuffer());
    const messages = [...decodeMulti(exported)];
    expect(messages).toMatchObject([
      ["t", { m: { i: "one", m: [], u: "cores" }, t: triples }],
      ["ge", { m: { i: "one" }, e: [{ e: e("a"), v: [[1, 0]] }] }],
    ]);
    const post = (id: string, body: Uint8Array) =>
      server.call("POST", `/api/v1/import-core?id=${id}&user=cores`, { key, body, headers: {} });
    expect((await post("two", exported)).json).toEqual({});
    expect([
      ...decodeMulti(Buffer.from(await (await server.raw("GET", at("two"), { key })).arrayBuffer())),
    ]).toHaveLength(2);
    const newForm = encode(["t", { m: { i: "x", m: "", c: "default" }, t: [{ s: i("n"), p: i("p"), o: i("o") }] }]);
    expect(
      (await server.call("POST", "/api/v1/import-core?id=three&workspace=default", { key, body: newForm })).status,
    ).toBe(200);
    for (const wrong of [
      Buffer.from([0xc1]),
      encode(["zz", {}]),
      Buffer.concat([exported, encode(["t", { t: [{ s: 1 }] }])]),
    ])
      expect((await post("four", wrong)).json["error"], wrong.toString()).toMatchObject({ type: "request-error" });
    expect(await newer.knowledge({ operation: "list-kg-cores" })).toEqual({ ids: ["one", "three", "two"] });
    await newer.knowledge({ operation: "load-kg-core", id: "three", collection: "default" });
    expect(await newer.flow("triples", {})).toEqual({ response: [{ s: i("n"), p: i("p"), o: i("o") }] });
    for (const operation of ["unload-kg-core", "get-kg-core"])
      await expect(old.knowledge({ operation, id: "one" })).rejects.toThrow(ApplicationException);
    for (const operation of ["load-kg-core", "delete-kg-core", "get-kg-core"])
      await expect(old.knowledge({ operation, id: "missing" })).rejects.toThrow(/no core/);
    expect(await old.knowledge({ operation: "delete-kg-core", id: "one" })).toEqual({});
    expect((await server.call("GET", at("one"), { key })).status).toBe(404);
    const stranger = await clients("core-stranger");
    expect(await stranger.old.knowledge({ operation: "list-kg-cores" })).toEqual({ ids: [] });
    expect((await server.call("GET", at("two"), { key: stranger.key })).status).toBe(403);
  });

  it("flows: the default one is always there; others are started, named and stopped", async () => {
    const { old, newer } = await clients("flows");
    const flows = (body: Json) => newer.flows(body);
    expect(await flows({ operation: "list-flows" })).toEqual({ "flow-ids": ["default"] });
    expect(
      await flows({ operation: "start-flow", "flow-id": "mine", "blueprint-name": "b", description: "D" }),
    ).toEqual({});
    await expect(flows({ operation: "start-flow", "flow-id": "mine" })).rejects.toThrow(/already/);
    const shown = await flows({ operation: "get-flow", "flow-id": "mine" });
    expect(JSON.parse(shown["flow"] as string)).toMatchObject({ "blueprint-name": "b", description: "D" });
    expect(await old.flow("triples", {})).toEqual({ response: [] });
    expect(await flows({ operation: "stop-flow", "flow-id": "mine" })).toEqual({});
    for (const body of [
      { operation: "get-flow", "flow-id": "mine" },
      { operation: "stop-flow", "flow-id": "mine" },
      { operation: "stop-flow", "flow-id": "default" },
    ])
      await expect(flows(body)).rejects.toThrow(ApplicationException);
  });
});
