/** The container of tool invocations: documents, indexes, and what the containers API may do with them. */
import { toolStatuses, type IndexingPolicy } from "@pinakes/client";
import { z } from "zod";
import { days, defineContainer } from "../../containers/index.ts";
import { PinakesError } from "../../domain/errors.ts";
import type { SystemContainer } from "../system-container.ts";
import type { ListIndex } from "./list-choice.ts";
import type { Series } from "./series.ts";
import { moment } from "./time.ts";

const name = z.string().min(1).max(256);
const text = z.string().default("");

export const toolSchema = z
  .looseObject({
    id: name,
    tool_date: z.string(),
    tool_name: name,
    agent_id: name,
    workspace_id: z.string(),
    session_id: name,
    workflow_id: name.nullable().default(null),
    timestamp: moment(),
    status: z.enum(toolStatuses),
    duration_ms: z.number().min(0),
    input_args: z.record(z.string(), z.json()).default({}),
    output_result: z.json().default(null),
    error_details: z
      .looseObject({ error_type: z.string().default("error"), error_message: text, stack_trace: text })
      .nullable()
      .default(null),
    security_context: z
      .looseObject({ user_id: z.string().nullable().default(null), ip_address: text, user_agent: text })
      .prefault({}),
    created_at: moment(),
    ttl: z.number().optional(),
  })
  .refine(({ status, error_details }) => status !== "error" || error_details !== null, {
    path: ["error_details"],
    message: 'is required when status is "error": { error_type, error_message, stack_trace }',
  });

const toolPolicy: IndexingPolicy = {
  indexingMode: "consistent",
  automatic: true,
  includedPaths: [
    { path: "/tool_date/?" },
    { path: "/tool_name/?" },
    { path: "/agent_id/?" },
    { path: "/workspace_id/?" },
    { path: "/status/?" },
    { path: "/timestamp/?" },
  ],
  excludedPaths: [
    { path: "/_etag/?" },
    { path: "/input_args/*" },
    { path: "/output_result/*" },
    { path: "/error_details/*" },
  ],
  compositeIndexes: [
    [
      { path: "/tool_date", order: "descending" },
      { path: "/tool_name", order: "ascending" },
      { path: "/status", order: "ascending" },
    ],
  ],
};

const ttlSeconds = days(90);

/** One index for each question an auditor asks. A tenth of the metrics' rows, each ten times as large: an index entry is little beside them. */
const container = defineContainer({
  name: "tool-invocations",
  partitionKey: ["tool_date"],
  schema: toolSchema,
  indexes: {
    byTime: { partition: ["workspace_id"], sort: ["timestamp"] },
    byTool: { partition: ["tool_name"], sort: ["timestamp"] },
    byAgent: { partition: ["agent_id"], sort: ["timestamp"] },
    byAgentTool: { partition: ["agent_id", "tool_name"], sort: ["timestamp"] },
    bySession: { partition: ["session_id"], sort: ["timestamp"] },
    byWorkflow: { partition: ["workflow_id"], sort: ["timestamp"] },
    byStatus: { partition: ["status"], sort: ["timestamp"] },
    byDate: {
      partition: ["workspace_id"],
      sort: [{ path: "tool_date", order: "desc" }, "tool_name", "status", "timestamp"],
    },
  },
  ttl: ttlSeconds,
  feed: true,
});

const byTool = { index: "byTool", by: ["tool_name"] } as const;

/** For lists, the most selective first. One tool's calls of one status lie together in the source's composite index, day after day. */
export const toolIndexes: readonly ListIndex[] = [
  { index: "bySession", by: ["session_id"] },
  { index: "byWorkflow", by: ["workflow_id"] },
  { index: "byAgentTool", by: ["agent_id", "tool_name"] },
  { index: "byAgent", by: ["agent_id"] },
  { index: "byDate", by: ["tool_name", "status"], days: byTool },
  byTool,
  { index: "byStatus", by: ["status"] },
];

export const toolSeries: Series = Object.freeze({
  name: "tools",
  container: container.definition.name,
  dateField: "tool_date",
  timeIndex: "byTime",
  idPrefix: "tool-",
  schema: toolSchema,
  valueField: "duration_ms",
  dimensions: {
    tool_name: ["tool_name"],
    agent_id: ["agent_id"],
    status: ["status"],
    session_id: ["session_id"],
    workflow_id: ["workflow_id"],
  },
  customDimensions: false,
  ttlSeconds,
  fields: {
    security_context: ["user_id", "ip_address", "user_agent"],
    error_details: ["error_type", "error_message", "stack_trace"],
  },
} satisfies Series);

const appendOnly =
  "Tool invocations are an audit trail: they are only added, after redaction. Use POST /v1/tool-invocations:ingest.";

export const toolInvocations: SystemContainer = Object.freeze({
  definition: container.definition,
  schema: toolSchema,
  policy: toolPolicy,
  appendOnly,
  scanIndex: "byTime",
  // Also a new one: here nobody could redact it, or give it its place in the chain.
  prepare: () => {
    throw new PinakesError("CONFLICT", appendOnly);
  },
} satisfies SystemContainer);
