/** Rows over any number of days in the order of their time, page by page. */
import { invalid, show } from "../../domain/errors.ts";
import type { JsonObject, JsonScalar } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Item, ItemStore, Query } from "../../ports/item-store.ts";
import { seriesLimits, type Series } from "./series.ts";
import { parseSpan, textRange, within } from "./time.ts";

export interface RowQuery {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly order?: "asc" | "desc" | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

/** What is asked for by equality: the first that has an index of its own chooses it, the others are looked at row by row. */
export interface Choice {
  readonly index: string;
  readonly equals: Readonly<Record<string, JsonScalar>>;
  readonly filter: Readonly<Record<string, JsonScalar>>;
}

/** Where few rows match, a page ends after this many looks, short and with a cursor. */
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
  const range = textRange(span);
  const fixed: Query = {
    index: choice.index,
    equals: choice.equals,
    ...(range === undefined ? {} : { range }),
    ...(Object.keys(choice.filter).length === 0 ? {} : { filter: { ...choice.filter } }),
    order: checkOrder(query.order),
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

export function chooseIndex(
  tenant: string,
  series: Series,
  wanted: Readonly<Record<string, JsonScalar | undefined>>,
  indexes: Readonly<Record<string, string>>,
): Choice {
  const given = Object.entries(wanted).filter((entry): entry is [string, JsonScalar] => entry[1] !== undefined);
  for (const [name, value] of given) {
    if (typeof value !== "string") throw invalid(`${name}: must be a text, got ${show(value)}.`);
  }
  const chosen = Object.keys(indexes).find((name) => given.some(([key]) => key === name));
  const equals = chosen === undefined ? { workspace_id: tenant } : Object.fromEntries(given.filter(([key]) => key === chosen));
  const filter = Object.fromEntries(given.filter(([key]) => key !== chosen));
  return { index: chosen === undefined ? series.timeIndex : (indexes[chosen] as string), equals, filter };
}

/** With the fields of the system, as everywhere. */
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
