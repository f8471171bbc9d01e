/**
 * The background work of a process: compacts, collects garbage and purges everything in the work registry, of all tenants. Woken by the
 * appends of this process; a sweep finds those of others, and anything missed.
 */
import { hasCode } from "../domain/errors.ts";
import type { Compactor } from "./compact/compactor.ts";
import { collectGarbage } from "./maintenance/collect.ts";
import { purgeCollection } from "./maintenance/remove.ts";
import type { RegisteredVectorWork, VectorWork } from "./log/vector-work.ts";
import { collectionStats } from "./stats.ts";
import { CollectionSite } from "./store/collection-site.ts";
import type { VectorDependencies } from "./store/dependencies.ts";

export interface WorkerMetrics {
  compactions: number;
  folds: number;
  merges: number;
  rowsWritten: number;
  fencedCommits: number;
  compactionFailures: number;
  compactionFailuresInARow: number;
  collections: number;
  objectsCollected: number;
  /** Epoch milliseconds; absent before the first. */
  lastCollectedAt?: number;
  purges: number;
  lastSweepAt?: number;
  /** What was due at the last sweep. */
  due: number;
  /** Over all collections that the last sweep found with something to compact. */
  pending: PendingWork;
  lastError?: string;
}

export interface PendingWork {
  readonly collections: number;
  readonly deltas: number;
  readonly bytes: number;
  readonly oldestMs: number;
  readonly deadDeltas: number;
}

const nothingPending: PendingWork = { collections: 0, deltas: 0, bytes: 0, oldestMs: 0, deadDeltas: 0 };

export class VectorWorker {
  readonly metrics: WorkerMetrics = {
    compactions: 0,
    folds: 0,
    merges: 0,
    rowsWritten: 0,
    fencedCommits: 0,
    compactionFailures: 0,
    compactionFailuresInARow: 0,
    collections: 0,
    objectsCollected: 0,
    purges: 0,
    due: 0,
    pending: nothingPending,
  };
  readonly #parts: VectorDependencies;
  readonly #work: VectorWork;
  readonly #compactor: Compactor;
  readonly #purged: (site: CollectionSite) => Promise<void>;

  constructor(
    parts: VectorDependencies,
    work: VectorWork,
    compactor: Compactor,
    purged: (site: CollectionSite) => Promise<void>,
  ) {
    this.#parts = parts;
    this.#work = work;
    this.#compactor = compactor;
    this.#purged = purged;
  }

  /** One round over everything due. Failures are logged and retried next time; they block nothing else. */
  async sweep(signal?: AbortSignal): Promise<void> {
    let due = 0;
    let pending = nothingPending;
    let error: Error | undefined;
    for await (const entry of this.#work.due(this.#parts.clock.now())) {
      if (signal?.aborted === true) return;
      due += 1;
      try {
        if (entry.kind === "compact") pending = await this.#look(entry, pending);
        await this.#do(entry, signal);
      } catch (cause) {
        error = cause instanceof Error ? cause : new Error(String(cause));
        this.metrics.lastError = `${entry.kind} of ${entry.key}: ${error.message}`;
      }
    }
    this.metrics.due = due;
    this.metrics.pending = pending;
    this.metrics.lastSweepAt = this.#parts.clock.now();
    if (error !== undefined) throw error;
  }

  async #look({ tenant, key: collection }: RegisteredVectorWork, so: PendingWork): Promise<PendingWork> {
    try {
      const found = await collectionStats(
        new CollectionSite(this.#parts, this.#parts.system.forTenant(tenant), collection),
      );
      return {
        collections: so.collections + 1,
        deltas: so.deltas + found.pendingDeltas,
        bytes: so.bytes + found.pendingBytes,
        oldestMs: Math.max(so.oldestMs, found.oldestPendingMs),
        deadDeltas: so.deadDeltas + found.deadDeltas,
      };
    } catch (error) {
      if (hasCode(error, "NOT_FOUND")) return so;
      throw error;
    }
  }

  async #do(entry: RegisteredVectorWork, signal?: AbortSignal): Promise<void> {
    const site = new CollectionSite(this.#parts, this.#parts.system.forTenant(entry.tenant), entry.key);
    try {
      if (entry.kind === "compact") await this.#compact(site, signal);
      else if (entry.kind === "collect") await this.#collect(site, entry);
      else await this.#purge(site);
    } catch (error) {
      if (!hasCode(error, "NOT_FOUND") || entry.kind === "purge") throw error;
      // Gone: the purge does the rest. One in the trash keeps its entries, so that work resumes when it is undeleted.
      const status = (await site.fence())?.status;
      if (status === undefined || status === "purging" || status === "deleted") await this.#work.remove(entry);
    }
  }

  async #compact(site: CollectionSite, signal?: AbortSignal): Promise<void> {
    try {
      const result = await this.#compactor.run(site, signal === undefined ? {} : { signal });
      this.metrics.compactions += 1;
      this.metrics.folds += result.folds;
      this.metrics.merges += result.merges;
      this.metrics.rowsWritten += result.rowsWritten;
      if (result.outcome === "fenced") this.metrics.fencedCommits += 1;
      this.metrics.compactionFailuresInARow = 0;
    } catch (error) {
      this.metrics.compactionFailures += 1;
      this.metrics.compactionFailuresInARow += 1;
      throw error;
    }
  }

  async #collect(site: CollectionSite, entry: RegisteredVectorWork): Promise<void> {
    const result = await collectGarbage(site);
    if (result.outcome === "busy") return; // The entry stays: retried at the next sweep.
    this.metrics.collections += 1;
    this.metrics.objectsCollected += result.objects;
    this.metrics.lastCollectedAt = this.#parts.clock.now();
    // At a minimum interval, so that a busy collection is not listed at every sweep.
    const next =
      result.nextAt === undefined
        ? undefined
        : Math.max(result.nextAt, this.#parts.clock.now() + this.#parts.policy.collectAfterMs);
    if (next === undefined) await this.#work.remove(entry);
    else await this.#work.put({ kind: "collect", tenant: entry.tenant, key: entry.key, due_at: next });
  }

  async #purge(site: CollectionSite): Promise<void> {
    const fence = await site.fence();
    const wanted =
      fence !== undefined &&
      (fence.status === "purging" ||
        fence.status === "deleted" ||
        (fence.status === "trashed" && (fence.purgeAt ?? 0) <= this.#parts.clock.now()));
    // Undeleted, or just about to be deleted: unknown, so the entry stays. Undeleting removes it.
    if (!wanted) return;
    await purgeCollection(site, this.#work);
    await this.#purged(site);
    this.metrics.purges += 1;
  }
}
