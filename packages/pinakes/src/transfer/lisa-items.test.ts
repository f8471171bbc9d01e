/** The LISA tables of collections and vector stores: the examples of the reference document, and arbitrary records. */
import { chunkingTypes } from "@pinakes/client";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ChunkingStrategy } from "../domain/chunking.ts";
import type { JsonObject } from "../domain/json.ts";
import { readGraphSettings } from "../knowledge/extraction/index.ts";
import { readChunkingStrategy } from "../knowledge/chunking/index.ts";
import { knowledgeLimits, trashMs } from "../knowledge/limits.ts";
import { newCollection } from "../knowledge/records/new-collection.ts";
import type { CollectionRecord, PipelineSettings, RepositoryRecord } from "../knowledge/records/records.ts";
import {
  collectionKeys,
  collectionToItem,
  exportedCollection,
  exportedRepository,
  itemToCollection,
  itemToRepository,
  repositoryToItem,
} from "./lisa-items.ts";
import { itemToPipeline, pipelineToItem } from "./lisa-settings.ts";
import { golden } from "./test-transfer.ts";

const at = "2030-01-01T00:00:00.000Z";
const stamp = { newId: () => "p-1", by: "root", at };

const repository: RepositoryRecord = {
  kind: "repository",
  repository_id: "repo-123",
  name: "repo-123",
  sort_name: "repo-123",
  search_text: "",
  description: "",
  embedding_model: "amazon.titan-embed-text-v1",
  allowed_groups: null,
  allow_user_collections: true,
  chunking_strategy: null,
  metadata: { tags: [], custom_fields: {} },
  owner: null,
  status: "ACTIVE",
  created_by: "root",
  created_at: at,
  updated_at: at,
};

function imported(item: JsonObject): CollectionRecord {
  const { collectionId } = collectionKeys(item);
  return newCollection({
    repository,
    caller: "root",
    incarnation: "i-1",
    now: at,
    collectionId,
    fields: { ...itemToCollection(item, stamp), imported: { item, by: "root", at } },
  });
}

function importedStore(item: JsonObject): RepositoryRecord {
  return { ...repository, ...itemToRepository(item, stamp), imported: { item, by: "root", at } };
}

describe("items of collections", () => {
  const example = golden("lisa-collection.json");

  it("R-LISA-22 the reference document's example is exported deep-equal, with its keys in order", () => {
    const record = imported(example);
    expect(JSON.stringify(exportedCollection(record))).toBe(JSON.stringify(example));
    expect(exportedCollection(record)).toEqual(example);
  });

  it("R-LISA-22 the same record created here gives the same item", () => {
    const { imported: _, ...record } = imported(example);
    expect(JSON.stringify(collectionToItem(record))).toBe(JSON.stringify(example));
    expect(record).toMatchObject({
      created_by: "user-456",
      created_at: "2025-10-13T10:30:00.000Z",
      chunking_strategy: { type: "RECURSIVE", unit: "char", chunk_size: 1000, chunk_overlap: 200 },
      metadata: {
        tags: ["legal", "contracts", "confidential"],
        custom_fields: { department: "legal", classification: "internal" },
      },
      pipelines: [
        {
          source: "s3://lisa-rag-documents/legal/contracts/",
          trigger: "event",
          auto_remove: true,
          pipeline_id: "p-1",
          created_by: "user-456",
        },
      ],
    });
  });

  it("R-LISA-51 a deleted one has its purge time, in seconds, as deletedAt", () => {
    const record = { ...imported(example), status: "DELETED" as const, purge_at: "2030-04-01T00:00:00.500Z" };
    expect(exportedCollection(record)).toEqual({
      ...example,
      status: "DELETED",
      deletedAt: Date.parse("2030-04-01T00:00:01.000Z") / 1_000,
    });
    const again = itemToCollection({ ...example, status: "DELETED", deletedAt: 1_900_000_000 }, stamp);
    expect(again).toMatchObject({
      status: "DELETED",
      status_before: "ACTIVE",
      purge_at: new Date(1_900_000_000_000).toISOString(),
    });
    expect(Date.parse(again.purge_at as string) - Date.parse(again.deleted_at as string)).toBe(trashMs);
  });

  it("R-LISA-51 a deleted one without deletedAt is purged 90 days after its last change", () => {
    const { purge_at } = itemToCollection({ ...example, status: "DELETED" }, stamp);
    expect(purge_at).toBe(new Date(Date.parse("2025-10-13T10:30:00.000Z") + trashMs).toISOString());
  });

  it("unknown attributes, and the form of known ones, are preserved; changes are exported", () => {
    const item = {
      schemaVersion: 3,
      ...example,
      createdAt: "2025-10-13T12:30:00.000000+02:00",
      chunkingStrategy: { type: "fixed", parameters: { chunkSize: 500, chunkOverlap: 50 } },
      metadata: { tags: ["legal"], customFields: { a: 1 }, owner: { team: "x" } },
      allowedGroups: [],
      future: { nested: [1, { two: null }] },
    };
    const record = imported(item);
    expect(record).toMatchObject({ created_at: "2025-10-13T10:30:00.000Z", allowed_groups: null });
    expect(JSON.stringify(exportedCollection(record))).toBe(JSON.stringify(item));
    const changed = {
      ...record,
      description: "New",
      metadata: { tags: ["legal", "new"], custom_fields: {} },
      allowed_groups: ["legal-team"],
    };
    expect(exportedCollection(changed)).toEqual({
      ...item,
      description: "New",
      metadata: { tags: ["legal", "new"], customFields: {}, owner: { team: "x" } },
      allowedGroups: ["legal-team"],
    });
    const strategy = readChunkingStrategy({ type: "FIXED", chunk_size: 800, chunk_overlap: 50 });
    expect(exportedCollection({ ...record, chunking_strategy: strategy })["chunkingStrategy"]).toEqual({
      type: "FIXED",
      chunkSize: 800,
      chunkOverlap: 50,
    });
  });

  it("R-LISA-34 graph settings are beside the layout, also if set after the import", () => {
    const record = imported(example);
    expect(record.graph ?? null).toBeNull();
    expect(exportedCollection(record)).not.toHaveProperty("pinakes");
    const graph = { extract: "cooccurrence", key: "isbn" } as const;
    const item = exportedCollection({ ...record, graph });
    expect(item["pinakes"]).toEqual({ graph });
    expect(itemToCollection(item, stamp).graph).toEqual(graph);
    expect(() => itemToCollection({ ...example, pinakes: { graph: { extract: "everything" } } }, stamp)).toThrow(
      /pinakes\.graph\.extract/,
    );
  });

  it("a description longer than the limit for new ones is kept", () => {
    expect(itemToCollection({ ...example, description: "x".repeat(5_000) }, stamp).description).toHaveLength(5_000);
  });

  it("R-LISA-29 ids with # are refused", () => {
    expect(() => collectionKeys({ ...example, collectionId: "a#b" })).toThrow(/collectionId.*"#"/);
    expect(() => collectionKeys({ ...example, repositoryId: "a#b" })).toThrow(/repositoryId.*"#"/);
  });

  it.each([
    ["status", "GONE"],
    ["createdAt", "yesterday"],
    ["allowChunkingOverride", "yes"],
    ["metadata", []],
    ["allowedGroups", "legal"],
    ["pipelines", [{ trigger: "hourly", s3Bucket: "abc" }]],
    ["pipelines", ["x"]],
    ["name", "a/b"],
    ["deletedAt", "soon"],
  ])("%s: %j is refused by name", (name, value) => {
    expect(() =>
      itemToCollection({ ...example, status: name === "deletedAt" ? "DELETED" : "ACTIVE", [name]: value }, stamp),
    ).toThrow(new RegExp(name === "pipelines" ? "trigger|pipelines" : name));
  });

  it("pipelines at the limit are accepted, one more is not", () => {
    const [pipeline] = example["pipelines"] as JsonObject[];
    const many = (count: number) => ({
      ...example,
      pipelines: Array.from({ length: count }, () => pipeline as JsonObject),
    });
    expect(itemToCollection(many(knowledgeLimits.pipelinesMax), stamp).pipelines).toHaveLength(10);
    expect(() => itemToCollection(many(knowledgeLimits.pipelinesMax + 1), stamp)).toThrow(/at most 10/);
  });

  it("any collection survives a round trip", () => {
    fc.assert(
      fc.property(anyCollection, (record) => {
        const item = JSON.parse(JSON.stringify(collectionToItem(record))) as JsonObject;
        const again: CollectionRecord = { ...record, ...itemToCollection(item, { ...stamp, by: "nobody" }) };
        expect(withoutIds(again)).toEqual(withoutIds(record));
        expect(JSON.stringify(collectionToItem(again))).toBe(JSON.stringify(item));
        expect(JSON.stringify(exportedCollection({ ...again, imported: { item, by: "root", at } }))).toBe(
          JSON.stringify(item),
        );
      }),
    );
  });
});

describe("items of pipelines", () => {
  const pipeline: PipelineSettings = {
    pipeline_id: "p",
    trigger: "schedule",
    source: "s3://bucket-1/in/",
    schedule: "0 0 * * *",
    auto_remove: false,
    chunking_strategy: null,
    max_removal_share: 0.5,
    created_by: "ann",
    created_at: at,
  };
  it("LISA's own are plain", () => {
    expect(pipelineToItem(pipeline)).toEqual({
      autoRemove: false,
      s3Bucket: "bucket-1",
      s3Prefix: "in/",
      trigger: "daily",
    });
  });
  it.each<Partial<PipelineSettings>>([
    { source: "file:/in" },
    { schedule: "5 4 * * 1" },
    { max_removal_share: 0.1 },
    { chunking_strategy: readChunkingStrategy({ type: "TOKEN", chunk_size: 20 }) },
  ])("settings without an equivalent in LISA are preserved: %j", (other) => {
    const odd = { ...pipeline, ...other };
    expect(pipelineToItem(odd)["pinakes"]).toBeDefined();
    expect(itemToPipeline(JSON.parse(JSON.stringify(pipelineToItem(odd))) as JsonObject, odd)).toEqual(odd);
  });
});

describe("items of vector stores", () => {
  const example = golden("lisa-vector-store.json");

  it("R-LISA-22 the reference document's example is exported deep-equal", () => {
    const record = importedStore(example);
    expect(JSON.stringify(exportedRepository(record))).toBe(JSON.stringify(example));
    expect(record).toMatchObject({
      allowed_groups: ["engineering", "data-science"],
      metadata: { tags: ["production"], custom_fields: { owner: "ml-team" } },
    });
  });

  it("R-LISA-38 rows without the new attributes get their defaults and are exported unchanged", () => {
    const old = {
      repositoryId: "repo-123",
      config: { embeddingModelId: "m", type: "pgvector", rdsConfig: { dbHost: "x" } },
      status: "UPDATE_COMPLETE",
    };
    const record = importedStore(old);
    expect(record).toMatchObject({
      allow_user_collections: true,
      metadata: { tags: [], custom_fields: {} },
      allowed_groups: null,
      name: "repo-123",
    });
    expect(exportedRepository(record)).toEqual(old);
    expect(
      exportedRepository({ ...record, allow_user_collections: false, updated_at: "2031-01-01T00:00:00.000Z" }),
    ).toEqual({
      ...old,
      config: { ...old.config, allowUserCollections: false },
    });
  });

  it("the new attributes are also read outside config", () => {
    const item = {
      ...example,
      config: { embeddingModelId: "m" },
      allowUserCollections: false,
      ...golden("lisa-vector-store-metadata.json"),
    };
    const record = importedStore(item);
    expect(record).toMatchObject({
      allow_user_collections: false,
      metadata: { tags: ["production", "v2"], custom_fields: { owner: "data-team", environment: "prod" } },
    });
    expect(exportedRepository(record)).toEqual(item);
  });

  it("refuses one that is being deleted, and one with conflicting ids", () => {
    expect(() => itemToRepository({ ...example, status: "DELETE_IN_PROGRESS" }, stamp)).toThrow(/DELETE_IN_PROGRESS/);
    expect(() => itemToRepository({ ...example, repositoryId: "other" }, stamp)).toThrow(/config.repositoryId/);
    expect(() => itemToRepository({ ...example, repositoryId: "a#b" }, stamp)).toThrow(/"#"/);
  });

  it("any repository survives a round trip", () => {
    fc.assert(
      fc.property(anyRepository, (record) => {
        const item = JSON.parse(JSON.stringify(repositoryToItem(record))) as JsonObject;
        const again = { ...record, ...itemToRepository(item, { by: "nobody", at: "1999-01-01T00:00:00.000Z" }) };
        expect(again).toEqual(record);
        expect(JSON.stringify(exportedRepository({ ...again, imported: { item, by: "root", at } }))).toBe(
          JSON.stringify(item),
        );
      }),
    );
  });
});

const word = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9 _-]{0,30}$/);
const time = fc.integer({ min: 0, max: 4_000_000_000_000 }).map((ms) => new Date(ms).toISOString());
const metadata = fc.record({
  tags: fc.uniqueArray(word, { maxLength: 5 }),
  custom_fields: fc
    .dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }))
    .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject),
});
const groups = fc.option(fc.uniqueArray(word, { minLength: 1, maxLength: 4 }));
const chunking: fc.Arbitrary<ChunkingStrategy> = fc
  .record({
    type: fc.constantFrom(...chunkingTypes),
    chunk_size: fc.integer({ min: 100, max: 8_000 }),
    token: fc.boolean(),
  })
  .map(({ type, chunk_size, token }) =>
    readChunkingStrategy({ type, chunk_size, ...(token ? { unit: "token" } : {}) }),
  );
const graph = fc
  .record(
    {
      extract: fc.constantFrom("off", "structured", "cooccurrence", "llm"),
      key: word,
      entity_types: fc.array(word, { minLength: 1, maxLength: 3 }),
    },
    { requiredKeys: ["extract"] },
  )
  .map((settings) => readGraphSettings(settings));
const pipelines: fc.Arbitrary<readonly PipelineSettings[]> = fc.array(
  fc.record({
    pipeline_id: fc.uuid(),
    trigger: fc.constant("event" as const),
    source: fc.constantFrom("s3://bucket-1/in/", "s3://bucket-1/", "file:/in"),
    schedule: fc.constant(null),
    auto_remove: fc.boolean(),
    chunking_strategy: fc.option(chunking),
    max_removal_share: fc.constantFrom(0.5, 0, 1),
    created_by: word,
    created_at: time,
  }),
  { maxLength: 2 },
);
const text = fc.string().filter((value) => !/[\p{Cc}<]/u.test(value));

const anyCollection: fc.Arbitrary<CollectionRecord> = fc
  .record({
    name: word,
    description: text,
    chunking_strategy: fc.option(chunking),
    graph: fc.option(graph),
    allow_chunking_override: fc.boolean(),
    metadata,
    allowed_groups: groups,
    private: fc.boolean(),
    pipelines,
    status: fc.constantFrom("ACTIVE" as const, "ARCHIVED" as const),
    created_by: word,
    created_at: time,
    updated_at: time,
  })
  .map((fields) =>
    newCollection({ repository, caller: "root", incarnation: "i-1", now: at, collectionId: "c-1", fields }),
  );

const anyRepository: fc.Arbitrary<RepositoryRecord> = fc
  .record({
    name: word,
    description: text,
    allowed_groups: groups,
    allow_user_collections: fc.boolean(),
    chunking_strategy: fc.option(chunking),
    graph: fc.option(graph),
    metadata,
    created_by: word,
    created_at: time,
    updated_at: time,
  })
  .map((fields) => ({ ...repository, ...fields }));

/** Imported pipelines get new ids and the collection's creator. */
function withoutIds(record: CollectionRecord): unknown {
  return {
    ...record,
    pipelines: record.pipelines.map(({ pipeline_id: _, created_by: _by, created_at: _at, ...settings }) => settings),
  };
}
