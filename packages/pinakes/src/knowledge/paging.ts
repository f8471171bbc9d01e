/** Lists, page by page, as callers ask for them and get them. */
export interface Paging {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface ListPage<View> {
  readonly items: readonly View[];
  readonly next_cursor: string | null;
}
