/**
 * The entry point of migrations (RFC 0009): collections are created as they were elsewhere, and held closed for all other writers while
 * they are filled. Makes no access decisions: the caller has already been authorized.
 */
import { hasCode, PinakesError, show } from "../domain/errors.ts";
import { invariant } from "../domain/invariant.ts";
import type { Scope } from "../domain/scope.ts";
import type { Operation } from "../ports/item-store.ts";
import type { AppendInput, VectorRow } from "../vectors/index.ts";
import { appendCompacting } from "../knowledge/raw-vectors/append-compacting.ts";
import { ownVectorsName } from "../knowledge/records/raw-vectors-name.ts";
import type { KnowledgeDependencies } from "../knowledge/dependencies.ts";
import type { CollectionMover, ImportUndo } from "./index.ts";
import { CollectionPartition } from "../knowledge/records/collection-partition.ts";
import { notFound } from "../knowledge/access/access.ts";
import type { Collections } from "../knowledge/collections/collections.ts";
import { freedBy, heldBy } from "../knowledge/records/hold.ts";
import { personalAlias, personalRepositoryId } from "../knowledge/records/ids.ts";
import { collectionDocument, isLive, type CatalogRecords, type Stored } from "../knowledge/records/catalog-records.ts";
import { checkId } from "../knowledge/records/names.ts";
import { named, newCollection } from "../knowledge/records/new-collection.ts";
import { itemIds, type CollectionRecord, type RepositoryRecord } from "../knowledge/records/records.ts";
import type { Repositories } from "../knowledge/collections/repositories.ts";
import { requireTaking } from "../knowledge/records/taking.ts";
import { isoTime, laterThan } from "../knowledge/records/times.ts";

/** The target of a migration: in a repository, or in a user's personal one. */
export interface TargetAddress {
  readonly repository?: string | undefined;
  readonly user?: string | undefined;
  readonly collection: string;
}

export interface TargetIncarnation {
  readonly repository_id: string;
  readonly collection_id: string;
  readonly incarnation: string;
}

export interface TargetRecord extends TargetIncarnation {
  readonly created_at: string;
  /** The migration that created it. */
  readonly made_by: string | undefined;
  /** The migration that holds it. */
  readonly held_by: string | undefined;
  readonly document_count: number;
}

export interface NewTarget {
  readonly migration_id: string;
  readonly created_by: string;
  /** Creation time according to the source; estimated when absent. */
  readonly created_at?: string | undefined;
  readonly description?: string | undefined;
  readonly name?: string | undefined;
  /** The incarnation that the stores already hold; a new one when absent. */
  readonly incarnation?: string | undefined;
}

interface AppendOptions {
  readonly dims: number;
  readonly signal: AbortSignal;
  /** Heartbeat of long work. */
  readonly beat: () => Promise<void> | undefined;
}

interface MigrationTargetDependencies {
  readonly catalog: CatalogRecords;
  readonly collections: Collections;
  readonly repositories: Repositories;
  readonly moves: CollectionMover;
  readonly imports: ImportUndo;
}

export class MigrationTarget {
  /** Moves of collections within this deployment. */
  readonly moves: CollectionMover;
  readonly imports: ImportUndo;
  readonly #deps: KnowledgeDependencies;
  readonly #catalog: CatalogRecords;
  readonly #collections: Collections;
  readonly #repositories: Repositories;

  constructor(
    deps: KnowledgeDependencies,
    { catalog, collections, repositories, moves, imports }: MigrationTargetDependencies,
  ) {
    this.#deps = deps;
    this.moves = moves;
    this.imports = imports;
    this.#catalog = catalog;
    this.#collections = collections;
    this.#repositories = repositories;
  }

  /** The ids of a target; INVALID if malformed. Creates nothing. */
  idsOf({ repository, user, collection }: TargetAddress): Pick<TargetIncarnation, "repository_id" | "collection_id"> {
    const collection_id = checkId(collection, "collection");
    if (user !== undefined) return { repository_id: personalRepositoryId(user), collection_id };
    return { repository_id: checkId(repository, "repository"), collection_id };
  }

  /** Whether a target could be created: its repository exists, or is personal. */
  async hasRepository(scope: Scope, target: TargetAddress): Promise<boolean> {
    return (
      target.user !== undefined ||
      (await this.#catalog.repository(scope, this.idsOf(target).repository_id)) !== undefined
    );
  }

  /** Undefined if no collection has the id, or only a deleted one. */
  async find(
    scope: Scope,
    ids: Pick<TargetIncarnation, "repository_id" | "collection_id">,
  ): Promise<TargetRecord | undefined> {
    const found = await this.#catalog.collection(scope, ids.repository_id, ids.collection_id);
    if (found === undefined || !isLive(found.record)) return undefined;
    const { record } = found;
    const stats = await new CollectionPartition(this.#deps.items, scope, record).stats();
    return {
      ...incarnationOf(record),
      created_at: record.created_at,
      made_by: record.migrated?.migration_id,
      held_by: record.hold?.migration_id,
      document_count: stats?.record.document_count ?? 0,
    };
  }

  /** Whether a record names this incarnation. */
  async isRegistered(scope: Scope, incarnation: string): Promise<boolean> {
    const { items } = await this.#deps.items.query(scope, "collections", {
      index: "byIncarnation",
      equals: { incarnation },
      limit: 1,
    });
    return items.length > 0;
  }

  /** Creates the collection, held; one that this migration created, or that exists and is free, is held and returned. Idempotent. */
  async register(
    scope: Scope,
    target: TargetAddress,
    input: NewTarget,
  ): Promise<TargetIncarnation & { readonly made: boolean }> {
    const ids = this.idsOf(target);
    const repository = await this.#repository(scope, target, ids.repository_id);
    for (;;) {
      const found = await this.#catalog.collection(scope, ids.repository_id, ids.collection_id);
      if (found !== undefined && isLive(found.record)) {
        await this.hold(scope, ids, input.migration_id);
        return { ...incarnationOf(found.record), made: found.record.migrated?.migration_id === input.migration_id };
      }
      try {
        return await this.#create(scope, repository, { ...ids, former: found }, input);
      } catch (error) {
        // Created by an earlier attempt whose response was lost, or concurrently: read again.
        if (!hasCode(error, "CONFLICT") || !(await this.#appeared(scope, ids))) throw error;
      }
    }
  }

  async #create(
    scope: Scope,
    repository: RepositoryRecord,
    { collection_id, former }: { collection_id: string; former: Stored<CollectionRecord> | undefined },
    input: NewTarget,
  ): Promise<TargetIncarnation & { readonly made: boolean }> {
    const now = isoTime(this.#deps.clock.now());
    const { migration_id, created_at } = input;
    const record = newCollection({
      repository,
      caller: repository.owner ?? input.created_by,
      incarnation: input.incarnation ?? this.#deps.newId(),
      now,
      collectionId: collection_id,
      fields: {
        ...(repository.owner === null ? {} : { private: true }),
        ...(input.name === undefined ? {} : { name: input.name }),
        ...(input.description === undefined ? {} : { description: input.description }),
        created_at: created_at ?? now,
        hold: { migration_id },
        migrated: { migration_id, created_at: created_at === undefined ? "estimated" : "source" },
      },
    });
    await this.#collections.begin(scope, repository, record, { former, isNamed: input.name !== undefined });
    return { ...incarnationOf(record), made: true };
  }

  async #appeared(
    scope: Scope,
    { repository_id, collection_id }: Pick<TargetIncarnation, "repository_id" | "collection_id">,
  ): Promise<boolean> {
    const found = await this.#catalog.collection(scope, repository_id, collection_id);
    return found !== undefined && isLive(found.record);
  }

  /** CONFLICT if another migration holds it. */
  async hold(
    scope: Scope,
    ids: Pick<TargetIncarnation, "repository_id" | "collection_id">,
    migration_id: string,
  ): Promise<void> {
    // The collections of a repository that is being deleted cannot be held either.
    await this.#change(scope, ids, (record) => heldBy(record, migration_id), [
      { op: "check", id: itemIds.repository, where: { status: "ACTIVE" } },
    ]);
  }

  /** Does nothing if it is not held, or held by another migration. */
  async release(
    scope: Scope,
    ids: Pick<TargetIncarnation, "repository_id" | "collection_id">,
    migration_id: string,
  ): Promise<void> {
    await this.#change(scope, ids, (record) => freedBy(record, migration_id));
  }

  /** Deletes the record and keeps the data, for one that this migration registered. */
  async unregister(
    scope: Scope,
    ids: Pick<TargetIncarnation, "repository_id" | "collection_id">,
    migration_id: string,
  ): Promise<void> {
    const found = await this.#catalog.collection(scope, ids.repository_id, ids.collection_id);
    if (found === undefined || found.record.migrated?.migration_id !== migration_id) return;
    await this.#catalog.batch(scope, ids.repository_id, [
      { op: "delete", id: itemIds.collection(ids.collection_id), ifMatch: found.etag },
      { op: "patch", id: itemIds.count, patch: [{ op: "incr", path: "/collections", value: -1 }] },
    ]);
  }

  /** The first rows set the dimension. */
  async appendRows(
    scope: Scope,
    { incarnation }: TargetIncarnation,
    delta: AppendInput,
    { dims, signal, beat }: AppendOptions,
  ): Promise<void> {
    const name = ownVectorsName(incarnation);
    await this.#deps.vectors.create(scope, name, { dims });
    await appendCompacting(this.#deps, scope, name, delta, { signal, beat });
  }

  /** Rows that callers embedded themselves; none if there never were any. */
  async *rows(scope: Scope, { incarnation }: Pick<TargetIncarnation, "incarnation">): AsyncGenerator<VectorRow> {
    try {
      yield* this.#deps.vectors.rows(scope, ownVectorsName(incarnation));
    } catch (error) {
      if (!hasCode(error, "NOT_FOUND")) throw error;
    }
  }

  async removeRows(scope: Scope, { incarnation }: TargetIncarnation, ids: readonly string[]): Promise<void> {
    await this.#deps.vectors.append(scope, ownVectorsName(incarnation), { delete: ids });
  }

  async #repository(scope: Scope, { user, repository }: TargetAddress, id: string): Promise<RepositoryRecord> {
    if (repository === personalAlias)
      throw new PinakesError(
        "INVALID",
        `repository: ${show(repository)} is different for every user; name the user with "user".`,
      );
    const own =
      user === undefined
        ? undefined
        : await this.#repositories.personal(this.#deps.callerOf({ tenant: scope.tenant, userId: user }));
    const found = own ?? (await this.#catalog.repository(scope, id));
    if (found === undefined) throw notFound(`repository "${id}"`);
    return found.record;
  }

  async #change(
    scope: Scope,
    { repository_id, collection_id }: Pick<TargetIncarnation, "repository_id" | "collection_id">,
    change: (record: CollectionRecord) => CollectionRecord | undefined,
    checks: readonly Operation[] = [],
  ): Promise<void> {
    for (;;) {
      const found = await this.#catalog.collection(scope, repository_id, collection_id);
      if (found === undefined || !isLive(found.record)) return;
      const next = change(found.record);
      if (next === undefined) return;
      invariant(next.incarnation === found.record.incarnation, "INTERNAL", "a hold never changes the incarnation");
      const updated_at = laterThan(found.record.updated_at, this.#deps.clock.now());
      try {
        await this.#catalog.batch(scope, repository_id, [
          { op: "replace", document: collectionDocument(named({ ...next, updated_at })), ifMatch: found.etag },
          ...checks,
        ]);
        return;
      } catch (error) {
        if (!hasCode(error, "PRECONDITION_FAILED")) throw error;
        const repository = (await this.#catalog.repository(scope, repository_id))?.record;
        if (checks.length > 0 && repository !== undefined) requireTaking(repository);
      }
    }
  }
}

function incarnationOf({ repository_id, collection_id, incarnation }: CollectionRecord): TargetIncarnation {
  return { repository_id, collection_id, incarnation };
}
