/** Wires the vector store over an item store and an object store. */
import { randomBytes, randomUUID } from "node:crypto";
import { hostname, totalmem } from "node:os";
import { join } from "node:path";
import type { SystemScope } from "../domain/scope.ts";
import { systemClock, type Clock } from "../ports/clock.ts";
import type { ItemStore } from "../ports/item-store.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import { DiskCache } from "./cache/disk-cache.ts";
import { SegmentCache } from "./cache/segment-cache.ts";
import { Compactor } from "./compact/compactor.ts";
import { vectorWork, vectorWorkContainer } from "./log/vector-work.ts";
import { Reader } from "./read/reader.ts";
import { SearchPool } from "./search/pool.ts";
import { BuildPool } from "./build/build-pool.ts";
import { CollectionSite } from "./store/collection-site.ts";
import { defaultPolicy, systemTimers, type VectorDependencies, type VectorPolicy } from "./store/dependencies.ts";
import { vectorsContainer } from "./store/records.ts";
import { Vectors } from "./vectors.ts";
import { VectorWorker } from "./worker.ts";

export interface OpenVectorsOptions {
  readonly items: ItemStore;
  readonly objects: ObjectStore;
  readonly system: SystemScope;
  readonly clock?: Clock | undefined;
  readonly log?: (line: string) => void;
  /** A cache folder for files of a remote bucket; none when absent. */
  readonly cacheDir?: string | undefined;
  readonly diskBytesMax?: number | undefined;
  readonly memoryBytesMax?: number | undefined;
  /** Search threads; by default as many as processors. */
  readonly threads?: number | undefined;
  readonly policy?: Partial<VectorPolicy> | undefined;
}

export interface OpenedVectors {
  readonly vectors: Vectors;
  /** One round of background work. */
  sweep(signal?: AbortSignal): Promise<void>;
  /** Called when an append or redrive of this process has left work to do. */
  onWake(listener: () => void): void;
  close(): Promise<void>;
}

const memoryShare = 0.25;
const diskBytesMaxDefault = 20 * 1024 ** 3;

export async function openVectors(options: OpenVectorsOptions): Promise<OpenedVectors> {
  const { items, objects, system, clock = systemClock, log = () => {}, cacheDir, threads } = options;
  await items.openContainer(vectorsContainer);
  await items.openContainer(vectorWorkContainer);
  const pool = new SearchPool(threads === undefined ? {} : { threads });
  const builder = new BuildPool();
  const reader = new Reader();
  const disk =
    cacheDir === undefined
      ? undefined
      : new DiskCache({ dir: join(cacheDir, "vectors"), bytesMax: options.diskBytesMax ?? diskBytesMaxDefault, log });
  const memoryBytesMax = options.memoryBytesMax ?? Math.floor(totalmem() * memoryShare);
  const cache = new SegmentCache({
    pool,
    disk,
    memoryBytesMax,
    damagedPages: (loaded, ref) => builder.damagedPages(loaded, ref),
    onEvict: (segment) => reader.drop(segment),
  });
  const deps: VectorDependencies = {
    items,
    objects,
    clock,
    system,
    log,
    builder,
    files: cache,
    timers: systemTimers,
    monotonic: () => performance.now(),
    uniqueName: () => `${clock.now().toString(16).padStart(12, "0")}${randomBytes(10).toString("hex")}`,
    policy: { ...defaultPolicy, ...options.policy },
  };
  const work = vectorWork(items, system);
  const compactor = new Compactor(`${hostname()}.${process.pid}.${randomUUID().slice(0, 8)}`, work);
  const worker = new VectorWorker(deps, work, compactor, async (site) => {
    reader.forget(site);
    await cache.forget(site);
  });
  let wake = (): void => {};
  const vectors = new Vectors({
    deps,
    pool,
    cache,
    reader,
    work,
    compactor,
    metrics: () => worker.metrics,
    wake: () => wake(),
  });
  await forgetPurged(deps, disk);
  return {
    vectors,
    sweep: (signal) => worker.sweep(signal),
    onWake: (listener) => {
      wake = listener;
    },
    close: async () => {
      await Promise.all([pool.close(), builder.close(), disk?.settle()]);
    },
  };
}

/** Another process may have purged collections of which this one still has files. */
async function forgetPurged(deps: VectorDependencies, disk: DiskCache | undefined): Promise<void> {
  for (const { tenant, collection } of (await disk?.collections()) ?? []) {
    const fence = await new CollectionSite(deps, deps.system.forTenant(tenant), collection).fence();
    if (fence === undefined || fence.status === "deleted" || fence.status === "purging")
      await disk?.removeCollection({ tenant, collection });
  }
}
