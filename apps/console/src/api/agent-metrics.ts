/** What agents measured. */
import { queryOptions } from "@tanstack/react-query";
import { pagedOptions } from "./page.ts";
import { get } from "./request.ts";

export const metricTypes = ["latency", "token_usage", "cost", "success_rate", "tool_usage"] as const;
/** `custom.<name>`: one of the workspace's own. */
export type MetricType = (typeof metricTypes)[number] | `custom.${string}`;
export const metricGroups = ["agent_id", "model", "environment", "tool_name", "workflow_id", "session_id"] as const;
/** `dimensions.<name>`: one of the workspace's own. */
export type MetricGroup = (typeof metricGroups)[number] | `dimensions.${string}`;

/** The custom names in use. */
export interface MetricNames {
  readonly types: readonly `custom.${string}`[];
  readonly dimensions: readonly `dimensions.${string}`[];
}

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

export function metricNamesOptions() {
  return queryOptions({
    queryKey: ["metrics", "names"],
    queryFn: ({ signal }) => get<MetricNames>("/v1/metrics/names", { signal }),
  });
}
