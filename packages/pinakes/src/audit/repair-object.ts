/**
 * Repairs a missing file that a record names: the text is rebuilt from the bytes; missing bytes are recorded in the document (RFC 0016).
 */
import { hasCode } from "../domain/errors.ts";
import { succeeds } from "../runtime/expected-errors.ts";
import { toIndexAnew } from "../knowledge/documents/index-anew.ts";
import type { CollectionPartition } from "../knowledge/records/collection-partition.ts";
import { contentKey } from "../knowledge/documents/check-upload.ts";
import { derivedKeys, saveParsedText } from "../knowledge/documents/parsed-text.ts";
import type { Stored } from "../knowledge/records/catalog-records.ts";
import { itemIds, type DocumentRecord, type MissingBytes } from "../knowledge/records/records.ts";
import { isoTime } from "../knowledge/records/times.ts";
import { whileLive, type IncarnationRun } from "./audit-run.ts";
import { isMarked, isUnderWay } from "./named.ts";

export interface RepairOutcome {
  readonly repaired: boolean;
  readonly detail: string | undefined;
}

export async function repairObject(
  run: IncarnationRun,
  found: Stored<DocumentRecord>,
  rest: string,
): Promise<RepairOutcome> {
  const [number, part] = rest.split("/");
  const version = Number(number);
  return part === "text" ? restoreText(run, found, version) : markMissing(run, found, [version]);
}

async function restoreText(
  run: IncarnationRun,
  found: Stored<DocumentRecord>,
  version: number,
): Promise<RepairOutcome> {
  const { deps, scope, partition, signal } = run;
  const { document_id, file_type } = found.record;
  const bytes = await deps.objects.get(scope, contentKey(partition, document_id, version));
  if (bytes === undefined) return markMissing(run, found, [version]);
  try {
    await saveParsedText(
      deps.objects,
      partition,
      { document_id, version },
      await deps.parser.parse({ bytes, fileType: file_type }, { signal, share: partition.scope.tenant }),
    );
  } catch (error) {
    if (!hasCode(error, "INVALID")) throw error;
    return { repaired: false, detail: `Its text is missing, and its bytes can no longer be parsed: ${error.detail}` };
  }
  // A concurrent delete of the document did not know of the restored text.
  if ((await partition.read(document_id)) === undefined)
    await deps.objects.delete(scope, derivedKeys(partition, document_id, version));
  return { repaired: true, detail: "Its text was missing, and was rebuilt from its bytes." };
}

/**
 * The bytes are missing, perhaps because this is the wrong object store: nothing of the record is lost, it only gets a mark. Searches
 * continue to show its chunks. `bringBack` restores it when the bytes are back.
 */
export async function markMissing(
  { deps, partition }: IncarnationRun,
  { record, etag }: Stored<DocumentRecord>,
  lost: readonly number[],
): Promise<RepairOutcome> {
  const { status } = record;
  if (isUnderWay(record))
    return { repaired: false, detail: "It is missing; the document is being ingested, which will report it." };
  const isNewest = lost.includes(record.versions[0]?.version ?? 0);
  const now = deps.clock.now();
  const { since = isoTime(now), versions = [], ...before } = record.missing ?? { status, error: record.error };
  const missing: MissingBytes = { ...before, since, versions: [...new Set([...versions, ...lost])] };
  const detail = `The bytes of version ${lost.join(", ")} are not in the object store.`;
  const error = `${detail} Bring them back and run pinakes fsck --repair. If they are lost, upload it again with replace=true.`;
  const next: DocumentRecord = isNewest
    ? { ...record, missing, status: "failed", error, progress: null, touched_at: now }
    : { ...record, missing };
  const written = await replaced(partition, { record, etag }, next, isNewest ? { syncedAt: isoTime(now) } : {});
  if (!written) return changedMeanwhile;
  return {
    repaired: true,
    detail: `${detail} The document is marked${isNewest ? " as failed" : ""}, and keeps everything else.`,
  };
}

/** Whether the bytes of every marked version are back. */
export async function areBack(
  { deps, scope, partition }: IncarnationRun,
  { document_id, missing }: DocumentRecord,
): Promise<boolean> {
  for (const version of missing?.versions ?? []) {
    if ((await deps.objects.head(scope, contentKey(partition, document_id, version))) === undefined) return false;
  }
  return missing !== undefined;
}

/** As before it was marked; re-indexed if its chunks are not in the current generation. */
export async function bringBack(
  { deps, partition, queue }: IncarnationRun,
  { record, etag }: Stored<DocumentRecord>,
): Promise<RepairOutcome> {
  const { missing, ...rest } = record;
  if (missing === undefined || isUnderWay(record)) return changedMeanwhile;
  const now = deps.clock.now();
  // A later version may have failed for its own reason.
  const marked = record.status === "failed" && isMarked(record);
  const fence = (await partition.fence())?.record;
  const isShown = record.live !== null && record.live.generation === fence?.generation;
  if (!marked || missing.status !== "indexed" || isShown) {
    const next: DocumentRecord = marked
      ? { ...rest, status: missing.status, error: missing.error, touched_at: now }
      : rest;
    if (!(await replaced(partition, { record, etag }, next))) return changedMeanwhile;
    return { repaired: true, detail: `Its bytes are back, and the document is ${next.status} again.` };
  }
  if (fence?.status !== "ACTIVE")
    return { repaired: false, detail: "Its bytes are back; unarchive the collection to index it again." };
  const next = toIndexAnew(rest, now);
  await queue.watch(partition);
  if (!(await replaced(partition, { record, etag }, next))) return changedMeanwhile;
  await queue.send(partition, next);
  return { repaired: true, detail: "Its bytes are back; it is being indexed again." };
}

const changedMeanwhile: RepairOutcome = { repaired: false, detail: "It changed concurrently; audit again." };

/** Updates the counters too. False: changed concurrently. */
async function replaced(
  partition: CollectionPartition,
  { record, etag }: Stored<DocumentRecord>,
  next: DocumentRecord,
  more: { syncedAt?: string } = {},
): Promise<boolean> {
  return succeeds(
    partition.clean([
      whileLive,
      { op: "replace", document: partition.document(itemIds.document(record.document_id), next), ifMatch: etag },
      partition.move({ from: record.status, to: next.status, ...more }),
    ]),
    "PRECONDITION_FAILED",
    "NOT_FOUND",
  );
}
