/** Merges one refetched page into the loaded pages of a list. */
import type { Page } from "@pinakes/client";
import type { InfiniteData } from "@tanstack/react-query";

export type Pages<Item> = InfiniteData<Page<Item>>;
type IdOf<Item> = (item: Item) => string;

/**
 * Replaces the page at `index`. Rows that new ones push off its end stay, because the next page still starts where it did. Rows that
 * deletions pull up are removed from the next page: no row occurs twice.
 */
export function withFreshPage<Item>(
  data: Pages<Item>,
  index: number,
  fresh: Page<Item>,
  idOf: IdOf<Item>,
): Pages<Item> {
  const old = data.pages[index];
  if (old === undefined) return data;
  const ids = new Set(fresh.items.map(idOf));
  // The list ends here now.
  const until = isEnd(fresh) ? index + 1 : data.pages.length;
  const pushedOff = isEnd(fresh) ? [] : rowsAfter(data, old, fresh, idOf).filter((one) => !ids.has(idOf(one)));
  const here: Page<Item> = { ...(pushedOff.length > 0 ? old : fresh), items: [...fresh.items, ...pushedOff] };
  const pages = data.pages.slice(0, until).map((page, at) => (at === index ? here : without(page, ids, idOf)));
  return { pages, pageParams: data.pageParams.slice(0, until) };
}

/** Rows of the old page after the last row of the new one. */
function rowsAfter<Item>(data: Pages<Item>, old: Page<Item>, fresh: Page<Item>, idOf: IdOf<Item>): readonly Item[] {
  const last = fresh.items.at(-1);
  if (last === undefined) return [];
  const id = idOf(last);
  const at = old.items.findIndex((one) => idOf(one) === id);
  if (at >= 0) return old.items.slice(at + 1);
  // If pulled up from another page, the rest of this page is gone. If entirely new, all old rows follow it.
  return hasRow(data, id, idOf) ? [] : old.items;
}

export function hasRow<Item>({ pages }: Pages<Item>, id: string, idOf: IdOf<Item>): boolean {
  return pages.some(({ items }) => items.some((one) => idOf(one) === id));
}

export function isEnd({ next_cursor }: Page<unknown>): boolean {
  return next_cursor === undefined || next_cursor === null;
}

/** Returns the same page if nothing is removed, to avoid a re-render. */
function without<Item>(page: Page<Item>, ids: ReadonlySet<string>, idOf: IdOf<Item>): Page<Item> {
  const items = page.items.filter((one) => !ids.has(idOf(one)));
  return items.length === page.items.length ? page : { ...page, items };
}
