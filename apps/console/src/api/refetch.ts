/**
 * Refetches visible data after a change, without refetching long lists as a whole.
 *
 * Of a list with several pages, refetches the first, where new rows appear; the last, if the list was loaded to its end; and up to some pages
 * with changed rows. A next page in flight is awaited: it would be lost, or would overwrite the refetched rows.
 */
import type { Page } from "@pinakes/client";
import type { InfiniteData, Query, QueryClient, QueryKey } from "@tanstack/react-query";
import type { ListMeta } from "./page.ts";

/** Besides the first and the last. */
export const changedPagesMax = 3;
/** Maximum pages of new rows to read before a known row. Beyond that, the list restarts from them. */
export const newPagesMax = 5;

type Row = unknown;

/** Changed rows in pages that are not refetched yet. */
const waiting = new WeakMap<Query, Set<string>>();

/** `changed`: row ids. Returns true if changed pages remain, and it must be called again. */
export async function refetchChanged(
  client: QueryClient,
  queryKey: QueryKey,
  changed: Iterable<string> = [],
): Promise<boolean> {
  const ids = [...changed];
  const left = await Promise.all(
    client
      .getQueryCache()
      .findAll({ queryKey })
      .map((query) => refetchOne(client, query, ids)),
  );
  return left.includes(true);
}

/** After missed events, refetches everything that is visible. */
export async function refetchAll(client: QueryClient): Promise<void> {
  const again = async (query: Query) => {
    await nextPageCame(query);
    await readWhole(client, query);
  };
  await Promise.all(client.getQueryCache().getAll().map(again));
}

async function refetchOne(client: QueryClient, query: Query, changed: readonly string[]): Promise<boolean> {
  // Not visible: refetched when it is shown again.
  if (!query.isActive()) {
    query.invalidate();
    return false;
  }
  await settled(query);
  const list = (query.meta as { readonly list?: ListMeta } | undefined)?.list;
  const data = query.state.data as Pages<Row> | undefined;
  if (list === undefined || data === undefined || data.pages.length < 2) {
    await readWhole(client, query);
    return false;
  }
  const { idOf } = list;
  const ids = new Set([...(waiting.get(query) ?? []), ...changed].filter((id) => hasRow(data, id, idOf)));
  const chosen = pagesToRead(data, ids, idOf);
  for (const id of chosen.flatMap((index) => data.pages[index]?.items.map(idOf) ?? [])) ids.delete(id);
  waiting.set(query, ids);
  try {
    // Last page first: new rows in the first do not shift the others.
    for (const index of chosen) await refetchPage(query, index, list);
  } catch {
    // The full refetch retries, and reports the error.
    await readWhole(client, query);
    return false;
  }
  return ids.size > 0;
}

function pagesToRead({ pages }: Pages<Row>, ids: ReadonlySet<string>, idOf: ListMeta["idOf"]): readonly number[] {
  const last = pages.length - 1;
  const end = pages[last];
  const changed = pages.flatMap(({ items }, index) =>
    index > 0 && items.some((one) => ids.has(idOf(one))) ? [index] : [],
  );
  const chosen = new Set([...(end !== undefined && isEnd(end) ? [last] : []), ...changed.slice(0, changedPagesMax), 0]);
  return [...chosen].toSorted((a, b) => b - a);
}

async function refetchPage(query: Query, index: number, { read, idOf }: ListMeta): Promise<void> {
  const before = query.state.data as Pages<Row>;
  const fresh =
    index === 0
      ? await readToKnown(before, { read, idOf })
      : await read(before.pageParams[index] as string | undefined);
  await settled(query);
  const now = query.state.data as Pages<Row>;
  // The list was refetched or replaced in the meantime.
  if (now.pageParams[index] !== before.pageParams[index]) return;
  const known = index > 0 || isEnd(fresh) || fresh.items.some((one) => hasRow(before, idOf(one), idOf));
  query.setData(
    known ? withFreshPage(now, index, fresh, idOf) : { pages: [fresh], pageParams: now.pageParams.slice(0, 1) },
  );
}

/** From the start to the first known row: there may be more new rows than fit a page. */
async function readToKnown(data: Pages<Row>, { read, idOf }: ListMeta): Promise<Page<Row>> {
  let page = await read(undefined);
  let items = page.items;
  for (
    let count = 1;
    count < newPagesMax && !isEnd(page) && !page.items.some((one) => hasRow(data, idOf(one), idOf));
    count += 1
  ) {
    page = await read(page.next_cursor ?? undefined);
    items = [...items, ...page.items];
  }
  return { ...page, items };
}

async function readWhole(client: QueryClient, { queryKey }: Query): Promise<void> {
  await client.invalidateQueries({ queryKey, exact: true }, { cancelRefetch: true });
}

/** Waits until no request is in flight. */
async function settled(query: Query): Promise<void> {
  while (query.state.fetchStatus === "fetching" && query.promise !== undefined) await ended(query.promise);
}

async function nextPageCame(query: Query): Promise<void> {
  while (
    query.state.fetchStatus === "fetching" &&
    query.state.fetchMeta?.fetchMore !== undefined &&
    query.promise !== undefined
  )
    await ended(query.promise);
}

async function ended(promise: Promise<unknown>): Promise<void> {
  try {
    await promise;
  } catch {
    // The caller of that request handles it.
  }
}

/** Merges one refetched page into the loaded pages of a list. */
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

function hasRow<Item>({ pages }: Pages<Item>, id: string, idOf: IdOf<Item>): boolean {
  return pages.some(({ items }) => items.some((one) => idOf(one) === id));
}

function isEnd({ next_cursor }: Page<unknown>): boolean {
  return next_cursor === undefined || next_cursor === null;
}

/** Returns the same page if nothing is removed, to avoid a re-render. */
function without<Item>(page: Page<Item>, ids: ReadonlySet<string>, idOf: IdOf<Item>): Page<Item> {
  const items = page.items.filter((one) => !ids.has(idOf(one)));
  return items.length === page.items.length ? page : { ...page, items };
}
