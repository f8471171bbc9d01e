/** Metrics, tool invocations, and read-only SQL over the containers of the state. */
import { aggregates, toolStatuses, type MetricAggregate } from "@pinakes/client";
import { z } from "zod";
import { jsonValue } from "../../contract/index.ts";
import { defineTool, reads, type McpTool } from "../tool.ts";
import { agentId, document, nextCursor, paging, sessionId, workflowId } from "./fields.ts";

const time = (what: string) => z.string().max(40).optional().describe(`${what}, ISO 8601 UTC.`);
const range = { from: time("From, included"), to: time("To (exclusive)") };
const dimension = z.string().min(1).max(64);
const rowsMax = 1_000;

export const seriesTools: readonly McpTool[] = [
  defineTool({
    name: "metrics_query",
    title: "Aggregate metrics",
    description:
      'Counts, sums, averages and exact percentiles of agents\' metrics, by time bucket and dimension. Filter with {"metric_type": "latency", "agent_id": "a1"}.',
    input: z.strictObject({
      aggregates: z.array(z.enum(aggregates)).min(1).max(aggregates.length),
      bucket: z
        .string()
        .max(16)
        .optional()
        .describe('minute, hour, day, or "5m", "6h"; one row per group when absent.'),
      group_by: z.array(dimension).max(5).optional(),
      filter: z.record(dimension, z.string().nullable()).optional(),
      ...range,
    }),
    output: z.object({
      items: z.array(
        z.looseObject({ bucket: z.string().nullable(), group: z.record(z.string(), z.string().nullable()) }),
      ),
      rows_aggregated: z.number(),
      from: z.string(),
      to: z.string(),
    }),
    annotations: reads,
    run: async ({ state }, query) => ({ structured: await state.metrics.aggregate(query as MetricAggregate) }),
  }),
  defineTool({
    name: "tool_log_search",
    title: "Search the tool log",
    description: "Tool invocations of agents, newest first: what was called, with which result, and how long it took.",
    input: z.strictObject({
      tool_name: z.string().min(1).max(256).optional(),
      agent_id: agentId.optional(),
      session_id: sessionId.optional(),
      workflow_id: workflowId.optional(),
      status: z.enum(toolStatuses).optional(),
      ...range,
      ...paging,
    }),
    output: z.object({
      items: z.array(
        document({ id: z.string(), tool_name: z.string(), status: z.enum(toolStatuses), duration_ms: z.number() }),
      ),
      next_cursor: nextCursor,
    }),
    annotations: reads,
    run: async ({ state }, { limit = 20, ...query }) => ({
      structured: await state.tools.list({ ...query, limit }),
    }),
  }),
  defineTool({
    name: "state_query",
    title: "Query state with SQL",
    description:
      'A read-only SELECT in the SQL subset of Cosmos DB over one container (workflow-states, agent-memories, agent-metrics, tool-invocations, thread-message-store, or your own), such as "SELECT c.name, c.status FROM c WHERE c.status = @status".',
    input: z.strictObject({
      container: z.string().min(1).max(256),
      query: z.string().min(1).max(65_536),
      parameters: z
        .array(z.strictObject({ name: z.string().min(1).max(128), value: jsonValue() }))
        .max(100)
        .optional()
        .describe('[{ "name": "@status", "value": "failed" }]'),
      limit: z.number().int().min(1).max(rowsMax).optional().describe(`Rows; 1–${rowsMax}, 100 when absent.`),
      cursor: paging.cursor,
    }),
    output: z.object({
      items: z.array(jsonValue()),
      next_cursor: nextCursor,
      advice: z.string().optional().describe("An index that would make the query faster."),
    }),
    annotations: reads,
    run: async ({ state }, { container, limit = 100, ...query }) => ({
      structured: await state.containers.query(container, { ...query, limit }),
    }),
  }),
];
