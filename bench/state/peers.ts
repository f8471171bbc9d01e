/**
 * A 50 KB state, embedded, against LangGraph's own checkpointers on the same engine and with the same durability: the latest
 * checkpoint of a workflow, and the same through our LangGraph saver.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { emptyCheckpoint, type BaseCheckpointSaver, type Checkpoint } from "@langchain/langgraph-checkpoint";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { startPostgres } from "../../packages/pinakes/src/drivers/postgres/test-server.ts";
import type { JsonObject } from "../../packages/pinakes/src/domain/json.ts";
import { open, type Pinakes } from "../../packages/pinakes/src/open.ts";
import { documentOf } from "../lib/documents.ts";
import { compare, us, type Comparison } from "../lib/measure.ts";
import type { Row } from "../lib/report.ts";

const threads = 64;
const stateBytes = 51_200;
const inFlight = 64;
const writes = inFlight * 12;

export async function peerRows(): Promise<Row[]> {
  const dir = mkdtempSync(join(tmpdir(), "pinakes-peers-"));
  const postgres = await startPostgres();
  try {
    return [...(await onSqlite(dir)), ...(await onPostgres(dir, postgres.url))];
  } finally {
    await postgres.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function onSqlite(dir: string): Promise<Row[]> {
  const saver = SqliteSaver.fromConnString(join(dir, "langgraph.sqlite"));
  // Its default is NORMAL in WAL mode, which may lose the last commits at a power cut; ours is FULL.
  saver.db.pragma("synchronous = FULL");
  await using pinakes = await open({ dir: join(dir, "sqlite"), background: false });
  return await against("SQLite", pinakes, saver, { read: 2.5, write: 1.5 });
}

async function onPostgres(dir: string, url: string): Promise<Row[]> {
  const saver = PostgresSaver.fromConnString(url);
  await saver.setup();
  try {
    await using pinakes = await open({
      dir: join(dir, "postgres"),
      items: url,
      objects: `file:${join(dir, "postgres-objects")}`,
      background: false,
    });
    return await against("PostgreSQL", pinakes, saver, { read: 15, write: null });
  } finally {
    await saver.end();
  }
}

async function against(
  engine: string,
  pinakes: Pinakes,
  saver: BaseCheckpointSaver,
  bars: { read: number; write: number | null },
): Promise<Row[]> {
  const { workflows } = pinakes.state.as(pinakes.as({ tenant: "bench", userId: "bench" }));
  for (let i = 0; i < threads; i += 1) {
    await workflows.create({ workflow_id: `t${i}`, type: "sequential", name: `Thread ${i}`, total_steps: 1_000_000 });
    await workflows.checkpoint(`t${i}`, { step: 0, state: stateOf(i, 0) });
    await workflows.create({
      workflow_id: `w${i}`,
      type: "sequential",
      name: `State ${i}`,
      total_steps: 1,
      ...inDocument(i),
    });
    await put(saver, i, 0);
  }
  const operations = engine === "SQLite" ? 512 : 128;
  const against = async (ours: (i: number) => Promise<unknown>): Promise<Comparison> =>
    compare({
      rounds: 9,
      operations,
      theirs: async () => {
        for (let i = 0; i < operations; i += 1) {
          const tuple = await saver.getTuple({ configurable: { thread_id: `t${i % threads}`, checkpoint_ns: "" } });
          requireWhole(tuple?.checkpoint.channel_values["state"]);
        }
      },
      ours: async () => {
        for (let i = 0; i < operations; i += 1) requireWhole(await ours(i % threads));
      },
    });
  const reading = await against(
    async (i) => ((await workflows.get(`w${i}`, { checkpoints: "none" })) as unknown as { state: unknown }).state,
  );
  const resuming = await against(async (i) => (await workflows.checkpointAt(`t${i}`, "latest")).state);
  let step = 0;
  const writing = await compare({
    rounds: 7,
    operations: writes,
    theirs: () => together(writes, (i) => put(saver, i, (step += 1))),
    ours: () =>
      together(writes, (i) => workflows.checkpoint(`t${i % threads}`, { step: (step += 1), state: stateOf(i, step) })),
  });
  return [
    row(`read a workflow with a 50 KB state, embedded, vs LangGraph on ${engine}`, reading, bars.read),
    row(`read the latest 50 KB checkpoint of a workflow, embedded, vs LangGraph on ${engine}`, resuming, null),
    row(`write a 50 KB checkpoint, ${inFlight} in flight, durable, vs LangGraph on ${engine}`, writing, bars.write),
  ];
}

function row(name: string, { ratio, oursUs, theirsUs }: Comparison, bar: number | null): Row {
  return {
    name,
    value: ratio,
    unit: "×",
    bar: bar === null ? null : { atLeast: bar },
    note: `ours ${us(oursUs)}, LangGraph ${us(theirsUs)}`,
  };
}

/** A custom property: documents keep unknown properties. */
function inDocument(thread: number): object {
  return { state: stateOf(thread, 0) };
}

/** Created beforehand, so that it does not count for either. */
const states = Array.from({ length: threads }, (_, i) => documentOf("state", `t${i}`, stateBytes));

function stateOf(thread: number, step: number): JsonObject {
  return { ...states[thread % threads], step };
}

async function put(saver: BaseCheckpointSaver, thread: number, step: number): Promise<void> {
  const checkpoint: Checkpoint = {
    ...emptyCheckpoint(step),
    channel_values: { state: stateOf(thread, step) },
    channel_versions: { state: step + 1 },
  };
  await saver.put(
    { configurable: { thread_id: `t${thread % threads}`, checkpoint_ns: "" } },
    checkpoint,
    { source: "loop", step, parents: {} },
    { state: step + 1 },
  );
}

async function together(operations: number, one: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < operations; i = next++) await one(i);
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
}

function requireWhole(state: unknown): void {
  if (((state as { messages?: unknown[] } | undefined)?.messages?.length ?? 0) < 100)
    throw new Error("The state is not whole.");
}
