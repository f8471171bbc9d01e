/** What belongs to a document: its text, passages, versions, and what it states. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { documentStrings } from "../strings/documents.ts";
import { documentPath, type Document, type DocumentId } from "./documents.ts";
import { pagedOptions } from "./page.ts";
import { get, post, request } from "./request.ts";

export interface Passage {
  readonly chunk_id: string;
  readonly index: number;
  readonly text: string;
  /** UTF-16 code units into the text of the document. */
  readonly start: number;
  readonly end: number;
  readonly page?: number;
  readonly section?: string;
}

export interface Version {
  readonly version: number;
  readonly size_bytes: number;
  readonly sha256: string;
  readonly uploaded_at: string;
  readonly uploaded_by: string;
  readonly live: boolean;
}

export interface TextWindow {
  readonly version: number;
  readonly length: number;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly next_start: number | null;
  readonly pages: readonly { readonly page: number; readonly start: number; readonly end: number }[];
  readonly sections: readonly { readonly path: readonly string[]; readonly start: number; readonly end: number }[];
  readonly warnings: readonly string[];
}

interface Term {
  readonly type: "iri" | "literal" | "blank";
  readonly value: string;
}

export interface DocumentTriple {
  readonly s: Term;
  readonly p: Term;
  readonly o: Term;
  readonly g: Term | null;
  readonly passages: readonly { readonly chunk_id: string; readonly index: number }[];
}

/** UTF-16 code units of the text that are asked for at a time. */
export const textWindowChars = 50_000;

/** They change only when the document is indexed anew, not with each event of its collection: hence a key of their own. */
function keyOf({ rid, cid, did }: DocumentId, { live_version, indexed_at }: Document, part: string) {
  return ["document-parts", rid, cid, did, `${live_version} ${indexed_at}`, part];
}

export function passagesOptions(id: DocumentId, document: Document) {
  return pagedOptions<Passage>(keyOf(id, document, "passages"), `${documentPath(id)}/chunks`);
}

export function triplesOptions(id: DocumentId, document: Document) {
  return pagedOptions<DocumentTriple>(keyOf(id, document, "triples"), `${documentPath(id)}/triples`);
}

export function versionsOptions(id: DocumentId, document: Document) {
  return queryOptions({
    queryKey: [...keyOf(id, document, "versions"), document.version],
    queryFn: ({ signal }) => get<{ readonly items: readonly Version[] }>(`${documentPath(id)}/versions`, { signal }),
  });
}

/** The text in windows of the same length, beginning with window `first` and going on both ways. */
export function textOptions(id: DocumentId, document: Document, first: number) {
  return infiniteQueryOptions({
    queryKey: [...keyOf(id, document, "text"), first],
    queryFn: ({ pageParam, signal }) =>
      get<TextWindow>(`${documentPath(id)}/text`, {
        query: { start: pageParam * textWindowChars, end: (pageParam + 1) * textWindowChars },
        signal,
      }),
    initialPageParam: first,
    getNextPageParam: ({ next_start }, _all, last: number) => (next_start === null ? undefined : last + 1),
    getPreviousPageParam: (_page, _all, before: number) => (before === 0 ? undefined : before - 1),
    staleTime: Infinity,
  });
}

/** The beginning of the text of a version that searches do not show: what can be read of the file at all. */
export function sourceTextOptions(id: DocumentId, document: Document) {
  return queryOptions({
    queryKey: [...keyOf(id, document, "source"), document.version],
    queryFn: ({ signal }) =>
      get<TextWindow>(`${documentPath(id)}/text`, {
        query: { version: document.version, end: textWindowChars },
        signal,
      }),
    staleTime: Infinity,
  });
}

/** With the etag of what was seen, so that nothing is deleted that nobody looked at. */
export async function deleteDocument(id: DocumentId, etag: string): Promise<void> {
  await request("DELETE", documentPath(id), { ifMatch: etag });
}

export function reindexDocument(id: DocumentId): Promise<Document> {
  return post<Document>(`${documentPath(id)}:reindex`);
}

/** The server gives a link for a while; the browser saves what is there. */
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
