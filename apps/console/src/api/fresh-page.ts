/** One page of a long list was read again: how it is put among those that are there. */
import type { Page } from "@pinakes/client";
import type { InfiniteData } from "@tanstack/react-query";

export type Pages<Item> = InfiniteData<Page<Item>>;
type IdOf<Item> = (item: Item) => string;

/**
 * The page takes the place of the one at `index`. New rows push others off its end: those stay where they were, for the page after it still
 * begins where it did. Rows that were deleted pull others up, out of the page after it: no row stands twice.
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
  // The list ends here now: nothing comes after it.
  const until = isEnd(fresh) ? index + 1 : data.pages.length;
  const pushedOff = isEnd(fresh) ? [] : rowsAfter(data, old, fresh, idOf).filter((one) => !ids.has(idOf(one)));
  const here: Page<Item> = { ...(pushedOff.length > 0 ? old : fresh), items: [...fresh.items, ...pushedOff] };
  const pages = data.pages.slice(0, until).map((page, at) => (at === index ? here : without(page, ids, idOf)));
  return { pages, pageParams: data.pageParams.slice(0, until) };
}

/** Of the page as it was, what comes after the last row that it has now. */
function rowsAfter<Item>(data: Pages<Item>, old: Page<Item>, fresh: Page<Item>, idOf: IdOf<Item>): readonly Item[] {
  const last = fresh.items.at(-1);
  if (last === undefined) return [];
  const id = idOf(last);
  const at = old.items.findIndex((one) => idOf(one) === id);
  if (at >= 0) return old.items.slice(at + 1);
  // Pulled up from another page: what is left of this one is gone. New altogether: then all that was here comes after it.
  return hasRow(data, id, idOf) ? [] : old.items;
}

export function hasRow<Item>({ pages }: Pages<Item>, id: string, idOf: IdOf<Item>): boolean {
  return pages.some(({ items }) => items.some((one) => idOf(one) === id));
}

export function isEnd({ next_cursor }: Page<unknown>): boolean {
  return next_cursor === undefined || next_cursor === null;
}

/** The same page when it has none of them: what did not change is not drawn anew. */
function without<Item>(page: Page<Item>, ids: ReadonlySet<string>, idOf: IdOf<Item>): Page<Item> {
  const items = page.items.filter((one) => !ids.has(idOf(one)));
  return items.length === page.items.length ? page : { ...page, items };
}
