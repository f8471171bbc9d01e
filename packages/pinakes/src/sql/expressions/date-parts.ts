/**
 * Functions that split times into parts and build them from parts. Ticks are 100 ns since the year 1, timestamps milliseconds since 1970.
 */
import { formatTicks, parseTicks, ticksOfUnit, unitOf } from "./date-functions.ts";
import type { SqlFunction } from "./functions.ts";
import type { Value } from "./values.ts";

const ticksPerMs = 10_000n;
/** Ticks from the year 1 to 1970. */
const epochTicks = 621_355_968_000_000_000n;

const now = (of: (ms: number) => Value): SqlFunction => ({ min: 0, max: 0, of: (_, context) => of(context.now) });
const currentTicks = now((ms) => Number(BigInt(ms) * ticksPerMs + epochTicks));
const currentTime = now((ms) => formatTicks(BigInt(ms) * ticksPerMs));

const ofTime = (of: (ticks: bigint) => Value): SqlFunction => ({
  min: 1,
  max: 1,
  of: ([text]) => {
    const ticks = typeof text === "string" ? parseTicks(text) : undefined;
    return ticks === undefined ? undefined : of(ticks);
  },
});

const ofWhole = (of: (value: bigint) => Value): SqlFunction => ({
  min: 1,
  max: 1,
  of: ([value]) => (typeof value === "number" && Number.isInteger(value) ? of(BigInt(value)) : undefined),
});

/** The time is constant during a query, so the static functions equal the others. */
export const dateParts: Readonly<Record<string, SqlFunction>> = {
  DATETIMEBIN: { min: 2, max: 4, of: dateTimeBin },
  DATETIMEDIFF: { min: 3, max: 3, of: dateTimeDiff },
  DATETIMEFROMPARTS: { min: 3, max: 7, of: fromParts },
  DATETIMEPART: { min: 2, max: 2, of: dateTimePart },
  DATETIMETOTICKS: ofTime((ticks) => Number(ticks + epochTicks)),
  DATETIMETOTIMESTAMP: ofTime((ticks) => Number(floorDivide(ticks, ticksPerMs))),
  GETCURRENTDATETIMESTATIC: currentTime,
  GETCURRENTTICKS: currentTicks,
  GETCURRENTTICKSSTATIC: currentTicks,
  GETCURRENTTIMESTAMPSTATIC: now((ms) => ms),
  TICKSTODATETIME: ofWhole((ticks) => formatTicks(ticks - epochTicks)),
  TIMESTAMPTODATETIME: ofWhole((ms) => formatTicks(ms * ticksPerMs)),
};

function dateTimePart([part, text]: readonly Value[]): Value {
  const ticks = typeof text === "string" ? parseTicks(text) : undefined;
  if (ticks === undefined || typeof part !== "string") return undefined;
  const iso = formatTicks(ticks) as string;
  switch (unitOf(part)) {
    case "year":
      return Number(iso.slice(0, 4));
    case "month":
      return Number(iso.slice(5, 7));
    case "day":
      return Number(iso.slice(8, 10));
    case "hour":
      return Number(iso.slice(11, 13));
    case "minute":
      return Number(iso.slice(14, 16));
    case "second":
      return Number(iso.slice(17, 19));
    case "millisecond":
      return Number(iso.slice(20, 23));
    case "microsecond":
      return Number(iso.slice(20, 26));
    case "nanosecond":
      return Number(iso.slice(20, 27)) * 100;
    default:
      return undefined;
  }
}

/** The number of unit boundaries between the two times. */
function dateTimeDiff([part, from, to]: readonly Value[]): Value {
  const [a, b] = [from, to].map((text) => (typeof text === "string" ? parseTicks(text) : undefined));
  if (a === undefined || b === undefined || typeof part !== "string") return undefined;
  const unit = unitOf(part);
  const month = (ticks: bigint): number => {
    const iso = formatTicks(ticks) as string;
    return Number(iso.slice(0, 4)) * 12 + Number(iso.slice(5, 7));
  };
  if (unit === "month") return month(b) - month(a);
  if (unit === "year") return Math.floor((month(b) - 1) / 12) - Math.floor((month(a) - 1) / 12);
  if (unit === "nanosecond") return Number((b - a) * 100n);
  const size = ticksOfUnit(unit);
  return size === undefined ? undefined : Number(floorDivide(b, size) - floorDivide(a, size));
}

function fromParts(values: readonly Value[]): Value {
  if (!values.every((value) => typeof value === "number" && Number.isInteger(value) && value >= 0)) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, fraction = 0] = values as readonly number[];
  const pad = (value: number, size: number): string => String(value).padStart(size, "0");
  const text = `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}T${pad(hour, 2)}:${pad(minute, 2)}:${pad(second, 2)}.${pad(fraction, 7)}Z`;
  const ticks = parseTicks(text);
  return ticks === undefined ? undefined : formatTicks(ticks);
}

/** Start of the bin that contains the time. Bins of days and shorter units count from the origin, 1970 by default. */
function dateTimeBin([text, part, size = 1, origin = "1970-01-01T00:00:00.0000000Z"]: readonly Value[]): Value {
  if (typeof text !== "string" || typeof part !== "string" || typeof origin !== "string") return undefined;
  if (typeof size !== "number" || !Number.isInteger(size) || size < 1) return undefined;
  const [ticks, start, unit] = [parseTicks(text), parseTicks(origin), ticksOfUnit(unitOf(part))];
  if (ticks === undefined || start === undefined || unit === undefined) return undefined;
  const bin = unit * BigInt(size);
  return formatTicks(start + floorDivide(ticks - start, bin) * bin);
}

function floorDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value % by < 0n ? quotient - 1n : quotient;
}
