/** Users' files beside their bytes, both ways. What an upload may still be sending is left alone: the registry of work removes it in time. */
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

/** An upload in parts is open for an hour, and what came late is removed a day later. */
const youngMs = 2 * fileLimits.unfinishedMsMax;

export async function checkFiles(run: AuditRun): Promise<void> {
  await checkRecords(run, "file");
  await checkRecords(run, "staged");
  await checkObjects(run);
}

async function checkRecords(
  { deps, scope, findings, signal }: AuditRun,
  kind: (FileRecord | StagedRecord)["kind"],
): Promise<void> {
  for (let cursor: string | undefined; ;) {
    signal.throwIfAborted();
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
      const detail = `The record of file ${record.id} names it, and it is not there.`;
      findings.add({ kind: "record_without_object", store: "objects", key, detail, repaired: false });
    }
    cursor = page.cursor;
    if (cursor === undefined) return;
  }
}

async function checkObjects({ deps, scope, findings, signal, repair }: AuditRun): Promise<void> {
  for (let after: string | undefined; ;) {
    signal.throwIfAborted();
    const page = await deps.objects.list(scope, filesRoot, { limit: auditLimits.pageKeysMax, after });
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
    after = page.next;
    if (after === undefined) return;
  }
}
