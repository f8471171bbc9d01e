/**
 * Stores that outlive the processes over them, for tests of the lifecycle: documents, files and own rows are written without a model, so
 * that a test can create and delete hundreds of collections. Every call of a process to a store is under the test's control, and time is
 * moved manually.
 */
import { randomUUID } from "node:crypto";
import { makeCaller, type Caller } from "../../../src/domain/caller.ts";
import { PinakesError } from "../../../src/domain/errors.ts";
import { defaultGraph } from "../../../src/domain/rdf.ts";
import { systemScope, type Scope } from "../../../src/domain/scope.ts";
import { openMemoryItems } from "../../../src/drivers/memory/index.ts";
import { openMemoryObjects } from "../../../src/drivers/memory-objects/index.ts";
import {
  openKnowledge,
  quotaDefaults,
  type JobView,
  type Knowledge,
  type KnowledgeDependencies,
  type OpenedKnowledge,
  type OpenKnowledgeOptions,
} from "../../../src/knowledge/index.ts";
import type { Lifecycle } from "../../../src/lifecycle/index.ts";
import type { ItemStore } from "../../../src/ports/item-store.ts";
import type { ObjectStore } from "../../../src/ports/object-store.ts";
import type { Queue } from "../../../src/ports/queue.ts";
import { openItemQueue } from "../../../src/queues/item-queue/index.ts";
import type { TripleStore } from "../../../src/ports/triple-store.ts";
import { openItemTriples } from "../../../src/triples/on-items/index.ts";
import { openVectors, type OpenedVectors } from "../../../src/vectors/index.ts";
import { watched } from "../../support/watched.ts";
import { withoutModels } from "../../support/without-models.ts";
import { Calls } from "../../vectors/support/calls.ts";

export const system = systemScope("tests of the lifecycle", () => {});
export const lifecycleScope = system.forTenant("pinakes.lifecycle");

export interface WorldOptions {
  readonly trashMs?: number;
  readonly topicPrefix?: string;
  /** Another item store than memory; it must use the given clock. */
  readonly items?: (clock: { now: () => number }) => Promise<ItemStore>;
}

export interface Place {
  readonly repository_id: string;
  readonly collection_id: string;
  readonly incarnation: string;
}

export class World implements AsyncDisposable {
  now = Date.UTC(2030, 0, 1);
  readonly admin: Caller = makeCaller({ tenant: "acme", userId: "root", role: "admin" });
  readonly lines: string[] = [];
  readonly items: ItemStore;
  readonly objects: ObjectStore;
  readonly vectors: OpenedVectors;
  readonly triples: TripleStore;
  readonly #options: WorldOptions;

  private constructor(
    items: ItemStore,
    objects: ObjectStore,
    vectors: OpenedVectors,
    triples: TripleStore,
    options: WorldOptions,
  ) {
    this.items = items;
    this.objects = objects;
    this.vectors = vectors;
    this.triples = triples;
    this.#options = options;
  }

  static async open(options: WorldOptions = {}): Promise<World> {
    const later: { world?: World } = {};
    const clock = { now: () => later.world?.now ?? Date.UTC(2030, 0, 1) };
    const items = await (options.items?.(clock) ?? openMemoryItems({ clock }));
    const objects = openMemoryObjects({ clock });
    const vectors = await openVectors({ items, objects, clock, system, threads: 1 });
    const triples = await openItemTriples({ items, scope: system });
    later.world = new World(items, objects, vectors, triples, options);
    const { knowledge, close } = await later.world.process();
    await knowledge.repositories.create(later.world.admin, { repository_id: "kb" });
    await close();
    return later.world;
  }

  /** A process over the stores. Only calls after its opening are counted. */
  async process(more: Pick<OpenKnowledgeOptions, "workspaces"> = {}): Promise<Process> {
    const calls = new Calls();
    const clock = { now: () => this.now };
    const gate = { on: false };
    const items = watched("items", this.items, calls, gate);
    const queue = await openItemQueue({ items, clock });
    const deps: KnowledgeDependencies = {
      items,
      objects: watched("objects", this.objects, calls, gate),
      queue,
      vectors: watched("vectors", this.vectors.vectors, calls, gate),
      triples: watched("triples", this.triples, calls, gate),
      ...withoutModels,
      clock,
      system,
      quotas: quotaDefaults,
      trashMs: this.#options.trashMs,
      callerOf: makeCaller,
      newId: () => randomUUID(),
      log: (line) => void this.lines.push(line),
    };
    const opened = await openKnowledge({
      ...deps,
      ...more,
      owner: randomUUID(),
      ingestPlaces: 1,
      topicPrefix: this.#options.topicPrefix,
    });
    gate.on = true;
    return new Process(opened, calls, queue, this);
  }

  /** Files, records and rows; something in every store. */
  async fill(
    process: Process,
    caller: Caller,
    id: string,
    input: { readonly files?: number; readonly rows?: number; readonly repository?: string } = {},
  ): Promise<Place> {
    const { files = 2, rows = 3, repository = "kb" } = input;
    const { knowledge } = process;
    const { repository_id, collection_id, incarnation } = await knowledge.collections.create(caller, repository, {
      collection_id: id,
    });
    for (let i = 0; i < files; i += 1)
      await knowledge.documents.upload(caller, repository, id, { name: `f${i}.txt`, body: `file ${i} of ${id}` });
    const items = Array.from({ length: rows }, (_, i) => ({ id: `r${i}`, vector: [i, 1] }));
    if (rows > 0) await knowledge.rows.upsert(caller, repository, id, { items });
    if (rows > 0) await this.know(caller.scope, incarnation, rows);
    return { repository_id, collection_id, incarnation };
  }

  async know(scope: Scope, incarnation: string, quads: number): Promise<void> {
    await this.triples.open(scope, incarnation);
    const insert = Array.from({ length: quads }, (_, i) => ({
      s: `<urn:s${i}>`,
      p: "<urn:p>",
      o: `"o${i}"`,
      g: i % 2 === 0 ? defaultGraph : "<urn:g>",
    }));
    await this.triples.write(scope, incarnation, { insert });
  }

  /** The remaining contents of an incarnation, counted without any code of the lifecycle. */
  async left({ repository_id, incarnation }: Place, scope: Scope = this.admin.scope): Promise<typeof nothing> {
    const documents = await this.items.query(scope, "documents", {
      equals: { repository_id, incarnation },
      limit: 1_000,
    });
    const { keys } = await this.objects.list(scope, `knowledge/${incarnation}/`, { limit: 1_000 });
    const own = await this.objects.list(scope, `vectors/${incarnation}.own/`, { limit: 1_000 });
    const passages = await this.objects.list(scope, `vectors/${incarnation}.1/`, { limit: 1_000 });
    const { quads, supports, terms } = await this.triples.usage(scope, incarnation);
    return {
      documents: documents.items.filter(({ id }) => id !== "fence").length,
      objects: keys.length,
      vectors: own.keys.length + passages.keys.length,
      triples: quads + supports + terms,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.vectors.close();
    await this.items.close();
  }
}

export const nothing = { documents: 0, objects: 0, vectors: 0, triples: 0 };

export class Process {
  readonly knowledge: Knowledge;
  readonly lifecycle: Lifecycle;
  readonly calls: Calls;
  readonly queue: Queue;
  readonly opened: OpenedKnowledge;
  readonly #world: World;

  constructor(opened: OpenedKnowledge, calls: Calls, queue: Queue, world: World) {
    this.knowledge = opened.knowledge;
    this.lifecycle = opened.lifecycle;
    this.opened = opened;
    this.calls = calls;
    this.queue = queue;
    this.#world = world;
  }

  async purge({ repository_id, collection_id }: Place, caller: Caller = this.#world.admin): Promise<JobView> {
    return this.knowledge.collections.delete(caller, repository_id, collection_id, {
      purge: true,
      confirm: collection_id,
    });
  }

  /** One sweep; failures are left to the next one. */
  async sweep(): Promise<void> {
    await this.opened.sweep(new AbortController().signal).catch((error: unknown) => {
      if (!PinakesError.isInstance(error)) throw error;
    });
  }

  /** Time passes, in steps longer than every wait. */
  async pass(rounds = 6): Promise<void> {
    for (let round = 0; round < rounds; round += 1) {
      this.#world.now += 301_000;
      await this.sweep();
    }
  }

  readonly close = async (): Promise<void> => {
    await this.opened.close();
  };
}
