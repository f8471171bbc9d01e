/** Paged lists on the command line: reads as many pages as the limit needs, in the common list format. */
import type { ListPage } from "../../knowledge/index.ts";
import { knowledgeLimits } from "../../knowledge/index.ts";
import type { Given, Options } from "./command.ts";

export const listOptions = {
  limit: { type: "string", value: "N", help: "maximum number of entries (100)" },
  cursor: { type: "string", value: "CURSOR", help: "continue a list: its next_cursor" },
} as const satisfies Options;

export const listItemsMax = 10_000;
const listItemsDefault = 100;

export async function readPages<View>(
  given: Given<"limit" | "cursor">,
  read: (page: {
    readonly limit: number;
    readonly cursor: string | undefined;
    readonly include_total?: true;
  }) => Promise<ListPage<View>>,
  { total: withTotal = false }: { readonly total?: boolean } = {},
): Promise<ListPage<View>> {
  const limit = given.whole("limit", 1, listItemsMax) ?? listItemsDefault;
  const items: View[] = [];
  let cursor = given.text("cursor");
  let total: number | undefined;
  do {
    const counted = withTotal && items.length === 0 ? { include_total: true as const } : {};
    const page = await read({
      limit: Math.min(knowledgeLimits.pageItemsMax, limit - items.length),
      cursor,
      ...counted,
    });
    items.push(...page.items);
    total ??= page.total;
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined && items.length < limit);
  return { items, next_cursor: cursor ?? null, ...(total === undefined ? {} : { total }) };
}

/** Below a truncated list. */
export function moreBelow({ items, next_cursor, total }: ListPage<unknown>): string {
  if (next_cursor === null) return "";
  const of = total === undefined ? "" : ` of ${total.toLocaleString("en-US")}`;
  return `\nThese are the first ${items.length}${of}; for more: --limit ${Math.min(listItemsMax, items.length * 10)}.`;
}
