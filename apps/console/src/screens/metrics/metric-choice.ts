/** The URL with defaults applied. */
import type { Aggregate, MetricGroup, MetricType } from "@pinakes/client";
import { bucketFor, type TimeRange } from "./range.ts";
import type { MetricSearch } from "./routes.ts";

export interface MetricChoice {
  readonly range: TimeRange;
  readonly type: MetricType;
  readonly agent: string | undefined;
  readonly measure: Aggregate;
  readonly group: MetricGroup | "none";
  readonly bucket: string;
}

/** The most useful aggregation per metric type; the average for custom ones. */
const measures: Readonly<Partial<Record<MetricType, Aggregate>>> = {
  latency: "p95",
  token_usage: "sum",
  cost: "sum",
  success_rate: "avg",
  tool_usage: "count",
};

export function choiceOf(
  { type = "latency", agent, measure, group = "agent_id", bucket }: MetricSearch,
  range: TimeRange,
): MetricChoice {
  return { range, type, agent, measure: measure ?? measures[type] ?? "avg", group, bucket: bucket ?? bucketFor(range) };
}
