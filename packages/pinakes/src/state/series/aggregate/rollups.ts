/** Lists which hours have rows, and which of those are sealed. */
import type { Page, Paging, Rollup, TimeRange } from "@pinakes/client";
import { invalid } from "../../../domain/errors.ts";
import type { Scope } from "../../../domain/scope.ts";
import type { ItemStore } from "../../../ports/item-store.ts";
import { mayHaveRows, type Hours } from "./hours.ts";
import { checkLimit } from "../list-rows.ts";
import { hourMs, type Series } from "../series.ts";
import { readStamps, type DayStamps } from "../stamps.ts";
import { boundedSpan, dateOf, hourText } from "../time.ts";

const rollupsDefault = 24;
/** The next hour to read: a time that any caller may name, so it needs no signature. */
const cursorForm = /^\d{4}-\d\d-\d\dT\d\d$/;

export async function listRollups(
  parts: { readonly items: ItemStore; readonly series: Series; readonly hours: Hours; readonly now: number },
  scope: Scope,
  query: TimeRange & Paging,
): Promise<Page<Rollup>> {
  const { items, series, hours, now } = parts;
  const limit = checkLimit(query.limit ?? rollupsDefault);
  const span = boundedSpan(query, now);
  const found: Rollup[] = [];
  let day: { readonly date: string; readonly stamps: DayStamps | undefined } | undefined;
  for (let at = firstHour(span.from, query.cursor); at < span.to; at += hourMs) {
    const date = dateOf(at);
    if (day?.date !== date) day = { date, stamps: await readStamps(items, scope, series, date) };
    const hour = new Date(at).getUTCHours();
    if (day.stamps === undefined || !mayHaveRows(day.stamps, hour)) continue;
    if (found.length === limit) return { items: found, next_cursor: `${date}T${hourText(hour)}` };
    const rows = await items.count(scope, series.container, {
      index: series.timeIndex,
      equals: { workspace_id: scope.tenant },
      range: { prefix: `${date}T${hourText(hour)}:` },
    });
    if (rows === 0) continue;
    const sealedAt = await hours.blocks.sealedAt(scope, hours.name(date, hour, day.stamps));
    const state =
      sealedAt === undefined
        ? { state: "open" as const, sealed_at: null }
        : { state: "sealed" as const, sealed_at: new Date(sealedAt).toISOString() };
    found.push({ metric_date: date, hour, rows, ...state });
  }
  return { items: found, next_cursor: null };
}

function firstHour(from: number, cursor: string | undefined): number {
  const first = Math.floor(from / hourMs) * hourMs;
  if (cursor === undefined) return first;
  const at = cursorForm.test(cursor) ? Date.parse(`${cursor}:00:00Z`) : Number.NaN;
  if (Number.isNaN(at) || at < first) throw invalid("cursor: is not a cursor of this list; omit it to start over.");
  return at;
}
