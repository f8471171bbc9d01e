import type { JsonObject } from "../domain/json.ts";
import { succeeds } from "../runtime/expected-errors.ts";
import type { Operation } from "../ports/item-store.ts";
import { countAll, pickCounted, type Counted } from "../knowledge/records/recount.ts";
import { emptyStats } from "../knowledge/records/collection-partition.ts";
import { countDocument, isLive } from "../knowledge/records/catalog-records.ts";
import {
  collectionsContainer,
  itemIds,
  type CollectionRecord,
  type RepositoryRecord,
} from "../knowledge/records/records.ts";
import { everyPage } from "../containers/every-item.ts";
import { found, isAsItWas, whileLive, type AuditRun, type IncarnationRun } from "./audit-run.ts";
import { auditLimits } from "./limits.ts";

/**
 * Compares the counters of documents, bytes and chunks by status with a full count, at one moment: if they change during the count, it is
 * repeated.
 */
export async function checkStats(run: IncarnationRun): Promise<void> {
  const { deps, partition } = run;
  for (let tries = 0; tries < auditLimits.countTriesMax; tries += 1) {
    run.signal.throwIfAborted();
    const before = await partition.stats();
    const counted = await countAll(deps.items, partition);
    const after = await partition.stats();
    if (before?.etag !== after?.etag) continue;
    if (after === undefined && (await partition.fence()) === undefined && counted.document_count === 0) return;
    const kept = pickCounted(after?.record ?? emptyStats);
    if (after !== undefined && same(kept, counted)) return;
    const document = partition.document(itemIds.stats, { ...(after?.record ?? emptyStats), ...counted });
    const write: Operation =
      after === undefined ? { op: "create", document } : { op: "replace", document, ifMatch: after.etag };
    if (!(await isAsItWas(run))) return;
    if (run.repair && !(await written(partition.clean([whileLive, write])))) continue;
    const detail = `${after === undefined ? "There are no counters" : `The counters say ${brief(kept)}`}; the count is ${brief(counted)}.`;
    return found(run, { kind: "counter_off", store: "documents", key: itemIds.stats, detail, repaired: run.repair });
  }
}

/** The number of collections of a repository. */
export async function checkCollectionCount(run: AuditRun, { repository_id }: RepositoryRecord): Promise<void> {
  const { deps, scope } = run;
  const key = { partition: [repository_id], id: itemIds.count };
  for (let tries = 0; tries < auditLimits.countTriesMax; tries += 1) {
    const before = await deps.items.read(scope, collectionsContainer.name, key);
    const counted = await countLive(run, repository_id);
    const after = await deps.items.read(scope, collectionsContainer.name, key);
    if (before?.etag !== after?.etag) continue;
    const kept = after?.document["collections"];
    if (kept === counted) return;
    // It is being deleted, or no longer exists.
    if ((await run.catalog.repository(scope, repository_id))?.record.status !== "ACTIVE") return;
    const document: JsonObject = countDocument(repository_id, counted);
    const write = {
      document,
      ...(after === undefined ? { op: "create" as const } : { op: "replace" as const, ifMatch: after.etag }),
    };
    if (run.repair && !(await written(deps.items.write(scope, collectionsContainer.name, [repository_id], write))))
      continue;
    const detail = `The counter says ${JSON.stringify(kept ?? null)}; there are ${counted} collections.`;
    return run.findings.add({
      kind: "counter_off",
      store: "collections",
      repository_id,
      key: itemIds.count,
      detail,
      repaired: run.repair,
    });
  }
}

async function countLive({ deps, scope }: AuditRun, repository_id: string): Promise<number> {
  let count = 0;
  for await (const page of everyPage(deps.items, scope, collectionsContainer.name, {
    equals: { repository_id },
    range: { prefix: itemIds.collection("") },
    limit: auditLimits.pageItemsMax,
  })) {
    count += page.items.filter(({ document }) => isLive(document as unknown as CollectionRecord)).length;
  }
  return count;
}

/** False: it was changed concurrently, so count again. */
async function written(write: Promise<unknown>): Promise<boolean> {
  return succeeds(write, "PRECONDITION_FAILED", "NOT_FOUND", "CONFLICT");
}

function same(a: Counted, b: Counted): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function brief({ document_count, total_size_bytes, chunk_count, by_status }: Counted): string {
  const statuses = Object.entries(by_status).map(([status, count]) => `${count} ${status}`);
  return `${document_count} documents (${statuses.join(", ")}), ${total_size_bytes} bytes, ${chunk_count} chunks`;
}
