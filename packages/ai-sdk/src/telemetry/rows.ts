/** Converts events of the AI SDK to lines for Pinakes. The recorder assigns their ids, so that sending one again changes nothing. */
import type { NewMetric, NewToolInvocation } from "@pinakes/client";
import type { CallIdentity } from "./call-identity.ts";
import { recordable, recordableError, recordableObject } from "./recordable.ts";

export interface ModelCall {
  readonly model: string;
  readonly latencyMs: number;
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly totalTokens: number | undefined;
}

/** Always the latency; tokens if the model reported any. */
export function metricsOf(call: ModelCall, identity: CallIdentity, environment: string, at: Date): NewMetric[] {
  const common = {
    agent_id: identity.agent_id,
    timestamp: at.toISOString(),
    dimensions: {
      session_id: identity.session_id,
      workflow_id: identity.workflow_id ?? "",
      environment,
      model: call.model,
      tool_name: null,
    },
  };
  const latency: NewMetric = { ...common, metric_type: "latency", value: call.latencyMs };
  const total = call.totalTokens ?? sum(call.inputTokens, call.outputTokens);
  if (total === undefined) return [latency];
  const usage = {
    ...common,
    metric_type: "token_usage" as const,
    value: total,
    // The value is the sum; its parts stay with it, as in a workflow's token_usage.
    token_usage: {
      prompt_tokens: call.inputTokens ?? 0,
      completion_tokens: call.outputTokens ?? 0,
      total_tokens: total,
    },
  };
  return [latency, usage];
}

export interface ToolCallFacts {
  readonly toolName: string;
  readonly input: unknown;
  readonly output: { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown };
  readonly durationMs: number;
}

export function invocationOf(call: ToolCallFacts, identity: CallIdentity, at: Date): NewToolInvocation {
  const { output } = call;
  return {
    tool_name: call.toolName,
    agent_id: identity.agent_id,
    session_id: identity.session_id,
    workflow_id: identity.workflow_id,
    timestamp: at.toISOString(),
    status: output.ok ? "success" : isTimeout(output.error) ? "timeout" : "error",
    duration_ms: call.durationMs,
    input_args: recordableObject(call.input),
    output_result: output.ok ? recordable(output.value) : null,
    error_details: output.ok ? null : recordableError(output.error),
    security_context: { user_id: identity.user_id },
  };
}

const isTimeout = (error: unknown) => error instanceof Error && error.name === "TimeoutError";

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0);
}
