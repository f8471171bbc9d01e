/** The LISA table of documents: old and new keys, times, sources, and arbitrary records. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../domain/json.ts";
import { systemChunking } from "../knowledge/chunking/strategy.ts";
import { uploadUri } from "../knowledge/records/ids.ts";
import type { DocumentRecord } from "../knowledge/records/records.ts";
import { documentKeys, documentToItem, exportedDocument, itemToDocument } from "./lisa-documents.ts";
import { golden } from "./test-transfer.ts";

const settings = { bucket: "lisa-rag-documents", chunking: systemChunking };
const at = "2030-01-01T00:00:00.000Z";

const record: DocumentRecord = {
  kind: "document",
  document_id: "doc-1",
  collection_id: "coll-456",
  repository_id: "repo-123",
  incarnation: "i-1",
  source_key: "k",
  name: "report.pdf",
  file_type: "pdf",
  metadata: {},
  source: { type: "manual", uri: uploadUri("report.pdf") },
  status: "indexed",
  error: null,
  attempts: 1,
  progress: null,
  size_bytes: 10,
  sha256: "00",
  version: 1,
  chunking_override: null,
  live: null,
  versions: [],
  uploaded_at: "2025-10-13T10:30:00.123Z",
  uploaded_by: "user-456",
  indexed_at: at,
  job_id: null,
  run: 1,
  touched_at: 0,
};

function read(item: JsonObject) {
  return itemToDocument(item, { keys: documentKeys(item), by: "root", at, chunking: systemChunking });
}

function imported(item: JsonObject): DocumentRecord {
  const { repositoryId, collectionId = "default", documentId } = documentKeys(item);
  return {
    ...record,
    repository_id: repositoryId,
    collection_id: collectionId,
    document_id: documentId,
    ...read(item),
    imported: { item, by: "root", at },
  };
}

describe("items of documents", () => {
  it("R-LISA-28 have the collection in their key and as an attribute", () => {
    expect(documentToItem(record, settings)).toEqual({
      pk: "repo-123#coll-456",
      document_id: "doc-1",
      repository_id: "repo-123",
      collectionId: "coll-456",
      collection_id: "coll-456",
      document_name: "report.pdf",
      source: "s3://lisa-rag-documents/repo-123/coll-456/doc-1-report.pdf",
      upload_date: Date.parse("2025-10-13T10:30:00.123Z"),
      chunk_strategy: { type: "RECURSIVE", chunkSize: 1000, chunkOverlap: 200, separators: ["\n\n", "\n", ". ", " "] },
      username: "user-456",
      ingestion_type: "manual",
    });
  });

  it("R-LISA-33 R-LISA-34 the reference document's legacy item has no collection, and is exported unchanged", () => {
    const legacy = golden("lisa-legacy-document.json");
    expect(documentKeys(legacy)).toEqual({ repositoryId: "repo-123", documentId: "doc-789" });
    expect(exportedDocument(imported(legacy), settings)).toEqual(legacy);
  });

  it("either spelling of the collection id is read; different ones are refused", () => {
    const item = { pk: "r#c", document_id: "d" };
    expect(documentKeys({ ...item, collection_id: "c" })).toEqual({
      repositoryId: "r",
      collectionId: "c",
      documentId: "d",
    });
    expect(documentKeys({ pk: "r", document_id: "d", collectionId: "c" })).toMatchObject({ collectionId: "c" });
    expect(() => documentKeys({ ...item, collectionId: "other" })).toThrow(/differ/);
    expect(() => documentKeys({ ...item, repository_id: "other" })).toThrow(/repository_id/);
  });

  it("R-LISA-29 a key of three parts, and ids with #, are refused", () => {
    expect(() => documentKeys({ pk: "a#b#c", document_id: "d" })).toThrow(/"#"/);
    expect(() => documentKeys({ pk: "a", document_id: "d#e" })).toThrow(/document_id.*"#"/);
    expect(() => documentKeys({ pk: "a", document_id: "d", collectionId: "x#y" })).toThrow(/"#"/);
  });

  it("upload_date is read as seconds or milliseconds, and exported unchanged", () => {
    for (const [upload_date, iso] of [
      [1_760_351_400, "2025-10-13T10:30:00.000Z"],
      [1_760_351_400.5, "2025-10-13T10:30:00.500Z"],
      [1_760_351_400_123, "2025-10-13T10:30:00.123Z"],
      [99_999_999_999, "5138-11-16T09:46:39.000Z"],
      [100_000_000_000, "1973-03-03T09:46:40.000Z"],
    ] as const) {
      const item = { pk: "r#c", document_id: "d", document_name: "a.md", upload_date };
      expect(read(item).uploaded_at).toBe(iso);
      expect(exportedDocument(imported(item), settings)).toEqual(item);
    }
    expect(() => read({ pk: "r#c", document_id: "d", upload_date: "2025" })).toThrow(/upload_date/);
  });

  it("chunking is kept if it differs from the collection's; unknown strategies are preserved", () => {
    const item = { pk: "r#c", document_id: "d", document_name: "a.md" };
    const fixed = { type: "fixed", size: 500, overlap: 50 };
    expect(read({ ...item, chunk_strategy: fixed }).chunking_override).toMatchObject({
      type: "FIXED",
      chunk_size: 500,
    });
    expect(
      read({ ...item, chunk_strategy: { type: "RECURSIVE", chunkSize: 1000, chunkOverlap: 200 } }).chunking_override,
    ).toBeNull();
    const foreign = {
      ...item,
      chunk_strategy: { type: "BEDROCK_MANAGED" },
      subdocs: ["s-1", "s-2"],
      ingestion_type: "EXISTING",
    };
    expect(read(foreign).chunking_override).toBeNull();
    expect(exportedDocument(imported(foreign), settings)).toEqual(foreign);
  });

  it("an upload that replaces it is exported", () => {
    const item = {
      pk: "repo-123",
      document_id: "d",
      document_name: "a.md",
      upload_date: 1_760_351_400,
      source: "s3://b/in/a.md",
      subdocs: [],
    };
    const replaced = { ...imported(item), uploaded_at: at, uploaded_by: "ann" };
    expect(exportedDocument(replaced, settings)).toEqual({ ...item, upload_date: Date.parse(at), username: "ann" });
  });

  it("any document survives a round trip", () => {
    const name = fc.stringMatching(/^[A-Za-z0-9 _-]{1,20}\.md$/);
    const uri = fc.constantFrom("upload", "s3://bucket/in/x.md", "file:/in/x.md");
    const fields = fc.record({
      name,
      uri,
      uploaded_by: fc.stringMatching(/^[a-z]{1,10}$/),
      ms: fc.integer({ min: 1e11, max: 4e12 }),
      metadata: fc.dictionary(fc.stringMatching(/^x[a-z]{0,5}$/), fc.oneof(fc.string(), fc.integer(), fc.boolean())),
    });
    fc.assert(
      fc.property(fields, ({ name: fileName, uri: from, ms, ...rest }) => {
        const source = {
          type: from === "upload" ? ("manual" as const) : ("auto" as const),
          uri: from === "upload" ? uploadUri(fileName) : from,
        };
        const before = { ...record, ...rest, name: fileName, source, uploaded_at: new Date(ms).toISOString() };
        const item = JSON.parse(JSON.stringify(documentToItem(before, settings))) as JsonObject;
        const after = { ...before, ...read(item) };
        expect(after).toEqual(before);
        expect(JSON.stringify(exportedDocument({ ...after, imported: { item, by: "root", at } }, settings))).toBe(
          JSON.stringify(item),
        );
      }),
    );
  });
});
