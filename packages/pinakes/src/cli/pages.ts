/** Lists of the command line: as many pages as the limit asks for, in the shape that lists have everywhere. */
import type { ListPage } from "../knowledge/index.ts";
import { knowledgeLimits } from "../knowledge/index.ts";
import type { Given, Options } from "./command.ts";

export const listOptions = {
  limit: { type: "string", value: "N", help: "at most so many (100)" },
  cursor: { type: "string", value: "CURSOR", help: "go on where a list ended: its next_cursor" },
} as const satisfies Options;

export const listItemsMax = 10_000;
const listItemsDefault = 100;

export async function readPages<View>(
  given: Given<"limit" | "cursor">,
  read: (page: { readonly limit: number; readonly cursor: string | undefined }) => Promise<ListPage<View>>,
): Promise<ListPage<View>> {
  const limit = given.whole("limit", 1, listItemsMax) ?? listItemsDefault;
  const items: View[] = [];
  let cursor = given.text("cursor");
  do {
    const page = await read({ limit: Math.min(knowledgeLimits.pageItemsMax, limit - items.length), cursor });
    items.push(...page.items);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined && items.length < limit);
  return { items, next_cursor: cursor ?? null };
}

/** Below a list that was cut. */
export function moreBelow({ items, next_cursor }: ListPage<unknown>): string {
  return next_cursor === null ? "" : `\nThese are the first ${items.length}; for more: --limit ${Math.min(listItemsMax, items.length * 10)}.`;
}
