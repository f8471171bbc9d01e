/**
 * Deletes all documents of a collection, as a job (R-LISA-44): those uploaded before the job was created. Each is deleted like a single
 * document, in one batch with the counters and a removal record, so a retry resumes a job that died and counts nothing twice. The result
 * says how many newer documents remain.
 */
import { PinakesError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import type { JobRecord, JobTools } from "../jobs/jobs.ts";
import { removeLeftovers } from "./removals.ts";
import type { CatalogRecords } from "../records/catalog-records.ts";
import { documentsContainer, type DocumentRecord } from "../records/records.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import type { Documents } from "./documents.ts";
import { CollectionPartition } from "../records/collection-partition.ts";

const pageItems = 100;

interface Dependencies {
  readonly deps: KnowledgeDependencies;
  readonly catalog: CatalogRecords;
  readonly documents: Documents;
}

export async function deleteAllDocuments(
  { deps, catalog, documents }: Dependencies,
  scope: Scope,
  job: JobRecord,
  tools: JobTools,
): Promise<JsonObject> {
  const { repository_id, collection_id, incarnation, created_at } = job;
  const collection = (await catalog.collection(scope, repository_id, collection_id))?.record;
  if (collection === undefined || collection.incarnation !== incarnation || collection.status !== "ACTIVE")
    throw new PinakesError("NOT_FOUND", `There is no active collection "${collection_id}".`);
  const partition = new CollectionPartition(deps.items, scope, collection);
  // Deletes of an earlier attempt stay counted, also those it could not report: the first attempt recorded the total.
  const { total } = job.progress;
  const here = (await partition.stats())?.record.document_count ?? 0;
  let done = Math.max(job.progress.done, total - here);
  if (total === 0) await tell(partition, tools, done);
  for (;;) {
    let removed = 0;
    for await (const id of olderThan(deps, partition, created_at)) {
      tools.signal.throwIfAborted();
      if (!(await documents.removeOld(partition, id, created_at))) continue;
      removed += 1;
      done += 1;
      if (done % pageItems === 0) await tell(partition, tools, done);
    }
    await removeLeftovers(deps, partition, tools.signal);
    await tell(partition, tools, done);
    // An index may lag behind: repeat until a pass finds nothing.
    if (removed === 0) break;
  }
  return { deleted: done, remaining: (await partition.stats())?.record.document_count ?? 0 };
}

async function tell(partition: CollectionPartition, tools: JobTools, done: number): Promise<void> {
  await tools.tell({ done, total: done + ((await partition.stats())?.record.document_count ?? 0) });
}

async function* olderThan(
  { items }: KnowledgeDependencies,
  partition: CollectionPartition,
  until: string,
): AsyncGenerator<string> {
  const equals = { incarnation: partition.key.incarnation, kind: "document" };
  let cursor: string | undefined;
  do {
    const page = await items.query(partition.scope, documentsContainer.name, {
      index: "byUploaded",
      equals,
      order: "asc",
      limit: pageItems,
      cursor,
    });
    for (const { document } of page.items) {
      const { document_id, uploaded_at } = document as unknown as DocumentRecord;
      if (uploaded_at <= until) yield document_id;
    }
    ({ cursor } = page);
  } while (cursor !== undefined);
}
