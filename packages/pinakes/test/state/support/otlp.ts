/** Exports of OpenTelemetry as senders make them, as JSON and protobuf, and what was kept of them. */
import protobuf from "protobufjs/light.js";
import { openTestSeries, testStart, type TestSeries } from "../../../src/state/series/test-series.ts";
import { otlpDescriptor } from "../../../src/state/telemetry/otlp-descriptor.ts";
import { Telemetry } from "../../../src/state/telemetry/telemetry.ts";

export const json = "application/json";
export const binary = "application/x-protobuf";
export const root = protobuf.Root.fromJSON(otlpDescriptor);
export const traceId = "5b8efff798038103d269b633813fc60c";
export const nanos = (ms: number) => `${BigInt(Math.round(ms * 1000)) * 1000n}`;

export type Attribute = string | number | boolean | object;
export const attributes = (values: Readonly<Record<string, Attribute>>) =>
  Object.entries(values).map(([key, value]) => ({ key, value: anyValue(value) }));

function anyValue(value: Attribute): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number") return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: (value as Attribute[]).map(anyValue) } };
  return { kvlistValue: { values: attributes(value as Record<string, Attribute>) } };
}

interface SpanInput {
  readonly id: string;
  readonly parent?: string;
  readonly name?: string;
  readonly ms?: number;
  readonly values: Readonly<Record<string, Attribute>>;
  readonly status?: object;
  readonly events?: readonly object[];
}

export const span = ({ id, parent, name = "span", ms = 250.5, values, status = {}, events = [] }: SpanInput) => ({
  traceId,
  spanId: id,
  ...(parent === undefined ? {} : { parentSpanId: parent }),
  name,
  kind: 3,
  startTimeUnixNano: nanos(testStart + 1000),
  endTimeUnixNano: nanos(testStart + 1000 + ms),
  attributes: attributes(values),
  status,
  events,
});

export const resource = {
  attributes: attributes({ "service.name": "shop", "deployment.environment.name": "production" }),
};
export const traces = (...spans: readonly object[]) => ({
  resourceSpans: [{ resource, scopeSpans: [{ scope: { name: "x" }, spans }] }],
});

export const agentSpan = span({
  id: "00000000000000a1",
  values: { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.id": "agent-7", "gen_ai.conversation.id": "conv-1" },
  ms: 900,
});
export const chatSpan = span({
  id: "00000000000000c1",
  parent: "00000000000000a1",
  values: {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "gpt-4o",
    "gen_ai.usage.input_tokens": 100,
    "gen_ai.usage.output_tokens": 20,
  },
});
export const toolSpan = span({
  id: "00000000000000e1",
  parent: "00000000000000c1",
  name: "execute_tool get_weather",
  values: {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "get_weather",
    "gen_ai.tool.call.arguments": '{"city":"Oslo"}',
    "gen_ai.tool.call.result": { degrees: 4.5, notes: ["cold"] },
    "user.id": "u7",
  },
});

interface Sent {
  readonly test: TestSeries;
  readonly telemetry: Telemetry;
}
export async function opened(): Promise<Sent> {
  const test = await openTestSeries();
  return { test, telemetry: new Telemetry({}, test) };
}

/** JSON has ids in hexadecimal, protobuf in bytes. */
function toBinary(message: string, value: object): Uint8Array {
  const type = root.lookupType(message);
  const bytes = JSON.parse(JSON.stringify(value), (key, part: unknown) =>
    /^(trace|span|parentSpan)Id$/.test(key) ? Buffer.from(part as string, "hex").toString("base64") : part,
  ) as object;
  return type.encode(type.fromObject(bytes)).finish();
}

export const forms = [
  ["JSON", json, (_: string, value: object) => Buffer.from(JSON.stringify(value), "utf8")],
  ["protobuf", binary, toBinary],
] as const;

export async function kept({ metrics, tools, user }: TestSeries) {
  return {
    metrics: (await metrics.list(user, { order: "asc", limit: 1000 })).items,
    tools: (await tools.list(user, { order: "asc" })).items,
  };
}
