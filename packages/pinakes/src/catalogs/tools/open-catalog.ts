/** How the tools look up and show catalogs and documents. */
import type { Collection, CollectionRef, Document } from "@pinakes/client";
import type { JsonObject } from "../../domain/json.ts";
import { personalAlias } from "../../knowledge/index.ts";
import { catalogPrefix, dataSourceId } from "../../transfer/index.ts";
import { catalogNotFound, documentNotFound, isKnown } from "../catalog-error.ts";
import type { CatalogContext } from "../catalog-tool.ts";

/** The error for an unknown id; an invalid id is treated as unknown. */
const missingCodes = ["NOT_FOUND", "GONE", "INVALID"] as const;

/** A catalog is a collection of the caller's own repository, so no id can refer to another user's catalog. */
export function catalogRef(catalogId: string): CollectionRef {
  return { repository: personalAlias, collection: catalogId };
}

export async function openCatalog({ knowledge }: CatalogContext, catalogId: string): Promise<Collection> {
  try {
    return await knowledge.collections.get(catalogRef(catalogId));
  } catch (error) {
    throw isKnown(error, ...missingCodes) ? catalogNotFound(catalogId) : error;
  }
}

/** For a catalog that was opened before, or may be missing itself. */
export async function openDocument(context: CatalogContext, catalogId: string, documentId: string): Promise<Document> {
  try {
    return await context.knowledge.documents.get(catalogRef(catalogId), documentId);
  } catch (error) {
    if (!isKnown(error, ...missingCodes)) throw error;
    await openCatalog(context, catalogId);
    throw documentNotFound(catalogId, documentId);
  }
}

/** Every page of a list. */
export async function* pagesOf<Item>(
  read: (
    cursor: string | undefined,
  ) => Promise<{ readonly items: readonly Item[]; readonly next_cursor: string | null }>,
): AsyncGenerator<Item> {
  for (let cursor: string | undefined; ;) {
    const { items, next_cursor } = await read(cursor);
    yield* items;
    if (next_cursor === null) return;
    cursor = next_cursor;
  }
}

export function catalogSummary(userId: string, catalog: Collection) {
  return {
    id: catalog.collection_id,
    name: catalog.name,
    description: catalog.description,
    document_count: catalog.document_count,
    total_size_mb: inMb(catalog.total_size_bytes),
    indexing_status: catalog.indexing_status,
    ...storageOf(userId, catalog),
    created_at: Date.parse(catalog.created_at),
    updated_at: Date.parse(catalog.updated_at),
    ...(catalog.last_sync_at === null ? {} : { last_sync_at: Date.parse(catalog.last_sync_at) }),
  } satisfies JsonObject;
}

/** As in the export in the layout of the knowledge-base agent. */
export function storageOf(userId: string, { incarnation, collection_id }: Collection) {
  return { data_source_id: dataSourceId(incarnation), s3_prefix: catalogPrefix(userId, collection_id) };
}

export function documentSummary(document: Document) {
  return {
    document_id: document.document_id,
    filename: document.name,
    file_type: document.file_type,
    file_size_kb: inKb(document.size_bytes),
    indexing_status: document.status,
    uploaded_at: Date.parse(document.uploaded_at),
    ...(document.indexed_at === null ? {} : { indexed_at: Date.parse(document.indexed_at) }),
    ...(document.status === "failed" ? { error_message: document.error ?? "It failed." } : {}),
  } satisfies JsonObject;
}

export function inKb(bytes: number): number {
  return rounded(bytes / 1_024);
}

export function inMb(bytes: number): number {
  return rounded(bytes / 1_048_576);
}

/** Two decimals, but never 0 for a positive number. */
function rounded(value: number): number {
  return value > 0 ? Math.max(0.01, Math.round(value * 100) / 100) : 0;
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
