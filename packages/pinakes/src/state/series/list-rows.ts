/** Rows over any number of days in time order, page by page. */
import { invalid, show } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Item, ItemStore, Query } from "../../ports/item-store.ts";
import type { Choice } from "./list-choice.ts";
import { listDays } from "./list-days.ts";
import { seriesLimits, type Series } from "./series.ts";
import { parseSpan, textRange, within } from "./time.ts";

export interface RowQuery {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly order?: "asc" | "desc" | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

/** If few rows match, a page ends after this many reads, short and with a cursor. */
const pagesPerCallMax = 10;

export async function listRows(
  items: ItemStore,
  scope: Scope,
  series: Series,
  choice: Choice,
  query: RowQuery,
): Promise<{ readonly items: readonly Item[]; readonly cursor: string | undefined }> {
  const limit = checkLimit(query.limit);
  const span = parseSpan(query);
  const order = checkOrder(query.order);
  if (choice.days !== undefined)
    return listDays(items, scope, series, {
      choice: { ...choice, days: choice.days },
      span,
      order,
      limit,
      cursor: query.cursor,
    });
  const range = textRange(span);
  const fixed: Query = {
    index: choice.index,
    equals: choice.equals,
    range,
    ...(Object.keys(choice.filter).length === 0 ? {} : { filter: { ...choice.filter } }),
    order,
  };
  const found: Item[] = [];
  let cursor = query.cursor;
  for (let page = 0; page < pagesPerCallMax; page += 1) {
    const next = await items.query(scope, series.container, { ...fixed, limit: limit - found.length, cursor });
    for (const item of next.items) if (within(Date.parse(item.document["timestamp"] as string), span)) found.push(item);
    cursor = next.cursor;
    if (cursor === undefined || found.length === limit) break;
  }
  return { items: found, cursor };
}

/** With system fields, as everywhere. */
export function asStored<Document>({ document, etag, modifiedAt }: Item): Document {
  return { ...document, _etag: etag, _ts: Math.floor(modifiedAt / 1000) } as JsonObject as Document;
}

export function checkLimit(limit: number | undefined): number {
  if (limit === undefined) return seriesLimits.listItemsDefault;
  if (Number.isInteger(limit) && limit >= 1 && limit <= seriesLimits.listItemsMax) return limit;
  throw invalid(`limit: must be a whole number from 1 to ${seriesLimits.listItemsMax}, got ${show(limit)}.`);
}

function checkOrder(order: unknown): "asc" | "desc" {
  if (order === undefined) return "desc";
  if (order === "asc" || order === "desc") return order;
  throw invalid(`order: must be "asc" or "desc", got ${show(order)}.`);
}
