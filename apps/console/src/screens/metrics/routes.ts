import { type Aggregate, aggregates, type MetricGroup, type MetricType } from "@pinakes/client";
import { createRoute } from "@tanstack/react-router";
import { metricGroups, metricTypes } from "../../api/agent-metrics.ts";
import { shellRoute } from "../../app/root-route.tsx";
import { oneOfParam, textParam } from "../../lib/search-params.ts";
import { lazyPage } from "../../ui/lazy-page.tsx";
import { bucketNames, rangeSearch, type BucketName, type RangeSearch } from "./range.ts";

export interface MetricSearch extends RangeSearch {
  readonly type?: MetricType | undefined;
  readonly agent?: string | undefined;
  readonly measure?: Aggregate | undefined;
  readonly group?: MetricGroup | "none" | undefined;
  readonly bucket?: BucketName | undefined;
}

const customType = /^custom\.[a-z][a-z0-9_]{0,62}$/;
const customGroup = /^dimensions\.[a-z][a-z0-9_]{0,62}$/;

function typeParam(value: unknown): MetricType | undefined {
  return (
    oneOfParam(value, metricTypes) ??
    (typeof value === "string" && customType.test(value) ? (value as MetricType) : undefined)
  );
}

function groupParam(value: unknown): MetricGroup | "none" | undefined {
  return (
    oneOfParam(value, [...metricGroups, "none"]) ??
    (typeof value === "string" && customGroup.test(value) ? (value as MetricGroup) : undefined)
  );
}

export const metricRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/agent-metrics",
    validateSearch: (search: Record<string, unknown>): MetricSearch => ({
      ...rangeSearch(search),
      type: typeParam(search["type"]),
      agent: textParam(search["agent"]),
      measure: oneOfParam(search["measure"], aggregates),
      group: groupParam(search["group"]),
      bucket: oneOfParam(search["bucket"], bucketNames),
    }),
    component: lazyPage(async () => (await import("./metrics-page.tsx")).MetricsPage),
  }),
] as const;
