/** Aggregates over time, by group. Used by metrics and the tool log. */
import type { Aggregate } from "@pinakes/client";
import { useQuery } from "@tanstack/react-query";
import { aggregateOptions, type AggregateQuestion, type AggregateSource } from "../../api/aggregates.ts";
import { metricStrings } from "../../strings/metrics.ts";
import { Chart } from "../../ui/chart.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Empty, ErrorBox, Loading } from "../../ui/states.tsx";
import { drawingOf } from "./aggregate-series.ts";
import { bucketMs } from "./range.ts";

const s = metricStrings.chart;

interface AggregateChartProps {
  readonly title: string;
  readonly source: AggregateSource;
  /** Without bucket and aggregates. */
  readonly question: Omit<AggregateQuestion, "bucket" | "aggregates">;
  readonly bucket: string;
  readonly measure: Aggregate;
  readonly measureLabel: string;
  readonly format: (value: number) => string;
}

export function AggregateChart({
  title,
  source,
  question,
  bucket,
  measure,
  measureLabel,
  format,
}: AggregateChartProps) {
  const totals = useQuery(aggregateOptions(source, { ...question, aggregates: ["count"] }));
  const rows = useQuery(aggregateOptions(source, { ...question, bucket, aggregates: [measure] }));
  const error = rows.error ?? totals.error;
  const retry = () => void Promise.all([rows.refetch(), totals.refetch()]);
  return (
    <Panel
      title={title}
      actions={
        rows.data !== undefined && <span className="text-xs text-soft">{s.rows(rows.data.rows_aggregated)}</span>
      }
    >
      {error !== null ? (
        <ErrorBox error={error} onRetry={retry} />
      ) : rows.data === undefined || totals.data === undefined ? (
        <Loading />
      ) : rows.data.items.length === 0 ? (
        <Empty title={s.nothing}>{s.nothingAbout}</Empty>
      ) : (
        <Drawn
          drawing={drawingOf(rows.data.items, totals.data.items, measure)}
          bucket={bucket}
          measure={measure}
          label={measureLabel}
          format={format}
        />
      )}
    </Panel>
  );
}

interface DrawnProps {
  readonly drawing: ReturnType<typeof drawingOf>;
  readonly bucket: string;
  readonly measure: Aggregate;
  readonly label: string;
  readonly format: (value: number) => string;
}

function Drawn({ drawing: { points, series, groups }, bucket, measure, label, format }: DrawnProps) {
  const stepMs = bucketMs(bucket);
  const adds = measure === "count" || measure === "sum";
  return (
    <>
      <Chart
        label={s.label(label, series.length)}
        kind={adds ? "bar" : "line"}
        stacked={adds}
        whole={measure === "count"}
        points={points}
        series={series}
        format={format}
        height={260}
        {...(stepMs === undefined ? {} : { stepMs })}
      />
      <p className="mt-2 text-xs text-soft">{s.step(s.steps[bucket] ?? bucket)}</p>
      {groups > series.length && <p className="mt-2 text-xs text-soft">{s.shortened(series.length, groups)}</p>}
    </>
  );
}
