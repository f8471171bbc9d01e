/** Searches, what an ingestion may say about chunks and tags, and downloads. */
import { beforeAll, describe, expect, it } from "vitest";
import type { Json } from "../http/support/server.ts";
import { until } from "../support/until.ts";
import { uploadDocument } from "./support/lisa-client.ts";
import { ingested, lisaWorld, model } from "./support/lisa-world.ts";
import { forAllTests } from "../support/for-tests.ts";

const world = forAllTests(() => lisaWorld());
const ann = forAllTests(() => world.client("ann", { role: "admin" }));

const get = async (path: string): Promise<Json> => (await ann.send("GET", path)).json;

describe("searches", () => {
  const repository = "searched";
  let cid: string;

  beforeAll(async () => {
    await ann.createRepository({ repositoryId: repository, type: "pgvector", metadata: { tags: ["prod"] } });
    const made = await ann.createCollection(repository, {
      name: "Birds",
      metadata: { tags: ["birds"] },
      chunkingStrategy: { type: "fixed", size: 100, overlap: 0 },
    });
    cid = made["collectionId"] as string;
    const texts = [
      "Herons stand in shallow water.",
      "Cranes migrate in autumn.",
      "Swifts sleep while flying.",
      "Owls hunt at night.",
    ];
    for (const [i, text] of texts.entries()) await ingested(ann, repository, cid, `bird${i}.txt`, text);
  });

  const search = async (query: string): Promise<Json> =>
    get(`/repository/${repository}/similaritySearch?query=birds%20that%20sleep&${query}`);
  const docs = (reply: Json) => reply["docs"] as { Document: { page_content: string; metadata: Json } }[];

  it("R-LISA-82 find three unless asked otherwise, scores only when asked for, metadata as in the original", async () => {
    const plain = await search(`collectionId=${cid}&repositoryType=pgvector`);
    expect(Object.keys(plain)).toEqual(["docs"]);
    expect(docs(plain)).toHaveLength(3);
    expect(docs(plain)[0]?.Document.page_content).toContain("Swifts");
    const [first] = docs(await search(`collectionId=${cid}&topK=1&score=true`));
    expect(first?.Document.metadata).toEqual({
      source: expect.stringMatching(/\/bird2\.txt$/),
      name: "bird2.txt",
      tags: ["prod", "birds"],
      repositoryId: repository,
      collectionId: cid,
      part: 1,
      document_id: expect.any(String),
      similarity_score: expect.any(Number),
    });
    expect(docs(await search("collectionId=Birds&topK=10"))).toHaveLength(4);
    expect(docs(await search(`modelName=${model}`))).toEqual([]);
  });

  it.each(["vector", "hybrid", "keyword"])("R-LISA-82 in the mode %s say which was used", async (mode) => {
    const reply = await search(`collectionId=${cid}&searchMode=${mode}`);
    expect(reply["metadata"]).toEqual({
      search_mode: mode,
      actual_mode_used: mode,
      backend: "pinakes",
      hybrid_supported: true,
    });
    expect(docs(reply)[0]?.Document.page_content).toContain("Swifts");
  });

  it("R-LISA-14 the strategy of an ingestion is refused where the collection allows none; the SDK's sizes are passed over there", async () => {
    const { collectionId } = (await ann.createCollection(repository, { name: "Fixed" })) as { collectionId: string };
    const link = await ann.presignedUrl("fixed.txt");
    await uploadDocument(link, "fixed.txt", "words");
    const json = { keys: ["fixed.txt"], collectionId, chunkingStrategy: { type: "fixed", size: 200, overlap: 0 } };
    expect((await ann.send("POST", `/repository/${repository}/bulk`, { json })).status).toBe(400);
    const open = (await ann.send("POST", `/repository/${repository}/collection`, { json: { name: "Open" } })).json;
    const bulk = await ann.send("POST", `/repository/${repository}/bulk`, {
      json: { ...json, collectionId: open["collectionId"], metadata: { tags: ["own"], customFields: { year: 2026 } } },
    });
    expect(bulk.json).toMatchObject({ collectionId: open["collectionId"], collectionName: "Open" });
    const document = await until(async () => (await ann.listDocuments(repository, "Open"))[0]);
    expect(document["chunk_strategy"]).toEqual({ type: "fixed", size: 200, overlap: 0 });
    const [hit] = docs(await search("collectionId=Open"));
    expect(hit?.Document.metadata["tags"]).toEqual(["prod", "own"]);
  });

  it("downloads go by a link that needs no key", async () => {
    const [document] = await ann.listDocuments(repository, cid);
    const reply = await ann.send("GET", `/repository/${repository}/${String(document?.["document_id"])}/download`);
    const link = reply.json as unknown as string;
    expect(link.startsWith(world.url)).toBe(true);
    expect(await (await fetch(link)).text()).toBe("Owls hunt at night.");
  });
});
