/**
 * Moves a collection to another id or another repository of its workspace (RFC 0009, "Collections"). Its data is copied into a new
 * incarnation, which is held until it is proved equal; the old one is held from the first copied row. Then the old one goes to the trash
 * and the new one gets its name. Every step is idempotent and derived from the records, so any process can run it.
 *
 * Invariants
 * - the old incarnation is in the trash only once the new one holds the same data;
 * - a target is changed only if its record says that this migration created it.
 */
import type { Caller } from "../../domain/caller.ts";
import { PinakesError, show } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Lifecycle, Participant } from "../../lifecycle/index.ts";
import { CollectionPartition } from "../../knowledge/records/collection-partition.ts";
import { removeAbandoned } from "../../knowledge/ingest/preparations.ts";
import { removeLeftovers } from "../../knowledge/documents/removals.ts";
import { settleReindex } from "../../knowledge/ingest/settle-reindex.ts";
import { incarnationOf } from "../../knowledge/records/incarnation-of.ts";
import type { CollectionDeletion } from "../../knowledge/deletion/delete-collection.ts";
import { isLive, type Stored } from "../../knowledge/records/catalog-records.ts";
import type { CollectionRecord, RepositoryRecord } from "../../knowledge/records/records.ts";
import type { KnowledgeDependencies } from "../../knowledge/dependencies.ts";
import type { Pipelines } from "../../pipelines/index.ts";
import { CollectionHolds, type EnsureOwned, type MoveTarget } from "./collection-holds.ts";
import { copyIncarnation, type CopyProgress } from "./copy-incarnation.ts";
import { incarnationRows, type Beat, type IncarnationRow } from "./incarnation-rows.ts";
import { makeTarget, nameOf, noRepository } from "./make-target.ts";
import { requireMayMove, resolveMove, type MayMoveDependencies, type Move, type WantedMove } from "./may-move.ts";
import { MovedNames } from "./moved-names.ts";
import { problemsOf } from "./move-problems.ts";
import { targetSettings } from "./target-settings.ts";

export interface MoverDependencies extends MayMoveDependencies {
  readonly deps: KnowledgeDependencies;
  readonly deletion: CollectionDeletion;
  readonly lifecycle: Lifecycle;
  readonly stores: readonly Participant[];
  readonly pipelines: Pick<Pipelines, "register">;
}

export interface MoveOptions {
  readonly scope: Scope;
  readonly move: Move;
  readonly signal: AbortSignal;
  readonly beat?: Beat | undefined;
}

export class CollectionMover {
  readonly #services: MoverDependencies;
  readonly #holds: CollectionHolds;

  constructor(services: MoverDependencies) {
    this.#services = services;
    this.#holds = new CollectionHolds(services);
  }

  /** Resolves a caller's request; NOT_FOUND and FORBIDDEN as everywhere. */
  async resolve(caller: Caller, wanted: WantedMove): Promise<Move> {
    return resolveMove(this.#services, caller, wanted);
  }

  async authorize(caller: Caller, move: Move, options: { readonly purge?: boolean } = {}): Promise<void> {
    await requireMayMove(this.#services, caller, move, options);
  }

  /** How long the old incarnation can be restored. */
  trashMsOf(scope: Scope): Promise<number> {
    return this.#services.deletion.trashMsOf(scope);
  }

  /** The old incarnation, and why it cannot be moved, for the plan. */
  async inspect(
    scope: Scope,
    move: Move,
    allowPartial: boolean,
  ): Promise<{ readonly created_at: string; readonly problems: readonly string[] }> {
    const { record } = await this.#source(scope, move);
    return {
      created_at: record.created_at,
      problems: await problemsOf(this.#services, { scope, move, record, allowPartial }),
    };
  }

  /** The expected contents of the new incarnation, whether or not it exists. */
  async *wanted(
    { scope, move, signal, beat }: MoveOptions,
    problem?: (where: string, reason: string) => void,
  ): AsyncGenerator<IncarnationRow> {
    const { record } = await this.#source(scope, move);
    const [from, to] = [
      await this.#repository(scope, move.from.repository_id),
      await this.#repository(scope, move.to.repository_id),
    ];
    const names = new MovedNames(move.from, { ...move.to, incarnation: "" }, to.owner);
    yield* incarnationRows(this.#services.deps, {
      scope,
      record: { ...record, ...targetSettings({ from, to }, record) },
      names,
      signal,
      beat,
      problem,
    });
  }

  async *held({ scope, signal, beat }: Omit<MoveOptions, "move">, target: MoveTarget): AsyncGenerator<IncarnationRow> {
    const found = await this.#services.catalog.incarnation(scope, target);
    if (found === undefined)
      throw new PinakesError(
        "NOT_FOUND",
        `Collection ${show(target.collection_id)} no longer exists; roll the migration back.`,
      );
    yield* incarnationRows(this.#services.deps, { scope, record: found.record, signal, beat });
  }

  /** Holds both; work in progress in the old one has ended before the first row is read. UNAVAILABLE until then. */
  async register(
    { scope, move, signal }: MoveOptions,
    migration_id: string,
    ensureOwned: EnsureOwned,
  ): Promise<MoveTarget> {
    await this.#source(scope, move);
    const record = await this.#holds.hold(scope, move.from, migration_id, ensureOwned);
    if (!isLive(record))
      throw new PinakesError(
        "CONFLICT",
        `Collection ${show(record.collection_id)} was deleted; roll the migration back.`,
      );
    await waitForWriters(this.#services, scope, record, signal);
    // Read again: it may have the model of a re-index that was just settled.
    const { record: source } = await this.#source(scope, move);
    return makeTarget(this.#services, scope, { move, source, migration_id, ensureOwned });
  }

  async *copy(
    { scope, move, signal, beat }: MoveOptions,
    to: MoveTarget,
    label: string,
    from: CopyProgress | undefined,
  ): AsyncGenerator<CopyProgress> {
    const { record } = await this.#source(scope, move);
    const repository = await this.#repository(scope, to.repository_id);
    const names = new MovedNames(move.from, to, repository.owner);
    yield* copyIncarnation(this.#services.deps, { scope, from: record, to, names, label, signal, beat }, from);
  }

  /** Moves the old incarnation to the trash; then the new one gets its name and accepts writes. */
  async takeOver(scope: Scope, move: Move, to: MoveTarget, migration_id: string): Promise<void> {
    const { deletion, catalog, deps, pipelines } = this.#services;
    const held = async () => {
      const record = (await catalog.incarnation(scope, to))?.record;
      return record !== undefined && isLive(record) && record.hold?.migration_id === migration_id ? record : undefined;
    };
    // Already done: the old one may have been restored since, and the new one changed. They no longer belong to this migration.
    if ((await held()) === undefined) return;
    const old = (await catalog.incarnation(scope, move.from))?.record;
    if (old !== undefined && (await deletion.trashHeld(scope, move.from, migration_id)))
      await this.#holds.release(scope, move.from, migration_id);
    // A rollback that overtook this step removed the new one before it released the old one.
    const target = await held();
    if (target === undefined) return;
    await pipelines.register(scope, target);
    const archived = old?.status === "ARCHIVED" || old?.status_before === "ARCHIVED";
    if (archived) await new CollectionPartition(deps.items, scope, to).setStatus("ARCHIVED");
    // The last one is its current name, so one of them is always free.
    for (const name of [...(old === undefined ? [] : [nameOf(old, to.collection_id)]), to.collection_id, target.name])
      if (await this.#holds.open(scope, to, migration_id, { name, status: archived ? "ARCHIVED" : "ACTIVE" })) return;
  }

  /** Before any change: GONE if the old incarnation is, CONFLICT if its id was reused. What an earlier attempt hid is shown again. */
  async requireWayBack(
    scope: Scope,
    { from, to }: Move,
    migration_id: string,
    ensureOwned: EnsureOwned,
  ): Promise<void> {
    try {
      await this.#requireWayBack(scope, from);
    } catch (error) {
      if (PinakesError.isInstance(error) && !error.retryable) await this.#keep(scope, to, migration_id, ensureOwned);
      throw error;
    }
  }

  async #requireWayBack(scope: Scope, from: Move["from"]): Promise<void> {
    const { catalog, deletion } = this.#services;
    const found = await catalog.incarnation(scope, from);
    if (found !== undefined && isLive(found.record)) return;
    if (found === undefined || found.record.status !== "DELETED")
      throw new PinakesError(
        "GONE",
        `Collection ${show(from.collection_id)} was purged. Move the new one back with another migration.`,
      );
    deletion.requireRestorable(found.record);
    const current = await catalog.collection(scope, from.repository_id, from.collection_id);
    if (current !== undefined && isLive(current.record))
      throw new PinakesError(
        "CONFLICT",
        `Another collection now has the id ${show(from.collection_id)}. Delete it, then roll back.`,
      );
  }

  /** The new incarnation; undefined if it is gone. */
  async findTarget(scope: Scope, { to }: Move, migration_id: string): Promise<MoveTarget | undefined> {
    const found = await this.#target(scope, to, migration_id);
    return found !== undefined && isLive(found.record) ? incarnationOf(found.record) : undefined;
  }

  /** Stops all other writers. CONFLICT if another migration holds it. */
  async holdTarget(scope: Scope, move: Move, migration_id: string, ensureOwned: EnsureOwned): Promise<void> {
    const incarnation = await this.findTarget(scope, move, migration_id);
    if (incarnation !== undefined) await this.#holds.hold(scope, incarnation, migration_id, ensureOwned);
  }

  async releaseTarget(scope: Scope, move: Move, migration_id: string): Promise<void> {
    const incarnation = await this.findTarget(scope, move, migration_id);
    if (incarnation !== undefined) await this.#holds.release(scope, incarnation, migration_id);
  }

  /**
   * Moves the new incarnation to the trash, and restores the old one if the switch had deleted it. The new one is held to the end, also in
   * the trash: this tells a later attempt why it is there. An overtaken process undoes nothing that came after it.
   */
  async giveBack(
    scope: Scope,
    { from, to }: Move,
    migration_id: string,
    { switched, ensureOwned }: { readonly switched: boolean; readonly ensureOwned: EnsureOwned },
  ): Promise<void> {
    const { deletion, catalog } = this.#services;
    const target = await this.#target(scope, to, migration_id);
    if (target !== undefined && isLive(target.record)) {
      const incarnation = incarnationOf(target.record);
      do await this.#holds.hold(scope, incarnation, migration_id, ensureOwned);
      while (!(await deletion.trashHeld(scope, incarnation, migration_id)));
    }
    for (let free = false; !free;) {
      const old = await catalog.incarnation(scope, from);
      if (switched && old?.record.status === "DELETED")
        await this.#restore(scope, { from, to }, migration_id, ensureOwned);
      // Conditional on what was read: an overtaken switch may be hiding it just now.
      else free = old === undefined || (await this.#holds.free(scope, old, migration_id));
    }
    if (target !== undefined) await this.#holds.release(scope, incarnationOf(target.record), migration_id);
  }

  /** After a rollback: removes what an overtaken copy created or held since. What this migration does not hold belongs to others. */
  async leave(scope: Scope, { from, to }: Move, migration_id: string): Promise<void> {
    const target = await this.#target(scope, to, migration_id);
    if (target !== undefined && target.record.hold?.migration_id === migration_id) {
      const incarnation = incarnationOf(target.record);
      await this.#services.deletion.trashHeld(scope, incarnation, migration_id);
      await this.#holds.release(scope, incarnation, migration_id);
    }
    await this.#holds.release(scope, from, migration_id);
  }

  /** When an incarnation in the trash is purged; null if it is not in the trash. */
  async trashedUntil(scope: Scope, incarnation: MoveTarget): Promise<string | null> {
    const record = (await this.#services.catalog.incarnation(scope, incarnation))?.record;
    return record?.status === "DELETED" ? record.purge_at : null;
  }

  /** Purges it now. Idempotent. */
  async remove({ scope, move: { from }, signal, beat }: MoveOptions, createdBy: string): Promise<void> {
    const { deletion, lifecycle, catalog } = this.#services;
    if ((await catalog.incarnation(scope, from)) === undefined) return;
    await deletion.begin(scope, from, { createdBy });
    signal.throwIfAborted();
    await beat?.();
    const operation = await lifecycle.finish(scope, from);
    if (operation !== undefined && operation.status !== "done")
      throw new PinakesError(
        "UNAVAILABLE",
        `Collection ${show(from.collection_id)} is being purged (operation ${operation.operation_id}); finish again later.`,
      );
  }

  /** If the old one cannot be restored after all, the new one stays. */
  async #restore(scope: Scope, { from, to }: Move, migration_id: string, ensureOwned: EnsureOwned): Promise<void> {
    try {
      await this.#services.deletion.restore(scope, from, ensureOwned);
    } catch (error) {
      if (PinakesError.isInstance(error) && !error.retryable) await this.#keep(scope, to, migration_id, ensureOwned);
      throw error;
    }
  }

  /** Restores the new incarnation as before the rollback: not in the trash, and open. */
  async #keep(scope: Scope, to: Move["to"], migration_id: string, ensureOwned: EnsureOwned): Promise<void> {
    const target = await this.#target(scope, to, migration_id);
    if (target === undefined) return;
    const incarnation = incarnationOf(target.record);
    await ensureOwned();
    if (!isLive(target.record)) await this.#services.deletion.restore(scope, incarnation, ensureOwned);
    await this.#holds.release(scope, incarnation, migration_id);
  }

  async #source(scope: Scope, { from }: Move): Promise<Stored<CollectionRecord>> {
    const found = await this.#services.catalog.incarnation(scope, from);
    if (found !== undefined && isLive(found.record)) return found;
    throw new PinakesError(
      "NOT_FOUND",
      `There is no collection "${from.collection_id}" in repository "${from.repository_id}"; roll the migration back.`,
    );
  }

  /** The incarnation that this migration created, if it is live, or in the trash and still held, which a rollback does. */
  async #target(
    scope: Scope,
    { repository_id, collection_id }: Move["to"],
    migration_id: string,
  ): Promise<Stored<CollectionRecord> | undefined> {
    const { catalog } = this.#services;
    const isOurs = ({ record }: Stored<CollectionRecord>) =>
      record.migrated?.migration_id === migration_id &&
      (isLive(record) || (record.status === "DELETED" && record.hold?.migration_id === migration_id));
    const current = await catalog.collection(scope, repository_id, collection_id);
    if (current !== undefined && isOurs(current)) return current;
    return (await catalog.displaced(scope, repository_id, collection_id)).find(isOurs);
  }

  async #repository(scope: Scope, repositoryId: string): Promise<RepositoryRecord> {
    const found = await this.#services.catalog.repository(scope, repositoryId);
    if (found === undefined) throw noRepository(repositoryId);
    return found.record;
  }
}

/** Waits for uploads, ingestions and a re-index; executes pending removals. */
async function waitForWriters(
  services: MoverDependencies,
  scope: Scope,
  record: CollectionRecord,
  signal: AbortSignal,
): Promise<void> {
  const { deps } = services;
  const partition = new CollectionPartition(deps.items, scope, record);
  const { uploading = 0, pending = 0, indexing = 0 } = (await partition.stats())?.record.by_status ?? {};
  const wait = (what: string) =>
    new PinakesError(
      "UNAVAILABLE",
      `Collection ${show(record.collection_id)} ${what}; the migration continues when that is done.`,
    );
  if (uploading + pending + indexing > 0)
    throw wait(`has ${uploading + pending + indexing} documents that are being ingested`);
  const fence = (await partition.fence())?.record;
  if ((fence?.next ?? null) !== null) throw wait("is being re-indexed");
  // Completes a re-index after its switch: its job may come after the copy, and then finds nothing to do.
  if (fence === undefined) await removeLeftovers(deps, partition, signal);
  else await settleReindex(services, partition, fence, signal);
  // Removes what a re-index prepared in vain: these records are not moved, and could not be found in the new incarnation.
  const abandoned = await removeAbandoned(deps, partition, { begunBefore: deps.clock.now(), signal });
  if (abandoned > 0 || (await partition.removals(1)).length > 0) throw wait("has unfinished removals");
}
