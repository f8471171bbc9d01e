/** The table `{project}-kb-catalog`: keys, times, computed attributes, and arbitrary records. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../domain/json.ts";
import { readChunkingStrategy } from "../knowledge/chunking/index.ts";
import { emptyStats } from "../knowledge/records/collection-partition.ts";
import { personalRepositoryId, uploadUri } from "../knowledge/records/ids.ts";
import { newCollection } from "../knowledge/records/new-collection.ts";
import type { CollectionRecord, DocumentRecord, RepositoryRecord, StatsRecord } from "../knowledge/records/records.ts";
import {
  catalogDocumentKeys,
  catalogDocumentToItem,
  catalogToItem,
  dataSourceId,
  exportedCatalog,
  exportedCatalogDocument,
  itemToCatalog,
  itemToCatalogDocument,
} from "./catalog-items.ts";
import { transferLimits } from "./limits.ts";
import { fixture, itemsOf } from "./test-transfer.ts";

const at = "2026-02-03T00:00:00.000Z";
const owner = "cognito-sub-xxx";
const repository: RepositoryRecord = {
  kind: "repository",
  repository_id: personalRepositoryId(owner),
  name: "Personal",
  sort_name: "personal",
  search_text: "",
  description: "",
  embedding_model: "m",
  allowed_groups: null,
  allow_user_collections: true,
  chunking_strategy: null,
  metadata: { tags: [], custom_fields: {} },
  owner,
  status: "ACTIVE",
  created_by: owner,
  created_at: at,
  updated_at: at,
};
const whose = { owner, repository };
const [catalogItem, documentItem] = itemsOf(fixture("kb-catalog.jsonl")) as [JsonObject, JsonObject];
const oneIndexed: StatsRecord = {
  ...emptyStats,
  document_count: 1,
  total_size_bytes: 61,
  by_status: { ...emptyStats.by_status, indexed: 1 },
  last_sync_at: "2026-02-05T00:00:00.000Z",
};

function catalog(item: JsonObject): CollectionRecord {
  const collectionId = item["catalog_id"] as string;
  return newCollection({
    repository,
    caller: owner,
    incarnation: "i-1",
    now: at,
    collectionId,
    fields: { ...itemToCatalog(item), imported: { item, by: owner, at } },
  });
}

function document(item: JsonObject): DocumentRecord {
  return {
    kind: "document",
    document_id: "doc-def456",
    collection_id: "cat-abc123",
    repository_id: repository.repository_id,
    incarnation: "i-1",
    source_key: "k",
    status: "indexed",
    error: null,
    attempts: 1,
    progress: null,
    sha256: "00",
    version: 1,
    live: null,
    versions: [],
    indexed_at: "2026-02-05T00:00:00.000Z",
    job_id: null,
    run: 1,
    touched_at: 0,
    ...itemToCatalogDocument(item),
    imported: { item, by: owner, at },
  };
}

describe("items of catalogs", () => {
  it("R-KB-02 R-KB-11 R-KB-12 every attribute of the reference document, with its keys, in milliseconds", () => {
    const { imported: _, ...record } = catalog(catalogItem);
    expect(catalogToItem(record, whose, oneIndexed)).toEqual({ ...catalogItem, data_source_id: dataSourceId("i-1") });
    expect(Object.keys(catalogToItem(record, whose, oneIndexed))).toEqual(Object.keys(catalogItem));
    expect(catalogToItem(record, whose, emptyStats)).not.toHaveProperty("last_sync_at");
  });

  it("an imported one is exported unchanged; counts and status are always current", () => {
    expect(exportedCatalog(catalog(catalogItem), whose, oneIndexed)).toEqual(catalogItem);
    const { last_sync_at: _, ...never } = catalogItem;
    expect(exportedCatalog(catalog(catalogItem), whose, emptyStats)).toEqual({
      ...never,
      document_count: 0,
      total_size_bytes: 0,
      indexing_status: "pending",
    });
  });

  it("a data source id always exists, is stable for one incarnation and differs for the next", () => {
    expect(dataSourceId("i-1")).toMatch(/^[A-Z0-9]{10}$/);
    expect(dataSourceId("i-1")).toBe(dataSourceId("i-1"));
    expect(dataSourceId("i-2")).not.toBe(dataSourceId("i-1"));
  });

  it("a catalog with the status failed is read as error, and never exported as failed", () => {
    const failed = { ...catalogItem, indexing_status: "failed" };
    const broken = { ...oneIndexed, by_status: { ...emptyStats.by_status, failed: 1 } };
    expect(exportedCatalog(catalog(failed), whose, broken)["indexing_status"]).toBe("error");
    expect(() => itemToCatalog({ ...catalogItem, indexing_status: "lost" })).toThrow(/indexing_status/);
  });

  it.each(["user_id", "catalog_name", "created_at"])("%s is required", (name) => {
    const { [name]: _, ...rest } = catalogItem;
    expect(() => itemToCatalog(rest)).toThrow(new RegExp(`${name}: is missing`));
  });

  it("a user id at the limit is accepted, one longer or with a line break is not", () => {
    const of = (user_id: string) => () => itemToCatalog({ ...catalogItem, user_id });
    expect(of("x".repeat(transferLimits.userIdCharsMax))).not.toThrow();
    expect(of("x".repeat(transferLimits.userIdCharsMax + 1))).toThrow(/user_id/);
    expect(of("a\nb")).toThrow(/user_id/);
  });

  it("attributes without an equivalent in the layout go into `pinakes`", () => {
    const strategy = readChunkingStrategy({ type: "FIXED", chunk_size: 500 });
    const record: CollectionRecord = {
      ...catalog(catalogItem),
      status: "ARCHIVED",
      chunking_strategy: strategy,
      metadata: { tags: ["a"], custom_fields: {} },
    };
    const item = exportedCatalog(record, whose, oneIndexed);
    expect(item).toEqual({
      ...catalogItem,
      pinakes: { status: "ARCHIVED", chunking_strategy: strategy, metadata: { tags: ["a"], custom_fields: {} } },
    });
    expect(itemToCatalog(JSON.parse(JSON.stringify(item)) as JsonObject)).toMatchObject({
      status: "ARCHIVED",
      chunking_strategy: strategy,
    });
  });

  it("any catalog survives a round trip", () => {
    const fields = fc.record({
      name: fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9 _-]{0,30}$/),
      description: fc.string().filter((value) => !/[\p{Cc}<]/u.test(value)),
      status: fc.constantFrom("ACTIVE" as const, "ARCHIVED" as const),
      created_by: fc.constantFrom(owner, "root"),
      created_at: fc.integer({ min: 0, max: 4e12 }).map((ms) => new Date(ms).toISOString()),
      updated_at: fc.integer({ min: 0, max: 4e12 }).map((ms) => new Date(ms).toISOString()),
      private: fc.boolean(),
      allow_chunking_override: fc.boolean(),
      allowed_groups: fc.constantFrom(null, ["g"]),
      graph: fc.constantFrom(
        null,
        { extract: "off" as const },
        { extract: "llm" as const, key: "id", entity_types: ["person"] },
      ),
    });
    fc.assert(
      fc.property(fields, (generated) => {
        const record = newCollection({
          repository,
          caller: owner,
          incarnation: "i-1",
          now: at,
          collectionId: "c",
          fields: generated,
        });
        const item = JSON.parse(JSON.stringify(catalogToItem(record, whose, oneIndexed))) as JsonObject;
        const again = { ...record, ...itemToCatalog(item) };
        expect(again).toEqual(record);
        expect(
          JSON.stringify(exportedCatalog({ ...again, imported: { item, by: owner, at } }, whose, oneIndexed)),
        ).toBe(JSON.stringify(item));
      }),
    );
  });
});

describe("items of catalogs' documents", () => {
  it("R-KB-02 R-KB-18 R-KB-22 R-KB-23 every attribute of the reference document, with its keys", () => {
    const { imported: _, ...record } = document(documentItem);
    expect(JSON.stringify(catalogDocumentToItem(record, owner))).toBe(JSON.stringify(documentItem));
    expect(exportedCatalogDocument(document(documentItem), owner)).toEqual(documentItem);
    expect(catalogDocumentKeys(documentItem)).toEqual({
      catalogId: "cat-abc123",
      documentId: "doc-def456",
      owner,
      s3Key: "cognito-sub-xxx/cat-abc123/doc-def456-report.md",
    });
  });

  it("R-KB-23 has an error if and only if it failed, and a time only after success", () => {
    const failed = { ...document(documentItem), status: "failed" as const, error: "No text.", indexed_at: null };
    const { indexed_at: _, ...item } = documentItem;
    expect(exportedCatalogDocument(failed, owner)).toEqual({
      ...item,
      indexing_status: "failed",
      error_message: "No text.",
    });
    const again = {
      ...document({ ...documentItem, indexing_status: "failed", error_message: "old" }),
      status: "indexed" as const,
    };
    expect(exportedCatalogDocument(again, owner)).toEqual(documentItem);
  });

  it("missing bytes keep the item's size; other bytes have their own", () => {
    const { sha256: _, ...without } = { ...document(documentItem), size_bytes: 0 };
    expect(exportedCatalogDocument(without, owner)["file_size_bytes"]).toBe(61);
    expect(exportedCatalogDocument({ ...document(documentItem), size_bytes: 70 }, owner)["file_size_bytes"]).toBe(70);
  });

  it("an object in another user's or catalog's folder is refused", () => {
    for (const s3_key of [
      "eve/cat-abc123/doc-def456-report.md",
      "cognito-sub-xxx/cat-other/doc-def456-report.md",
      "../x",
    ])
      expect(() => catalogDocumentKeys({ ...documentItem, s3_key })).toThrow(/s3_key/);
    expect(() => catalogDocumentKeys({ ...documentItem, document_id: "other" })).toThrow(/document_id/);
    expect(() => catalogDocumentKeys({ ...documentItem, sk: "DOC#a#b", document_id: "a#b" })).toThrow(/"#"/);
  });

  it.each([
    ["filename", "a/b.md"],
    ["file_type", "exe"],
    ["file_size_bytes", -1],
    ["file_size_bytes", 1.5],
    ["uploaded_at", "today"],
    ["indexing_status", "ready"],
  ])("%s: %j is refused", (name, value) => {
    const item = { ...documentItem, [name]: value, ...(name === "file_type" ? { filename: "a.exe" } : {}) };
    expect(() => itemToCatalogDocument(item)).toThrow(new RegExp(name));
  });

  it("any document survives a round trip", () => {
    const fields = fc.record({
      name: fc.stringMatching(/^[A-Za-z0-9 _-]{1,20}\.md$/),
      size_bytes: fc.nat(),
      uploaded_by: fc.constantFrom(owner, "root"),
      ms: fc.integer({ min: 0, max: 4e12 }),
      metadata: fc.dictionary(fc.stringMatching(/^x[a-z]{0,5}$/), fc.oneof(fc.string(), fc.integer())),
    });
    fc.assert(
      fc.property(fields, ({ name, ms, ...rest }) => {
        const { imported: _, ...known } = document(documentItem);
        const record = {
          ...known,
          ...rest,
          name,
          source: { type: "manual" as const, uri: uploadUri(name) },
          uploaded_at: new Date(ms).toISOString(),
        };
        const item = JSON.parse(JSON.stringify(catalogDocumentToItem(record, owner))) as JsonObject;
        const again = { ...record, ...itemToCatalogDocument(item) };
        expect(again).toEqual(record);
        expect(JSON.stringify(exportedCatalogDocument({ ...again, imported: { item, by: owner, at } }, owner))).toBe(
          JSON.stringify(item),
        );
      }),
    );
  });
});
