/** Lists come in pages; a screen asks for the next one when its reader comes near the end. */
import { infiniteQueryOptions, type QueryKey } from "@tanstack/react-query";
import { get, type RequestOptions } from "./request.ts";

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next_cursor?: string | null;
}

const pageSizeDefault = 100;

/** For useInfiniteQuery: all items so far are `data.items`. */
export function pagedOptions<Item>(queryKey: QueryKey, at: string, query: RequestOptions["query"] = {}, pageSize = pageSizeDefault) {
  return infiniteQueryOptions({
    queryKey: [...queryKey, query],
    queryFn: ({ pageParam, signal }) => get<Page<Item>>(at, { query: { ...query, limit: pageSize, cursor: pageParam }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page: Page<Item>) => page.next_cursor ?? undefined,
    select: ({ pages }) => ({ items: pages.flatMap(({ items }) => items) }),
  });
}
