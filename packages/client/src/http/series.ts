/** Metrics and the log of tool invocations over HTTP. */
import type { IngestOptions } from "../api/common.ts";
import type { MetricsApi, ToolsApi } from "../api/series-api.ts";
import { path, type Requester, type RequestOptions } from "./request.ts";
import { lines } from "./sse.ts";

export function httpMetrics(http: Requester): MetricsApi {
  return {
    ingest: (metrics, options) => http.json("POST", "/v1/metrics:ingest", ndjson(metrics, options)),
    list: (query = {}) => http.json("GET", "/v1/metrics", { query: { ...query } }),
    aggregate: (query) => http.json("POST", "/v1/metrics:aggregate", { body: query, repeatable: true }),
    rollups: (query = {}) => http.json("GET", "/v1/metrics/rollups", { query: { ...query } }),
    names: () => http.json("GET", "/v1/metrics/names"),
    forgetName: (name) => http.json("DELETE", path`/v1/metrics/names/${name}`),
  };
}

export function httpTools(http: Requester): ToolsApi {
  const base = "/v1/tool-invocations";
  return {
    ingest: (invocations, options) => http.json("POST", `${base}:ingest`, ndjson(invocations, options)),
    list: (query = {}) => http.json("GET", base, { query: { ...query } }),
    get: (toolDate, id) => http.json("GET", path`/v1/tool-invocations/${toolDate}/${id}`),
    aggregate: (query) => http.json("POST", `${base}:aggregate`, { body: query, repeatable: true }),
    export: async function* ({ format, ...query }) {
      const accept = format === "csv" ? "text/csv" : "application/x-ndjson";
      for await (const line of lines(await http.stream(`${base}:export`, { query: { ...query, format }, accept })))
        yield `${line}\n`;
    },
    rules: () => http.json("GET", "/v1/tool-redactions"),
    putRule: ({ tool_name, ...rule }) =>
      http.json("PUT", path`/v1/tool-redactions/${tool_name}`, { body: rule, repeatable: true }),
    deleteRule: (toolName) => http.json("DELETE", path`/v1/tool-redactions/${toolName}`),
    verifyChain: (toolDate) => http.json("GET", path`/v1/tool-log/${toolDate}/chain`),
    settings: () => http.json("GET", "/v1/tool-log/settings"),
    putSettings: (settings) => http.json("PUT", "/v1/tool-log/settings", { body: settings, repeatable: true }),
  };
}

/** Anything but an object is left for the server to reject. */
function withId(row: unknown): unknown {
  if (typeof row !== "object" || row === null || Array.isArray(row) || ("id" in row && row.id !== undefined))
    return row;
  return { ...row, id: crypto.randomUUID() };
}

/** Lines with ids may be sent twice: the second time they are duplicates. So those without get theirs here. */
function ndjson(rows: readonly unknown[], { allOrNothing, report }: IngestOptions = {}): RequestOptions {
  const content = rows.map((row) => `${JSON.stringify(withId(row))}\n`);
  return {
    text: { type: "application/x-ndjson", content: content.join("") },
    query: { all_or_nothing: allOrNothing, report },
    repeatable: true,
  };
}
