/** The container of metrics: documents, indexes, and its rules for writes through the containers API. */
import { randomUUID } from "node:crypto";
import type { IndexingPolicy } from "@pinakes/client";
import { z } from "zod";
import { days, defineContainer } from "../../containers/index.ts";
import type { SystemContainer } from "../system-container.ts";
import { checkDimensions, fixedDimensions, metricTypeSchema } from "./custom-names.ts";
import type { ListIndex } from "./list-choice.ts";
import { admitNames } from "./metric-names.ts";
import { prepareRow } from "./ingest/prepare-row.ts";
import type { Series } from "./series.ts";
import { stampCompanions } from "./stamps.ts";
import { moment } from "./time.ts";

const name = z.string().min(1).max(256);
const label = z.string().max(256).default("");

export const metricSchema = z.looseObject({
  id: name,
  metric_date: z.string(),
  agent_id: name,
  workspace_id: z.string(),
  metric_type: metricTypeSchema,
  timestamp: moment(),
  value: z.number(),
  dimensions: z
    .looseObject({
      session_id: label,
      workflow_id: label,
      environment: label,
      model: label,
      tool_name: z.string().max(256).nullable().default(null),
    })
    .superRefine(checkDimensions)
    .prefault({}),
  created_at: moment(),
  ttl: z.number().optional(),
});

const metricPolicy: IndexingPolicy = {
  indexingMode: "consistent",
  automatic: true,
  includedPaths: [
    { path: "/metric_date/?" },
    { path: "/agent_id/?" },
    { path: "/workspace_id/?" },
    { path: "/metric_type/?" },
    { path: "/timestamp/?" },
  ],
  excludedPaths: [{ path: "/_etag/?" }],
  compositeIndexes: [
    [
      { path: "/metric_date", order: "descending" },
      { path: "/agent_id", order: "ascending" },
      { path: "/metric_type", order: "ascending" },
    ],
  ],
};

const ttlSeconds = days(180);

/**
 * Three indexes, since a day may have a million rows and each costs every row an insert. All begin with what companions do not have,
 * so none holds one. A timestamp begins with its date: one order by time runs over all days.
 */
const container = defineContainer({
  name: "agent-metrics",
  partitionKey: ["metric_date"],
  schema: metricSchema,
  indexes: {
    byTime: { partition: ["workspace_id"], sort: ["timestamp"] },
    byAgent: { partition: ["agent_id"], sort: ["timestamp"] },
    byDate: {
      partition: ["workspace_id"],
      sort: [{ path: "metric_date", order: "desc" }, "agent_id", "metric_type", "timestamp"],
    },
  },
  ttl: ttlSeconds,
});

const byAgent = { index: "byAgent", by: ["agent_id"] } as const;

/** For lists. An agent's metrics of one type lie together in the source's composite index, one day after the other. */
export const metricIndexes: readonly ListIndex[] = [
  { index: "byDate", by: ["agent_id", "metric_type"], days: byAgent },
  byAgent,
];

export const metricSeries: Series = Object.freeze({
  name: "metrics",
  container: container.definition.name,
  dateField: "metric_date",
  timeIndex: "byTime",
  idPrefix: "metric-",
  schema: metricSchema,
  valueField: "value",
  dimensions: {
    agent_id: ["agent_id"],
    metric_type: ["metric_type"],
    session_id: ["dimensions", "session_id"],
    workflow_id: ["dimensions", "workflow_id"],
    environment: ["dimensions", "environment"],
    model: ["dimensions", "model"],
    tool_name: ["dimensions", "tool_name"],
  },
  customDimensions: true,
  ttlSeconds,
  fields: { dimensions: fixedDimensions },
} satisfies Series);

/** An existing row keeps its values. */
const storedSeries: Series = { ...metricSeries, fields: {} };

export const agentMetrics: SystemContainer = Object.freeze({
  definition: container.definition,
  schema: metricSchema,
  policy: metricPolicy,
  scanIndex: "byTime",
  prepare: ({ caller, before, document, now }) =>
    prepareRow(before === undefined ? metricSeries : storedSeries, caller.scope.tenant, document, now, randomUUID)
      .document,
  admit: async (items, scope, documents) => {
    const rows = documents.map((document) => ({ document }));
    for (const error of (await admitNames({ items, scope, allOrNothing: true }, rows)).values()) throw error;
  },
  companions: (operations) => stampCompanions(metricSeries, operations),
} satisfies SystemContainer);
