/**
 * Compares users' files with their bytes, in both directions. Data of uploads in progress is skipped: the work registry removes it in time.
 */
import {
  contentKey,
  filesContainer,
  filesRoot,
  stagedObject,
  type FileRecord,
  type StagedRecord,
} from "../knowledge/files/file-records.ts";
import { fileLimits } from "../knowledge/files/limits.ts";
import type { AuditRun } from "./audit-run.ts";
import { auditLimits } from "./limits.ts";

/** A multipart upload stays open for an hour, and late parts are removed a day later. */
const youngMs = 2 * fileLimits.unfinishedMsMax;

/** The list of a page, and its start. */
export interface FilesPosition {
  readonly of: "file" | "staged" | "objects";
  readonly cursor?: string | undefined;
}

const after: Readonly<Record<FilesPosition["of"], FilesPosition | undefined>> = {
  file: { of: "staged" },
  staged: { of: "objects" },
  objects: undefined,
};
export const firstFiles: FilesPosition = { of: "file" };

export async function checkFiles(run: AuditRun): Promise<void> {
  for (let position: FilesPosition | undefined = firstFiles; position !== undefined;) {
    run.signal.throwIfAborted();
    position = await auditFilesPage(run, position);
  }
}

/** The position after it; undefined once everything was checked. */
export async function auditFilesPage(run: AuditRun, { of, cursor }: FilesPosition): Promise<FilesPosition | undefined> {
  const next = of === "objects" ? await checkObjects(run, cursor) : await checkRecords(run, of, cursor);
  return next === undefined ? after[of] : { of, cursor: next };
}

async function checkRecords(
  { deps, scope, findings }: AuditRun,
  kind: (FileRecord | StagedRecord)["kind"],
  cursor: string | undefined,
): Promise<string | undefined> {
  const page = await deps.items.query(scope, filesContainer.definition.name, {
    index: "byKind",
    equals: { kind },
    limit: auditLimits.pageItemsMax,
    cursor,
  });
  for (const { document } of page.items) {
    const record = document as unknown as FileRecord | StagedRecord;
    const key = record.kind === "staged" ? stagedObject(record) : contentKey(record);
    if (document["deleted"] === true || (await deps.objects.head(scope, key)) !== undefined) continue;
    const now = await deps.items.read(scope, filesContainer.definition.name, {
      partition: [record.owner],
      id: record.id,
    });
    if (now === undefined || now.document["deleted"] === true) continue;
    // Staged again meanwhile, as another object.
    if (now.document["object"] !== document["object"]) continue;
    const detail = `The record of file ${record.id} names it, but it does not exist.`;
    findings.add({ kind: "record_without_object", store: "objects", key, detail, repaired: false });
  }
  return page.cursor;
}

async function checkObjects(
  { deps, scope, findings, repair }: AuditRun,
  cursor: string | undefined,
): Promise<string | undefined> {
  const page = await deps.objects.list(scope, filesRoot, { limit: auditLimits.pageKeysMax, after: cursor });
  for (const { key, bytes, modifiedAt } of page.keys) {
    findings.checked.objects += 1;
    const [owner, id] = key.slice(filesRoot.length).split("/") as [string, string];
    const record = await deps.items.read(scope, filesContainer.definition.name, { partition: [owner], id });
    if (record !== undefined) continue;
    if (deps.clock.now() - modifiedAt < youngMs) {
      findings.wait();
      continue;
    }
    if (repair) await deps.objects.delete(scope, [key]);
    const detail = `No record names this file of ${bytes} bytes.`;
    findings.add({ kind: "object_without_record", store: "objects", key, detail, repaired: repair });
  }
  return page.next;
}
