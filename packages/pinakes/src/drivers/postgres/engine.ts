/** The item engine on PostgreSQL: one schema for everything, a table per container. Each part of the work has its own file. */
import { PinakesError } from "../../domain/errors.ts";
import { KeyedQueue } from "../../domain/keyed-queue.ts";
import type { CompiledContainer, NormalDefinition } from "../../items/compiled-container.ts";
import {
  indexBuilding,
  type CommitOutcome,
  type FeedPage,
  type FeedRequest,
  type ItemEngine,
  type ScanRange,
  type ScanRequest,
  type ScanResult,
  type StoredItem,
  type StoredKey,
  type StoredRawItem,
} from "../../items/item-engine.ts";
import type { CommitRequest } from "../../items/plan-batch.ts";
import type { IndexStatus, ItemStoreCapabilities, OpenContainerOptions } from "../../ports/item-store.ts";
import { IndexBuilder } from "./build.ts";
import { Catalog, progressOf, type Loaded } from "./catalog.ts";
import { commit } from "./commit.ts";
import { Database } from "./connection.ts";
import { defineContainer } from "./define.ts";
import { isOutdated } from "./errors.ts";
import { changes, trimFeed } from "./feed.ts";
import { Names } from "./names.ts";
import { readItem, readItems, readRawItem } from "./read.ts";
import { count, expired, scan } from "./scan.ts";
import { prepareSchema } from "./schema.ts";

export class PostgresItemEngine implements ItemEngine {
  readonly capabilities: ItemStoreCapabilities = { engine: "postgres", indexReads: "strong", batchOperationsMax: 100, durable: true };
  readonly #database: Database;
  readonly #names: Names;
  readonly #catalog: Catalog;
  readonly #builder: IndexBuilder;
  /** PostgreSQL would order commits on a partition too, but each would hold a connection while it waits, and use up the pool. */
  readonly #queue = new KeyedQueue();
  readonly #key: Uint8Array;
  #closed: Promise<void> | undefined;

  private constructor(database: Database, names: Names, key: Uint8Array) {
    this.#database = database;
    this.#names = names;
    this.#key = key;
    this.#catalog = new Catalog(names);
    this.#builder = new IndexBuilder(database, names, this.#catalog);
  }

  static async open(url: string, database: string, poolSize: number): Promise<PostgresItemEngine> {
    const names = new Names(database);
    const pool = await Database.open(url, poolSize);
    try {
      return new PostgresItemEngine(pool, names, await prepareSchema(pool, names));
    } catch (error) {
      await pool.close();
      throw error;
    }
  }

  async signingKey(): Promise<Uint8Array> {
    return this.#key;
  }

  async openContainer(definition: NormalDefinition, options: OpenContainerOptions): Promise<void> {
    const loaded = await defineContainer(this.#database, this.#names, this.#catalog, definition, options);
    this.#catalog.open(loaded);
    this.#builder.ensure(loaded);
  }

  container(name: string): CompiledContainer | undefined {
    return this.#catalog.get(name)?.compiled;
  }

  async indexes({ name }: CompiledContainer): Promise<readonly IndexStatus[]> {
    const { compiled, states } = await this.#reload(name);
    return compiled.indexes.flatMap((index) => {
      const state = states.get(index.name);
      if (state === undefined) return [];
      const error = state.error === null ? {} : { error: state.error };
      return [{ name: index.name, state: state.ready ? "ready" : "building", progress: progressOf(state), ...error } as const];
    });
  }

  async read(container: CompiledContainer, key: StoredKey): Promise<StoredItem | undefined> {
    return readItem(this.#database, this.#read(container), key);
  }

  async readRaw(container: CompiledContainer, key: StoredKey): Promise<StoredRawItem | undefined> {
    return readRawItem(this.#database, this.#read(container), key);
  }

  async readMany(container: CompiledContainer, keys: readonly StoredKey[]): Promise<readonly (StoredItem | undefined)[]> {
    return readItems(this.#database, this.#read(container), keys);
  }

  async commit({ name }: CompiledContainer, request: CommitRequest): Promise<CommitOutcome> {
    return this.#queue.run([`${name} ${request.pk}`], () => commit(this.#database, this.#names, this.#catalog, name, request));
  }

  async scan(container: CompiledContainer, request: ScanRequest): Promise<ScanResult> {
    const loaded = this.#read(container);
    await this.#requireReady(loaded, request.range);
    return this.#current(container, () => scan(this.#database, loaded, request));
  }

  async count(container: CompiledContainer, range: ScanRange, now: number): Promise<number> {
    const loaded = this.#read(container);
    await this.#requireReady(loaded, range);
    return this.#current(container, () => count(this.#database, loaded, range, now));
  }

  async changes(container: CompiledContainer, request: FeedRequest): Promise<FeedPage> {
    return this.#current(container, () => changes(this.#database, this.#names, this.#read(container), request));
  }

  async trimFeed(container: CompiledContainer, before: number, limit: number): Promise<number> {
    return this.#current(container, () => trimFeed(this.#database, this.#names, this.#read(container), before, limit));
  }

  async expired(container: CompiledContainer, now: number, limit: number): Promise<readonly StoredKey[]> {
    return expired(this.#database, this.#read(container), now, limit);
  }

  close(): Promise<void> {
    this.#closed ??= (async () => {
      await this.#builder.close();
      await this.#catalog.close();
      await this.#database.close();
    })();
    return this.#closed;
  }

  #read(container: CompiledContainer): Loaded {
    this.#catalog.notice(this.#database);
    return this.#catalog.of(container);
  }

  async #reload(name: string): Promise<Loaded> {
    const loaded = (await this.#catalog.load(this.#database, name)).get(name);
    if (loaded === undefined) throw new PinakesError("NOT_FOUND", `Container "${name}" has been removed from the database; open it again.`);
    return loaded;
  }

  /** Another process may have finished the build since we last looked. What was ready stays so: a new build has a new column. */
  async #requireReady(loaded: Loaded, range: ScanRange): Promise<void> {
    if (range.kind === "partition" || loaded.states.get(range.index)?.ready === true) return;
    const { name } = loaded.compiled;
    const { states } = await this.#reload(name);
    const state = states.get(range.index);
    if (state === undefined || state.ready) return;
    const refused = indexBuilding(name, range.index, progressOf(state));
    throw state.error === null ? refused : new PinakesError("UNAVAILABLE", `${refused.detail} The build failed and is being repeated: ${state.error}`);
  }

  /** A definition that another process has changed since this call was planned: the call is planned anew, not answered by halves. */
  async #current<T>({ name }: CompiledContainer, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      if (!isOutdated(error)) throw error;
      await this.#reload(name);
      throw new PinakesError("UNAVAILABLE", `Container "${name}" has just been changed by another process. Repeat the call.`, { cause: error });
    }
  }
}
