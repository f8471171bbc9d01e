/** Compares the files of an incarnation with its records, in both directions. */
import { itemIds, type DocumentRecord } from "../knowledge/records/records.ts";
import { keepObject } from "./quarantine/index.ts";
import { found, keeping, mayRepair, type IncarnationRun } from "./audit-run.ts";
import { auditLimits } from "./limits.ts";
import { expectedObjects, namesObject, readNamed, walkDocuments } from "./named.ts";
import { areBack, bringBack, repairObject } from "./repair-object.ts";

/** Documents whose records are read together. */
const groupsMax = 100;

interface Listed {
  readonly key: string;
  readonly modifiedAt: number;
}

/** The files of one document. */
interface Group {
  readonly documentId: string;
  readonly files: Listed[];
}

export async function checkObjects(run: IncarnationRun): Promise<void> {
  const seen = new Set<string>();
  let groups: Group[] = [];
  for await (const object of listed(run)) {
    run.findings.checked.objects += 1;
    const [documentId] = object.key.slice(run.partition.prefix.length).split("/") as [string];
    // The files of a document are consecutive.
    if (groups.at(-1)?.documentId !== documentId) {
      if (groups.length >= groupsMax) {
        await checkGroups(run, groups);
        groups = [];
      }
      groups.push({ documentId, files: [] });
      seen.add(documentId);
    }
    groups.at(-1)?.files.push(object);
  }
  await checkGroups(run, groups);
  // Documents without any file.
  for await (const page of walkDocuments(run.deps.items, run.partition, auditLimits.pageItemsMax)) {
    run.signal.throwIfAborted();
    run.findings.checked.documents += page.length;
    for (const { record } of page) if (!seen.has(record.document_id)) await checkExpected(run, record, new Set());
  }
}

async function checkGroups(run: IncarnationRun, groups: readonly Group[]): Promise<void> {
  run.signal.throwIfAborted();
  const records = await run.partition.readMany(groups.map(({ documentId }) => documentId));
  for (const [i, { documentId, files }] of groups.entries()) {
    const prefix = `${run.partition.prefix}${documentId}/`;
    const record = records[i];
    for (const object of files) {
      const rest = object.key.slice(prefix.length);
      if (!namesObject({ record, removals: [], kept: false }, object.key, rest))
        await checkLeft(run, documentId, object, rest);
    }
    if (record !== undefined)
      await checkExpected(run, record, new Set(files.map(({ key }) => key.slice(prefix.length))));
  }
}

/** Recent files may belong to an upload or ingestion that is being refused and removes what it wrote. */
async function checkLeft(
  run: IncarnationRun,
  documentId: string,
  { key, modifiedAt }: Listed,
  rest: string,
): Promise<void> {
  const { deps, findings, scope, partition } = run;
  if (namesObject(await readNamed(deps.items, partition, documentId), key, rest)) return;
  if (deps.clock.now() - modifiedAt < auditLimits.objectYoungMs) return findings.wait();
  // Check the object again, then what may name it.
  const head = await deps.objects.head(scope, key);
  if (head === undefined || head.modifiedAt !== modifiedAt) return;
  if (namesObject(await readNamed(deps.items, partition, documentId), key, rest)) return;
  const detail = `No record names this file of ${head.bytes} bytes.`;
  const repaired =
    mayRepair(run, "object_without_record") && (await removeLeft(run, documentId, { key, modifiedAt }, detail));
  await found(run, { kind: "object_without_record", store: "objects", document_id: documentId, key, detail, repaired });
}

/** It is first copied to the quarantine, which takes time, so everything is checked again before the delete. */
async function removeLeft(
  run: IncarnationRun,
  documentId: string,
  { key, modifiedAt }: Listed,
  detail: string,
): Promise<boolean> {
  const { deps, scope, partition, findings } = run;
  if (!(await keepObject(run, keeping(run, documentId, detail), key))) return false;
  const rest = key.slice(`${partition.prefix}${documentId}/`.length);
  if ((await deps.objects.head(scope, key))?.modifiedAt !== modifiedAt) return false;
  if (namesObject(await readNamed(deps.items, partition, documentId), key, rest)) return false;
  await deps.objects.delete(scope, [key]);
  findings.quarantine();
  return true;
}

/**
 * A version is named only after its bytes are stored, and its bytes are deleted only after it is no longer named: so missing bytes are an
 * error.
 */
async function checkExpected(run: IncarnationRun, record: DocumentRecord, there: ReadonlySet<string>): Promise<void> {
  if (record.missing !== undefined && (await areBack(run, record))) await checkBack(run, record.document_id);
  for (const rest of expectedObjects(record)) {
    if (there.has(rest)) continue;
    const key = `${run.partition.prefix}${record.document_id}/${rest}`;
    if ((await run.deps.objects.head(run.scope, key)) !== undefined) continue;
    const now = await run.partition.read(record.document_id);
    if (now === undefined || !expectedObjects(now.record).includes(rest)) continue;
    const outcome = mayRepair(run, "record_without_object")
      ? await repairObject(run, now, rest)
      : { repaired: false, detail: undefined };
    const detail =
      outcome.detail ?? `The record ${itemIds.document(record.document_id)} names it, but it does not exist.`;
    await found(run, {
      kind: "record_without_object",
      store: "objects",
      document_id: record.document_id,
      key,
      detail,
      repaired: outcome.repaired,
    });
  }
}

/** Bytes that a repair marked as missing are back. */
async function checkBack(run: IncarnationRun, documentId: string): Promise<void> {
  const now = await run.partition.read(documentId);
  if (now === undefined || !(await areBack(run, now.record))) return;
  const outcome = run.repair ? await bringBack(run, now) : { repaired: false, detail: undefined };
  const detail = outcome.detail ?? `Its bytes are back: version ${now.record.missing?.versions.join(", ")}.`;
  await found(run, {
    kind: "bytes_returned",
    store: "documents",
    document_id: documentId,
    detail,
    repaired: outcome.repaired,
  });
}

async function* listed({ deps, scope, partition }: IncarnationRun): AsyncGenerator<Listed> {
  for (let after: string | undefined; ;) {
    const page = await deps.objects.list(scope, partition.prefix, { limit: auditLimits.pageKeysMax, after });
    yield* page.keys;
    after = page.next;
    if (after === undefined) return;
  }
}
