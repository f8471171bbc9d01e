/** The tool log, its redaction rules and its hash chain. */
import type { ChainCheck, RedactionRule, ToolInvocation, ToolStatus } from "@pinakes/client";
import { queryOptions } from "@tanstack/react-query";
import { pagedOptions } from "./page.ts";
import { get, path, request, withQuery } from "./request.ts";

export const toolGroups = ["status", "tool_name", "agent_id", "workflow_id", "session_id"] as const;
export type ToolGroup = (typeof toolGroups)[number];

export interface ToolQuery {
  readonly from: string;
  readonly to: string;
  readonly tool_name: string | undefined;
  readonly agent_id: string | undefined;
  readonly status: ToolStatus | undefined;
}

export function toolsOptions(query: ToolQuery) {
  return pagedOptions<ToolInvocation>(["tool-invocations", "list"], "/v1/tool-invocations", { ...query });
}

export function toolOptions(date: string, id: string) {
  return queryOptions({
    queryKey: ["tool-invocations", "one", date, id],
    queryFn: ({ signal }) => get<ToolInvocation>(path`/v1/tool-invocations/${date}/${id}`, { signal }),
  });
}

export function exportAddress(query: ToolQuery, format: "csv" | "ndjson"): string {
  return withQuery("/v1/tool-invocations:export", { ...query, format });
}

export const redactionsOptions = queryOptions({
  queryKey: ["tool-redactions"],
  queryFn: ({ signal }) => get<{ readonly items: readonly RedactionRule[] }>("/v1/tool-redactions", { signal }),
});

export const toolLogSettingsOptions = queryOptions({
  queryKey: ["tool-log", "settings"],
  queryFn: ({ signal }) => get<{ readonly hash_chain: boolean }>("/v1/tool-log/settings", { signal }),
});

export async function setHashChain(on: boolean): Promise<void> {
  await request("PUT", "/v1/tool-log/settings", { body: { hash_chain: on } });
}

export function checkChain(date: string): Promise<ChainCheck> {
  return get<ChainCheck>(path`/v1/tool-log/${date}/chain`);
}
