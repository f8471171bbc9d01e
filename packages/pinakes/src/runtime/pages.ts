/** A list page by page: each read gets the cursor of the page before it, until a page has none. */
interface Page {
  readonly cursor?: string | undefined;
  readonly next_cursor?: string | null | undefined;
}

export async function* pagesOf<P extends Page>(
  read: (cursor: string | undefined) => Promise<P>,
): AsyncGenerator<P, void, undefined> {
  for (let cursor: string | undefined; ;) {
    const page = await read(cursor);
    yield page;
    cursor = page.cursor ?? page.next_cursor ?? undefined;
    if (cursor === undefined) return;
  }
}

/** The items of all pages, one by one. */
export async function* itemsOf<Item>(
  read: (cursor: string | undefined) => Promise<Page & { readonly items: readonly Item[] }>,
): AsyncGenerator<Item, void, undefined> {
  for await (const { items } of pagesOf(read)) yield* items;
}
