/** Aggregate rows as chart series. Pure. */
import type { Aggregate, AggregateRow } from "@pinakes/client";
import type { ChartProps, Series } from "../../ui/chart.tsx";
import { metricStrings } from "../../strings/metrics.ts";

/** More lines are not distinguishable. */
export const seriesMax = 5;

export interface Drawing {
  readonly points: ChartProps["points"];
  readonly series: readonly Series[];
  readonly groups: number;
}

/** `totals` decides which groups are drawn: those with the most entries. */
export function drawingOf(rows: readonly AggregateRow[], totals: readonly AggregateRow[], measure: Aggregate): Drawing {
  const busiest = totals.toSorted((a, b) => (b.values.count ?? 0) - (a.values.count ?? 0)).slice(0, seriesMax);
  // Group names are data: generated keys cannot collide with properties.
  const keys = new Map(busiest.map((row, index) => [groupLabel(row), `group${index}`]));
  const points = new Map<string, Record<string, string | number | null>>();
  for (const row of rows) {
    const key = keys.get(groupLabel(row));
    if (key === undefined || row.bucket === null) continue;
    const point = points.get(row.bucket) ?? { at: row.bucket };
    point[key] = row.values[measure] ?? null;
    points.set(row.bucket, point);
  }
  return {
    points: [...points.values()].toSorted((a, b) => String(a["at"]).localeCompare(String(b["at"]))),
    series: [...keys].map(([label, key]) => ({ key, label })),
    groups: totals.length,
  };
}

export function groupLabel({ group }: AggregateRow): string {
  const values = Object.values(group);
  return values.length === 0
    ? metricStrings.chart.total
    : values.map((value) => (value === null || value === "" ? metricStrings.chart.noValue : value)).join(" · ");
}
