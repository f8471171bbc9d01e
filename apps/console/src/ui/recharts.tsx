import { Area, AreaChart, Bar, BarChart, CartesianGrid, Legend, Line, LineChart, ResponsiveContainer, Tooltip, XAxis, YAxis } from "recharts";
import { formatCompact } from "../lib/format.ts";
import type { ChartProps } from "./chart.tsx";

/** Told apart without colour too: by their order in the legend and their dashes. */
const strokes = ["var(--brand)", "var(--warn)", "var(--bad)", "var(--good)", "var(--ink-soft)"];
const dashes = [undefined, "6 3", "2 3", "8 3 2 3", "1 2"];

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });

export default function Recharts({ kind = "area", points, series, format = formatCompact, formatAt, height = 220, stacked = false }: ChartProps) {
  const at = formatAt ?? timeOf(points);
  const data = [...points];
  const axes = (
    <>
      <CartesianGrid stroke="var(--line)" vertical={false} />
      <XAxis dataKey="at" tickFormatter={at} stroke="var(--ink-soft)" fontSize={11} minTickGap={32} tickLine={false} />
      <YAxis tickFormatter={format} stroke="var(--ink-soft)" fontSize={11} width={48} tickLine={false} axisLine={false} />
      <Tooltip
        labelFormatter={(label) => (typeof label === "string" ? at(label) : label)}
        formatter={(value) => format(Number(value))}
        contentStyle={{ background: "var(--panel)", border: "1px solid var(--line)", borderRadius: 6, color: "var(--ink)", fontSize: 12 }}
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
            <Line key={key} {...look} dot={false} connectNulls strokeWidth={2} isAnimationActive={false} />
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

/** Hours when all is within two days, days otherwise. */
function timeOf(points: ChartProps["points"]): (at: string) => string {
  const [first, last] = [points[0]?.["at"], points.at(-1)?.["at"]].map((at) => new Date(at ?? 0).getTime()) as [number, number];
  const format = last - first <= 2 * 86_400_000 ? clock : day;
  return (at) => (Number.isNaN(new Date(at).getTime()) ? at : format.format(new Date(at)));
}
