/**
 * What a re-index is about to store for a document for the next generation, recorded before the first row and the first triple. A
 * concurrent delete or replace removes what the document's record lists, and cannot know of anything stored later. The re-index then
 * removes that itself; if its process dies first, the next re-index or the watchdog finds it by this record.
 */
import { hasCode } from "../../domain/errors.ts";
import type { CollectionPartition } from "../records/collection-partition.ts";
import type { Operation } from "../../ports/item-store.ts";
import { documentsContainer, type ChunkRange } from "../records/records.ts";
import { isoTime } from "../records/times.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { removeSources, sourceMark } from "../documents/graph-support.ts";
import { deleteChunks } from "../documents/passages.ts";

const idPrefix = "preparing:";
const pageItemsMax = 100;

interface Preparation extends ChunkRange {
  readonly kind: "preparing";
  readonly document_id: string;
  readonly at: string;
}

/** Before anything is stored, and again before the first triple: its age counts from then. */
export function beginPreparation(
  partition: CollectionPartition,
  document_id: string,
  { run, chunk_count, generation }: ChunkRange,
  now: number,
): Operation {
  const record: Preparation = { kind: "preparing", document_id, run, chunk_count, generation, at: isoTime(now) };
  return { op: "upsert", document: partition.document(idOf(record), record) };
}

/** In the batch after which the document's record names what was stored, or after everything was removed again. */
export function endPreparation(
  partition: CollectionPartition,
  document_id: string,
  { run, chunk_count, generation }: ChunkRange,
): Operation {
  return { op: "delete", id: idOf({ document_id, run, chunk_count, generation }) };
}

function idOf({ document_id, run, generation }: ChunkRange & { readonly document_id: string }): string {
  return `${idPrefix}${document_id}:${run}.${generation}`;
}

/**
 * Removes what was stored for documents that no longer exist or whose live run is another. A preparation started after `begunBefore` may
 * still be written to, so it waits, as do those of a collection in the trash. Returns how many wait.
 */
export async function removeAbandoned(
  deps: Pick<KnowledgeDependencies, "items" | "vectors" | "triples">,
  partition: CollectionPartition,
  { begunBefore, signal }: { readonly begunBefore: number; readonly signal?: AbortSignal | undefined },
): Promise<number> {
  const { repository_id, incarnation } = partition.key;
  let waiting = 0;
  let cursor: string | undefined;
  do {
    const page = await deps.items.query(partition.scope, documentsContainer.name, {
      equals: { repository_id, incarnation },
      range: { prefix: idPrefix },
      limit: pageItemsMax,
      cursor,
    });
    for (const { id, etag, document } of page.items) {
      signal?.throwIfAborted();
      const { document_id, run, chunk_count, generation, at } = document as unknown as Preparation;
      if ((await partition.read(document_id))?.record.live?.run === run) continue;
      const done =
        Date.parse(at) <= begunBefore &&
        (await takeBack(deps, partition, document_id, { run, chunk_count, generation }));
      if (!done || !(await forgotten(partition, id, etag))) waiting += 1;
    }
    ({ cursor } = page);
  } while (cursor !== undefined);
  return waiting;
}

/** False: it was started again concurrently. */
async function forgotten(partition: CollectionPartition, id: string, ifMatch: string): Promise<boolean> {
  try {
    await partition.clean([{ op: "delete", id, ifMatch }]);
    return true;
  } catch (error) {
    if (!hasCode(error, "PRECONDITION_FAILED", "NOT_FOUND")) throw error;
    return error.code === "NOT_FOUND";
  }
}

/** False: the collection is in the trash, where nothing changes. */
export async function takeBack(
  deps: Pick<KnowledgeDependencies, "vectors" | "triples">,
  partition: CollectionPartition,
  document_id: string,
  range: ChunkRange,
): Promise<boolean> {
  await deleteChunks(deps, partition, document_id, [range]);
  return removeSources(deps, partition, document_id, [sourceMark(range)]);
}
