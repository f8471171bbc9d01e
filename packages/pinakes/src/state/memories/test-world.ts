/** For tests: memories, threads and entities over any store, with a manual clock and sweep. */
import { randomBytes, randomUUID } from "node:crypto";
import { WorkRegistry, workContainer } from "../../containers/index.ts";
import { makeCaller, type Caller } from "../../domain/caller.ts";
import { systemScope } from "../../domain/scope.ts";
import { openMemoryObjects } from "../../drivers/memory-objects/index.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Embedder } from "../../ports/embedder.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import { ManualClock } from "../../testing/item-store/fixture.ts";
import { openVectors, type Vectors } from "../../vectors/index.ts";
import { stateTenant, stateWorkContainer, type StateDependencies, type StateWorkKind } from "../dependencies.ts";
import { settingsContainer } from "../settings.ts";
import { Entities } from "../threads/entities.ts";
import { systemThreadStore, threadStore } from "../threads/thread-stores.ts";
import { Threads } from "../threads/threads.ts";
import { Memories } from "./memories.ts";

export interface WorldOptions {
  readonly clock?: ManualClock | undefined;
  /** Opened with this clock. */
  readonly items: (options: { readonly clock: Clock }) => Promise<ItemStore>;
  readonly embedder?: Embedder | undefined;
}

const system = systemScope("tests of memories", () => {});

/** The stores, which outlive the features opened on them. */
export class World implements AsyncDisposable {
  readonly clock: ManualClock;
  readonly items: ItemStore;
  readonly vectors: Vectors;
  readonly caller: Caller = makeCaller({ tenant: "acme", userId: "u1" });
  readonly stranger: Caller = makeCaller({ tenant: "acme2", userId: "u1" });
  readonly #embedder: Embedder | undefined;
  readonly #close: () => Promise<void>;
  readonly #signingKey = randomBytes(32);

  private constructor(
    options: WorldOptions,
    clock: ManualClock,
    items: ItemStore,
    vectors: Vectors,
    close: () => Promise<void>,
  ) {
    this.clock = clock;
    this.items = items;
    this.vectors = vectors;
    this.#embedder = options.embedder;
    this.#close = close;
  }

  static async open(options: WorldOptions): Promise<World> {
    const { clock = new ManualClock() } = options;
    const items = await options.items({ clock });
    const opened = await openVectors({ items, objects: openMemoryObjects({ clock }), clock, system, threads: 1 });
    await items.openContainer(workContainer(stateWorkContainer));
    await items.openContainer(settingsContainer);
    return new World(options, clock, items, opened.vectors, () => opened.close());
  }

  /** The features of one process; `items` may be instrumented. */
  async process(items: ItemStore = this.items): Promise<Process> {
    const work = new WorkRegistry<StateWorkKind>({ items, system, container: stateWorkContainer, tenant: stateTenant });
    const deps: StateDependencies = {
      items,
      objects: openMemoryObjects({ clock: this.clock }),
      vectors: this.vectors,
      embedder: this.#embedder === undefined ? undefined : async () => this.#embedder as Embedder,
      clock: this.clock,
      log: () => {},
      system,
      work,
      newId: () => randomUUID(),
      signingKey: this.#signingKey,
    };
    const process = new Process(deps);
    await process.open();
    return process;
  }

  /** Purges what has expired from a container, as the sweeper does. */
  async purge(container: string): Promise<void> {
    await this.items.purgeExpired(system, container);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
    await this.items.close();
  }
}

export class Process {
  readonly deps: StateDependencies;
  readonly memories: Memories;
  readonly threads: Threads;
  readonly systemThreads: Threads;
  readonly entities: Entities;

  constructor(deps: StateDependencies) {
    this.deps = deps;
    this.memories = new Memories(deps);
    this.threads = new Threads(deps, threadStore);
    this.systemThreads = new Threads(deps, systemThreadStore);
    this.entities = new Entities(deps);
  }

  async open(): Promise<void> {
    for (const feature of [this.memories, this.threads, this.systemThreads, this.entities]) await feature.open();
  }

  /** The sweep of memories; returns the number of due entries. */
  async sweep(): Promise<number> {
    let due = 0;
    for await (const entry of this.deps.work.due(this.deps.clock.now())) {
      await this.memories.process(entry);
      due += 1;
    }
    return due;
  }
}
