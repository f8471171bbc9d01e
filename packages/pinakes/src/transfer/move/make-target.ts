/**
 * Creates the new incarnation of a moved collection: its record with the settings of the old one, held, and a fence of the same generation.
 */
import { isDeepStrictEqual } from "node:util";
import { PinakesError, show } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import { succeeds, tolerate } from "../../runtime/expected-errors.ts";
import { emptyStats, CollectionPartition } from "../../knowledge/records/collection-partition.ts";
import { collectionDocument, isLive, type Stored } from "../../knowledge/records/catalog-records.ts";
import { named, newCollection } from "../../knowledge/records/new-collection.ts";
import { itemIds, type CollectionRecord, type FenceRecord } from "../../knowledge/records/records.ts";
import { TagRows } from "../../knowledge/records/tag-rows.ts";
import { isoTime, laterThan } from "../../knowledge/records/times.ts";
import type { KnowledgeDependencies } from "../../knowledge/dependencies.ts";
import type { MoverDependencies } from "./collection-mover.ts";
import type { EnsureOwned, MoveTarget } from "./collection-holds.ts";
import type { Move } from "./may-move.ts";
import { targetSettings, type Repositories } from "./target-settings.ts";

export interface NewTarget {
  readonly move: Move;
  readonly source: CollectionRecord;
  readonly migration_id: string;
  readonly ensureOwned: EnsureOwned;
}

/** Its name; a collection named like its id gets its new id as its name. */
export function nameOf(source: CollectionRecord, collectionId: string): string {
  return source.name === source.collection_id ? collectionId : source.name;
}

/** Returns the existing one if this migration already created it. CONFLICT if the id or the name is taken. */
export async function makeTarget(services: MoverDependencies, scope: Scope, input: NewTarget): Promise<MoveTarget> {
  const { catalog, deps } = services;
  const { move, source, migration_id } = input;
  for (;;) {
    const from = await catalog.repository(scope, move.from.repository_id);
    const [repository, found] = await catalog.both(scope, move.to.repository_id, move.to.collection_id);
    if (repository === undefined || from === undefined)
      throw noRepository(repository === undefined ? move.to.repository_id : move.from.repository_id);
    const repositories = { from: from.record, to: repository.record };
    if (found !== undefined && isLive(found.record)) {
      if (found.record.migrated?.migration_id !== migration_id)
        throw new PinakesError(
          "CONFLICT",
          `A collection ${show(move.to.collection_id)} now exists in repository ${show(move.to.repository_id)}. Delete it, or roll back.`,
        );
      const target = { ...move.to, incarnation: found.record.incarnation };
      await makeFence(deps, scope, target, source);
      if (await isSetAnew(services, scope, found, { ...targetSettings(repositories, source) })) return target;
      continue;
    }
    const record = recordOf(deps, repositories, input);
    await new TagRows(deps.items).add(scope, record);
    await input.ensureOwned();
    try {
      await catalog.batch(
        scope,
        move.to.repository_id,
        services.collections.newIncarnation(repository.record, record, found),
      );
    } catch (error) {
      await requireRaced(services, scope, move, error);
    }
  }
}

/** The groups that the repositories admit may have changed since it was created. False: it was changed concurrently. */
async function isSetAnew(
  { catalog, deps }: MoverDependencies,
  scope: Scope,
  { record, etag }: Stored<CollectionRecord>,
  settings: Partial<CollectionRecord>,
): Promise<boolean> {
  // After the release its owner decides.
  if (
    record.hold?.migration_id !== record.migrated?.migration_id ||
    isDeepStrictEqual({ ...record, ...settings }, { graph: null, ...record })
  )
    return true;
  const next = named({ ...record, ...settings, updated_at: laterThan(record.updated_at, deps.clock.now()) });
  return succeeds(
    catalog.batch(scope, record.repository_id, [{ op: "replace", document: collectionDocument(next), ifMatch: etag }]),
    "PRECONDITION_FAILED",
  );
}

export function noRepository(repositoryId: string): PinakesError {
  return new PinakesError("NOT_FOUND", `There is no repository "${repositoryId}"; roll the migration back.`);
}

/**
 * Returns if the create should be retried: created by an attempt whose response was lost, or changed concurrently. Throws a clear error
 * otherwise.
 */
async function requireRaced({ catalog }: MoverDependencies, scope: Scope, { to }: Move, error: unknown): Promise<void> {
  if (!PinakesError.isInstance(error)) throw error;
  const index = error.context.batch?.index;
  if (index === 0)
    throw new PinakesError(
      "CONFLICT",
      `Repository ${show(to.repository_id)} is being deleted; roll the migration back.`,
      { cause: error },
    );
  if (index === 2)
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `Repository ${show(to.repository_id)} has reached its maximum number of collections. Delete one first.`,
      { cause: error },
    );
  if (error.code === "PRECONDITION_FAILED" || error.code === "NOT_FOUND") return;
  const now = await catalog.collection(scope, to.repository_id, to.collection_id);
  if (error.code === "CONFLICT" && now !== undefined && isLive(now.record)) return;
  if (error.code === "CONFLICT" && index === 1)
    throw new PinakesError(
      "CONFLICT",
      `Another collection of repository ${show(to.repository_id)} has the same name. Rename one of them.`,
      {
        cause: error,
      },
    );
  throw error;
}

/** If both are in the same repository the old one still has the name; until the switch the new one is named by its migration. */
function recordOf(
  { clock, newId }: KnowledgeDependencies,
  repositories: Repositories,
  { move, source, migration_id }: NewTarget,
): CollectionRecord {
  const now = isoTime(clock.now());
  return newCollection({
    repository: repositories.to,
    caller: source.created_by,
    incarnation: newId(),
    now,
    collectionId: move.to.collection_id,
    fields: {
      ...targetSettings(repositories, source),
      name:
        move.from.repository_id === move.to.repository_id
          ? `Migration ${migration_id}`
          : nameOf(source, move.to.collection_id),
      hold: { migration_id },
      migrated: { migration_id, created_at: source.migrated?.created_at ?? "source" },
    },
  });
}

/** With the generation and the model of the chunks, so that nothing needs renumbering. */
async function makeFence(
  deps: KnowledgeDependencies,
  scope: Scope,
  target: MoveTarget,
  source: CollectionRecord,
): Promise<void> {
  const partition = new CollectionPartition(deps.items, scope, target);
  if ((await partition.fence()) !== undefined) return;
  const { generation = 1, embedding_model } =
    (await new CollectionPartition(deps.items, scope, source).fence())?.record ?? {};
  const model = embedding_model === undefined ? {} : { embedding_model };
  const fence: FenceRecord = {
    kind: "fence",
    status: "ACTIVE",
    collection_id: target.collection_id,
    generation,
    held: true,
    ...model,
  };
  await tolerate(
    partition.clean([
      { op: "create", document: partition.document(itemIds.fence, fence) },
      { op: "create", document: partition.document(itemIds.stats, emptyStats) },
    ]),
    "CONFLICT",
  );
}
