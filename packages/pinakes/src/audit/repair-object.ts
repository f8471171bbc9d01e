/** A file that a record names and that is not there: the text is made anew of the bytes; without the bytes the record says so (RFC 0016). */
import { hasCode } from "../domain/errors.ts";
import { succeeds } from "../runtime/expected-errors.ts";
import { toIndexAnew } from "../knowledge/documents/index-anew.ts";
import type { CollectionPartition } from "../knowledge/records/collection-partition.ts";
import { contentKey } from "../knowledge/documents/upload.ts";
import { derivedKeys, saveParsedText } from "../knowledge/documents/parsed-text.ts";
import type { Stored } from "../knowledge/records/catalog-records.ts";
import { itemIds, type DocumentRecord, type MissingBytes } from "../knowledge/records/records.ts";
import { isoTime } from "../knowledge/records/times.ts";
import { whileItLives, type IncarnationRun } from "./audit-run.ts";
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
    return { repaired: false, detail: `Its text is gone, and its bytes cannot be read any more: ${error.detail}` };
  }
  // Somebody may have deleted the document meanwhile, and did not know of a text that came back.
  if ((await partition.read(document_id)) === undefined)
    await deps.objects.delete(scope, derivedKeys(partition, document_id, version));
  return { repaired: true, detail: "Its text was gone, and was made anew of its bytes." };
}

/**
 * The bytes are not there, which may be because the wrong object store is: nothing of the record is lost, it only says so. Searches go on to show
 * what they show. When the bytes are back, `bringBack` makes it what it was.
 */
export async function markMissing(
  { deps, partition }: IncarnationRun,
  { record, etag }: Stored<DocumentRecord>,
  lost: readonly number[],
): Promise<RepairOutcome> {
  const { status } = record;
  if (isUnderWay(record))
    return { repaired: false, detail: "It is not there; the document is on its way, and will say so itself." };
  const isNewest = lost.includes(record.versions[0]?.version ?? 0);
  const now = deps.clock.now();
  const { since = isoTime(now), versions = [], ...before } = record.missing ?? { status, error: record.error };
  const missing: MissingBytes = { ...before, since, versions: [...new Set([...versions, ...lost])] };
  const detail = `The bytes of version ${lost.join(", ")} are not in the object store.`;
  const error = `${detail} Bring them back and run pinakes fsck --repair. Upload it again, with replace=true, where they are lost.`;
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

/** Every version that was marked, if all of their bytes are there again. */
export async function areBack(
  { deps, scope, partition }: IncarnationRun,
  { document_id, missing }: DocumentRecord,
): Promise<boolean> {
  for (const version of missing?.versions ?? []) {
    if ((await deps.objects.head(scope, contentKey(partition, document_id, version))) === undefined) return false;
  }
  return missing !== undefined;
}

/** As it was before it was marked; indexed anew where its passages are not in what searches read. */
export async function bringBack(
  { deps, partition, queue }: IncarnationRun,
  { record, etag }: Stored<DocumentRecord>,
): Promise<RepairOutcome> {
  const { missing, ...rest } = record;
  if (missing === undefined || isUnderWay(record)) return changedMeanwhile;
  const now = deps.clock.now();
  // A later version may have failed for a reason of its own.
  const marked = record.status === "failed" && isMarked(record);
  const fence = (await partition.fence())?.record;
  const isShown = record.live !== null && record.live.generation === fence?.generation;
  if (!marked || missing.status !== "indexed" || isShown) {
    const next: DocumentRecord = marked
      ? { ...rest, status: missing.status, error: missing.error, touched_at: now }
      : rest;
    if (!(await replaced(partition, { record, etag }, next))) return changedMeanwhile;
    return { repaired: true, detail: `Its bytes are back, and so is the document: it is ${next.status}.` };
  }
  if (fence?.status !== "ACTIVE")
    return { repaired: false, detail: "Its bytes are back; unarchive the collection to index it anew." };
  const next = toIndexAnew(rest, now);
  await queue.watch(partition);
  if (!(await replaced(partition, { record, etag }, next))) return changedMeanwhile;
  await queue.send(partition, next);
  return { repaired: true, detail: "Its bytes are back; it is indexed anew." };
}

const changedMeanwhile: RepairOutcome = { repaired: false, detail: "It changed meanwhile; look again." };

/** With the counters. False: somebody else changed it. */
async function replaced(
  partition: CollectionPartition,
  { record, etag }: Stored<DocumentRecord>,
  next: DocumentRecord,
  more: { syncedAt?: string } = {},
): Promise<boolean> {
  return succeeds(
    partition.clean([
      whileItLives,
      { op: "replace", document: partition.document(itemIds.document(record.document_id), next), ifMatch: etag },
      partition.move({ from: record.status, to: next.status, ...more }),
    ]),
    "PRECONDITION_FAILED",
    "NOT_FOUND",
  );
}
