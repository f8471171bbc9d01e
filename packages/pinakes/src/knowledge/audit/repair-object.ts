/** A file that a record names and that is gone: the text is made anew of the bytes; without the bytes the record says so. */
import { PinakesError } from "../../domain/errors.ts";
import { contentKey } from "../documents/upload.ts";
import { derivedKeys, saveParsedText } from "../ingest/parsed-text.ts";
import type { Stored } from "../model/library.ts";
import { itemIds, type DocumentRecord } from "../model/records.ts";
import { isoTime } from "../model/times.ts";
import { whileItLives, type LifeRun } from "./audit-run.ts";
import { isUnderWay } from "./named.ts";

export interface RepairOutcome {
  readonly repaired: boolean;
  readonly detail: string | undefined;
}

export async function repairObject(run: LifeRun, found: Stored<DocumentRecord>, rest: string): Promise<RepairOutcome> {
  const [number, part] = rest.split("/");
  const version = Number(number);
  return part === "text" ? restoreText(run, found, version) : forgetVersion(run, found, version);
}

async function restoreText(run: LifeRun, found: Stored<DocumentRecord>, version: number): Promise<RepairOutcome> {
  const { parts, scope, shelf, signal } = run;
  const { document_id, file_type } = found.record;
  const bytes = await parts.objects.get(scope, contentKey(shelf, document_id, version));
  if (bytes === undefined) return forgetVersion(run, found, version);
  try {
    await saveParsedText(parts.objects, shelf, { document_id, version }, await parts.parser.parse({ bytes, fileType: file_type }, { signal }));
  } catch (error) {
    if (!PinakesError.isInstance(error) || error.code !== "INVALID") throw error;
    return { repaired: false, detail: `Its text is gone, and its bytes cannot be read any more: ${error.detail}` };
  }
  // Somebody may have deleted the document meanwhile, and did not know of a text that came back.
  if ((await shelf.read(document_id)) === undefined) await parts.objects.delete(scope, derivedKeys(shelf, document_id, version));
  return { repaired: true, detail: "Its text was gone, and was made anew of its bytes." };
}

/** The bytes are gone for good. Searches go on to show what they show; of the newest version the document says what to do. */
async function forgetVersion({ parts, shelf, scope }: LifeRun, { record, etag }: Stored<DocumentRecord>, lost: number): Promise<RepairOutcome> {
  const { document_id, status } = record;
  if (isUnderWay(record)) return { repaired: false, detail: "It is not there; the document is on its way, and will say so itself." };
  const versions = record.versions.filter(({ version }) => version !== lost);
  const isNewest = record.versions[0]?.version === lost;
  const detail = `The bytes of version ${lost} are not in the object store any more.`;
  const now = parts.clock.now();
  const { sha256: _, ...rest } = record;
  const next: DocumentRecord = isNewest
    ? {
        ...rest,
        versions,
        size_bytes: versions[0]?.size_bytes ?? 0,
        ...(versions[0] === undefined ? {} : { sha256: versions[0].sha256 }),
        status: "failed",
        error: `${detail} Upload it again, with replace=true.`,
        progress: null,
        touched_at: now,
      }
    : { ...record, versions };
  try {
    await shelf.clean([
      whileItLives,
      { op: "replace", document: shelf.document(itemIds.document(document_id), next), ifMatch: etag },
      shelf.move({ from: status, to: next.status, bytes: next.size_bytes - record.size_bytes, ...(isNewest ? { syncedAt: isoTime(now) } : {}) }),
    ]);
  } catch (error) {
    if (!PinakesError.isInstance(error) || (error.code !== "PRECONDITION_FAILED" && error.code !== "NOT_FOUND")) throw error;
    return { repaired: false, detail: "It changed meanwhile; look again." };
  }
  // What was made of the bytes goes with them, unless searches show it.
  if (record.live?.version !== lost) await parts.objects.delete(scope, derivedKeys(shelf, document_id, lost));
  return { repaired: true, detail: isNewest ? `${detail} The document says so, as failed.` : `${detail} The document does not list it any more.` };
}
