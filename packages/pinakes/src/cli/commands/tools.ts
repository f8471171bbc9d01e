/** `pinakes tools …`: the append-only log of tool invocations. */
import { exportFormats, toolGroups, toolStatuses, type NewToolInvocation } from "@pinakes/client";
import { defineCommand, failureExitCode, type Given, type Group, type Options } from "../terminal/command.ts";
import { aggregateOptions, aggregateText, askedAggregate } from "./metrics-aggregate.ts";
import { ingestCommand } from "./metrics-ingest.ts";
import { rangeOf, rangeOptions } from "./metrics-time.ts";
import { listOptions, moreBelow, readPages } from "../terminal/pages.ts";
import { nothingIn } from "../store-location.ts";
import { withClient } from "../client-session.ts";
import { actorOptions } from "../session.ts";
import { checkPlace, exportInvocations } from "./tools-export.ts";
import { rules, settings } from "./tools-rules.ts";
import { chainText, invocationsText, invocationText } from "./tools-text.ts";

const filterOptions = {
  tool: { type: "string", value: "NAME", help: "of this tool" },
  agent: { type: "string", value: "ID", help: "of this agent" },
  session: { type: "string", value: "ID", help: "of this session" },
  workflow: { type: "string", value: "ID", help: "of this workflow" },
  status: { type: "string", value: "STATUS", help: toolStatuses.join(", ") },
  ...rangeOptions,
} as const satisfies Options;

const ingest = ingestCommand({
  group: "tools",
  summary: "ingest tool invocations from a file or a pipe, applying the redaction rules",
  take: (state, rows) => state.tools.ingest(rows as readonly NewToolInvocation[]),
});

const list = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "list list the invocations, newest first",
  options: {
    ...filterOptions,
    order: { type: "string", value: "ORDER", help: "asc, desc (desc)" },
    ...listOptions,
    ...actorOptions,
  },
  examples: [
    "pinakes tools list --status error --from 24h",
    "pinakes tools list --tool web_search --agent agent-1 --json",
  ],
  run: async (call) => {
    const { given, terminal } = call;
    const query = { ...filterOf(given), order: given.oneOf("order", ["asc", "desc"] as const) };
    return withClient(call, async ({ state, place }) => {
      const page = await readPages(given, (paging) => state.tools.list({ ...query, ...paging }));
      return {
        answer: page,
        show: () =>
          page.items.length === 0 ? nothingIn(place) : invocationsText(terminal, page.items) + moreBelow(page),
      };
    });
  },
});

const show = defineCommand({
  usage: "<date> <id>",
  words: [2, 2],
  summary: "show an invocation with input and output",
  details: "The date is that of its timestamp, as in lists.",
  options: actorOptions,
  examples: ["pinakes tools show 2030-01-01 tool-8d1f…"],
  run: (call) =>
    withClient(call, async ({ state }) => {
      const invocation = await state.tools.get(call.words[0] as string, call.words[1] as string);
      return { answer: invocation, show: () => invocationText(call.terminal, invocation) };
    }),
});

const exporting = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "export all or filtered invocations, oldest first",
  details: "Writes to stdout, unless a file is specified. An existing file is replaced once the new one is complete.",
  options: {
    format: { type: "string", value: "FORMAT", help: `${exportFormats.join(", ")} (ndjson)` },
    out: { type: "string", value: "FILE", help: "into this file" },
    ...filterOptions,
    ...actorOptions,
  },
  examples: [
    "pinakes tools export --format csv --out audit.csv --from 2030-01-01 --to 2030-02-01",
    "pinakes tools export --status error | jq .tool_name",
  ],
  run: async (call) => {
    const { given } = call;
    checkPlace(call);
    const query = { ...filterOf(given), format: given.oneOf("format", exportFormats) ?? "ndjson" };
    return withClient(call, async ({ state }) => exportInvocations(call, state.tools.export(query)));
  },
});

const aggregate = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "count invocations and aggregate durations in milliseconds, by time, tool, agent, …",
  options: { ...aggregateOptions(toolGroups), ...actorOptions },
  examples: [
    "pinakes tools aggregate --by tool_name,status --from 7d",
    "pinakes tools aggregate --filter tool_name=web_search --bucket day --values count,p99 --from 30d",
  ],
  run: async (call) => {
    const asked = askedAggregate(call.given, { groups: toolGroups, without: ["workflow_id"] }, Date.now());
    return withClient(call, async ({ state, place }) => {
      const result = await state.tools.aggregate(asked);
      return { answer: result, show: () => aggregateText(call.terminal, result, place) };
    });
  },
});

const verify = defineCommand({
  usage: "<date>",
  words: [1, 1],
  summary: "verify that the invocations of a day are unchanged and complete",
  details:
    "Only days with a hash chain can be verified (pinakes tools settings). Exit code 1 if the verification fails.",
  options: actorOptions,
  examples: ["pinakes tools verify 2030-01-01"],
  run: (call) =>
    withClient(call, async ({ state }) => {
      const check = await state.tools.verifyChain(call.words[0] as string);
      return { answer: check, show: () => chainText(call.terminal, check), code: check.intact ? 0 : failureExitCode };
    }),
});

export const tools: Group = {
  summary: "the append-only log of tool invocations, redacted before it is stored",
  commands: { ingest, list, show, export: exporting, aggregate, rules, settings, verify },
};

function filterOf(given: Given<keyof typeof filterOptions>) {
  return {
    tool_name: given.text("tool"),
    agent_id: given.text("agent"),
    session_id: given.text("session"),
    workflow_id: given.text("workflow"),
    status: given.oneOf("status", toolStatuses),
    ...rangeOf(given, Date.now()),
  };
}
