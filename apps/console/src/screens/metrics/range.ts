/** A time range in the URL: named, or two dates. Used by metrics and the tool log. */
import { useState } from "react";
import { oneOfParam, textParam } from "../../lib/search-params.ts";

const dayMs = 86_400_000;

/** The server's maximum. A longer range is shortened. */
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
  /** Days as YYYY-MM-DD (UTC) of a custom range; both inclusive. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** From (inclusive) to (exclusive). */
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

/** Pure. `now` is the end of named ranges. */
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

/** Whether the requested range exceeds the maximum. */
export function isShortened(search: RangeSearch, now: number): boolean {
  const { range, to } = search;
  return (
    range === "custom" &&
    Date.parse(timeRangeOf(search, now).to) < (to === undefined ? startOfDay(now) : Date.parse(to)) + dayMs
  );
}

/** Fixed until refresh, so that all queries of a page cover the same time. */
export function useTimeRange(search: RangeSearch): readonly [range: TimeRange, refresh: () => void] {
  const [now, setNow] = useState(() => Date.now());
  return [timeRangeOf(search, now), () => setNow(Date.now())];
}

/** Bucket lengths. */
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

/** Maximum points per line. */
export function bucketFor({ lengthMs }: TimeRange): string {
  if (lengthMs <= lengths.hour) return "minute";
  if (lengthMs <= 2 * dayMs) return "hour";
  return lengthMs <= 14 * dayMs ? "6h" : "day";
}
