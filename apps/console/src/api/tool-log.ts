/** The log of tool invocations, what of it is not kept, and whether it is what was written. */
import { queryOptions } from "@tanstack/react-query";
import { pagedOptions } from "./page.ts";
import { get, path, request, withQuery } from "./request.ts";

export const toolStatuses = ["success", "error", "timeout"] as const;
export type ToolStatus = (typeof toolStatuses)[number];
export const toolGroups = ["status", "tool_name", "agent_id", "workflow_id", "session_id"] as const;
export type ToolGroup = (typeof toolGroups)[number];

export interface ToolInvocation {
  readonly id: string;
  readonly tool_date: string;
  readonly tool_name: string;
  readonly agent_id: string;
  readonly session_id: string;
  readonly workflow_id: string | null;
  readonly timestamp: string;
  readonly status: ToolStatus;
  readonly duration_ms: number;
  readonly input_args: unknown;
  readonly output_result: unknown;
  readonly error_details: {
    readonly error_type: string;
    readonly error_message: string;
    readonly stack_trace: string;
  } | null;
  readonly security_context: {
    readonly user_id?: string | null;
    readonly ip_address?: string;
    readonly user_agent?: string;
  };
}

export interface ToolQuery {
  readonly from: string;
  readonly to: string;
  readonly tool_name: string | undefined;
  readonly agent_id: string | undefined;
  readonly status: ToolStatus | undefined;
}

export interface RedactionRule {
  readonly tool_name: string;
  readonly sensitive: boolean;
  readonly drop: readonly string[];
  readonly mask: readonly string[];
}

export interface ChainCheck {
  readonly tool_date: string;
  /** `unchained`: there are entries, and nothing can be proved of them. */
  readonly state: "empty" | "unchained" | "chained";
  /** Of the chain. */
  readonly entries: number;
  readonly intact: boolean;
  readonly broken_at: string | null;
  readonly head: string | null;
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
