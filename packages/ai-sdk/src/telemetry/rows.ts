/** Events of the AI SDK as lines of Pinakes. The recorder gives them their ids, so that sending one again changes nothing. */
import type { JsonObject, JsonValue, NewMetric, NewToolInvocation, ToolError } from "@pinakes/client";
import type { CallIdentity } from "./call-identity.ts";

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

// What tools got and gave, made fit to be kept: JSON, of a bounded size.

/** Of one argument list or one result. A log is no place for files; the beginning is kept to recognise it by. */
export const recordedBytesMax = 65_536;
const previewChars = 1_024;
const utf8 = new TextEncoder();

export function recordable(value: unknown): JsonValue {
  let text: string | undefined;
  try {
    text = JSON.stringify(value, (_key, part: unknown) => (typeof part === "bigint" ? part.toString() : part));
  } catch {
    // Circular, or a toJSON that throws: what kind of thing it was is all there is to say.
    return { unrecordable: typeof value };
  }
  if (text === undefined) return null;
  const bytes = utf8.encode(text).length;
  if (bytes > recordedBytesMax)
    return { truncated: true, bytes, beginning: text.slice(0, previewChars).toWellFormed() };
  return JSON.parse(text) as JsonValue;
}

/** Arguments are an object by contract; anything else is kept as its only property. */
export function recordableObject(value: unknown): JsonObject {
  const json = recordable(value);
  if (json === null) return {};
  return typeof json === "object" && !Array.isArray(json) ? (json as JsonObject) : { value: json };
}

export function recordableError(error: unknown): ToolError {
  if (error instanceof Error) {
    return { error_type: error.name, error_message: cut(error.message), stack_trace: cut(error.stack ?? "") };
  }
  const json = recordable(error);
  return {
    error_type: "Error",
    error_message: cut(typeof json === "string" ? json : JSON.stringify(json)),
    stack_trace: "",
  };
}

const errorCharsMax = 8_192;
const cut = (text: string) => text.slice(0, errorCharsMax).toWellFormed();
