/** Times on the command line of series: a timestamp, a date, or a duration before now. */
import { UsageError, type Given, type Options } from "../terminal/command.ts";

export const rangeOptions = {
  from: {
    type: "string",
    value: "TIME",
    help: "inclusive start: 2030-01-01, 2030-01-01T06:00:00Z, or a duration before now: 90m, 24h, 7d",
  },
  to: { type: "string", value: "TIME", help: "exclusive end, in the same formats" },
} as const satisfies Options;

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

export function rangeOf(
  given: Given<keyof typeof rangeOptions>,
  now: number,
): { readonly from: string | undefined; readonly to: string | undefined } {
  const [from, to] = [momentOf(given, "from", now), momentOf(given, "to", now)];
  if (from !== undefined && to !== undefined && from >= to)
    throw new UsageError(`--from: ${from} is not before --to, ${to}.`);
  return { from, to };
}

function momentOf(
  given: Given<keyof typeof rangeOptions>,
  name: keyof typeof rangeOptions,
  now: number,
): string | undefined {
  const text = given.text(name);
  if (text === undefined) return undefined;
  const [, number, unit] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  if (number !== undefined) return new Date(now - Number(number) * unitMs[unit as keyof typeof unitMs]).toISOString();
  const at = shape.test(text) && isDay(text.slice(0, 10)) ? Date.parse(inUtc(text)) : Number.NaN;
  if (Number.isNaN(at))
    throw new UsageError(
      `--${name}: write 2030-01-01, 2030-01-01T06:00:00Z, or a duration before now such as 90m, 24h or 7d; got "${text}".`,
    );
  return new Date(at).toISOString();
}

const shape = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/;

/** Date accepts 30 February as a day of March. */
function isDay(text: string): boolean {
  const at = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}

/** A time without a zone is UTC, as everywhere here. */
function inUtc(text: string): string {
  return text.length > "2030-01-01".length && !/(Z|[+-]\d\d:\d\d)$/.test(text) ? `${text}Z` : text;
}
