import type { Document, DocumentAccess } from "@pinakes/client";
import { queryOptions } from "@tanstack/react-query";
import { collectionPath, type CollectionId } from "./collections.ts";
import { pagedOptions } from "./page.ts";
import { get, request } from "./request.ts";

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

export async function changeDocumentAccess(id: DocumentId, access: DocumentAccess, ifMatch: string): Promise<Document> {
  return (await request<Document>("PATCH", documentPath(id), { body: access, ifMatch })).body;
}

export function documentOptions(id: DocumentId) {
  return queryOptions({
    queryKey: ["documents", id.rid, id.cid, id.did],
    queryFn: ({ signal }) => get<Document>(documentPath(id), { signal }),
  });
}
