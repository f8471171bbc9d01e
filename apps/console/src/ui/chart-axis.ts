/** Labels of chart axes. Pure. */
import type { ChartProps } from "./chart.tsx";

const dayMs = 86_400_000;
const hourMs = dayMs / 24;

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const dayAndClock = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});

type Times = Pick<ChartProps, "points" | "stepMs">;

/** As short as possible without ambiguity: the hour alone only for several close points. */
export function axisTime({ points, stepMs }: Times): (at: string) => string {
  const [first, last] = [points[0]?.["at"], points.at(-1)?.["at"]].map((at) => new Date(at ?? 0).getTime()) as [
    number,
    number,
  ];
  if (stepMs !== undefined && stepMs >= dayMs) return written(day);
  if (last - first > 2 * dayMs) return written(stepMs === undefined ? day : dayAndClock);
  return written(stepMs !== undefined && (stepMs > hourMs || points.length === 1) ? dayAndClock : clock);
}

/** A point that covers a period is labelled with its end. */
export function pointTime(times: Times): (at: string) => string {
  const { stepMs } = times;
  if (stepMs === undefined) return axisTime(times);
  return (at) => {
    const from = new Date(at);
    if (Number.isNaN(from.getTime())) return at;
    return (stepMs >= dayMs ? day : dayAndClock).formatRange(from, new Date(from.getTime() + stepMs));
  };
}

function written(format: Intl.DateTimeFormat): (at: string) => string {
  return (at) => (Number.isNaN(new Date(at).getTime()) ? at : format.format(new Date(at)));
}

/** Above this, fractions on the axis add no information. */
const wholeFrom = 2;

/** Whether the value axis may show fractions. */
export function hasFractions({
  points,
  series,
  stacked = false,
  whole = false,
}: Pick<ChartProps, "points" | "series" | "stacked" | "whole">): boolean {
  if (whole) return false;
  return points.every((point) => {
    const values = series.map(({ key }) => Math.abs(Number(point[key] ?? 0)));
    return (stacked ? values.reduce((sum, value) => sum + value, 0) : Math.max(...values)) < wholeFrom;
  });
}
