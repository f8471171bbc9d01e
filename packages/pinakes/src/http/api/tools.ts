/** The tool log over HTTP. */
import { chainStates, exportFormats, toolGroups, toolStatuses } from "@pinakes/client";
import type * as wire from "@pinakes/client";
import { z } from "zod";
import { jsonValue, pageOf, shape } from "../../contract/index.ts";
import { type State } from "../../state/index.ts";
import { defineRoute, noContent, ok, readAhead, type Route } from "../framework/index.ts";
import { AggregateAnswer, aggregateBody, ingestRoute, timeList } from "./series-schemas.ts";
import { id } from "./schemas.ts";

const tag = "tools";
const date = z.string().describe("YYYY-MM-DD");

const InvocationAnswer = shape<wire.Stored<wire.ToolInvocation>, "ttl">()(
  z
    .looseObject({
      id: z.string(),
      tool_date: z.string(),
      tool_name: z.string(),
      agent_id: z.string(),
      workspace_id: z.string(),
      session_id: z.string(),
      workflow_id: z.string().nullable(),
      timestamp: z.string(),
      status: z.enum(toolStatuses),
      duration_ms: z.number(),
      input_args: z.looseObject({}),
      output_result: jsonValue(),
      error_details: z.looseObject({}).nullable(),
      security_context: z.looseObject({}),
      created_at: z.string(),
      _etag: z.string(),
      _ts: z.number(),
    })
    .meta({ id: "ToolInvocation" }),
);
const RuleAnswer = shape<wire.RedactionRule>()(
  z
    .object({ tool_name: z.string(), sensitive: z.boolean(), drop: z.array(z.string()), mask: z.array(z.string()) })
    .meta({ id: "RedactionRule" }),
);
const SettingsAnswer = shape<wire.ToolLogSettings>()(
  z.object({ hash_chain: z.boolean() }).meta({ id: "ToolLogSettings" }),
);
const ChainAnswer = shape<wire.ChainCheck>()(
  z
    .object({
      tool_date: z.string(),
      state: z
        .enum(chainStates)
        .describe("`unchained`: the entries have no hash chain, so their integrity cannot be verified."),
      entries: z.number().describe("Number of entries in the chain."),
      intact: z.boolean(),
      broken_at: z.string().nullable(),
      head: z.string().nullable(),
    })
    .meta({ id: "ChainCheck" }),
);

const which = {
  tool_name: z.string().optional(),
  agent_id: z.string().optional(),
  session_id: z.string().optional(),
  workflow_id: z.string().optional(),
  status: z.enum(toolStatuses).optional(),
};
const { limit: _limit, cursor: _cursor, ...exportRange } = timeList;

export function toolRoutes(state: State): readonly Route[] {
  return [...logRoutes(state), ...readRoutes(state), ...ruleRoutes(state), ...settingsRoutes(state)];
}

function logRoutes({ tools }: State): readonly Route[] {
  return [
    ingestRoute(
      {
        path: "/v1/tool-invocations:ingest",
        operationId: "ingestToolInvocations",
        summary: "Append up to 10,000 tool invocations to the log",
        description:
          "NDJSON (one invocation per line), or JSON `{ items: [...] }`. Redaction rules apply before anything is stored. Each line succeeds or fails independently and is reported by its number.",
        tag,
      },
      (caller, lines, options) => tools.ingestLines(caller, lines, options),
    ),
    defineRoute({
      method: "POST",
      path: "/v1/tool-invocations:aggregate",
      operationId: "aggregateToolInvocations",
      summary: "Aggregate calls and durations of tools by time and dimension",
      description: "Durations refer to `duration_ms`. Default: the last 24 hours; at most 400 days.",
      tag,
      auth: "caller",
      body: aggregateBody(z.enum(toolGroups)),
      readOnlyOk: true,
      answers: { 200: { description: "By bucket, then by group.", schema: AggregateAnswer } },
      handler: async ({ caller, body }) => ok(await tools.aggregate(caller, body)),
    }),
  ];
}

function readRoutes({ tools }: State): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/tool-invocations",
      operationId: "listToolInvocations",
      summary: "List tool invocations in time order, over any number of days",
      tag,
      auth: "caller",
      query: z.object({ ...timeList, ...which }),
      answers: {
        200: { description: "A page, newest first by default.", schema: pageOf(InvocationAnswer) },
      },
      handler: async ({ caller, query }) => ok(await tools.list(caller, query)),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/tool-invocations:export",
      operationId: "exportToolInvocations",
      summary: "Export the log as NDJSON or CSV",
      description:
        "Oldest first by default. In CSV, cells that a spreadsheet would interpret as a formula are prefixed with an apostrophe.",
      tag,
      auth: "caller",
      query: z.object({ ...exportRange, ...which, format: z.enum(exportFormats) }),
      answers: { 200: { description: "Streamed.", contentType: "application/x-ndjson" } },
      // The first part is read before the response starts, so errors such as too many exports get an error status.
      handler: async ({ caller, query }) => ({
        status: 200,
        stream: await readAhead(tools.export(caller, query)),
        contentType: query.format === "csv" ? "text/csv; charset=utf-8" : "application/x-ndjson",
        headers: { "content-disposition": `attachment; filename="tool-invocations.${query.format}"` },
      }),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/tool-invocations/{date}/{id}",
      operationId: "getToolInvocation",
      summary: "Get a tool invocation",
      tag,
      auth: "caller",
      params: z.object({ date, id: z.string().min(1).max(1_023) }),
      answers: { 200: { description: "The invocation.", schema: InvocationAnswer } },
      handler: async ({ caller, params }) => {
        const invocation = await tools.get(caller, params.date, params.id);
        return ok(invocation, { etag: invocation._etag });
      },
    }),
  ];
}

function ruleRoutes({ tools }: State): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/tool-redactions",
      operationId: "listRedactionRules",
      summary: "List the redaction rules",
      tag,
      auth: "caller",
      answers: { 200: { description: "Ordered by tool name.", schema: z.object({ items: z.array(RuleAnswer) }) } },
      handler: async ({ caller }) => ok(await tools.rules(caller)),
    }),
    defineRoute({
      method: "PUT",
      path: "/v1/tool-redactions/{tool}",
      operationId: "putRedactionRule",
      summary: "Create or replace the redaction rule of a tool; admins only",
      description:
        "`sensitive` stores neither input nor output; `drop` removes paths, `mask` replaces them; `*` matches every element. Applies to invocations from now on.",
      tag,
      auth: "caller",
      params: z.object({ tool: id }),
      body: z.strictObject({
        sensitive: z.boolean().optional(),
        drop: z.array(z.string()).optional(),
        mask: z.array(z.string()).optional(),
      }),
      answers: { 200: { description: "The rule.", schema: RuleAnswer } },
      handler: async ({ caller, params, body }) =>
        ok(await tools.putRule(caller, { tool_name: params.tool, ...present(body) })),
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/tool-redactions/{tool}",
      operationId: "deleteRedactionRule",
      summary: "Delete the redaction rule of a tool; admins only",
      tag,
      auth: "caller",
      params: z.object({ tool: id }),
      answers: { 204: { description: "Deleted." } },
      handler: async ({ caller, params }) => {
        await tools.deleteRule(caller, params.tool);
        return noContent();
      },
    }),
  ];
}

function settingsRoutes({ tools }: State): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/tool-log/settings",
      operationId: "getToolLogSettings",
      summary: "Get the settings of the tool log",
      tag,
      auth: "caller",
      answers: { 200: { description: "The settings.", schema: SettingsAnswer } },
      handler: async ({ caller }) => ok(await tools.settings(caller)),
    }),
    defineRoute({
      method: "PUT",
      path: "/v1/tool-log/settings",
      operationId: "putToolLogSettings",
      summary: "Change the settings of the tool log; admins only",
      description:
        "With `hash_chain`, each entry carries the hash of the previous one. A day that started with a chain keeps it.",
      tag,
      auth: "caller",
      body: z.strictObject({ hash_chain: z.boolean() }),
      answers: { 200: { description: "The settings.", schema: SettingsAnswer } },
      handler: async ({ caller, body }) => ok(await tools.putSettings(caller, body)),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/tool-log/{date}/chain",
      operationId: "verifyToolChain",
      summary: "Verify that a day's entries are unchanged",
      description:
        "`broken_at` is the first changed or added entry, or the position of a missing one. Store `head` elsewhere to verify it later.",
      tag,
      auth: "caller",
      params: z.object({ date }),
      answers: { 200: { description: "The check.", schema: ChainAnswer } },
      handler: async ({ caller, params }) => ok(await tools.verifyChain(caller, params.date)),
    }),
  ];
}

function present<Value extends object>(value: Value): { [Name in keyof Value]: Exclude<Value[Name], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) as {
    [Name in keyof Value]: Exclude<Value[Name], undefined>;
  };
}
