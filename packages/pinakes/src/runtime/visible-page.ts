/**
 * Pages of what a reader may see. Cursors exist only at the ends of a store's pages, so where more is visible than was asked for, the store
 * is read once more for exactly as many rows as hold it. A page is as long as it would be without the hidden rows, and has a cursor only if
 * something visible follows.
 */
export interface RowPage<Row> {
  readonly rows: readonly Row[];
  /** Absent at the end. */
  readonly cursor?: string | undefined;
}

export interface VisiblePages<Row> {
  read(limit: number, cursor: string | undefined): Promise<RowPage<Row>>;
  /** Those of the rows that are visible, in their order. */
  visible(rows: readonly Row[]): Promise<readonly Row[]>;
  /** The most rows that one read may ask for. */
  readonly rowsMax: number;
}

const widthFirst = 64;

export async function visiblePage<Row>(
  pages: VisiblePages<Row>,
  limit: number,
  from: string | undefined,
): Promise<RowPage<Row>> {
  const found: Row[] = [];
  let cursor = from;
  let width = 0;
  for (;;) {
    const want = limit - found.length;
    const page = await atMost(pages, want, Math.min(pages.rowsMax, Math.max(want, width)), cursor);
    found.push(...page.rows);
    ({ cursor } = page);
    if (cursor === undefined) return { rows: found };
    if (found.length >= limit) return (await hasMore(pages, cursor)) ? { rows: found, cursor } : { rows: found };
    width = Math.max(widthFirst, width * 4);
  }
}

/** At most `want` visible rows among up to `rows`. */
async function atMost<Row>(
  pages: VisiblePages<Row>,
  want: number,
  limit: number,
  cursor: string | undefined,
): Promise<RowPage<Row>> {
  const page = await pages.read(limit, cursor);
  const visible = await pages.visible(page.rows);
  if (visible.length <= want) return { ...page, rows: visible };
  const again = await pages.read(page.rows.indexOf(visible[want - 1] as Row) + 1, cursor);
  const shown = await pages.visible(again.rows);
  if (shown.length <= want) return { ...again, rows: shown };
  // Rows in between were deleted concurrently: as many rows as are wanted never hold more.
  const exact = await pages.read(want, cursor);
  return { ...exact, rows: await pages.visible(exact.rows) };
}

async function hasMore<Row>(pages: VisiblePages<Row>, from: string): Promise<boolean> {
  let width = 1;
  for (let cursor: string | undefined = from; cursor !== undefined; width = Math.min(pages.rowsMax, width * 8)) {
    const page: RowPage<Row> = await pages.read(width, cursor);
    if ((await pages.visible(page.rows)).length > 0) return true;
    ({ cursor } = page);
  }
  return false;
}
