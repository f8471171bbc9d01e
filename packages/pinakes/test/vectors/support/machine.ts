/** Stores in memory that outlive the processes over them, and processes with every call under the test's control. */
import { systemScope, tenantScope, type Scope } from "../../../src/domain/scope.ts";
import { openMemoryItems } from "../../../src/drivers/memory/index.ts";
import { openMemoryObjects } from "../../../src/drivers/memory-objects/index.ts";
import type { ItemStore } from "../../../src/ports/item-store.ts";
import type { ObjectStore } from "../../../src/ports/object-store.ts";
import { DiskCache } from "../../../src/vectors/cache/disk-cache.ts";
import { SegmentCache } from "../../../src/vectors/cache/segment-cache.ts";
import { Compactor } from "../../../src/vectors/compact/compactor.ts";
import { vectorWork, vectorWorkContainer, type VectorWork } from "../../../src/vectors/log/vector-work.ts";
import { Reader } from "../../../src/vectors/read/reader.ts";
import { SearchPool } from "../../../src/vectors/search/pool.ts";
import { inlineBuilder } from "../../../src/vectors/build/segment-builder.ts";
import { CollectionSite } from "../../../src/vectors/store/collection-site.ts";
import { defaultPolicy, type VectorDependencies, type VectorPolicy } from "../../../src/vectors/store/dependencies.ts";
import { vectorsContainer } from "../../../src/vectors/store/records.ts";
import { uncachedFiles } from "../../../src/vectors/store/segment-files.ts";
import { Vectors } from "../../../src/vectors/vectors.ts";
import { VectorWorker } from "../../../src/vectors/worker.ts";
import { Calls, watchedItems, watchedObjects } from "./calls.ts";

export const scope: Scope = tenantScope("acme");
export const system = systemScope("tests of the vector store", () => {});
export const hourMs = 3_600_000;

export interface ProcessOptions {
  /** Keep opened files, in memory and (with a folder) on disk; otherwise every file is fetched each time. */
  readonly cache?: boolean;
  readonly cacheDir?: string;
  readonly memoryBytesMax?: number;
  readonly policy?: Partial<VectorPolicy>;
  /** The error of this process's clock. */
  readonly skewMs?: number;
}

export class Machine {
  readonly items: ItemStore;
  readonly objects: ObjectStore;
  readonly policy: Partial<VectorPolicy>;
  now = Date.UTC(2030, 0, 1);
  #names = 0;
  #processes = 0;

  private constructor(items: ItemStore, objects: ObjectStore, policy: Partial<VectorPolicy>) {
    this.items = items;
    this.objects = objects;
    this.policy = policy;
  }

  /** Nothing is retained by default: leftovers are visible at once. */
  static async open(policy: Partial<VectorPolicy> = {}): Promise<Machine> {
    const later: { machine?: Machine } = {};
    const clock = { now: () => later.machine?.now ?? 0 };
    const items = await openMemoryItems({ clock });
    await items.openContainer(vectorsContainer);
    await items.openContainer(vectorWorkContainer);
    const machine = new Machine(items, openMemoryObjects({ clock }), { retentionMs: 0, appliedDeltaMs: 0, ...policy });
    later.machine = machine;
    return machine;
  }

  uniqueName(): string {
    this.#names += 1;
    return String(this.#names).padStart(10, "0");
  }

  process(options: ProcessOptions = {}): Process {
    this.#processes += 1;
    return new Process(this, `p${this.#processes}`, options);
  }

  /** Keys in the bucket, of the tenant. */
  async keys(prefix = ""): Promise<string[]> {
    return (await this.objects.list(scope, prefix)).keys.map(({ key }) => key);
  }

  async itemIds(collection: string): Promise<string[]> {
    return (await this.items.query(scope, vectorsContainer.name, { equals: { collection }, limit: 200 })).items.map(
      ({ id }) => id,
    );
  }

  /** All registered work, whenever it is due. */
  async work(): Promise<string[]> {
    const found: string[] = [];
    for await (const { kind, key } of vectorWork(this.items, system).due(Number.MAX_SAFE_INTEGER))
      found.push(`${kind} ${key}`);
    return found.sort();
  }
}

export class Process {
  readonly machine: Machine;
  readonly name: string;
  readonly calls = new Calls();
  readonly deps: VectorDependencies;
  readonly vectors: Vectors;
  readonly worker: VectorWorker;
  readonly compactor: Compactor;
  readonly reader: Reader;
  readonly registry: VectorWork;
  readonly cache: SegmentCache;
  readonly pool: SearchPool;
  readonly disk: DiskCache | undefined;
  readonly log: string[] = [];
  readonly #beats = new Set<() => Promise<void>>();

  constructor(machine: Machine, name: string, options: ProcessOptions) {
    this.machine = machine;
    this.name = name;
    const skewMs = options.skewMs ?? 0;
    const log = (line: string): void => void this.log.push(line);
    this.pool = new SearchPool({ threads: 1 });
    this.reader = new Reader();
    this.disk =
      options.cacheDir === undefined ? undefined : new DiskCache({ dir: options.cacheDir, bytesMax: 1024 ** 3, log });
    const memoryBytesMax = options.memoryBytesMax ?? 256 * 1024 ** 2;
    this.cache = new SegmentCache({
      pool: this.pool,
      disk: this.disk,
      memoryBytesMax,
      onEvict: (segment) => this.reader.drop(segment),
    });
    this.deps = {
      items: watchedItems(machine.items, this.calls),
      objects: watchedObjects(machine.objects, this.calls),
      clock: { now: () => machine.now + skewMs },
      monotonic: () => machine.now + skewMs * 3,
      uniqueName: () => machine.uniqueName(),
      builder: inlineBuilder,
      files: options.cache === true || options.cacheDir !== undefined ? this.cache : uncachedFiles,
      timers: {
        pause: async (ms) => {
          machine.now += Math.ceil(ms);
        },
        every: (_ms, run) => {
          this.#beats.add(run);
          return () => void this.#beats.delete(run);
        },
      },
      system,
      policy: { ...defaultPolicy, ...machine.policy, ...options.policy },
      log,
    };
    this.registry = vectorWork(this.deps.items, system);
    this.compactor = new Compactor(name, this.registry);
    this.worker = new VectorWorker(this.deps, this.registry, this.compactor, async (site) => this.reader.forget(site));
    const { deps, pool, cache, reader, registry: work, compactor } = this;
    this.vectors = new Vectors({
      deps,
      pool,
      cache,
      reader,
      work,
      compactor,
      metrics: () => this.worker.metrics,
      wake: () => {},
    });
  }

  site(collection = "c"): CollectionSite {
    return new CollectionSite(this.deps, scope, collection);
  }

  /** One heartbeat of every lease that this process holds. */
  async beat(): Promise<void> {
    for (const run of this.#beats) await run();
  }

  /** How the action ended; "died" if the process died before it. */
  async outcome(
    action: (process: Process) => Promise<unknown>,
  ): Promise<{ value: unknown } | { error: unknown } | "died"> {
    const ended = action(this).then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    return Promise.race([ended, this.calls.died.then(() => "died" as const)]);
  }
}
