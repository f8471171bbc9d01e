/** One row of a long list changed: it is put into the pages that are there, so that nobody asks for all of them again. */
import type { InfiniteData, QueryClient, QueryKey } from "@tanstack/react-query";
import type { Page } from "./page.ts";

/** In all lists whose key begins with `queryKey`. A row that is new comes first, since the lists are newest first. */
export function putInPages<Item>(client: QueryClient, queryKey: QueryKey, item: Item, idOf: (item: Item) => string): void {
  change<Item>(client, queryKey, (data) => withItem(data, item, idOf));
}

/** Only where it is already: a list with filters may not want it. */
export function replaceInPages<Item>(client: QueryClient, queryKey: QueryKey, item: Item, idOf: (item: Item) => string): void {
  change<Item>(client, queryKey, (data) => (has(data, idOf(item), idOf) ? withItem(data, item, idOf) : data));
}

export function withItem<Item>(data: Pages<Item>, item: Item, idOf: (item: Item) => string): Pages<Item> {
  const id = idOf(item);
  const known = has(data, id, idOf);
  const pages = data.pages.map((page, index): Page<Item> => {
    if (!known) return index === 0 ? { ...page, items: [item, ...page.items] } : page;
    return { ...page, items: page.items.map((one) => (idOf(one) === id ? item : one)) };
  });
  return { ...data, pages };
}

type Pages<Item> = InfiniteData<Page<Item>>;

function change<Item>(client: QueryClient, queryKey: QueryKey, to: (data: Pages<Item>) => Pages<Item>): void {
  client.setQueriesData<Pages<Item>>({ queryKey }, (data) => (data === undefined ? undefined : to(data)));
}

function has<Item>(data: Pages<Item>, id: string, idOf: (item: Item) => string): boolean {
  return data.pages.some(({ items }) => items.some((one) => idOf(one) === id));
}

/** All rows that are there, of all lists whose key begins with `queryKey`. */
export function itemsInPages<Item>(client: QueryClient, queryKey: QueryKey): readonly Item[] {
  return client.getQueriesData<Pages<Item>>({ queryKey }).flatMap(([, data]) => data?.pages.flatMap(({ items }) => items) ?? []);
}
