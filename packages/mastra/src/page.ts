/**
 * Mastra's pages are numbered, but an index is scanned sequentially. So a page is what follows `offset` in the scan, and a total requires a
 * scan to the end.
 */
import { calculatePagination, normalizePerPage } from "@mastra/core/storage";

export interface Window {
  readonly offset: number;
  /** Infinite for all. */
  readonly size: number;
  /** As requested, for the response. */
  readonly perPage: number | false;
}

export function windowOf(page: number, perPage: number | false | undefined, perPageDefault: number): Window {
  if (!Number.isSafeInteger(page) || page < 0) throw new Error("page must be >= 0");
  const size = normalizePerPage(perPage, perPageDefault);
  if (perPage !== false && page * size > Number.MAX_SAFE_INTEGER / 2) throw new Error("page value too large");
  const { offset, perPage: asked } = calculatePagination(page, perPage, size);
  return { offset, size, perPage: asked };
}

export interface PageOf<Item> {
  readonly items: readonly Item[];
  /** All that match; without `countAll`, only how many were met. */
  readonly total: number;
  readonly hasMore: boolean;
}

export async function takePage<Item>(
  source: AsyncIterable<Item>,
  { offset, size }: Window,
  {
    matches = () => true,
    countAll = true,
  }: { readonly matches?: (item: Item) => boolean; readonly countAll?: boolean } = {},
): Promise<PageOf<Item>> {
  const items: Item[] = [];
  let total = 0;
  for await (const item of source) {
    if (!matches(item)) continue;
    if (total >= offset && items.length < size) items.push(item);
    total += 1;
    if (!countAll && total > offset + size) break;
  }
  return { items, total, hasMore: size > 0 && total > offset + items.length };
}
