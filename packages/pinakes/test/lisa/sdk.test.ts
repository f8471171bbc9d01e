/** LISA's public integration tests, as its SDK sends them, against a started server on the engines that servers run on. */
import { beforeAll, describe, expect, it } from "vitest";
import type { Json } from "../http/support/server.ts";
import { useServers } from "../support/servers.ts";
import { until } from "../support/until.ts";
import { LisaError, uploadDocument } from "./support/lisa-client.ts";
import { ingested, lisaWorld, model } from "./support/lisa-world.ts";
import { forAllTests } from "../support/for-tests.ts";

const { postgres } = useServers();
const repository = "test-pgvector-rag";
const text = `
This is a test document for RAG collections integration testing.
It contains information about artificial intelligence and machine learning.
Machine learning is a subset of artificial intelligence that focuses on learning from data.
`;

describe.each([
  ["SQLite", () => ({})],
  ["PostgreSQL", () => ({ items: postgres(), objects: "memory:" })],
])("LISA's SDK on %s", (_, options) => {
  const world = forAllTests(() => lisaWorld(options()));
  const client = forAllTests(() => world.client("ann", { role: "admin" }));
  beforeAll(async () => {
    await client.createRepository({
      repositoryId: repository,
      repositoryName: "Test repository",
      type: "pgvector",
      embeddingModelId: model,
      allowedGroups: [],
      rdsConfig: { username: "postgres", dbName: "postgres", dbPort: 5432 },
    });
  });

  it("test_api: models, the reference page, repositories, the configuration and sessions", async () => {
    expect((await client.listModels()).length).toBeGreaterThan(0);
    expect((await client.listEmbeddingModels())[0]).toMatchObject({ modelId: model, status: "InService" });
    expect((await client.listDocs()).length).toBeGreaterThan(0);
    expect((await client.listRepositories())[0]).toMatchObject({ repositoryId: repository, type: "pgvector" });
    expect((await client.getConfigs()).length).toBeGreaterThan(0);
    expect(await client.listSessions()).toEqual([]);
  });

  it("R-LISA-79 test_integration_sdk_rag: a file by a presigned form, ingested, listed and deleted", async () => {
    const [first] = await client.listRepositories();
    const [embedding] = await client.listEmbeddingModels();
    const [rid, cid] = [first?.["repositoryId"], embedding?.["modelId"]] as [string, string];
    const link = await client.presignedUrl("integ-test-1.txt");
    expect(link.key).toBe("integ-test-1.txt");
    expect((await uploadDocument(link, "integ-test-1.txt", text)).status).toBe(204);
    const jobs = await client.ingestDocument(rid, cid, link.key, cid);
    expect(jobs).toEqual([
      {
        jobId: expect.any(String),
        documentId: null,
        status: "INGESTION_PENDING",
        s3Path: expect.stringMatching(/^s3:\/\/.+\/integ-test-1\.txt$/),
      },
    ]);
    const document = await until(async () =>
      (await client.listDocuments(rid, cid)).find(({ source }) => source === jobs[0]?.["s3Path"]),
    );
    const id = document["document_id"] as string;
    const deleted = await client.deleteDocumentByIds(rid, cid, [id]);
    expect(deleted["jobs"]).toEqual([
      {
        jobId: jobs[0]?.["jobId"],
        documentId: id,
        status: "DELETE_COMPLETED",
        s3Path: jobs[0]?.["s3Path"],
      },
    ]);
    expect((await client.listDocuments(rid, cid)).map(({ document_id }) => document_id)).not.toContain(id);
  });

  describe("R-LISA-82 test_rag_collections_integration", () => {
    let collection: Json;
    let cid: string;
    let did: string;

    it("01 creates a collection that cuts by 512 with 51 in common, and reads it", async () => {
      collection = await client.createCollection(repository, {
        name: "test-collection-integration-1",
        description: "Integration test collection",
        embeddingModel: model,
        chunkingStrategy: { type: "fixed", size: 512, overlap: 51 },
      });
      cid = collection["collectionId"] as string;
      expect(collection).toMatchObject({
        repositoryId: repository,
        chunkingStrategy: { type: "fixed", size: 512, overlap: 51 },
        allowChunkingOverride: false,
        status: "ACTIVE",
        default: false,
      });
      expect(await client.getCollection(repository, cid)).toEqual(collection);
    });

    it("02 ingests a document: its name, its collection and its source in S3", async () => {
      const document = await ingested(client, repository, cid, "tmp7.txt", text);
      did = document["document_id"] as string;
      expect(document).toEqual({
        pk: `${repository}#${cid}`,
        document_id: did,
        repository_id: repository,
        collection_id: cid,
        document_name: "tmp7.txt",
        source: expect.stringMatching(/^s3:\/\//),
        username: "ann",
        // The collection allows no other strategy than its own, whatever sizes the SDK sends.
        chunk_strategy: { type: "fixed", size: 512, overlap: 51 },
        ingestion_type: "manual",
        upload_date: expect.any(Number),
        chunks: 1,
      });
    });

    it("03 finds it, with its id in the hit", async () => {
      const hits = await client.similaritySearch(repository, "machine learning and artificial intelligence", {
        topK: 5,
        collectionId: cid,
      });
      expect(hits[0]?.Document.page_content.toLowerCase()).toContain("machine learning");
      expect(hits[0]?.Document.metadata).toEqual({
        source: expect.stringMatching(/^s3:\/\//),
        name: "tmp7.txt",
        tags: [],
        repositoryId: repository,
        collectionId: cid,
        part: 1,
        document_id: did,
      });
    });

    it("04 deletes it: not in the list, not to be read", async () => {
      const { jobs } = (await client.deleteDocumentByIds(repository, cid, [did])) as { jobs: Json[] };
      expect(jobs[0]?.["jobId"]).toBeTypeOf("string");
      expect(await client.listDocuments(repository, cid)).toEqual([]);
      await expect(client.getDocument(repository, did)).rejects.toThrow(LisaError);
    });

    it("05 has the collection among the user's", async () => {
      const all = await client.getUserCollections();
      expect(all.find(({ collectionId }) => collectionId === cid)).toMatchObject({ repositoryName: "Test repository" });
    });

    it("06 deletes a collection with its documents", async () => {
      const document = await ingested(client, repository, cid, "tmp8.txt", text);
      await client.deleteCollection(repository, cid);
      await expect(client.getDocument(repository, document["document_id"] as string)).rejects.toThrow(LisaError);
      await expect(client.listDocuments(repository, cid)).rejects.toMatchObject({ status: 404 });
    });
  });

  it("R-LISA-68 TestDefaultCollectionPath: listed, read, ingested into under the id that was used, emptied", async () => {
    const { collections } = (await client.listCollections(repository)) as { collections: Json[] };
    const known = collections.find((one) => one["default"] === true);
    const cid = known?.["collectionId"] as string;
    expect(await client.getCollection(repository, cid)).toMatchObject({ collectionId: cid, default: true });
    const document = await ingested(client, repository, cid, "default.txt", text);
    expect(document["collection_id"]).toBe(cid);
    await client.deleteDocumentsByName(repository, cid, "default.txt");
    expect(await client.listDocuments(repository, cid)).toEqual([]);
  });
});
