/**
 * Items of the table `{project}-kb-catalog`, both ways: a catalog (sk `METADATA`) is a collection of a personal repository, and each of its
 * documents an item of the same partition (sk `DOC#{document_id}`). Times are epoch milliseconds. Attributes without an equivalent in the
 * layout are in `pinakes`, which is absent if empty.
 */
import { documentStatuses } from "@pinakes/client";
import { hash } from "node:crypto";
import type { ChunkingStrategy } from "../domain/chunking.ts";
import { invalid, show } from "../domain/errors.ts";
import { fileTypes, fileTypeOf, type FileType } from "../domain/file-type.ts";
import type { JsonObject, JsonValue } from "../domain/json.ts";
import { readChunkingStrategy } from "../knowledge/chunking/index.ts";
import { checkDocumentMetadata } from "../knowledge/documents/document-metadata.ts";
import { uploadUri } from "../knowledge/records/ids.ts";
import { checkMetadata } from "../knowledge/records/metadata.ts";
import { checkDescription, checkFileName, checkGroups, checkName } from "../knowledge/records/names.ts";
import {
  type CollectionRecord,
  type DocumentRecord,
  type RepositoryRecord,
  type StatsRecord,
} from "../knowledge/records/records.ts";
import { indexingStatus } from "../knowledge/views.ts";
import { epochAttribute, keyPart, oneOf, optionalFlag, optionalMap, optionalText, text, userId } from "./attributes.ts";
import { compact, giveBack, importedOf } from "./give-back.ts";
import { importPrefix } from "./lisa-documents.ts";
import { itemToGraph } from "./lisa-settings.ts";

const catalogTypes: readonly FileType[] = ["pdf", "docx", "txt", "md", "csv"];
const catalogStatuses = ["pending", "indexing", "ready", "error"] as const;
/** Always the current values, never imported ones. */
const always = new Set([
  "document_count",
  "total_size_bytes",
  "indexing_status",
  "last_sync_at",
  "s3_prefix",
  "s3_key",
  "indexed_at",
  "error_message",
]);

export const metadataKey = "METADATA";
export const documentKeyPrefix = "DOC#";

export interface CatalogOwner {
  readonly owner: string;
  readonly repository: RepositoryRecord;
}

export function catalogToItem(
  record: CollectionRecord,
  { owner, repository }: CatalogOwner,
  stats: StatsRecord,
): JsonObject {
  return compact({
    catalog_id: record.collection_id,
    sk: metadataKey,
    user_id: owner,
    catalog_name: record.name,
    description: record.description === "" ? undefined : record.description,
    data_source_id: dataSourceId(record.incarnation),
    s3_prefix: catalogPrefix(owner, record.collection_id),
    created_at: Date.parse(record.created_at),
    updated_at: Date.parse(record.updated_at),
    document_count: stats.document_count,
    total_size_bytes: stats.total_size_bytes,
    indexing_status: indexingStatus(stats),
    last_sync_at: stats.last_sync_at === null ? undefined : Date.parse(stats.last_sync_at),
    pinakes: beside({
      status: record.status === "ARCHIVED" ? record.status : undefined,
      created_by: record.created_by === owner ? undefined : record.created_by,
      private: record.private ? undefined : false,
      allowed_groups: record.allowed_groups === null ? undefined : [...record.allowed_groups],
      allow_chunking_override: record.allow_chunking_override ? undefined : false,
      chunking_strategy: (record.chunking_strategy ?? undefined) as unknown as JsonValue | undefined,
      graph: (record.graph ?? undefined) as unknown as JsonValue | undefined,
      embedding_model: record.embedding_model === repository.embedding_model ? undefined : record.embedding_model,
      metadata:
        record.metadata.tags.length + Object.keys(record.metadata.custom_fields).length === 0
          ? undefined
          : (record.metadata as unknown as JsonObject),
    }),
  });
}

export interface CatalogFields extends Pick<
  CollectionRecord,
  | "name"
  | "description"
  | "status"
  | "created_by"
  | "created_at"
  | "updated_at"
  | "private"
  | "allowed_groups"
  | "allow_chunking_override"
  | "chunking_strategy"
  | "graph"
  | "metadata"
> {}

export function itemToCatalog(item: JsonObject): CatalogFields {
  const owner = userId(item, "user_id");
  const own = optionalMap(item, "pinakes") ?? {};
  const created_at = required(epochAttribute(item, "created_at", "ms"), "created_at");
  // The catalog's own status is derived from its documents; `failed`, which one of LISA's tables has, is `error` (C3).
  const status = optionalText(item, "indexing_status") ?? "pending";
  oneOf(status === "failed" ? "error" : status, catalogStatuses, "indexing_status");
  epochAttribute(item, "last_sync_at", "ms");
  return {
    name: checkName(text(item, "catalog_name"), "catalog_name"),
    description: checkDescription(optionalText(item, "description") ?? "", Number.MAX_SAFE_INTEGER),
    status: oneOf(optionalText(own, "status") ?? "ACTIVE", ["ACTIVE", "ARCHIVED"], "pinakes.status"),
    created_by: optionalText(own, "created_by") ?? owner,
    created_at,
    updated_at: epochAttribute(item, "updated_at", "ms") ?? created_at,
    private: optionalFlag(own, "private") ?? true,
    allowed_groups: checkGroups(own["allowed_groups"] ?? null, "pinakes.allowed_groups"),
    allow_chunking_override: optionalFlag(own, "allow_chunking_override") ?? true,
    chunking_strategy: ownChunking(own),
    graph: itemToGraph(item),
    metadata: checkMetadata(own["metadata"] ?? {}, "pinakes.metadata"),
  };
}

/** Absent if the catalog uses its repository's model. */
export function modelOfCatalog(item: JsonObject): string | undefined {
  return optionalText(optionalMap(item, "pinakes") ?? {}, "embedding_model");
}

export function exportedCatalog(record: CollectionRecord, owner: CatalogOwner, stats: StatsRecord): JsonObject {
  const fresh = catalogToItem(record, owner, stats);
  const imported = importedOf(record);
  if (imported === undefined) return fresh;
  return giveBack(
    imported.item,
    catalogToItem({ ...record, ...itemToCatalog(imported.item) }, owner, stats),
    fresh,
    always,
  );
}

type DocumentParts = Pick<
  DocumentRecord,
  | "document_id"
  | "collection_id"
  | "name"
  | "file_type"
  | "size_bytes"
  | "uploaded_at"
  | "uploaded_by"
  | "indexed_at"
  | "status"
  | "error"
  | "metadata"
  | "chunking_override"
  | "source"
>;

export function catalogDocumentToItem(record: DocumentParts, owner: string): JsonObject {
  const { source } = record;
  const plain = source.uri === uploadUri(record.name) || source.uri.startsWith(importPrefix);
  return compact({
    catalog_id: record.collection_id,
    sk: documentKeyPrefix + record.document_id,
    document_id: record.document_id,
    user_id: owner,
    filename: record.name,
    file_type: record.file_type,
    file_size_bytes: record.size_bytes,
    s3_key: catalogObjectKey(owner, record),
    uploaded_at: Date.parse(record.uploaded_at),
    indexed_at: record.indexed_at === null ? undefined : Date.parse(record.indexed_at),
    indexing_status: record.status,
    error_message: record.status === "failed" ? (record.error ?? "It failed.") : undefined,
    pinakes: beside({
      uploaded_by: record.uploaded_by === owner ? undefined : record.uploaded_by,
      chunking_strategy: (record.chunking_override ?? undefined) as unknown as JsonValue | undefined,
      metadata: Object.keys(record.metadata).length === 0 ? undefined : record.metadata,
      source: plain ? undefined : { ...source },
    }),
  });
}

export interface CatalogDocumentKeys {
  readonly catalogId: string;
  readonly documentId: string;
  readonly owner: string;
  readonly s3Key: string;
}

/** An object in another user's folder is never a document of this one. */
export function catalogDocumentKeys(item: JsonObject): CatalogDocumentKeys {
  const catalogId = keyPart(text(item, "catalog_id"), "catalog_id");
  const documentId = keyPart(text(item, "sk").slice(documentKeyPrefix.length), "sk");
  const said = optionalText(item, "document_id") ?? documentId;
  if (said !== documentId) throw invalid(`document_id: ${show(said)} differs from that of sk, ${show(item["sk"])}.`);
  const owner = userId(item, "user_id");
  const folder = catalogPrefix(owner, catalogId);
  const s3Key = optionalText(item, "s3_key") ?? `${folder}${documentId}-${text(item, "filename")}`;
  if (!s3Key.startsWith(folder))
    throw invalid(`s3_key: ${show(s3Key)} is not in the catalog's own folder, ${show(folder)}.`);
  return { catalogId, documentId, owner, s3Key };
}

export interface CatalogDocumentFields extends Pick<
  DocumentRecord,
  "name" | "file_type" | "size_bytes" | "uploaded_at" | "uploaded_by" | "metadata" | "chunking_override" | "source"
> {}

export function itemToCatalogDocument(item: JsonObject): CatalogDocumentFields {
  const owner = userId(item, "user_id");
  const own = optionalMap(item, "pinakes") ?? {};
  const name = checkFileName(text(item, "filename"), "filename");
  oneOf(optionalText(item, "indexing_status") ?? "pending", documentStatuses, "indexing_status");
  const size = item["file_size_bytes"] ?? 0;
  if (!Number.isSafeInteger(size) || (size as number) < 0)
    throw invalid(`file_size_bytes: must be a whole number of bytes, got ${show(size)}.`);
  epochAttribute(item, "indexed_at", "ms");
  const source = optionalMap(own, "source");
  return {
    name,
    file_type: fileTypeIn(optionalText(item, "file_type"), name),
    size_bytes: size as number,
    uploaded_at: required(epochAttribute(item, "uploaded_at", "ms"), "uploaded_at"),
    uploaded_by: optionalText(own, "uploaded_by") ?? owner,
    metadata: checkDocumentMetadata(own["metadata"] ?? {}, "pinakes.metadata"),
    chunking_override: ownChunking(own),
    source:
      source === undefined
        ? { type: "manual", uri: uploadUri(name) }
        : { ...source, type: optionalText(source, "type") === "auto" ? "auto" : "manual", uri: text(source, "uri") },
  };
}

export function exportedCatalogDocument(record: DocumentRecord, owner: string): JsonObject {
  const fresh = catalogDocumentToItem(record, owner);
  const imported = importedOf(record);
  if (imported === undefined) return fresh;
  const { size_bytes, ...fields } = itemToCatalogDocument(imported.item);
  const base = {
    ...record,
    ...fields,
    // Missing bytes have no size here; a renamed source is no change of the document.
    ...(record.sha256 === undefined ? {} : { size_bytes }),
    ...(record.source.uri.startsWith(importPrefix) ? { source: record.source } : {}),
  };
  return giveBack(imported.item, catalogDocumentToItem(base, owner), fresh, always);
}

export function catalogPrefix(owner: string, catalogId: string): string {
  return `${owner}/${catalogId}/`;
}

export function catalogObjectKey(
  owner: string,
  { collection_id, document_id, name }: Pick<DocumentRecord, "collection_id" | "document_id" | "name">,
): string {
  return `${catalogPrefix(owner, collection_id)}${document_id}-${name}`;
}

/** Ten letters and digits, like Bedrock's; stable for one incarnation of a catalog. */
export function dataSourceId(incarnation: string): string {
  return BigInt(`0x${hash("sha256", incarnation, "hex").slice(0, 16)}`)
    .toString(36)
    .toUpperCase()
    .padStart(10, "0")
    .slice(-10);
}

function beside(fields: JsonObject): JsonObject | undefined {
  const present = compact(fields);
  return Object.keys(present).length === 0 ? undefined : present;
}

function ownChunking(own: JsonObject): ChunkingStrategy | null {
  const value = own["chunking_strategy"] ?? undefined;
  return value === undefined ? null : readChunkingStrategy(value, "pinakes.chunking_strategy");
}

/** By the attribute, or else by the file name. */
function fileTypeIn(said: string | undefined, name: string): FileType {
  const type = fileTypes.find((known) => known === said?.toLowerCase().replace(/^\./, "")) ?? fileTypeOf(name);
  if (type !== undefined && catalogTypes.includes(type)) return type;
  throw invalid(
    `file_type: ${show(said ?? name)} is not accepted in a catalog; accepted are ${catalogTypes.join(", ")}.`,
  );
}

function required<Value>(value: Value | undefined, name: string): Value {
  if (value === undefined) throw invalid(`${name}: is missing.`);
  return value;
}
