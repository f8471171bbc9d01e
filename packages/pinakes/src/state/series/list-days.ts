/**
 * Lists rows through an index that is partitioned by day: day after day, in time order. If a day has few rows, the
 * next ones are read concurrently, in growing numbers, so that a page takes few rounds whatever the density.
 *
 * A cursor is a day, a fingerprint of the query, and the position within the day. The latter is the store's own signed cursor;
 * a day is not secret.
 */
import { hash } from "node:crypto";
import { invalid } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Item, ItemStore, Page, Query } from "../../ports/item-store.ts";
import type { Choice } from "./list-choice.ts";
import { dayMs, seriesLimits, type Series } from "./series.ts";
import { dateOf, textRange, within, type Span } from "./time.ts";

export interface DayList {
  readonly choice: Choice & { readonly days: NonNullable<Choice["days"]> };
  readonly span: Partial<Span>;
  readonly order: "asc" | "desc";
  readonly limit: number;
  readonly cursor: string | undefined;
}

/** Maximum number of days read concurrently. */
const daysAtOnceMax = 16;
/** Minimum number of rows read per day, if several are read concurrently. */
const rowsOfDayMin = 10;
const cursorForm = /^(\d{4}-\d\d-\d\d)\.([\w-]{22})\.([\w-]*)$/;
const [firstDate, lastDate] = ["0000-01-01", "9999-12-31"];

/** The position of a page: a day number since 1970, and a position in its rows. */
interface DayCursor {
  readonly day: number;
  readonly cursor?: string | undefined;
}

export async function listDays(
  items: ItemStore,
  scope: Scope,
  series: Series,
  list: DayList,
): Promise<{ readonly items: readonly Item[]; readonly cursor: string | undefined }> {
  const days = new Days(items, scope, series, list);
  const found: Item[] = [];
  let place = list.cursor === undefined ? await days.first() : days.open(list.cursor);
  let [looksLeft, atOnce]: [number, number] = [seriesLimits.listDaysPerCallMax, 1];
  while (place !== undefined && found.length < list.limit && looksLeft > 0) {
    const round = days.following(place.day, Math.min(atOnce, looksLeft));
    const pages = await days.read(round, place.cursor, list.limit - found.length);
    looksLeft -= round.length;
    const before = found.length;
    const rest = takeFrom(round, pages, found, list);
    if (rest !== undefined) [place, atOnce] = [rest, 1];
    else {
      const last = round.at(-1) as number;
      place = found.length > before ? days.after(last) : await days.nextWithRows(last);
      atOnce = Math.min(2 * atOnce, daysAtOnceMax);
    }
  }
  return { items: found, cursor: place === undefined ? undefined : days.seal(place) };
}

/** Adds rows of the days in order until the page is full; returns the position in the first unfinished day, undefined if all are. */
function takeFrom(
  round: readonly number[],
  pages: readonly Page[],
  found: Item[],
  { span, limit }: DayList,
): DayCursor | undefined {
  for (const [i, page] of pages.entries()) {
    const day = round[i] as number;
    for (const [at, item] of page.items.entries()) {
      if (found.length === limit) return { day, cursor: at === 0 ? undefined : page.after?.(at - 1) };
      if (within(Date.parse(item.document["timestamp"] as string), span)) found.push(item);
    }
    if (page.cursor !== undefined) return { day, cursor: page.cursor };
  }
  return undefined;
}

class Days {
  readonly #items: ItemStore;
  readonly #scope: Scope;
  readonly #series: Series;
  readonly #list: DayList;
  readonly #step: 1 | -1;
  readonly #mark: string;
  readonly #firstDay: number;
  readonly #lastDay: number;

  constructor(items: ItemStore, scope: Scope, series: Series, list: DayList) {
    const { choice, span, order } = list;
    this.#items = items;
    this.#scope = scope;
    this.#series = series;
    this.#list = list;
    this.#step = order === "asc" ? 1 : -1;
    const query = [
      series.name,
      scope.tenant,
      Object.entries(choice.equals),
      Object.entries(choice.filter),
      span.from ?? null,
      span.to ?? null,
      order,
    ];
    this.#mark = hash("sha256", JSON.stringify(query), "base64url").slice(0, 22);
    this.#firstDay = span.from === undefined ? dayOf(firstDate) : Math.floor(span.from / dayMs);
    this.#lastDay = span.to === undefined ? dayOf(lastDate) : Math.ceil(span.to / dayMs) - 1;
  }

  /** Starts at a given end; otherwise at the first day with rows. */
  async first(): Promise<DayCursor | undefined> {
    const { span, order } = this.#list;
    const begin = order === "asc" ? this.#firstDay : this.#lastDay;
    return (order === "asc" ? span.from : span.to) === undefined
      ? this.nextWithRows(begin - this.#step)
      : { day: begin };
  }

  /** Maximum days per page; the current day comes first. */
  following(day: number, count: number): readonly number[] {
    return Array.from({ length: count }, (_, i) => day + i * this.#step).filter((one) => this.#isWithin(one));
  }

  after(day: number): DayCursor | undefined {
    return this.#isWithin(day + this.#step) ? { day: day + this.#step } : undefined;
  }

  /** The next day with a row. */
  async nextWithRows(day: number): Promise<DayCursor | undefined> {
    const next = this.after(day)?.day;
    if (next === undefined) return undefined;
    const { choice, span, order } = this.#list;
    const bound = order === "asc" ? { gte: dateText(next) } : { lt: `${dateText(next)}U` };
    const { items } = await this.#items.query(this.#scope, this.#series.container, {
      ...choice.days,
      range: { ...textRange(span), ...bound },
      order,
      limit: 1,
    });
    const date = items[0]?.document[this.#series.dateField];
    return date === undefined ? undefined : { day: dayOf(date as string) };
  }

  /** A page of each of these days; the first continues after `cursor`. */
  async read(days: readonly number[], cursor: string | undefined, wanted: number): Promise<readonly Page[]> {
    const { choice, span, order } = this.#list;
    const range = textRange(span);
    const limit =
      days.length === 1 ? wanted : Math.min(wanted, Math.max(rowsOfDayMin, Math.ceil((2 * wanted) / days.length)));
    const query = (day: number): Query => ({
      index: choice.index,
      equals: { ...choice.equals, [this.#series.dateField]: dateText(day) },
      range,
      ...(Object.keys(choice.filter).length === 0 ? {} : { filter: { ...choice.filter } }),
      order,
      limit,
      resumable: true,
    });
    const { container } = this.#series;
    return Promise.all(
      days.map((day, i) =>
        this.#items.query(this.#scope, container, { ...query(day), cursor: i === 0 ? cursor : undefined }),
      ),
    );
  }

  seal({ day, cursor }: DayCursor): string {
    return `${dateText(day)}.${this.#mark}.${cursor ?? ""}`;
  }

  open(cursor: string): DayCursor {
    const [, date, mark, inner] = (typeof cursor === "string" && cursorForm.exec(cursor)) || [];
    const day = dayOf(date ?? "");
    if (mark !== this.#mark || !this.#isWithin(day))
      throw invalid(
        "The cursor belongs to another query, or was modified; repeat it with the same query, or omit it to start over.",
      );
    return { day, cursor: inner === "" ? undefined : inner };
  }

  #isWithin(day: number): boolean {
    return day >= this.#firstDay && day <= this.#lastDay;
  }
}

/** NaN for an invalid date. */
function dayOf(date: string): number {
  return Date.parse(`${date}T00:00:00Z`) / dayMs;
}

function dateText(day: number): string {
  return dateOf(day * dayMs);
}
