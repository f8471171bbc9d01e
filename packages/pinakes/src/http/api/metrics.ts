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
      dimensions: z.array(z.string()).describe("`dimensions.<name>`, as `group_by` and `filter` take it."),
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
      summary: "The custom types and dimensions in use",
      tag,
      auth: "caller",
      answers: { 200: { description: "Sorted, with how many there may be.", schema: NamesAnswer } },
      handler: async ({ caller }) => ok(await metrics.names(caller)),
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/metrics/names/{name}",
      operationId: "forgetMetricName",
      summary: "Make room for another custom name; for admins",
      description: "Rows that have the name stay, and queries find them. A row that uses it again registers it again.",
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
        summary: "Add up to 10,000 metrics",
        description:
          "NDJSON (one metric a line), or JSON `{ items: [...] }`. `metric_type` is a fixed one or `custom.<name>`; `dimensions` takes up to 16 custom ones beside the fixed. A workspace has at most 200 custom types and 100 names of dimensions. Each line ends by itself and is told by its number; a line whose id is there with the same content changes nothing.",
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
      query: z.object({ ...timeList, agent_id: z.string().optional(), metric_type: metricTypeSchema.optional() }),
      answers: { 200: { description: "A page, newest first unless asked otherwise.", schema: pageOf(MetricAnswer) } },
      handler: async ({ caller, query }) => ok(await metrics.list(caller, query)),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/metrics:aggregate",
      operationId: "aggregateMetrics",
      summary: "Count, sum, average, extremes and exact percentiles, by time and dimension",
      description:
        "The last 24 hours unless said otherwise, at most 400 days; at most 100,000 rows in the answer, and 10,000 different values of a custom dimension.",
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
      summary: "Hours that have metrics, and which of them are sealed",
      tag,
      auth: "caller",
      query: z.object(timeRange),
      answers: { 200: { description: "A page, oldest first.", schema: pageOf(RollupAnswer) } },
      handler: async ({ caller, query }) => ok(await metrics.rollups(caller, query)),
    }),
  ];
}
