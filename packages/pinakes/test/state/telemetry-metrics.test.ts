/** Metrics and logs of OpenTelemetry: rows of the fixed types, custom ones, and what is not kept. */
import { describe, expect, it } from "vitest";
import { testStart } from "../../src/state/series/test-series.ts";
import {
  attributes,
  chatSpan,
  forms,
  json,
  kept,
  nanos,
  opened,
  resource,
  traceId,
  traces,
  type Attribute,
} from "./support/otlp.ts";

describe("metrics and logs", () => {
  const point = (more: object, values: Readonly<Record<string, Attribute>> = { "gen_ai.request.model": "gpt-4o" }) => ({
    attributes: attributes(values),
    startTimeUnixNano: nanos(testStart),
    timeUnixNano: nanos(testStart + 60_000),
    ...more,
  });
  const body = (...metrics: readonly object[]) => ({ resourceMetrics: [{ resource, scopeMetrics: [{ metrics }] }] });
  const tokens = (temporality: number) => ({
    name: "gen_ai.client.token.usage",
    unit: "{token}",
    histogram: {
      aggregationTemporality: temporality,
      dataPoints: [
        point({ count: "4", sum: 400 }, { "gen_ai.token.type": "input" }),
        point({ count: "4", sum: 80 }, { "gen_ai.token.type": "output" }),
        point({ count: "0", sum: 0 }, { a: 1 }),
      ],
    },
  });
  const durations = {
    name: "gen_ai.client.operation.duration",
    unit: "s",
    histogram: { aggregationTemporality: 1, dataPoints: [point({ count: "4", sum: 6 })] },
  };

  it.each(forms)("R-AGT-98 histograms of an interval become one row each, as %s", async (_, contentType, encode) => {
    const { test, telemetry } = await opened();
    const other = {
      name: "http.server.duration",
      unit: "ms",
      histogram: { aggregationTemporality: 1, dataPoints: [point({ count: "1", sum: 1 })] },
    };
    const cost = {
      name: "gen_ai.client.cost",
      unit: "usd",
      sum: { aggregationTemporality: 1, isMonotonic: true, dataPoints: [point({ asDouble: 0.25 })] },
    };
    const payload = encode("MetricsRequest", body(tokens(1), durations, other, cost));
    const answer = await telemetry.metrics(test.user, payload, contentType);
    expect(answer.json).toEqual({
      partialSuccess: { rejectedDataPoints: 1, errorMessage: expect.any(String) as string },
    });
    await telemetry.metrics(test.user, payload, contentType);
    const { metrics } = await kept(test);
    expect(metrics.map(({ metric_type, value, agent_id }) => `${metric_type} ${value} ${agent_id}`).toSorted()).toEqual(
      [
        "cost 0.25 shop",
        "custom.http_server_duration 1 shop",
        "latency 1500 shop",
        "token_usage 400 shop",
        "token_usage 80 shop",
      ],
    );
    expect(metrics.find(({ metric_type }) => metric_type === "latency")).toMatchObject({
      operations: 4,
      timestamp: "2030-01-01T00:01:00.000Z",
    });
  });

  it.each(forms)(
    "a name that is not known becomes a custom type, its attributes custom dimensions, as %s",
    async (_, contentType, encode) => {
      const { test, telemetry } = await opened();
      const values = {
        "http.route": "/v1/search",
        "http.response.status_code": 200,
        "gen_ai.request.model": "gpt-4o",
        "session.id": "s1",
        model: "no",
        ok: true,
      };
      const gauge = { name: "eval.Faithfulness", gauge: { dataPoints: [point({ asDouble: 0.75 }, values)] } };
      const times = {
        name: "http.server.request.duration",
        unit: "s",
        histogram: { aggregationTemporality: 1, dataPoints: [point({ count: "4", sum: 6 }, {})] },
      };
      const sum = {
        name: "5xx",
        sum: { aggregationTemporality: 1, isMonotonic: true, dataPoints: [point({ asInt: "3" }, {})] },
      };
      const payload = encode("MetricsRequest", body(gauge, times, sum));
      expect((await telemetry.metrics(test.user, payload, contentType)).json).toEqual({});
      expect((await telemetry.metrics(test.user, payload, contentType)).json).toEqual({});
      const { metrics } = await kept(test);
      expect(metrics.map(({ metric_type, value }) => `${metric_type} ${value}`).toSorted()).toEqual([
        "custom.eval_faithfulness 0.75",
        "custom.http_server_request_duration 1.5",
        "custom.n_5xx 3",
      ]);
      expect(metrics.find(({ metric_type }) => metric_type.endsWith("duration"))).toMatchObject({
        operations: 4,
        unit: "s",
      });
      expect(metrics.find(({ value }) => value === 0.75)?.dimensions).toEqual({
        session_id: "s1",
        workflow_id: "",
        environment: "production",
        model: "gpt-4o",
        tool_name: null,
        http_route: "/v1/search",
        http_response_status_code: "200",
        ok: "true",
      });
    },
  );

  it("custom names of OTLP are bounded: sixteen dimensions of a point, 256 characters, and points of names beyond the limit are counted", async () => {
    const { test, telemetry } = await opened();
    const gauge = (name: string, values: Readonly<Record<string, Attribute>> = {}) => ({
      name,
      gauge: { dataPoints: [point({ asDouble: 1 }, values)] },
    });
    const send = async (...metrics: readonly object[]) =>
      (await telemetry.metrics(test.user, Buffer.from(JSON.stringify(body(...metrics))), json)).json.partialSuccess;
    const values = Object.fromEntries(
      Array.from({ length: 18 }, (_, i) => [`key.${String(i).padStart(2, "0")}`, "x".repeat(300)]),
    );
    expect(await send(gauge("many", values))).toBeUndefined();
    const { metrics } = await kept(test);
    const own = Object.entries(metrics[0]?.dimensions ?? {}).filter(([key]) => key.startsWith("key_"));
    expect(own).toEqual(Array.from({ length: 16 }, (_, i) => [`key_${String(i).padStart(2, "0")}`, "x".repeat(256)]));
    const long = "x".repeat(70);
    expect(await send(gauge(`${long}1`), gauge(`${long}2`))).toBeUndefined();
    expect(
      (await test.metrics.names(test.user)).types
        .filter((name) => name.startsWith("custom.xxx"))
        .map(({ length }) => length),
    ).toEqual([70, 70]);
    const names = Array.from({ length: 198 }, (_, i) => gauge(`name.${i}`));
    expect(await send(...names, gauge("gen_ai.client.cost"))).toMatchObject({
      rejectedDataPoints: 1,
      errorMessage: expect.stringContaining("200 custom types") as string,
    });
    expect((await kept(test)).metrics.length).toBe(3 + 197 + 1);
  });

  it("R-AGT-98 cumulative points would count again and again: they are refused, with what to set", async () => {
    const { test, telemetry } = await opened();
    const { json: told } = await telemetry.metrics(test.user, Buffer.from(JSON.stringify(body(tokens(2)))), json);
    expect(told.partialSuccess).toMatchObject({
      rejectedDataPoints: 3,
      errorMessage: expect.stringContaining("TEMPORALITY_PREFERENCE=delta") as string,
    });
    expect((await kept(test)).metrics).toEqual([]);
  });

  it.each(forms)(
    "R-AGT-98 the details of an inference give its tokens, once for span and event, as %s",
    async (_, contentType, encode) => {
      const { test, telemetry } = await opened();
      const record = (values: Readonly<Record<string, Attribute>>, eventName: string) => ({
        timeUnixNano: nanos(testStart + 1000),
        eventName,
        traceId,
        spanId: "00000000000000c1",
        attributes: attributes(values),
      });
      const details = record(
        { "gen_ai.usage.input_tokens": 100, "gen_ai.usage.output_tokens": 20, "gen_ai.request.model": "gpt-4o" },
        "gen_ai.client.inference.operation.details",
      );
      const payload = {
        resourceLogs: [{ resource, scopeLogs: [{ logRecords: [details, record({}, "gen_ai.user.message")] }] }],
      };
      const answer = await telemetry.logs(test.user, encode("LogsRequest", payload), contentType);
      expect(answer.json).toEqual({
        partialSuccess: { rejectedLogRecords: 1, errorMessage: expect.any(String) as string },
      });
      await telemetry.traces(test.user, encode("TracesRequest", traces(chatSpan)), contentType);
      const { metrics } = await kept(test);
      expect(metrics.filter(({ metric_type }) => metric_type === "token_usage").map(({ value }) => value)).toEqual([
        120,
      ]);
    },
  );
});
