/** Workflows of 50 KB over HTTP, and a thousand of them at once. */
import type { Row } from "../lib/report.ts";
import { described, latencies } from "./latency.ts";
import { onEachEngine, type StateServer } from "./server.ts";

const workflows = 200;
const calls = 3_000;
const warmUpCalls = 1_500;
const fleet = 1_000;
const steps = 4;

export async function workflowRows(): Promise<Row[]> {
  return onEachEngine(async (server) => [...(await readAndUpdate(server)), await thousandAtOnce(server)]);
}

/** Fifty agents' results: what an update sends is what is stored. */
function agents(bytes: number): object[] {
  const output = "The design has three parts, each with its own tests and a reason. ".repeat(14);
  return Array.from({ length: Math.ceil(bytes / 1_150) }, (_, i) => ({
    agent_id: `agent-${i}`,
    agent_name: `Agent ${i}`,
    status: "completed",
    started_at: "2026-10-07T10:00:00Z",
    completed_at: "2026-10-07T10:05:30Z",
    duration_ms: 330_000,
    result: {
      output,
      tool_calls: [],
      token_usage: { prompt_tokens: 1_500, completion_tokens: 800, total_tokens: 2_300 },
      error: null,
    },
  }));
}

async function readAndUpdate(server: StateServer): Promise<Row[]> {
  const content = agents(51_200);
  for (let i = 0; i < workflows; i += 1)
    await server.call("POST", "/v1/workflows", {
      workflow_id: `w${i}`,
      type: "sequential",
      name: `Workflow ${i}`,
      total_steps: 100,
      agents: content,
    });
  const path = (n: number) => `/v1/workflows/w${(n * 7) % workflows}`;
  const bodies = Array.from({ length: 100 }, (_, step) => JSON.stringify({ current_step: step, agents: content }));
  const read = (n: number) => server.send("GET", path(n));
  const update = (n: number) => server.send("PATCH", path(n), bodies[n % bodies.length]);
  // Warms up the server's JIT.
  await latencies(warmUpCalls, 16, read);
  await latencies(warmUpCalls, 16, update);
  const single = await latencies(calls / 3, 1, read);
  const reads = await latencies(calls, 16, read);
  const updates = await latencies(calls, 16, update);
  const reads64 = await latencies(calls, 64, read);
  const updates64 = await latencies(calls, 64, update);
  const on = `50 KB, over HTTP, ${server.engine}`;
  return [
    {
      name: `workflow read p95, one at a time, ${on}`,
      value: single.p95,
      unit: "ms",
      bar: { atMost: 10 },
      note: described(single),
    },
    { name: `workflow read p95, 16 in flight, ${on}`, value: reads.p95, unit: "ms", bar: null, note: described(reads) },
    {
      name: `workflow update p95, 16 in flight, ${on}`,
      value: updates.p95,
      unit: "ms",
      bar: { atMost: 50 },
      note: described(updates),
    },
    {
      name: `workflow read p95, 64 in flight, ${on}`,
      value: reads64.p95,
      unit: "ms",
      bar: null,
      note: described(reads64),
    },
    {
      name: `workflow update p95, 64 in flight, ${on}`,
      value: updates64.p95,
      unit: "ms",
      bar: null,
      note: described(updates64),
    },
  ];
}

async function thousandAtOnce(server: StateServer): Promise<Row> {
  const one = async (n: number): Promise<void> => {
    const at = `/v1/workflows/fleet-${n}`;
    await server.call("POST", "/v1/workflows", {
      workflow_id: `fleet-${n}`,
      type: "state_machine",
      name: `Fleet ${n}`,
      total_steps: steps,
    });
    await server.call("POST", `${at}:start`);
    for (let step = 1; step <= steps; step += 1) {
      await server.call("POST", `${at}/checkpoints`, { step, state: { step, n }, agent_context: {} });
      await server.call("PATCH", at, { current_step: step });
    }
    await server.call("POST", `${at}:complete`);
  };
  const begin = performance.now();
  await Promise.all(Array.from({ length: fleet }, (_, n) => one(n)));
  const seconds = (performance.now() - begin) / 1000;
  let whole = 0;
  for (let n = 0; n < fleet; n += 1) {
    const { status, current_step, checkpoints } = (await server.call("GET", `/v1/workflows/fleet-${n}`)) as {
      status: string;
      current_step: number;
      checkpoints: { step: number; state: { n: number } }[];
    };
    const kept = checkpoints.every((checkpoint, i) => checkpoint.step === i + 1 && checkpoint.state.n === n);
    if (status === "completed" && current_step === steps && checkpoints.length === steps && kept) whole += 1;
  }
  const note = `each with ${steps} steps and checkpoints; ${seconds.toPrecision(3)} s, ${Math.round((fleet * (3 + 2 * steps)) / seconds)} calls/s`;
  return {
    name: `of 1,000 concurrent workflows complete with nothing lost, ${server.engine}`,
    value: whole,
    unit: "",
    bar: { atLeast: fleet },
    note,
  };
}
