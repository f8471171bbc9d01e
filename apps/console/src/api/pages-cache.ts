/** Updates one row of a paged list in the cache, so that its pages need not be refetched. */
import type { Page } from "@pinakes/client";
import type { InfiniteData, QueryClient, QueryKey } from "@tanstack/react-query";

/** Lists are newest first. */
interface Dated {
  readonly created_at: string;
}

/** In all lists whose key starts with `queryKey`. A row that belongs below the loaded pages is not inserted. */
export function putInPages<Item extends Dated>(
  client: QueryClient,
  queryKey: QueryKey,
  item: Item,
  idOf: (item: Item) => string,
): void {
  change<Item>(client, queryKey, (data) => withItem(data, item, idOf));
}

/** Only if present: a filtered list may exclude it. */
export function replaceInPages<Item>(
  client: QueryClient,
  queryKey: QueryKey,
  item: Item,
  idOf: (item: Item) => string,
): void {
  change<Item>(client, queryKey, (data) => replaced(data, item, idOf));
}

type Pages<Item> = InfiniteData<Page<Item>>;

export function withItem<Item extends Dated>(data: Pages<Item>, item: Item, idOf: (item: Item) => string): Pages<Item> {
  return has(data, idOf(item), idOf) ? replaced(data, item, idOf) : inserted(data, item);
}

function replaced<Item>(data: Pages<Item>, item: Item, idOf: (item: Item) => string): Pages<Item> {
  const id = idOf(item);
  return {
    ...data,
    pages: data.pages.map((page) => ({ ...page, items: page.items.map((one) => (idOf(one) === id ? item : one)) })),
  };
}

/** Inserts before the first row that is not newer. If all rows are newer, it belongs to a page that is not loaded yet. */
function inserted<Item extends Dated>(data: Pages<Item>, item: Item): Pages<Item> {
  const created = Date.parse(item.created_at);
  const notNewer = (one: Item) => Date.parse(one.created_at) <= created;
  const empty = data.pages.every(({ items }) => items.length === 0);
  const into = empty ? 0 : data.pages.findIndex(({ items }) => items.some(notNewer));
  const pages = data.pages.map((page, index): Page<Item> => {
    if (index !== into) return page;
    const at = Math.max(page.items.findIndex(notNewer), 0);
    return { ...page, items: [...page.items.slice(0, at), item, ...page.items.slice(at)] };
  });
  return { ...data, pages };
}

function change<Item>(client: QueryClient, queryKey: QueryKey, to: (data: Pages<Item>) => Pages<Item>): void {
  client.setQueriesData<Pages<Item>>({ queryKey }, (data) => (data === undefined ? undefined : to(data)));
}

function has<Item>(data: Pages<Item>, id: string, idOf: (item: Item) => string): boolean {
  return data.pages.some(({ items }) => items.some((one) => idOf(one) === id));
}

/** All loaded rows of all lists whose key starts with `queryKey`. */
export function itemsInPages<Item>(client: QueryClient, queryKey: QueryKey): readonly Item[] {
  return client
    .getQueriesData<Pages<Item>>({ queryKey })
    .flatMap(([, data]) => data?.pages.flatMap(({ items }) => items) ?? []);
}
