/** Aggregations of a series on the command line, for metrics and the tool log: the options, and the result as a table. */
import { aggregates, type Aggregate, type AggregateResult, type AggregateRow } from "@pinakes/client";
import { UsageError, type Given, type Options } from "../terminal/command.ts";
import { count, grid, inTime, type Cell } from "../terminal/layout.ts";
import { rangeOf, rangeOptions } from "./metrics-time.ts";
import { nothingIn, type StoreLocation } from "../store-location.ts";
import { suggest } from "../terminal/suggest.ts";
import { styled, type Terminal } from "../terminal/terminal.ts";

const valuesDefault = ["count", "avg", "p95"] as const satisfies readonly Aggregate[];

type Name = keyof ReturnType<typeof aggregateOptions>;

/** `more`: descriptions of further group names. */
export function aggregateOptions(groups: readonly string[], more: readonly string[] = []) {
  return {
    by: {
      type: "string",
      value: "a,b",
      help: `one row per value of ${[...groups, ...more].join(", ")}`,
      elsewhere: ["group-by"],
    },
    bucket: { type: "string", value: "TIME", help: "one row per minute, hour, day, or e.g. 5m, 6h (one for all)" },
    values: {
      type: "string",
      value: "a,b",
      help: `of ${aggregates.join(", ")} (${valuesDefault.join(",")})`,
      elsewhere: ["aggregates", "aggregate"],
    },
    filter: {
      type: "string",
      value: "name=value",
      help: `filter by name=value; repeat for several; name= matches rows without a value`,
      many: true,
    },
    ...rangeOptions,
    from: { ...rangeOptions.from, help: `${rangeOptions.from.help} (24h)` },
    to: { ...rangeOptions.to, help: `${rangeOptions.to.help} (now)` },
  } as const satisfies Options;
}

export interface AskedAggregate<Group extends string> {
  readonly group_by: readonly Group[];
  readonly bucket: string | undefined;
  readonly aggregates: readonly Aggregate[];
  readonly filter: Partial<Record<Group, string | null>>;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

interface Askable<Group extends string> {
  readonly groups: readonly Group[];
  /** Groups whose value may be absent, which is null there; in other groups it is an empty string. */
  readonly without: readonly Group[];
  /** Further groups: each value may be absent, and only the rows show whether the name exists. */
  readonly isCustom?: (text: string) => text is Group;
}

export function askedAggregate<Group extends string>(
  given: Given<Name>,
  askable: Askable<Group>,
  now: number,
): AskedAggregate<Group> {
  return {
    group_by: (given.list("by") ?? []).map((text) => groupOf("by", text, askable)),
    bucket: bucketOf(given.text("bucket")),
    aggregates: valuesOf(given.list("values")),
    filter: filterOf(given.texts("filter"), askable),
    ...rangeOf(given, now),
  };
}

function groupOf<Group extends string>(option: string, text: string, { groups, isCustom }: Askable<Group>): Group {
  return isCustom?.(text) === true ? text : oneOf(option, text, groups);
}

function valuesOf(given: readonly string[] | undefined): readonly Aggregate[] {
  const values = (given ?? valuesDefault).map((text) => oneOf("values", text, aggregates));
  if (values.length === 0) throw new UsageError(`--values: give at least one of ${aggregates.join(", ")}.`);
  return values;
}

function bucketOf(text: string | undefined): string | undefined {
  if (text === undefined || /^(minute|hour|day|[1-9]\d{0,5}[mhd])$/.test(text)) return text;
  throw new UsageError(`--bucket: must be minute, hour, day, or a number of them such as 5m, 6h or 2d; got "${text}".`);
}

function filterOf<Group extends string>(
  texts: readonly string[],
  askable: Askable<Group>,
): Partial<Record<Group, string | null>> {
  const { groups, without, isCustom } = askable;
  const filter: Partial<Record<Group, string | null>> = {};
  for (const text of texts) {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    if (name === undefined || value === undefined)
      throw new UsageError(`--filter: write name=value, such as ${groups[0]}=…; got "${text}".`);
    const known = groupOf("filter", name, askable);
    if (Object.hasOwn(filter, known)) throw new UsageError(`--filter: ${known} is specified twice.`);
    filter[known] = value === "" && (without.includes(known) || isCustom?.(known) === true) ? null : value;
  }
  return filter;
}

function oneOf<Value extends string>(option: string, text: string, known: readonly Value[]): Value {
  const found = known.find((one) => one === text);
  if (found !== undefined) return found;
  const meant = suggest(text, known);
  throw new UsageError(
    `--${option}: there is no "${text}"${meant === undefined ? `; known values: ${known.join(", ")}.` : `; did you mean ${meant}?`}`,
  );
}

export function aggregateText(
  terminal: Terminal,
  { items, rows_aggregated, from, to }: AggregateResult,
  place: StoreLocation,
): string {
  const time = `from ${from} to ${to}`;
  const last = styled(terminal, "dim", `Of ${count(rows_aggregated, "row")}, ${time}.`);
  return items.length === 0
    ? `${nothingIn(place, `There is nothing ${time}`)} Other times: --from 7d.`
    : `${grid(terminal, items.map(row), { whole: ["bucket"] })}\n\n${last}`;
}

function row({ bucket, group, values }: AggregateRow): Readonly<Record<string, Cell>> {
  return {
    bucket: inTime(bucket),
    ...Object.fromEntries(Object.entries(group).map(([name, value]) => [name, value || "–"])),
    ...Object.fromEntries(Object.entries(values).map(([name, value]) => [name, shortened(value)])),
  };
}

const digitsMax = 6;

/** Rounded for display; --json has all digits. */
export function shortened(value: number | null): Cell {
  if (value === null) return "–";
  return Number.isInteger(value) ? value : Number(value.toPrecision(digitsMax));
}
