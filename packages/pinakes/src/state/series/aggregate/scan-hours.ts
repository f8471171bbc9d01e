/** The rows of some hours of a day, from the items themselves. */
import type { Scope } from "../../../domain/scope.ts";
import type { Item, ItemStore, Query } from "../../../ports/item-store.ts";
import { limits } from "../../../domain/limits.ts";
import { companionField } from "../../system-container.ts";
import { ColumnsBuilder, type Columns } from "./columns.ts";
import { inParallel } from "../../../runtime/in-parallel.ts";
import { seriesOf, type Series } from "../series.ts";
import type { DayStamps } from "../stamps.ts";
import { hourStart, hourText } from "../time.ts";

export interface HoursOfDay {
  readonly date: string;
  readonly hours: readonly number[];
  readonly stamps: DayStamps;
  /** Custom dimensions that must have a column. */
  readonly asked: readonly string[];
}

/** While rows of one piece become columns, the store reads those of another. */
const piecesAtOnce = 2;
const pieceRowsMin = 10_000;

/** Columns for each of the hours. */
export async function scanHours(
  items: ItemStore,
  scope: Scope,
  container: Series,
  day: HoursOfDay,
): Promise<ReadonlyMap<number, Columns>> {
  const series = seriesOf(items, scope, container);
  const byIndex = await scanIndex(items, scope, series, day);
  const { stamps } = day;
  // An index may be late. It is whole when it shows as many rows as were ever added, and nothing else ever touched them; where that
  // cannot be told, because rows have expired or were deleted, the partition itself is read.
  const whole = [...byIndex].every(([hour, { rows }]) => !stamps.touched && rows >= stamps.added(hour));
  const builders =
    items.capabilities.indexReads === "strong" || whole ? byIndex : await scanPartition(items, scope, series, day);
  return new Map([...builders].map(([hour, builder]) => [hour, builder.finish()]));
}

async function scanIndex(
  items: ItemStore,
  scope: Scope,
  series: Series,
  day: HoursOfDay,
): Promise<Map<number, ColumnsBuilder>> {
  const { date, hours, stamps } = day;
  const builders = buildersFor(series, day);
  await inParallel(pieces(hours, stamps.added), piecesAtOnce, async ([first, last]) => {
    const query: Query = {
      index: series.timeIndex,
      equals: { workspace_id: scope.tenant },
      // In every form of a timestamp the hour is followed by a colon.
      range: { gte: `${date}T${hourText(first)}:`, lt: `${date}T${hourText(last + 1)}:` },
    };
    for await (const page of pagesOf(items, scope, series, query)) for (const item of page) addTo(builders, item);
  });
  return builders;
}

async function scanPartition(
  items: ItemStore,
  scope: Scope,
  series: Series,
  day: HoursOfDay,
): Promise<Map<number, ColumnsBuilder>> {
  const builders = buildersFor(series, day);
  for await (const page of pagesOf(items, scope, series, { equals: { [series.dateField]: day.date } })) {
    for (const item of page) if (item.document[companionField] === undefined) addTo(builders, item);
  }
  return builders;
}

function buildersFor(series: Series, { date, hours, asked }: HoursOfDay): Map<number, ColumnsBuilder> {
  return new Map(hours.map((hour) => [hour, new ColumnsBuilder(series, hourStart(date, hour), asked)]));
}

function addTo(builders: ReadonlyMap<number, ColumnsBuilder>, item: Item): void {
  builders.get(Number((item.document["timestamp"] as string).slice(11, 13)))?.add(item);
}

/** By the page: to wait for each of a million rows would take longer than to read them. */
async function* pagesOf(items: ItemStore, scope: Scope, series: Series, query: Query): AsyncGenerator<readonly Item[]> {
  for (let cursor: string | undefined; ;) {
    const page = await items.query(scope, series.container, { ...query, limit: limits.pageItemsMax, cursor });
    yield page.items;
    if (page.cursor === undefined) return;
    cursor = page.cursor;
  }
}

/** Hours that follow one another, until they have rows enough: [3, 4, 5, 9] → [3, 5], [9, 9], or [3, 3], [4, 5], [9, 9]. */
function pieces(hours: readonly number[], added: (hour: number) => number): readonly (readonly [number, number])[] {
  const found: [number, number][] = [];
  let rows = 0;
  for (const hour of hours) {
    const last = found.at(-1);
    if (last !== undefined && last[1] === hour - 1 && rows < pieceRowsMin) last[1] = hour;
    else {
      found.push([hour, hour]);
      rows = 0;
    }
    rows += added(hour);
  }
  return found;
}
