/** A hundred of ten thousand messages of an agent, and ten thousand agents. */
import type { Row } from "../lib/report.ts";
import { described, latencies } from "./latency.ts";
import { onEachEngine, type StateServer } from "./server.ts";

const messages = 10_000;
const perSession = 1_000;
const messageBytes = 5_120;
const agents = 10_000;
/** `STATE_MEMORIES=100` for as many as the requirement names. */
const perAgent = Number(process.env["STATE_MEMORIES"] ?? 20);
const perCall = 20;

export async function memoryRows(): Promise<Row[]> {
  return onEachEngine(async (server) => {
    await fill(server, ["big"], messages, messageBytes);
    const query = (n: number) =>
      server.call("GET", `/v1/agents/big/sessions/s${n % (messages / perSession)}/messages?limit=100`);
    const context = (n: number) =>
      server.call("GET", `/v1/agents/big/sessions/s${n % (messages / perSession)}/context?max_tokens=8000`);
    await latencies(50, 1, query);
    const [one, window] = [await latencies(300, 1, query), await latencies(200, 1, context)];
    const ids = Array.from({ length: agents }, (_, i) => `agent-${i}`);
    const begin = performance.now();
    await fill(server, ids, perAgent, 500);
    const rate = (agents * perAgent) / ((performance.now() - begin) / 1000);
    const crowded = await latencies(500, 16, (n) =>
      server.call("GET", `/v1/agents/agent-${(n * 31) % agents}/sessions/s0/messages?limit=100`),
    );
    const on = `over HTTP, ${server.engine}`;
    return [
      {
        name: `100 of 10,000 memories of 5 KB p95, ${on}`,
        value: one.p95,
        unit: "ms",
        bar: { atMost: 50 },
        note: described(one),
      },
      {
        name: `context window of 8,000 tokens of it p95, ${on}`,
        value: window.p95,
        unit: "ms",
        bar: null,
        note: described(window),
      },
      {
        name: `100 memories of one of 10,000 agents, 16 in flight, p95, ${on}`,
        value: crowded.p95,
        unit: "ms",
        bar: { atMost: 50 },
        note: described(crowded),
      },
      {
        name: `memories appended (${perCall} a call), ${on}`,
        value: rate,
        unit: "/s",
        bar: { atLeast: 1_000 },
        note: `${agents} agents × ${perAgent}`,
      },
    ] satisfies Row[];
  });
}

async function fill(server: StateServer, ids: readonly string[], count: number, bytes: number): Promise<void> {
  const content = "What was said about the failover and what follows from it. ".repeat(100).slice(0, bytes - 450);
  const work = ids.flatMap((agent) => Array.from({ length: count / perCall }, (_, call) => ({ agent, call })));
  await latencies(work.length, 8, async (n) => {
    const { agent, call } = work[n] as { agent: string; call: number };
    const batch = Array.from({ length: perCall }, (_, i) => {
      const place = call * perCall + i;
      const timestamp = new Date(Date.UTC(2026, 9, 1) + place * 1_000).toISOString();
      return {
        session_id: `s${Math.floor(place / perSession)}`,
        content,
        message_type: place % 2 ? "assistant" : "user",
        timestamp,
      };
    });
    await server.call("POST", `/v1/agents/${agent}/memories`, { messages: batch });
  });
}
