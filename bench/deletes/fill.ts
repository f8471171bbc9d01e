/** Two collections: one to delete, with rows in every store, and another one that is read meanwhile. */
import { setTimeout as sleep } from "node:timers/promises";
import { vectorOf } from "./embeddings.ts";
import type { DeletesServer } from "./server.ts";

const bigChunks = Number(process.env["DELETES_CHUNKS"] ?? 100_000);
if (!Number.isInteger(bigChunks) || bigChunks < 100)
  throw new Error(`DELETES_CHUNKS must be a whole number from 100, got ${process.env["DELETES_CHUNKS"]}.`);
const otherChunks = Math.min(4_000, bigChunks);
const chunkChars = 300;
const chunksPerDocument = 40;
/** Of the big collection; the rest are raw vectors. */
const shareInDocuments = 0.8;
const rowsPerCall = 2_000;
const uploadsAtOnce = 8;
/** Background folds and merges after the last write are not measured. */
const settleMs = 10_000;

export const repository = "kb";
export const collectionPath = (collection: string): string =>
  `/v1/repositories/${repository}/collections/${collection}`;

export interface Filled {
  /** Of the deleted collection. */
  readonly incarnation: string;
  readonly chunks: number;
  readonly otherDocuments: readonly string[];
  readonly otherChunks: number;
}

export async function fill(server: DeletesServer): Promise<Filled> {
  await server.call("POST", "/v1/repositories", { repository_id: repository, name: "KB" });
  const big = await makeCollection(server, "big", Math.round(bigChunks * shareInDocuments));
  const rows = Math.max(0, bigChunks - big.chunks);
  for (let at = 0; at < rows; at += rowsPerCall) {
    const items = Array.from({ length: Math.min(rowsPerCall, rows - at) }, (_, i) => {
      const text = passage(1_000_000 + at + i);
      return { id: `row-${at + i}`, vector: vectorOf(text), text };
    });
    await server.call("POST", `${collectionPath("big")}/vectors:upsert`, { items });
  }
  const other = await makeCollection(server, "other", otherChunks);
  for (const collection of ["big", "other"]) await server.call("POST", `${collectionPath(collection)}:compact`);
  const { items } = await server.call<{ items: { document_id: string }[] }>(
    "GET",
    `${collectionPath("other")}/documents?limit=100`,
  );
  await sleep(settleMs);
  return {
    incarnation: big.incarnation,
    chunks: big.chunks + rows,
    otherDocuments: items.map(({ document_id }) => document_id),
    otherChunks: other.chunks,
  };
}

interface Made {
  readonly incarnation: string;
  readonly chunks: number;
}

export async function makeCollection(server: DeletesServer, id: string, chunks: number): Promise<Made> {
  await server.call("POST", `/v1/repositories/${repository}/collections`, {
    collection_id: id,
    name: id,
    chunking_strategy: { type: "FIXED", unit: "char", chunk_size: chunkChars, chunk_overlap: 0 },
    graph: { extract: "structured" },
  });
  const documents = Math.ceil(chunks / chunksPerDocument);
  let next = 0;
  await Promise.all(
    Array.from({ length: uploadsAtOnce }, async () => {
      for (let i = next++; i < documents; i = next++)
        await server.call("POST", `${collectionPath(id)}/documents`, { name: `page-${i}.md`, text: page(i) });
    }),
  );
  for (;;) {
    const found = await server.call<{
      incarnation: string;
      chunk_count: number;
      documents_by_status: Record<string, number>;
    }>("GET", collectionPath(id));
    if (found.documents_by_status["failed"] !== 0)
      throw new Error(`${found.documents_by_status["failed"]} documents of "${id}" failed.`);
    if (found.documents_by_status["indexed"] === documents)
      return { incarnation: found.incarnation, chunks: found.chunk_count };
    await sleep(100);
  }
}

/** Markdown with front matter and a link in each paragraph, so that the graph has triples of every document, with their chunks. */
function page(n: number): string {
  const passages = Array.from({ length: chunksPerDocument }, (_, i) => passage(n * chunksPerDocument + i));
  return `---\ntitle: Page ${n}\nauthor: Author ${n % 50}\n---\n\n${passages.join("\n\n")}\n`;
}

const words =
  "the of a system data store log write read commit index query vector agent memory network cell protein disease patient trial model".split(
    " ",
  );

/** About one chunk long, and different for each seed. */
export function passage(seed: number): string {
  let state = (Math.imul(seed, 2_654_435_761) + 1) >>> 0;
  const parts = [`[[Topic ${seed % 5_000}]] number ${seed}`];
  for (let length = parts[0]?.length ?? 0; length < chunkChars - 12;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const word = words[(state >>> 8) % words.length] as string;
    parts.push(word);
    length += word.length + 1;
  }
  return parts.join(" ");
}
