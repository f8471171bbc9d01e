/** Metrics over HTTP. */
import { z } from "zod";
import { metricTypes, type State } from "../../state/index.ts";
import { defineRoute, ok, type Route } from "../kit/index.ts";
import { AggregateAnswer, aggregateBody, ingestRoute, timeList, timeRange } from "./series-schemas.ts";
import { pageOf } from "./schemas.ts";

const tag = "metrics";

const MetricAnswer = z
  .looseObject({
    id: z.string(),
    metric_date: z.string(),
    agent_id: z.string(),
    workspace_id: z.string(),
    metric_type: z.enum(metricTypes),
    timestamp: z.string(),
    value: z.number(),
    dimensions: z.looseObject({}),
    created_at: z.string(),
    _etag: z.string(),
    _ts: z.number(),
  })
  .meta({ id: "Metric" });
const RollupAnswer = z
  .object({ metric_date: z.string(), hour: z.number(), rows: z.number(), state: z.enum(["sealed", "open"]), sealed_at: z.string().nullable() })
  .meta({ id: "Rollup" });

export function metricRoutes({ metrics }: State): readonly Route[] {
  return [
    ingestRoute(
      {
        path: "/v1/metrics:ingest",
        operationId: "ingestMetrics",
        summary: "Add up to 10,000 metrics",
        description:
          "NDJSON (one metric a line), or JSON `{ items: [...] }`. Each line ends by itself and is told by its number; a line whose id is there with the same content changes nothing.",
        tag,
      },
      (caller, lines, options) => metrics.ingestLines(caller, lines, options),
    ),
    defineRoute({
      method: "GET",
      path: "/v1/metrics",
      operationId: "listMetrics",
      summary: "Metrics in the order of their time, over any days",
      tag,
      auth: "caller",
      query: z.object({ ...timeList, agent_id: z.string().optional(), metric_type: z.enum(metricTypes).optional() }),
      answers: { 200: { description: "A page, newest first unless asked otherwise.", schema: pageOf(MetricAnswer) } },
      handler: async ({ caller, query }) => ok(await metrics.list(caller, query)),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/metrics:aggregate",
      operationId: "aggregateMetrics",
      summary: "Count, sum, average, extremes and exact percentiles, by time and dimension",
      description: "The last 24 hours unless said otherwise, at most 400 days; at most 100,000 rows in the answer.",
      tag,
      auth: "caller",
      body: aggregateBody(["agent_id", "metric_type", "session_id", "workflow_id", "environment", "model", "tool_name"]),
      readOnlyOk: true,
      answers: { 200: { description: "By bucket, then by group.", schema: AggregateAnswer } },
      handler: async ({ caller, body }) => ok(await metrics.aggregate(caller, body)),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/metrics/rollups",
      operationId: "listRollups",
      summary: "Hours that have metrics, and which of them are sealed",
      tag,
      auth: "caller",
      query: z.object(timeRange),
      answers: { 200: { description: "A page, oldest first.", schema: pageOf(RollupAnswer) } },
      handler: async ({ caller, query }) => ok(await metrics.rollups(caller, query)),
    }),
  ];
}
