/** "From when to when", in the address of a page: by name, or as two dates. Used by metrics and the tool log. */
import { useState } from "react";
import { oneOfParam, textParam } from "../../lib/search-params.ts";

const dayMs = 86_400_000;

/** The server looks at no more at once. A longer range ends earlier. */
export const customDaysMax = 400;

export const rangeNames = ["hour", "day", "week", "month", "quarter", "custom"] as const;
export type RangeName = (typeof rangeNames)[number];

export const bucketNames = ["5m", "hour", "6h", "day"] as const;
export type BucketName = (typeof bucketNames)[number];

const lengths: Readonly<Record<Exclude<RangeName, "custom">, number>> = {
  hour: dayMs / 24,
  day: dayMs,
  week: 7 * dayMs,
  month: 30 * dayMs,
  quarter: 90 * dayMs,
};

export interface RangeSearch {
  readonly range?: RangeName | undefined;
  /** Days as YYYY-MM-DD in UTC, of a custom range; both are included. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** A moment's width: from (included) to (not included). */
export interface TimeRange {
  readonly from: string;
  readonly to: string;
  readonly lengthMs: number;
}

export function rangeSearch(search: Record<string, unknown>): RangeSearch {
  return {
    range: oneOfParam(search["range"], rangeNames),
    from: dateParam(search["from"]),
    to: dateParam(search["to"]),
  };
}

export function dateParam(value: unknown): string | undefined {
  const text = textParam(value);
  return text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)) ? text : undefined;
}

/** Pure. `now` is the end of the named ranges. */
export function timeRangeOf({ range = "week", from, to }: RangeSearch, now: number): TimeRange {
  if (range !== "custom") return between(now - lengths[range], now);
  const end = (to === undefined ? startOfDay(now) : Date.parse(to)) + dayMs;
  const begin = Math.min(from === undefined ? end - lengths.week : Date.parse(from), end - dayMs);
  return between(begin, Math.min(end, begin + customDaysMax * dayMs));
}

function between(from: number, to: number): TimeRange {
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString(), lengthMs: to - from };
}

function startOfDay(now: number): number {
  return Math.floor(now / dayMs) * dayMs;
}

/** Whether the range that is asked for is longer than can be looked at. */
export function isShortened(search: RangeSearch, now: number): boolean {
  const { range, to } = search;
  return (
    range === "custom" &&
    Date.parse(timeRangeOf(search, now).to) < (to === undefined ? startOfDay(now) : Date.parse(to)) + dayMs
  );
}

/** Stays the same until the reader refreshes, so that all of a page speaks of the same time. */
export function useTimeRange(search: RangeSearch): readonly [range: TimeRange, refresh: () => void] {
  const [now, setNow] = useState(() => Date.now());
  return [timeRangeOf(search, now), () => setNow(Date.now())];
}

/** How long each bucket is, of those that this page asks for. */
const bucketLengths: Readonly<Record<string, number>> = {
  minute: dayMs / 1440,
  "5m": dayMs / 288,
  hour: dayMs / 24,
  "6h": dayMs / 4,
  day: dayMs,
};

export function bucketMs(bucket: string): number | undefined {
  return bucketLengths[bucket];
}

/** As many points as a line can show. */
export function bucketFor({ lengthMs }: TimeRange): string {
  if (lengthMs <= lengths.hour) return "minute";
  if (lengthMs <= 2 * dayMs) return "hour";
  return lengthMs <= 14 * dayMs ? "6h" : "day";
}
