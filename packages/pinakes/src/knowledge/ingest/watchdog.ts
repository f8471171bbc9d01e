/**
 * Detects stuck documents: in every collection with unfinished work it resends lost messages, fails dead uploads, and completes removals.
 * Runs in every process; running twice does no harm.
 */
import { hasCode } from "../../domain/errors.ts";
import { CollectionPartition } from "../records/collection-partition.ts";
import { contentKey } from "../documents/check-upload.ts";
import { documentsContainer, itemIds, type DocumentRecord } from "../records/records.ts";
import { isoTime } from "../records/times.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import type { IngestQueue } from "../documents/ingest-queue.ts";
import { everyItem } from "../../containers/every-item.ts";
import { removeAbandoned } from "./preparations.ts";
import { removal, removeLeftovers } from "../documents/removals.ts";
import type { RegisteredUnfinished, KnowledgeWork } from "../records/work-registry.ts";

/** Without a heartbeat for this long, an upload has died … */
export const uploadDeadMs = 120_000;
/** … a message was lost … */
export const pendingLateMs = 30_000;
/** … and a worker died together with its message. (The queue itself redelivers a message much sooner.) */
export const indexingDeadMs = 600_000;

export class Watchdog {
  readonly #deps: KnowledgeDependencies;
  readonly #queue: IngestQueue;
  readonly #registry: KnowledgeWork;

  constructor(deps: KnowledgeDependencies, queue: IngestQueue, registry: KnowledgeWork) {
    this.#deps = deps;
    this.#queue = queue;
    this.#registry = registry;
  }

  /** `busyLanes`: whether the queue of a tenant has messages, queried once per sweep. */
  async sweepDocuments(
    entry: RegisteredUnfinished,
    signal: AbortSignal,
    busyLanes = new Map<string, boolean>(),
  ): Promise<void> {
    const partition = new CollectionPartition(this.#deps.items, this.#deps.system.forTenant(entry.tenant), entry);
    const fence = await partition.fence();
    const gone = fence?.record.status === "DELETED" || fence?.record.status === "PURGED";
    if (fence !== undefined && !gone) await this.#documents(partition, fence.record.status === "ACTIVE", signal);
    await removeLeftovers(this.#deps, partition, signal);
    const begunBefore = this.#deps.clock.now() - indexingDeadMs;
    const abandoned = gone ? 0 : await removeAbandoned(this.#deps, partition, { begunBefore, signal });
    const stats = (await partition.stats())?.record;
    const underWay =
      stats === undefined ? 0 : stats.by_status.uploading + stats.by_status.pending + stats.by_status.indexing;
    if (underWay + abandoned > 0 && !gone) return;
    if (gone || !(await this.#hasMessages(entry.tenant, busyLanes))) await this.#registry.remove(entry);
  }

  /**
   * Workers find a workspace's lane through its registry entries. A message leased by a dead worker must still reach another one, which
   * removes what that worker wrote of a document deleted since. (What it wrote of a deleted collection goes with the collection.)
   */
  async #hasMessages(tenant: string, busyLanes: Map<string, boolean>): Promise<boolean> {
    const known = busyLanes.get(tenant);
    if (known !== undefined) return known;
    const busy = await this.#queue.hasMessages(tenant);
    busyLanes.set(tenant, busy);
    return busy;
  }

  /** Reads the partition itself: an index may lag behind. */
  async #documents(partition: CollectionPartition, active: boolean, signal: AbortSignal): Promise<void> {
    const { repository_id, incarnation } = partition.key;
    for await (const { document, etag } of everyItem(this.#deps.items, partition.scope, documentsContainer.name, {
      equals: { repository_id, incarnation },
      range: { prefix: itemIds.document("") },
      filter: { status: { in: ["uploading", "pending", "indexing"] } },
      limit: 200,
    })) {
      signal.throwIfAborted();
      await this.#look(partition, active, document as unknown as DocumentRecord, etag);
    }
  }

  async #look(partition: CollectionPartition, active: boolean, record: DocumentRecord, etag: string): Promise<void> {
    const now = this.#deps.clock.now();
    const silentMs = now - record.touched_at;
    if (record.status === "uploading" && silentMs > uploadDeadMs)
      return this.#fail(partition, record, etag, "The upload was interrupted. Send the file again.");
    // An archived collection ingests nothing; its documents are resent when it is active again.
    if (!active) return;
    if (record.status === "pending" && silentMs > pendingLateMs)
      return this.#queue.send(partition, record, `:w${Math.floor(now / pendingLateMs)}`);
    if (record.status === "indexing" && silentMs > indexingDeadMs)
      return this.#queue.send(partition, record, `:w${Math.floor(now / indexingDeadMs)}`);
  }

  async #fail(
    partition: CollectionPartition,
    { id: _, ...record }: DocumentRecord & { id?: string },
    etag: string,
    error: string,
  ): Promise<void> {
    const now = this.#deps.clock.now();
    const next: DocumentRecord = { ...record, status: "failed", error, error_code: undefined, touched_at: now };
    try {
      // Uploaded bytes that were never committed belong to no version.
      const object_keys = record.versions.some(({ version }) => version === record.version)
        ? []
        : [contentKey(partition, record.document_id, record.version)];
      await partition.clean([
        { op: "replace", document: partition.document(itemIds.document(record.document_id), next), ifMatch: etag },
        partition.move({ from: record.status, to: "failed", syncedAt: isoTime(now) }),
        ...(object_keys.length === 0 ? [] : [removal(partition, record, "failed", { object_keys, now })]),
      ]);
    } catch (error_) {
      // It is alive after all.
      if (!hasCode(error_, "PRECONDITION_FAILED")) throw error_;
    }
  }
}
