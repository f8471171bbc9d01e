/**
 * Items of the LISA table of documents, both ways. The key is `{repositoryId}#{collectionId}`; in old rows only `{repositoryId}`, without a
 * collectionId: those belong to the repository's default collection (R-LISA-33) and are exported unchanged (R-LISA-34).
 */
import { isDeepStrictEqual } from "node:util";
import type { ChunkingStrategy } from "../domain/chunking.ts";
import { hasCode, invalid, show } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import { checkDocumentMetadata } from "../knowledge/documents/document-metadata.ts";
import { uploadUri } from "../knowledge/records/ids.ts";
import { changedAccess, withAccess } from "../knowledge/access/document-access.ts";
import { checkFileName, checkGroups, checkLabels, checkUsers } from "../knowledge/records/names.ts";
import type { DocumentAccess, DocumentRecord, DocumentSource } from "../knowledge/records/records.ts";
import { epochAttribute, keyPart, oneOf, optionalMap, optionalText, text } from "./attributes.ts";
import { compact, giveBack, importedOf } from "./give-back.ts";
import { chunkingToItem, itemToChunking } from "./lisa-settings.ts";

export interface DocumentKeys {
  readonly repositoryId: string;
  /** Absent: the repository's default collection. */
  readonly collectionId?: string;
  readonly documentId: string;
}

export function documentKeys(item: JsonObject): DocumentKeys {
  const pk = text(item, "pk");
  const [first, second, ...more] = pk.split("#");
  if (more.length > 0)
    throw invalid(`pk: ${show(pk)} must be {repositoryId} or {repositoryId}#{collectionId}; an id cannot contain "#".`);
  const repositoryId = keyPart(optionalText(item, "repository_id") ?? (first as string), "repository_id");
  if (repositoryId !== first)
    throw invalid(`repository_id: ${show(repositoryId)} differs from that of pk, ${show(pk)}.`);
  const named = [second, optionalText(item, "collectionId"), optionalText(item, "collection_id")].filter(
    (id) => id !== undefined && id !== "",
  );
  const [collectionId] = named;
  if (named.some((id) => id !== collectionId))
    throw invalid(`collectionId: pk, collectionId and collection_id differ: ${named.map(show).join(", ")}.`);
  const documentId = keyPart(text(item, "document_id"), "document_id");
  return {
    repositoryId,
    documentId,
    ...(collectionId === undefined ? {} : { collectionId: keyPart(collectionId, "collectionId") }),
  };
}

/** Where an export writes the bytes, and where an import looks first. */
export function lisaObjectKey({
  repository_id,
  collection_id,
  document_id,
  name,
}: Pick<DocumentRecord, "repository_id" | "collection_id" | "document_id" | "name">): string {
  return `${repository_id}/${collection_id}/${document_id}-${name}`;
}

type ItemParts = Pick<
  DocumentRecord,
  | "repository_id"
  | "collection_id"
  | "document_id"
  | "name"
  | "source"
  | "uploaded_at"
  | "uploaded_by"
  | "chunking_override"
  | "metadata"
  | "access"
>;

/** `chunking`: the collection's, for documents without their own. */
export function documentToItem(
  record: ItemParts,
  { bucket, chunking }: { readonly bucket: string; readonly chunking: ChunkingStrategy },
): JsonObject {
  const { source } = record;
  const bySource = source.uri.startsWith("s3://");
  const uploaded = source.uri === uploadUri(record.name) || source.uri.startsWith(importPrefix);
  return compact({
    pk: `${record.repository_id}#${record.collection_id}`,
    document_id: record.document_id,
    repository_id: record.repository_id,
    collectionId: record.collection_id,
    // The name in the reference project's model, which does not read a document without it.
    collection_id: record.collection_id,
    document_name: record.name,
    source: bySource ? source.uri : `s3://${bucket}/${lisaObjectKey(record)}`,
    upload_date: Date.parse(record.uploaded_at),
    chunk_strategy: chunkingToItem(record.chunking_override ?? chunking),
    username: record.uploaded_by,
    ingestion_type: source.type,
    metadata: Object.keys(record.metadata).length === 0 ? undefined : record.metadata,
    pinakes: ownOf({ source: bySource || uploaded ? undefined : source, access: record.access }),
  });
}

/** What the layout has no attribute for. */
function ownOf({ source, access }: { source: DocumentSource | undefined; access: DocumentAccess | undefined }) {
  if (source === undefined && access === undefined) return undefined;
  return {
    ...(source === undefined ? {} : { source: { ...source } }),
    ...(access === undefined ? {} : { access: { ...access } }),
  };
}

export type DocumentFields = Pick<
  DocumentRecord,
  "name" | "source" | "uploaded_at" | "uploaded_by" | "chunking_override" | "metadata" | "access"
>;

/** URI prefix of a document whose source another document already has: an import loses nothing to a name conflict. */
export const importPrefix = "import:";

export function itemToDocument(
  item: JsonObject,
  {
    keys,
    by,
    at,
    chunking,
  }: { readonly keys: DocumentKeys; readonly by: string; readonly at: string; readonly chunking: ChunkingStrategy },
): DocumentFields {
  const uri = optionalText(item, "source");
  const name = checkFileName(
    optionalText(item, "document_name") || uri?.split("/").at(-1) || keys.documentId,
    "document_name",
  );
  const own = ownChunking(item);
  const access = accessOf(item);
  return {
    name,
    source: sourceOf(item, uri, name, keys),
    uploaded_at: epochAttribute(item, "upload_date", "either") ?? at,
    uploaded_by: optionalText(item, "username") || by,
    chunking_override: own === null || isDeepStrictEqual(own, chunking) ? null : own,
    metadata: checkDocumentMetadata(optionalMap(item, "metadata") ?? {}),
    ...(access === undefined ? {} : { access }),
  };
}

/** Without it everybody who may use the collection would see the imported document. */
function accessOf(item: JsonObject): DocumentAccess | undefined {
  const own = optionalMap(optionalMap(item, "pinakes") ?? {}, "access");
  if (own === undefined) return undefined;
  return changedAccess(undefined, {
    allowed_groups: checkGroups(own["allowed_groups"] ?? null, "pinakes.access.allowed_groups"),
    allowed_users: checkUsers(own["allowed_users"] ?? null, "pinakes.access.allowed_users"),
    sensitivity: checkLabels(own["sensitivity"] ?? null, "pinakes.access.sensitivity"),
  });
}

export function exportedDocument(
  record: DocumentRecord,
  settings: { readonly bucket: string; readonly chunking: ChunkingStrategy },
): JsonObject {
  const fresh = documentToItem(record, settings);
  const imported = importedOf(record);
  if (imported === undefined) return fresh;
  const keys = documentKeys(imported.item);
  const fields = itemToDocument(imported.item, { keys, by: imported.by, at: imported.at, chunking: settings.chunking });
  // A renamed source is no change of the document.
  const source = record.source.uri.startsWith(importPrefix) ? { source: record.source } : {};
  return giveBack(
    imported.item,
    documentToItem(withAccess({ ...record, ...fields, ...source }, fields.access), settings),
    fresh,
  );
}

/** The document's chunking. Unsupported strategies (of other systems) stay in the item, and the collection's is used. */
function ownChunking(item: JsonObject): ChunkingStrategy | null {
  try {
    return itemToChunking(item, "chunk_strategy");
  } catch (error) {
    if (hasCode(error, "INVALID")) return null;
    throw error;
  }
}

/** Bytes are copied here, so even a document that LISA only references has its own copy. */
function sourceOf(
  item: JsonObject,
  uri: string | undefined,
  name: string,
  { repositoryId, documentId }: DocumentKeys,
): DocumentSource {
  const own = optionalMap(optionalMap(item, "pinakes") ?? {}, "source");
  const type = oneOf(
    optionalText(item, "ingestion_type")?.toLowerCase() ?? "manual",
    ["manual", "auto", "existing"],
    "ingestion_type",
  );
  if (own !== undefined)
    return { type: type === "auto" ? "auto" : "manual", uri: text(own, "uri"), ...pipelineOf(own) };
  const ours = uri === undefined || (uri.includes(`/${repositoryId}/`) && uri.endsWith(`/${documentId}-${name}`));
  return { type: type === "auto" ? "auto" : "manual", uri: ours ? uploadUri(name) : uri };
}

function pipelineOf(own: JsonObject): { pipeline_id?: string } {
  const pipeline_id = optionalText(own, "pipeline_id");
  return pipeline_id === undefined ? {} : { pipeline_id };
}
