/** Creating, changing and deleting collections. */
import type { Collection, CollectionChange, Job, NewCollection, NewRepository, Repository } from "@pinakes/client";
import { queryOptions } from "@tanstack/react-query";
import { collectionPath, type CollectionId } from "./collections.ts";
import { get, path, post, request } from "./request.ts";

export function createRepository(input: NewRepository): Promise<Repository> {
  return post<Repository>("/v1/repositories", input);
}

export function createCollection(rid: string, input: NewCollection): Promise<Collection> {
  return post<Collection>(path`/v1/repositories/${rid}/collections`, input);
}

export async function updateCollection(
  id: CollectionId,
  input: CollectionChange,
  ifMatch: string,
): Promise<Collection> {
  const { body, etag } = await request<Collection>("PATCH", collectionPath(id), { body: input, ifMatch });
  return { ...body, etag: etag ?? body.etag };
}

export function archiveCollection(
  id: CollectionId,
  how: "archive" | "unarchive",
  ifMatch: string,
): Promise<Collection> {
  return post<Collection>(`${collectionPath(id)}:${how}`, undefined, { ifMatch });
}

export function reindexCollection(id: CollectionId): Promise<Job> {
  return post<Job>(`${collectionPath(id)}:reindex`);
}

export async function deleteAllDocuments(id: CollectionId): Promise<Job> {
  return (await request<Job>("DELETE", `${collectionPath(id)}/documents`, { query: { confirm: id.cid } })).body;
}

export interface Deletion {
  /** Permanently, without the trash. */
  readonly purge: boolean;
  readonly incarnation?: string;
  readonly ifMatch?: string;
  readonly allowPartial?: boolean;
}

export async function deleteCollection(
  id: CollectionId,
  { purge, incarnation, ifMatch, allowPartial }: Deletion,
): Promise<Job> {
  const query = {
    purge: purge ? true : undefined,
    confirm: purge ? id.cid : undefined,
    incarnation,
    allow_partial: allowPartial === true ? true : undefined,
  };
  return (await request<Job>("DELETE", collectionPath(id), { query, ifMatch })).body;
}

/** Also if it is in the trash. */
export function deletedCollectionOptions(id: CollectionId) {
  return queryOptions({
    queryKey: ["deleted-collection", id.rid, id.cid],
    queryFn: ({ signal }) => get<Collection>(collectionPath(id), { query: { deleted: true }, signal }),
    // It may be deleted and restored in one visit.
    gcTime: 0,
    retry: false,
  });
}

export function restoreCollection(id: CollectionId, incarnation?: string): Promise<Collection> {
  return post<Collection>(`${collectionPath(id)}:restore`, incarnation === undefined ? undefined : { incarnation });
}
