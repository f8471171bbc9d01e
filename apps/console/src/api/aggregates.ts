/** Figures over time, of metrics and of the tool log: both are asked for in the same way. */
import { queryOptions } from "@tanstack/react-query";
import { post } from "./request.ts";

export const aggregateNames = ["count", "sum", "avg", "min", "max", "p50", "p95", "p99"] as const;
export type AggregateName = (typeof aggregateNames)[number];

export interface AggregateQuestion {
  readonly from: string;
  readonly to: string;
  readonly bucket?: string | undefined;
  readonly aggregates: readonly AggregateName[];
  readonly group_by?: readonly string[] | undefined;
  readonly filter?: Readonly<Record<string, string>> | undefined;
}

export interface AggregateRow {
  readonly bucket: string | null;
  readonly group: Readonly<Record<string, string | null>>;
  readonly values: Readonly<Partial<Record<AggregateName, number | null>>>;
}

export interface AggregateAnswer {
  readonly items: readonly AggregateRow[];
  readonly rows_aggregated: number;
  readonly from: string;
  readonly to: string;
}

export type AggregateSource = "metrics" | "tool-invocations";

export function aggregateOptions(source: AggregateSource, question: AggregateQuestion) {
  return queryOptions({
    queryKey: [source, "aggregate", question],
    queryFn: ({ signal }) => post<AggregateAnswer>(`/v1/${source}:aggregate`, question, { signal }),
  });
}
