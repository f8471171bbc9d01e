/** One round over all unfinished work of all tenants: what a crash left behind, what is due, what a store has not confirmed. */
import type { Scope } from "../../domain/scope.ts";
import type { LifecycleMetrics } from "../../lifecycle/index.ts";
import { succeeds } from "../../runtime/expected-errors.ts";
import type { Services } from "../api/services.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { stagedPrefix, uploadPrefix } from "../files/file-records.ts";
import type { Watchdog } from "../ingest/watchdog.ts";
import { updateJob } from "../jobs/operation-jobs.ts";
import { dayMs } from "../limits.ts";
import { collectionDocument, isLive } from "../records/catalog-records.ts";
import { CollectionPartition } from "../records/collection-partition.ts";
import { incarnationOf } from "../records/incarnation-of.ts";
import type { CollectionRecord, StatsRecord } from "../records/records.ts";
import { isoTime } from "../records/times.ts";
import { type KnowledgeWork, type RegisteredUnfinished, restMs } from "../records/work-registry.ts";

export interface SweepDependencies extends Pick<
  Services,
  "deletion" | "jobs" | "catalog" | "lifecycle" | "queue" | "files" | "fileUploads" | "staging"
> {
  readonly deps: KnowledgeDependencies;
  readonly registry: KnowledgeWork;
  readonly watchdog: Watchdog;
}

type Found = { -readonly [Name in keyof LifecycleMetrics["unfinished"]]: LifecycleMetrics["unfinished"][Name] };

export class Sweep {
  readonly #services: SweepDependencies;

  constructor(services: SweepDependencies) {
    this.#services = services;
  }

  /** A failing entry does not stop the rest; the last error is thrown at the end. */
  async run(signal: AbortSignal): Promise<void> {
    const { registry, deps, lifecycle } = this.#services;
    let error: Error | undefined;
    const found: Found = { running: 0, failed: 0, oldestMs: 0 };
    const busyLanes = new Map<string, boolean>();
    for await (const entry of registry.due(deps.clock.now())) {
      if (signal.aborted) return;
      try {
        await this.#carryOn(entry, signal, found, busyLanes);
      } catch (cause) {
        error = cause instanceof Error ? cause : new Error(String(cause));
      }
    }
    lifecycle.metrics.unfinished = found;
    if (error !== undefined) throw error;
  }

  async #carryOn(
    entry: RegisteredUnfinished,
    signal: AbortSignal,
    found: Found,
    busyLanes: Map<string, boolean>,
  ): Promise<void> {
    const { deps, watchdog, registry } = this.#services;
    const scope = deps.system.forTenant(entry.tenant);
    switch (entry.kind) {
      case "documents":
        return watchdog.sweepDocuments(entry, signal, busyLanes);
      case "operation":
        return this.#operation(scope, entry, found);
      case "job":
        return this.#job(scope, entry);
      case "purge":
        return this.#trashed(scope, entry);
      case "file":
        return this.#file(scope, entry);
      case "expiry": {
        const dueAt = await expireCollection(this.#services, scope, entry);
        return dueAt === undefined ? registry.remove(entry) : registry.postpone(entry, dueAt);
      }
    }
  }

  async #file(scope: Scope, entry: RegisteredUnfinished): Promise<void> {
    const { files, fileUploads, staging, registry } = this.#services;
    const { repository_id: owner, incarnation: id } = entry;
    if (id.startsWith(uploadPrefix)) await fileUploads.sweep(scope, owner, id);
    else {
      const later = await (id.startsWith(stagedPrefix) ? staging : files).sweep(scope, owner, id);
      if (later !== undefined) return registry.postpone(entry, later.dueAt);
    }
    return registry.remove(entry);
  }

  async #operation(scope: Scope, entry: RegisteredUnfinished, found: Found): Promise<void> {
    const { lifecycle, deps, registry } = this.#services;
    const operation = await lifecycle.carryOn(scope, incarnationOf(entry));
    if (operation === undefined || operation.status === "done") return registry.remove(entry);
    found[operation.status] += 1;
    // Counts the lag of deletes only; archivals are not urgent.
    if (operation.action === "delete-collection")
      found.oldestMs = Math.max(found.oldestMs, deps.clock.now() - Date.parse(operation.created_at));
  }

  async #job(scope: Scope, entry: RegisteredUnfinished): Promise<void> {
    const { jobs, registry } = this.#services;
    const state = await jobs.stateOf(scope, entry.incarnation);
    if (state === "alive") return;
    // A job that waits for something else resumes in a later sweep.
    if (state === "silent" && (await jobs.run(scope, entry.incarnation)).status === "running") return;
    return registry.remove(entry);
  }

  /**
   * A deleted collection. Until it is due, its stores follow its record: the process that deleted or restored it may have died. A live one
   * is checked once more when the trash would have expired: a process may have paused before fencing its stores.
   */
  async #trashed(scope: Scope, entry: RegisteredUnfinished): Promise<void> {
    const { catalog, deletion, deps, registry } = this.#services;
    const found = await catalog.incarnation(scope, entry);
    const now = deps.clock.now();
    if (found?.record.status === "DELETED" && Date.parse(found.record.purge_at as string) <= now) {
      // If it is restored at this moment, the entry stays for the next sweep.
      if (await this.#purge(scope, entry, found.record.purge_at as string)) await registry.remove(entry);
      return;
    }
    const record = await deletion.follow(scope, incarnationOf(entry));
    const lookedAfter = entry.marked_at + Math.max(await deletion.trashMsOf(scope), restMs);
    if (record?.status === "DELETED") return registry.postpone(entry, Date.parse(record.purge_at as string));
    if (record !== undefined && isLive(record) && now < lookedAfter) return registry.postpone(entry, lookedAfter);
    return registry.remove(entry);
  }

  /** False: it is no longer due. */
  async #purge(scope: Scope, entry: RegisteredUnfinished, dueAt: string): Promise<boolean> {
    const { deletion, jobs, lifecycle } = this.#services;
    const operation = await deletion.begin(scope, incarnationOf(entry), { createdBy: "system", dueAt });
    if (operation === undefined) return false;
    await updateJob(jobs, scope, operation);
    await lifecycle.carryOn(scope, incarnationOf(entry));
    return true;
  }
}

/** A collection with a time to live (`expires_after_days`): when it was not used for that long, its documents are deleted. Its record stays and says so. */
type Dependencies = Pick<Services, "deps" | "catalog" | "jobs" | "queue">;

/** When it expires unless it is used before; undefined: never. */
function expiryOf(
  { expires_after_days, created_at }: Pick<CollectionRecord, "expires_after_days" | "created_at">,
  stats: Pick<StatsRecord, "last_used_at"> | undefined,
): number | undefined {
  if (typeof expires_after_days !== "number") return undefined;
  return Date.parse(stats?.last_used_at ?? created_at) + expires_after_days * dayMs;
}

/** Looks at it again at the time that is returned; never again where there is none. */
async function expireCollection(
  { deps, catalog, jobs, queue }: Dependencies,
  scope: Scope,
  entry: RegisteredUnfinished,
): Promise<number | undefined> {
  const found = await catalog.incarnation(scope, entry);
  if (typeof found?.record.expires_after_days !== "number" || typeof found.record.expired_at === "string")
    return undefined;
  const { record, etag } = found;
  const now = deps.clock.now();
  // One that is deleted may be restored, and expires then.
  if (!isLive(record) || record.status === "ARCHIVED") return now + dayMs;
  const partition = new CollectionPartition(deps.items, scope, record);
  const due = expiryOf(record, (await partition.stats())?.record) ?? now;
  if (due > now) return due;
  // The documents first: a record that says so without its documents going would never be looked at again.
  await queue.watch(partition);
  await jobs.start(scope, { kind: "delete-documents", ...incarnationOf(record), created_by: "system" });
  const document = collectionDocument({ ...record, expired_at: isoTime(now) });
  const written = await succeeds(
    catalog.batch(scope, record.repository_id, [{ op: "replace", document, ifMatch: etag }]),
    "PRECONDITION_FAILED",
  );
  return written ? undefined : now;
}
