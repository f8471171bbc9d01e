import { createRoute } from "@tanstack/react-router";
import { aggregateNames, type AggregateName } from "../../api/aggregates.ts";
import { metricGroups, metricTypes, type MetricGroup, type MetricType } from "../../api/agent-metrics.ts";
import { shellRoute } from "../../app/root-route.tsx";
import { oneOfParam, textParam } from "../../lib/search-params.ts";
import { lazyPage } from "../../ui/lazy-page.tsx";
import { bucketNames, rangeSearch, type BucketName, type RangeSearch } from "./range.ts";

export interface MetricSearch extends RangeSearch {
  readonly type?: MetricType | undefined;
  readonly agent?: string | undefined;
  readonly measure?: AggregateName | undefined;
  readonly group?: MetricGroup | "none" | undefined;
  readonly bucket?: BucketName | undefined;
}

export const metricRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/agent-metrics",
    validateSearch: (search: Record<string, unknown>): MetricSearch => ({
      ...rangeSearch(search),
      type: oneOfParam(search["type"], metricTypes),
      agent: textParam(search["agent"]),
      measure: oneOfParam(search["measure"], aggregateNames),
      group: oneOfParam(search["group"], [...metricGroups, "none"]),
      bucket: oneOfParam(search["bucket"], bucketNames),
    }),
    component: lazyPage(async () => (await import("./metrics-page.tsx")).MetricsPage),
  }),
] as const;
