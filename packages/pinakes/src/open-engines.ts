/** Opens the stores and components that a configuration names. Drivers are loaded by dynamic import, so that unused ones cost nothing. */
import { cpus } from "node:os";
import type { ItemsLocation, ObjectsLocation, QueueLocation, StoresConfig } from "./config-stores.ts";
import { PinakesError, invalid } from "./domain/errors.ts";
import type { SystemScope } from "./domain/scope.ts";
import { createItemStore } from "./items/create-item-store.ts";
import { archiveOf } from "./items/item-archive.ts";
import type { ItemEngine } from "./items/item-engine.ts";
import { Periodic } from "./runtime/periodic.ts";
import type { BucketSettings, EventQueueSettings, S3Bucket } from "./drivers/s3-source/index.ts";
import type { AllowedBucket, Embedders, AllowedFolder, PipelineLocations } from "./knowledge/index.ts";
import { lifecycleTenant, Topics } from "./lifecycle/index.ts";
import type { Clock } from "./ports/clock.ts";
import type { Embedder } from "./ports/embedder.ts";
import type { ChatModel, ChatModels } from "./ports/chat-model.ts";
import type { ItemArchive } from "./ports/item-archive.ts";
import type { ItemStore } from "./ports/item-store.ts";
import type { ObjectKeys } from "./objects/encryption/object-keys.ts";
import type { ObjectStore } from "./ports/object-store.ts";
import type { Parser } from "./ports/parser.ts";
import type { Queue } from "./ports/queue.ts";
import type { TripleStore } from "./ports/triple-store.ts";
import { openItemQueue } from "./queues/item-queue/index.ts";
import { dropBoxQueue } from "./vectors/index.ts";

const spillSweepMs = 3_600_000;

export interface EngineContext {
  readonly clock: Clock;
  readonly log: (line: string) => void;
  readonly objects: ObjectStore;
  /** Created by `open.ts`, when needed. */
  readonly spillScope: () => SystemScope;
}

/** With `keys`, what is stored is encrypted (RFC 0019). */
export async function openObjects(location: ObjectsLocation, clock: Clock, keys?: ObjectKeys): Promise<ObjectStore> {
  switch (location.driver) {
    case "fs":
      return (await import("./drivers/fs/index.ts")).openFileObjects({ dir: location.dir, keys });
    case "s3": {
      // A store with an address of its own is rarely Amazon's: the bucket goes into the path.
      const { driver: _, ...place } = location;
      return (await import("./drivers/s3/index.ts")).openS3Objects({
        ...place,
        pathStyle: place.endpoint !== undefined,
        keys,
      });
    }
    case "memory":
      return (await import("./drivers/memory-objects/index.ts")).openMemoryObjects({ clock, keys });
  }
}

/** Through the store that records its containers: the sweep of expired items must see the queue's, too. */
export async function openQueue(
  location: QueueLocation,
  items: ItemStore,
  clock: Clock,
  topicPrefix?: string,
): Promise<Queue> {
  switch (location.driver) {
    case "items":
      return openItemQueue({ items, clock });
    case "sqs": {
      const { driver: _, ...place } = location;
      const topics = new Topics(topicPrefix);
      // Other programs announce deltas, ask stores to remove collections and answer for stores of their own: in their own format, without
      // our envelope.
      const plainQueues = (tenant: string, queue: string) =>
        queue === dropBoxQueue || (tenant === lifecycleTenant && topics.has(queue));
      return (await import("./drivers/sqs/index.ts")).openSqsQueue({ ...place, items, plainQueues });
    }
  }
}

/**
 * The configuration with the name under which its items are. If none was chosen and there are none under the default name, those under the
 * default of earlier versions are used; never both.
 */
export async function withDatabase({ formerDatabase, ...config }: StoresConfig): Promise<StoresConfig> {
  if (formerDatabase === undefined || (await hasItems(config))) return config;
  const former = { ...config, database: formerDatabase, items: renamed(config.items, formerDatabase) };
  return (await hasItems(former)) ? former : config;
}

function renamed(location: ItemsLocation, database: string): ItemsLocation {
  return location.engine === "dynamodb" ? { ...location, prefix: database } : location;
}

async function hasItems({ items: location, database }: StoresConfig): Promise<boolean> {
  switch (location.engine) {
    case "sqlite":
      return (await import("./drivers/sqlite/index.ts")).hasSqliteItems({ dir: location.dir, database });
    case "postgres":
      return (await import("./drivers/postgres/index.ts")).hasPostgresItems({ url: location.url, database });
    case "dynamodb":
      return (await import("./drivers/dynamodb/index.ts")).hasDynamoItems(location);
    case "memory":
      return false;
  }
}

export interface OpenedItems {
  readonly items: ItemStore;
  readonly background: readonly Periodic[];
}

export async function openItems(
  { items: location, database }: StoresConfig,
  context: EngineContext,
): Promise<OpenedItems> {
  const { clock } = context;
  switch (location.engine) {
    case "sqlite":
      return {
        items: await (
          await import("./drivers/sqlite/index.ts")
        ).openSqliteItems({ dir: location.dir, database, clock }),
        background: [],
      };
    case "postgres":
      return {
        items: await (
          await import("./drivers/postgres/index.ts")
        ).openPostgresItems({ url: location.url, database, clock }),
        background: [],
      };
    case "dynamodb":
      return openDynamo(location, context);
    case "memory":
      return { items: await (await import("./drivers/memory/index.ts")).openMemoryItems({ clock }), background: [] };
  }
}

export interface OpenedArchive {
  readonly archive: ItemArchive;
  readonly items: ItemStore;
  /** Of objects that are parts of items. */
  readonly spillPrefix?: string;
}

/** The items of a store as stored, and the store itself over the same engine. Memory has nothing to move. */
export async function openArchive(
  { items: location, database }: StoresConfig,
  { clock, objects, spillScope }: EngineContext,
): Promise<OpenedArchive> {
  const opened = async (engine: ItemEngine) => ({
    items: await createItemStore(engine, { clock }),
    archive: archiveOf(engine),
  });
  switch (location.engine) {
    case "sqlite":
      return opened((await import("./drivers/sqlite/index.ts")).connectSqliteEngine({ dir: location.dir, database }));
    case "postgres":
      return opened(
        await (
          await import("./drivers/postgres/index.ts")
        ).connectPostgresEngine({ url: location.url, database, clock }),
      );
    case "dynamodb": {
      const { engine: _, ...place } = location;
      const spill = objects.capabilities.durable ? { objects: { store: objects, scope: spillScope() } } : {};
      return {
        ...(await opened(
          await (await import("./drivers/dynamodb/index.ts")).connectDynamoEngine({ ...place, clock, ...spill }),
        )),
        spillPrefix: "spill/",
      };
    }
    case "memory":
      throw invalid("Stores in memory end with their process: they cannot be moved.");
  }
}

export interface TriplesContext {
  /** On engines without tables of their own for triples they are items, in this store. */
  readonly items: ItemStore;
  /** Created by `open.ts`, when needed. */
  readonly scope: () => SystemScope;
}

/** In the same store, and one per database: those of another database in the same folder or server would look like leftovers. */
export async function openTriples(
  { items: location, database }: StoresConfig,
  { items, scope }: TriplesContext,
): Promise<TripleStore> {
  switch (location.engine) {
    case "sqlite":
      return (await import("./drivers/sqlite/index.ts")).openSqliteTriples({ dir: location.dir, database });
    case "postgres":
      return (await import("./drivers/postgres/index.ts")).openPostgresTriples({ url: location.url, database });
    case "dynamodb":
    case "memory":
      return (await import("./triples/on-items/index.ts")).openItemTriples({ items, scope: scope() });
  }
}

/**
 * Its large documents are in the object store, and blobs that no item references any more are swept there. Only in a durable one: what
 * other processes read from the table must not be in this one's memory.
 */
async function openDynamo(
  { region, prefix, endpoint }: Extract<ItemsLocation, { engine: "dynamodb" }>,
  { clock, log, objects, spillScope }: EngineContext,
): Promise<OpenedItems> {
  const { connectDynamoEngine } = await import("./drivers/dynamodb/index.ts");
  const place = { region, prefix, clock, ...(endpoint === undefined ? {} : { endpoint }) };
  if (!objects.capabilities.durable)
    return { items: await createItemStore(await connectDynamoEngine(place), { clock }), background: [] };
  const spill = { store: objects, scope: spillScope() };
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

/** The chat models that collections may name, each opened on first use; none unless they are configured. */
export interface OpenedChats {
  readonly chat: ChatModels;
  close(): Promise<void>;
}

export async function openChats(given: unknown): Promise<OpenedChats> {
  if (given === undefined)
    return { chat: { models: [], get: () => Promise.reject(unknownChat(undefined, [])) }, close: async () => {} };
  const { openChatModel, readChatSettings } = await import("./drivers/models/index.ts");
  const settings = readChatSettings(given);
  const opened = new Map<string, Promise<ChatModel>>();
  return {
    chat: {
      models: settings.map(({ id, provider }) => ({ id, provider })),
      get: async (id) => {
        const found = id === undefined ? settings[0] : settings.find((one) => one.id === id);
        if (found === undefined)
          throw unknownChat(
            id,
            settings.map((one) => one.id),
          );
        const known = opened.get(found.id) ?? openChatModel(found);
        opened.set(found.id, known);
        // One that cannot be opened now may be later.
        known.catch(() => opened.delete(found.id));
        return known;
      },
    },
    close: async () => {
      await Promise.allSettled([...opened.values()].map(async (chat) => (await chat).close()));
    },
  };
}

function unknownChat(id: string | undefined, known: readonly string[]): PinakesError {
  const there =
    known.length === 0 ? "none is; set PINAKES_CHAT_MODELS, or the option chatModels" : `there are ${known.join(", ")}`;
  return new PinakesError(
    "NOT_FOUND",
    `${id === undefined ? "A chat model" : `The chat model "${id}"`} is not configured; ${there}.`,
  );
}

/** The models that collections may name. Each is opened on first use; the first of the list is the default. */
export interface OpenedModels {
  readonly embedders: Embedders;
  close(): Promise<void>;
}

const localModel = { id: "all-MiniLM-L6-v2", provider: "local" } as const;

export async function openModels(given: unknown): Promise<OpenedModels> {
  const { cachedEmbedder, openEmbedder, readModelSettings } = await import("./drivers/models/index.ts");
  const settings = given === undefined ? [localModel] : readModelSettings(given);
  const [first] = settings;
  if (first === undefined) throw invalid("models: name at least one.");
  const opened = new Map<string, Promise<Embedder>>();
  return {
    embedders: {
      defaultModel: first.id,
      models: settings.map(({ id, provider }) => ({ id, provider })),
      get: async (id) => {
        const found = settings.find((one) => one.id === id);
        if (found === undefined)
          throw new PinakesError(
            "NOT_FOUND",
            `The embedding model "${id}" is not configured; there are ${settings.map((one) => one.id).join(", ")}.`,
            { reason: "model_not_found" },
          );
        const known = opened.get(id) ?? openEmbedder(found).then((embedder) => cachedEmbedder(embedder));
        opened.set(id, known);
        // One that cannot be opened now may be later.
        known.catch(() => opened.delete(id));
        return known;
      },
    },
    close: async () => {
      await Promise.allSettled([...opened.values()].map(async (embedder) => (await embedder).close()));
    },
  };
}

export async function openParsers(): Promise<Parser> {
  const { openParser } = await import("./drivers/parsers/index.ts");
  return openParser({ threads: Math.max(1, Math.min(4, cpus().length - 1)) });
}

/** What pipelines may read, as an operator writes it. Each bucket, and the queue, is connected to on first use. */
export interface PipelineOptions {
  /** Folders, each open to every workspace unless it names some. */
  readonly pipelineFolders?: readonly (string | AllowedFolder)[] | undefined;
  /** `s3://bucket/prefix?region=…`, or the same in parts. */
  readonly pipelineBuckets?: readonly (string | (BucketSettings & Pick<AllowedBucket, "tenants">))[] | undefined;
  /** `sqs://region/queue`: the queue to which the buckets send their events. */
  readonly pipelineQueue?: string | EventQueueSettings | undefined;
}

export async function openPipelinePlaces({
  pipelineFolders = [],
  pipelineBuckets = [],
  pipelineQueue,
}: PipelineOptions) {
  const { openS3Bucket, openSqsEvents, parseBucket, parseEventQueue } = await import("./drivers/s3-source/index.ts");
  const opened = new Map<string, Promise<S3Bucket>>();
  const buckets = pipelineBuckets.map((given, i): AllowedBucket => {
    const place: Exclude<typeof given, string> =
      typeof given === "string" ? parseBucket(given, `pipelineBuckets[${i}]`) : given;
    const key = JSON.stringify([place.bucket, place.region, place.endpoint, place.credentials?.accessKeyId]);
    const connect = async () => {
      const known = opened.get(key) ?? openS3Bucket(place);
      opened.set(key, known);
      return known;
    };
    const { bucket, prefix, tenants } = place;
    return { bucket, prefix, tenants, reader: async (under) => (await connect()).reader(under) };
  });
  const queue = typeof pipelineQueue === "string" ? parseEventQueue(pipelineQueue, "pipelineQueue") : pipelineQueue;
  const places: PipelineLocations = {
    folders: pipelineFolders.map((place) => (typeof place === "string" ? { path: place } : place)),
    buckets,
    events: queue === undefined ? undefined : () => openSqsEvents(queue),
  };
  const close = async (): Promise<void> => {
    for (const bucket of opened.values()) (await bucket).close();
  };
  return { places, close };
}
