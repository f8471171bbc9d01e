import {
  Area,
  AreaChart,
  Bar,
  BarChart,
  CartesianGrid,
  Legend,
  Line,
  LineChart,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from "recharts";
import { formatCompact } from "../lib/format.ts";
import type { ChartProps } from "./chart.tsx";

/** Distinguishable without colour: by legend order and dash pattern. */
const strokes = ["var(--brand)", "var(--warn)", "var(--bad)", "var(--good)", "var(--ink-soft)"];
const dashes = [undefined, "6 3", "2 3", "8 3 2 3", "1 2"];

/** With few points, dots are shown: an isolated point would be invisible otherwise. */
const dotsMax = 40;

export default function Recharts(props: ChartProps) {
  const { kind = "area", points, series, format = formatCompact, formatAt, height = 220, stacked = false } = props;
  const pointAt = formatAt ?? pointTime(props);
  const dot = points.length <= dotsMax && { r: 2 };
  const data = [...points];
  const axes = (
    <>
      <CartesianGrid stroke="var(--line)" vertical={false} />
      <XAxis
        dataKey="at"
        tickFormatter={formatAt ?? axisTime(props)}
        stroke="var(--ink-soft)"
        fontSize={11}
        minTickGap={32}
        tickLine={false}
      />
      <YAxis
        interval={0}
        tickFormatter={format}
        stroke="var(--ink-soft)"
        fontSize={11}
        width="auto"
        tickLine={false}
        axisLine={false}
        allowDecimals={hasFractions(props)}
      />
      <Tooltip
        labelFormatter={(label) => (typeof label === "string" ? pointAt(label) : label)}
        formatter={(value) => format(Number(value))}
        contentStyle={{
          background: "var(--panel)",
          border: "1px solid var(--line)",
          borderRadius: 6,
          color: "var(--ink)",
          fontSize: 12,
        }}
      />
      {series.length > 1 && <Legend wrapperStyle={{ fontSize: 12, color: "var(--ink-soft)" }} />}
    </>
  );
  const looks = series.map(({ key, label }, index) => ({
    key,
    dataKey: key,
    name: label,
    stroke: strokes[index % strokes.length] as string,
    fill: strokes[index % strokes.length] as string,
    strokeDasharray: dashes[index % dashes.length] ?? "",
    stack: stacked ? { stackId: "all" } : {},
  }));
  return (
    <ResponsiveContainer width="100%" height={height}>
      {kind === "bar" ? (
        <BarChart data={data} accessibilityLayer>
          {axes}
          {looks.map(({ key, stack, stroke: _, strokeDasharray: __, ...look }) => (
            <Bar key={key} {...look} {...stack} isAnimationActive={false} />
          ))}
        </BarChart>
      ) : kind === "line" ? (
        <LineChart data={data} accessibilityLayer>
          {axes}
          {looks.map(({ key, stack: _, ...look }) => (
            <Line key={key} {...look} dot={dot} connectNulls strokeWidth={2} isAnimationActive={false} />
          ))}
        </LineChart>
      ) : (
        <AreaChart data={data} accessibilityLayer>
          {axes}
          {looks.map(({ key, stack, ...look }) => (
            <Area key={key} {...look} {...stack} fillOpacity={0.15} strokeWidth={2} isAnimationActive={false} />
          ))}
        </AreaChart>
      )}
    </ResponsiveContainer>
  );
}

/** Labels of chart axes. Pure. */
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
