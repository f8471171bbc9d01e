/** Paged lists: the next page is loaded near the end of the loaded rows. */
import type { Page } from "@pinakes/client";
import { infiniteQueryOptions, type QueryKey } from "@tanstack/react-query";
import { get, type RequestOptions } from "./request.ts";

/** How single pages of a list are refetched, and how rows are identified (refetch.ts). */
export interface ListMeta {
  readonly read: (cursor: string | undefined) => Promise<Page<unknown>>;
  readonly idOf: (row: unknown) => string;
}

const pageSize = 100;

/** For useInfiniteQuery: all loaded items are `data.items`. With `idOf`, a change does not refetch all pages. */
export function pagedOptions<Item>(
  queryKey: QueryKey,
  at: string,
  query: RequestOptions["query"] = {},
  idOf?: (item: Item) => string,
) {
  // The total covers all pages, so only the first page requests it.
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

export interface More {
  readonly has: boolean;
  readonly loading: boolean;
  readonly load: () => void;
  /** Why the next page failed to load. */
  readonly error: unknown;
}

interface PagedList {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly isFetchNextPageError: boolean;
  readonly error: unknown;
  readonly fetchNextPage: (options: { readonly cancelRefetch: boolean }) => unknown;
}

/** A failed page is not requested again automatically, which could loop forever. */
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
    // While loaded pages are refetched, the next page waits: requesting it would cancel the refetch.
    load: () => void fetchNextPage({ cancelRefetch: false }),
    error: isFetchNextPageError ? error : undefined,
  };
}
