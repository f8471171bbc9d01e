/** The counters of a collection compared with a full count, and their repair. */
import type { CollectionUsage, DocumentCounts } from "@pinakes/client";
import { hasCode } from "../../domain/errors.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import { everyItem } from "../../containers/every-item.ts";
import { documentsContainer, itemIds, type DocumentRecord, type StatsRecord } from "./records.ts";
import { emptyStats, type CollectionPartition } from "./collection-partition.ts";

export type Counted = DocumentCounts;
export type Usage = Omit<CollectionUsage, "triples" | "stores">;

const attemptsMax = 10;

export async function recount(
  items: ItemStore,
  partition: CollectionPartition,
  { repair = false }: { repair?: boolean } = {},
): Promise<Usage> {
  for (let attempt = 1; ; attempt += 1) {
    const before = await partition.stats();
    const recounted = await countAll(items, partition);
    const after = await partition.stats();
    // Documents changed during the count, so the figures are inconsistent.
    if (before?.etag !== after?.etag && attempt < attemptsMax) continue;
    const kept = pickCounted(after?.record ?? emptyStats);
    const consistent = JSON.stringify(kept) === JSON.stringify(recounted);
    // Never repair from inconsistent figures.
    if (consistent || !repair || after === undefined || before?.etag !== after.etag)
      return { ...kept, recounted, consistent, repaired: false };
    try {
      const document = partition.document(itemIds.stats, { ...after.record, ...recounted });
      await partition.clean([{ op: "replace", document, ifMatch: after.etag }]);
      return { ...recounted, recounted, consistent: true, repaired: true };
    } catch (error) {
      if (!hasCode(error, "PRECONDITION_FAILED") || attempt >= attemptsMax) throw error;
    }
  }
}

/** Reads the partition itself: an index may lag behind. */
export async function countAll(items: ItemStore, partition: CollectionPartition): Promise<Counted> {
  const by_status = { ...emptyStats.by_status };
  let document_count = 0;
  let total_size_bytes = 0;
  let chunk_count = 0;
  for await (const { document } of everyItem(items, partition.scope, documentsContainer.name, {
    equals: { repository_id: partition.key.repository_id, incarnation: partition.key.incarnation },
    range: { prefix: itemIds.document("") },
    limit: 500,
  })) {
    const record = document as unknown as DocumentRecord;
    document_count += 1;
    total_size_bytes += record.size_bytes;
    chunk_count += record.live?.chunk_count ?? 0;
    by_status[record.status] += 1;
  }
  return { document_count, total_size_bytes, chunk_count, by_status };
}

export function pickCounted({ document_count, total_size_bytes, chunk_count, by_status }: StatsRecord): Counted {
  const { uploading, pending, indexing, indexed, failed } = by_status;
  return {
    document_count,
    total_size_bytes,
    chunk_count,
    by_status: { uploading, pending, indexing, indexed, failed },
  };
}
