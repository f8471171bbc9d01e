/** Paging of lists, in requests and responses. */
export interface Paging {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface ListPage<View> {
  readonly items: readonly View[];
  readonly next_cursor: string | null;
  /** Total over all pages, if `include_total` is set. */
  readonly total?: number;
}

export interface Totalled {
  /** Adds the total over all pages. Scans the list if no counter has it. */
  readonly include_total?: boolean | undefined;
}
