/** The item engine on PostgreSQL: one schema for everything, a table per container. Each part of the work has its own file. */
import { forTenant } from "../../items/compiled-container.ts";
import { PinakesError } from "../../domain/errors.ts";
import { KeyedQueue } from "../../runtime/keyed-queue.ts";
import { isExpired, type ContainerTtl } from "../../domain/ttl.ts";
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
  type TenantFilter,
} from "../../items/item-engine.ts";
import type { CommitRequest } from "../../items/plan-batch.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ScrubReport } from "../../ports/item-erasure.ts";
import type { IndexStatus, ItemStoreCapabilities, OpenContainerOptions } from "../../ports/item-store.ts";
import { IndexBuilder } from "./build.ts";
import { Catalog, progressOf, type Loaded } from "./catalog.ts";
import { CommitGroups } from "./commit-groups.ts";
import { commitAlone, commitGroup } from "./commit.ts";
import { Database } from "./connection.ts";
import { defineContainer } from "./define.ts";
import { dump, forgetFeed, scrubTables } from "./erasure.ts";
import { isOutdated } from "./errors.ts";
import { changes, trimFeed } from "./feed.ts";
import { Names } from "./names.ts";
import { readItem, readItems, readRawItem } from "./read.ts";
import { count, expired, scan } from "./scan.ts";
import { prepareSchema } from "./schema.ts";

export class PostgresItemEngine implements ItemEngine {
  readonly capabilities: ItemStoreCapabilities = {
    engine: "postgres",
    indexReads: "strong",
    batchOperationsMax: 100,
    durable: true,
  };
  readonly #database: Database;
  readonly #names: Names;
  readonly #catalog: Catalog;
  readonly #builder: IndexBuilder;
  /** PostgreSQL would serialise commits on a partition too, but each would hold a connection while it waits, and exhaust the pool. */
  readonly #queue = new KeyedQueue();
  readonly #groups: CommitGroups;
  readonly #key: Uint8Array;
  readonly #clock: Clock;
  #closed: Promise<void> | undefined;

  private constructor(database: Database, names: Names, key: Uint8Array, clock: Clock) {
    this.#clock = clock;
    this.#database = database;
    this.#names = names;
    this.#key = key;
    this.#catalog = new Catalog(names);
    this.#builder = new IndexBuilder(database, names, this.#catalog);
    const parts = { database, names, catalog: this.#catalog };
    this.#groups = new CommitGroups({
      group: (container, requests) => commitGroup(parts, container, requests),
      alone: (container, request) => commitAlone(parts, container, request),
    });
  }

  static async open(url: string, database: string, poolSize: number, clock: Clock): Promise<PostgresItemEngine> {
    const names = new Names(database);
    const pool = await Database.open(url, poolSize);
    try {
      return new PostgresItemEngine(pool, names, await prepareSchema(pool, names), clock);
    } catch (error) {
      await pool.close();
      throw error;
    }
  }

  async signingKey(): Promise<Uint8Array> {
    return this.#key;
  }

  async definitions(): Promise<readonly NormalDefinition[]> {
    const rows = await this.#database.query<[string]>(`SELECT definition FROM ${this.#names.containers}`);
    return rows.map(([definition]) => JSON.parse(definition) as NormalDefinition);
  }

  /** In the order of their keys. */
  async dump(
    container: string,
    cursor: string | undefined,
    limit: number,
    tenant?: string,
  ): Promise<{ rows: readonly StoredItem[]; cursor?: string | undefined }> {
    return dump(this.#database, this.#names.table(container), { cursor, limit, tenant });
  }

  async forgetFeed(container: CompiledContainer, tenant: string, keys: readonly StoredKey[]): Promise<number> {
    const { feed } = await this.#read(container);
    return forgetFeed(this.#database, feed, tenant, keys);
  }

  async scrub(): Promise<ScrubReport> {
    return scrubTables(this.#database, this.#names, "items");
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
      return [
        { name: index.name, state: state.ready ? "ready" : "building", progress: progressOf(state), ...error } as const,
      ];
    });
  }

  async read(container: CompiledContainer, key: StoredKey): Promise<StoredItem | undefined> {
    return this.#visible(container, await readItem(this.#database, await this.#read(container), key));
  }

  async readRaw(container: CompiledContainer, key: StoredKey): Promise<StoredRawItem | undefined> {
    return this.#visible(container, await readRawItem(this.#database, await this.#read(container), key));
  }

  async readMany(
    container: CompiledContainer,
    keys: readonly StoredKey[],
  ): Promise<readonly (StoredItem | undefined)[]> {
    const items = await readItems(this.#database, await this.#read(container), keys);
    return items.map((item) => this.#visible(container, item));
  }

  async commit({ name }: CompiledContainer, request: CommitRequest): Promise<CommitOutcome> {
    return this.#queue.run([`${name} ${request.pk}`], () => this.#groups.commit(name, request));
  }

  async scan(container: CompiledContainer, request: ScanRequest): Promise<ScanResult> {
    const loaded = await this.#read(container);
    await this.#requireReady(loaded, request.range);
    return this.#current(container, () => scan(this.#database, loaded, this.#ttl(container), request));
  }

  async count(container: CompiledContainer, range: ScanRange, now: number): Promise<number> {
    const loaded = await this.#read(container);
    await this.#requireReady(loaded, range);
    return this.#current(container, () => count(this.#database, loaded, this.#ttl(container), range, now));
  }

  async changes(container: CompiledContainer, request: FeedRequest): Promise<FeedPage> {
    const loaded = await this.#read(container);
    return this.#current(container, () => changes(this.#database, this.#names, loaded, request));
  }

  async trimFeed(container: CompiledContainer, before: number, limit: number): Promise<number> {
    const loaded = await this.#read(container);
    return this.#current(container, () => trimFeed(this.#database, this.#names, loaded, before, limit));
  }

  async expired(
    container: CompiledContainer,
    now: number,
    limit: number,
    tenants?: TenantFilter,
  ): Promise<readonly StoredKey[]> {
    const loaded = await this.#read(container);
    return expired(this.#database, loaded, { ttl: this.#ttl(container), now, limit, tenants });
  }

  close(): Promise<void> {
    this.#closed ??= (async () => {
      // Writes in the queue were accepted: they are carried out.
      await Promise.all([this.#queue.idle(), this.#builder.close()]);
      await this.#catalog.close();
      await this.#database.close();
    })();
    return this.#closed;
  }

  async #read(container: CompiledContainer): Promise<Loaded> {
    const stale = this.#catalog.notice(this.#database);
    if (stale !== undefined) await stale;
    return this.#catalog.of(container);
  }

  /** The current definition, which may have changed since the call was planned. */
  #ttl({ name, ttl, tenant }: CompiledContainer): ContainerTtl {
    const current = this.#catalog.get(name)?.compiled;
    if (current === undefined) return ttl;
    return tenant === undefined ? current.ttl : forTenant(current, tenant).ttl;
  }

  /** The caller applies the ttl that the call was planned with. If that has changed, it is applied here, and the caller gets the result. */
  #visible<T extends { readonly ttl: number | null; readonly modifiedAt: number }>(
    container: CompiledContainer,
    item: T | undefined,
  ): T | undefined {
    const ttl = this.#ttl(container);
    if (item === undefined || ttl === container.ttl) return item;
    return isExpired(ttl, item.ttl, item.modifiedAt, this.#clock.now()) ? undefined : { ...item, ttl: -1 };
  }

  async #reload(name: string): Promise<Loaded> {
    const loaded = (await this.#catalog.load(this.#database, name)).get(name);
    if (loaded === undefined)
      throw new PinakesError("NOT_FOUND", `Container "${name}" has been removed from the database; open it again.`);
    return loaded;
  }

  /** Another process may have finished the build since our last check. What was ready stays so: a new build has a new column. */
  async #requireReady(loaded: Loaded, range: ScanRange): Promise<void> {
    if (range.kind === "partition" || loaded.states.get(range.index)?.ready === true) return;
    const { name } = loaded.compiled;
    const { states } = await this.#reload(name);
    const state = states.get(range.index);
    if (state === undefined || state.ready) return;
    const refused = indexBuilding(name, range.index, progressOf(state));
    throw state.error === null
      ? refused
      : new PinakesError("UNAVAILABLE", `${refused.detail} The build failed and is being repeated: ${state.error}`);
  }

  /** A definition that another process has changed since this call was planned: the call is planned again, not half answered. */
  async #current<T>({ name }: CompiledContainer, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      if (!isOutdated(error)) throw error;
      await this.#reload(name);
      throw new PinakesError(
        "UNAVAILABLE",
        `Container "${name}" has just been changed by another process. Repeat the call.`,
        { cause: error },
      );
    }
  }
}
