/**
 * In-memory stores that outlive the processes over them. Every call of a process to a store, the queue or the vectors is under the test's
 * control: it can fail, or the process can die there. Time is moved manually.
 */
import { randomUUID } from "node:crypto";
import { makeCaller, type Caller } from "../../../src/domain/caller.ts";
import { systemScope } from "../../../src/domain/scope.ts";
import { openMemoryItems } from "../../../src/drivers/memory/index.ts";
import { openMemoryObjects } from "../../../src/drivers/memory-objects/index.ts";
import { openKnowledge, quotaDefaults, type Knowledge, type OpenedKnowledge } from "../../../src/knowledge/index.ts";
import { knowledgeWorkContainer } from "../../../src/knowledge/records/work-registry.ts";
import { openModels, openParsers, type OpenedModels } from "../../../src/open-engines.ts";
import type { ItemStore, Operation } from "../../../src/ports/item-store.ts";
import type { ObjectStore } from "../../../src/ports/object-store.ts";
import type { Parser } from "../../../src/ports/parser.ts";
import type { TripleStore } from "../../../src/ports/triple-store.ts";
import { openItemQueue } from "../../../src/queues/item-queue/index.ts";
import { openItemTriples } from "../../../src/triples/on-items/index.ts";
import { openVectors, type OpenedVectors } from "../../../src/vectors/index.ts";
import { bound, watchedBy } from "../../support/watched.ts";
import { Calls } from "../../vectors/support/calls.ts";

const system = systemScope("tests of knowledge", () => {});

export class Machine implements AsyncDisposable {
  now = Date.UTC(2030, 0, 1);
  readonly admin: Caller = makeCaller({ tenant: "acme", userId: "root", role: "admin" });
  readonly lines: string[] = [];
  /** Every written change of a document's status, as "from → to". */
  readonly moves = new Set<string>();
  readonly items: ItemStore;
  readonly objects: ObjectStore;
  readonly vectors: OpenedVectors;
  readonly triples: TripleStore;
  /** Called after each change, before its writer continues. */
  onMove: ((id: string, status: string) => Promise<void>) | undefined;
  readonly #statuses = new Map<string, string>();
  readonly #models: OpenedModels;
  readonly #parser: Parser;

  private constructor(deps: {
    items: ItemStore;
    objects: ObjectStore;
    vectors: OpenedVectors;
    triples: TripleStore;
    models: OpenedModels;
    parser: Parser;
  }) {
    this.items = deps.items;
    this.objects = deps.objects;
    this.vectors = deps.vectors;
    this.triples = deps.triples;
    this.#models = deps.models;
    this.#parser = deps.parser;
  }

  static async open(): Promise<Machine> {
    const later: { machine?: Machine } = {};
    const clock = { now: () => later.machine?.now ?? Date.UTC(2030, 0, 1) };
    const items = await openMemoryItems({ clock });
    const objects = openMemoryObjects({ clock });
    const vectors = await openVectors({ items, objects, clock, system, threads: 1 });
    const triples = await openItemTriples({ items, scope: system });
    later.machine = new Machine({
      items,
      objects,
      vectors,
      triples,
      models: await openModels(undefined),
      parser: await openParsers(),
    });
    return later.machine;
  }

  async process(): Promise<Process> {
    const calls = new Calls();
    const clock = { now: () => this.now };
    const items = watched("items", this.#recording(this.items), calls);
    const queue = await openItemQueue({ items, clock });
    const opened = await openKnowledge({
      items,
      objects: watched("objects", this.objects, calls),
      queue,
      vectors: watched("vectors", this.vectors.vectors, calls),
      triples: watched("triples", this.triples, calls),
      embedders: this.#models.embedders,
      parser: this.#parser,
      clock,
      system,
      quotas: quotaDefaults,
      callerOf: makeCaller,
      newId: () => randomUUID(),
      log: (line) => void this.lines.push(line),
      owner: randomUUID(),
      ingestPlaces: 1,
    });
    return new Process(opened, calls);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.vectors.close();
    await this.#models.close();
    await this.#parser.close();
  }

  /** Records what successful batches did to documents. */
  #recording(items: ItemStore): ItemStore {
    const batch: ItemStore["batch"] = async (scope, container, partition, operations) => {
      const result = await items.batch(scope, container, partition, operations);
      if (container === "documents") for (const operation of operations) await this.#note(operation);
      return result;
    };
    return new Proxy(items, { get: (target, name) => (name === "batch" ? batch : bound(target, name)) });
  }

  async #note(operation: Operation): Promise<void> {
    if (operation.op === "delete") this.#statuses.delete(operation.id);
    if (!("document" in operation) || operation.document["kind"] !== "document") return;
    const { id, status } = operation.document as unknown as { id: string; status: string };
    const from = this.#statuses.get(id) ?? "nothing";
    this.#statuses.set(id, status);
    if (from === status) return;
    this.moves.add(`${from} → ${status}`);
    await this.onMove?.(id, status);
  }
}

export class Process {
  readonly knowledge: Knowledge;
  readonly calls: Calls;
  readonly #opened: OpenedKnowledge;

  constructor(opened: OpenedKnowledge, calls: Calls) {
    this.knowledge = opened.knowledge;
    this.#opened = opened;
    this.calls = calls;
  }

  /** Until no message is available. */
  async work(): Promise<void> {
    const stop = new AbortController();
    await this.#opened.work(stop.signal, (found) => {
      if (found === 0 && this.#opened.metrics().active === 0) stop.abort();
    });
  }

  async sweep(): Promise<void> {
    await this.#opened.sweep(new AbortController().signal);
  }

  async close(): Promise<void> {
    await this.#opened.close();
  }
}

/** Reads include their target. The list of unfinished work is polled before anything starts: it does not count. */
function watched<Port extends object>(label: string, port: Port, calls: Calls): Port {
  const nameOf = (method: string, given: readonly unknown[]) => {
    if (method === "query" && given[1] === knowledgeWorkContainer.name) return undefined;
    return method === "read" ? `${label}.read ${String(given[1])}` : `${label}.${method}`;
  };
  return watchedBy(port, { calls, nameOf });
}
