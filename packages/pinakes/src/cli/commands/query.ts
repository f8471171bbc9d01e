/** `pinakes query`: queries a container in SQL. */
import type { JsonValue, PartitionKey, PartitionKeyValue, QueryPage, QueryPlan, SqlQuery } from "@pinakes/client";
import { limits } from "../../domain/limits.ts";
import { defineCommand, UsageError, type Given, type Group } from "../terminal/command.ts";
import { fields } from "../terminal/layout.ts";
import { listItemsMax, moreBelow } from "../terminal/pages.ts";
import { rowsText } from "../terminal/query-rows.ts";
import { withClient } from "../client-session.ts";
import { actorOptions } from "../session.ts";
import { printable, styled, type Terminal } from "../terminal/terminal.ts";

const rowsDefault = 100;

const command = defineCommand({
  usage: '<container> "SELECT …"',
  words: [2, 2],
  summary: "query a container in SQL (the Cosmos DB dialect)",
  details: `
The value of a parameter is parsed as JSON if possible, otherwise it is a string: n=5 is a number, n='"5"' a string. The value of a partition
key a text, unless it is a JSON list: --partition '[5]', --partition '["acme","ada"]' for two paths. Containers: pinakes containers list.`,
  options: {
    param: { type: "string", value: "name=value", help: "the value of @name; repeat for several", many: true },
    partition: { type: "string", value: "VALUE", help: "only this partition" },
    limit: { type: "string", value: "N", help: `maximum number of rows (${rowsDefault})` },
    cursor: { type: "string", value: "CURSOR", help: "continue a query: its next_cursor" },
    strict: { type: "boolean", help: "reject it if no index serves it" },
    explain: { type: "boolean", help: "explain the query without executing it" },
    ndjson: { type: "boolean", help: "one JSON row per line" },
    ...actorOptions,
  },
  examples: [
    `pinakes query agent-metrics "SELECT c.agent_id, c.value FROM c WHERE c.metric_type = @type ORDER BY c.timestamp DESC" --param type=latency`,
    `pinakes query workflow-states "SELECT VALUE COUNT(1) FROM c WHERE c.status = 'failed'"`,
    `pinakes query tickets "SELECT * FROM c" --partition acme --ndjson | jq .title`,
  ],
  run: async (call) => {
    const { given, terminal } = call;
    if (given.has("ndjson") && (given.has("explain") || (given as Given).has("json")))
      throw new UsageError("--ndjson: cannot be combined with --json or --explain.");
    const [container, text] = call.words as readonly [string, string];
    const limit = given.whole("limit", 1, listItemsMax) ?? rowsDefault;
    const query: SqlQuery = {
      query: text,
      parameters: given.texts("param").map(parameterOf),
      pk: partitionOf(given.text("partition")),
      cursor: given.text("cursor"),
      strict: given.has("strict"),
    };
    checkParameters(query);
    return withClient(call, async ({ state }) => {
      if (given.has("explain")) {
        const plan = await state.containers.explain(container, query);
        return { answer: plan, show: () => planText(terminal, plan) };
      }
      const page = await readRows(limit, query, (asked) => state.containers.query(container, asked));
      return { answer: page, show: () => (given.has("ndjson") ? linesOf(terminal, page) : pageText(terminal, page)) };
    });
  },
});

export const query: Group = { command };

/** Page size of one query; a page may hold fewer rows and still not be the last. */
async function readRows(
  limit: number,
  asked: SqlQuery,
  ask: (query: SqlQuery) => Promise<QueryPage>,
): Promise<QueryPage> {
  const items: JsonValue[] = [];
  let advice: string | undefined;
  let cursor = asked.cursor;
  do {
    const page = await ask({ ...asked, cursor, limit: Math.min(limits.pageItemsMax, limit - items.length) });
    items.push(...page.items);
    advice ??= page.advice;
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined && items.length < limit);
  return { items, next_cursor: cursor ?? null, ...(advice === undefined ? {} : { advice }) };
}

function parameterOf(text: string): { readonly name: string; readonly value: JsonValue } {
  const [, name, value] = /^@?(\w+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new UsageError(`--param: write name=value, such as status=open; got "${text}".`);
  return { name: `@${name}`, value: jsonOr(value) };
}

/** Errors of parameters, worded for the command line. */
function checkParameters({ query: text, parameters = [] }: SqlQuery): void {
  const names = parameters.map(({ name }) => name);
  const [missing] = (text.replaceAll(quoted, "").match(/@\w+/g) ?? []).filter((name) => !names.includes(name));
  if (missing !== undefined)
    throw new UsageError(`${missing} has no value; give it one: --param ${missing.slice(1)}=…`);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined) throw new UsageError(`--param: ${twice} is specified twice.`);
}

/** String literals, in which "@" has no meaning. */
const quoted = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/gs;

/** A value that is not JSON is a string. */
function jsonOr(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

function partitionOf(text: string | undefined): PartitionKey | undefined {
  if (text === undefined || !text.startsWith("[")) return text;
  const value = jsonOr(text);
  const isKey = (part: unknown): part is PartitionKeyValue =>
    typeof part === "string" || typeof part === "number" || typeof part === "boolean";
  if (Array.isArray(value) && value.length > 0 && value.every(isKey)) return value;
  throw new UsageError(
    `--partition: starts with "[" but is not a JSON list of strings, numbers, true or false; got "${text}".`,
  );
}

/** One row per line; everything else goes to stderr. */
function linesOf(terminal: Terminal, page: QueryPage): string {
  const { items, next_cursor, advice } = page;
  if (advice !== undefined) terminal.err(`${printable(advice)}\n`);
  if (next_cursor !== null) terminal.err(`${moreBelow(page).trimStart()}\n`);
  return items.map((item) => JSON.stringify(item)).join("\n");
}

function pageText(terminal: Terminal, page: QueryPage): string {
  const { items, advice } = page;
  const told = advice === undefined ? "" : `\n\n${styled(terminal, "yellow", printable(advice))}`;
  return `${items.length === 0 ? "Nothing was found." : rowsText(terminal, items)}${moreBelow(page)}${told}`;
}

const ways = { partition: "by the partition key", index: "by an index", scan: "reads every item" } as const;

function planText(terminal: Terminal, { access, index, order_served, evaluated, advice }: QueryPlan): string {
  return fields(terminal, {
    access: ways[access],
    index: index ?? undefined,
    order: order_served ? undefined : "sorted in memory",
    "evaluated for each item": evaluated.join(", "),
    advice: advice ?? undefined,
  });
}
