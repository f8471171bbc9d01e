/**
 * What the records of an incarnation name. Data is created only after a record names it, and a record stops naming it in the batch that
 * writes its removal; so data that is found first, and then named by neither the document nor its removals, is orphaned.
 */
import type { Scope } from "../domain/scope.ts";
import type { ItemStore } from "../ports/item-store.ts";
import type { CollectionPartition } from "../knowledge/records/collection-partition.ts";
import { documentsContainer, itemIds, type DocumentRecord, type RemovalRecord } from "../knowledge/records/records.ts";
import { everyItem, everyPage } from "../containers/every-item.ts";

interface Named {
  readonly record: DocumentRecord | undefined;
  readonly removals: readonly RemovalRecord[];
  /** The document was deleted, but its bytes stay: they existed before it. */
  readonly kept: boolean;
}

export async function readNamed(items: ItemStore, partition: CollectionPartition, documentId: string): Promise<Named> {
  const record = (await partition.read(documentId))?.record;
  const { repository_id, incarnation } = partition.key;
  const removals = await Array.fromAsync(
    everyItem(items, partition.scope, documentsContainer.name, {
      equals: { repository_id, incarnation },
      range: { prefix: itemIds.removal(documentId, "") },
      limit: 100,
    }),
    ({ document }) => document as unknown as RemovalRecord,
  );
  const kept = await items.read(partition.scope, documentsContainer.name, {
    partition: [repository_id, incarnation],
    id: itemIds.kept(documentId),
  });
  return { record, removals, kept: kept !== undefined };
}

interface RowName {
  readonly documentId: string;
  readonly run: number;
  readonly index: number;
}

/** Undefined for a row that is not a chunk. */
export function readRowName(id: string): RowName | undefined {
  const [, documentId, run, index] = /^(.+)\.(\d+)\.(\d+)$/.exec(id) ?? [];
  return documentId === undefined ? undefined : { documentId, run: Number(run), index: Number(index) };
}

/** Number of rows of a run that are named: those with a lower index. */
export function rowsNamed(
  { record, removals }: Pick<Named, "record" | "removals">,
  run: number,
  generation: number,
): number {
  if (record !== undefined && isUnderWay(record) && record.run === run) return Infinity;
  const shown = [record?.live, record?.prepared].filter(
    (version) => version?.run === run && version.generation === generation,
  );
  const going = removals
    .flatMap(({ chunks }) => chunks)
    .filter((range) => range.run === run && range.generation === generation);
  return Math.max(0, ...[...shown, ...going].map((range) => range?.chunk_count ?? 0));
}

export function namesSource({ record, removals }: Named, mark: string): boolean {
  return (
    record?.graph?.sources.includes(mark) === true || removals.some(({ sources }) => sources?.includes(mark) === true)
  );
}

/** `<version>/<content, text or answers>` below the document. */
export function namesObject({ record, removals, kept }: Named, key: string, rest: string): boolean {
  if (kept || removals.some(({ object_keys }) => object_keys.includes(key))) return true;
  const [version, part, ...more] = rest.split("/");
  if (record === undefined || more.length > 0 || !["content", "text", "answers"].includes(part ?? "")) return false;
  const shown = [
    record.version,
    record.live?.version,
    record.prepared?.version,
    ...record.versions.map((entry) => entry.version),
  ];
  return shown.some((number) => number !== undefined && String(number) === version);
}

/** Files that must exist: the bytes of each version, and the text that citations refer to, as long as its bytes exist. */
export function expectedObjects({ versions, live, missing }: DocumentRecord): readonly string[] {
  const here = versions.map(({ version }) => version).filter((version) => missing?.versions.includes(version) !== true);
  const text = live !== null && here.includes(live.version) ? [`${live.version}/text`] : [];
  return [...here.map((version) => `${version}/content`), ...text];
}

/** A repair marked the newest version as missing: its chunks cannot be rebuilt until it is back. */
export function isMarked({ versions: [newest], missing }: DocumentRecord): boolean {
  return newest !== undefined && missing?.versions.includes(newest.version) === true;
}

/** A run is in progress, and will restore what is missing. */
export function isUnderWay({ status }: DocumentRecord): boolean {
  return status === "uploading" || status === "pending" || status === "indexing";
}

interface WalkedDocument {
  readonly record: DocumentRecord;
  readonly etag: string;
}

/** Page by page, from the partition itself. */
export async function* walkDocuments(
  items: ItemStore,
  partition: CollectionPartition,
  limit: number,
): AsyncGenerator<readonly WalkedDocument[]> {
  const { repository_id, incarnation } = partition.key;
  const scope: Scope = partition.scope;
  for await (const page of everyPage(items, scope, documentsContainer.name, {
    equals: { repository_id, incarnation },
    range: { prefix: itemIds.document("") },
    limit,
  })) {
    yield page.items.map(({ document: { id: _, ...record }, etag }) => ({
      record: record as unknown as DocumentRecord,
      etag,
    }));
  }
}
