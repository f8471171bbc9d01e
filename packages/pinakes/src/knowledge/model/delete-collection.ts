/**
 * The end of a collection, and the way back (RFC 0005, "Delete"). Soft: unreadable at once, every byte kept until `purge_at`.
 * Purge: the record says DELETE_IN_PROGRESS, then everything goes, each store counted down to zero, and the record last.
 */
import { PinakesError, invalid, type ErrorCode } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Operation } from "../../ports/item-store.ts";
import { Shelf } from "../documents/shelf.ts";
import type { KnowledgeWork } from "../ingest/knowledge-work.ts";
import type { JobRecord } from "../jobs/jobs.ts";
import { trashMs } from "../limits.ts";
import { ownVectorsName } from "../own-vectors.ts";
import type { KnowledgeParts } from "../parts.ts";
import type { Collections } from "./collections.ts";
import { collectionDocument, type Library, type Stored } from "./library.ts";
import { named } from "./new-collection.ts";
import { documentsContainer, itemIds, type CollectionRecord, type FenceRecord } from "./records.ts";
import { isoTime, laterThan } from "./times.ts";

export interface StoreReport {
  readonly store: string;
  readonly deleted: number;
  readonly remaining: number;
  readonly duration_ms: number;
  readonly attempts: number;
}

export class CollectionDeletion {
  readonly #parts: KnowledgeParts;
  readonly #library: Library;
  readonly #collections: Collections;
  readonly #registry: KnowledgeWork;

  constructor(parts: KnowledgeParts, library: Library, collections: Collections, registry: KnowledgeWork) {
    this.#parts = parts;
    this.#library = library;
    this.#collections = collections;
    this.#registry = registry;
  }

  async trash(scope: Scope, repositoryId: string, collectionId: string, job?: Pick<JobRecord, "attempts" | "created_at">): Promise<JsonObject> {
    const found = await this.#read(scope, repositoryId, collectionId);
    // A try that is repeated after a crash must not delete again what was restored since.
    if (job !== undefined && job.attempts > 1 && isLive(found.record) && found.record.updated_at > job.created_at)
      return { mode: "soft", collection_id: collectionId, changed_since: true };
    if (found.record.is_default) throw invalid("The default collection cannot be deleted; its documents can.");
    const gone = found.record.status === "DELETED" ? found : await this.#hide(scope, found, "DELETED");
    const { record } = gone;
    await this.#registry.mark({ kind: "purge", tenant: scope.tenant, ...place(record) }, Date.parse(record.purge_at as string));
    await this.#fence(scope, record, "DELETED");
    await this.#trashVectors(scope, record);
    return { mode: "soft", collection_id: collectionId, purge_at: record.purge_at };
  }

  /** Vectors and fence first: the record makes it readable, when all of it is back. */
  async restore(scope: Scope, repositoryId: string, collectionId: string): Promise<JsonObject> {
    const { record, etag } = await this.#read(scope, repositoryId, collectionId);
    const done = { mode: "restore", collection_id: collectionId };
    if (isLive(record)) {
      // A former try got through, and its answer was lost.
      await this.#bringBack(scope, record, record.status as FenceRecord["status"]);
      return done;
    }
    if (record.status !== "DELETED") throw new PinakesError("CONFLICT", `Collection "${collectionId}" is not deleted; it is ${record.status}.`);
    if (this.#parts.clock.now() >= Date.parse(record.purge_at as string))
      throw new PinakesError("CONFLICT", `Collection "${collectionId}" could be restored until ${record.purge_at}; it is being removed for good.`);
    const [repository] = await this.#library.both(scope, repositoryId, collectionId);
    if (repository === undefined) throw new PinakesError("NOT_FOUND", `There is no repository "${repositoryId}".`);
    const status = record.status_before === "ARCHIVED" ? "ARCHIVED" : "ACTIVE";
    await this.#bringBack(scope, record, status);
    const updated_at = laterThan(record.updated_at, this.#parts.clock.now());
    const next = named({ ...record, status, status_before: null, deleted_at: null, purge_at: null, updated_at });
    try {
      await this.#library.batch(scope, repositoryId, [
        { op: "check", id: itemIds.repository, where: { status: "ACTIVE" } },
        { op: "replace", document: collectionDocument(next), ifMatch: etag },
        this.#collections.countUp(repository.record),
      ]);
    } catch (error) {
      await this.#putBack(scope, record, error);
      throw this.#restoreError(error, record);
    }
    return done;
  }

  /** Everything but the record. Can be repeated. */
  async #bringBack(scope: Scope, record: CollectionRecord, status: FenceRecord["status"]): Promise<void> {
    // What was under way when it was deleted goes on.
    await this.#registry.mark({ kind: "documents", tenant: scope.tenant, ...place(record) });
    // CONFLICT: these are back already.
    for (const name of await this.#vectorNames(scope, record)) await allowing(["NOT_FOUND", "CONFLICT"], this.#parts.vectors.undelete(scope, name));
    await this.#fence(scope, record, status);
  }

  /** Into the trash again, when the record is surely still there: not when the answer was lost, nor when somebody else restored it. */
  async #putBack(scope: Scope, { repository_id, collection_id, purge_at }: CollectionRecord, error: unknown): Promise<void> {
    if (!PinakesError.isInstance(error) || error.retryable || error.code === "INTERNAL") return;
    const now = await this.#library.collection(scope, repository_id, collection_id);
    if (now?.record.status !== "DELETED" || now.record.purge_at !== purge_at) return;
    await this.#fence(scope, now.record, "DELETED");
    await this.#trashVectors(scope, now.record);
  }

  async #trashVectors(scope: Scope, record: CollectionRecord): Promise<void> {
    const purgeAt = Date.parse(record.purge_at as string);
    for (const name of await this.#vectorNames(scope, record)) await allowing(["NOT_FOUND"], this.#parts.vectors.delete(scope, name, { purgeAt }));
  }

  async purge(
    scope: Scope,
    repositoryId: string,
    collectionId: string,
    attempts: number,
    { withDefault = false, dueAt }: { readonly withDefault?: boolean; readonly dueAt?: string | undefined } = {},
  ): Promise<JsonObject> {
    const known = await this.#library.collection(scope, repositoryId, collectionId);
    if (known === undefined) return { mode: "purge", stores: [] };
    // Its time had come, but it was restored (and perhaps deleted again) before this began.
    if (dueAt !== undefined && (isLive(known.record) || (known.record.status === "DELETED" && known.record.purge_at !== dueAt)))
      return { mode: "purge", stores: [], restored: true };
    if (known.record.is_default && !withDefault) throw invalid("The default collection cannot be deleted; its documents can.");
    const hidden = known.record.status === "DELETE_IN_PROGRESS" ? known : await this.#hide(scope, known, "DELETE_IN_PROGRESS");
    const { record } = hidden;
    const shelf = new Shelf(this.#parts.items, scope, record);
    try {
      await this.#fence(scope, record, "DELETED");
      const stores = [
        await this.#step("vectors", attempts, () => this.#purgeVectors(scope, record)),
        await this.#step("objects", attempts, () => this.#purgeObjects(scope, shelf)),
        await this.#step("documents", attempts, () => this.#purgeDocuments(scope, record)),
      ];
      await this.#library.batch(scope, repositoryId, [{ op: "delete", id: itemIds.collection(collectionId) }]);
      return { mode: "purge", stores: stores as unknown as JsonObject[] };
    } catch (error) {
      await this.#mark(scope, record, "DELETE_FAILED").catch(() => {});
      throw error;
    }
  }

  /** Before the answer to whoever asked for the purge: it is not readable while its job waits or runs. */
  async hide(scope: Scope, { repository_id, collection_id, incarnation }: CollectionRecord): Promise<void> {
    for (;;) {
      const found = await this.#library.collection(scope, repository_id, collection_id);
      if (found?.record.incarnation !== incarnation || !isLive(found.record)) return;
      try {
        await this.#hide(scope, found, "DELETE_IN_PROGRESS");
        return;
      } catch (error) {
        if (!PinakesError.isInstance(error) || error.code !== "PRECONDITION_FAILED") throw error;
      }
    }
  }

  /** From this batch on nobody reads or writes it, and its name is free. */
  async #hide(scope: Scope, found: Stored<CollectionRecord>, status: "DELETED" | "DELETE_IN_PROGRESS"): Promise<Stored<CollectionRecord>> {
    const { record, etag } = found;
    const now = this.#parts.clock.now();
    const live = isLive(record);
    const next = named({
      ...record,
      status,
      status_before: live ? record.status : record.status_before,
      deleted_at: record.deleted_at ?? isoTime(now),
      purge_at: status === "DELETED" ? isoTime(now + trashMs) : isoTime(now),
      updated_at: laterThan(record.updated_at, now),
    });
    const operations: Operation[] = [
      { op: "replace", document: collectionDocument(next), ifMatch: etag },
      ...(live ? [{ op: "patch", id: itemIds.count, patch: [{ op: "incr", path: "/collections", value: -1 }] } as const] : []),
    ];
    const { results } = await this.#library.batch(scope, record.repository_id, operations);
    return { record: next, etag: results[0]?.etag as string };
  }

  async #mark(scope: Scope, { repository_id, collection_id }: CollectionRecord, status: CollectionRecord["status"]): Promise<void> {
    const { record, etag } = await this.#read(scope, repository_id, collection_id);
    const next = named({ ...record, status, updated_at: laterThan(record.updated_at, this.#parts.clock.now()) });
    await this.#library.batch(scope, repository_id, [{ op: "replace", document: collectionDocument(next), ifMatch: etag }]);
  }

  async #fence(scope: Scope, record: CollectionRecord, status: FenceRecord["status"]): Promise<void> {
    await new Shelf(this.#parts.items, scope, record).setStatus(status);
  }

  async #vectorNames(scope: Scope, record: CollectionRecord): Promise<readonly string[]> {
    const shelf = new Shelf(this.#parts.items, scope, record);
    const { generation } = (await shelf.fence())?.record ?? { generation: 1 };
    const passages = Array.from({ length: generation + 1 }, (_, i) => shelf.vectors(i + 1));
    return [...passages, ownVectorsName(record.incarnation)];
  }

  async #purgeVectors(scope: Scope, record: CollectionRecord): Promise<number> {
    let deleted = 0;
    for (const name of await this.#vectorNames(scope, record)) {
      const result = await allowing(["NOT_FOUND"], this.#parts.vectors.purge(scope, name));
      if (result !== undefined) deleted += result.objects;
    }
    return deleted;
  }

  async #purgeObjects(scope: Scope, shelf: Shelf): Promise<number> {
    let deleted = 0;
    for (;;) {
      const { keys } = await this.#parts.objects.list(scope, shelf.prefix, { limit: 1_000 });
      if (keys.length === 0) return deleted;
      await this.#parts.objects.delete(
        scope,
        keys.map(({ key }) => key),
      );
      deleted += keys.length;
    }
  }

  async #purgeDocuments(scope: Scope, { repository_id, incarnation }: CollectionRecord): Promise<number> {
    let deleted = 0;
    for (;;) {
      const step = await this.#parts.items.deletePartition(scope, documentsContainer.name, [repository_id, incarnation], { limit: 500 });
      deleted += step.deleted;
      if (step.done) return deleted;
    }
  }

  async #step(store: string, attempts: number, run: () => Promise<number>): Promise<StoreReport> {
    const began = this.#parts.clock.now();
    const deleted = await run();
    return { store, deleted, remaining: 0, duration_ms: this.#parts.clock.now() - began, attempts };
  }

  async #read(scope: Scope, repositoryId: string, collectionId: string): Promise<Stored<CollectionRecord>> {
    const found = await this.#library.collection(scope, repositoryId, collectionId);
    if (found === undefined) throw new PinakesError("NOT_FOUND", `There is no collection "${collectionId}" in repository "${repositoryId}".`);
    return found;
  }

  #restoreError(error: unknown, { name, repository_id }: CollectionRecord): unknown {
    if (!PinakesError.isInstance(error)) return error;
    const index = error.context.batch?.index;
    if (index === 1 && error.code === "CONFLICT")
      return new PinakesError("CONFLICT", `Another collection of repository "${repository_id}" is named "${name}" now. Rename it, then restore.`, {
        cause: error,
      });
    if (index === 2)
      return new PinakesError("LIMIT_EXCEEDED", `Repository "${repository_id}" has as many collections as it may. Delete one first.`, { cause: error });
    return error;
  }
}

function isLive({ status }: CollectionRecord): boolean {
  return status === "ACTIVE" || status === "ARCHIVED";
}

function place({ repository_id, collection_id, incarnation }: CollectionRecord) {
  return { repository_id, collection_id, incarnation };
}

/** NOT_FOUND: a collection without documents never had vectors. */
async function allowing<T>(codes: readonly ErrorCode[], call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (PinakesError.isInstance(error) && codes.includes(error.code)) return undefined;
    throw error;
  }
}
