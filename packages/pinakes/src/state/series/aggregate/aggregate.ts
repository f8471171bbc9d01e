/** Count, sum, average, extremes and exact percentiles of a series, by time bucket and dimension. */
import { setImmediate } from "node:timers/promises";
import {
  aggregates,
  type Aggregate,
  type AggregateQuery,
  type AggregateResult,
  type AggregateRow,
} from "@pinakes/client";
import { z } from "zod";
import { issuePath, plainIssue } from "../../../containers/index.ts";
import { PinakesError, invalid } from "../../../domain/errors.ts";
import { compareUtf8 } from "../../../domain/json.ts";
import type { Scope } from "../../../domain/scope.ts";
import { Cells } from "./cells.ts";
import { customLimits, dimensionTrouble, isCustomDimension } from "../custom-names.ts";
import type { Hours } from "./hours.ts";
import { nearestRank, selectRanks } from "./quickselect.ts";
import { scanColumns, type Selection } from "./scan-columns.ts";
import { selectInRuns } from "./select-in-runs.ts";
import { dayMs, hourMs, type Series } from "../series.ts";
import { sortValues } from "./sort-values.ts";
import { boundedSpan, daysOf, parseBucket, spanText, type Span } from "../time.ts";

const percents = { p50: 50, p95: 95, p99: 99 } as const;

export interface SeriesAggregate extends AggregateQuery {
  readonly group_by?: readonly string[] | undefined;
  readonly filter?: Readonly<Record<string, string | null | undefined>> | undefined;
}

interface Plan extends Selection {
  readonly aggregates: readonly Aggregate[];
  /** Custom dimensions that it groups or filters by. */
  readonly customDimensions: readonly string[];
}

export function planAggregate(series: Series, query: SeriesAggregate, now: number): Plan {
  const names = Object.keys(series.dimensions) as [string, ...string[]];
  const dimension = dimensionSchema(series);
  const schema = z.strictObject({
    from: z.string().optional(),
    to: z.string().optional(),
    bucket: z.string().optional(),
    aggregates: z.array(z.enum(aggregates)).min(1).max(aggregates.length),
    group_by: z
      .array(dimension)
      .max(names.length + customLimits.queryDimensionsMax)
      .optional(),
    filter: z.record(z.string(), z.string().nullable().optional()).optional(),
  });
  const parsed = schema.safeParse(query, { error: plainIssue });
  if (!parsed.success)
    throw invalid(
      `${parsed.error.issues.map(({ path, message }) => `${issuePath(path) || "query"}: ${message}`).join("; ")}.`,
    );
  const { from, to, bucket, group_by = [], filter = {} } = parsed.data;
  const named = Object.keys(filter);
  const wrong = named
    .map((name) => dimension.safeParse(name, { error: plainIssue }).error?.issues[0]?.message)
    .find((message) => message !== undefined);
  if (wrong !== undefined) throw invalid(`filter: ${wrong}.`);
  const custom = [...new Set([...group_by, ...named].filter(isCustomDimension))];
  if (custom.length > customLimits.queryDimensionsMax)
    throw invalid(
      `A query groups and filters by at most ${customLimits.queryDimensionsMax} custom dimensions, got ${custom.length}.`,
    );
  return {
    customDimensions: custom,
    span: boundedSpan({ from, to }, now),
    bucketMs: bucket === undefined ? undefined : parseBucket(bucket),
    aggregates: [...new Set(parsed.data.aggregates)],
    groupBy: [...new Set(group_by)],
    filter: Object.entries(filter).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
    ttlSeconds: series.ttlSeconds,
    now,
  };
}

/** The name of a dimension, in `group_by` and `filter`. */
function dimensionSchema({ dimensions, customDimensions }: Series): z.ZodType<string> {
  const names = Object.keys(dimensions) as [string, ...string[]];
  if (!customDimensions) return z.enum(names);
  return z.string().superRefine((name, context) => {
    const trouble = names.includes(name) ? undefined : dimensionTrouble(name, names);
    if (trouble !== undefined) context.addIssue({ code: "custom", message: trouble });
  });
}

export async function runAggregate(hours: Hours, scope: Scope, plan: Plan): Promise<AggregateResult> {
  const withValues = plan.aggregates.some((name) => name in percents);
  const cells = new Cells(withValues);
  const kept = hours.cells.for(plan, withValues);
  for (const date of daysOf(plan.span)) {
    for (const { start, key, found } of await hours.ofDay(
      scope,
      date,
      { hours: hoursOf(date, plan.span), dimensions: plan.customDimensions },
      (at, of) => kept.get(at, of),
    )) {
      const known = "parts" in found ? found : key === undefined ? undefined : await kept.make(found, key);
      if (known === undefined && !("parts" in found)) await scanColumns(found, plan, cells, setImmediate);
      const bucket = plan.bucketMs === undefined ? 0 : Math.floor(start / plan.bucketMs);
      for (const part of known?.parts ?? []) cells.addPart(bucket, part);
      if (found !== known) await setImmediate();
    }
    await setImmediate();
  }
  return { items: await rowsOf(cells, plan), rows_aggregated: cells.rows, ...spanText(plan.span) };
}

/** The hours of a day that a range overlaps. */
function hoursOf(date: string, { from, to }: Span): readonly number[] {
  const start = Date.parse(`${date}T00:00:00Z`);
  const first = Math.max(0, Math.floor((from - start) / hourMs));
  const end = Math.min(dayMs / hourMs, Math.ceil((to - start) / hourMs));
  return Array.from({ length: Math.max(0, end - first) }, (_, i) => first + i);
}

const rowsPerPause = 4_096;

async function rowsOf(cells: Cells, plan: Plan): Promise<readonly AggregateRow[]> {
  checkValues(cells, plan);
  const wanted = (["p50", "p95", "p99"] as const).filter((name) => plan.aggregates.includes(name));
  const kept = wanted.length === 0 ? undefined : await cells.values(setImmediate);
  const order = cells.keys.map((_, place) => place).toSorted((a, b) => compareCells(cells, a, b));
  const rows: AggregateRow[] = [];
  let sincePause = 0;
  for (const place of order) {
    const key = cells.keys[place];
    if (key === undefined) continue;
    const count = cells.count(place);
    const values: Partial<Record<Aggregate, number>> = {};
    if (kept !== undefined) {
      const own = kept.all.subarray(kept.starts[place], kept.starts[place + 1]);
      const ranks = wanted.map((name) => nearestRank(percents[name], count));
      const runs = cells.runs(place);
      const ranked =
        runs.length === 0
          ? await selectRanks(own, ranks, setImmediate)
          : selectInRuns([...runs, sortValues(own)], ranks);
      for (const [i, name] of wanted.entries()) values[name] = ranked[i] as number;
    }
    rows.push({
      bucket: plan.bucketMs === undefined ? null : new Date(key.bucket * plan.bucketMs).toISOString(),
      group: Object.fromEntries(plan.groupBy.map((name, i) => [name, key.group[i] ?? null])),
      values: inOrder(plan.aggregates, { ...simple(cells, place), ...values }),
    });
    sincePause += kept === undefined ? 1 : count;
    if (sincePause > rowsPerPause) {
      sincePause = 0;
      await setImmediate();
    }
  }
  return rows;
}

/** Totals stay exact: too many values are an error, never a group "other" or a shortened answer. */
function checkValues({ keys }: Cells, { groupBy }: Plan): void {
  for (const [i, name] of groupBy.entries()) {
    if (!isCustomDimension(name) || keys.length <= customLimits.answerValuesMax) continue;
    if (new Set(keys.map(({ group }) => group[i])).size <= customLimits.answerValuesMax) continue;
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `${name} has more than ${customLimits.answerValuesMax} different values in this range. Filter, take a shorter range, or do not group by it.`,
    );
  }
}

function simple(cells: Cells, place: number): Partial<Record<Aggregate, number>> {
  const [count, sum] = [cells.count(place), cells.sum(place)];
  return { count, sum, avg: sum / count, min: cells.min(place), max: cells.max(place) };
}

/** A sum beyond the greatest number is none. */
function inOrder(
  names: readonly Aggregate[],
  values: Partial<Record<Aggregate, number>>,
): Partial<Record<Aggregate, number | null>> {
  return Object.fromEntries(
    names.map((name) => [name, Number.isFinite(values[name]) ? (values[name] as number) : null]),
  );
}

/** By bucket, then by the values of the group, null first. */
function compareCells({ keys }: Cells, a: number, b: number): number {
  const [one, other] = [keys[a], keys[b]];
  if (one === undefined || other === undefined) return 0;
  if (one.bucket !== other.bucket) return one.bucket - other.bucket;
  for (const [i, text] of one.group.entries()) {
    const against = other.group[i] ?? null;
    if (text === against) continue;
    if (text === null || against === null) return text === null ? -1 : 1;
    return compareUtf8(text, against);
  }
  return 0;
}
