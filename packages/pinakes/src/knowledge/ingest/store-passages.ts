/** Embeds and stores chunks in batches, so that memory stays bounded for any document. */
import type { Chunk } from "../../domain/chunking.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Embedder } from "../../ports/embedder.ts";
import type { CollectionPartition } from "../records/collection-partition.ts";
import type { DocumentRecord } from "../records/records.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { appendRows, chunkId } from "../documents/passages.ts";

const embedTextsMax = 32;
const rowsPerDelta = 512;

export interface PassagesToStore {
  readonly partition: CollectionPartition;
  readonly record: Pick<DocumentRecord, "document_id" | "collection_id" | "name" | "file_type" | "metadata">;
  readonly version: number;
  readonly run: number;
  /** The owner of a personal repository, else the uploader. */
  readonly userId: string;
  readonly generation: number;
  readonly chunks: readonly Chunk[];
  readonly embedder: Embedder;
  /** Makes a repeated append idempotent. */
  readonly deltaId: string;
  readonly signal: AbortSignal;
  /** Called with the number of embedded chunks. */
  readonly onProgress: (done: number) => Promise<void>;
}

export async function storePassages(
  deps: Pick<KnowledgeDependencies, "vectors">,
  work: PassagesToStore,
): Promise<void> {
  const { partition, record, run, chunks, embedder, signal } = work;
  const target = partition.vectors(work.generation);
  await deps.vectors.create(partition.scope, target, {
    dims: embedder.model.dims,
    metric: embedder.model.metric,
  });
  for (let at = 0, part = 0; at < chunks.length; at += rowsPerDelta, part += 1) {
    const slice = chunks.slice(at, at + rowsPerDelta);
    const vectors: Float32Array[] = [];
    for (let from = 0; from < slice.length; from += embedTextsMax) {
      const texts = slice.slice(from, from + embedTextsMax).map(embeddedText);
      vectors.push(...(await embedder.embed(texts, { kind: "document", signal })));
      await work.onProgress(at + vectors.length);
    }
    const upsert = slice.map((chunk, i) => ({
      id: chunkId(record.document_id, run, chunk.index),
      vector: vectors[i] as Float32Array,
      text: chunk.text,
      metadata: passageMetadata(work, chunk),
    }));
    await appendRows(deps, partition.scope, target, { deltaId: `${work.deltaId}.${part}`, upsert }, signal);
  }
}

/** With the headings above it: a chunk alone often does not say what it is about. */
function embeddedText({ text, context }: Chunk): string {
  return context === undefined ? text : `${context}\n${text}`;
}

function passageMetadata({ record, version, run, userId }: PassagesToStore, chunk: Chunk): JsonObject {
  return {
    ...record.metadata,
    document_id: record.document_id,
    catalog_id: record.collection_id,
    user_id: userId,
    filename: record.name,
    file_type: record.file_type,
    version,
    run,
    chunk: chunk.index,
    start: chunk.start,
    end: chunk.end,
    ...(chunk.page === undefined ? {} : { page: chunk.page }),
    ...(chunk.section === undefined ? {} : { section: chunk.section }),
    ...(chunk.rows === undefined ? {} : { row_first: chunk.rows[0], row_last: chunk.rows[1] }),
  };
}
