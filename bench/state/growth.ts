/** The size of a conversation of 200 turns, checkpointed at each: ours per stored byte, LangGraph's SQLite saver by its file. */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { emptyCheckpoint, type BaseCheckpointSaver, type Checkpoint } from "@langchain/langgraph-checkpoint";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { PinakesSaver } from "../../packages/langgraph/src/index.ts";
import { open } from "../../packages/pinakes/src/open.ts";
import type { Row } from "../lib/report.ts";

const turns = 200;
const messageBytes = 1_000;

export async function growthRows(): Promise<Row[]> {
  const dir = mkdtempSync(join(tmpdir(), "pinakes-growth-"));
  try {
    await using pinakes = await open({ dir: join(dir, "ours"), background: false });
    const api = pinakes.state.as(pinakes.as({ tenant: "bench", userId: "bench" }));
    const final = await converse(new PinakesSaver(api) as unknown as BaseCheckpointSaver);
    const stored = await storedBytes(api.containers);
    const file = join(dir, "langgraph.sqlite");
    const saver = SqliteSaver.fromConnString(file);
    await converse(saver);
    saver.db.pragma("wal_checkpoint(TRUNCATE)");
    const theirs = statSync(file).size / final;
    const name = `bytes stored of a ${turns}-turn conversation checkpointed each turn, to its final state`;
    return [
      {
        name,
        value: stored / final,
        unit: "×",
        bar: { atMost: 3 },
        note: `LangGraph's SqliteSaver: ${theirs.toFixed(0)} ×`,
      },
    ];
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function converse(saver: BaseCheckpointSaver): Promise<number> {
  const messages: object[] = [];
  let config: { configurable: Record<string, unknown> } = { configurable: { thread_id: "long", checkpoint_ns: "" } };
  for (let turn = 1; turn <= turns; turn += 1) {
    messages.push({
      type: turn % 2 ? "human" : "ai",
      id: `m${turn}`,
      content: `${turn}: ${"what was said. ".repeat(messageBytes / 15)}`,
    });
    const checkpoint: Checkpoint = {
      ...emptyCheckpoint(turn),
      channel_values: { messages: [...messages] },
      channel_versions: { messages: turn },
    };
    config = (await saver.put(
      config,
      checkpoint,
      { source: "loop", step: turn, parents: {} },
      { messages: turn },
    )) as typeof config;
  }
  const tuple = await saver.getTuple({ configurable: { thread_id: "long", checkpoint_ns: "" } });
  const kept = tuple?.checkpoint.channel_values["messages"] as unknown[];
  if (JSON.stringify(kept) !== JSON.stringify(messages)) throw new Error("The conversation is not what was said.");
  return Buffer.byteLength(JSON.stringify(messages));
}

/** Every document of the saver's container, as JSON. */
async function storedBytes(containers: {
  query(
    name: string,
    query: { query: string; cursor?: string },
  ): Promise<{ items: readonly unknown[]; next_cursor: string | null }>;
}): Promise<number> {
  let bytes = 0;
  let cursor: string | undefined;
  do {
    const page = await containers.query("langgraph-checkpoints", {
      query: "SELECT * FROM c",
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const item of page.items) bytes += Buffer.byteLength(JSON.stringify(item));
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return bytes;
}
