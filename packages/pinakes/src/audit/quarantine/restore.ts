/**
 * Restores entries of the quarantine. The checksum of the copy is verified first; then everything at the original location is compared with
 * it: identical data is left as it is, so that a restore can be repeated, and anything else is refused as CONFLICT before the first write.
 */
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { hasCode, PinakesError } from "../../domain/errors.ts";
import type { Quad } from "../../domain/rdf.ts";
import type { Scope } from "../../domain/scope.ts";
import { ifMissing } from "../../runtime/expected-errors.ts";
import type { VectorRow } from "../../vectors/index.ts";
import { CollectionPartition } from "../../knowledge/records/collection-partition.ts";
import { sourceMark } from "../../knowledge/documents/graph-support.ts";
import { readSource } from "../../knowledge/records/graph-source.ts";
import { appendRows } from "../../knowledge/documents/passages.ts";
import { isLive } from "../../knowledge/records/catalog-records.ts";
import { shownIn, type CollectionRecord } from "../../knowledge/records/records.ts";
import { keysOf, type StoredEntry } from "./entry.ts";
import type { KeepDependencies } from "./keep.ts";
import { quarantineLimits } from "./limits.ts";
import { readLines, readRowLine, rowLine, type QuadLine, type RowLine } from "./lines.ts";

export async function restoreEntry(services: KeepDependencies, scope: Scope, entry: StoredEntry): Promise<void> {
  const record = await requireLive(services, scope, entry);
  const partition = new CollectionPartition(services.deps.items, scope, record);
  if (entry.kind === "generation") return restoreGeneration(services, scope, entry);
  await requireWhole(services, scope, entry);
  if (entry.kind === "object") await restoreObject(services, scope, entry);
  if (entry.kind === "rows") await restoreRows(services, partition, entry);
  if (entry.kind === "triples") await restoreTriples(services, partition, entry);
}

async function requireLive({ catalog }: KeepDependencies, scope: Scope, entry: StoredEntry): Promise<CollectionRecord> {
  const record = (await catalog.incarnation(scope, entry))?.record;
  const name = `${entry.repository_id}/${entry.collection_id}`;
  if (record === undefined) throw conflict(`Collection ${name}, its origin, no longer exists.`);
  if (!isLive(record)) throw conflict(`Collection ${name} is ${record.status}. Restore the collection first.`);
  if (record.hold !== undefined)
    throw conflict(
      `Collection ${name} accepts no writes while migration "${record.hold.migration_id}" is in progress.`,
    );
  return record;
}

/** A purge has begun, and may miss what is written now. In the trash everything stays. */
export function isEnding(record: CollectionRecord): boolean {
  return !isLive(record) && record.status !== "DELETED";
}

async function requireWhole(
  { deps }: KeepDependencies,
  scope: Scope,
  { entry_id, sha256 }: StoredEntry,
): Promise<void> {
  const { sum } = await summed(copyOf(deps, scope, entry_id));
  if (sum !== sha256)
    throw new PinakesError(
      "CORRUPT",
      `The data of quarantine entry "${entry_id}" is damaged: its checksum differs. Nothing was written.`,
    );
}

async function* copyOf(
  { objects }: KeepDependencies["deps"],
  scope: Scope,
  entryId: string,
): AsyncGenerator<Uint8Array> {
  const body = await objects.stream(scope, keysOf(entryId).data);
  if (body === undefined)
    throw new PinakesError("CORRUPT", `The data of quarantine entry "${entryId}" is missing. Nothing was written.`);
  yield* body;
}

async function restoreObject({ deps, catalog }: KeepDependencies, scope: Scope, entry: StoredEntry): Promise<void> {
  const { objects } = deps;
  const { target, entry_id, sha256 } = entry;
  const isSame = async (): Promise<boolean> => {
    const there = await objects.stream(scope, target);
    if (there === undefined) return false;
    if ((await summed(there)).sum !== sha256)
      throw conflict(`Another file exists at ${target}. Remove it before restoring this one.`);
    return true;
  };
  if (await isSame()) return;
  try {
    await objects.put(
      scope,
      target,
      copyOf(deps, scope, entry_id),
      objects.capabilities.conditionalPut ? { ifAbsent: true } : {},
    );
  } catch (error) {
    if (!hasCode(error, "CONFLICT") || !(await isSame())) throw error;
  }
  // A concurrent purge may have listed the files before this one existed.
  const record = (await catalog.incarnation(scope, entry))?.record;
  if (record !== undefined && !isEnding(record)) return;
  await objects.delete(scope, [target]);
  throw conflict("Its collection was deleted concurrently.");
}

async function restoreRows(
  { deps }: KeepDependencies,
  partition: CollectionPartition,
  entry: StoredEntry,
): Promise<void> {
  const { scope } = partition;
  const { target, entry_id } = entry;
  if ((await ifMissing(deps.vectors.stats(scope, target))) === undefined)
    throw conflict(
      `The collection was re-indexed: the vectors ${target} of these chunks no longer exist. Re-index the document instead.`,
    );
  const lines = () => readLines<RowLine>(copyOf(deps, scope, entry_id), entry_id);
  const missing = new Set<string>();
  for await (const lot of lots(lines(), quarantineLimits.rowsMax)) {
    await requireShownRun(partition, entry, lot);
    const there = await deps.vectors.get(
      scope,
      target,
      lot.map(({ id }) => id),
    );
    for (const [i, line] of lot.entries()) {
      const row = there[i];
      if (row === undefined) missing.add(line.id);
      else if (!isDeepStrictEqual(rowLine(row), line))
        throw conflict(`Chunk ${line.id} exists with different content, which would be overwritten.`);
    }
  }
  for await (const lot of lots(lines(), quarantineLimits.rowsMax)) {
    const upsert: VectorRow[] = lot.filter(({ id }) => missing.has(id)).map(readRowLine);
    if (upsert.length > 0) await appendRows(deps, scope, target, { upsert });
  }
}

/** A document indexed since then has chunks of a later run, which must not be mixed with these. */
async function requireShownRun(
  partition: CollectionPartition,
  { document_id, target }: StoredEntry,
  lot: readonly RowLine[],
): Promise<void> {
  const record = document_id === null ? undefined : (await partition.read(document_id))?.record;
  const shown = record === undefined ? null : shownIn(record, Number(target.slice(target.lastIndexOf(".") + 1)));
  const run = Number(lot[0]?.id.split(".").at(-2));
  if (shown !== null && shown.run > run)
    throw conflict(
      `Document ${document_id} was indexed again since then (run ${shown.run}); these chunks are of run ${run}.`,
    );
}

async function restoreTriples(
  { deps }: KeepDependencies,
  partition: CollectionPartition,
  { entry_id, target, document_id }: StoredEntry,
): Promise<void> {
  const { scope, key } = partition;
  const source = readSource(target);
  const record = source === undefined ? undefined : (await partition.read(source.documentId))?.record;
  const newer = record?.graph?.sources ?? [];
  if (source !== undefined && newer.length > 0 && !newer.includes(sourceMark(source)))
    throw conflict(
      `Document ${document_id} was extracted again since then (${newer.join(", ")}); these triples are of ${sourceMark(source)}.`,
    );
  await deps.triples.open(scope, key.incarnation);
  for await (const lot of lots(
    readLines<QuadLine>(copyOf(deps, scope, entry_id), entry_id),
    quarantineLimits.quadsMax,
  )) {
    const byPart = new Map<number, Quad[]>();
    for (const { quad, parts: numbers } of lot)
      for (const part of numbers) byPart.set(part, [...(byPart.get(part) ?? []), quad]);
    for (const [part, insert] of byPart)
      await deps.triples.write(scope, key.incarnation, { insert, source: { source: target, part } });
  }
}

async function restoreGeneration({ deps }: KeepDependencies, scope: Scope, { target }: StoredEntry): Promise<void> {
  const { status } = await deps.vectors.remains(scope, target);
  if (status === "active") return;
  if (status !== "trashed")
    throw new PinakesError("GONE", `The vectors ${target} were purged; they cannot be restored.`);
  await deps.vectors.undelete(scope, target);
}

async function* lots<T>(lines: AsyncIterable<T>, size: number): AsyncGenerator<readonly T[]> {
  let lot: T[] = [];
  for await (const line of lines) {
    lot.push(line);
    if (lot.length < size) continue;
    yield lot;
    lot = [];
  }
  if (lot.length > 0) yield lot;
}

async function summed(body: AsyncIterable<Uint8Array>): Promise<{ readonly sum: string }> {
  const hash = createHash("sha256");
  for await (const piece of body) hash.update(piece);
  return { sum: hash.digest("hex") };
}

function conflict(detail: string): PinakesError {
  return new PinakesError("CONFLICT", `Not restored: ${detail}`);
}
