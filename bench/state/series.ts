/** A week of a million metrics a day, and a day of a hundred thousand tool calls. `STATE_DAILY=100000` (or `STATE_DAILY_POSTGRES`) for a quick look. */
import type { Row } from "../lib/report.ts";
import { described, latencies } from "./latency.ts";
import { onEachEngine, type StateServer } from "./server.ts";

const dailyDefault = Number(process.env["STATE_DAILY"] ?? 1_000_000);
const dailyOf = { SQLite: dailyDefault, PostgreSQL: Number(process.env["STATE_DAILY_POSTGRES"] ?? dailyDefault) };
const days = 7;
const toolCalls = Math.min(100_000, dailyDefault);
const agents = 200;
const perCall = 10_000;
const dayMs = 86_400_000;
/** The last whole days, so that nothing has expired and nothing is in the future. */
const lastDay = Math.floor(Date.now() / dayMs) * dayMs - dayMs;
const firstDay = lastDay - (days - 1) * dayMs;
const types = ["latency", "token_usage", "cost", "success_rate", "tool_usage"];
const models = ["gpt-4", "claude", "llama"];

export async function seriesRows(): Promise<Row[]> {
  return onEachEngine(async (server) => [...(await metrics(server)), ...(await tools(server))]);
}

async function metrics(server: StateServer): Promise<Row[]> {
  const daily = dailyOf[server.engine];
  const seconds: number[] = [];
  for (let day = 0; day < days; day += 1) {
    const begin = performance.now();
    await latencies(daily / perCall, 4, (n) =>
      server.call("POST", "/v1/metrics:ingest", metricLines(firstDay + day * dayMs, n * perCall, daily)),
    );
    seconds.push((performance.now() - begin) / 1000);
  }
  const bytes = server.bytes();
  const size = bytes === undefined ? "" : `, ${(bytes / (daily * days)).toFixed(0)} bytes each on disk with indexes`;
  const range = { from: new Date(firstDay).toISOString(), to: new Date(lastDay + dayMs).toISOString() };
  const aggregates = ["count", "avg", "p95"];
  const aggregate = (body: object) => server.call("POST", "/v1/metrics:aggregate", { ...range, aggregates, ...body });
  const oneAgent = (n: number) =>
    aggregate({ bucket: "hour", filter: { agent_id: `agent-${n % agents}`, metric_type: "latency" } });
  const everyone = () => aggregate({ bucket: "day", group_by: ["metric_type"] });
  const list = (n: number) =>
    server.call(
      "GET",
      `/v1/metrics?agent_id=agent-${n % agents}&metric_type=latency&from=${range.from}&to=${range.to}&limit=100`,
    );
  const sealing = performance.now();
  await everyone();
  const sealed = (performance.now() - sealing) / 1000;
  await latencies(5, 1, oneAgent);
  const [a, b, c] = [await latencies(100, 1, list), await latencies(60, 1, oneAgent), await latencies(20, 1, everyone)];
  const on = `7 days × ${daily / 1e6}M, over HTTP, ${server.engine}`;
  const rate = daily / (seconds.reduce((sum, one) => sum + one, 0) / days);
  return [
    {
      name: `metrics of an agent, 100 of the range, p95, ${on}`,
      value: a.p95,
      unit: "ms",
      bar: { atMost: 200 },
      note: described(a),
    },
    {
      name: `hourly avg and p95 of an agent's latency, p95, ${on}`,
      value: b.p95,
      unit: "ms",
      bar: { atMost: 200 },
      note: described(b),
    },
    {
      name: `daily count, avg and p95 of every metric, p95, ${on}`,
      value: c.p95,
      unit: "ms",
      bar: { atMost: 200 },
      note: `${described(c)}; the first time, with whatever was not sealed: ${sealed.toPrecision(3)} s`,
    },
    {
      name: `metrics ingested (${perCall} a call), ${on}`,
      value: rate,
      unit: "/s",
      bar: { atLeast: 5_000 },
      note: `a day in ${(daily / rate).toPrecision(3)} s${size}`,
    },
  ];
}

function metricLines(day: number, first: number, daily: number): string {
  const lines = Array.from({ length: perCall }, (_, i) => {
    const n = first + i;
    const timestamp = new Date(day + Math.floor((n / daily) * dayMs)).toISOString();
    const dimensions = {
      session_id: `session-${n % 500}`,
      workflow_id: `workflow-${n % 300}`,
      environment: "production",
      model: models[n % 3],
      tool_name: null,
    };
    return JSON.stringify({
      id: `metric-${n}`,
      agent_id: `agent-${(n * 7) % agents}`,
      metric_type: types[Math.floor(n / agents) % 5],
      value: (n * 7919) % 100_003,
      timestamp,
      dimensions,
    });
  });
  return lines.join("\n");
}

async function tools(server: StateServer): Promise<Row[]> {
  const result = "A line of what the tool answered, with figures 12, 7 and 81. ".repeat(150);
  const perPost = 500;
  const date = new Date(lastDay).toISOString().slice(0, 10);
  const line = (n: number) =>
    JSON.stringify({
      id: `tool-${n}`,
      tool_name: `tool-${n % 20}`,
      agent_id: `agent-${(n * 7) % agents}`,
      session_id: `session-${n % 500}`,
      status: n % 25 === 0 ? "timeout" : "success",
      duration_ms: (n * 131) % 5_000,
      timestamp: new Date(lastDay + Math.floor((n / toolCalls) * dayMs)).toISOString(),
      input_args: { query: `what is ${n}` },
      output_result: { text: result },
      security_context: { user_id: `user-${n % 50}`, ip_address: "10.0.0.1", user_agent: "bench" },
    });
  const begin = performance.now();
  await latencies(toolCalls / perPost, 4, (n) =>
    server.call(
      "POST",
      "/v1/tool-invocations:ingest",
      Array.from({ length: perPost }, (_, i) => line(n * perPost + i)).join("\n"),
    ),
  );
  const rate = toolCalls / ((performance.now() - begin) / 1000);
  const range = `from=${date}T00:00:00Z&to=${new Date(lastDay + dayMs).toISOString()}`;
  const query = (n: number) =>
    server.call("GET", `/v1/tool-invocations?${range}&tool_name=tool-${n % 20}&status=success&limit=100`);
  await latencies(10, 1, query);
  const found = await latencies(100, 1, query);
  const aggregate = () =>
    server.call("POST", "/v1/tool-invocations:aggregate", {
      from: `${date}T00:00:00Z`,
      to: new Date(lastDay + dayMs).toISOString(),
      aggregates: ["count", "p95"],
      group_by: ["tool_name", "status"],
    });
  await aggregate();
  const grouped = await latencies(30, 1, aggregate);
  const on = `a day of ${toolCalls / 1_000}k × 10 KB, over HTTP, ${server.engine}`;
  return [
    {
      name: `tool calls of one tool with one status, 100, p95, ${on}`,
      value: found.p95,
      unit: "ms",
      bar: { atMost: 100 },
      note: described(found),
    },
    {
      name: `count and p95 by tool and status, p95, ${on}`,
      value: grouped.p95,
      unit: "ms",
      bar: { atMost: 100 },
      note: described(grouped),
    },
    {
      name: `tool calls ingested (${perPost} a call), ${on}`,
      value: rate,
      unit: "/s",
      bar: { atLeast: 1_000 },
      note: "",
    },
  ];
}
