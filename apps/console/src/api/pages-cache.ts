/** One row of a long list changed: it is put into the pages that are there, so that nobody asks for all of them again. */
import type { Page } from "@pinakes/client";
import type { InfiniteData, QueryClient, QueryKey } from "@tanstack/react-query";

/** The lists are newest first. */
interface Dated {
  readonly created_at: string;
}

/** In all lists whose key begins with `queryKey`. One that belongs below the pages that are there is not put into them. */
export function putInPages<Item extends Dated>(
  client: QueryClient,
  queryKey: QueryKey,
  item: Item,
  idOf: (item: Item) => string,
): void {
  change<Item>(client, queryKey, (data) => withItem(data, item, idOf));
}

/** Only where it is already: a list with filters may not want it. */
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

/** Before the first row that is not newer. Older than all of them: it is on a page that nobody asked for yet, and will come with it. */
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

/** All rows that are there, of all lists whose key begins with `queryKey`. */
export function itemsInPages<Item>(client: QueryClient, queryKey: QueryKey): readonly Item[] {
  return client
    .getQueriesData<Pages<Item>>({ queryKey })
    .flatMap(([, data]) => data?.pages.flatMap(({ items }) => items) ?? []);
}
