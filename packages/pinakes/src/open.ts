/** The only module that joins drivers and features. The system scopes of all background work are created here, and nowhere else. */
import { randomUUID } from "node:crypto";
import { availableParallelism, hostname } from "node:os";
import { join } from "node:path";
import { openSelections } from "./catalogs/index.ts";
import { parseStores, type StoresConfig } from "./config-stores.ts";
import { makeCaller } from "./domain/caller.ts";
import type { Log } from "./domain/log.ts";
import { invalid } from "./domain/errors.ts";
import { systemScope, type Scope } from "./domain/scope.ts";
import { keysTenant, type WorkspaceKeys } from "./encryption/index.ts";
import { timeOrderedId } from "./runtime/time-ordered-id.ts";
import {
  AuditLog,
  auditSeeds,
  erasureReason,
  Fences,
  fencedItems,
  governanceLimits,
  openGovernance,
  RetentionStore,
  type Governance,
} from "./governance/index.ts";
import { openIdentity, workspaceIds } from "./identity/index.ts";
import { recordingContainers } from "./items/sweeper.ts";
import { WriteOutcomes, WriteProbe } from "./items/write-probe.ts";
import { openKnowledge, openSlots, quotaDefaults, SubjectObjects, walkWorkspaces } from "./knowledge/index.ts";
import { Migrations, moveStores, type MoveReport, type MovingStores } from "./migrations/index.ts";
import { backgroundWork } from "./open-background.ts";
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
  withDatabase,
} from "./open-engines.ts";
import { retentionSettings } from "./open-retention.ts";
import { deletionLagOf, quarantineMsOf, trashMsOf, type OpenOptions } from "./open-options.ts";
import { Binding, probe, type StoreIds } from "./open-binding.ts";
import { bindKeys, openKeys } from "./open-keys.ts";
import { OpenPinakes, type Features, type Pinakes } from "./open-pinakes.ts";
import { openState } from "./state/index.ts";
import { systemClock, type Clock } from "./ports/clock.ts";
import type { ItemStore } from "./ports/item-store.ts";
import type { ObjectStore } from "./ports/object-store.ts";
import type { Queue } from "./ports/queue.ts";
import type { TripleStore } from "./ports/triple-store.ts";
import { openVectors, type Vectors } from "./vectors/index.ts";

export type { OpenOptions } from "./open-options.ts";
export type { Pinakes, PinakesInfo, Readiness } from "./open-pinakes.ts";

const sweepMsDefault = 5_000;

/**
 * @example
 * await using pinakes = await open({ dir: "./data" });
 * const notes = await defineContainer({ … }).open(pinakes.items);
 */
export async function open(options: OpenOptions = {}): Promise<Pinakes> {
  return openStores(
    parseStores(options, { dir: "dir", database: "database", items: "items", objects: "objects", queue: "queue" }),
    options,
  );
}

/** The same with settings that were validated already. */
export async function openStores(
  wanted: StoresConfig,
  options: Omit<OpenOptions, "dir" | "items" | "objects" | "queue" | "database" | "masterKeyFile"> = {},
): Promise<Pinakes> {
  const { clock = systemClock, log = () => {}, logScope = log, sweepMs = sweepMsDefault } = options;
  if (!Number.isInteger(sweepMs) || sweepMs < 1)
    throw invalid(`sweepMs: must be a whole number of milliseconds from 1, got ${JSON.stringify(sweepMs)}.`);
  const deletionLagSecondsMax = deletionLagOf(options.deletionLagSeconds);
  const config = await withDatabase(wanted);
  await using undo = new AsyncDisposableStack();
  const keys = await openKeys(config, clock, options.dropBoxes);
  const objects = undo.use(await openObjects(config.objects, clock, keys));
  const spillScope = () => systemScope("keeps documents that are too large for DynamoDB as objects", logScope);
  const { items: store, background: own } = await openItems(config, { clock, log, objects, spillScope });
  const containers = new Set<string>();
  const outcomes = new WriteOutcomes();
  const fences = new Fences();
  const items = undo.use(fencedItems(recordingContainers(store, containers, outcomes), fences));
  await items.openContainer(probe);
  const tripleScope = () => systemScope("triples: keeps the quads of all tenants as items", logScope);
  const triples = undo.use(await openTriples(config, { items, scope: tripleScope }));
  const system = systemScope("store id and readiness", logScope);
  const binding = new Binding({ items, objects, triples, config, now: () => clock.now(), system });
  await bindKeys(keys, { items, binding, config, scope: keyScope(logScope) });
  await binding.bind();
  const queue = undo.use(await openQueue(config.queue, items, clock, options.topicPrefix));
  const vectors = await openVectors({
    items,
    objects,
    clock,
    log,
    system: systemScope("vectors: compaction, garbage and purges of all tenants", logScope),
    // A folder or memory is as near as a cache would be.
    cacheDir: config.objects.driver === "s3" ? join(config.data, "cache") : undefined,
    ...options.vectors,
  });
  undo.defer(() => vectors.close());
  const forFeatures = { items, objects, queue, vectors: vectors.vectors, triples, clock, log, fences, keys };
  const folder = config.items.engine === "memory" ? undefined : config.data;
  const features = await openFeatures(
    { ...forFeatures, database: config.database },
    { ...options, storeId: binding.storeId, folder },
  );
  undo.defer(() => features.close());
  const scopes = {
    ttl: () => systemScope("ttl sweep", logScope),
    dropBoxes: () => systemScope("drop-boxes: imports the deltas that producers announced", logScope),
  };
  const dropBoxes = options.dropBoxes ?? [];
  const parts = { items, objects, queue, vectors, ...features, containers, sweepMs, dropBoxes, scopes, log };
  const background = options.background === false ? [] : [...backgroundWork(parts), ...own];
  for (const work of background) work.start();
  undo.move(); // Everything is open: from here on close() closes it.
  const writeScope = systemScope("readiness: tries a write", logScope).forTenant("pinakes");
  const writeProbe = new WriteProbe({ items, objects, outcomes, scope: writeScope, container: probe.name });
  return new OpenPinakes({
    writeProbe,
    config,
    items,
    objects,
    queue,
    vectors,
    triples,
    features,
    background,
    binding,
    callerOf: makeCaller,
    deletionLagSecondsMax,
    keys,
  });
}

function keyScope(log: (line: string) => void): Scope {
  return systemScope("encryption: keeps the data keys of workspaces", log).forTenant(keysTenant);
}

export interface StoreIdOptions {
  readonly clock?: Clock | undefined;
  readonly log?: (line: string) => void;
  /** Give objects and triples the id of the items, whatever they had. */
  readonly bind?: boolean | undefined;
}

/** The ids of the stores of a configuration, without rejecting those that do not belong together. */
export async function storeIds(
  wanted: StoresConfig,
  { clock = systemClock, log = () => {}, bind = false }: StoreIdOptions = {},
): Promise<StoreIds> {
  const config = await withDatabase(wanted);
  await using undo = new AsyncDisposableStack();
  const objects = undo.use(await openObjects(config.objects, clock));
  const spillScope = () => systemScope("keeps documents that are too large for DynamoDB as objects", log);
  const items = undo.use((await openItems(config, { clock, log, objects, spillScope })).items);
  await items.openContainer(probe);
  const triples = undo.use(
    await openTriples(config, { items, scope: () => systemScope("triples: reads the store id", log) }),
  );
  const binding = new Binding({
    items,
    objects,
    triples,
    config,
    now: () => clock.now(),
    system: systemScope("store id", log),
  });
  return await (bind ? binding.force() : binding.ids());
}

export interface MoveEngineOptions {
  readonly clock?: Clock | undefined;
  readonly log?: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
  /** Compare only. */
  readonly verifyOnly?: boolean | undefined;
  readonly onProgress?: (progress: { readonly what: string; readonly done: number }) => void;
}

/**
 * Copies everything of one configuration's stores into another's, offline: nothing else may use either. Can be repeated until it succeeds;
 * the report says whether both hold the same.
 */
export async function moveEngine(
  wantedFrom: StoresConfig,
  wantedTo: StoresConfig,
  options: MoveEngineOptions = {},
): Promise<MoveReport> {
  const [from, to] = [await withDatabase(wantedFrom), await withDatabase(wantedTo)];
  const {
    clock = systemClock,
    log = () => {},
    signal = new AbortController().signal,
    verifyOnly,
    onProgress,
  } = options;
  await using undo = new AsyncDisposableStack();
  const opened = async (config: StoresConfig): Promise<MovingStores> => {
    const keys = await openKeys(config, clock);
    const objects = undo.use(await openObjects(config.objects, clock, keys));
    const spillScope = () => systemScope("keeps documents that are too large for DynamoDB as objects", log);
    const { archive, items, spillPrefix } = await openArchive(config, { clock, log, objects, spillScope });
    undo.use(items);
    const triples = undo.use(
      await openTriples(config, { items, scope: () => systemScope("triples: moves the quads of all tenants", log) }),
    );
    const stores: MovingStores = { archive, items, objects, triples, spillPrefix };
    await items.openContainer(probe);
    await bindKeys(keys, { items, binding: bindingOf(stores, config), config, scope: keyScope(log) });
    return stores;
  };
  const system = systemScope("moves everything of all tenants to another engine", log);
  const bindingOf = (stores: MovingStores, config: StoresConfig) =>
    new Binding({ ...stores, config, system, now: () => clock.now() });
  const [source, target] = [await opened(from), await opened(to)];
  // The target gets the id of the source with everything else; one from an earlier open would stay beside it.
  if (verifyOnly !== true) await bindingOf(target, to).makeWayFor(bindingOf(source, from));
  return await moveStores(source, target, { system, now: () => clock.now(), signal, verifyOnly, onProgress });
}

interface FeatureStores {
  readonly items: ItemStore;
  readonly objects: ObjectStore;
  readonly queue: Queue;
  readonly vectors: Vectors;
  readonly triples: TripleStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly database: string;
  readonly fences: Fences;
  readonly keys: WorkspaceKeys | undefined;
}

interface FeatureOptions extends OpenOptions {
  /** Absent where nothing outlives the process. */
  readonly storeId: string | undefined;
  readonly folder: string | undefined;
}

async function openFeatures(stores: FeatureStores, options: FeatureOptions): Promise<Features> {
  const { items, clock, log } = stores;
  const { logScope = log } = options;
  await using undo = new AsyncDisposableStack();
  const models = await openModels(options.models);
  undo.defer(() => models.close());
  const chats = await openChats(options.chatModels);
  undo.defer(() => chats.close());
  const parser = await openParsers();
  undo.defer(() => parser.close());
  const system = systemScope("identity: keys, sessions and workspaces", logScope);
  const identity = undo.use(
    await openIdentity({ items, clock, log, system, rootToken: options.rootToken, oidc: options.oidc }),
  );
  const audit = await auditOf(stores, options);
  undo.defer(() => audit.close());
  const auditSystem = systemScope("audit: looks for tenants among the objects", logScope);
  const pipelines = await openPipelinePlaces(options);
  undo.defer(() => pipelines.close());
  const quotas = { ...quotaDefaults, ...options.quotas };
  const places = openSlots(quotas);
  const retention = await new RetentionStore({ items, newId: randomUUID }).open();
  const knowledge = await openKnowledge({
    ...stores,
    pipelines: pipelines.places,
    embedders: models.embedders,
    chat: chats.chat,
    parser,
    system: systemScope("knowledge: ingestion, deletes and recovery after crashes, of all tenants", logScope),
    quotas,
    places,
    trashMs: trashMsOf(options.trashDays),
    ownTrashMs: async (scope) => inMs(await retention.trashSeconds(scope)),
    quarantineMs: quarantineMsOf(options.quarantineDays),
    topicPrefix: options.topicPrefix,
    dropBoxes: new Set((options.dropBoxes ?? []).map(({ tenant }) => tenant)),
    workspaces: walkWorkspaces({ book: workspaceIds(items, system), objects: stores.objects, system: auditSystem }),
    callerOf: makeCaller,
    newId: () => timeOrderedId(clock.now()),
    owner: `${hostname()}.${process.pid}`,
    ingestPlaces: options.ingestPlaces ?? availableParallelism() + 2,
  });
  undo.defer(() => knowledge.close());
  const state = await openState({
    ...stores,
    places,
    embedder: () => models.embedders.get(models.embedders.defaultModel),
    system: systemScope("state: timeouts, expiries and sealing, of all tenants", logScope),
    newId: () => timeOrderedId(clock.now()),
  });
  const migrations = await new Migrations({
    ...stores,
    knowledge: knowledge.knowledge,
    intake: knowledge.intake,
    system: systemScope("migrations: resumes started migrations, of all tenants", logScope),
    callerOf: makeCaller,
    newId: () => timeOrderedId(clock.now()),
    owner: `${hostname()}.${process.pid}`,
    sources: options.migrationSources ?? [],
  }).open();
  const governance = await governanceOf(stores, options, { knowledge, state, identity, audit, retention });
  const catalogSelections = await openSelections(items, { clock });
  const opened = undo.move();
  const features = { knowledge, state, identity, audit, migrations, governance, catalogSelections };
  return { ...features, close: () => opened.disposeAsync() };
}

function auditOf({ items, clock, log }: FeatureStores, options: FeatureOptions): Promise<AuditLog> {
  const { logScope = log, audit: mode = "changes", storeId = `memory-${timeOrderedId(clock.now())}` } = options;
  return AuditLog.open({
    items,
    clock,
    log,
    system: systemScope("audit log: entries of all workspaces", logScope),
    mode,
    storeId,
    seeds: () => auditSeeds(options.folder, options.auditKey),
  });
}

type GovernanceParts = Pick<Features, "knowledge" | "state" | "identity" | "audit"> & {
  readonly retention: RetentionStore;
};

function inMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}

async function governanceOf(
  stores: FeatureStores,
  {
    logScope = stores.log,
    erasureFenceMs = governanceLimits.fenceMsDefault,
    subjectExportPartBytes,
    storeId,
    ...options
  }: FeatureOptions,
  { knowledge, state, identity, audit, retention }: GovernanceParts,
): Promise<Governance> {
  const system = systemScope(erasureReason, logScope);
  return openGovernance({
    ...stores,
    system,
    newId: () => timeOrderedId(stores.clock.now()),
    jobs: knowledge.jobs,
    containers: state.state.containers,
    store: retention,
    ...retentionSettings(options),
    subjectObjects: new SubjectObjects(stores),
    partBytesMax: subjectExportPartBytes,
    knowledge: knowledge.erasure,
    state: state.erasure,
    fenceMs: erasureFenceMs,
    forgetCredentials: (ids) => identity.forget(ids),
    destroyKeys: async (workspace) => void (await stores.keys?.destroy(workspace)),
    issuer: async () => storeId ?? "memory",
    forgetInLog: async (workspace, { type: kind, id }) => {
      if (kind === "user" || kind === "agent" || kind === "session")
        await audit.forgetSubject(system.forTenant(workspace), { kind, id });
    },
  });
}
