/** Work that should have ended: stuck operations, overdue collections, removals never executed. */
import { operationItemId, type Incarnation, type Operation } from "../lifecycle/index.ts";
import { removeLeftovers } from "../knowledge/documents/removals.ts";
import { isLive } from "../knowledge/records/catalog-records.ts";
import {
  collectionsContainer,
  documentsContainer,
  itemIds,
  type CollectionRecord,
  type RepositoryRecord,
} from "../knowledge/records/records.ts";
import { everyItem } from "../containers/every-item.ts";
import { found, type AuditRun, type IncarnationRun } from "./audit-run.ts";
import { placeOf } from "./finding.ts";
import { auditLimits } from "./limits.ts";

export async function checkOperations(run: AuditRun, { repository_id }: RepositoryRecord): Promise<void> {
  const { deps, scope } = run;
  for (let cursor: string | undefined; ;) {
    run.signal.throwIfAborted();
    const page = await deps.items.query(scope, collectionsContainer.name, {
      equals: { repository_id },
      range: { prefix: operationItemId("") },
      limit: auditLimits.pageItemsMax,
      cursor,
    });
    run.findings.checked.operations += page.items.length;
    for (const { document } of page.items) await checkOperation(run, document as unknown as Operation);
    cursor = page.cursor;
    if (cursor === undefined) return;
  }
}

async function checkOperation(run: AuditRun, listed: Operation): Promise<void> {
  if (!isStuck(run, listed)) return;
  const now = (await run.lifecycle.read(run.scope, listed))?.operation;
  if (now === undefined || !isStuck(run, now)) return;
  const waiting = now.stores.filter(({ status }) => status !== "confirmed" && status !== "left");
  const reasons = waiting.map(({ store, error }) =>
    error === null ? store : `${store} (${error.type}: ${error.message})`,
  );
  const detail = `${now.action} ${now.operation_id} is ${now.status}; not confirmed by ${reasons.join(", ") || "any store: it only has to finish"}.`;
  const repaired = run.repair && (await sendAgain(run, now, true));
  run.findings.add({
    kind: "stuck_operation",
    store: "collections",
    ...placeOf(now),
    key: operationItemId(now.incarnation),
    detail,
    repaired,
  });
}

/** A collection whose deletion began or was due long ago, without an operation. */
export async function checkEnding(run: AuditRun, listed: CollectionRecord): Promise<void> {
  if (!isOverdue(run, listed)) return;
  if ((await run.lifecycle.read(run.scope, listed))?.operation.action === "delete-collection") return;
  const now = await run.catalog.incarnation(run.scope, listed);
  if (now === undefined || !isOverdue(run, now.record)) return;
  const incarnation = placeOf(now.record);
  let repaired = false;
  if (run.repair) {
    const dueAt = now.record.status === "DELETED" ? (now.record.purge_at ?? undefined) : undefined;
    const started = await run.deletion.begin(run.scope, incarnation, { createdBy: "fsck", withDefault: true, dueAt });
    repaired = started === undefined || (await sendAgain(run, started, false));
  }
  const detail = `The collection is ${now.record.status} since ${now.record.deleted_at}, and no operation deletes it.`;
  run.findings.add({ kind: "stuck_operation", store: "collections", ...incarnation, detail, repaired });
}

export async function checkRemovals(run: IncarnationRun): Promise<void> {
  const { deps, partition, scope } = run;
  const late = await lateRemovals(run);
  if (late.length === 0) return;
  if (run.repair) await removeLeftovers(deps, partition, run.signal);
  for (const { id, document_id, at } of late) {
    const { repository_id, incarnation } = partition.key;
    const still = await deps.items.read(scope, documentsContainer.name, {
      partition: [repository_id, incarnation],
      id,
    });
    if (still === undefined && !run.repair) continue;
    const detail = `Garbage since ${at} has not been removed yet.`;
    await found(run, {
      kind: "removal_left",
      store: "documents",
      document_id,
      key: id,
      detail,
      repaired: still === undefined,
    });
  }
}

async function lateRemovals({
  deps,
  partition,
}: IncarnationRun): Promise<readonly { readonly id: string; readonly document_id: string; readonly at: string }[]> {
  const { repository_id, incarnation } = partition.key;
  const before = new Date(deps.clock.now() - auditLimits.removalLateMs).toISOString();
  const late: { id: string; document_id: string; at: string }[] = [];
  for await (const { id, document } of everyItem(deps.items, partition.scope, documentsContainer.name, {
    equals: { repository_id, incarnation },
    range: { prefix: itemIds.removalPrefix },
    limit: auditLimits.pageItemsMax,
  })) {
    const { document_id, at } = document as unknown as { document_id: string; at: string };
    if (at <= before) late.push({ id, document_id, at });
  }
  return late;
}

/** Marked first, so that the sweep continues in any case; then driven as far as possible now. */
async function sendAgain(
  { scope, registry, lifecycle, deps }: AuditRun,
  incarnation: Incarnation,
  atOnce: boolean,
): Promise<boolean> {
  const place = placeOf(incarnation);
  await registry.mark({ kind: "operation", tenant: scope.tenant, ...place }, deps.clock.now());
  if (atOnce) await lifecycle.retry(scope, place);
  const operation = await lifecycle.finish(scope, place);
  return operation === undefined || operation.status === "done";
}

/** It failed, or it is old without progress, or with errors only. A slow operation with much to do makes progress. */
function isStuck({ deps }: AuditRun, { status, created_at, updated_at, stores }: Operation): boolean {
  if (status !== "running") return status === "failed";
  const before = deps.clock.now() - auditLimits.operationSilentMs;
  if (Date.parse(created_at) > before) return false;
  return (
    Date.parse(updated_at) <= before ||
    stores.some((row) => (row.status === "waiting" || row.status === "sent") && row.error !== null)
  );
}

function isOverdue({ deps }: AuditRun, record: CollectionRecord): boolean {
  const before = deps.clock.now() - auditLimits.operationSilentMs;
  if (isLive(record)) return false;
  return record.status === "DELETED"
    ? Date.parse(record.purge_at ?? "") <= before
    : Date.parse(record.updated_at) <= before;
}
