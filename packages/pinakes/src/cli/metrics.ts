/** `pinakes metrics …`: figures of agents over time. */
import type { Metric, MetricGroup, MetricType } from "@pinakes/client";
import { defineCommand, type Group } from "./command.ts";
import { grid, inTime } from "./layout.ts";
import { aggregateOptions, aggregateText, askedAggregate, shortened } from "./metrics-aggregate.ts";
import { ingestCommand } from "./metrics-ingest.ts";
import { rangeOf, rangeOptions } from "./metrics-time.ts";
import { listOptions, moreBelow, readPages } from "./pages.ts";
import { nothingIn } from "./place.ts";
import { actorOptions, withStores } from "./session.ts";
import type { Terminal } from "./terminal.ts";

const types = ["latency", "token_usage", "cost", "success_rate", "tool_usage"] as const satisfies readonly MetricType[];
const groups = ["agent_id", "metric_type", "session_id", "workflow_id", "environment", "model", "tool_name"] as const satisfies readonly MetricGroup[];

const ingest = ingestCommand({
  group: "metrics",
  summary: "take in metrics from a file, or from a pipe",
  take: (state, caller, lines) => state.metrics.ingestLines(caller, lines),
});

const list = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "single metrics, newest first",
  options: {
    agent: { type: "string", value: "ID", help: "of this agent" },
    type: { type: "string", value: "TYPE", help: types.join(", ") },
    ...rangeOptions,
    order: { type: "string", value: "ORDER", help: "asc, desc (desc)" },
    ...listOptions,
    ...actorOptions,
  },
  examples: ["pinakes metrics list --type latency --from 24h", "pinakes metrics list --agent agent-1 --from 2030-01-01 --to 2030-02-01 --json"],
  run: async (call) => {
    const { given, terminal } = call;
    const query = {
      agent_id: given.text("agent"),
      metric_type: given.oneOf("type", types),
      order: given.oneOf("order", ["asc", "desc"] as const),
      ...rangeOf(given, Date.now()),
    };
    return withStores(call, async ({ pinakes: { state }, caller, ...place }) => {
      const page = await readPages(given, (paging) => state.metrics.list(caller, { ...query, ...paging }));
      return { answer: page, show: () => (page.items.length === 0 ? nothingIn(place) : metricsText(terminal, page.items) + moreBelow(page)) };
    });
  },
});

const aggregate = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "count, sum, average, extremes and exact percentiles, by time and by what metrics are of",
  details: "Different types of metrics have different units: filter by one, or ask by metric_type.",
  options: { ...aggregateOptions(groups), ...actorOptions },
  examples: [
    "pinakes metrics aggregate --by metric_type --from 7d",
    "pinakes metrics aggregate --filter metric_type=latency --by agent_id,model --bucket hour --values count,avg,p95 --from 24h",
  ],
  run: async (call) => {
    const asked = askedAggregate(call.given, { groups, without: ["tool_name"] }, Date.now());
    return withStores(call, async ({ pinakes: { state }, caller, ...place }) => {
      const result = await state.metrics.aggregate(caller, asked);
      return { answer: result, show: () => aggregateText(call.terminal, result, place) };
    });
  },
});

export const metrics: Group = { summary: "figures of agents over time: latency, tokens, cost, …", commands: { ingest, list, aggregate } };

function metricsText(terminal: Terminal, items: readonly Metric[]): string {
  return grid(
    terminal,
    items.map(({ timestamp, agent_id, metric_type, value, dimensions, id }) => ({
      time: inTime(timestamp),
      agent: agent_id,
      type: metric_type,
      value: shortened(value),
      model: dimensions.model,
      tool: dimensions.tool_name ?? "",
      environment: dimensions.environment,
      id,
    })),
    { whole: ["time", "type"], optional: ["model", "tool", "environment", "id"] },
  );
}
