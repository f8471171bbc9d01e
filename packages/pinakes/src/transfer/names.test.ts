import { describe, expect, it } from "vitest";
import {
  catalogBucket,
  catalogTable,
  checkNames,
  defaultNames,
  isTablePath,
  readTransferNames,
  tablePath,
} from "./names.ts";

describe("names of tables and buckets", () => {
  it("R-LISA-03 are those of the reference document, and configurable by environment variables", () => {
    expect(readTransferNames({})).toEqual(defaultNames);
    expect(defaultNames).toMatchObject({
      collectionsTable: "LisaRagCollectionsTable",
      documentsTable: "LisaRagDocumentTable",
      storesTable: "LisaRagVectorStoreTable",
    });
    const env = {
      LISA_RAG_COLLECTIONS_TABLE: "prod-Collections",
      RAG_DOCUMENT_TABLE: "prod-Documents",
      LISA_RAG_VECTOR_STORE_TABLE: "",
      KB_PROJECT: "acme",
    };
    expect(readTransferNames(env)).toEqual({
      ...defaultNames,
      collectionsTable: "prod-Collections",
      documentsTable: "prod-Documents",
      project: "acme",
    });
  });

  it("R-KB-01 R-KB-36 the table and the bucket of catalogs are named after the project", () => {
    const names = checkNames({ project: "acme", account: "123456789012", region: "us-east-1" });
    expect(catalogTable(names)).toBe("acme-kb-catalog");
    expect(catalogBucket(names)).toBe("acme-kb-docs-123456789012-us-east-1");
  });

  it.each(["..", "a/b", "", ".hidden", "x".repeat(129)])("refuses %j, which would lead elsewhere", (project) => {
    expect(() => checkNames({ project })).toThrow(/project/);
  });
  it("accepts one at the limit", () => {
    expect(checkNames({ project: "x".repeat(128) }).project).toHaveLength(128);
  });

  it("distinguishes tables from documents named like tables", () => {
    for (const path of [
      "items.jsonl",
      "a.json.gz",
      tablePath("T", false),
      tablePath("T", true),
      "AWSDynamoDB/0123-ab/data/x.json.gz",
      "p/AWSDynamoDB/0123-ab/data/x.json.gz",
    ])
      expect([path, isTablePath(path)]).toEqual([path, true]);
    for (const path of [
      "bucket/r/c/d-items.jsonl",
      "tables/sub/x.jsonl",
      "AWSDynamoDB/0123-ab/manifest-files.json",
      "readme.md",
      "u/c/d-x.pdf.metadata.json",
    ])
      expect([path, isTablePath(path)]).toEqual([path, false]);
  });
});
