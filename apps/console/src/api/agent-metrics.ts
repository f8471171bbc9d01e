import type { Metric, MetricNames, MetricType } from "@pinakes/client";
import { queryOptions } from "@tanstack/react-query";
import { pagedOptions } from "./page.ts";
import { get } from "./request.ts";

export const metricTypes = ["latency", "token_usage", "cost", "success_rate", "tool_usage"] as const;
export const metricGroups = ["agent_id", "model", "environment", "tool_name", "workflow_id", "session_id"] as const;
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
