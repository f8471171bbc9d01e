/**
 * The counters of a collection without the documents that a caller may not see. The records of hidden documents are read for them; the
 * result is used again while neither the counters nor the hidden documents change, and the counters change with every document.
 */
import { createHash } from "node:crypto";
import type { Caller } from "../../domain/caller.ts";
import { hiddenDocuments, type HiddenDocuments } from "./hidden-documents.ts";
import type { OpenCollection } from "./open-collection.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import type { Stored } from "../records/catalog-records.ts";
import { CollectionPartition } from "../records/collection-partition.ts";
import type { DocumentRecord, StatsRecord } from "../records/records.ts";

interface Shown {
  readonly etag: string;
  readonly stats: Stored<StatsRecord>;
}

const known = new WeakMap<HiddenDocuments, Shown>();

export async function visibleStats(
  deps: Pick<KnowledgeDependencies, "items">,
  caller: Caller,
  opened: Pick<OpenCollection, "collection" | "decision">,
): Promise<Stored<StatsRecord> | undefined> {
  const partition = new CollectionPartition(deps.items, caller.scope, opened.collection);
  const [all, hidden] = await Promise.all([partition.stats(), hiddenDocuments(deps, caller, opened)]);
  if (all === undefined || hidden === undefined) return all;
  const before = known.get(hidden);
  if (before?.etag === all.etag) return before.stats;
  const records = await partition.readMany([...hidden.values]);
  const counted = records.reduce((stats, one) => (one === undefined ? stats : without(stats, one)), all.record);
  const record = counted.document_count > 0 ? counted : { ...counted, last_sync_at: null };
  // The etag of the record would tell of changes of hidden documents.
  const stats = { record, etag: createHash("sha256").update(JSON.stringify(record)).digest("hex").slice(0, 16) };
  known.set(hidden, { etag: all.etag, stats });
  return stats;
}

function without(stats: StatsRecord, { status, size_bytes, live }: DocumentRecord): StatsRecord {
  return {
    ...stats,
    document_count: stats.document_count - 1,
    total_size_bytes: stats.total_size_bytes - size_bytes,
    chunk_count: stats.chunk_count - (live?.chunk_count ?? 0),
    by_status: { ...stats.by_status, [status]: stats.by_status[status] - 1 },
  };
}
