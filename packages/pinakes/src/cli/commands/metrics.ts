/** `pinakes metrics …`: metrics of agents over time. */
import {
  fixedMetricGroups,
  fixedMetricTypes,
  type Metric,
  type MetricGroup,
  type MetricNames,
  type MetricType,
  type NewMetric,
} from "@pinakes/client";
import { defineCommand, UsageError, type Given, type Group } from "../terminal/command.ts";
import { grid, inTime } from "../terminal/layout.ts";
import { aggregateOptions, aggregateText, askedAggregate, shortened } from "./metrics-aggregate.ts";
import { ingestCommand } from "./metrics-ingest.ts";
import { rangeOf, rangeOptions } from "./metrics-time.ts";
import { listOptions, moreBelow, readPages } from "../terminal/pages.ts";
import { nothingIn } from "../store-location.ts";
import { withClient } from "../client-session.ts";
import { actorOptions } from "../session.ts";
import type { Terminal } from "../terminal/terminal.ts";

const isCustom = (text: string): text is MetricGroup => text.startsWith("dimensions.");

const ingest = ingestCommand({
  group: "metrics",
  summary: "ingest metrics from a file or a pipe",
  take: (state, rows) => state.metrics.ingest(rows as readonly NewMetric[]),
});

const list = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "list list single metrics, newest first",
  options: {
    agent: { type: "string", value: "ID", help: "of this agent" },
    type: { type: "string", value: "TYPE", help: `${fixedMetricTypes.join(", ")}, custom.<name>` },
    ...rangeOptions,
    order: { type: "string", value: "ORDER", help: "asc, desc (desc)" },
    ...listOptions,
    ...actorOptions,
  },
  examples: [
    "pinakes metrics list --type latency --from 24h",
    "pinakes metrics list --agent agent-1 --from 2030-01-01 --to 2030-02-01 --json",
  ],
  run: async (call) => {
    const { given, terminal } = call;
    const query = {
      agent_id: given.text("agent"),
      metric_type: typeOf(given),
      order: given.oneOf("order", ["asc", "desc"] as const),
      ...rangeOf(given, Date.now()),
    };
    return withClient(call, async ({ state, place }) => {
      const page = await readPages(given, (paging) => state.metrics.list({ ...query, ...paging }));
      return {
        answer: page,
        show: () => (page.items.length === 0 ? nothingIn(place) : metricsText(terminal, page.items) + moreBelow(page)),
      };
    });
  },
});

const aggregate = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "count, sum, average, extremes and exact percentiles, by time and dimension",
  details: "Metric types have different units: filter by one type, or group by metric_type.",
  options: { ...aggregateOptions(fixedMetricGroups, ["dimensions.<name>"]), ...actorOptions },
  examples: [
    "pinakes metrics aggregate --by metric_type --from 7d",
    "pinakes metrics aggregate --filter metric_type=latency --by agent_id,model --bucket hour --values count,avg,p95 --from 24h",
    "pinakes metrics aggregate --filter metric_type=custom.faithfulness --by dimensions.region --filter dimensions.tier=gold --values avg",
  ],
  run: async (call) => {
    const asked = askedAggregate<MetricGroup>(
      call.given,
      { groups: fixedMetricGroups, without: ["tool_name"], isCustom },
      Date.now(),
    );
    return withClient(call, async ({ state, place }) => {
      const result = await state.metrics.aggregate(asked);
      return { answer: result, show: () => aggregateText(call.terminal, result, place) };
    });
  },
});

const names = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "list the custom types and dimensions in use, and their limits",
  options: {
    forget: {
      type: "string",
      value: "NAME",
      help: "unregister a name to make room for another (admins); its rows stay and can be queried",
    },
    ...actorOptions,
  },
  examples: ["pinakes metrics names", "pinakes metrics names --forget custom.tmp_score"],
  run: (call) =>
    withClient(call, async ({ state }) => {
      const forgotten = call.given.text("forget");
      if (forgotten !== undefined) await state.metrics.forgetName(forgotten);
      const found = await state.metrics.names();
      return { answer: found, show: () => namesText(found) };
    }),
});

export const metrics: Group = {
  summary: "metrics of agents over time: latency, tokens, cost, custom ones, …",
  commands: { ingest, list, aggregate, names },
};

function typeOf(given: Given<"type">): MetricType | undefined {
  const text = given.text("type");
  if (text?.startsWith("custom.") === true) return text as MetricType;
  if (text === undefined || (fixedMetricTypes as readonly string[]).includes(text.toLowerCase()))
    return given.oneOf("type", fixedMetricTypes);
  throw new UsageError(`--type: must be one of ${fixedMetricTypes.join(", ")}, or custom.<name>, got "${text}".`);
}

function namesText({ types: own, dimensions, types_max, dimensions_max }: MetricNames): string {
  return [
    `Types (${own.length} of ${types_max}):`,
    ...indented(own),
    `Dimensions (${dimensions.length} of ${dimensions_max}):`,
    ...indented(dimensions),
  ].join("\n");
}

function indented(lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? ["  none"] : lines.map((line) => `  ${line}`);
}

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
