/**
 * Timestamps, ranges and buckets. A timestamp is stored as sent and indexed as text; two texts of the same second may sort differently
 * than their times (`…30Z` comes after `…30.500Z`), so index ranges use whole seconds and rows are filtered exactly.
 */
import type { z } from "zod";
import { timestamp } from "../../containers/index.ts";
import { invalid, show } from "../../domain/errors.ts";
import type { Range } from "../../ports/item-store.ts";
import { dayMs, hourMs, seriesLimits } from "./series.ts";

/** Seconds are required: without them a text sorts after every other of its minute. */
export function moment(): z.ZodISODateTime {
  return timestamp().regex(/T\d\d:\d\d:\d\d/, "must have seconds, such as 2030-01-01T00:00:00Z");
}

export interface Span {
  /** Epoch milliseconds; inclusive. */
  readonly from: number;
  /** Not included. */
  readonly to: number;
}

/** For a list: unbounded if absent. */
export function parseSpan({
  from,
  to,
}: {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}): Partial<Span> {
  const span = {
    ...(from === undefined ? {} : { from: parseMoment(from, "from") }),
    ...(to === undefined ? {} : { to: parseMoment(to, "to") }),
  };
  if (span.from !== undefined && span.to !== undefined && span.from >= span.to)
    throw invalid("from: must be before `to`.");
  return span;
}

/** For an aggregate: the last 24 hours by default, always bounded. */
export function boundedSpan(
  query: { readonly from?: string | undefined; readonly to?: string | undefined },
  now: number,
): Span {
  const given = parseSpan(query);
  // One past now: rows of this very millisecond belong to the last 24 hours.
  const to = given.to ?? Math.max(now + 1, (given.from ?? 0) + 1);
  const from = given.from ?? to - dayMs;
  if (to - from > seriesLimits.aggregateDaysMax * dayMs)
    throw invalid(`from, to: the range is longer than ${seriesLimits.aggregateDaysMax} days; request less at once.`);
  return { from, to };
}

export function spanText({ from, to }: Span): { readonly from: string; readonly to: string } {
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
}

function parseMoment(text: unknown, name: string): number {
  const parsed = moment().safeParse(text);
  const at = parsed.success ? Date.parse(parsed.data) : Number.NaN;
  if (Number.isNaN(at))
    throw invalid(`${name}: must be an ISO 8601 time in UTC, such as 2030-01-01T00:00:00.000Z, got ${show(text)}.`);
  return at;
}

/** The range of timestamp texts of a span, slightly wider at its edges. */
export function textRange({ from, to }: Partial<Span>): Range | undefined {
  if (from === undefined && to === undefined) return undefined;
  return {
    ...(from === undefined ? {} : { gte: secondText(Math.floor(from / 1000)) }),
    ...(to === undefined ? {} : { lt: secondText(Math.ceil(to / 1000)) }),
  };
}

function secondText(second: number): string {
  return new Date(second * 1000).toISOString().slice(0, 19);
}

export function within(at: number, { from, to }: Partial<Span>): boolean {
  return (from === undefined || at >= from) && (to === undefined || at < to);
}

export function dateOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

export function hourText(hour: number): string {
  return String(hour).padStart(2, "0");
}

export function hourStart(date: string, hour: number): number {
  return Date.parse(`${date}T00:00:00Z`) + hour * hourMs;
}

/** Every day of a span, earliest first. */
export function daysOf({ from, to }: Span): readonly string[] {
  const days: string[] = [];
  for (let day = Math.floor(from / dayMs); day * dayMs < to; day += 1) days.push(dateOf(day * dayMs));
  return days;
}

const units: Readonly<Record<string, number>> = { m: 60_000, h: hourMs, d: dayMs };
const named: Readonly<Record<string, number>> = { minute: 60_000, hour: hourMs, day: dayMs };

/** Milliseconds of "minute", "hour", "day", "5m", "6h", "2d"; buckets begin at multiples of it since 1970, UTC. */
export function parseBucket(text: string): number {
  const parts = /^([1-9]\d{0,5})([mhd])$/.exec(text);
  const ms = Object.hasOwn(named, text)
    ? (named[text] as number)
    : Number(parts?.[1]) * (units[parts?.[2] ?? ""] ?? Number.NaN);
  if (ms >= 60_000 && ms <= seriesLimits.aggregateDaysMax * dayMs) return ms;
  throw invalid(
    `bucket: must be minute, hour, day, or a number of them such as "5m", "6h" or "2d" (at most ${seriesLimits.aggregateDaysMax}d), got ${show(text)}.`,
  );
}
