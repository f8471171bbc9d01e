/** Executes the removal records: chunks, objects, then triples; the removal record itself is deleted last. */
import type { CollectionPartition } from "../records/collection-partition.ts";
import type { Operation } from "../../ports/item-store.ts";
import { itemIds, type ChunkRange, type DocumentRecord, type RemovalRecord } from "../records/records.ts";
import { forgetRestricted } from "../records/restricted-rows.ts";
import { isoTime } from "../records/times.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { removeSources } from "./graph-support.ts";
import { deleteChunks } from "./passages.ts";

const removalsPerRound = 50;
const keysPerDelete = 1_000;

/** A removal record, written in the batch that makes its contents garbage. `why` and the run make the id unique. */
export function removal(
  partition: CollectionPartition,
  { document_id, run, graph, access }: Pick<DocumentRecord, "document_id" | "run" | "graph" | "access">,
  why:
    | "replaced"
    | "failed"
    | "overtaken"
    | "deleted"
    | "old-versions"
    | "late"
    | `prepared-${number}`
    | `settled-${number}`,
  leftovers: {
    readonly chunks?: readonly ChunkRange[];
    readonly object_keys?: readonly string[];
    readonly sources?: readonly string[];
    readonly now: number;
  },
): Operation {
  const { chunks = [], object_keys = [], now } = leftovers;
  // Deleting a document removes every source that it lists.
  const sources = why === "deleted" ? (graph?.sources ?? []) : (leftovers.sources ?? []);
  const record: RemovalRecord = {
    kind: "removal",
    document_id,
    chunks,
    object_keys,
    ...(sources.length === 0 ? {} : { sources }),
    ...(why === "deleted" && access !== undefined ? { restricted: true } : {}),
    at: isoTime(now),
  };
  return { op: "create", document: partition.document(itemIds.removal(document_id, `${run}.${why}`), record) };
}

/** The chunks that a run other than the live one may have stored: it records how many there will be before it stores the first. */
export function unfinishedChunks({ run, live, progress }: DocumentRecord, generation: number): readonly ChunkRange[] {
  return progress === null || live?.run === run ? [] : [{ run, chunk_count: progress.total, generation }];
}

/** The chunks that searches show, and those prepared for the next generation. */
export function shownRanges({ live, prepared }: Pick<DocumentRecord, "live" | "prepared">): readonly ChunkRange[] {
  return [live, prepared ?? null].flatMap((shown) =>
    shown === null ? [] : [{ run: shown.run, chunk_count: shown.chunk_count, generation: shown.generation }],
  );
}

/** Returns the number of removals executed. Idempotent and safe to run concurrently. */
export async function removeLeftovers(
  deps: Pick<KnowledgeDependencies, "objects" | "vectors" | "triples">,
  partition: CollectionPartition,
  signal?: AbortSignal,
): Promise<number> {
  let removed = 0;
  for (;;) {
    const removals = await partition.removals(removalsPerRound);
    for (const { id, record } of removals) {
      signal?.throwIfAborted();
      await deleteChunks(deps, partition, record.document_id, record.chunks, signal);
      for (let at = 0; at < record.object_keys.length; at += keysPerDelete)
        await deps.objects.delete(partition.scope, record.object_keys.slice(at, at + keysPerDelete));
      // The removal record stays until the collection is restored.
      if (!(await removeSources(deps, partition, record.document_id, record.sources ?? []))) return removed;
      // A document with this id may have been imported again.
      const forget = record.restricted === true && (await partition.read(record.document_id)) === undefined;
      const done: readonly Operation[] = [
        { op: "delete", id },
        ...(forget ? forgetRestricted(partition, record.document_id) : []),
      ];
      await partition.clean(done).catch((error: unknown) => ignoreMissing(error));
      removed += 1;
    }
    if (removals.length < removalsPerRound) return removed;
  }
}

/** Already deleted by another process. */
export function ignoreMissing(error: unknown): void {
  if (!(typeof error === "object" && error !== null && "code" in error && error.code === "NOT_FOUND")) throw error;
}
