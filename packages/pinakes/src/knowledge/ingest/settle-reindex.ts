/**
 * The steps after the switch of a re-index: the record gets the model of the new generation, and prepared versions become live. Idempotent:
 * the job does it, and so does a migration before it copies, since a job may come late or never. Every write is conditional on what was
 * read, so a concurrent second run changes nothing.
 */
import { hasCode } from "../../domain/errors.ts";
import type { CollectionPartition } from "../records/collection-partition.ts";
import { collectionDocument, type CatalogRecords, type Stored } from "../records/catalog-records.ts";
import { documentsContainer, itemIds, type DocumentRecord, type FenceRecord } from "../records/records.ts";
import { laterThan } from "../records/times.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { parted } from "../documents/graph-support.ts";
import { removal, removeLeftovers } from "../documents/removals.ts";
import { everyItem } from "../../containers/every-item.ts";

const pageDocuments = 200;

interface SettleDependencies {
  readonly deps: KnowledgeDependencies;
  readonly catalog: CatalogRecords;
}

/** According to the fence. Does nothing if everything is settled. */
export async function settleReindex(
  { deps, catalog }: SettleDependencies,
  partition: CollectionPartition,
  { generation, embedding_model }: Pick<FenceRecord, "generation" | "embedding_model">,
  signal?: AbortSignal,
): Promise<void> {
  if (embedding_model !== undefined) await recordModel({ deps, catalog }, partition, embedding_model);
  for await (const found of documentsOf(deps, partition)) {
    signal?.throwIfAborted();
    if (found.record.prepared?.generation === generation) await settleDocument(deps, partition, found);
  }
  // Including those of a process that died here.
  await removeLeftovers(deps, partition, signal);
}

export async function* documentsOf(
  { items }: Pick<KnowledgeDependencies, "items">,
  partition: CollectionPartition,
): AsyncGenerator<Stored<DocumentRecord>> {
  for await (const { document, etag } of everyItem(items, partition.scope, documentsContainer.name, {
    equals: { repository_id: partition.key.repository_id, incarnation: partition.key.incarnation },
    range: { prefix: itemIds.document("") },
    limit: pageDocuments,
  })) {
    const { id: _, ...record } = document;
    yield { record: record as unknown as DocumentRecord, etag };
  }
}

async function settleDocument(
  { clock }: KnowledgeDependencies,
  partition: CollectionPartition,
  { record, etag }: Stored<DocumentRecord>,
): Promise<void> {
  const { prepared } = record;
  if (prepared === null || prepared === undefined) return;
  const settled: DocumentRecord = { ...record, live: prepared, prepared: null, indexed_at: prepared.indexed_at };
  const chunks = prepared.chunk_count - (record.live?.chunk_count ?? 0);
  const { graph, stale } = parted(settled, "stays");
  const document = partition.document(itemIds.document(record.document_id), {
    ...settled,
    ...(graph === undefined ? {} : { graph }),
  });
  try {
    await partition.clean([
      { op: "replace", document, ifMatch: etag },
      ...(chunks === 0 ? [] : [partition.move({ from: record.status, to: record.status, chunks })]),
      ...(stale.length === 0
        ? []
        : [removal(partition, record, `settled-${prepared.generation}`, { sources: stale, now: clock.now() })]),
    ]);
  } catch (error) {
    // Replaced, deleted or settled concurrently, which handled it.
    if (!hasCode(error, "PRECONDITION_FAILED", "NOT_FOUND")) throw error;
  }
}

async function recordModel(
  { deps, catalog }: SettleDependencies,
  { scope, key }: CollectionPartition,
  model: string,
): Promise<void> {
  for (;;) {
    const found = await catalog.incarnation(scope, key);
    if (found === undefined || found.record.embedding_model === model) return;
    const record = {
      ...found.record,
      embedding_model: model,
      updated_at: laterThan(found.record.updated_at, deps.clock.now()),
    };
    try {
      await catalog.batch(scope, key.repository_id, [
        { op: "replace", document: collectionDocument(record), ifMatch: found.etag },
      ]);
      return;
    } catch (error) {
      if (!hasCode(error, "PRECONDITION_FAILED")) throw error;
    }
  }
}
