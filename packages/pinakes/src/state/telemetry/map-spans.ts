/**
 * Spans of the GenAI semantic conventions:
 *
 *   execute_tool                                 → a tool invocation (its duration is aggregated from the log itself)
 *   chat, text_completion, generate_content      → latency, and token_usage where the span has tokens
 *   invoke_agent                                 → latency, and success_rate (1 or 0)
 *
 * The agent and the conversation may be attributes of an ancestor span, which is searched in the same export.
 */
import type { MetricType, NewMetric, NewToolInvocation, ToolStatus } from "@pinakes/client";
import { asObject, Attributes } from "./attributes.ts";
import {
  agentOf,
  environmentOf,
  hexId,
  modelOf,
  nanosToMs,
  nothing,
  sessionOf,
  timestampOf,
  tokensOf,
  type Mapped,
} from "./common.ts";
import type { KeyValue, OtlpSpan } from "./otlp-types.ts";

const parentsMax = 64;

export interface SpanGroup {
  readonly resource: readonly KeyValue[];
  readonly spans: readonly OtlpSpan[];
}

interface Read {
  readonly span: OtlpSpan;
  readonly own: Attributes;
  readonly resource: Attributes;
}

/** In the order of the spans. */
export function mapSpans(groups: readonly SpanGroup[]): readonly Mapped[] {
  const read = groups.flatMap(({ resource, spans }) =>
    spans.map((span): Read => ({ span, own: new Attributes(span.attributes), resource: new Attributes(resource) })),
  );
  const byId = new Map(read.map((one) => [spanKey(one.span.traceId, one.span.spanId), one]));
  return read.map((one) => mapSpan(one, byId));
}

function mapSpan(read: Read, byId: ReadonlyMap<string, Read>): Mapped {
  const { span, own, resource } = read;
  const [trace, id] = [hexId(span.traceId), hexId(span.spanId)];
  const timestamp = timestampOf(span.startTimeUnixNano);
  const [start, end] = [nanosToMs(span.startTimeUnixNano), nanosToMs(span.endTimeUnixNano)];
  if (trace === undefined || id === undefined || timestamp === undefined || start === undefined || end === undefined)
    return nothing;
  const facts: Facts = {
    id: `otlp-${trace}-${id}`,
    timestamp,
    duration_ms: Math.max(0, end - start),
    agent_id: lookUp(read, byId, agentOf) ?? resource.text("service.name") ?? "unknown",
    session_id: lookUp(read, byId, sessionOf) ?? trace,
    workflow_id: lookUp(read, byId, (attributes) =>
      attributes.text("gen_ai.workflow.id", "gen_ai.workflow.name", "workflow.id"),
    ),
    environment: environmentOf(resource),
  };
  switch (own.text("gen_ai.operation.name")) {
    case "execute_tool":
      return { metrics: [], tools: [invocation(read, facts)] };
    case "chat":
    case "text_completion":
    case "generate_content":
      return { metrics: [row(facts, "latency", facts.duration_ms, own), ...tokenRows(facts, own)], tools: [] };
    case "invoke_agent":
      return {
        metrics: [
          row(facts, "latency", facts.duration_ms, own),
          row(facts, "success_rate", statusOf(read) === "success" ? 1 : 0, own),
        ],
        tools: [],
      };
    default:
      return nothing;
  }
}

interface Facts {
  readonly id: string;
  readonly timestamp: string;
  readonly duration_ms: number;
  readonly agent_id: string;
  readonly session_id: string;
  readonly workflow_id: string | undefined;
  readonly environment: string;
}

function row(
  { id, timestamp, agent_id, session_id, workflow_id = "", environment }: Facts,
  metric_type: MetricType,
  value: number,
  own: Attributes,
): NewMetric {
  return {
    id: `${id}-${metric_type}`,
    agent_id,
    metric_type,
    timestamp,
    value,
    dimensions: {
      session_id,
      workflow_id,
      environment,
      model: modelOf(own),
      tool_name: own.text("gen_ai.tool.name") ?? null,
    },
  };
}

/** One row with the sum; its parts are stored beside it. */
function tokenRows(facts: Facts, own: Attributes): readonly NewMetric[] {
  const tokens = tokensOf(own);
  return tokens === undefined
    ? []
    : [{ ...row(facts, "token_usage", tokens.input + tokens.output, own), tokens } as NewMetric];
}

function invocation(
  read: Read,
  { id, timestamp, duration_ms, agent_id, session_id, workflow_id }: Facts,
): NewToolInvocation {
  const { span, own } = read;
  const status = statusOf(read);
  const exception = new Attributes(
    ...span.events.filter(({ name }) => name === "exception").map(({ attributes }) => attributes),
  );
  return {
    id,
    tool_name: own.text("gen_ai.tool.name", "tool.name") ?? (span.name?.replace(/^execute_tool\s+/, "") || "unknown"),
    agent_id,
    session_id,
    ...(workflow_id === undefined ? {} : { workflow_id }),
    timestamp,
    status,
    duration_ms,
    input_args: asObject(own.json("gen_ai.tool.call.arguments", "gen_ai.tool.arguments", "gen_ai.tool.input")),
    output_result: own.json("gen_ai.tool.call.result", "gen_ai.tool.result", "gen_ai.tool.output") ?? null,
    error_details:
      status === "success"
        ? null
        : {
            error_type: own.text("error.type") ?? exception.text("exception.type") ?? "error",
            error_message: span.status?.message || (exception.text("exception.message") ?? ""),
            stack_trace: exception.text("exception.stacktrace") ?? "",
          },
    security_context: {
      user_id: own.text("user.id", "enduser.id") ?? null,
      ip_address: own.text("client.address") ?? "",
      user_agent: own.text("user_agent.original") ?? "",
    },
  };
}

function statusOf({ span, own }: Read): ToolStatus {
  const failed =
    span.status?.code === 2 || span.status?.code === "STATUS_CODE_ERROR" || own.text("error.type") !== undefined;
  if (!failed) return "success";
  return /time.?out|deadline/i.test(own.text("error.type") ?? "") ? "timeout" : "error";
}

/** On the span itself, or on its nearest ancestor. */
function lookUp(
  read: Read,
  byId: ReadonlyMap<string, Read>,
  find: (attributes: Attributes) => string | undefined,
): string | undefined {
  let at: Read | undefined = read;
  for (let steps = 0; at !== undefined && steps < parentsMax; steps += 1) {
    const found = find(at.own);
    if (found !== undefined) return found;
    at =
      hexId(at.span.parentSpanId) === undefined ? undefined : byId.get(spanKey(at.span.traceId, at.span.parentSpanId));
  }
  return undefined;
}

function spanKey(traceId: OtlpSpan["traceId"], spanId: OtlpSpan["spanId"]): string {
  return `${hexId(traceId) ?? ""}-${hexId(spanId) ?? ""}`;
}
