/** One page of a query: scans until the page is full, the range is over, or its byte or row budget is spent. */
import { invalid } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import { limits } from "../domain/limits.ts";
import type { Item, Page } from "../ports/item-store.ts";
import type { CompiledContainer } from "./compiled-container.ts";
import type { ItemEngine, ScanRow } from "./item-engine.ts";
import { resumeAfter, type QueryPlan } from "./query-plan.ts";
import { fingerprintHash, type Tokens } from "./tokens.ts";

export interface PageContext {
  readonly engine: ItemEngine;
  readonly tokens: Tokens;
  readonly container: CompiledContainer;
  readonly tenant: string;
  readonly now: number;
}

export async function queryPage(context: PageContext, plan: QueryPlan, cursor: string | undefined): Promise<Page> {
  const { engine, container, now } = context;
  const items: Item[] = [];
  let position = cursor === undefined ? undefined : openCursor(context, plan, cursor);
  let examined = 0;
  let bytes = 0;
  for (;;) {
    const range = position === undefined ? plan.range : resumeAfter(plan, position);
    const wanted = plan.predicate === undefined ? plan.limit - items.length : Math.min(limits.pageItemsMax, limits.pageRowsExaminedMax - examined);
    const { rows, done } = await engine.scan(container, { range, reverse: plan.reverse, limit: wanted, bytesMax: limits.pageBytesMax - bytes, now });
    for (const row of rows) {
      examined += 1;
      position = row.sortKey ?? row.idKey;
      bytes += row.json.length;
      const item = toItem(row);
      if (plan.predicate !== undefined && !plan.predicate(item.document)) continue;
      items.push(item);
      if (items.length === plan.limit) break;
    }
    // The last row taken may also be the last of the range; then another page would be empty, which is allowed.
    const exhausted = done && (items.length < plan.limit || rows.at(-1) === undefined || (rows.at(-1)?.sortKey ?? rows.at(-1)?.idKey) === position);
    if (exhausted) return { items };
    if (items.length === plan.limit || bytes >= limits.pageBytesMax || examined >= limits.pageRowsExaminedMax) {
      return { items, cursor: sealCursor(context, plan, position as string) };
    }
  }
}

function toItem(row: ScanRow): Item {
  const document = JSON.parse(row.json) as JsonObject;
  return { id: document["id"] as string, etag: row.etag, modifiedAt: row.modifiedAt, document };
}

function sealCursor({ tokens, tenant }: PageContext, plan: QueryPlan, position: string): string {
  return tokens.seal("cursor", tenant, { q: fingerprintHash(plan.fingerprint), p: position });
}

function openCursor({ tokens, tenant }: PageContext, plan: QueryPlan, cursor: string): string {
  const payload = tokens.open("cursor", tenant, cursor);
  if (payload["q"] !== fingerprintHash(plan.fingerprint))
    throw invalid("The cursor belongs to another query; repeat the query it came from, or leave it out to begin anew.");
  return payload["p"] as string;
}
