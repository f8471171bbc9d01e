/** Lists come in pages; a screen asks for the next one when its reader comes near the end. */
import type { Page } from "@pinakes/client";
import { infiniteQueryOptions, type QueryKey } from "@tanstack/react-query";
import { get, type RequestOptions } from "./request.ts";

/** How single pages of a list are read again, and its rows told apart (renew.ts). */
export interface ListMeta {
  readonly read: (cursor: string | undefined) => Promise<Page<unknown>>;
  readonly idOf: (row: unknown) => string;
}

const pageSize = 100;

/** For useInfiniteQuery: all items so far are `data.items`. With `idOf` a change does not read all its pages again. */
export function pagedOptions<Item>(
  queryKey: QueryKey,
  at: string,
  query: RequestOptions["query"] = {},
  idOf?: (item: Item) => string,
) {
  // The total is that of all pages, so the first one tells it.
  const asked = (cursor: string | undefined) => (cursor === undefined ? query : { ...query, include_total: undefined });
  const read = (cursor: string | undefined, signal?: AbortSignal) =>
    get<Page<Item>>(at, { query: { ...asked(cursor), limit: pageSize, cursor }, signal });
  const list: ListMeta | undefined = idOf && { read: (cursor) => read(cursor), idOf: (row) => idOf(row as Item) };
  return infiniteQueryOptions({
    queryKey: [...queryKey, query],
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    meta: { list },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page: Page<Item>) => page.next_cursor ?? undefined,
    select: ({ pages }) => ({ items: pages.flatMap(({ items }) => items), total: pages[0]?.total }),
  });
}

/** What a list needs to go on. */
export interface More {
  readonly has: boolean;
  readonly loading: boolean;
  readonly load: () => void;
  /** Why the next page did not come; undefined when it was not asked for, or came. */
  readonly error: unknown;
}

interface PagedList {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly isFetchNextPageError: boolean;
  readonly error: unknown;
  readonly fetchNextPage: (options: { readonly cancelRefetch: boolean }) => unknown;
}

/** A page that failed is not asked for again by itself, which would go on without end: the reader says when. */
export function moreOf({
  hasNextPage,
  isFetchingNextPage,
  isFetchNextPageError,
  error,
  fetchNextPage,
}: PagedList): More {
  return {
    has: hasNextPage && !isFetchNextPageError,
    loading: isFetchingNextPage,
    // While the pages that are there are read again, the next one waits: it would end that reading.
    load: () => void fetchNextPage({ cancelRefetch: false }),
    error: isFetchNextPageError ? error : undefined,
  };
}
