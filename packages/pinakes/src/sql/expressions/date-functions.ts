/** GetCurrentDateTime and DateTimeAdd. Times are counted in ticks of 100 ns, the seven fractional digits of Cosmos DB. */
import type { Value } from "./values.ts";

const ticksPerMs = 10_000n;
const isoDateTime = /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,7}))?Z?)?$/;
/** Years that ISO 8601 writes with four digits. */
const ticksMin = BigInt(Date.parse("0001-01-01T00:00:00Z")) * ticksPerMs;
const ticksMax = BigInt(Date.UTC(9999, 11, 31, 23, 59, 59, 999)) * ticksPerMs + 9_999n;

export function formatTicks(ticks: bigint): string | undefined {
  if (ticks < ticksMin || ticks > ticksMax) return undefined;
  const ms = ticks >= 0n ? ticks / ticksPerMs : (ticks - (ticksPerMs - 1n)) / ticksPerMs;
  const rest = ticks - ms * ticksPerMs;
  const text = new Date(Number(ms)).toISOString();
  return text.length === 24 ? `${text.slice(0, 23)}${rest.toString().padStart(4, "0")}Z` : undefined;
}

export function formatMs(ms: number): string {
  return formatTicks(BigInt(ms) * ticksPerMs) as string;
}

export function parseTicks(text: string): bigint | undefined {
  const found = isoDateTime.exec(text);
  if (found === null) return undefined;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  const real = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && hour < 24 && minute < 60 && second < 60;
  return real ? BigInt(date.getTime()) * ticksPerMs + BigInt((found[7] ?? "").padEnd(7, "0")) : undefined;
}

const ticksOf: Readonly<Record<string, bigint>> = {
  day: 864_000_000_000n,
  hour: 36_000_000_000n,
  minute: 600_000_000n,
  second: 10_000_000n,
  millisecond: ticksPerMs,
  microsecond: 10n,
};
const shortNames: Readonly<Record<string, string>> = {
  yyyy: "year",
  yy: "year",
  mm: "month",
  m: "month",
  dd: "day",
  d: "day",
  hh: "hour",
  mi: "minute",
  n: "minute",
  ss: "second",
  s: "second",
  ms: "millisecond",
  mcs: "microsecond",
  ns: "nanosecond",
};

/** `yyyy` is an alias of `year`. */
export function unitOf(part: string): string {
  const lower = part.toLowerCase();
  return Object.hasOwn(shortNames, lower) ? (shortNames[lower] as string) : lower;
}

/** Undefined for units of variable length. */
export function ticksOfUnit(unit: string): bigint | undefined {
  return Object.hasOwn(ticksOf, unit) ? ticksOf[unit] : undefined;
}

export function dateTimeAdd(part: Value, amount: Value, start: Value): Value {
  if (
    typeof part !== "string" ||
    typeof amount !== "number" ||
    !Number.isSafeInteger(amount) ||
    typeof start !== "string"
  )
    return undefined;
  const ticks = parseTicks(start);
  if (ticks === undefined) return undefined;
  const unit = unitOf(part);
  if (unit === "year") return addMonths(ticks, amount * 12);
  if (unit === "month") return addMonths(ticks, amount);
  if (unit === "nanosecond") return formatTicks(ticks + BigInt(Math.trunc(amount / 100)));
  const size = ticksOfUnit(unit);
  return size === undefined ? undefined : formatTicks(ticks + BigInt(amount) * size);
}

/** The same day of another month, or its last day: 31 January plus one month is 28 or 29 February. */
function addMonths(ticks: bigint, months: number): Value {
  if (Math.abs(months) > 12 * 10_000) return undefined;
  const iso = formatTicks(ticks) as string;
  const [year, month, day] = iso.slice(0, 10).split("-").map(Number) as [number, number, number];
  const index = year * 12 + (month - 1) + months;
  const [toYear, toMonth] = [Math.floor(index / 12), ((index % 12) + 12) % 12];
  if (toYear < 1 || toYear > 9_999) return undefined;
  const last = new Date(0);
  last.setUTCFullYear(toYear, toMonth + 1, 0);
  const pad = (value: number, size: number) => String(value).padStart(size, "0");
  return `${pad(toYear, 4)}-${pad(toMonth + 1, 2)}-${pad(Math.min(day, last.getUTCDate()), 2)}${iso.slice(10)}`;
}
