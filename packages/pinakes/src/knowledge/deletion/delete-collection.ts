/**
 * Delete and restore of a collection (RFC 0007). Soft: unreadable at once, every byte kept until `purge_at`. Purge: one batch marks the
 * record and starts the operation that deletes it from every store. Each step names the incarnation, so that a late step never touches
 * another incarnation of the same id.
 *
 * The record decides and the stores follow: after fencing or unfencing the stores, the record is read again, and the step repeats if it has
 * changed. The work registry gets an entry before the first store is touched, with which the sweep completes the step after a crash.
 */
import { hasCode, PinakesError, invalid } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import { isConflict } from "../../runtime/expected-errors.ts";
import type { Incarnation, Lifecycle, Operation, Participant } from "../../lifecycle/index.ts";
import type { Operation as ItemOperation } from "../../ports/item-store.ts";
import { restMs, type KnowledgeWork } from "../records/work-registry.ts";
import type { JobRecord, Jobs } from "../jobs/jobs.ts";
import { dayMs, trashMsOf } from "../limits.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { incarnationOf } from "../records/incarnation-of.ts";
import type { Collections } from "../collections/collections.ts";
import { collectionDocument, isLive, type CatalogRecords, type Stored } from "../records/catalog-records.ts";
import { named } from "../records/new-collection.ts";
import { itemIds, type CollectionRecord } from "../records/records.ts";
import { isoTime, laterThan } from "../records/times.ts";

/**
 * A store with its own retention deletes this much later than `purge_at`. The operation purges at `purge_at`, according to the record; a
 * store knows no records, and a restored collection may stay fenced in it until the sweep has run.
 */
export const storeSpareMs = 30 * dayMs;

export interface DeletionDependencies {
  readonly deps: KnowledgeDependencies;
  readonly catalog: CatalogRecords;
  readonly collections: Collections;
  readonly registry: KnowledgeWork;
  readonly lifecycle: Lifecycle;
  readonly stores: readonly Participant[];
  readonly jobs: Jobs;
}

export interface BeginPurge {
  readonly createdBy: string;
  /** Of a job started by an earlier version. */
  readonly operationId?: string | undefined;
  readonly allowPartial?: boolean | undefined;
  readonly withDefault?: boolean | undefined;
  /** Only if `purge_at` still has this value. */
  readonly dueAt?: string | undefined;
}

export class CollectionDeletion {
  readonly #services: DeletionDependencies;

  constructor(services: DeletionDependencies) {
    this.#services = services;
  }

  /** How long a collection that is deleted now can be restored. */
  trashMsOf(scope: Scope): Promise<number> {
    return trashMsOf(this.#services.deps, scope);
  }

  async trash(
    scope: Scope,
    incarnation: Incarnation,
    job?: Pick<JobRecord, "attempts" | "created_at">,
  ): Promise<JsonObject> {
    const found = await this.#read(scope, incarnation);
    const { collection_id } = incarnation;
    const changed = { mode: "soft", collection_id, changed_since: true };
    // A retry after a crash must not delete a collection that was restored in the meantime.
    if (job !== undefined && job.attempts > 1 && isLive(found.record) && found.record.updated_at > job.created_at) {
      await this.follow(scope, incarnation);
      return changed;
    }
    if (found.record.is_default)
      throw invalid("The default collection cannot be deleted; delete its documents instead.");
    const { record } = isLive(found.record) ? await this.#hide(scope, found) : found;
    const now = await this.#close(scope, record);
    return now !== undefined && isLive(now) ? changed : { mode: "soft", collection_id, purge_at: record.purge_at };
  }

  /** Only while the migration still holds it (RFC 0009). False if it no longer does, or if the collection was restored concurrently. */
  async trashHeld(scope: Scope, incarnation: Incarnation, migration_id: string): Promise<boolean> {
    for (;;) {
      const found = await this.#read(scope, incarnation);
      if (isLive(found.record) && found.record.hold?.migration_id !== migration_id) return false;
      const hidden = isLive(found.record) ? await this.#hide(scope, found).catch(outrun) : found;
      if (hidden === undefined) continue;
      const now = await this.#close(scope, hidden.record);
      return now === undefined || !isLive(now);
    }
  }

  /**
   * Fences or unfences the stores according to the record, until the record is the same before and after. Once a purge has started, it
   * handles the stores itself. Idempotent. Returns the record; undefined if it no longer exists.
   */
  async follow(scope: Scope, incarnation: Incarnation): Promise<CollectionRecord | undefined> {
    const { catalog } = this.#services;
    for (;;) {
      const record = (await catalog.incarnation(scope, incarnation))?.record;
      if (record === undefined || (record.status !== "DELETED" && !isLive(record))) return record;
      const changing = isLive(record)
        ? this.#bringBack(scope, record, record.status === "ARCHIVED")
        : this.#fence(scope, record);
      const done = await changing.then(() => true, overtaken);
      const now = (await catalog.incarnation(scope, incarnation))?.record;
      if (done && now?.status === record.status && now.purge_at === record.purge_at) return now;
    }
  }

  /**
   * The stores first: the record makes the collection readable once all of it is back. `still` is called between the read and its
   * consequences, and throws if the caller was overtaken.
   */
  async restore(
    scope: Scope,
    incarnation: Incarnation,
    still: () => Promise<void> = async () => {},
  ): Promise<JsonObject> {
    const { deps, catalog, collections } = this.#services;
    const { record, etag } = await this.#read(scope, incarnation);
    await still();
    const done = { mode: "restore", collection_id: incarnation.collection_id };
    if (isLive(record)) {
      // An earlier attempt succeeded, but its response was lost.
      await this.follow(scope, incarnation);
      return done;
    }
    requireRestorable(record, deps.clock.now());
    const [repository, current] = await catalog.both(scope, incarnation.repository_id, incarnation.collection_id);
    if (repository === undefined)
      throw new PinakesError("NOT_FOUND", `There is no repository "${incarnation.repository_id}".`);
    if (record.displaced === true && current !== undefined && isLive(current.record)) throw idTaken(record);
    const archived = record.status_before === "ARCHIVED";
    await this.#lookSoon(scope, record);
    await this.#bringBack(scope, record, archived);
    const { displaced: _, ...rest } = record;
    const updated_at = laterThan(record.updated_at, deps.clock.now());
    const next = named({
      ...rest,
      status: archived ? "ARCHIVED" : "ACTIVE",
      status_before: null,
      deleted_at: null,
      purge_at: null,
      updated_at,
    });
    try {
      await catalog.batch(scope, incarnation.repository_id, [
        { op: "check", id: itemIds.repository, where: { status: "ACTIVE" } },
        collections.countUp(repository.record),
        ...this.#takePlace(next, record, etag, current),
      ]);
    } catch (error) {
      await this.#putBack(scope, record, error);
      throw await this.#restoreError(scope, error, record);
    }
    // A concurrent delete may have fenced the stores after they were unfenced, having read the record before the restore.
    await this.follow(scope, incarnation);
    return done;
  }

  /**
   * The commit point of a purge: one batch sets DELETE_IN_PROGRESS and creates the operation. Returns the operation in progress, if there
   * is one. Undefined: the collection was restored, so the purge is not due.
   */
  async begin(scope: Scope, incarnation: Incarnation, options: BeginPurge): Promise<Operation | undefined> {
    const { deps, lifecycle, registry } = this.#services;
    for (;;) {
      const found = await this.#read(scope, incarnation);
      const { record } = found;
      const { dueAt } = options;
      if (dueAt !== undefined && (isLive(record) || (record.status === "DELETED" && record.purge_at !== dueAt)))
        return undefined;
      if (record.is_default && options.withDefault !== true)
        throw invalid("The default collection cannot be deleted; delete its documents instead.");
      const earlier = await lifecycle.read(scope, record);
      if (earlier?.operation.action === "delete-collection") return earlier.operation;
      const operation = await lifecycle.plan({
        ...incarnationOf(record),
        operation_id: options.operationId ?? deps.newId(),
        action: "delete-collection",
        created_by: options.createdBy,
        allow_partial: options.allowPartial,
      });
      const at = deps.clock.now();
      const entry = { kind: "operation" as const, tenant: scope.tenant, ...incarnationOf(record) };
      await registry.mark(entry, at);
      try {
        await lifecycle.begin(scope, operation, hiding(found, this.#hidden(record, "DELETE_IN_PROGRESS", 0)), earlier);
      } catch (error) {
        if (!isConflict(error)) throw error;
        continue;
      }
      // The sweep removes entries that had nothing to do for this long.
      if (deps.clock.now() - at > restMs / 2) await registry.mark(entry, deps.clock.now());
      if (earlier !== undefined && earlier.operation.status !== "done")
        await this.#services.jobs.supersede(scope, earlier.operation.operation_id);
      return operation;
    }
  }

  /** Throws unless this incarnation can be restored. */
  requireRestorable(record: CollectionRecord): void {
    requireRestorable(record, this.#services.deps.clock.now());
  }

  /** After this batch the collection is unreadable and unwritable, and its name is free. */
  async #hide(scope: Scope, found: Stored<CollectionRecord>): Promise<Stored<CollectionRecord>> {
    const record = this.#hidden(found.record, "DELETED", await this.trashMsOf(scope));
    const { results } = await this.#services.catalog.batch(scope, record.repository_id, hiding(found, record));
    return { record, etag: results[0]?.etag as string };
  }

  /** Everything except the record, for a collection in the trash. Returns the current record. Idempotent. */
  async #close(scope: Scope, record: CollectionRecord): Promise<CollectionRecord | undefined> {
    if (record.status !== "DELETED") return record;
    await this.#lookSoon(scope, record);
    return this.follow(scope, record);
  }

  /** The sweep compares the stores with the record once this has certainly ended, then waits for `purge_at`. */
  async #lookSoon(scope: Scope, record: CollectionRecord): Promise<void> {
    const { registry, deps } = this.#services;
    const due = Math.min(deps.clock.now() + restMs, Date.parse(record.purge_at as string));
    await registry.mark({ kind: "purge", tenant: scope.tenant, ...incarnationOf(record) }, due);
  }

  #hidden(record: CollectionRecord, status: "DELETED" | "DELETE_IN_PROGRESS", keptMs: number): CollectionRecord {
    const now = this.#services.deps.clock.now();
    return named({
      ...record,
      status,
      status_before: isLive(record) ? record.status : record.status_before,
      deleted_at: record.deleted_at ?? isoTime(now),
      purge_at: isoTime(now + keptMs),
      updated_at: laterThan(record.updated_at, now),
    });
  }

  /** Gives the incarnation its id back. A deleted incarnation that held the id in the meantime is kept beside it. */
  #takePlace(
    next: CollectionRecord,
    record: CollectionRecord,
    etag: string,
    current: Stored<CollectionRecord> | undefined,
  ): readonly ItemOperation[] {
    const document = collectionDocument(next);
    if (record.displaced !== true) return [{ op: "replace", document, ifMatch: etag }];
    return [
      current === undefined ? { op: "create", document } : { op: "replace", document, ifMatch: current.etag },
      { op: "delete", id: itemIds.displaced(record.collection_id, record.incarnation), ifMatch: etag },
      ...(current === undefined
        ? []
        : [{ op: "create", document: collectionDocument({ ...current.record, displaced: true }) } as const]),
    ];
  }

  /** Everything except the record. Idempotent. */
  async #bringBack(scope: Scope, record: CollectionRecord, archived: boolean): Promise<void> {
    // Resumes the ingestions that the delete interrupted.
    await this.#services.registry.mark({ kind: "documents", tenant: scope.tenant, ...incarnationOf(record) });
    // The documents' fence last: it is what admits writers.
    for (const store of this.#services.stores.toReversed()) await store.unfence(scope, record, { archived });
  }

  async #fence(scope: Scope, record: CollectionRecord): Promise<void> {
    for (const store of this.#services.stores)
      await store.fence(scope, record, { purgeAt: Date.parse(record.purge_at as string) + storeSpareMs });
  }

  /**
   * Fences the stores again after a failed restore, unless it was restored concurrently. If the outcome is unknown, the sweep checks soon.
   */
  async #putBack(scope: Scope, record: CollectionRecord, error: unknown): Promise<void> {
    if (!PinakesError.isInstance(error) || error.retryable || error.code === "INTERNAL") return;
    await this.follow(scope, record);
  }

  async #read(scope: Scope, incarnation: Incarnation): Promise<Stored<CollectionRecord>> {
    const found = await this.#services.catalog.incarnation(scope, incarnation);
    if (found === undefined)
      throw new PinakesError(
        "NOT_FOUND",
        `There is no collection "${incarnation.collection_id}" in repository "${incarnation.repository_id}".`,
      );
    return found;
  }

  async #restoreError(scope: Scope, error: unknown, record: CollectionRecord): Promise<unknown> {
    if (!PinakesError.isInstance(error)) return error;
    const { name, repository_id, collection_id } = record;
    const index = error.context.batch?.index;
    if (index === 1)
      return new PinakesError(
        "LIMIT_EXCEEDED",
        `Repository "${repository_id}" has reached its maximum number of collections. Delete one first.`,
        { cause: error },
      );
    if (index === 2 && error.code === "CONFLICT") {
      const current = await this.#services.catalog.collection(scope, repository_id, collection_id);
      if (current !== undefined && current.record.incarnation !== record.incarnation && isLive(current.record))
        return idTaken(record, error);
      return new PinakesError(
        "CONFLICT",
        `Another collection of repository "${repository_id}" is now named "${name}". Rename it, then restore.`,
        {
          cause: error,
        },
      );
    }
    return error;
  }
}

/** The operations that replace the record and, if it was live, decrement the count of collections. */
function hiding({ record, etag }: Stored<CollectionRecord>, next: CollectionRecord): readonly ItemOperation[] {
  return [
    { op: "replace", document: collectionDocument(next), ifMatch: etag },
    ...(isLive(record)
      ? [{ op: "patch", id: itemIds.count, patch: [{ op: "incr", path: "/collections", value: -1 }] } as const]
      : []),
  ];
}

/** A deleted incarnation of the id does not block a restore, a live one does. */
function idTaken({ collection_id, repository_id }: CollectionRecord, cause?: unknown): PinakesError {
  return new PinakesError(
    "CONFLICT",
    `Another collection of repository "${repository_id}" now has the id "${collection_id}". Delete it, then restore.`,
    cause === undefined ? {} : { cause },
  );
}

function requireRestorable({ collection_id, status, purge_at }: CollectionRecord, now: number): void {
  if (status === "ACTIVE" || status === "ARCHIVED")
    throw new PinakesError("CONFLICT", `Collection "${collection_id}" is not deleted; it is ${status}.`);
  if (status === "DELETED" && now < Date.parse(purge_at as string)) return;
  throw new PinakesError(
    "GONE",
    `Collection "${collection_id}" could be restored until ${purge_at}; it is being purged.`,
  );
}

/** Another process fences or unfences the same store. */
function overtaken(error: unknown): false {
  if (!hasCode(error, "PRECONDITION_FAILED")) throw error;
  return false;
}

function outrun(error: unknown): undefined {
  if (!isConflict(error)) throw error;
}
