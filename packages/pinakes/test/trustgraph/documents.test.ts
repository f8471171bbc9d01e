/** Documents of the library, their uploads in chunks and their processing, as TrustGraph's clients of both versions send them. */
import { describe, expect, it } from "vitest";
import { openTestServer, type Json } from "../http/support/server.ts";
import { until } from "../support/until.ts";
import { ApplicationException, newClient, oldClient, pythonApi } from "./support/python-api.ts";
import { forAllTests } from "../support/for-tests.ts";

const server = forAllTests(() => openTestServer("sqlite"));

const clients = async (user: string) => {
  const key = await server.key("w1", user);
  const api = pythonApi(server, { token: key });
  return { key, old: oldClient(api, user), newer: newClient(api) };
};
const iri = (i: string) => ({ t: "i", i });
const aboutOwls = "Owls hunt at night. They turn their heads very far.";

describe("documents", () => {
  it("are added, listed, read, changed and removed by the client of 1.4, under ids of its own", async () => {
    const { old } = await clients("ann");
    const id = "https://example.org/docs/owls?v=1#a b";
    const metadata = [
      {
        s: { v: "http://e.org/owls", e: true },
        p: { v: "http://e.org/label", e: true },
        o: { v: "http://x", e: false },
      },
    ];
    expect(await old.addDocument(id, aboutOwls, { metadata, comments: "Of birds" })).toEqual({});
    await expect(old.addDocument(id, "other")).rejects.toThrow(/request-error: .*already exists/);
    const [listed] = await old.getDocuments();
    expect(listed).toEqual({
      id,
      time: 1_758_200_000,
      kind: "text/plain",
      title: "A title",
      comments: "Of birds",
      metadata,
      user: "ann",
      tags: ["t"],
    });
    const content = await old.library({ operation: "get-document-content", "document-id": id });
    expect(Buffer.from(content["content"] as string, "base64").toString()).toBe(aboutOwls);
    for (const operation of ["get-document-metadata", "get-document"])
      expect(await old.library({ operation, "document-id": id })).toEqual({ "document-metadata": listed });
    // The id as its client names it here.
    const changed = await old.library({
      operation: "update-document",
      "document-metadata": {
        user: "ann",
        "document-id": id,
        time: 5,
        title: "Owls",
        comments: "",
        metadata: [],
        tags: ["u"],
      },
    });
    expect(changed["document-metadata"]).toMatchObject({
      id,
      title: "Owls",
      comments: "",
      metadata: [],
      tags: ["u"],
      kind: "text/plain",
      time: 5,
    });
    expect(await old.library({ operation: "remove-document", "document-id": id })).toEqual({});
    expect(await old.getDocuments()).toEqual([]);
    for (const operation of ["remove-document", "get-document-content", "get-document"])
      await expect(old.library({ operation, "document-id": id })).rejects.toThrow(
        /request-error: There is no document/,
      );
  });

  it("have typed terms, children and chunks for the client of 2.8", async () => {
    const { newer } = await clients("ben");
    const metadata = [{ s: iri("http://e.org/d"), p: iri("http://e.org/p"), o: { t: "l", v: "Wald", ln: "de" } }];
    const add = (operation: string, more: Json) =>
      newer.library({
        operation,
        "document-metadata": { time: 7, kind: "text/plain", title: "T", comments: "", metadata, tags: [], ...more },
        content: Buffer.from("0123456789").toString("base64"),
      });
    await add("add-document", { id: "doc" });
    await add("add-child-document", { id: "doc/p1", "parent-id": "doc", "document-type": "page" });
    await expect(add("add-child-document", { id: "doc/p2" })).rejects.toThrow(/parent-id/);
    await expect(add("add-child-document", { id: "doc/p2", "parent-id": "none" })).rejects.toThrow(/no document/);
    const list = async (more: Json) => {
      const answer = await newer.library({ operation: "list-documents", ...more });
      return answer["document-metadatas"] as Json[];
    };
    expect(await list({})).toMatchObject([
      { id: "doc", metadata, workspace: "default", "parent-id": "", "document-type": "source" },
    ]);
    expect((await list({ "include-children": true })).map(({ id }) => id).toSorted()).toEqual(["doc", "doc/p1"]);
    const children = await newer.library({ operation: "list-children", "document-id": "doc" });
    expect(children["document-metadatas"]).toMatchObject([
      { id: "doc/p1", "parent-id": "doc", "document-type": "page" },
    ]);
    const chunk = (more: Json) =>
      newer.library({ operation: "stream-document", "document-id": "doc", "chunk-size": 4, ...more });
    expect(await chunk({ "chunk-index": 2 })).toMatchObject({
      content: Buffer.from("89").toString("base64"),
      "total-chunks": 3,
      "total-bytes": 10,
      "bytes-received": 10,
    });
    await expect(chunk({ "chunk-index": 3 })).rejects.toThrow(/3 chunks/);
    await newer.library({ operation: "remove-document", "document-id": "doc" });
    expect(await list({ "include-children": true })).toEqual([]);
  });

  it("refuse what is broken, and keep nothing of it", async () => {
    const { old, key } = await clients("careful");
    const add = (metadata: Json | undefined, content: unknown) =>
      old.library({
        operation: "add-document",
        ...(metadata === undefined ? {} : { "document-metadata": metadata }),
        content,
      });
    for (const content of ["%%%", "YQ=", "Y Q==", undefined, 7, null])
      await expect(add({ id: "x" }, content)).rejects.toThrow(/content/);
    for (const metadata of [
      undefined,
      {},
      { id: "" },
      { id: 7 },
      { id: "a\u0000" },
      { id: "x".repeat(1_025) },
      { id: "x", time: "soon" },
      { id: "x", tags: "a" },
      { id: "x", title: "x".repeat(1_001) },
      { id: "x", metadata: [{ s: { t: "t", tr: {} } }] },
    ])
      await expect(add(metadata as Json, "eA=="), JSON.stringify(metadata)).rejects.toThrow(ApplicationException);
    expect(await old.getDocuments()).toEqual([]);
    expect((await server.call("GET", "/openai/v1/files", { key })).json["data"]).toEqual([]);
    await add({ id: "x".repeat(1_024), title: "x".repeat(1_000), metadata: [] }, "");
    expect(await old.getDocuments()).toHaveLength(1);
    const other = await clients("other");
    await expect(other.old.library({ operation: "get-document", "document-id": "x".repeat(1_024) })).rejects.toThrow(
      /no document/,
    );
  });
});

describe("uploads in chunks", () => {
  const bytes = Buffer.from(Array.from({ length: 25 }, (_, i) => 65 + i));
  const begin = (newer: ReturnType<typeof newClient>, more: Json = {}) =>
    newer.library({
      operation: "begin-upload",
      "document-metadata": { id: "big", time: 1, kind: "text/plain", title: "Big", comments: "", tags: [] },
      "total-size": 25,
      "chunk-size": 10,
      ...more,
    });
  const send = (
    newer: ReturnType<typeof newClient>,
    upload: unknown,
    index: number,
    from = bytes.subarray(index * 10, index * 10 + 10),
  ) =>
    newer.library({
      operation: "upload-chunk",
      "upload-id": upload,
      "chunk-index": index,
      content: from.toString("base64"),
    });

  it("arrive in any order and twice, tell what is missing, and become a document", async () => {
    const { newer } = await clients("chunky");
    const begun = await begin(newer);
    expect(begun).toMatchObject({ "chunk-size": 10, "total-chunks": 3 });
    const upload = begun["upload-id"];
    await send(newer, upload, 2);
    expect(await send(newer, upload, 0)).toMatchObject({
      "chunks-received": 2,
      "bytes-received": 15,
      "total-bytes": 25,
      "chunk-index": 0,
    });
    await send(newer, upload, 0);
    const status = await newer.library({ operation: "get-upload-status", "upload-id": upload });
    expect(status).toMatchObject({
      "upload-state": "in-progress",
      "missing-chunks": [1],
      "received-chunks": [0, 2],
      "total-chunks": 3,
    });
    expect(await newer.library({ operation: "list-uploads" })).toMatchObject({
      "upload-sessions": [{ "upload-id": upload, "document-id": "big", "chunks-received": 2 }],
    });
    const complete = () => newer.library({ operation: "complete-upload", "upload-id": upload });
    await expect(complete()).rejects.toThrow(/1 of 3 chunks are missing/);
    await expect(send(newer, upload, 3)).rejects.toThrow(/chunk-index/);
    await expect(send(newer, upload, 1, Buffer.from("short"))).rejects.toThrow(/must have 10/);
    await send(newer, upload, 1);
    expect(await complete()).toMatchObject({ "document-id": "big" });
    const content = await newer.library({ operation: "get-document-content", "document-id": "big" });
    expect(content["content"]).toBe(bytes.toString("base64"));
    expect(await newer.library({ operation: "get-upload-status", "upload-id": upload })).toMatchObject({
      "upload-state": "completed",
      "missing-chunks": [],
    });
    await expect(complete()).rejects.toThrow(/is completed/);
    await expect(begin(newer)).rejects.toThrow(/already exists/);
    expect(await newer.library({ operation: "list-uploads" })).toEqual({ "upload-sessions": [] });
  });

  it("R-TG-38 that are aborted leave nothing; those of others are not there", async () => {
    const { newer, key } = await clients("aborter");
    const upload = (await begin(newer))["upload-id"];
    await send(newer, upload, 0);
    const other = await clients("peeper");
    await expect(other.newer.library({ operation: "get-upload-status", "upload-id": upload })).rejects.toThrow(
      /no upload/,
    );
    await expect(send(other.newer, upload, 1)).rejects.toThrow(/no upload/);
    expect(await newer.library({ operation: "abort-upload", "upload-id": upload })).toEqual({});
    await expect(newer.library({ operation: "get-upload-status", "upload-id": upload })).rejects.toThrow(/no upload/);
    expect(await newer.library({ operation: "list-documents" })).toEqual({ "document-metadatas": [] });
    expect((await server.call("GET", "/openai/v1/files", { key })).json["data"]).toEqual([]);
    for (const size of [0, -1, 536_870_913])
      await expect(begin(newer, { "total-size": size })).rejects.toThrow(/total-size/);
    // At the limit, in chunks large enough that there are not too many.
    expect(await begin(newer, { "total-size": 536_870_912, "chunk-size": 1 })).toMatchObject({ "total-chunks": 500 });
  });
});

describe("processing", () => {
  const process = (client: ReturnType<typeof oldClient>, id: string, collection: string) =>
    client.startProcessing(id, "owls", collection);
  const search = async (key: string, collection: string) => {
    const found = await server.call("POST", `/v1/repositories/me/collections/${collection}/search`, {
      key,
      body: { query: "when do owls hunt?" },
    });
    return found.status === 200 ? (found.json["hits"] as Json[]) : found.status;
  };

  it("R-TG-16 R-TG-28 attaches a document to a collection, which it creates; it is indexed, and its triples are there", async () => {
    const { old, key } = await clients("processor");
    const triple = {
      s: { v: "http://e.org/owls", e: true },
      p: { v: "http://e.org/is", e: true },
      o: { v: "bird", e: false },
    };
    await old.addDocument("owls", aboutOwls, { metadata: [triple] });
    expect(await process(old, "p1", "birds")).toEqual({});
    await expect(process(old, "p1", "birds")).rejects.toThrow(/already exists/);
    await expect(old.startProcessing("p2", "missing", "nowhere")).rejects.toThrow(/no document/);
    expect(await old.listCollections()).toMatchObject([{ collection: "birds" }]);
    await until(async () => ((await search(key, "birds")) as Json[]).length > 0);
    expect(await old.flow("triples", { p: triple.p, collection: "birds" })).toEqual({ response: [triple] });
    expect(await old.library({ operation: "list-processing" })).toEqual({
      "processing-metadatas": [
        {
          id: "p1",
          "document-id": "owls",
          time: 1_758_200_000,
          flow: "default",
          user: "processor",
          collection: "birds",
          tags: [],
        },
      ],
    });
    expect(await old.library({ operation: "remove-processing", "processing-id": "p1" })).toEqual({});
    await expect(old.library({ operation: "remove-processing", "processing-id": "p1" })).rejects.toThrow(
      /no processing/,
    );
    expect(await search(key, "birds")).toHaveLength(1);
  });

  it("R-TG-38 a document in two collections outlives either, until the last reference is gone", async () => {
    const { old, key } = await clients("sharer");
    await old.addDocument("owls", aboutOwls);
    for (const collection of ["one", "two"]) {
      await process(old, `in ${collection}`, collection);
      await until(async () => ((await search(key, collection)) as Json[]).length > 0);
    }
    const purge = (collection: string) =>
      server.call("DELETE", `/v1/repositories/me/collections/${collection}?purge=true&confirm=${collection}`, { key });
    const bytesOf = async () =>
      (await old.library({ operation: "get-document-content", "document-id": "owls" }))["content"];
    const purged = await purge("one");
    await until(async () => {
      const { json } = await server.call("GET", `/v1/jobs/${purged.json["job_id"] as string}`, { key });
      return json["status"] === "succeeded" ? true : undefined;
    });
    expect(await search(key, "one")).toBe(404);
    expect(await search(key, "two")).toHaveLength(1);
    expect(await bytesOf()).toBe(Buffer.from(aboutOwls).toString("base64"));
    await old.library({ operation: "remove-document", "document-id": "owls" });
    expect(await search(key, "two")).toEqual([]);
    const documents = await server.call("GET", "/v1/repositories/me/collections/two/documents", { key });
    expect(documents.json["items"]).toEqual([]);
    expect((await server.call("GET", "/openai/v1/files", { key })).json["data"]).toEqual([]);
    expect(await old.library({ operation: "list-processing" })).toEqual({ "processing-metadatas": [] });
  });
});
