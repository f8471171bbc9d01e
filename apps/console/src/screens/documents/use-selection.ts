/** The position in a document, from the URL: a chunk or a character range. */
import type { Chunk, Document } from "@pinakes/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect } from "react";
import { chunksOptions } from "../../api/document-parts.ts";
import type { DocumentId } from "../../api/documents.ts";
import { moreOf, type More } from "../../api/page.ts";
import { wordsOf } from "../search/found-words.ts";
import type { Span } from "./text-marks.ts";

const route = getRouteApi("/shell/collections/$rid/$cid/documents/$did");

interface Chunks {
  readonly items: readonly Chunk[] | undefined;
  readonly error: unknown;
  readonly retry: () => void;
  readonly more: More;
}

export interface Selection {
  readonly chunks: Chunks;
  readonly chosen: Chunk | undefined;
  /** Words of the query. */
  readonly words: readonly string[];
  readonly span: Span | undefined;
  /** Loading further chunks to find the selected one. */
  readonly looking: boolean;
  /** The chunk of the URL does not exist. */
  readonly gone: boolean;
  readonly choose: (chunk: Chunk | undefined) => void;
  readonly chooseSpan: (span: Span) => void;
}

export function useSelection(id: DocumentId, document: Document): Selection {
  const { chunk: chunkId, start, end, q } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useInfiniteQuery(chunksOptions(id, document));
  const { hasNextPage, isFetching, fetchNextPage } = list;
  const more = moreOf(list);
  const items = list.data?.items;
  const given = spanOf(start, end);
  const chosen = items?.find((chunk) =>
    chunkId === undefined ? chunk.start === given?.start && chunk.end === given?.end : chunk.chunk_id === chunkId,
  );
  const missing = chunkId !== undefined && items !== undefined && chosen === undefined;
  // Chunks are paged, and the page of this one is unknown.
  useEffect(() => {
    if (missing && more.has && !isFetching) void fetchNextPage();
  }, [missing, more.has, isFetching, fetchNextPage]);
  const go = (search: {
    readonly chunk?: string | undefined;
    readonly start?: number | undefined;
    readonly end?: number | undefined;
  }) =>
    void navigate({
      search: (old) => ({ ...old, tab: undefined, chunk: search.chunk, start: search.start, end: search.end }),
      replace: true,
    });
  return {
    chunks: {
      items,
      error: items === undefined ? list.error : undefined,
      retry: () => void list.refetch(),
      more,
    },
    chosen,
    words: wordsOf(q ?? ""),
    span: given ?? chosen,
    looking: missing && (more.has || more.loading),
    gone: missing && !hasNextPage && !isFetching,
    choose: (chunk) => go({ chunk: chunk?.chunk_id, start: chunk?.start, end: chunk?.end }),
    chooseSpan: go,
  };
}

/** Validates the range of the URL. */
function spanOf(start = -1, end = -1): Span | undefined {
  return Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && end > start
    ? { start, end }
    : undefined;
}
