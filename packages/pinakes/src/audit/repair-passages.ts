/** Re-indexes a document with missing chunks; if its bytes are missing too, marks it. */
import { isConflict } from "../runtime/expected-errors.ts";
import { toIndexAnew } from "../knowledge/documents/index-anew.ts";
import { contentKey } from "../knowledge/documents/upload.ts";
import type { Stored } from "../knowledge/records/catalog-records.ts";
import { itemIds, type DocumentRecord } from "../knowledge/records/records.ts";
import type { IncarnationRun } from "./audit-run.ts";
import { markMissing, type RepairOutcome } from "./repair-object.ts";

export async function repairPassages(run: IncarnationRun, found: Stored<DocumentRecord>): Promise<RepairOutcome> {
  const { deps, partition, scope, queue } = run;
  if ((await partition.fence())?.record.status !== "ACTIVE")
    return { repaired: false, detail: "The collection is archived; unarchive it first." };
  const { record } = found;
  const [newest] = record.versions;
  if (newest === undefined)
    return { repaired: false, detail: "None of its versions has bytes. Upload it again, with replace=true." };
  const bytes = await deps.objects.head(scope, contentKey(partition, record.document_id, newest.version));
  // The chunks cannot be rebuilt: the record keeps everything, so that it is as before when the bytes are back.
  if (bytes === undefined) return markMissing(run, found, [newest.version]);
  await queue.watch(partition);
  try {
    const next = toIndexAnew(record, deps.clock.now());
    await partition.write([
      { op: "replace", document: partition.document(itemIds.document(record.document_id), next), ifMatch: found.etag },
      partition.move({ from: record.status, to: "pending" }),
    ]);
    await queue.send(partition, next);
    return { repaired: true, detail: "It is being indexed again." };
  } catch (error) {
    if (!isConflict(error)) throw error;
    return { repaired: false, detail: "It changed concurrently; audit again." };
  }
}
