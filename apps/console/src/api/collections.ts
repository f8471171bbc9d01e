/** Repositories and collections. Keys of queries begin as query-client.ts expects them. */
import { queryOptions } from "@tanstack/react-query";
import type { Page } from "./page.ts";
import { pagedOptions } from "./page.ts";
import { get, path, request } from "./request.ts";

export interface ChunkingStrategy {
  readonly type: string;
  readonly unit?: string;
  readonly chunk_size?: number;
  readonly chunk_overlap?: number;
  readonly separators?: readonly string[];
  readonly threshold?: number;
}

export interface Metadata {
  readonly tags?: readonly string[];
  readonly custom_fields?: Readonly<Record<string, unknown>>;
}

export interface Repository {
  readonly repository_id: string;
  readonly name: string;
  readonly description?: string;
  readonly embedding_model?: string;
  /** null: everybody in the workspace. */
  readonly allowed_groups: readonly string[] | null;
  readonly chunking_strategy: ChunkingStrategy | null;
  /** What its collections have that say nothing themselves. */
  readonly effective_chunking_strategy: ChunkingStrategy;
  readonly personal?: boolean;
  readonly status: string;
  readonly created_at: string;
  readonly etag: string;
}

export type CollectionStatus = "ACTIVE" | "ARCHIVED" | "DELETE_IN_PROGRESS" | "DELETE_FAILED" | "DELETED";

export interface Collection {
  readonly collection_id: string;
  readonly repository_id: string;
  readonly repository_name: string;
  readonly name: string;
  readonly description?: string;
  readonly chunking_strategy: ChunkingStrategy;
  /** null: as the repository has it. */
  readonly own_chunking_strategy: ChunkingStrategy | null;
  readonly graph: { readonly extract: string };
  readonly allow_chunking_override: boolean;
  readonly metadata: Metadata;
  /** null: as the repository has it. */
  readonly allowed_groups: readonly string[] | null;
  readonly effective_groups: readonly string[] | null;
  readonly embedding_model: string;
  readonly private: boolean;
  /** Made with its repository, not by somebody. */
  readonly is_default?: boolean;
  readonly status: CollectionStatus;
  readonly indexing_status: "pending" | "indexing" | "ready" | "error";
  readonly document_count: number;
  readonly documents_by_status: Readonly<Record<string, number>>;
  readonly total_size_bytes: number;
  readonly chunk_count: number;
  /** Rows that callers embedded themselves. */
  readonly row_count: number;
  readonly last_sync_at: string | null;
  readonly last_used_at: string | null;
  /** What the caller may do here. */
  readonly access: "READ" | "WRITE" | "ADMIN" | null;
  readonly created_by: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly deleted_at?: string | null;
  readonly purge_at?: string | null;
  readonly incarnation: string;
  readonly etag: string;
  readonly [more: string]: unknown;
}

export interface CollectionId {
  readonly rid: string;
  readonly cid: string;
}

export const repositoriesOptions = queryOptions({
  queryKey: ["repositories"],
  queryFn: ({ signal }) => get<Page<Repository>>("/v1/repositories", { query: { limit: 100 }, signal }),
});

/** "me" is the caller's own. */
export function repositoryOptions(rid: string) {
  return queryOptions({
    queryKey: ["repositories", rid],
    queryFn: ({ signal }) => get<Repository>(path`/v1/repositories/${rid}`, { signal }),
  });
}

/** What tells a row of a list of collections from all others. */
export function collectionRowId({
  repository_id,
  collection_id,
}: Pick<Collection, "repository_id" | "collection_id">): string {
  return `${repository_id} ${collection_id}`;
}

/** Of all repositories that the caller may see. */
export function collectionsOptions(query: Readonly<Record<string, string | undefined>> = {}) {
  return pagedOptions<Collection>(["collections"], "/v1/collections", query, collectionRowId);
}

export function repositoryCollectionsOptions(rid: string, query: Readonly<Record<string, string | undefined>> = {}) {
  return pagedOptions<Collection>(
    ["collections", "of", rid],
    path`/v1/repositories/${rid}/collections`,
    query,
    collectionRowId,
  );
}

export function collectionPath({ rid, cid }: CollectionId): string {
  return path`/v1/repositories/${rid}/collections/${cid}`;
}

export function collectionOptions(id: CollectionId) {
  return queryOptions({
    queryKey: ["collection", id.rid, id.cid],
    queryFn: async ({ signal }) => {
      const { body, etag } = await request<Collection>("GET", collectionPath(id), { signal });
      return { ...body, etag: etag ?? body.etag };
    },
  });
}
