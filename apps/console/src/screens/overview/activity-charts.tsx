/** What the workspace did over time. */
import type { Stats } from "../../api/stats.ts";
import { formatBytes, formatMs, formatSeconds } from "../../lib/format.ts";
import { overviewStrings } from "../../strings/overview.ts";
import { Badge } from "../../ui/badge.tsx";
import { Chart, type ChartProps } from "../../ui/chart.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Empty } from "../../ui/states.tsx";
import { ratesOf, type RatePoint } from "./rates.ts";

const s = overviewStrings.charts;
const height = 180;
const rate = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

export function ActivityCharts({ stats }: { readonly stats: Stats }) {
  const points = ratesOf(stats);
  const step = s.perStep(formatSeconds(stats.stepSeconds));
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <Figure
        title={s.ingest}
        step={step}
        label={s.ingestLabel}
        points={points}
        series={[
          { key: "uploads", label: s.uploads },
          { key: "indexed", label: s.indexed },
          { key: "failed", label: s.failed },
        ]}
      />
      <Figure title={s.searches} step={step} label={s.searchesLabel} points={points} series={[{ key: "searches", label: s.searches }]} />
      <Figure
        title={s.latency}
        step={step}
        label={s.latencyLabel}
        points={points}
        series={[{ key: "search_ms", label: s.latency }]}
        kind="line"
        format={formatMs}
        about={s.meanOnly}
      />
      <Figure
        title={s.bytes}
        step={step}
        label={s.bytesLabel}
        points={points}
        series={[{ key: "bytes", label: s.bytes }]}
        format={(value) => formatBytes(Math.round(value))}
      />
    </div>
  );
}

interface FigureProps extends Pick<ChartProps, "label" | "series" | "kind" | "format"> {
  readonly title: string;
  readonly step: string;
  readonly about?: string;
  readonly points: readonly RatePoint[];
}

function Figure({ title, step, about, points, series, format = (value) => rate.format(value), ...chart }: FigureProps) {
  const nothing = points.every((point) => series.every(({ key }) => (point[key] ?? 0) === 0));
  return (
    <Panel
      title={
        <>
          {title} <span className="font-normal text-soft">{step}</span>
        </>
      }
      actions={<Badge>{overviewStrings.scopes.workspace}</Badge>}
    >
      {nothing ? <Empty title={s.nothing} /> : <Chart {...chart} points={points} series={series} format={format} height={height} />}
      {about !== undefined && <p className="mt-2 text-xs text-soft">{about}</p>}
    </Panel>
  );
}
