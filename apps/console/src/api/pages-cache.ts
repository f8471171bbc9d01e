/** One row of a long list changed: it is put into the pages that are there, so that nobody asks for all of them again. */
import type { InfiniteData, QueryClient, QueryKey } from "@tanstack/react-query";
import type { Page } from "./page.ts";

/** In all lists whose key begins with `queryKey`. A row that is new comes first, since the lists are newest first. */
export function putInPages<Item>(client: QueryClient, queryKey: QueryKey, item: Item, idOf: (item: Item) => string): void {
  client.setQueriesData<InfiniteData<Page<Item>>>({ queryKey }, (data) => (data === undefined ? undefined : withItem(data, item, idOf)));
}

export function withItem<Item>(data: InfiniteData<Page<Item>>, item: Item, idOf: (item: Item) => string): InfiniteData<Page<Item>> {
  const id = idOf(item);
  const known = data.pages.some(({ items }) => items.some((one) => idOf(one) === id));
  const pages = data.pages.map((page, index): Page<Item> => {
    if (!known) return index === 0 ? { ...page, items: [item, ...page.items] } : page;
    return { ...page, items: page.items.map((one) => (idOf(one) === id ? item : one)) };
  });
  return { ...data, pages };
}

/** All rows that are there, of all lists whose key begins with `queryKey`. */
export function itemsInPages<Item>(client: QueryClient, queryKey: QueryKey): readonly Item[] {
  return client.getQueriesData<InfiniteData<Page<Item>>>({ queryKey }).flatMap(([, data]) => data?.pages.flatMap(({ items }) => items) ?? []);
}
