/** What LISA's clients do wrong: each in the form that they read, and nothing is written. */
import { beforeAll, describe, expect, it } from "vitest";
import type { Json, Reply } from "../http/support/server.ts";
import { LisaClient, uploadDocument } from "./support/lisa-client.ts";
import { ingested, lisaWorld } from "./support/lisa-world.ts";
import { forAllTests } from "../support/for-tests.ts";

let key: string;
const repository = "refusals";

const world = forAllTests(() => lisaWorld());
const ann = forAllTests(() => world.client("ann", { role: "admin" }));
beforeAll(async () => {
  key = await world.server.key("w1", "ann", { role: "admin" });
  await ann.createRepository({ repositoryId: repository, type: "pgvector" });
  await ann.createRepository({ repositoryId: "circle", type: "pgvector", allowedGroups: ["insiders"] });
});

function expectRefused(reply: Reply, status: number, message?: RegExp): void {
  expect(reply.status, reply.text).toBe(status);
  expect(reply.headers.get("content-type")).toContain("application/json");
  const { error, message: told } = reply.json;
  expect([typeof error, typeof told]).toEqual(["string", "string"]);
  if (message !== undefined) expect(told).toMatch(message);
}

const state = async (): Promise<unknown> => {
  const { json } = await ann.send("GET", "/repository/collections?pageSize=100");
  return [(await ann.send("GET", "/repository")).json, json];
};

describe("credentials", () => {
  const forms = (secret: string): readonly Readonly<Record<string, string>>[] => [
    { Authorization: secret },
    { authorization: `Bearer ${secret}` },
    { Authorization: `bearer ${secret}` },
    { "Api-Key": secret },
    { "Api-Key": secret, Authorization: secret },
    { "Api-Key": "something else", Authorization: secret },
  ];

  it("are a key, bare or after Bearer, or in the header Api-Key", async () => {
    for (const headers of forms(key))
      expect((await new LisaClient(world.url, key, headers).send("GET", "/repository")).status).toBe(200);
  });

  it("that are not good are 403 with Message, none is 401 with message; a bare key is nothing to /v1", async () => {
    for (const headers of forms("pk_nonsense")) {
      const reply = await new LisaClient(world.url, key, headers).send("GET", "/repository");
      expectRefused(reply, 403);
      expect(reply.json["Message"]).toBe(reply.json["message"]);
    }
    expectRefused(await new LisaClient(world.url, key, {}).send("GET", "/repository"), 401);
    for (const headers of [{ Authorization: key }, { "Api-Key": key }] as Readonly<Record<string, string>>[])
      expect((await new LisaClient(world.url, key, headers).send("GET", "/v1/me")).status).toBe(401);
  });
});

describe("what is not there", () => {
  it("R-LISA-72 a repository out of one's groups is as one that never was, for every call", async () => {
    const ben = await world.client("ben", { groups: ["others"] });
    const before = await state();
    const calls = (rid: string): readonly (readonly [string, string, unknown?])[] => [
      ["GET", `/repository/${rid}`],
      ["PUT", `/repository/${rid}`, { description: "mine" }],
      ["DELETE", `/repository/${rid}`],
      ["GET", `/repository/${rid}/collections`],
      ["POST", `/repository/${rid}/collection`, { name: "Intruder" }],
      ["GET", `/repository/${rid}/collection/all-MiniLM-L6-v2`],
      ["GET", `/repository/${rid}/document?collectionId=all-MiniLM-L6-v2`],
      ["GET", `/repository/${rid}/document`],
      ["GET", `/repository/${rid}/jobs`],
      ["GET", `/repository/${rid}/some-document`],
      ["GET", `/repository/${rid}/some-document/download`],
      ["DELETE", `/repository/${rid}/document`, { documentIds: ["some-document"] }],
      ["POST", `/repository/${rid}/bulk`, { keys: ["a.txt"] }],
      ["GET", `/repository/${rid}/similaritySearch?query=x&modelName=all-MiniLM-L6-v2`],
    ];
    for (const [i, [method, path, json]] of calls("circle").entries()) {
      const reply = await ben.send(method, path, { json });
      expectRefused(reply, 404);
      const [, never] = calls("never-was")[i] as readonly [string, string];
      expect((await ben.send(method, never, { json })).text.replaceAll("never-was", "circle")).toBe(reply.text);
    }
    expect((await ben.listRepositories()).map(({ repositoryId }) => repositoryId)).not.toContain("circle");
    expect(await state()).toEqual(before);
  });

  it("unknown collections, documents and paths are 404", async () => {
    const at = `/repository/${repository}`;
    for (const path of [
      `${at}/collection/never`,
      `${at}/collections/never`,
      `${at}/never`,
      `${at}/never/download`,
      `${at}/document?collectionId=never`,
      `${at}/similaritySearch?query=x&collectionId=never`,
      `${at}/a/b/c`,
      "/bedrock-kb/never/data-sources",
      "/models/never/more",
    ])
      expectRefused(await ann.send("GET", path), 404);
    expectRefused(await ann.send("DELETE", `${at}/document`, { json: { documentIds: ["never"] } }), 404);
  });
});

describe("requests that are wrong", () => {
  it("are 400 with what is wrong, and change nothing", async () => {
    const before = await state();
    const at = `/repository/${repository}`;
    const json = { "content-type": "application/json" };
    const wrong: readonly (readonly [string, string, object, RegExp?])[] = [
      ["POST", "/repository", { data: "{", headers: json }, /JSON/],
      ["POST", "/repository", { headers: json }, /missing/],
      ["POST", "/repository", { json: { repositoryId: "x", type: "chroma" } }, /type/],
      ["POST", "/repository", { json: { type: "pgvector" } }, /repositoryId/],
      ["POST", "/repository", { json: { repositoryId: "a/b", type: "pgvector" } }],
      ["POST", "/repository", { json: { repositoryId: "kb", type: "bedrock_knowledge_base" } }, /bedrock/],
      ["POST", "/repository", { json: { repositoryId: "m", type: "pgvector", embeddingModelId: "none" } }, /model/],
      [
        "POST",
        "/repository",
        { json: { repositoryId: "os", type: "opensearch", opensearchConfig: { volumeSize: 19 } } },
        /volumeSize/,
      ],
      ["PUT", at, { json: {} }, /Nothing to change/],
      ["PUT", at, { json: { embeddingModelId: "another" } }, /cannot be changed/],
      ["POST", `${at}/collection`, { json: { name: "x".repeat(101) } }, /100/],
      ["POST", `${at}/collection`, { json: { name: "a/b" } }, /name/],
      ["POST", `${at}/collection`, { json: { name: "nul\0" } }, /NUL/],
      ["POST", `${at}/collection`, { json: { name: "c", chunkingStrategy: { type: "fixed", size: 99 } } }, /100/],
      ["POST", `${at}/collection`, { json: { name: "c", chunkingStrategy: { type: "magic" } } }, /magic/],
      ["POST", `${at}/collection`, { json: { name: "c", metadata: { tags: ["a/b"] } } }, /tags/],
      [
        "POST",
        `${at}/collection`,
        { json: { name: "c", pipelines: Array.from({ length: 11 }, () => ({ s3Bucket: "b" })) } },
        /pipelines/,
      ],
      ["PUT", `${at}/collection/all-MiniLM-L6-v2`, { json: { description: null } }, /Nothing to change/],
      ["PUT", `${at}/collection/all-MiniLM-L6-v2`, { json: { status: "GONE" } }, /status/],
      ["GET", `${at}/similaritySearch?collectionId=all-MiniLM-L6-v2`, {}, /query/],
      ["GET", `${at}/similaritySearch?query=x`, {}, /modelName is required/],
      ["GET", `${at}/similaritySearch?query=%00&collectionId=all-MiniLM-L6-v2`, {}, /NUL/],
      ...["0", "-1", "1001", "three"].map(
        (top) =>
          ["GET", `${at}/similaritySearch?query=x&collectionId=all-MiniLM-L6-v2&topK=${top}`, {}, /topK/] as const,
      ),
      ["GET", `${at}/similaritySearch?query=x&collectionId=all-MiniLM-L6-v2&searchMode=psychic`, {}, /searchMode/],
      ["GET", "/repository/a%00b", {}],
      ["POST", `${at}/bulk`, { json: { keys: [] } }, /keys/],
      ["POST", `${at}/bulk`, { json: { keys: Array(101).fill("a.txt") } }, /keys/],
      ["POST", `${at}/bulk`, { json: { keys: ["never-sent.txt"] } }, /never-sent/],
      ["POST", `${at}/bulk?chunkSize=big`, { json: { keys: ["a.txt"] } }, /chunkSize/],
      ["POST", "/repository/presigned-url", { data: "" }],
      ["POST", "/repository/presigned-url", { data: "nul\0.txt" }, /NUL/],
      ["POST", "/repository/presigned-url", { data: "k".repeat(901) }, /900/],
      ["DELETE", `${at}/document`, { json: { documentIds: [] } }, /documentIds/],
      ["DELETE", `${at}/document`, {}, /documentIds/],
      ["DELETE", `${at}/document?documentName=a`, {}, /collectionId/],
    ];
    for (const [method, path, options, message] of wrong) {
      const reply = await ann.send(method, path, options);
      expect([method, path, reply.status, reply.text]).toEqual([method, path, 400, reply.text]);
      expectRefused(reply, 400, message);
    }
    expect(await state()).toEqual(before);
  });

  it("a body over 1 MiB is 413, a method that is not there 405", async () => {
    const json = { name: "c", description: "d".repeat(1_048_576) };
    expectRefused(await ann.send("POST", `/repository/${repository}/collection`, { json }), 413);
    expectRefused(await ann.send("POST", "/repository/presigned-url", { data: "k".repeat(1_048_577) }), 413);
    expectRefused(await ann.send("PATCH", "/repository"), 405);
    expectRefused(await ann.send("GET", `/repository/${repository}/bulk`), 405);
  });

  it("JSON is taken under any content type, and parameters that nobody knows are ignored, as a gateway does", async () => {
    const data = JSON.stringify({ name: "Plain" });
    const made = await ann.send("POST", `/repository/${repository}/collection?stage=dev`, {
      data,
      headers: { "content-type": "text/plain" },
    });
    expect(made.status, made.text).toBe(200);
    expect((await ann.send("GET", "/models?x=1")).status).toBe(200);
  });
});

describe("rights", () => {
  it("R-LISA-71 repositories are the admins'; documents of others stay, all of them", async () => {
    const [ben, cyn] = [await world.client("ben"), await world.client("cyn")];
    expectRefused(await ben.send("POST", "/repository", { json: { repositoryId: "bens", type: "pgvector" } }), 403);
    expectRefused(await ben.send("GET", "/repository/status"), 403);
    expectRefused(await ben.send("PUT", `/repository/${repository}`, { json: { description: "mine" } }), 403);
    expectRefused(await ben.send("DELETE", `/repository/${repository}`), 403);
    const { collectionId } = (await ann.createCollection(repository, { name: "Shared" })) as { collectionId: string };
    const [own, other] = [
      await ingested(ben, repository, collectionId, "ben.txt", "by ben"),
      await ingested(cyn, repository, collectionId, "cyn.txt", "by cyn"),
    ];
    const ids = [own, other].map(({ document_id }) => document_id as string);
    const refused = await ben.send("DELETE", `/repository/${repository}/document?collectionId=${collectionId}`, {
      json: { documentIds: ids },
    });
    expectRefused(refused, 403, /another user's/);
    expect(await ann.listDocuments(repository, collectionId)).toHaveLength(2);
    await ben.deleteDocumentByIds(repository, collectionId, [ids[0] as string]);
    // An interface names no collection.
    const byId = await cyn.send("DELETE", `/repository/${repository}/document`, { json: { documentIds: [ids[1]] } });
    expect(byId.status, byId.text).toBe(200);
    expect(await ann.listDocuments(repository, collectionId)).toEqual([]);
  });
});

describe("a form to the staging area", () => {
  it("R-LISA-79 needs its fields before the file, works once, and takes another credential beside them", async () => {
    const link = await ann.presignedUrl("1700000000_note.txt");
    expect(link).toMatchObject({ key: "1700000000_note.txt", fields: { "x-amz-meta-user": "ann" } });
    const { "x-amz-signature": signature, ...without } = link.fields;
    expectRefused(await uploadDocument({ url: link.url, fields: without }, "note.txt", "x"), 400, /before the file/);
    const other = { ...link.fields, key: "another.txt" };
    expectRefused(await uploadDocument({ url: link.url, fields: other }, "note.txt", "x"), 403);
    const forged = { ...link.fields, "x-amz-signature": "A".repeat(43) };
    expectRefused(await uploadDocument({ url: link.url, fields: forged }, "note.txt", "x"), 404);
    expect(signature).toHaveLength(43);
    // The interface sends its token along; the SDK sends none.
    const sent = await uploadDocument(link, "note.txt", "x", { authorization: "Bearer an-expired-token" });
    expect(sent.status, sent.text).toBe(204);
    expectRefused(await uploadDocument(link, "note.txt", "x"), 404);
  });

  it("R-LISA-79 takes 52,428,800 bytes, and answers one more with 413 and nothing staged", async () => {
    const over = await ann.presignedUrl("over.txt");
    expectRefused(await uploadDocument(over, "over.txt", new Uint8Array(52_428_801)), 413);
    const bulk = await ann.send("POST", `/repository/${repository}/bulk`, { json: { keys: ["over.txt"] } });
    expectRefused(bulk, 400, /over\.txt/);
    const full = await ann.presignedUrl("full.txt");
    expect((await uploadDocument(full, "full.txt", new Uint8Array(52_428_800).fill(97))).status).toBe(204);
  });

  it("what is not a file that can be read is refused before any document of the request is made", async () => {
    for (const name of ["good.txt", "bad.exe", "empty.txt"])
      await uploadDocument(await ann.presignedUrl(name), name, name === "empty.txt" ? "" : "words");
    const { collectionId } = (await ann.createCollection(repository, { name: "Mixed" })) as { collectionId: string };
    for (const bad of ["bad.exe", "empty.txt"]) {
      const json = { keys: ["good.txt", bad], collectionId };
      expect((await ann.send("POST", `/repository/${repository}/bulk`, { json })).status).toBe(400);
    }
    const { documents } = (await ann.send("GET", `/repository/${repository}/document?collectionId=${collectionId}`))
      .json as { documents: Json[] };
    expect(documents).toEqual([]);
    expect(
      ((await ann.send("GET", `/repository/${repository}/jobs`)).json["jobs"] as Json[]).map(
        (job) => job["collection_id"],
      ),
    ).not.toContain(collectionId);
  });
});
