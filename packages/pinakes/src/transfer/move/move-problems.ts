/** Why a collection cannot be moved, as far as can be known before any change. */
import { PinakesError, show } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import { CollectionPartition } from "../../knowledge/records/collection-partition.ts";
import { isLive } from "../../knowledge/records/catalog-records.ts";
import { checkMergedTags } from "../../knowledge/records/metadata.ts";
import type { CollectionRecord, RepositoryRecord } from "../../knowledge/records/records.ts";
import type { MoverDependencies } from "./collection-mover.ts";
import type { Move } from "./may-move.ts";
import { accessProblems } from "./target-settings.ts";

export interface MoveToCheck {
  readonly scope: Scope;
  readonly move: Move;
  readonly record: CollectionRecord;
  /** Continue although an external store may hold data of the collection. */
  readonly allowPartial: boolean;
}

export async function problemsOf(services: MoverDependencies, check: MoveToCheck): Promise<readonly string[]> {
  const { catalog, deps } = services;
  const { scope, move, record } = check;
  const { to } = move;
  const [repository, there] = await catalog.both(scope, to.repository_id, to.collection_id);
  const from = await catalog.repository(scope, move.from.repository_id);
  if (from === undefined) return [`is in repository ${show(move.from.repository_id)}, which no longer exists.`];
  if (repository === undefined) return [`goes to repository ${show(to.repository_id)}, which does not exist.`];
  const where = `collection ${show(to.collection_id)} of repository ${show(to.repository_id)}`;
  const documents = (await new CollectionPartition(deps.items, scope, record).stats())?.record.document_count ?? 0;
  const { documentsPerCatalogMax, documentsPerCollectionMax } = deps.quotas;
  const documentsMax = repository.record.owner === null ? documentsPerCollectionMax : documentsPerCatalogMax;
  return [
    ...(there !== undefined && isLive(there.record) ? [`goes to ${where}, which exists; choose another name.`] : []),
    ...(record.hold === undefined
      ? []
      : [`is held by migration ${show(record.hold.migration_id)}; finish or roll back that migration.`]),
    ...(documents > documentsMax
      ? [
          `has ${documents} documents; repository ${show(to.repository_id)} allows at most ${documentsMax} per collection.`,
        ]
      : []),
    ...accessProblems({ from: from.record, to: repository.record }, record),
    ...tagProblems(repository.record, record),
    ...(check.allowPartial ? [] : await storeProblems(services)),
  ];
}

function tagProblems(repository: RepositoryRecord, { metadata }: CollectionRecord): readonly string[] {
  try {
    checkMergedTags(repository.metadata, metadata);
    return [];
  } catch (error) {
    if (!PinakesError.isInstance(error)) throw error;
    return [error.detail];
  }
}

/** An external store supports only delete and archive: its data would stay behind (RFC 0007). */
async function storeProblems({ lifecycle, stores }: MoverDependencies): Promise<readonly string[]> {
  const own = new Set(stores.map(({ store }) => store));
  const others = (await lifecycle.participants.list()).map(({ store }) => store).filter((store) => !own.has(store));
  return others.map(
    (store) =>
      `store_cannot_migrate: data in the store ${show(store)} is not copied, and is deleted with the old incarnation. With allow_partial the other stores are copied.`,
  );
}
