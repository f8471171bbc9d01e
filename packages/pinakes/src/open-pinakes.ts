/** An open Pinakes: its parts, whether they answer, and the order in which they are closed. */
import manifest from "../package.json" with { type: "json" };
import type { CatalogSelections } from "./catalogs/index.ts";
import type { StoresConfig } from "./config-stores.ts";
import type { Caller, CallerInput } from "./domain/caller.ts";
import type { WorkspaceKeys } from "./encryption/index.ts";
import { PinakesError } from "./domain/errors.ts";
import type { Slots } from "./domain/query-slots.ts";
import type { AuditLog, Governance } from "./governance/index.ts";
import type { Identity } from "./identity/index.ts";
import { withSessions } from "./items/noted-sessions.ts";
import type { Periodic } from "./runtime/periodic.ts";
import type { WriteProbe } from "./items/write-probe.ts";
import type { AuditFigures, Knowledge, OpenedKnowledge } from "./knowledge/index.ts";
import type { Lifecycle } from "./lifecycle/index.ts";
import type { Migrations } from "./migrations/index.ts";
import { alarmsOf, firing, type Alarm } from "./ops/index.ts";
import type { Binding } from "./open-binding.ts";
import type { ItemStore, ItemStoreCapabilities } from "./ports/item-store.ts";
import type { ObjectStore, ObjectStoreCapabilities } from "./ports/object-store.ts";
import type { Queue, QueueCapabilities } from "./ports/queue.ts";
import type { TripleStore, TripleStoreCapabilities } from "./ports/triple-store.ts";
import type { OpenedState, State } from "./state/index.ts";
import type { OpenedVectors, Vectors } from "./vectors/index.ts";

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
  readonly lifecycle: Pick<Lifecycle, "participants" | "topics" | "metrics" | "serve" | "reconcile" | "submit">;
  /** Writes that were rejected because their collection had ended. */
  lateWrites(): number;
  /** The slots of queries, searches, answers, exports and evaluation runs of this process; `usage` says how many run and how many wait. */
  readonly places: Slots;
  /** What the background audit found, and when it finished. */
  auditFigures(): AuditFigures;
  /** The age at which an unfinished delete causes a warning. */
  readonly deletionLagSecondsMax: number;
  /** All alarms; readiness, metrics and the console read this list. */
  readonly alarms: readonly Alarm[];
  /** Workflows, memories, metrics, tool invocations, threads, and user containers. */
  readonly state: State;
  readonly identity: Identity;
  /** Who did what, and the proof. */
  readonly audit: AuditLog;
  /** Imports data of other programs and layouts into a workspace, verified to be equal: docs/migrations.md. */
  readonly migrations: Migrations;
  /** Erasures with their receipts, and legal holds. */
  readonly governance: Governance;
  /** Which catalog each session has selected. */
  readonly catalogSelections: CatalogSelections;
  /** The data keys of encrypted objects; undefined if objects are stored as they are. */
  readonly keys: Pick<WorkspaceKeys, "list" | "rotate" | "destroy"> | undefined;
  /** Runs a function and returns the session tokens of its writes, by container. */
  withSessions: typeof withSessions;
  /** The caller that a program acts for; the program is responsible for authenticating it. */
  as(who: CallerInput): Caller;
  info(): PinakesInfo;
  /** Reads from each store. Never throws: failures are in the answer. */
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
  /** Background work whose last run failed. Requests are served all the same. */
  readonly warnings: Readonly<Record<string, string>>;
}

const readyMsMax = 2_000;

/** What is built on the stores: identity and features. */
export interface Features {
  readonly governance: Governance;
  readonly migrations: Migrations;
  readonly knowledge: OpenedKnowledge;
  readonly state: OpenedState;
  readonly identity: Identity;
  readonly audit: AuditLog;
  readonly catalogSelections: CatalogSelections;
  close(): Promise<void>;
}

interface OpenParts {
  readonly config: StoresConfig;
  readonly items: ItemStore;
  readonly objects: ObjectStore;
  readonly queue: Queue;
  readonly vectors: OpenedVectors;
  readonly triples: TripleStore;
  readonly features: Features;
  readonly background: readonly Periodic[];
  readonly binding: Binding;
  readonly writeProbe: WriteProbe;
  readonly callerOf: (who: CallerInput) => Caller;
  readonly deletionLagSecondsMax: number;
  readonly keys: WorkspaceKeys | undefined;
}

export class OpenPinakes implements Pinakes {
  readonly items: ItemStore;
  readonly objects: ObjectStore;
  readonly queue: Queue;
  readonly vectors: Vectors;
  readonly triples: TripleStore;
  readonly knowledge: Knowledge;
  readonly lifecycle: Lifecycle;
  readonly places: Slots;
  readonly state: State;
  readonly identity: Identity;
  readonly governance: Governance;
  readonly audit: AuditLog;
  readonly migrations: Migrations;
  readonly catalogSelections: CatalogSelections;
  readonly deletionLagSecondsMax: number;
  readonly alarms: readonly Alarm[];
  readonly keys: WorkspaceKeys | undefined;
  readonly #parts: OpenParts;
  readonly #startedAt = performance.now();
  #closing: Promise<void> | undefined;

  constructor(parts: OpenParts) {
    this.items = parts.items;
    this.objects = parts.objects;
    this.queue = parts.queue;
    this.vectors = parts.vectors.vectors;
    this.triples = parts.triples;
    this.knowledge = parts.features.knowledge.knowledge;
    this.lifecycle = parts.features.knowledge.lifecycle;
    this.places = parts.features.knowledge.places;
    this.state = parts.features.state.state;
    this.identity = parts.features.identity;
    this.audit = parts.features.audit;
    this.migrations = parts.features.migrations;
    this.governance = parts.features.governance;
    this.catalogSelections = parts.features.catalogSelections;
    this.deletionLagSecondsMax = parts.deletionLagSecondsMax;
    this.alarms = alarmsOf(this);
    this.keys = parts.keys;
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
    return this.#parts.callerOf(who);
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
    const { binding, writeProbe } = this.#parts;
    // One read of each store, and a check that its id is still that of this store; then a write.
    const reasons = await failing({
      items: async () => {
        await binding.checkItems();
        await writable("items", () => writeProbe.items());
      },
      objects: async () => {
        await binding.checkObjects();
        await writable("objects", () => writeProbe.objects());
      },
      triples: () => binding.checkTriples(),
    });
    const background = this.#parts.background
      .map((work) => work.status())
      .map(({ name, lastError }) => [name, lastError] as const);
    const failures = background.flatMap(([name, text]) => (text === undefined ? [] : [[name, text] as const]));
    const warnings = Object.fromEntries([...failures, ...firing(this.alarms)]);
    return { ready: Object.keys(reasons).length === 0, reasons, warnings };
  }

  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /**
   * Background work first, then the features, then the vectors, the triples and the queue, then the items, which they use and which may
   * still write objects, then the objects.
   */
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

/** Says that only writes fail: reads still work. */
async function writable(store: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    throw new PinakesError(
      "UNAVAILABLE",
      `The ${store} can be read, but writes fail: ${error instanceof Error ? error.message : String(error)}`,
      {
        cause: error,
      },
    );
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
