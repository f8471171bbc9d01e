/** Memories and documents of many users, one of whom is erased, and a collection of others that is read meanwhile. */
import { setTimeout as sleep } from "node:timers/promises";
import { collectionPath, makeCollection, passage, repository } from "../deletes/fill.ts";
import type { DeletesServer } from "../deletes/server.ts";

/** Each has as many memories and documents. */
const users = 100;
export const memories = sizeOf("ERASURE_MEMORIES", 1_000_000);
export const documents = sizeOf("ERASURE_DOCUMENTS", 100_000);
/** One key uploads all documents: their author names whose they are. */
export const request = { subject: { type: "user", id: "user-7" }, paths: ["metadata.author"] } as const;
const otherChunksMax = 4_000;
const agents = 50;
const perCall = 20;
const callsAtOnce = 8;
/** Background folds and merges after the last write are not measured. */
const settleMs = 10_000;

export interface FilledForErasure {
  readonly otherDocuments: readonly string[];
}

export async function fillForErasure(server: DeletesServer): Promise<FilledForErasure> {
  await server.call("POST", "/v1/repositories", { repository_id: repository, name: "KB" });
  await fillMemories(server);
  await fillDocuments(server);
  await makeCollection(server, "other", Math.min(otherChunksMax, documents));
  for (const collection of ["shared", "other"]) await server.call("POST", `${collectionPath(collection)}:compact`);
  const { items } = await server.call<{ items: { document_id: string }[] }>(
    "GET",
    `${collectionPath("other")}/documents?limit=100`,
  );
  await sleep(settleMs);
  return { otherDocuments: items.map(({ document_id }) => document_id) };
}

async function fillMemories(server: DeletesServer): Promise<void> {
  await each(Math.ceil(memories / perCall), async (n) => {
    const user = `user-${n % users}`;
    const batch = Array.from({ length: Math.min(perCall, memories - n * perCall) }, (_, i) => ({
      session_id: `${user}-${Math.floor(n / users) % 50}`,
      message_type: i % 2 === 0 ? "user" : "assistant",
      content: passage(n * perCall + i),
      metadata: { user_id: user },
    }));
    await server.call("POST", `/v1/agents/agent-${n % agents}/memories`, { messages: batch });
  });
}

async function fillDocuments(server: DeletesServer): Promise<void> {
  await server.call("POST", `/v1/repositories/${repository}/collections`, { collection_id: "shared", name: "Shared" });
  await each(documents, async (n) => {
    const body = { name: `note-${n}.md`, text: passage(2_000_000 + n), metadata: { author: `user-${n % users}` } };
    await server.call("POST", `${collectionPath("shared")}/documents`, body);
  });
  for (;;) {
    const { documents_by_status } = await server.call<{ documents_by_status: Readonly<Record<string, number>> }>(
      "GET",
      collectionPath("shared"),
    );
    if (documents_by_status["failed"] !== 0) throw new Error(`${documents_by_status["failed"]} documents failed.`);
    if (documents_by_status["indexed"] === documents) return;
    await sleep(100);
  }
}

async function each(count: number, work: (n: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) await work(n);
  };
  await Promise.all(Array.from({ length: callsAtOnce }, worker));
}

function sizeOf(name: string, standard: number): number {
  const size = Number(process.env[name] ?? standard);
  if (Number.isInteger(size) && size >= users) return size;
  throw new Error(`${name} must be a whole number from ${users}, got ${process.env[name]}.`);
}
