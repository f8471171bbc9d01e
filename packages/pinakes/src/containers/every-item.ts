/** What a query finds, whatever the number of its pages; `limit` is that of one page. */
import type { Scope } from "../domain/scope.ts";
import type { Item, ItemStore, Page, Query } from "../ports/item-store.ts";
import { itemsOf, pagesOf } from "../runtime/pages.ts";

type All<T> = AsyncGenerator<T, void, undefined>;

export function everyPage(items: ItemStore, scope: Scope, container: string, query: Query): All<Page> {
  return pagesOf((cursor) => items.query(scope, container, { ...query, cursor }));
}

export function everyItem(items: ItemStore, scope: Scope, container: string, query: Query): All<Item> {
  return itemsOf((cursor) => items.query(scope, container, { ...query, cursor }));
}
