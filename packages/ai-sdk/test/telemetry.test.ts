import type { Metric, StateApi, ToolInvocation } from "@pinakes/client";
import {
  embed,
  generateText,
  isStepCount,
  jsonSchema,
  registerTelemetry,
  simulateReadableStream,
  streamText,
  tool,
} from "ai";
import { MockEmbeddingModelV4, MockLanguageModelV4 } from "ai/test";
import { afterEach, describe, expect, it } from "vitest";
import { pinakesTelemetry } from "../src/index.ts";
import { recordedBytesMax } from "../src/telemetry/rows.ts";
import { openWorld, ways } from "./support/worlds.ts";

const usage = {
  inputTokens: { total: 7, noCache: 7, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 4, text: 4, reasoning: undefined },
};
const text = (words: string) => ({
  content: [{ type: "text" as const, text: words }],
  finishReason: { unified: "stop" as const, raw: "stop" },
  usage,
  warnings: [],
});
const toolCalls = (...names: readonly string[]) => ({
  ...text(""),
  content: names.map((toolName, i) => ({
    type: "tool-call" as const,
    toolCallId: `call${i}`,
    toolName,
    input: '{"city":"Rome"}',
  })),
  finishReason: { unified: "tool-calls" as const, raw: "tool_calls" },
});
const inputSchema = jsonSchema<{ city: string }>({
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
});
const tools = {
  weather: tool({ inputSchema, execute: async ({ city }) => ({ city, degrees: 20 }) }),
  broken: tool({
    inputSchema,
    execute: async (): Promise<string> => {
      throw new RangeError("no such city");
    },
  }),
  slow: tool({
    inputSchema,
    execute: async (): Promise<string> => {
      throw new DOMException("took too long", "TimeoutError");
    },
  }),
  large: tool({ inputSchema, execute: async () => "x".repeat(recordedBytesMax - 1) }),
};

async function stored(api: StateApi) {
  const metrics = (await api.metrics.list({ limit: 100 })).items as readonly (Metric & {
    readonly token_usage?: unknown;
  })[];
  const invocations = (await api.tools.list({ limit: 100 })).items as readonly ToolInvocation[];
  return { metrics, invocations };
}

describe.each(ways)("telemetry on %s, %s", (engine, via) => {
  afterEach(() => void (globalThis.AI_SDK_TELEMETRY_INTEGRATIONS = []));

  it("R-AGT-95 AI SDK telemetry: each model call gives latency and tokens, each tool execution an invocation", async () => {
    await using world = await openWorld(engine, via);
    const api = await world.api();
    const telemetry = pinakesTelemetry(api, { environment: "staging" });
    registerTelemetry(telemetry);
    const model = new MockLanguageModelV4({
      modelId: "model-1",
      doGenerate: [toolCalls("weather", "broken", "slow", "large"), text("done")],
    });
    const result = await generateText({
      model,
      prompt: "How warm is it?",
      tools,
      stopWhen: isStepCount(3),
      runtimeContext: { session_id: "session-1", userId: "ada", secret: "x" },
      telemetry: { functionId: "weather-agent", includeRuntimeContext: { session_id: true, userId: true } },
    });
    expect(result.text).toBe("done");
    await telemetry.flush();
    const { metrics, invocations } = await stored(api);
    expect(metrics.map(({ metric_type }) => metric_type).sort()).toEqual([
      "latency",
      "latency",
      "token_usage",
      "token_usage",
    ]);
    for (const { agent_id, dimensions, value, metric_type, token_usage } of metrics) {
      expect([agent_id, dimensions.session_id, dimensions.model, dimensions.environment]).toEqual([
        "weather-agent",
        "session-1",
        "model-1",
        "staging",
      ]);
      expect(metric_type === "latency" ? value >= 0 : value === 11).toBe(true);
      expect(token_usage).toEqual(
        metric_type === "latency" ? undefined : { prompt_tokens: 7, completion_tokens: 4, total_tokens: 11 },
      );
    }
    const byName = new Map(invocations.map((invocation) => [invocation.tool_name, invocation]));
    expect([...byName.keys()].sort()).toEqual(["broken", "large", "slow", "weather"]);
    const common = { agent_id: "weather-agent", session_id: "session-1", input_args: { city: "Rome" } };
    expect(byName.get("weather")).toMatchObject({
      ...common,
      status: "success",
      output_result: { city: "Rome", degrees: 20 },
      error_details: null,
    });
    expect(byName.get("weather")?.security_context.user_id).toBe("ada");
    expect(byName.get("broken")).toMatchObject({
      ...common,
      status: "error",
      output_result: null,
      error_details: { error_type: "RangeError", error_message: "no such city" },
    });
    expect(byName.get("slow")).toMatchObject({ status: "timeout" });
    expect(byName.get("large")?.output_result).toMatchObject({ truncated: true, bytes: recordedBytesMax + 1 });
    expect(JSON.stringify([metrics, invocations])).not.toContain('"secret"');
    const sums = await api.metrics.aggregate({
      aggregates: ["sum"],
      group_by: ["metric_type"],
      filter: { metric_type: "token_usage" },
    });
    expect(sums.items[0]?.values.sum).toBe(22);
  });

  it("R-AGT-95 AI SDK telemetry: streams and embeddings are observed too; inputs and outputs that may not be recorded are not", async () => {
    await using world = await openWorld(engine, via);
    const api = await world.api();
    const telemetry = pinakesTelemetry(api, {
      identify: ({ functionId }) => ({ agent_id: `agent of ${functionId}`, session_id: "fixed", workflow_id: "w1" }),
    });
    const settings = { integrations: telemetry, functionId: "f1" };
    const chunks = [
      { type: "stream-start" as const, warnings: [] },
      { type: "tool-call" as const, toolCallId: "c1", toolName: "weather", input: '{"city":"Oslo"}' },
      { type: "finish" as const, finishReason: { unified: "tool-calls" as const, raw: "x" }, usage },
    ];
    const model = new MockLanguageModelV4({ doStream: { stream: simulateReadableStream({ chunks }) } });
    const { steps } = streamText({
      model,
      prompt: "?",
      tools,
      telemetry: { ...settings, recordInputs: false, recordOutputs: false },
    });
    expect((await steps)[0]?.toolResults.length).toBe(1);
    const embedding = { embeddings: [[0.1]], usage: { tokens: 9 }, warnings: [] };
    await embed({
      model: new MockEmbeddingModelV4({ modelId: "embedder", doEmbed: embedding }),
      value: "text",
      telemetry: settings,
    });
    await telemetry.close();
    const { metrics, invocations } = await stored(api);
    const tokens = metrics
      .filter(({ metric_type }) => metric_type === "token_usage")
      .map(({ dimensions, value }) => [dimensions.model, value]);
    expect(tokens.sort()).toEqual([
      ["embedder", 9],
      ["mock-model-id", 11],
    ]);
    expect(metrics.filter(({ metric_type }) => metric_type === "latency").length).toBe(2);
    expect(
      new Set(
        metrics.map(({ agent_id, dimensions }) => [agent_id, dimensions.session_id, dimensions.workflow_id].join()),
      ),
    ).toEqual(new Set(["agent of f1,fixed,w1"]));
    expect(invocations).toEqual([
      expect.objectContaining({
        tool_name: "weather",
        workflow_id: "w1",
        input_args: {},
        output_result: null,
        status: "success",
      }),
    ]);
  });

  it("R-AGT-95 AI SDK telemetry: a call does not notice that nothing can be stored; what was observed is stored later, once", async () => {
    await using world = await openWorld(engine, via);
    const real = await world.api();
    let isDown = true;
    const guard =
      <Args extends unknown[], Result>(run: (...args: Args) => Promise<Result>) =>
      async (...args: Args): Promise<Result> => {
        if (isDown) throw new Error("the network is down");
        await run(...args);
        return run(...args);
      };
    const api: StateApi = {
      ...real,
      metrics: {
        ...pick(real.metrics, "list", "aggregate", "rollups", "names", "forgetName"),
        ingest: guard((...args: Parameters<StateApi["metrics"]["ingest"]>) => real.metrics.ingest(...args)),
      },
    };
    const errors: unknown[] = [];
    const onError = (error: unknown) => {
      errors.push(error);
      throw new Error("and the reporter fails");
    };
    const telemetry = pinakesTelemetry(api, { onError, flushMs: 5, identify: () => ({ session_id: "s" }) });
    const model = new MockLanguageModelV4({ doGenerate: text("fine") });
    for (let i = 0; i < 3; i += 1)
      expect((await generateText({ model, prompt: "?", telemetry: { integrations: telemetry } })).text).toBe("fine");
    await expect(telemetry.flush()).rejects.toThrow(/network is down/);
    expect(errors.length).toBeGreaterThan(0);
    isDown = false;
    await telemetry.flush();
    await telemetry.close();
    const { metrics } = await stored(real);
    expect(metrics.length).toBe(6);
    expect(new Set(metrics.map(({ agent_id }) => agent_id))).toEqual(new Set(["ai-sdk"]));
    expect((await generateText({ model, prompt: "?", telemetry: { integrations: telemetry } })).text).toBe("fine");
  });
});

function pick<Group extends object, Name extends keyof Group>(
  group: Group,
  ...names: readonly Name[]
): Pick<Group, Name> {
  return Object.fromEntries(names.map((name) => [name, group[name]])) as Pick<Group, Name>;
}
