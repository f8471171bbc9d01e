/** A list that is loaded page by page during iteration; or a single page. */
import type { Page, Paging } from "../contract/common.ts";

export interface Listing<Item> extends AsyncIterable<Item> {
  /** One page: from the beginning, or after a cursor. */
  page(paging?: Paging): Promise<Page<Item>>;
  /** All of it in memory. For lists that are known to be short. */
  all(): Promise<Item[]>;
}

export function listing<Item>(read: (paging: Paging) => Promise<Page<Item>>, first: Paging = {}): Listing<Item> {
  const walk = async function* (): AsyncGenerator<Item, void> {
    let { cursor } = first;
    do {
      const page = await read({ ...first, cursor });
      yield* page.items;
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  };
  return {
    [Symbol.asyncIterator]: walk,
    page: (paging = {}) => read({ ...first, ...paging }),
    all: () => Array.fromAsync(walk()),
  };
}
