/** Reading a 50 KB state, against LangGraph's checkpointers out of the box: SQLite and PostgreSQL. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { emptyCheckpoint, type BaseCheckpointSaver, type Checkpoint } from "@langchain/langgraph-checkpoint";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { tenantScope } from "../../packages/pinakes/src/domain/scope.ts";
import { openPostgresItems } from "../../packages/pinakes/src/drivers/postgres/index.ts";
import { startPostgres } from "../../packages/pinakes/src/drivers/postgres/test-server.ts";
import { openSqliteItems } from "../../packages/pinakes/src/drivers/sqlite/index.ts";
import type { ItemStore } from "../../packages/pinakes/src/ports/item-store.ts";
import { documentOf } from "../lib/documents.ts";
import { compare, us } from "../lib/measure.ts";
import type { Row } from "../lib/report.ts";

const scope = tenantScope("bench");
const container = { name: "workflow-states", partitionKey: ["p"] };
const threads = 50;

export async function peerRows(): Promise<Row[]> {
  const dir = mkdtempSync(join(tmpdir(), "pinakes-peers-"));
  const postgres = await startPostgres();
  try {
    return [await onSqlite(dir), await onPostgres(postgres.url)];
  } finally {
    await postgres.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function onSqlite(dir: string): Promise<Row> {
  await using store = await openSqliteItems({ dir });
  const saver = SqliteSaver.fromConnString(join(dir, "langgraph.sqlite"));
  return await against("SQLite", store, saver, 2.5, 500);
}

async function onPostgres(url: string): Promise<Row> {
  await using store = await openPostgresItems({ url });
  const saver = PostgresSaver.fromConnString(url);
  await saver.setup();
  try {
    return await against("PostgreSQL", store, saver, 15, 100);
  } finally {
    await saver.end();
  }
}

async function against(
  engine: string,
  store: ItemStore,
  saver: BaseCheckpointSaver,
  bar: number,
  operations: number,
): Promise<Row> {
  await store.openContainer(container);
  for (let i = 0; i < threads; i += 1) {
    const state = documentOf("state", `t${i}`, 51_200);
    await store.write(scope, container.name, [`t${i}`], { op: "upsert", document: state });
    const checkpoint: Checkpoint = { ...emptyCheckpoint(), channel_values: { state }, channel_versions: { state: 1 } };
    await saver.put(
      { configurable: { thread_id: `t${i}`, checkpoint_ns: "" } },
      checkpoint,
      { source: "loop", step: 1, parents: {} },
      { state: 1 },
    );
  }
  const result = await compare({
    rounds: 9,
    operations,
    theirs: async () => {
      for (let i = 0; i < operations; i += 1) {
        const tuple = await saver.getTuple({ configurable: { thread_id: `t${i % threads}`, checkpoint_ns: "" } });
        if (((tuple?.checkpoint.channel_values["state"] as { messages: unknown[] }).messages.length ?? 0) < 100)
          throw new Error("short state");
      }
    },
    ours: async () => {
      for (let i = 0; i < operations; i += 1) {
        const item = await store.read(scope, container.name, { partition: [`t${i % threads}`], id: "state" });
        if ((item?.document["messages"] as unknown[]).length < 100) throw new Error("short state");
      }
    },
  });
  return {
    name: `read a 50 KB state parsed, vs LangGraph ${engine}`,
    value: result.ratio,
    unit: "×",
    bar: { atLeast: bar },
    note: `ours ${us(result.oursUs)}, LangGraph ${us(result.theirsUs)}`,
  };
}
