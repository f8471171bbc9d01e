/** Repositories and collections with all their settings: types, configurations, pipelines on a real bucket, status, deletions. */
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startS3 } from "../../src/drivers/s3/test-server.ts";
import type { Json } from "../http/support/server.ts";
import { until } from "../support/until.ts";
import type { LisaClient } from "./support/lisa-client.ts";
import { ingested, lisaWorld, model, type LisaWorld } from "./support/lisa-world.ts";
import { forAllTests } from "../support/for-tests.ts";

const credentials = { accessKeyId: "test", secretAccessKey: "test" };
const region = "us-east-1";
const bucket = "lisa-source";
let objects: S3Client;
let world: LisaWorld;
let ann: LisaClient;

const s3 = forAllTests(() => startS3());
beforeAll(async () => {
  await s3.bucket(bucket);
  objects = new S3Client({ endpoint: s3.endpoint, region, credentials, forcePathStyle: true });
  world = await lisaWorld({
    pipelineBuckets: [{ bucket, prefix: "open", endpoint: s3.endpoint, region, credentials }],
  });
  ann = await world.client("ann", { role: "admin" });
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  objects?.destroy();
});

const put = (key: string, text: string) => objects.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: text }));
const get = async (path: string): Promise<Json> => (await ann.send("GET", path)).json;

describe("repositories", () => {
  it("keep their type and its configuration with the original's defaults, and say what of it is not done", async () => {
    const created = await ann.createRepository({
      repositoryId: "search-cluster",
      repositoryName: "Search cluster",
      description: "All that is known",
      type: "opensearch",
      embeddingModelId: model,
      allowedGroups: [],
      metadata: { tags: ["prod"], customFields: { owner: "data-team" } },
      opensearchConfig: { dataNodes: 2, volumeSize: 20 },
    });
    expect(created).toEqual({
      status: "success",
      executionArn: expect.stringMatching(/^arn:/),
      warnings: [expect.stringContaining("opensearchConfig")],
    });
    expect(await get("/repository/search-cluster")).toEqual({
      repositoryId: "search-cluster",
      repositoryName: "Search cluster",
      description: "All that is known",
      type: "opensearch",
      embeddingModelId: model,
      allowedGroups: [],
      allowUserCollections: true,
      metadata: { tags: ["prod"], customFields: { owner: "data-team" } },
      pipelines: [],
      opensearchConfig: {
        dataNodes: 2,
        dataNodeInstanceType: "r7g.large.search",
        masterNodes: 0,
        masterNodeInstanceType: "r7g.large.search",
        volumeSize: 20,
        volumeType: "gp3",
        multiAzWithStandby: false,
      },
      status: "CREATE_COMPLETE",
      createdBy: "ann",
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    await ann.createRepository({
      repositoryId: "with-endpoint",
      type: "opensearch",
      opensearchConfig: { endpoint: "e" },
    });
    expect((await get("/repository/with-endpoint"))["opensearchConfig"]).toEqual({ endpoint: "e" });
    await ann.createRepository({
      repositoryId: "with-rds",
      type: "pgvector",
      rdsConfig: { dbHost: "db", password: "x" },
    });
    expect((await get("/repository/with-rds"))["rdsConfig"]).toEqual({
      username: "postgres",
      dbHost: "db",
      dbName: "postgres",
      dbPort: 5432,
    });
  });

  it("R-LISA-37 change what is named and keep the rest; null keeps; the status says so, for admins by repository", async () => {
    const changed = await ann.send("PUT", "/repository/search-cluster", {
      json: { description: "Changed", repositoryName: null, metadata: { tags: ["prod", "v2"], customFields: {} } },
    });
    expect(changed.json).toMatchObject({
      repositoryName: "Search cluster",
      description: "Changed",
      type: "opensearch",
      metadata: { tags: ["prod", "v2"], customFields: {} },
      opensearchConfig: { volumeSize: 20 },
      status: "UPDATE_COMPLETE",
    });
    expect(await ann.getRepositoryStatus()).toMatchObject({ "search-cluster": "UPDATE_COMPLETE" });
  });

  it("R-LISA-80 are deleted with all that they hold", async () => {
    await ann.createRepository({ ragConfig: { repositoryId: "short-lived", type: "pgvector" } });
    await ann.deleteRepository("short-lived");
    await until(async () => (await ann.send("GET", "/repository/short-lived")).status === 404);
  });

  it("R-LISA-21 R-LISA-81 have pipelines on their default collection; a list replaces the one before, and source, trigger and autoRemove stay", async () => {
    const pipeline = {
      s3Bucket: bucket,
      s3Prefix: "open/repo",
      trigger: "daily",
      autoRemove: false,
      chunkSize: 600,
      chunkOverlap: 60,
    };
    await ann.createRepository({ repositoryId: "piped", type: "pgvector", pipelines: [pipeline] });
    const shown = {
      s3Bucket: bucket,
      s3Prefix: "open/repo/",
      trigger: "daily",
      autoRemove: false,
      collectionId: model,
      metadata: { tags: [], customFields: {} },
      chunkingStrategy: { type: "fixed", size: 600, overlap: 60 },
      chunkSize: 600,
      chunkOverlap: 60,
    };
    expect(await get("/repository/piped")).toMatchObject({ pipelines: [shown] });
    expect((await ann.listRepositories()).find(({ repositoryId }) => repositoryId === "piped")).toMatchObject({
      pipelines: [shown],
    });
    const put2 = (pipelines: readonly object[]) => ann.send("PUT", "/repository/piped", { json: { pipelines } });
    expect((await put2([{ ...pipeline, trigger: "schedule" }])).json).not.toHaveProperty("executionArn");
    expect((await put2([{ ...pipeline, autoRemove: true }])).status).toBe(400);
    expect((await put2([{ ...pipeline, s3Bucket: "elsewhere" }])).json["message"]).toContain("has not allowed");
    expect(await get("/repository/piped")).toMatchObject({ pipelines: [shown] });
    const other = { s3Bucket: bucket, s3Prefix: "open/more", trigger: "schedule" };
    const changed = await put2([other]);
    expect(changed.json).toMatchObject({
      executionArn: expect.any(String),
      pipelines: [{ s3Prefix: "open/more/", trigger: "daily", autoRemove: true }],
    });
    expect((await put2([])).json["pipelines"]).toEqual([]);
  });

  it("a pipeline that cannot be read is refused with the repository, of which nothing is left", async () => {
    const json = {
      repositoryId: "half",
      type: "pgvector",
      pipelines: [{ s3Bucket: "elsewhere", s3Prefix: "x", trigger: "event" }],
    };
    const refused = await ann.send("POST", "/repository", { json });
    expect([refused.status, refused.json["message"]]).toEqual([403, expect.stringContaining("has not allowed")]);
    expect((await ann.send("GET", "/repository/half")).status).toBe(404);
  });

  it("of a knowledge base have a collection for each data source, whose bucket is read where it may be", async () => {
    await put("open/kb/bridges.txt", "Bridges are inspected every six years.");
    const bedrockKnowledgeBaseConfig = {
      bedrockKnowledgeBaseId: "KB12345678",
      dataSources: [
        { id: "DS1", name: "Bridges", s3Uri: `s3://${bucket}/open/kb` },
        { id: "DS2", name: "Elsewhere", s3Uri: "s3://another-bucket/docs" },
      ],
    };
    const made = await ann.createRepository({
      repositoryId: "kb",
      type: "bedrock_knowledge_base",
      embeddingModelId: model,
      bedrockKnowledgeBaseConfig,
    });
    expect(made["warnings"]).toEqual([
      expect.stringContaining("knowledge base itself is not queried"),
      expect.stringContaining("s3://another-bucket/docs"),
    ]);
    const { collections } = (await ann.listCollections("kb")) as { collections: Json[] };
    expect(collections.map(({ collectionId, dataSourceId }) => [collectionId, dataSourceId])).toEqual([
      ["DS2", "DS2"],
      ["DS1", "DS1"],
      [model, null],
    ]);
    const document = await until(async () => (await ann.listDocuments("kb", "DS1"))[0]);
    expect(document).toMatchObject({ source: `s3://${bucket}/open/kb/bridges.txt`, ingestion_type: "auto" });
    const own = await ann.send("POST", "/repository/kb/collection", { json: { name: "Mine" } });
    expect([own.status, own.json["message"]]).toEqual([400, expect.stringContaining("data source")]);
    expect(await get("/bedrock-kb")).toEqual({
      knowledgeBases: [{ knowledgeBaseId: "KB12345678", name: "kb", status: "ACTIVE", available: false }],
      totalKnowledgeBases: 1,
    });
    expect(await get("/bedrock-kb/KB12345678/data-sources")).toMatchObject({
      knowledgeBase: { id: "KB12345678", name: "kb" },
      dataSources: [{ dataSourceId: "DS1", s3Bucket: bucket, s3Prefix: "open/kb" }, { dataSourceId: "DS2" }],
    });
  });
});

describe("collections", () => {
  const repository = "search-cluster";

  it("R-LISA-01 R-LISA-10 without an id or a name get both; all fields of the original are there", async () => {
    const made = (await ann.send("POST", `/repository/${repository}/collections`, { json: {} })).json;
    expect(made["collectionId"]).toMatch(/^[\da-f-]{36}$/);
    expect(made).toEqual({
      collectionId: made["collectionId"],
      repositoryId: repository,
      name: made["collectionId"],
      description: null,
      chunkingStrategy: null,
      allowChunkingOverride: true,
      metadata: { tags: [], customFields: {} },
      allowedGroups: null,
      embeddingModel: model,
      createdBy: "ann",
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updatedAt: made["createdAt"],
      status: "ACTIVE",
      private: false,
      default: false,
      dataSourceId: null,
      pipelines: null,
    });
  });

  it("R-LISA-13 take the chunking of every version of the original, and show it in its words", async () => {
    const chunking = { type: "RECURSIVE", chunkSize: 1000, chunkOverlap: 200, separators: ["\n\n", "\n", ". ", " "] };
    const shown = async (chunkingStrategy: object, name: string) =>
      (await ann.createCollection(repository, { name, chunkingStrategy }))["chunkingStrategy"];
    expect(await shown(chunking, "Recursive")).toEqual({ ...chunking, size: 1000, overlap: 200 });
    expect(await shown({ type: "none" }, "None")).toEqual({ type: "none" });
    expect(await shown({ type: "fixed", size: 10_000, overlap: 5_000 }, "Fixed")).toEqual({
      type: "fixed",
      size: 10_000,
      overlap: 5_000,
    });
  });

  it("are found by their id, their name, and the model of the default one", async () => {
    const { collectionId } = await ann.createCollection(repository, { name: "default" });
    expect(collectionId).not.toBe("default");
    for (const [asked, id] of [
      [collectionId, collectionId],
      ["default", collectionId],
      [model, model],
    ] as const)
      expect(await ann.getCollection(repository, asked as string)).toMatchObject({ collectionId: id });
    expect((await ann.send("GET", `/repository/${repository}/collection/DEFAULT`)).status).toBe(404);
  });

  it("R-LISA-23 R-LISA-41 R-LISA-60 are archived, restored and deleted by PUT of a status; other fields keep what is null", async () => {
    const { collectionId } = (await ann.createCollection(repository, {
      name: "Status",
      description: "kept",
      metadata: { tags: ["a"], customFields: { b: 1 } },
    })) as { collectionId: string };
    const change = (json: Json) => ann.updateCollection(repository, collectionId, json);
    expect(await change({ name: "Renamed", description: null, status: "archived" })).toMatchObject({
      name: "Renamed",
      description: "kept",
      status: "ARCHIVED",
    });
    await expect(change({ description: "no" })).rejects.toMatchObject({ status: 409 });
    expect(await change({ status: "ACTIVE", description: "yes" })).toMatchObject({
      status: "ACTIVE",
      description: "yes",
    });
    expect(await change({ status: "DELETED" })).toMatchObject({ status: "DELETED" });
    await expect(ann.getCollection(repository, collectionId)).rejects.toMatchObject({ status: 404 });
    const { collections } = (await ann.listCollections(repository, { statusFilter: "deleted" })) as {
      collections: Json[];
    };
    expect(collections.map((one) => one["collectionId"])).toContain(collectionId);
    expect(await change({ status: "ACTIVE" })).toMatchObject({
      status: "ACTIVE",
      metadata: { tags: ["a"], customFields: { b: 1 } },
    });
    await expect(change({ embeddingModel: "another" })).rejects.toMatchObject({ status: 400 });
    expect(await change({ embeddingModel: model, repositoryId: "ignored" })).toMatchObject({ status: "ACTIVE" });
  });

  it("R-LISA-75 R-LISA-68 say what their deletion removes: the whole of one, the documents of the default one", async () => {
    const { collectionId } = (await ann.createCollection(repository, { name: "Going" })) as { collectionId: string };
    const document = await ingested(ann, repository, collectionId, "going.txt", "goes with its collection");
    const gone = await ann.send("DELETE", `/repository/${repository}/collections/Going`);
    expect(gone.json).toEqual({
      jobId: expect.any(String),
      deletionType: "full",
      status: "DELETE_COMPLETED",
      summary: { documents: 1, chunks: document["chunks"], bytes: 24, restorableUntil: expect.any(String) },
    });
    await ingested(ann, repository, model, "default.txt", "in the default collection");
    const emptied = await ann.send("DELETE", `/repository/${repository}/collection/none?embeddingName=${model}`);
    expect(emptied.json).toMatchObject({ deletionType: "partial", summary: { documents: 1, restorableUntil: null } });
    expect(emptied.json["status"]).toMatch(/^DELETE_(PENDING|IN_PROGRESS|COMPLETED)$/);
    await until(async () => (await ann.listDocuments(repository, model)).length === 0);
    const { jobs } = (await get(`/repository/${repository}/jobs`)) as unknown as { jobs: Json[] };
    expect(jobs.find(({ id }) => id === gone.json["jobId"])).toMatchObject({
      status: "DELETE_COMPLETED",
      job_type: "collection_deletion",
      collection_deletion: true,
    });
  });

  it("R-LISA-21 have pipelines as an attribute from the start, which ingest at once and can be replaced", async () => {
    await put("open/docs/roads.txt", "Roads are resurfaced in summer.");
    const pipeline = {
      s3Bucket: bucket,
      s3Prefix: "open/docs/",
      trigger: "event",
      autoRemove: true,
      chunkSize: 1000,
      chunkOverlap: 200,
    };
    const made = await ann.createCollection(repository, { name: "Piped", pipelines: [pipeline] });
    const cid = made["collectionId"] as string;
    expect(made["pipelines"]).toEqual([
      {
        ...pipeline,
        collectionId: cid,
        metadata: { tags: [], customFields: {} },
        chunkingStrategy: { type: "fixed", size: 1000, overlap: 200 },
      },
    ]);
    const document = await until(async () => (await ann.listDocuments(repository, cid))[0]);
    expect(document).toMatchObject({ document_name: "roads.txt", ingestion_type: "auto" });
    await expect(
      ann.updateCollection(repository, cid, { pipelines: [{ ...pipeline, trigger: "daily" }] }),
    ).rejects.toMatchObject({ status: 400 });
    const changed = await ann.updateCollection(repository, cid, {
      pipelines: [{ s3Bucket: bucket, s3Prefix: "open/else", trigger: "daily" }],
    });
    expect(changed["pipelines"]).toMatchObject([{ s3Prefix: "open/else/", trigger: "daily", autoRemove: true }]);
    const tagged = { ...pipeline, metadata: { tags: ["t"] } };
    await expect(ann.createCollection(repository, { name: "Tagged", pipelines: [tagged] })).rejects.toThrow(/tags/);
  });
});
