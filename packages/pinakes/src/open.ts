/** The one place that joins drivers and features. The system scopes of all background work are made here, and nowhere else. */
import { randomBytes } from "node:crypto";
import { availableParallelism, hostname } from "node:os";
import { join } from "node:path";
import manifest from "../package.json" with { type: "json" };
import { deletionLagOf, parseStores, trashMsOf, type StoresConfig } from "./config.ts";
import { makeCaller, type Caller, type CallerInput } from "./domain/caller.ts";
import { invalid } from "./domain/errors.ts";
import { systemScope, type SystemScope } from "./domain/scope.ts";
import { openIdentity, workspaceIds, type Identity, type OidcSettings } from "./identity/index.ts";
import { withSessions } from "./items/noted-sessions.ts";
import { Periodic } from "./items/periodic.ts";
import { recordingContainers, sweepExpired } from "./items/sweeper.ts";
import type { Lifecycle } from "./lifecycle/index.ts";
import { openKnowledge, quotaDefaults, walkWorkspaces, type AuditFigures, type Knowledge, type OpenedKnowledge, type Quotas } from "./knowledge/index.ts";
import { Migrations, moveStores, type MoveReport, type MovingStores } from "./migrations/index.ts";
import {
  openArchive,
  openChats,
  openItems,
  openModels,
  openObjects,
  openParsers,
  openPipelinePlaces,
  openQueue,
  openTriples,
  type PipelineOptions,
} from "./open-engines.ts";
import { openState, type OpenedState, type State } from "./state/index.ts";
import { systemClock, type Clock } from "./ports/clock.ts";
import type { ItemStore, ItemStoreCapabilities } from "./ports/item-store.ts";
import type { ObjectStore, ObjectStoreCapabilities } from "./ports/object-store.ts";
import type { Queue, QueueCapabilities } from "./ports/queue.ts";
import type { TripleStore, TripleStoreCapabilities } from "./ports/triple-store.ts";
import { openVectors, processDropBox, type OpenedVectors, type OpenVectorsOptions, type Vectors } from "./vectors/index.ts";

export interface OpenOptions extends PipelineOptions {
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
  /** Embedding models that collections may name; the first is the default. The local one alone when absent. See docs/reference.md. */
  readonly models?: unknown;
  /** Chat models that collections may have their documents read by; none when absent. See docs/reference.md. */
  readonly chatModels?: unknown;
  /** Limits of the knowledge side that differ from the defaults. */
  readonly quotas?: Partial<Quotas>;
  /** How many days a deleted collection can be had back; 90 when absent, 0: every delete is for good. */
  readonly trashDays?: number;
  /** Deletes that take longer than so many seconds are warned of; 300 when absent. */
  readonly deletionLagSeconds?: number;
  /** Before the names of the lifecycle's queues, where several deployments share them. */
  readonly topicPrefix?: string;
  /** The key of the workspace `default`'s admin, which may make keys for any workspace. */
  readonly rootToken?: string;
  /** Whose tokens are accepted beside keys. */
  readonly oidc?: readonly OidcSettings[];
  /** Folders and addresses that migrations may read; none when absent. "any" where every admin of a workspace operates the machine, too. */
  readonly migrationSources?: readonly string[] | "any";
  /** Documents that are ingested at the same time; two more than there are cores when absent. */
  readonly ingestPlaces?: number;
  /** False: no background work in this process (compaction, garbage, expiry). For tools that look at stores others work on. */
  readonly background?: boolean;
}

export interface Pinakes {
  readonly items: ItemStore;
  readonly objects: ObjectStore;
  readonly queue: Queue;
  readonly vectors: Vectors;
  /** The quads below `knowledge.graph`, without its access decisions. */
  readonly triples: TripleStore;
  /** Repositories, collections, documents and searches. Each call begins with a caller: see `as`. */
  readonly knowledge: Knowledge;
  /** How collections end in every store, also in those of other processes: see `serveParticipant`. */
  readonly lifecycle: Pick<Lifecycle, "participants" | "topics" | "metrics" | "serve" | "reconcile">;
  /** Writes that were refused because their collection had ended. */
  lateWrites(): number;
  /** What the audit in the background found, and when it was through. */
  auditFigures(): AuditFigures;
  /** The age at which a delete that is not done is warned of. */
  readonly deletionLagSecondsMax: number;
  /** Workflows, memories, metrics, tool invocations, threads, and containers of one's own. */
  readonly state: State;
  readonly identity: Identity;
  /** Data of other programs and layouts becomes data of a workspace, proved equal: docs/migrations.md. */
  readonly migrations: Migrations;
  /** Runs something and tells the session tokens of what it wrote, by container. */
  withSessions: typeof withSessions;
  /** The caller that a program acts for; it says who that is, so it must know. */
  as(who: CallerInput): Caller;
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
  readonly triples: TripleStoreCapabilities;
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
const vectorWakeMs = 2_000;
const dropBoxWaitMs = 20_000;
const dropBoxPauseMs = 1_000;
const watchdogMs = 10_000;
const ingestPauseMs = 1_000;
const pipelinePauseMs = 1_000;
/** Between two looks at what of the lifecycle is due, and after its listening failed. */
const lifecycleTickMs = 1_000;
/** How late a scheduled run may begin. */
const pipelineScheduleMs = 10_000;
/** Between two rounds of the audit, each of which is bounded. */
const auditRoundMs = 60_000;
/** How late a step of a migration is found that another process left. */
const migrationSweepMs = 15_000;
const migrationWakeMs = 50;
/** How late a timeout or an expiry of agents' state may be noticed. */
const stateSweepMs = 5_000;
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
  const deletionLagSecondsMax = deletionLagOf(options.deletionLagSeconds);
  await using undo = new AsyncDisposableStack();
  const objects = undo.use(await openObjects(config.objects, clock));
  const spillScope = () => systemScope("keeps documents that are too large for DynamoDB as objects", log);
  const { items: store, background: own } = await openItems(config, { clock, log, objects, spillScope });
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
  const tripleScope = () => systemScope("triples: keeps the quads of all tenants as items", log);
  const triples = undo.use(await openTriples(config, { items, scope: tripleScope }));
  const features = await openFeatures({ items, objects, queue, vectors: vectors.vectors, triples, clock, log }, options);
  undo.defer(() => features.close());
  const { knowledge } = features;
  const background =
    options.background === false
      ? []
      : [
          ttlSweep({ items, containers, everyMs: sweepMs, log }),
          vectorWork(vectors, log),
          new Periodic({ name: "ingestion", everyMs: ingestPauseMs, run: (signal) => knowledge.work(signal), log }),
          new Periodic({ name: "watchdog", everyMs: watchdogMs, run: (signal) => knowledge.sweep(signal), log }),
          new Periodic({ name: "state", everyMs: stateSweepMs, run: (signal) => features.state.sweep(signal), log }),
          new Periodic({ name: "lifecycle stores", everyMs: lifecycleTickMs, run: (signal) => knowledge.lifecycle.listen(signal), log }),
          new Periodic({ name: "lifecycle", everyMs: lifecycleTickMs, run: (signal) => knowledge.lifecycle.tick(signal), log }),
          new Periodic({ name: "audit", everyMs: auditRoundMs, run: (signal) => knowledge.audit.round(signal), log }),
          migrationWork(features.migrations, log),
          ...pipelineWork(knowledge, log),
          ...dropBoxWork(options.dropBoxes ?? [], { vectors: vectors.vectors, objects, queue, log }),
          ...own,
        ];
  for (const work of background) work.start();
  undo.move(); // Everything is open: from here on it is closed by close().
  const probeScope = systemScope("readiness probe", log);
  return new OpenPinakes({ config, items, objects, queue, vectors, triples, features, background, probeScope, deletionLagSecondsMax });
}

export interface MoveEngineOptions {
  readonly clock?: Clock;
  readonly log?: (line: string) => void;
  readonly signal?: AbortSignal;
  /** Compare only. */
  readonly verifyOnly?: boolean;
  readonly onProgress?: (progress: { readonly what: string; readonly done: number }) => void;
}

/**
 * Everything of one configuration's stores into another's, offline: nothing may use either meanwhile. Can be repeated until it is through;
 * the report says whether both hold the same.
 */
export async function moveEngine(from: StoresConfig, to: StoresConfig, options: MoveEngineOptions = {}): Promise<MoveReport> {
  const { clock = systemClock, log = () => {}, signal = new AbortController().signal, verifyOnly, onProgress } = options;
  await using undo = new AsyncDisposableStack();
  const opened = async (config: StoresConfig): Promise<MovingStores> => {
    const objects = undo.use(await openObjects(config.objects, clock));
    const spillScope = () => systemScope("keeps documents that are too large for DynamoDB as objects", log);
    const { archive, items, spillPrefix } = await openArchive(config, { clock, log, objects, spillScope });
    undo.use(items);
    const triples = undo.use(await openTriples(config, { items, scope: () => systemScope("triples: moves the quads of all tenants", log) }));
    return { archive, items, objects, triples, spillPrefix };
  };
  const system = systemScope("moves everything of all tenants to another engine", log);
  return await moveStores(await opened(from), await opened(to), { system, now: () => clock.now(), signal, verifyOnly, onProgress });
}

interface Features {
  readonly migrations: Migrations;
  readonly knowledge: OpenedKnowledge;
  readonly state: OpenedState;
  readonly identity: Identity;
  close(): Promise<void>;
}

/** What is built on the stores: who calls, and what they know. */
async function openFeatures(
  stores: { items: ItemStore; objects: ObjectStore; queue: Queue; vectors: Vectors; triples: TripleStore; clock: Clock; log: (line: string) => void },
  options: OpenOptions,
): Promise<Features> {
  const { items, clock, log } = stores;
  await using undo = new AsyncDisposableStack();
  const models = await openModels(options.models);
  undo.defer(() => models.close());
  const chats = await openChats(options.chatModels);
  undo.defer(() => chats.close());
  const parser = await openParsers();
  undo.defer(() => parser.close());
  const system = systemScope("identity: keys, sessions and workspaces", log);
  const identity = undo.use(await openIdentity({ items, clock, log, system, rootToken: options.rootToken, oidc: options.oidc }));
  const auditSystem = systemScope("audit: looks for tenants among the objects", log);
  const pipelines = await openPipelinePlaces(options);
  undo.defer(() => pipelines.close());
  const knowledge = await openKnowledge({
    ...stores,
    pipelines: pipelines.places,
    embedders: models.embedders,
    chat: chats.chat,
    tokenizer: models.tokenizer,
    parser,
    system: systemScope("knowledge: ingestion, deletes and what crashes left behind, of all tenants", log),
    quotas: { ...quotaDefaults, ...options.quotas },
    trashMs: trashMsOf(options.trashDays),
    topicPrefix: options.topicPrefix,
    workspaces: walkWorkspaces({ book: workspaceIds(items, system), objects: stores.objects, system: auditSystem }),
    callerOf: makeCaller,
    newId: () => timeOrderedId(clock.now()),
    owner: `${hostname()}.${process.pid}`,
    places: options.ingestPlaces ?? availableParallelism() + 2,
  });
  undo.defer(() => knowledge.close());
  const state = await openState({
    ...stores,
    embedder: () => models.embedders.get(models.embedders.defaultModel),
    system: systemScope("state: timeouts, expiries and sealing, of all tenants", log),
    newId: () => timeOrderedId(clock.now()),
  });
  const migrations = await new Migrations({
    ...stores,
    knowledge: knowledge.knowledge,
    intake: knowledge.intake,
    system: systemScope("migrations: carries on what was begun, of all tenants", log),
    callerOf: makeCaller,
    newId: () => timeOrderedId(clock.now()),
    owner: `${hostname()}.${process.pid}`,
    sources: options.migrationSources ?? [],
  }).open();
  const opened = undo.move();
  return { knowledge, state, identity, migrations, close: () => opened.disposeAsync() };
}

function pipelineWork({ pipelines }: OpenedKnowledge, log: (line: string) => void): Periodic[] {
  const { watch, listen, schedule } = pipelines.background;
  return [
    ...(watch ? [new Periodic({ name: "pipeline folders", everyMs: pipelinePauseMs, run: (signal) => pipelines.startWatching(signal), log })] : []),
    ...(listen ? [new Periodic({ name: "pipeline events", everyMs: pipelinePauseMs, run: (signal) => pipelines.listen(signal), log })] : []),
    ...(schedule ? [new Periodic({ name: "pipeline schedules", everyMs: pipelineScheduleMs, run: (signal) => pipelines.sweepSchedules(signal), log })] : []),
  ];
}

function vectorWork(vectors: OpenedVectors, log: (line: string) => void): Periodic {
  const work = new Periodic({ name: "vector work", everyMs: vectorSweepMs, run: (signal) => vectors.sweep(signal), log });
  vectors.onWake(() => work.hurry(vectorWakeMs));
  return work;
}

function migrationWork(migrations: Migrations, log: (line: string) => void): Periodic {
  const work = new Periodic({ name: "migrations", everyMs: migrationSweepMs, run: (signal) => migrations.tick(signal), log });
  migrations.onWake(() => work.hurry(migrationWakeMs));
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
  readonly triples: TripleStore;
  readonly features: Features;
  readonly background: readonly Periodic[];
  readonly probeScope: SystemScope;
  readonly deletionLagSecondsMax: number;
}

class OpenPinakes implements Pinakes {
  readonly items: ItemStore;
  readonly objects: ObjectStore;
  readonly queue: Queue;
  readonly vectors: Vectors;
  readonly triples: TripleStore;
  readonly knowledge: Knowledge;
  readonly lifecycle: Lifecycle;
  readonly state: State;
  readonly identity: Identity;
  readonly migrations: Migrations;
  readonly deletionLagSecondsMax: number;
  readonly #parts: Parts;
  readonly #startedAt = performance.now();
  #closing: Promise<void> | undefined;

  constructor(parts: Parts) {
    this.items = parts.items;
    this.objects = parts.objects;
    this.queue = parts.queue;
    this.vectors = parts.vectors.vectors;
    this.triples = parts.triples;
    this.knowledge = parts.features.knowledge.knowledge;
    this.lifecycle = parts.features.knowledge.lifecycle;
    this.state = parts.features.state.state;
    this.identity = parts.features.identity;
    this.migrations = parts.features.migrations;
    this.deletionLagSecondsMax = parts.deletionLagSecondsMax;
    this.#parts = parts;
  }

  readonly withSessions = withSessions;

  lateWrites(): number {
    return this.#parts.features.knowledge.lateWrites();
  }

  auditFigures(): AuditFigures {
    return this.#parts.features.knowledge.audit.figures;
  }

  as(who: CallerInput): Caller {
    return makeCaller(who);
  }

  info(): PinakesInfo {
    const { name, version } = manifest;
    const uptimeMs = Math.floor(performance.now() - this.#startedAt);
    const { database } = this.#parts.config;
    const engines = {
      items: this.items.capabilities,
      objects: this.objects.capabilities,
      queue: this.queue.capabilities,
      triples: this.triples.capabilities,
    };
    return { name, version, database, uptimeMs, ...engines };
  }

  async ready(): Promise<Readiness> {
    if (this.#closing !== undefined) return { ready: false, reasons: { pinakes: "is closing" }, warnings: {} };
    const { probeScope } = this.#parts;
    const reasons = await failing({
      items: () => this.items.read(probeScope.forTenant("pinakes"), probe.name, { partition: ["probe"], id: "probe" }),
      objects: () => this.objects.list(probeScope, "", { limit: 1 }),
      triples: () => this.triples.match(probeScope.forTenant("pinakes"), "probe", {}, { limit: 1 }),
    });
    const warnings = this.#parts.background.flatMap((work) => {
      const { name, lastError } = work.status();
      return lastError === undefined ? [] : [[name, lastError] as const];
    });
    const { failed, oldestMs } = this.lifecycle.metrics.unfinished;
    const late = oldestMs / 1_000 > this.deletionLagSecondsMax;
    const lag = late
      ? [["deletion lag", `a delete is not done after ${Math.round(oldestMs / 1_000)} s; ${this.deletionLagSecondsMax} s are allowed`] as const]
      : [];
    const stuck = failed === 0 ? [] : [["deletions", `${failed} that some store has not confirmed; see the operations that failed`] as const];
    return { ready: Object.keys(reasons).length === 0, reasons, warnings: Object.fromEntries([...warnings, ...stuck, ...lag]) };
  }

  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Background work first, then the features, then the vectors, the triples and the queue, then the items, which they are on and which may still write objects, then the objects. */
  async #close(): Promise<void> {
    const { background, features, vectors } = this.#parts;
    await Promise.all(background.map((work) => work.stop()));
    try {
      await features.close();
      await vectors.close();
      await this.triples.close();
      await this.queue.close();
      await this.items.close();
    } finally {
      await this.objects.close();
    }
  }
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

/** UUID v7: ids that sort by the time they were made at. */
function timeOrderedId(now: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now, 0, 6);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x70;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
