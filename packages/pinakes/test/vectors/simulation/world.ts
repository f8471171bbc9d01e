/** The stores that all processes share, and each process's access to them: every call passes the scheduler and the oracle. */
import { systemScope, tenantScope } from "../../../src/domain/scope.ts";
import { openMemoryItems } from "../../../src/drivers/memory/index.ts";
import { openMemoryObjects } from "../../../src/drivers/memory-objects/index.ts";
import { PinakesError } from "../../../src/domain/errors.ts";
import type { ItemStore, Operation } from "../../../src/ports/item-store.ts";
import type { ObjectStore } from "../../../src/ports/object-store.ts";
import { vectorWork, vectorWorkContainer, type VectorWork } from "../../../src/vectors/log/vector-work.ts";
import { inlineBuilder, type SegmentBuilder } from "../../../src/vectors/build/segment-builder.ts";
import type { BuiltDelta } from "../../../src/vectors/build/build-delta.ts";
import { CollectionSite } from "../../../src/vectors/store/collection-site.ts";
import { defaultPolicy, type VectorDependencies, type VectorPolicy } from "../../../src/vectors/store/dependencies.ts";
import { vectorsContainer } from "../../../src/vectors/store/records.ts";
import { uncachedFiles } from "../../../src/vectors/store/segment-files.ts";
import type { Mutant } from "./mutant.ts";
import { Oracle } from "./oracle.ts";
import { leaseMs, type Process, type Scheduler } from "./scheduler.ts";

const tenant = tenantScope("acme");
const system = systemScope("simulation", () => {});
const collection = "c";

export interface WorldOptions {
  readonly scheduler: Scheduler;
  readonly retentionMs: number;
  readonly appliedDeltaMs: number;
  readonly clocksAgree: boolean;
  /** Stores that promise no more than the ports do: several items are read one after the other, and pages are short. */
  readonly weakReads: boolean;
  readonly mutant?: Mutant | undefined;
}

/** The dependencies of one process. */
export interface Place {
  readonly process: Process;
  readonly site: CollectionSite;
  readonly work: VectorWork;
}

export class World {
  readonly scheduler: Scheduler;
  readonly oracle: Oracle;
  /** The stores themselves, without faults and observers. */
  readonly items: ItemStore;
  readonly objects: ObjectStore;
  readonly #policy: VectorPolicy;
  readonly #mutant: Mutant | undefined;
  readonly #weakReads: boolean;

  private constructor(items: ItemStore, objects: ObjectStore, options: WorldOptions) {
    const { scheduler, retentionMs, appliedDeltaMs, clocksAgree, weakReads, mutant } = options;
    this.scheduler = scheduler;
    this.items = items;
    this.objects = objects;
    this.oracle = new Oracle({
      now: () => scheduler.now,
      fail: (what) => scheduler.fail(what),
      retentionMs,
      clocksAgree,
    });
    this.#mutant = mutant;
    this.#weakReads = weakReads;
    this.#policy = {
      ...defaultPolicy,
      leaseMs,
      retentionMs,
      appliedDeltaMs,
      collectAfterMs: 100,
      sessionWaitMs: 50,
      ...mutant?.policy,
    };
  }

  static async open(options: WorldOptions): Promise<World> {
    const clock = { now: () => options.scheduler.now };
    const items = await openMemoryItems({ clock });
    await items.openContainer(vectorsContainer);
    await items.openContainer(vectorWorkContainer);
    return new World(items, openMemoryObjects({ clock }), options);
  }

  place(process: Process): Place {
    const items = this.#items(process);
    let names = 0;
    const parts: VectorDependencies = {
      items,
      objects: this.#objects(process),
      clock: { now: () => this.scheduler.now + process.skewMs },
      monotonic: () => this.scheduler.now + process.skewMs * 7,
      uniqueName: () => `${process.name}-${String((names += 1)).padStart(4, "0")}`,
      builder: this.#builder(),
      files: uncachedFiles,
      timers: {
        // The code waits for random times; the schedule must not depend on that.
        pause: () => this.scheduler.pause(process, 10),
        every: (ms, run) => this.scheduler.every(process, ms, run),
      },
      system,
      policy: this.#policy,
      log: () => {},
    };
    return { process, site: new CollectionSite(parts, tenant, collection), work: vectorWork(items, system) };
  }

  async listAll(): Promise<string[]> {
    return (await this.objects.list(tenant, "")).keys.map(({ key }) => key);
  }

  async listItems(): Promise<string[]> {
    return (await this.items.query(tenant, vectorsContainer.name, { equals: { collection }, limit: 200 })).items.map(
      ({ id }) => id,
    );
  }

  /** Bytes that the store lost or corrupted. */
  async overwrite(key: string, bytes: Uint8Array): Promise<void> {
    await this.objects.put(tenant, key, bytes);
  }

  async rawObject(key: string): Promise<Uint8Array | undefined> {
    return this.objects.get(tenant, key);
  }

  async setFailures(id: string, failures: number): Promise<void> {
    await this.items.write(tenant, vectorsContainer.name, [collection], {
      op: "patch",
      id,
      patch: [{ op: "set", path: "/failures", value: failures }],
    });
  }

  #builder(): SegmentBuilder {
    return {
      ...inlineBuilder,
      delta: async (name, settings, rows) => {
        const key = JSON.stringify(rows);
        const built = builtDeltas.get(key) ?? (await inlineBuilder.delta(name, settings, rows));
        if (builtDeltas.size < builtDeltasMax) builtDeltas.set(key, built);
        this.oracle.contents.set(built.contentHash, rows);
        return built;
      },
    };
  }

  #items(process: Process): ItemStore {
    const { items, scheduler, oracle } = this;
    const weak = this.#weakReads;
    const mutate = (operations: readonly Operation[]): readonly Operation[] =>
      this.#mutant?.batch?.(operations, process.name) ?? operations;
    const used: Partial<ItemStore> = {
      read: (scope, container, key) =>
        scheduler.call(process, `read ${key.id}`, () => items.read(scope, container, key)),
      readMany: (scope, container, keys) =>
        weak
          ? Promise.all(
              keys.map((key) => scheduler.call(process, `read ${key.id}`, () => items.read(scope, container, key))),
            )
          : scheduler.call(process, "read state", () => items.readMany(scope, container, keys)),
      query: (scope, container, query) =>
        scheduler.call(process, `query ${query.range?.prefix ?? query.range?.gte ?? ""}`, () =>
          items.query(scope, container, weak ? { ...query, limit: weakPage } : query),
        ),
      write: (scope, container, partition, operation) =>
        scheduler.call(process, `write ${operation.op} work`, async () => {
          const result = await items.write(scope, container, partition, operation);
          oracle.wrote(operation);
          return result;
        }),
      batch: (scope, container, partition, operations) => {
        const sent = mutate(operations);
        return scheduler.call(process, `batch ${label(sent)}`, async () => {
          const result = await items.batch(scope, container, partition, sent);
          oracle.batched(sent, result);
          return result;
        });
      },
    };
    return refusing(used);
  }

  #objects(process: Process): ObjectStore {
    const { objects, scheduler, oracle } = this;
    const weak = this.#weakReads;
    const used: Partial<ObjectStore> = {
      put: (scope, key, body) =>
        scheduler.call(process, `put ${key}`, async () => {
          const result = await objects.put(scope, key, body);
          oracle.put(key);
          return result;
        }),
      get: (scope, key) => scheduler.call(process, `get ${key}`, () => objects.get(scope, key)),
      list: (scope, prefix, options) =>
        scheduler.call(process, "list", () =>
          objects.list(scope, prefix, weak ? { ...options, limit: 2 * weakPage } : options),
        ),
      delete: (scope, keys) =>
        scheduler.call(process, `delete ${keys.length} objects`, async (share) => {
          const reached = keys.slice(0, Math.ceil(keys.length * share)); // Not atomic: after an error some are gone.
          await objects.delete(scope, reached);
          oracle.deleted(reached);
        }),
    };
    return refusing(used);
  }
}

/** The same rows make the same bytes: built once for all schedules. */
const builtDeltas = new Map<string, BuiltDelta>();
const builtDeltasMax = 20_000;

const weakPage = 3;

function label(operations: readonly Operation[]): string {
  return operations
    .map((operation) => `${operation.op} ${"id" in operation ? operation.id : String(operation.document["id"])}`)
    .join(", ");
}

/** A call that the simulator does not know must not go unnoticed. */
function refusing<Port extends object>(used: Partial<Port>): Port {
  return new Proxy(used, {
    get: (target, name) => {
      if (name in target) return target[name as keyof Port];
      throw new PinakesError("NOT_SUPPORTED", `The simulator does not know the call ${String(name)}.`);
    },
  }) as Port;
}
