/** A document whose passages are missing is cut and embedded anew; where its bytes are gone too, it says so. */
import { PinakesError } from "../../domain/errors.ts";
import { toIndexAnew } from "../documents/index-anew.ts";
import { contentKey } from "../documents/upload.ts";
import { parted } from "../ingest/graph-support.ts";
import { removal, removeLeftovers, shownRanges } from "../ingest/removals.ts";
import type { Stored } from "../model/library.ts";
import { itemIds, type DocumentRecord } from "../model/records.ts";
import { isoTime } from "../model/times.ts";
import type { LifeRun } from "./audit-run.ts";
import type { RepairOutcome } from "./repair-object.ts";

export async function repairPassages(run: LifeRun, found: Stored<DocumentRecord>): Promise<RepairOutcome> {
  const { parts, shelf, scope, queue } = run;
  if ((await shelf.fence())?.record.status !== "ACTIVE") return { repaired: false, detail: "The collection is archived; unarchive it first." };
  const { record } = found;
  const [newest] = record.versions;
  const bytes = newest === undefined ? undefined : await parts.objects.head(scope, contentKey(shelf, record.document_id, newest.version));
  await queue.watch(shelf);
  try {
    if (bytes === undefined) return await giveUp(run, found);
    const next = toIndexAnew(record, parts.clock.now());
    await shelf.write([
      { op: "replace", document: shelf.document(itemIds.document(record.document_id), next), ifMatch: found.etag },
      shelf.move({ from: record.status, to: "pending" }),
    ]);
    await queue.send(shelf, next);
    return { repaired: true, detail: "It is indexed anew." };
  } catch (error) {
    const codes = ["PRECONDITION_FAILED", "NOT_FOUND", "CONFLICT"];
    if (!PinakesError.isInstance(error) || !codes.includes(error.code)) throw error;
    return { repaired: false, detail: "It changed meanwhile; look again." };
  }
}

/** Nothing is left to make passages of: what searches would show of it goes too. */
async function giveUp({ parts, shelf }: LifeRun, { record, etag }: Stored<DocumentRecord>): Promise<RepairOutcome> {
  const now = parts.clock.now();
  const { graph, stale } = parted({ ...record, live: null, prepared: null }, "goes");
  const next: DocumentRecord = {
    ...record,
    ...(graph === undefined ? {} : { graph }),
    live: null,
    prepared: null,
    indexed_at: null,
    status: "failed",
    error: "Its passages are lost, and its bytes are not in the object store any more. Upload it again, with replace=true.",
    progress: null,
    run: record.run + 1,
    touched_at: now,
  };
  await shelf.write([
    { op: "replace", document: shelf.document(itemIds.document(record.document_id), next), ifMatch: etag },
    shelf.move({ from: record.status, to: "failed", chunks: -(record.live?.chunk_count ?? 0), syncedAt: isoTime(now) }),
    removal(shelf, next, "failed", { chunks: shownRanges(record), sources: stale, now }),
  ]);
  await removeLeftovers(parts, shelf);
  return { repaired: true, detail: "Its bytes are gone too: the document says so, as failed." };
}
