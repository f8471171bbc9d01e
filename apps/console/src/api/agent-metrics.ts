/** What agents measured. */
import { pagedOptions } from "./page.ts";

export const metricTypes = ["latency", "token_usage", "cost", "success_rate", "tool_usage"] as const;
export type MetricType = (typeof metricTypes)[number];
export const metricGroups = ["agent_id", "model", "environment", "tool_name", "workflow_id", "session_id"] as const;
export type MetricGroup = (typeof metricGroups)[number];

export interface Metric {
  readonly id: string;
  readonly agent_id: string;
  readonly metric_type: MetricType;
  readonly timestamp: string;
  readonly value: number;
  readonly dimensions: Readonly<Record<string, unknown>>;
}

export interface MetricQuery {
  readonly from: string;
  readonly to: string;
  readonly metric_type: MetricType;
  readonly agent_id: string | undefined;
}

export function metricsOptions(query: MetricQuery) {
  return pagedOptions<Metric>(["metrics", "list"], "/v1/metrics", { ...query });
}
