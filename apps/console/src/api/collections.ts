/** Repositories and collections. Query keys start as query-client.ts expects them. */
import type { Collection, Page, Repository } from "@pinakes/client";
import { queryOptions } from "@tanstack/react-query";
import { pagedOptions } from "./page.ts";
import { get, path, request } from "./request.ts";

export interface CollectionId {
  readonly rid: string;
  readonly cid: string;
}

export const repositoriesOptions = queryOptions({
  queryKey: ["repositories"],
  queryFn: ({ signal }) => get<Page<Repository>>("/v1/repositories", { query: { limit: 100 }, signal }),
});

/** "me" is the caller's personal repository. */
export function repositoryOptions(rid: string) {
  return queryOptions({
    queryKey: ["repositories", rid],
    queryFn: ({ signal }) => get<Repository>(path`/v1/repositories/${rid}`, { signal }),
  });
}

export function collectionRowId({
  repository_id,
  collection_id,
}: Pick<Collection, "repository_id" | "collection_id">): string {
  return `${repository_id} ${collection_id}`;
}

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
