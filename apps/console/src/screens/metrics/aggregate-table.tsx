import { type Aggregate, type AggregateRow, aggregates } from "@pinakes/client";
import { useQuery } from "@tanstack/react-query";
import { aggregateOptions, type AggregateQuestion, type AggregateSource } from "../../api/aggregates.ts";
import { formatNumber } from "../../lib/format.ts";
import { metricStrings } from "../../strings/metrics.ts";
import { DataTable, type Column, type Sorting } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/states.tsx";
import { useState } from "react";
import { groupLabel } from "./aggregate-series.ts";

const s = metricStrings;

interface AggregateTableProps {
  readonly source: AggregateSource;
  readonly question: Omit<AggregateQuestion, "bucket" | "aggregates">;
  readonly format: (value: number) => string;
  readonly hidden?: readonly Aggregate[];
}

export function AggregateTable({ source, question, format, hidden = [] }: AggregateTableProps) {
  const [sorting, setSorting] = useState<Sorting | undefined>({ id: "count", desc: true });
  const totals = useQuery(aggregateOptions(source, { ...question, aggregates: aggregates }));
  const columns: readonly Column<AggregateRow>[] = [
    {
      id: "group",
      header: s.totals.group,
      value: groupLabel,
      cell: (row) => <span className="truncate font-medium">{groupLabel(row)}</span>,
      width: "minmax(11rem,1fr)",
    },
    ...aggregates
      .filter((name) => !hidden.includes(name))
      .map((name): Column<AggregateRow> => ({
        id: name,
        header: name,
        align: "right",
        width: "minmax(6rem,8rem)",
        value: ({ values }) => values[name],
        cell: ({ values }) => valueText(values[name], name === "count" ? formatNumber : format),
      })),
  ];
  return (
    <DataTable
      label={s.totals.table}
      columns={columns}
      items={totals.data?.items}
      rowId={groupLabel}
      sorting={sorting}
      onSort={setSorting}
      empty={<Empty title={s.chart.nothing} />}
      error={totals.error}
      onRetry={() => void totals.refetch()}
      className="max-h-80"
    />
  );
}

function valueText(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? "" : format(value);
}
