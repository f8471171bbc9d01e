/** R-AGT-98: OpenTelemetry in, as JSON and protobuf; what maps is kept once, what does not is counted. */
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { otlpBytesMax, otlpInflatedBytesMax } from "../../src/state/telemetry/otlp-codec.ts";
import {
  agentSpan,
  attributes,
  binary,
  chatSpan,
  forms,
  json,
  kept,
  opened,
  root,
  span,
  toolSpan,
  traceId,
  traces,
} from "./support/otlp.ts";

describe.each(forms)("spans as %s", (_, contentType, encode) => {
  it("R-AGT-98 execute_tool, chat and invoke_agent spans become a tool invocation and metrics", async () => {
    const { test, telemetry } = await opened();
    const answer = await telemetry.traces(
      test.user,
      encode("TracesRequest", traces(agentSpan, chatSpan, toolSpan)),
      contentType,
    );
    expect(answer).toMatchObject({ contentType, json: {} });
    const { metrics, tools } = await kept(test);
    const common = { session_id: "conv-1", workflow_id: "", environment: "production", tool_name: null };
    expect(
      metrics.map(({ id, agent_id, metric_type, value, timestamp, dimensions }) => ({
        id,
        agent_id,
        metric_type,
        value,
        timestamp,
        dimensions,
      })),
    ).toEqual(
      expect.arrayContaining([
        {
          id: `otlp-${traceId}-00000000000000a1-latency`,
          agent_id: "agent-7",
          metric_type: "latency",
          value: 900,
          timestamp: "2030-01-01T00:00:01.000Z",
          dimensions: { ...common, model: "" },
        },
        {
          id: `otlp-${traceId}-00000000000000a1-success_rate`,
          agent_id: "agent-7",
          metric_type: "success_rate",
          value: 1,
          timestamp: "2030-01-01T00:00:01.000Z",
          dimensions: { ...common, model: "" },
        },
        {
          id: `otlp-${traceId}-00000000000000c1-latency`,
          agent_id: "agent-7",
          metric_type: "latency",
          value: 250.5,
          timestamp: "2030-01-01T00:00:01.000Z",
          dimensions: { ...common, model: "gpt-4o" },
        },
        {
          id: `otlp-${traceId}-00000000000000c1-token_usage`,
          agent_id: "agent-7",
          metric_type: "token_usage",
          value: 120,
          timestamp: "2030-01-01T00:00:01.000Z",
          dimensions: { ...common, model: "gpt-4o" },
        },
      ]),
    );
    expect(metrics.length).toBe(4);
    expect(metrics.find(({ metric_type }) => metric_type === "token_usage")).toMatchObject({
      tokens: { input: 100, output: 20 },
    });
    expect(tools).toMatchObject([
      {
        id: `otlp-${traceId}-00000000000000e1`,
        tool_name: "get_weather",
        agent_id: "agent-7",
        session_id: "conv-1",
        status: "success",
        duration_ms: 250.5,
        input_args: { city: "Oslo" },
        output_result: { degrees: 4.5, notes: ["cold"] },
        error_details: null,
        security_context: { user_id: "u7" },
      },
    ]);
  });

  it("R-AGT-98 an export that is sent again adds nothing", async () => {
    const { test, telemetry } = await opened();
    const payload = encode("TracesRequest", traces(agentSpan, chatSpan, toolSpan));
    await telemetry.traces(test.user, payload, contentType);
    test.clock.at += 60_000;
    expect((await telemetry.traces(test.user, payload, contentType)).json).toEqual({});
    const { metrics, tools } = await kept(test);
    expect([metrics.length, tools.length]).toEqual([4, 1]);
  });

  it("R-AGT-98 what has no place here is counted, in the form of the question", async () => {
    const { test, telemetry } = await opened();
    const others = [
      span({ id: "00000000000000b1", values: { "http.method": "GET" } }),
      span({ id: "00000000000000b2", values: { "gen_ai.operation.name": "embeddings" } }),
    ];
    const answer = await telemetry.traces(test.user, encode("TracesRequest", traces(chatSpan, ...others)), contentType);
    expect(answer.json).toEqual({
      partialSuccess: { rejectedSpans: 2, errorMessage: expect.stringContaining("2 spans") as string },
    });
    if (contentType === json) expect(JSON.parse(Buffer.from(answer.bytes).toString())).toEqual(answer.json);
    else
      expect(
        root.lookupType("Answer").toObject(root.lookupType("Answer").decode(answer.bytes), { longs: Number }),
      ).toMatchObject({
        partialSuccess: { rejected: 2 },
      });
    expect((await kept(test)).metrics.length).toBe(2);
  });
});

describe("details", () => {
  const send = async (...spans: readonly object[]) => {
    const { test, telemetry } = await opened();
    await telemetry.traces(test.user, Buffer.from(JSON.stringify(traces(...spans))), json);
    return kept(test);
  };
  const tool = { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t" };

  it("R-AGT-98 failures and timeouts are told apart, with what the exception said", async () => {
    const exception = {
      name: "exception",
      attributes: attributes({
        "exception.type": "HttpError",
        "exception.message": "404",
        "exception.stacktrace": "at x",
      }),
    };
    const { tools } = await send(
      span({ id: "00000000000000e1", values: tool, status: { code: 2, message: "not found" }, events: [exception] }),
      span({ id: "00000000000000e2", values: { ...tool, "error.type": "TimeoutError" } }),
      span({
        id: "00000000000000e3",
        values: { ...tool, "error.type": "ValueError" },
        status: { code: "STATUS_CODE_ERROR" },
        events: [exception],
      }),
      span({ id: "00000000000000e4", values: tool, status: { code: 1 } }),
    );
    expect(tools.map(({ status, error_details }) => [status, error_details])).toEqual([
      ["error", { error_type: "HttpError", error_message: "not found", stack_trace: "at x" }],
      ["timeout", { error_type: "TimeoutError", error_message: "", stack_trace: "" }],
      ["error", { error_type: "ValueError", error_message: "404", stack_trace: "at x" }],
      ["success", null],
    ]);
  });

  it("R-AGT-98 an agent that failed has a success rate of 0; older names of attributes are read", async () => {
    const { metrics } = await send(
      span({
        id: "00000000000000a1",
        values: { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "planner" },
        status: { code: 2 },
      }),
      span({
        id: "00000000000000c1",
        values: {
          "gen_ai.operation.name": "text_completion",
          "gen_ai.usage.prompt_tokens": 3,
          "gen_ai.usage.completion_tokens": 4,
          "gen_ai.response.model": "m",
        },
      }),
    );
    expect(
      metrics.map(({ metric_type, value, agent_id, dimensions: { model, session_id } }) => [
        metric_type,
        value,
        agent_id,
        model,
        session_id,
      ]),
    ).toEqual(
      expect.arrayContaining([
        ["success_rate", 0, "planner", "", traceId],
        ["token_usage", 7, "shop", "m", traceId],
      ]),
    );
    expect(metrics.length).toBe(4);
  });

  it("R-AGT-98 arguments that are no object are kept under `value`; a tool without a name has that of its span", async () => {
    const { tools } = await send(
      span({
        id: "00000000000000e1",
        name: "execute_tool find",
        values: {
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.tool.call.arguments": "not json",
          "gen_ai.tool.call.result": "plain text",
        },
      }),
    );
    expect(tools).toMatchObject([
      { tool_name: "find", input_args: { value: "not json" }, output_result: "plain text" },
    ]);
  });

  it("R-AGT-44 R-AGT-98 redaction rules hold for spans, too", async () => {
    const { test, telemetry } = await opened();
    await test.tools.putRule(test.admin, { tool_name: "get_weather", sensitive: true });
    await telemetry.traces(test.user, Buffer.from(JSON.stringify(traces(toolSpan))), json);
    expect((await kept(test)).tools).toMatchObject([{ input_args: {}, output_result: null }]);
    expect(
      JSON.stringify(
        await test.items.query(test.user.scope, "tool-invocations", { equals: { tool_date: "2030-01-01" } }),
      ),
    ).not.toContain("Oslo");
  });

  it("R-AGT-09 what is sent belongs to the sender's workspace", async () => {
    const { test, telemetry } = await opened();
    await telemetry.traces(test.stranger, Buffer.from(JSON.stringify(traces(toolSpan, chatSpan))), json);
    expect(await kept(test)).toEqual({ metrics: [], tools: [] });
    await expect(telemetry.traces(undefined as never, Buffer.from("{}"), json)).rejects.toMatchObject({
      code: "UNAUTHENTICATED",
    });
    await expect(telemetry.metrics(undefined as never, Buffer.from("{}"), json)).rejects.toMatchObject({
      code: "UNAUTHENTICATED",
    });
    await expect(telemetry.logs(undefined as never, Buffer.from("{}"), json)).rejects.toMatchObject({
      code: "UNAUTHENTICATED",
    });
  });

  it("spans that point at each other in a circle end, too", async () => {
    const { metrics } = await send(
      span({ id: "00000000000000c1", parent: "00000000000000c2", values: { "gen_ai.operation.name": "chat" } }),
      span({ id: "00000000000000c2", parent: "00000000000000c1", values: { "gen_ai.operation.name": "chat" } }),
    );
    expect(metrics.length).toBe(2);
  });
});

describe("bodies", () => {
  const payload = Buffer.from(JSON.stringify(traces(chatSpan)));

  it("gzipped ones are unpacked, within a limit", async () => {
    const { test, telemetry } = await opened();
    await telemetry.traces(test.user, gzipSync(payload), json, "gzip");
    expect((await kept(test)).metrics.length).toBe(2);
    const padded = (bytes: number) => gzipSync(Buffer.concat([payload, Buffer.alloc(bytes - payload.length, 0x20)]));
    expect((await telemetry.traces(test.user, padded(otlpInflatedBytesMax), json, "gzip")).json).toEqual({});
    await expect(telemetry.traces(test.user, padded(otlpInflatedBytesMax + 1), json, "gzip")).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
    });
    const plain = (bytes: number) => Buffer.concat([payload, Buffer.alloc(bytes - payload.length, 0x20)]);
    expect((await telemetry.traces(test.user, plain(otlpBytesMax), json)).json).toEqual({});
    await expect(telemetry.traces(test.user, plain(otlpBytesMax + 1), json)).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
    });
    await expect(telemetry.traces(test.user, payload, json, "gzip")).rejects.toMatchObject({ code: "INVALID" });
    await expect(telemetry.traces(test.user, payload, json, "br")).rejects.toMatchObject({ code: "INVALID" });
  });

  it("what is no export is refused, and what is half of one takes no harm", async () => {
    const { test, telemetry } = await opened();
    for (const [bytes, type] of [
      [Buffer.from("{"), json],
      [Buffer.from("[]"), json],
      [Buffer.from('{"resourceSpans":5}'), json],
      [Buffer.from("\xff\xff", "latin1"), json],
      [Buffer.from("\xff\xff\xff", "latin1"), binary],
      [payload, "text/plain"],
    ] as const)
      await expect(telemetry.traces(test.user, bytes, type)).rejects.toMatchObject({ code: "INVALID" });
    expect((await telemetry.traces(test.user, Buffer.from("{}"), json)).json).toEqual({});
    expect((await telemetry.traces(test.user, new Uint8Array(), binary)).json).toEqual({});
    const odd = {
      resourceSpans: [
        {
          scopeSpans: [
            {
              spans: [
                {},
                { traceId: "zz", attributes: [{}, { key: "a" }, { key: "b", value: { intValue: "x" } }] },
                null,
              ],
            },
          ],
        },
        {},
      ],
    };
    await expect(telemetry.traces(test.user, Buffer.from(JSON.stringify(odd)), json)).rejects.toMatchObject({
      code: "INVALID",
    });
    odd.resourceSpans[0]?.scopeSpans?.[0]?.spans.pop();
    expect((await telemetry.traces(test.user, Buffer.from(JSON.stringify(odd)), json)).json).toMatchObject({
      partialSuccess: { rejectedSpans: 2 },
    });
  });

  it("attributes that nest without end are cut", async () => {
    const { test, telemetry } = await opened();
    let value: object = { stringValue: "deep" };
    for (let i = 0; i < 60; i += 1) value = { arrayValue: { values: [value] } };
    const deep = {
      ...toolSpan,
      attributes: [
        ...toolSpan.attributes.filter(({ key }) => !key.includes("result")),
        { key: "gen_ai.tool.call.result", value },
      ],
    };
    await telemetry.traces(test.user, Buffer.from(JSON.stringify(traces(deep))), json);
    expect(JSON.stringify((await kept(test)).tools[0]?.output_result)).not.toContain("deep");
  });
});
