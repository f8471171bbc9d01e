/** Text, chunks, versions and triples of a document. */
import type { Chunk, Document, DocumentText, DocumentTriple, DocumentVersion } from "@pinakes/client";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { documentStrings } from "../strings/documents.ts";
import { documentPath, type DocumentId } from "./documents.ts";
import { pagedOptions } from "./page.ts";
import { get, post, request } from "./request.ts";

/** UTF-16 code units per request. */
export const textWindowChars = 50_000;

/** Parts only change when the document is re-indexed, not with each event of its collection: hence their own key. */
function keyOf({ rid, cid, did }: DocumentId, { live_version, indexed_at }: Document, part: string) {
  return ["document-parts", rid, cid, did, `${live_version} ${indexed_at}`, part];
}

export function chunksOptions(id: DocumentId, document: Document) {
  return pagedOptions<Chunk>(keyOf(id, document, "chunks"), `${documentPath(id)}/chunks`);
}

export function triplesOptions(id: DocumentId, document: Document) {
  return pagedOptions<DocumentTriple>(keyOf(id, document, "triples"), `${documentPath(id)}/triples`);
}

export function versionsOptions(id: DocumentId, document: Document) {
  return queryOptions({
    queryKey: [...keyOf(id, document, "versions"), document.version],
    queryFn: ({ signal }) =>
      get<{ readonly items: readonly DocumentVersion[] }>(`${documentPath(id)}/versions`, { signal }),
  });
}

/** The text in windows of equal length, starting with window `first`, in both directions. */
export function textOptions(id: DocumentId, document: Document, first: number) {
  return infiniteQueryOptions({
    queryKey: [...keyOf(id, document, "text"), first],
    queryFn: ({ pageParam, signal }) =>
      get<DocumentText>(`${documentPath(id)}/text`, {
        query: { start: pageParam * textWindowChars, end: (pageParam + 1) * textWindowChars },
        signal,
      }),
    initialPageParam: first,
    getNextPageParam: ({ next_start }, _all, last: number) => (next_start === null ? undefined : last + 1),
    getPreviousPageParam: (_page, _all, before: number) => (before === 0 ? undefined : before - 1),
    staleTime: Infinity,
  });
}

/** The start of the text of a version that is not live. */
export function sourceTextOptions(id: DocumentId, document: Document) {
  return queryOptions({
    queryKey: [...keyOf(id, document, "source"), document.version],
    queryFn: ({ signal }) =>
      get<DocumentText>(`${documentPath(id)}/text`, {
        query: { version: document.version, end: textWindowChars },
        signal,
      }),
    staleTime: Infinity,
  });
}

/** With the etag that the user saw, so that a newer version is not deleted unseen. */
export async function deleteDocument(id: DocumentId, etag: string): Promise<void> {
  await request("DELETE", documentPath(id), { ifMatch: etag });
}

export function reindexDocument(id: DocumentId): Promise<Document> {
  return post<Document>(`${documentPath(id)}:reindex`);
}

/** Opens a temporary download link. */
export async function downloadDocument(id: DocumentId, version?: number): Promise<void> {
  const { url } = await get<{ readonly url: string }>(`${documentPath(id)}/download`, { query: { version } });
  const at = new URL(url, location.origin);
  if (at.protocol !== "https:" && at.protocol !== "http:") throw new TypeError(documentStrings.actions.downloadNoLink);
  const link = document.createElement("a");
  link.href = at.href;
  link.download = "";
  link.rel = "noopener";
  link.click();
}
