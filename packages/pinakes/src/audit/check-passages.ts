/** Compares the chunks of an incarnation with its documents, in both directions, in the generation that searches read. */
import { hasCode } from "../domain/errors.ts";
import { ifMissing, tolerate, isConflict } from "../runtime/expected-errors.ts";
import { appendRows, chunkId } from "../knowledge/documents/passages.ts";
import { shownIn, type DocumentRecord, type FenceRecord, itemIds } from "../knowledge/records/records.ts";
import { keepGeneration, keepRows } from "./quarantine/index.ts";
import { found, keeping, mayRepair, type IncarnationRun } from "./audit-run.ts";
import { auditLimits } from "./limits.ts";
import { isMarked, isUnderWay, readNamed, readRowName, rowsNamed, walkDocuments } from "./named.ts";
import { toIndexAnew } from "../knowledge/documents/index-anew.ts";
import { contentKey } from "../knowledge/documents/check-upload.ts";
import type { Stored } from "../knowledge/records/catalog-records.ts";
import { markMissing, type RepairOutcome } from "./repair-object.ts";

/** The rows of one run of one document. */
interface Group {
  readonly documentId: string;
  readonly run: number;
  rows: number;
  /** Their highest index. */
  last: number;
}

const idsPerGet = 1_000;
const recordsPerRead = 100;

export async function checkPassages(run: IncarnationRun): Promise<void> {
  const fence = (await run.partition.fence())?.record;
  if (fence === undefined) return;
  await checkGenerations(run, fence);
  if (!run.deep && (await sumsFit(run, fence.generation))) return;
  const groups = await readGroups(run, fence.generation);
  // Unreadable vectors are reported by checkManifests.
  if (groups === undefined) return;
  await checkRows(run, [...groups.values()], fence.generation);
  for await (const page of walkDocuments(run.deps.items, run.partition, auditLimits.pageItemsMax)) {
    run.signal.throwIfAborted();
    for (const { record } of page) {
      const shown = shownIn(record, fence.generation);
      const group = shown === null ? undefined : groups.get(`${record.document_id}.${shown.run}`);
      const whole = group !== undefined && group.rows === shown?.chunk_count && group.last < shown.chunk_count;
      if (shown !== null && shown.chunk_count > 0 && !whole) await checkShown(run, record, fence);
    }
  }
}

/** Nothing is being ingested, and the number of chunks matches the counters: sufficient unless the audit is deep. */
async function sumsFit({ deps, partition, scope, findings }: IncarnationRun, generation: number): Promise<boolean> {
  const before = await partition.stats();
  const { chunk_count = 0, by_status } = before?.record ?? {};
  if (by_status !== undefined && by_status.uploading + by_status.pending + by_status.indexing > 0) return false;
  const rows = await tolerate(deps.vectors.count(scope, partition.vectors(generation)), "NOT_FOUND", "CORRUPT");
  const fits = (rows ?? 0) === chunk_count && (await partition.stats())?.etag === before?.etag;
  if (fits) findings.checked.passages += chunk_count;
  return fits;
}

async function readGroups(
  { deps, partition, scope, findings, signal }: IncarnationRun,
  generation: number,
): Promise<Map<string, Group> | undefined> {
  const groups = new Map<string, Group>();
  try {
    for await (const { id } of deps.vectors.rows(scope, partition.vectors(generation))) {
      signal.throwIfAborted();
      findings.checked.passages += 1;
      const name = readRowName(id);
      if (name === undefined) continue;
      const { documentId, run, index } = name;
      const key = `${documentId}.${run}`;
      const group = groups.get(key) ?? { documentId, run, rows: 0, last: -1 };
      group.rows += 1;
      group.last = Math.max(group.last, index);
      groups.set(key, group);
    }
  } catch (error) {
    if (!hasCode(error, "NOT_FOUND", "CORRUPT")) throw error;
    if (error.code === "CORRUPT") return undefined;
  }
  return groups;
}

async function checkRows(run: IncarnationRun, groups: readonly Group[], generation: number): Promise<void> {
  for (let at = 0; at < groups.length; at += recordsPerRead) {
    run.signal.throwIfAborted();
    const some = groups.slice(at, at + recordsPerRead);
    const records = await run.partition.readMany(some.map(({ documentId }) => documentId));
    for (const [i, group] of some.entries())
      if (rowsNamed({ record: records[i], removals: [] }, group.run, generation) <= group.last)
        await checkLeft(run, group, generation);
  }
}

/** Rows that still exist after everything that could name them was read. */
async function checkLeft(
  run: IncarnationRun,
  { documentId, run: number, last }: Group,
  generation: number,
): Promise<void> {
  const { deps, partition, scope, suspects } = run;
  const quiet = await suspects.isQuiet(scope.tenant);
  const from = rowsNamed(await readNamed(deps.items, partition, documentId), number, generation);
  const ids = from > last ? [] : await present(run, generation, indexes(documentId, number, from, last + 1));
  if (ids.length === 0) return;
  const what = `${partition.vectors(generation)} ${documentId}.${number}`;
  if (!quiet && !(await suspects.isOld(scope.tenant, "vectors_without_document", what))) return run.findings.wait();
  const name = partition.vectors(generation);
  const detail = `${ids.length} chunks of run ${number} that no record names.`;
  const repaired =
    mayRepair(run, "vectors_without_document") && (await keepRows(run, keeping(run, documentId, detail), name, ids));
  if (repaired) {
    for (let at = 0; at < ids.length; at += idsPerGet)
      await appendRows(deps, scope, name, { delete: ids.slice(at, at + idsPerGet) }, run.signal);
    run.findings.quarantine();
  }
  await found(run, {
    kind: "vectors_without_document",
    store: "vectors",
    document_id: documentId,
    key: name,
    detail,
    repaired,
  });
}

/** A live version has all its rows from the moment it is live: missing rows are an error, unless the record changed concurrently. */
async function checkShown(
  run: IncarnationRun,
  { document_id }: DocumentRecord,
  { generation }: FenceRecord,
): Promise<void> {
  const { partition } = run;
  const before = await partition.read(document_id);
  const shown = before === undefined ? null : shownIn(before.record, generation);
  // A document being ingested gets all of them again.
  if (before === undefined || shown === null || isUnderWay(before.record) || isMarked(before.record)) return;
  const there = await present(run, generation, indexes(document_id, shown.run, 0, shown.chunk_count));
  const missing = shown.chunk_count - there.length;
  if (missing === 0) return;
  const now = await partition.read(document_id);
  if (now?.etag !== before.etag || (await partition.fence())?.record.generation !== generation) return;
  const outcome = mayRepair(run, "document_without_vectors")
    ? await repairPassages(run, now)
    : { repaired: false, detail: undefined };
  const detail = `${missing} of its ${shown.chunk_count} chunks are missing.${outcome.detail === undefined ? "" : ` ${outcome.detail}`}`;
  await found(run, {
    kind: "document_without_vectors",
    store: "vectors",
    document_id,
    key: partition.vectors(generation),
    detail,
    repaired: outcome.repaired,
  });
}

/** A re-index purges earlier generations when it has finished; those that remain after a while were missed. */
async function checkGenerations(run: IncarnationRun, fence: FenceRecord): Promise<void> {
  const { deps, partition, scope, suspects } = run;
  for (
    let generation = fence.generation - 1;
    generation >= Math.max(1, fence.generation - auditLimits.generationsMax);
    generation -= 1
  ) {
    const name = partition.vectors(generation);
    if ((await ifMissing(deps.vectors.stats(scope, name))) === undefined) continue;
    if ((await partition.fence())?.record.status !== "ACTIVE") return;
    if (!(await suspects.isOld(scope.tenant, "vectors_without_document", name, auditLimits.generationMs))) {
      run.findings.wait();
      continue;
    }
    const detail = `Chunks of generation ${generation}; searches read ${fence.generation}.`;
    // NOT_FOUND: removed concurrently.
    const kept = run.repair ? await ifMissing(keepGeneration(run, keeping(run, null, detail), name)) : false;
    if (kept === true) run.findings.quarantine();
    await found(run, {
      kind: "vectors_without_document",
      store: "vectors",
      key: name,
      detail,
      repaired: kept !== false,
    });
  }
}

async function present(
  { deps, partition, scope }: IncarnationRun,
  generation: number,
  ids: readonly string[],
): Promise<readonly string[]> {
  const there: string[] = [];
  for (let at = 0; at < ids.length; at += idsPerGet) {
    const rows = await ifMissing(deps.vectors.get(scope, partition.vectors(generation), ids.slice(at, at + idsPerGet)));
    there.push(...(rows ?? []).flatMap((row) => (row === undefined ? [] : [row.id])));
  }
  return there;
}

function indexes(documentId: string, run: number, from: number, to: number): readonly string[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, i) => chunkId(documentId, run, from + i));
}

/** Re-indexes a document with missing chunks; if its bytes are missing too, marks it. */
async function repairPassages(run: IncarnationRun, stored: Stored<DocumentRecord>): Promise<RepairOutcome> {
  const { deps, partition, scope, queue } = run;
  if ((await partition.fence())?.record.status !== "ACTIVE")
    return { repaired: false, detail: "The collection is archived; unarchive it first." };
  const { record } = stored;
  const [newest] = record.versions;
  if (newest === undefined)
    return { repaired: false, detail: "None of its versions has bytes. Upload it again, with replace=true." };
  const bytes = await deps.objects.head(scope, contentKey(partition, record.document_id, newest.version));
  // The chunks cannot be rebuilt: the record keeps everything, so that it is as before when the bytes are back.
  if (bytes === undefined) return markMissing(run, stored, [newest.version]);
  await queue.watch(partition);
  try {
    const next = toIndexAnew(record, deps.clock.now());
    await partition.write([
      { op: "replace", document: partition.document(itemIds.document(record.document_id), next), ifMatch: stored.etag },
      partition.move({ from: record.status, to: "pending" }),
    ]);
    await queue.send(partition, next);
    return { repaired: true, detail: "It is being indexed again." };
  } catch (error) {
    if (!isConflict(error)) throw error;
    return { repaired: false, detail: "It changed concurrently; audit again." };
  }
}
