/** Metrics over HTTP. */
import { fixedMetricGroups, rollupStates, type MetricAggregate } from "@pinakes/client";
import type * as wire from "@pinakes/client";
import { z } from "zod";
import { pageOf, shape } from "../../contract/index.ts";
import { dimensionPattern, metricTypeSchema, type State } from "../../state/index.ts";
import { defineRoute, noContent, ok, type Route } from "../framework/index.ts";
import { AggregateAnswer, aggregateBody, ingestRoute, timeList, timeRange } from "./series-schemas.ts";

const tag = "metrics";

const MetricAnswer = shape<wire.Stored<wire.Metric>, "ttl">()(
  z
    .looseObject({
      id: z.string(),
      metric_date: z.string(),
      agent_id: z.string(),
      workspace_id: z.string(),
      metric_type: metricTypeSchema,
      timestamp: z.string(),
      value: z.number(),
      dimensions: z.looseObject({}),
      created_at: z.string(),
      _etag: z.string(),
      _ts: z.number(),
    })
    .meta({ id: "Metric" }),
);
const RollupAnswer = shape<wire.Rollup>()(
  z
    .object({
      metric_date: z.string(),
      hour: z.number(),
      rows: z.number(),
      state: z.enum(rollupStates),
      sealed_at: z.string().nullable(),
    })
    .meta({ id: "Rollup" }),
);

const NamesAnswer = shape<wire.MetricNames>()(
  z
    .object({
      types: z.array(z.string()).describe("`custom.<name>`, as `metric_type`."),
      dimensions: z.array(z.string()).describe("`dimensions.<name>`, as `group_by` and `filter` accept it."),
      types_max: z.number(),
      dimensions_max: z.number(),
    })
    .meta({ id: "MetricNames" }),
);
const group = z
  .string()
  .meta({ pattern: `^(?:${fixedMetricGroups.join("|")}|${dimensionPattern})$` })
  .describe(`${fixedMetricGroups.join(", ")}, or \`dimensions.<name>\` for a custom dimension.`);

export function metricRoutes(state: State): readonly Route[] {
  return [...rowRoutes(state), ...nameRoutes(state)];
}

function nameRoutes({ metrics }: State): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/metrics/names",
      operationId: "listMetricNames",
      summary: "List the custom types and dimensions in use",
      tag,
      auth: "caller",
      answers: { 200: { description: "Sorted, with their limits.", schema: NamesAnswer } },
      handler: async ({ caller }) => ok(await metrics.names(caller)),
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/metrics/names/{name}",
      operationId: "forgetMetricName",
      summary: "Unregister a custom name to make room for another; admins only",
      description: "Rows with the name stay and can be queried. A new row that uses it registers it again.",
      tag,
      auth: "caller",
      params: z.object({ name: z.string().describe("`custom.<name>` or `dimensions.<name>`.") }),
      answers: { 204: { description: "Forgotten." } },
      handler: async ({ caller, params }) => {
        await metrics.forgetName(caller, params.name);
        return noContent();
      },
    }),
  ];
}

function rowRoutes({ metrics }: State): readonly Route[] {
  return [
    ingestRoute(
      {
        path: "/v1/metrics:ingest",
        operationId: "ingestMetrics",
        summary: "Ingest up to 10,000 metrics",
        description:
          "NDJSON (one metric per line), or JSON `{ items: [...] }`. `metric_type` is a fixed one or `custom.<name>`; `dimensions` accepts up to 16 custom names beside the fixed ones. A workspace has at most 200 custom types and 100 dimension names. Each line succeeds or fails independently and is reported by its number; a line that repeats an id with the same content changes nothing.",
        tag,
      },
      (caller, lines, options) => metrics.ingestLines(caller, lines, options),
    ),
    defineRoute({
      method: "GET",
      path: "/v1/metrics",
      operationId: "listMetrics",
      summary: "List metrics in time order, over any number of days",
      tag,
      auth: "caller",
      query: z.object({ ...timeList, agent_id: z.string().optional(), metric_type: metricTypeSchema.optional() }),
      answers: { 200: { description: "A page, newest first by default.", schema: pageOf(MetricAnswer) } },
      handler: async ({ caller, query }) => ok(await metrics.list(caller, query)),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/metrics:aggregate",
      operationId: "aggregateMetrics",
      summary: "Aggregate metrics: count, sum, average, extremes and exact percentiles, by time and dimension",
      description:
        "Default: the last 24 hours; at most 400 days, 100,000 result rows, and 10,000 distinct values of a custom dimension.",
      tag,
      auth: "caller",
      body: aggregateBody(group),
      readOnlyOk: true,
      answers: { 200: { description: "By bucket, then by group.", schema: AggregateAnswer } },
      handler: async ({ caller, body }) => ok(await metrics.aggregate(caller, body as MetricAggregate)),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/metrics/rollups",
      operationId: "listRollups",
      summary: "List the hours that have metrics, and which of them are sealed",
      tag,
      auth: "caller",
      query: z.object(timeRange),
      answers: { 200: { description: "A page, oldest first.", schema: pageOf(RollupAnswer) } },
      handler: async ({ caller, query }) => ok(await metrics.rollups(caller, query)),
    }),
  ];
}
