import type { Metric, MetricType } from "@pinakes/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { RefreshCw } from "lucide-react";
import { metricsOptions } from "../../api/agent-metrics.ts";
import { moreOf } from "../../api/page.ts";
import { formatDateTime, formatMs, formatNumber } from "../../lib/format.ts";
import { metricStrings as s } from "../../strings/metrics.ts";
import { Button } from "../../ui/button.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Page } from "../../ui/panel.tsx";
import { Empty } from "../../ui/states.tsx";
import { AggregateChart } from "./aggregate-chart.tsx";
import { AggregateTable } from "./aggregate-table.tsx";
import { choiceOf, type MetricChoice } from "./metric-choice.ts";
import { MetricFilters } from "./metric-filters.tsx";
import { typeLabel } from "./metric-names.ts";
import { useTimeRange } from "./range.ts";

const route = getRouteApi("/shell/agent-metrics");

export function MetricsPage() {
  const search = route.useSearch();
  const [range, refresh] = useTimeRange(search);
  const choice = choiceOf(search, range);
  const { type, agent, measure, group } = choice;
  const question = {
    from: range.from,
    to: range.to,
    group_by: group === "none" ? [] : [group],
    filter: { metric_type: type, ...(agent === undefined ? {} : { agent_id: agent }) },
  };
  return (
    <Page
      title={s.title}
      about={s.about}
      actions={
        <Button onClick={refresh}>
          <RefreshCw aria-hidden />
          {s.refresh}
        </Button>
      }
    >
      <MetricFilters choice={choice} />
      <AggregateChart
        title={s.chart.title(s.measures[measure], typeLabel(type))}
        source="metrics"
        question={question}
        bucket={choice.bucket}
        measure={measure}
        measureLabel={s.measures[measure]}
        format={figureFormat(type, measure)}
      />
      <h2 className="text-sm font-semibold">{s.totals.title}</h2>
      <AggregateTable
        source="metrics"
        question={question}
        format={metricFormat(type)}
        hidden={type === "success_rate" ? ["sum"] : []}
      />
      <h2 className="text-sm font-semibold">{s.points.title}</h2>
      <Points choice={choice} />
    </Page>
  );
}

function Points({ choice: { range, type, agent } }: { readonly choice: MetricChoice }) {
  const list = useInfiniteQuery(metricsOptions({ from: range.from, to: range.to, metric_type: type, agent_id: agent }));
  return (
    <DataTable
      label={s.points.table}
      columns={columnsOf(type)}
      items={list.data?.items}
      rowId={({ id }) => id}
      empty={<Empty title={s.points.nothing}>{s.chart.nothingAbout}</Empty>}
      error={list.error}
      onRetry={() => void list.refetch()}
      more={moreOf(list)}
    />
  );
}

function columnsOf(type: MetricType): readonly Column<Metric>[] {
  const format = metricFormat(type);
  const { columns } = s.points;
  return [
    { id: "at", header: columns.at, width: "12rem", cell: ({ timestamp }) => formatDateTime(timestamp) },
    {
      id: "agent",
      header: columns.agent,
      width: "minmax(10rem,16rem)",
      cell: ({ agent_id }) => <span className="truncate">{agent_id}</span>,
    },
    { id: "value", header: columns.value, width: "8rem", align: "right", cell: ({ value }) => format(value) },
    {
      id: "dimensions",
      header: columns.dimensions,
      width: "minmax(24rem,1fr)",
      cell: ({ dimensions }) => <span className="truncate text-soft">{dimensionsText(dimensions)}</span>,
    },
  ];
}

function dimensionsText(dimensions: Metric["dimensions"]): string {
  return Object.entries(dimensions)
    .filter(([, value]) => value !== null && value !== "")
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" · ");
}

const short = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
const percent = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 });
const dollars = new Intl.NumberFormat("en", { style: "currency", currency: "USD", maximumFractionDigits: 4 });

/** A metric value with its unit: latency in milliseconds, cost in dollars, success rate as a ratio. */
function metricFormat(type: MetricType): (value: number) => string {
  if (type === "latency") return formatMs;
  if (type === "cost") return (value) => dollars.format(value);
  if (type === "success_rate") return (value) => percent.format(value);
  return (value) => (Number.isInteger(value) ? formatNumber(value) : short.format(value));
}

/** A sum of ratios is not a ratio. */
function figureFormat(type: MetricType, measure: string): (value: number) => string {
  if (measure === "count" || (type === "success_rate" && measure === "sum")) return (value) => short.format(value);
  return metricFormat(type);
}
