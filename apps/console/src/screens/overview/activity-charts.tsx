import type { Stats, StatsRange } from "../../api/stats.ts";
import { formatBytes } from "../../lib/format.ts";
import { overviewStrings } from "../../strings/overview.ts";
import { Chart, type ChartProps } from "../../ui/chart.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Empty } from "../../ui/states.tsx";

const s = overviewStrings.charts;
const height = 180;
const rate = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

export function ActivityCharts({ stats, range }: { readonly stats: Stats; readonly range: StatsRange }) {
  const points = ratesOf(stats);
  return (
    <section className="flex flex-col gap-3" aria-label={s.title}>
      <p className="text-sm text-soft">{s.about(s.steps[range])}</p>
      <div className="grid gap-4 lg:grid-cols-2">
        <Figure
          title={s.ingest}
          label={s.ingestLabel}
          points={points}
          series={[
            { key: "uploads", label: s.uploads },
            { key: "indexed", label: s.indexed },
            { key: "failed", label: s.failed },
          ]}
        />
        <Figure
          title={s.searches}
          label={s.searchesLabel}
          points={points}
          series={[{ key: "searches", label: s.searches }]}
        />
        <Figure
          title={s.latency}
          label={s.latencyLabel}
          points={points}
          series={[{ key: "search_ms", label: s.latency }]}
          kind="line"
          about={s.meanOnly}
        />
        <Figure
          title={s.bytes}
          label={s.bytesLabel}
          points={points}
          series={[{ key: "bytes", label: s.bytes }]}
          format={(value) => formatBytes(Math.round(value))}
        />
      </div>
    </section>
  );
}

interface FigureProps extends Pick<ChartProps, "label" | "series" | "kind" | "format"> {
  readonly title: string;
  readonly about?: string;
  readonly points: readonly RatePoint[];
}

function Figure({ title, about, points, series, format = (value) => rate.format(value), ...chart }: FigureProps) {
  const nothing = points.every((point) => series.every(({ key }) => (point[key] ?? 0) === 0));
  return (
    <Panel title={title}>
      {nothing ? (
        <Empty title={s.nothing} />
      ) : (
        <Chart {...chart} points={points} series={series} format={format} height={height} />
      )}
      {about !== undefined && <p className="mt-2 text-xs text-soft">{about}</p>}
    </Panel>
  );
}

/** Converts counts per step to rates, which are comparable across step sizes. */
interface RatePoint {
  readonly at: string;
  readonly uploads: number;
  readonly indexed: number;
  readonly failed: number;
  readonly searches: number;
  readonly bytes: number;
  /** Per search; null without searches. */
  readonly search_ms: number | null;
  readonly [more: string]: string | number | null;
}

/** Minimum duration of the current step: a step that just started would fluctuate with every search. */
const stepSecondsMin = 15;

export function ratesOf({ points, to, stepSeconds }: Stats): readonly RatePoint[] {
  return points.map((point) => {
    const passed = Math.min(stepSeconds, Math.max(stepSecondsMin, (to - Date.parse(point.at)) / 1000));
    const perMinute = (count: number) => (count * 60) / passed;
    return {
      at: point.at,
      uploads: perMinute(point.uploads),
      indexed: perMinute(point.documents_indexed),
      failed: perMinute(point.documents_failed),
      searches: perMinute(point.searches),
      bytes: perMinute(point.upload_bytes),
      search_ms: point.searches === 0 ? null : point.search_ms / point.searches,
    };
  });
}
