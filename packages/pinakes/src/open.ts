/**
 * The one place that joins drivers and features. Drivers are loaded by dynamic import, so that nobody pays for an engine they do
 * not use; the system scopes of all background work are made here, and nowhere else.
 */
import { hostname } from "node:os";
import { join } from "node:path";
import manifest from "../package.json" with { type: "json" };
import { parseStores, type ItemsLocation, type ObjectsLocation, type QueueLocation, type StoresConfig } from "./config.ts";
import { invalid } from "./domain/errors.ts";
import { systemScope, type SystemScope } from "./domain/scope.ts";
import { createItemStore } from "./items/create-item-store.ts";
import { Periodic } from "./items/periodic.ts";
import { recordingContainers, sweepExpired } from "./items/sweeper.ts";
import { openItemQueue } from "./queues/item-queue/index.ts";
import { systemClock, type Clock } from "./ports/clock.ts";
import type { ItemStore, ItemStoreCapabilities } from "./ports/item-store.ts";
import type { ObjectStore, ObjectStoreCapabilities } from "./ports/object-store.ts";
import type { Queue, QueueCapabilities } from "./ports/queue.ts";
import { dropBoxQueue, openVectors, processDropBox, type OpenedVectors, type OpenVectorsOptions, type Vectors } from "./vectors/index.ts";

export interface OpenOptions {
  /** Where embedded stores keep their files; `./data` when absent. */
  readonly dir?: string;
  /** `sqlite:./folder`, `postgres://…`, `dynamodb://region/prefix` or `memory:`; SQLite in `dir` when absent. */
  readonly items?: string;
  /** `file:./folder`, `s3://bucket/prefix` or `memory:`; the folder `objects` in `dir` when absent. */
  readonly objects?: string;
  /** `items` (beside the items, the default) or `sqs://region/prefix`. */
  readonly queue?: string;
  /** `project-ascension-db` when absent. */
  readonly database?: string;
  readonly clock?: Clock;
  /** Gets a line for each event worth keeping: a system scope that is made, background work that fails. */
  readonly log?: (line: string) => void;
  /** How often expired items are purged. */
  readonly sweepMs?: number;
  /** Memory, threads and retention of the vector store. */
  readonly vectors?: Pick<OpenVectorsOptions, "memoryBytesMax" | "diskBytesMax" | "threads" | "policy">;
  /** Tenants whose producers drop deltas into the bucket and announce them on the queue `vector-deltas`, each with a default collection. */
  readonly dropBoxes?: readonly { readonly tenant: string; readonly collection?: string }[];
  /** False: no background work in this process (compaction, garbage, expiry). For tools that look at stores others work on. */
  readonly background?: boolean;
}

export interface Pinakes {
  readonly items: ItemStore;
  readonly objects: ObjectStore;
  readonly queue: Queue;
  readonly vectors: Vectors;
  info(): PinakesInfo;
  /** Asks each store for a real read. Never throws: what is wrong is in the answer. */
  ready(): Promise<Readiness>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface PinakesInfo {
  readonly name: string;
  readonly version: string;
  readonly database: string;
  readonly uptimeMs: number;
  readonly items: ItemStoreCapabilities;
  readonly objects: ObjectStoreCapabilities;
  readonly queue: QueueCapabilities;
}

export interface Readiness {
  readonly ready: boolean;
  /** Why not, by store. */
  readonly reasons: Readonly<Record<string, string>>;
  /** Background work that failed last time. Requests are served all the same. */
  readonly warnings: Readonly<Record<string, string>>;
}

const sweepMsDefault = 5_000;
/** What other processes leave to do is found within this time; what this one leaves, after the second. */
const vectorSweepMs = 15_000;
const vectorWakeMs = 500;
const dropBoxWaitMs = 20_000;
const dropBoxPauseMs = 1_000;
const spillSweepMs = 3_600_000;
const readyMsMax = 2_000;
const probe = { name: "pinakes-probe", partitionKey: ["probe"] } as const;

/**
 * @example
 * await using pinakes = await open({ dir: "./data" });
 * const notes = await defineContainer({ … }).open(pinakes.items);
 */
export async function open(options: OpenOptions = {}): Promise<Pinakes> {
  return openStores(parseStores(options, { dir: "dir", database: "database", items: "items", objects: "objects", queue: "queue" }), options);
}

/** The same with settings that were checked already. */
export async function openStores(config: StoresConfig, options: Omit<OpenOptions, "dir" | "items" | "objects" | "queue" | "database"> = {}): Promise<Pinakes> {
  const { clock = systemClock, log = () => {}, sweepMs = sweepMsDefault } = options;
  if (!Number.isInteger(sweepMs) || sweepMs < 1) throw invalid(`sweepMs: must be a whole number of milliseconds from 1, got ${JSON.stringify(sweepMs)}.`);
  await using undo = new AsyncDisposableStack();
  const objects = undo.use(await openObjects(config.objects, clock));
  const { items: store, background: own } = await openItems(config, { clock, log, objects });
  const containers = new Set<string>();
  const items = undo.use(recordingContainers(store, containers));
  await items.openContainer(probe);
  const queue = undo.use(await openQueue(config.queue, items, clock));
  const vectors = await openVectors({
    items,
    objects,
    clock,
    log,
    system: systemScope("vectors: compaction, garbage and purges of all tenants", log),
    // A folder or memory is as near as a cache would be.
    cacheDir: config.objects.driver === "s3" ? join(config.data, "cache") : undefined,
    ...options.vectors,
  });
  undo.defer(() => vectors.close());
  const background =
    options.background === false
      ? []
      : [
          ttlSweep({ items, containers, everyMs: sweepMs, log }),
          vectorWork(vectors, log),
          ...dropBoxWork(options.dropBoxes ?? [], { vectors: vectors.vectors, objects, queue, log }),
          ...own,
        ];
  for (const work of background) work.start();
  undo.move(); // Everything is open: from here on it is closed by close().
  return new OpenPinakes({ config, items, objects, queue, vectors, background, probeScope: systemScope("readiness probe", log) });
}

function vectorWork(vectors: OpenedVectors, log: (line: string) => void): Periodic {
  const work = new Periodic({ name: "vector work", everyMs: vectorSweepMs, run: (signal) => vectors.sweep(signal), log });
  vectors.onWake(() => work.hurry(vectorWakeMs));
  return work;
}

function ttlSweep(options: { items: ItemStore; containers: ReadonlySet<string>; everyMs: number; log: (line: string) => void }): Periodic {
  const { items, containers, everyMs, log } = options;
  const scope = systemScope("ttl sweep", log);
  return new Periodic({ name: "ttl sweep", everyMs, run: async (signal) => void (await sweepExpired({ items, scope, containers, signal })), log });
}

function dropBoxWork(
  boxes: NonNullable<OpenOptions["dropBoxes"]>,
  parts: { vectors: Vectors; objects: ObjectStore; queue: Queue; log: (line: string) => void },
): Periodic[] {
  if (boxes.length === 0) return [];
  const system = systemScope("drop-boxes: takes in the deltas that producers announced", parts.log);
  const owner = `${hostname()}.${process.pid}`;
  return boxes.map(({ tenant, collection }) => {
    const scope = system.forTenant(tenant);
    const options = { owner, waitMs: dropBoxWaitMs, ...(collection === undefined ? {} : { collection }) };
    const run = async (signal: AbortSignal): Promise<void> => void (await processDropBox(parts, scope, { ...options, signal }));
    return new Periodic({ name: `drop-box of ${tenant}`, everyMs: dropBoxPauseMs, run, log: parts.log });
  });
}

interface Parts {
  readonly config: StoresConfig;
  readonly items: ItemStore;
  readonly objects: ObjectStore;
  readonly queue: Queue;
  readonly vectors: OpenedVectors;
  readonly background: readonly Periodic[];
  readonly probeScope: SystemScope;
}

class OpenPinakes implements Pinakes {
  readonly items: ItemStore;
  readonly objects: ObjectStore;
  readonly queue: Queue;
  readonly vectors: Vectors;
  readonly #parts: Parts;
  readonly #startedAt = performance.now();
  #closing: Promise<void> | undefined;

  constructor(parts: Parts) {
    this.items = parts.items;
    this.objects = parts.objects;
    this.queue = parts.queue;
    this.vectors = parts.vectors.vectors;
    this.#parts = parts;
  }

  info(): PinakesInfo {
    const { name, version } = manifest;
    const uptimeMs = Math.floor(performance.now() - this.#startedAt);
    const { database } = this.#parts.config;
    return { name, version, database, uptimeMs, items: this.items.capabilities, objects: this.objects.capabilities, queue: this.queue.capabilities };
  }

  async ready(): Promise<Readiness> {
    if (this.#closing !== undefined) return { ready: false, reasons: { pinakes: "is closing" }, warnings: {} };
    const { probeScope } = this.#parts;
    const reasons = await failing({
      items: () => this.items.read(probeScope.forTenant("pinakes"), probe.name, { partition: ["probe"], id: "probe" }),
      objects: () => this.objects.list(probeScope, "", { limit: 1 }),
    });
    const warnings = this.#parts.background.flatMap((work) => {
      const { name, lastError } = work.status();
      return lastError === undefined ? [] : [[name, lastError] as const];
    });
    return { ready: Object.keys(reasons).length === 0, reasons, warnings: Object.fromEntries(warnings) };
  }

  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Background work first, then the vectors and the queue, then the items, which it is on and which may still write objects, then the objects. */
  async #close(): Promise<void> {
    await Promise.all(this.#parts.background.map((work) => work.stop()));
    try {
      await this.#parts.vectors.close();
      await this.queue.close();
      await this.items.close();
    } finally {
      await this.objects.close();
    }
  }
}

async function openObjects(location: ObjectsLocation, clock: Clock): Promise<ObjectStore> {
  switch (location.driver) {
    case "fs":
      return (await import("./drivers/fs/index.ts")).openFileObjects({ dir: location.dir });
    case "s3": {
      // A store with an address of its own is rarely Amazon's: the bucket goes into the path.
      const { driver: _, ...place } = location;
      return (await import("./drivers/s3/index.ts")).openS3Objects({ ...place, pathStyle: place.endpoint !== undefined });
    }
    case "memory":
      return (await import("./drivers/memory-objects/index.ts")).openMemoryObjects({ clock });
  }
}

/** Through the store that records its containers: the sweep of expired items must see the queue's, too. */
async function openQueue(location: QueueLocation, items: ItemStore, clock: Clock): Promise<Queue> {
  switch (location.driver) {
    case "items":
      return openItemQueue({ items, clock });
    case "sqs": {
      const { driver: _, ...place } = location;
      return (await import("./drivers/sqs/index.ts")).openSqsQueue({ ...place, items, plainQueues: [dropBoxQueue] });
    }
  }
}

interface OpenedItems {
  readonly items: ItemStore;
  readonly background: readonly Periodic[];
}

async function openItems(
  { items: location, database, objectsChosen }: StoresConfig,
  context: { clock: Clock; log: (line: string) => void; objects: ObjectStore },
): Promise<OpenedItems> {
  const { clock } = context;
  switch (location.engine) {
    case "sqlite":
      return { items: await (await import("./drivers/sqlite/index.ts")).openSqliteItems({ dir: location.dir, database, clock }), background: [] };
    case "postgres":
      return { items: await (await import("./drivers/postgres/index.ts")).openPostgresItems({ url: location.url, database, clock }), background: [] };
    case "dynamodb":
      return openDynamo(location, context, objectsChosen);
    case "memory":
      return { items: await (await import("./drivers/memory/index.ts")).openMemoryItems({ clock }), background: [] };
  }
}

/**
 * Its large documents live in the object store, and blobs that no item refers to any more are swept there. Only in one that was
 * chosen: the default folder is this machine's, and what other machines read from the table must not be there.
 */
async function openDynamo(
  { region, prefix, endpoint }: Extract<ItemsLocation, { engine: "dynamodb" }>,
  { clock, log, objects }: { clock: Clock; log: (line: string) => void; objects: ObjectStore },
  objectsChosen: boolean,
): Promise<OpenedItems> {
  const { connectDynamoEngine } = await import("./drivers/dynamodb/index.ts");
  const place = { region, prefix, clock, ...(endpoint === undefined ? {} : { endpoint }) };
  if (!objectsChosen) return { items: await createItemStore(await connectDynamoEngine(place), { clock }), background: [] };
  const spill = { store: objects, scope: systemScope("keeps documents that are too large for DynamoDB as objects", log) };
  const engine = await connectDynamoEngine({ ...place, objects: spill });
  const sweeper = new Periodic({
    name: "spill sweep",
    everyMs: spillSweepMs,
    run: async (signal) => {
      for (let after: string | undefined; !signal.aborted;) {
        ({ next: after } = await engine.sweepSpills(spillSweepMs, after));
        if (after === undefined) return;
      }
    },
    log,
  });
  return { items: await createItemStore(engine, { clock }), background: [sweeper] };
}

async function failing(checks: Readonly<Record<string, () => Promise<unknown>>>): Promise<Record<string, string>> {
  const outcomes = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      const late = Promise.withResolvers<never>();
      const timer = setTimeout(() => late.reject(new Error(`no answer within ${readyMsMax} ms`)), readyMsMax);
      try {
        await Promise.race([check(), late.promise]);
        return [];
      } catch (error) {
        return [[name, error instanceof Error ? error.message : String(error)] as const];
      } finally {
        clearTimeout(timer);
      }
    }),
  );
  return Object.fromEntries(outcomes.flat());
}
