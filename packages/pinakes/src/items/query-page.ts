/** One page of a query: scans until the page is full, the range ends, or its byte or row budget is spent. */
import { invalid } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import { limits } from "../domain/limits.ts";
import { shortHash } from "../runtime/tokens.ts";
import type { Item, Page } from "../ports/item-store.ts";
import type { CompiledContainer } from "./compiled-container.ts";
import type { ItemEngine, ScanRow } from "./item-engine.ts";
import { resumeAfter, type QueryPlan } from "./query-plan.ts";
import type { Tokens } from "./tokens.ts";

export interface PageContext {
  readonly engine: ItemEngine;
  readonly tokens: Tokens;
  readonly container: CompiledContainer;
  readonly tenant: string;
  readonly now: number;
}

const firstStepRows = 100;

export async function queryPage(
  context: PageContext,
  plan: QueryPlan,
  cursor: string | undefined,
  resumable = false,
): Promise<Page> {
  const { engine, container, now } = context;
  const items: Item[] = [];
  const positions: string[] = [];
  const filtered = plan.predicate !== undefined || plan.prefilter !== undefined;
  let position = cursor === undefined ? undefined : openCursor(context, plan, cursor);
  let examined = 0;
  let bytes = 0;
  const page = (end?: string): Page => ({
    items,
    ...(end === undefined ? {} : { cursor: end }),
    ...(resumable ? { examined, after: (place: number) => sealCursor(context, plan, positions[place] as string) } : {}),
  });
  for (;;) {
    const range = position === undefined ? plan.range : resumeAfter(plan, position);
    // A filter that most rows pass needs one small step; one that few pass needs large ones after it.
    const step = examined === 0 ? Math.max(firstStepRows, plan.limit) : limits.pageItemsMax;
    const wanted = filtered ? Math.min(step, limits.pageRowsExaminedMax - examined) : plan.limit - items.length;
    const { prefilter, reverse } = plan;
    const { rows, done, looked } = await engine.scan(container, {
      range,
      reverse,
      limit: wanted,
      bytesMax: limits.pageBytesMax - bytes,
      now,
      prefilter,
    });
    let taken = 0;
    for (const row of rows) {
      taken += 1;
      position = positionOf(row);
      bytes += row.json.length;
      const item = toItem(row);
      if (plan.predicate !== undefined && !plan.predicate(item.document)) continue;
      items.push(item);
      positions.push(position);
      if (items.length === plan.limit) break;
    }
    examined += looked?.rows ?? taken;
    // If every row was taken, the trailing rows that the engine left out are done with too.
    if (taken === rows.length && looked !== undefined) position = looked.position;
    // The last row taken may also be the last of the range; then another page would be empty, which is allowed.
    if (done && taken === rows.length) return page();
    if (items.length === plan.limit || bytes >= limits.pageBytesMax || examined >= limits.pageRowsExaminedMax) {
      return page(sealCursor(context, plan, position as string));
    }
  }
}

function positionOf(row: ScanRow): string {
  return row.sortKey ?? row.idKey;
}

function toItem(row: ScanRow): Item {
  const document = JSON.parse(row.json) as JsonObject;
  return { id: document["id"] as string, etag: row.etag, modifiedAt: row.modifiedAt, document };
}

function sealCursor({ tokens, tenant }: PageContext, plan: QueryPlan, position: string): string {
  return tokens.seal("cursor", tenant, { q: shortHash(plan.fingerprint), p: position });
}

function openCursor({ tokens, tenant }: PageContext, plan: QueryPlan, cursor: string): string {
  const payload = tokens.open("cursor", tenant, cursor);
  if (payload["q"] !== shortHash(plan.fingerprint))
    throw invalid("The cursor belongs to another query; repeat it with the same query, or omit it to start over.");
  return payload["p"] as string;
}
