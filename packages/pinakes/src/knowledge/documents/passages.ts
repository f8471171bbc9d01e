/** Chunks in the vector store: their ids, and writes that respect its backpressure. */
import { setTimeout as sleep } from "node:timers/promises";
import { hasCode } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import { tolerate } from "../../runtime/expected-errors.ts";
import type { AppendInput } from "../../vectors/index.ts";
import type { CollectionPartition } from "../records/collection-partition.ts";
import type { ChunkRange } from "../records/records.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";

const deletesPerDelta = 5_000;
const throttledMs = 250;
const throttledTriesMax = 240;

export function chunkId(documentId: string, run: number, index: number): string {
  return `${documentId}.${run}.${index}`;
}

/** Retries while the compactor catches up. */
export async function appendRows(
  { vectors }: Pick<KnowledgeDependencies, "vectors">,
  scope: Scope,
  collection: string,
  input: AppendInput,
  signal?: AbortSignal,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await vectors.append(scope, collection, input);
      return;
    } catch (error) {
      if (!hasCode(error, "THROTTLED") || tries >= throttledTriesMax) throw error;
      await sleep(throttledMs, undefined, signal === undefined ? {} : { signal });
    }
  }
}

/** A vector collection that no longer exists has no rows to delete. */
export async function deleteChunks(
  deps: Pick<KnowledgeDependencies, "vectors">,
  partition: CollectionPartition,
  documentId: string,
  ranges: readonly ChunkRange[],
  signal?: AbortSignal,
): Promise<void> {
  for (const { run, chunk_count, generation } of ranges) {
    for (let at = 0; at < chunk_count; at += deletesPerDelta) {
      const ids = Array.from({ length: Math.min(deletesPerDelta, chunk_count - at) }, (_, i) =>
        chunkId(documentId, run, at + i),
      );
      await tolerate(
        appendRows(deps, partition.scope, partition.vectors(generation), { delete: ids }, signal),
        "NOT_FOUND",
      );
    }
  }
}
