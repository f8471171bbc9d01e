/**
 * The end of a collection, and the way back (RFC 0007). Soft: unreadable at once, every byte kept until `purge_at`. Purge: one batch marks
 * the record and begins the operation that removes it from every store. Each step names the life it means, so that a step which comes
 * late never touches another life of the same id.
 *
 * The record decides, and the stores follow it: whoever closed or opened them reads the record again, and does it over where somebody
 * changed it meanwhile. The registry has an entry before the first store is touched, by which the sweep does the same after a crash.
 */
import { hasCode, PinakesError, invalid } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import { isConflict } from "../../runtime/expected-errors.ts";
import type { Incarnation, Lifecycle, Operation, Participant } from "../../lifecycle/index.ts";
import type { Operation as ItemOperation } from "../../ports/item-store.ts";
import { restMs, type KnowledgeWork } from "../records/work-registry.ts";
import type { JobRecord, Jobs } from "../jobs/jobs.ts";
import { dayMs, trashMs } from "../limits.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { lifeOf } from "../records/life-of.ts";
import type { Collections } from "../collections/collections.ts";
import { collectionDocument, isLive, type CatalogRecords, type Stored } from "../records/catalog-records.ts";
import { named } from "../records/new-collection.ts";
import { itemIds, type CollectionRecord } from "../records/records.ts";
import { isoTime, laterThan } from "../records/times.ts";

/**
 * A store that would remove its part by itself does so that much later than `purge_at`. The operation removes it at `purge_at`, by what the
 * record says; a store knows no records, and a collection that was restored may be closed in it until the sweep has come.
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
  /** Of a job that was begun by an earlier version. */
  readonly operationId?: string | undefined;
  readonly allowPartial?: boolean | undefined;
  readonly withDefault?: boolean | undefined;
  /** Only if it is still to be purged at this time. */
  readonly dueAt?: string | undefined;
}

export class CollectionDeletion {
  readonly #services: DeletionDependencies;

  constructor(services: DeletionDependencies) {
    this.#services = services;
  }

  /** How long a deleted collection can be had back. */
  get trashMs(): number {
    return this.#services.deps.trashMs ?? trashMs;
  }

  async trash(scope: Scope, life: Incarnation, job?: Pick<JobRecord, "attempts" | "created_at">): Promise<JsonObject> {
    const found = await this.#read(scope, life);
    const { collection_id } = life;
    const changed = { mode: "soft", collection_id, changed_since: true };
    // A try that is repeated after a crash must not delete again what was restored since.
    if (job !== undefined && job.attempts > 1 && isLive(found.record) && found.record.updated_at > job.created_at) {
      await this.follow(scope, life);
      return changed;
    }
    if (found.record.is_default) throw invalid("The default collection cannot be deleted; its documents can.");
    const { record } = isLive(found.record) ? await this.#hide(scope, found) : found;
    const now = await this.#close(scope, record);
    return now !== undefined && isLive(now) ? changed : { mode: "soft", collection_id, purge_at: record.purge_at };
  }

  /** Only while the migration still holds it (RFC 0009). False where it does not any more, or somebody brought it back meanwhile. */
  async trashHeld(scope: Scope, life: Incarnation, migration_id: string): Promise<boolean> {
    for (;;) {
      const found = await this.#read(scope, life);
      if (isLive(found.record) && found.record.hold?.migration_id !== migration_id) return false;
      const hidden = isLive(found.record) ? await this.#hide(scope, found).catch(outrun) : found;
      if (hidden === undefined) continue;
      const now = await this.#close(scope, hidden.record);
      return now === undefined || !isLive(now);
    }
  }

  /**
   * The stores are made what the record says, until it says the same before and after. A purge that began sees to everything itself. Can be
   * repeated, by anybody. Answers with the record; undefined where it is gone.
   */
  async follow(scope: Scope, life: Incarnation): Promise<CollectionRecord | undefined> {
    const { catalog } = this.#services;
    for (;;) {
      const record = (await catalog.life(scope, life))?.record;
      if (record === undefined || (record.status !== "DELETED" && !isLive(record))) return record;
      const changing = isLive(record)
        ? this.#bringBack(scope, record, record.status === "ARCHIVED")
        : this.#fence(scope, record);
      const done = await changing.then(() => true, overtaken);
      const now = (await catalog.life(scope, life))?.record;
      if (done && now?.status === record.status && now.purge_at === record.purge_at) return now;
    }
  }

  /**
   * The stores first: the record makes it readable, when all of it is back. `still` is asked between the read and what follows from it: who was
   * overtaken throws there.
   */
  async restore(scope: Scope, life: Incarnation, still: () => Promise<void> = async () => {}): Promise<JsonObject> {
    const { deps, catalog, collections } = this.#services;
    const { record, etag } = await this.#read(scope, life);
    await still();
    const done = { mode: "restore", collection_id: life.collection_id };
    if (isLive(record)) {
      // A former try got through, and its answer was lost.
      await this.follow(scope, life);
      return done;
    }
    requireRestorable(record, deps.clock.now());
    const [repository, current] = await catalog.both(scope, life.repository_id, life.collection_id);
    if (repository === undefined)
      throw new PinakesError("NOT_FOUND", `There is no repository "${life.repository_id}".`);
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
      await catalog.batch(scope, life.repository_id, [
        { op: "check", id: itemIds.repository, where: { status: "ACTIVE" } },
        collections.countUp(repository.record),
        ...this.#takePlace(next, record, etag, current),
      ]);
    } catch (error) {
      await this.#putBack(scope, record, error);
      throw await this.#restoreError(scope, error, record);
    }
    // Who deleted it may have closed them after they were opened, and read a record that was not restored yet.
    await this.follow(scope, life);
    return done;
  }

  /**
   * The commit point of a purge: the record says DELETE_IN_PROGRESS and the operation is there, in one batch. One that is under way
   * already is answered with. Undefined: it was restored, so it is not due any more.
   */
  async begin(scope: Scope, life: Incarnation, options: BeginPurge): Promise<Operation | undefined> {
    const { deps, lifecycle, registry } = this.#services;
    for (;;) {
      const found = await this.#read(scope, life);
      const { record } = found;
      const { dueAt } = options;
      if (dueAt !== undefined && (isLive(record) || (record.status === "DELETED" && record.purge_at !== dueAt)))
        return undefined;
      if (record.is_default && options.withDefault !== true)
        throw invalid("The default collection cannot be deleted; its documents can.");
      const earlier = await lifecycle.read(scope, record);
      if (earlier?.operation.action === "delete-collection") return earlier.operation;
      const operation = await lifecycle.plan({
        ...lifeOf(record),
        operation_id: options.operationId ?? deps.newId(),
        action: "delete-collection",
        created_by: options.createdBy,
        allow_partial: options.allowPartial,
      });
      const at = deps.clock.now();
      const entry = { kind: "operation" as const, tenant: scope.tenant, ...lifeOf(record) };
      await registry.mark(entry, at);
      try {
        await lifecycle.begin(scope, operation, hiding(found, this.#hidden(record, "DELETE_IN_PROGRESS")), earlier);
      } catch (error) {
        if (!isConflict(error)) throw error;
        continue;
      }
      // The sweep takes away entries that stood for nothing for so long.
      if (deps.clock.now() - at > restMs / 2) await registry.mark(entry, deps.clock.now());
      if (earlier !== undefined && earlier.operation.status !== "done")
        await this.#services.jobs.supersede(scope, earlier.operation.operation_id);
      return operation;
    }
  }

  /** What is there of a life that callers may have back, or may not any more. */
  requireRestorable(record: CollectionRecord): void {
    requireRestorable(record, this.#services.deps.clock.now());
  }

  /** From this batch on nobody reads or writes it, and its name is free. */
  async #hide(scope: Scope, found: Stored<CollectionRecord>): Promise<Stored<CollectionRecord>> {
    const record = this.#hidden(found.record, "DELETED");
    const { results } = await this.#services.catalog.batch(scope, record.repository_id, hiding(found, record));
    return { record, etag: results[0]?.etag as string };
  }

  /** Everything but the record, of what is in the trash. Answers with the record as it is then. Can be repeated. */
  async #close(scope: Scope, record: CollectionRecord): Promise<CollectionRecord | undefined> {
    if (record.status !== "DELETED") return record;
    await this.#lookSoon(scope, record);
    return this.follow(scope, record);
  }

  /** The sweep looks whether the stores are what the record says, when this is surely over; then it waits for `purge_at`. */
  async #lookSoon(scope: Scope, record: CollectionRecord): Promise<void> {
    const { registry, deps } = this.#services;
    const due = Math.min(deps.clock.now() + restMs, Date.parse(record.purge_at as string));
    await registry.mark({ kind: "purge", tenant: scope.tenant, ...lifeOf(record) }, due);
  }

  #hidden(record: CollectionRecord, status: "DELETED" | "DELETE_IN_PROGRESS"): CollectionRecord {
    const now = this.#services.deps.clock.now();
    return named({
      ...record,
      status,
      status_before: isLive(record) ? record.status : record.status_before,
      deleted_at: record.deleted_at ?? isoTime(now),
      purge_at: isoTime(status === "DELETED" ? now + this.trashMs : now),
      updated_at: laterThan(record.updated_at, now),
    });
  }

  /** The life has the id again. One that had it meanwhile, and is deleted too, is kept beside it. */
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

  /** Everything but the record. Can be repeated. */
  async #bringBack(scope: Scope, record: CollectionRecord, archived: boolean): Promise<void> {
    // What was under way when it was deleted goes on.
    await this.#services.registry.mark({ kind: "documents", tenant: scope.tenant, ...lifeOf(record) });
    // The documents' fence last: it is what lets writers in.
    for (const store of this.#services.stores.toReversed()) await store.unfence(scope, record, { archived });
  }

  async #fence(scope: Scope, record: CollectionRecord): Promise<void> {
    for (const store of this.#services.stores)
      await store.fence(scope, record, { purgeAt: Date.parse(record.purge_at as string) + storeSpareMs });
  }

  /** Into the trash again, unless somebody else restored it. Where the answer was lost nobody knows yet: the sweep looks at it soon. */
  async #putBack(scope: Scope, record: CollectionRecord, error: unknown): Promise<void> {
    if (!PinakesError.isInstance(error) || error.retryable || error.code === "INTERNAL") return;
    await this.follow(scope, record);
  }

  async #read(scope: Scope, life: Incarnation): Promise<Stored<CollectionRecord>> {
    const found = await this.#services.catalog.life(scope, life);
    if (found === undefined)
      throw new PinakesError(
        "NOT_FOUND",
        `There is no collection "${life.collection_id}" in repository "${life.repository_id}".`,
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
        `Repository "${repository_id}" has as many collections as it may. Delete one first.`,
        { cause: error },
      );
    if (index === 2 && error.code === "CONFLICT") {
      const current = await this.#services.catalog.collection(scope, repository_id, collection_id);
      if (current !== undefined && current.record.incarnation !== record.incarnation && isLive(current.record))
        return idTaken(record, error);
      return new PinakesError(
        "CONFLICT",
        `Another collection of repository "${repository_id}" is named "${name}" now. Rename it, then restore.`,
        {
          cause: error,
        },
      );
    }
    return error;
  }
}

/** The record as it is from now on, and one collection less to count where it was live. */
function hiding({ record, etag }: Stored<CollectionRecord>, next: CollectionRecord): readonly ItemOperation[] {
  return [
    { op: "replace", document: collectionDocument(next), ifMatch: etag },
    ...(isLive(record)
      ? [{ op: "patch", id: itemIds.count, patch: [{ op: "incr", path: "/collections", value: -1 }] } as const]
      : []),
  ];
}

/** A former version of the id is in the way of nobody, but a live one is. */
function idTaken({ collection_id, repository_id }: CollectionRecord, cause?: unknown): PinakesError {
  return new PinakesError(
    "CONFLICT",
    `Another collection of repository "${repository_id}" has the id "${collection_id}" now. Delete it, then restore.`,
    cause === undefined ? {} : { cause },
  );
}

function requireRestorable({ collection_id, status, purge_at }: CollectionRecord, now: number): void {
  if (status === "ACTIVE" || status === "ARCHIVED")
    throw new PinakesError("CONFLICT", `Collection "${collection_id}" is not deleted; it is ${status}.`);
  if (status === "DELETED" && now < Date.parse(purge_at as string)) return;
  throw new PinakesError(
    "GONE",
    `Collection "${collection_id}" could be restored until ${purge_at}; it is being removed for good.`,
  );
}

/** Somebody else opens or closes the same store. */
function overtaken(error: unknown): false {
  if (!hasCode(error, "PRECONDITION_FAILED")) throw error;
  return false;
}

function outrun(error: unknown): undefined {
  if (!isConflict(error)) throw error;
}
