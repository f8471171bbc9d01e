/** The place in a document that its page shows: in its address, as a passage or as characters from … to. */
import type { Chunk, Document } from "@pinakes/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect } from "react";
import { passagesOptions } from "../../api/document-parts.ts";
import type { DocumentId } from "../../api/documents.ts";
import { moreOf, type More } from "../../api/page.ts";
import { wordsOf } from "../search/found-words.ts";
import type { Span } from "./text-marks.ts";

const route = getRouteApi("/shell/collections/$rid/$cid/documents/$did");

interface Passages {
  readonly items: readonly Chunk[] | undefined;
  readonly error: unknown;
  readonly retry: () => void;
  readonly more: More;
}

export interface Place {
  readonly passages: Passages;
  readonly chosen: Chunk | undefined;
  /** Those of the question that led here. */
  readonly words: readonly string[];
  readonly span: Span | undefined;
  /** More passages are being read to find the chosen one. */
  readonly looking: boolean;
  /** The address names a passage that is not there. */
  readonly gone: boolean;
  readonly choose: (passage: Chunk | undefined) => void;
  readonly chooseSpan: (span: Span) => void;
}

export function usePlace(id: DocumentId, document: Document): Place {
  const { chunk, start, end, q } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useInfiniteQuery(passagesOptions(id, document));
  const { hasNextPage, isFetching, fetchNextPage } = list;
  const more = moreOf(list);
  const items = list.data?.items;
  const given = spanOf(start, end);
  const chosen = items?.find((passage) =>
    chunk === undefined ? passage.start === given?.start && passage.end === given?.end : passage.chunk_id === chunk,
  );
  const missing = chunk !== undefined && items !== undefined && chosen === undefined;
  // Passages come in pages, and nobody knows on which one this is.
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
    passages: {
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
    choose: (passage) => go({ chunk: passage?.chunk_id, start: passage?.start, end: passage?.end }),
    chooseSpan: go,
  };
}

/** Whatever somebody typed into the address. */
function spanOf(start = -1, end = -1): Span | undefined {
  return Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && end > start
    ? { start, end }
    : undefined;
}
