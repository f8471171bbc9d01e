/** Lists, page by page, as callers ask for them and get them. */
export interface Paging {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface ListPage<View> {
  readonly items: readonly View[];
  readonly next_cursor: string | null;
  /** Of all pages, where `include_total` asked for it. */
  readonly total?: number;
}

export interface Totalled {
  /** Adds how many there are on all pages. Costs a walk over the list where no counter has it. */
  readonly include_total?: boolean | undefined;
}
