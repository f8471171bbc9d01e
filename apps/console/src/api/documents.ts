/** Documents of a collection, and their passages. */
import { queryOptions } from "@tanstack/react-query";
import { collectionPath, type ChunkingStrategy, type CollectionId } from "./collections.ts";
import { pagedOptions } from "./page.ts";
import { get } from "./request.ts";

export interface Document {
  readonly document_id: string;
  readonly collection_id: string;
  readonly repository_id: string;
  readonly name: string;
  readonly file_type: string;
  readonly size_bytes: number;
  readonly sha256: string;
  readonly version: number;
  readonly status: "uploading" | "pending" | "indexing" | "indexed" | "failed";
  /** Why it failed. */
  readonly error: string | null;
  readonly attempts: number;
  readonly progress?: { readonly done: number; readonly total: number } | null;
  readonly chunk_count: number;
  readonly chunking_strategy?: ChunkingStrategy | null;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly source?: { readonly type: string; readonly uri: string };
  readonly graph?: { readonly triples: number; readonly warnings?: readonly string[] } | null;
  /** The version that searches show; null while there is none. */
  readonly live_version: number | null;
  readonly uploaded_by: string;
  readonly uploaded_at: string;
  readonly indexed_at?: string | null;
  readonly etag: string;
}

export interface DocumentId extends CollectionId {
  readonly did: string;
}

export function documentPath({ did, ...collection }: DocumentId): string {
  return `${collectionPath(collection)}/documents/${encodeURIComponent(did)}`;
}

export function documentsOptions(id: CollectionId, query: Readonly<Record<string, string | undefined>> = {}) {
  return pagedOptions<Document>(
    ["documents", id.rid, id.cid],
    `${collectionPath(id)}/documents`,
    query,
    ({ document_id }) => document_id,
  );
}

export function documentOptions(id: DocumentId) {
  return queryOptions({
    queryKey: ["documents", id.rid, id.cid, id.did],
    queryFn: ({ signal }) => get<Document>(documentPath(id), { signal }),
  });
}
