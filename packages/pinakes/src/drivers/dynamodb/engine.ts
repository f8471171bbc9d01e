/**
 * Items in DynamoDB: a table per container, a global secondary index per declared index. The layout is in rows.ts; how commits stay
 * serialisable in commit.ts; why index reads are never wrong, only late, in scan.ts.
 */
import type { CompiledContainer, NormalDefinition } from "../../items/compiled-container.ts";
import { asRawItem, tenantRange } from "../../items/item-engine.ts";
import type {
  CommitOutcome,
  FeedPage,
  FeedRequest,
  ItemEngine,
  ScanRange,
  ScanRequest,
  ScanResult,
  StoredItem,
  StoredKey,
  StoredRawItem,
  TenantFilter,
} from "../../items/item-engine.ts";
import type { CommitRequest } from "../../items/plan-batch.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ScrubReport } from "../../ports/item-erasure.ts";
import type { IndexStatus, ItemStoreCapabilities, OpenContainerOptions } from "../../ports/item-store.ts";
import { IndexBuilder } from "./build.ts";
import { keyText, type Attributes, type Dynamo } from "./client.ts";
import { Committer } from "./commit.ts";
import { Definitions, seenBy, type Definition } from "./definitions.ts";
import { errorName } from "./errors.ts";
import { findExpired } from "./expired.ts";
import { FeedTrimmer } from "./feed-trim.ts";
import { readFeed } from "./feed.ts";
import { requireReady } from "./index-state.ts";
import { awaitIndex } from "./index-wait.ts";
import { readSigningKey } from "./meta-values.ts";
import { forgetFeed } from "./feed-forget.ts";
import { rowKey, storedKeyOf } from "./rows.ts";
import { Scanner } from "./scan.ts";
import { closing, createMetaTable, metaTable } from "./schema.ts";
import { Documents, type SpillOptions, type SweepResult } from "./spill.ts";
import { idle, mapLimited } from "./waiting.ts";

export interface DynamoEngineOptions {
  readonly dynamo: Dynamo;
  readonly prefix: string;
  readonly clock: Clock;
  readonly objects: SpillOptions | undefined;
  readonly definitionMaxAgeMs: number;
  readonly indexWaitMsMax: number;
  readonly inFlightMsMax: number;
}

const documentsInParallel = 8;

export class DynamoItemEngine implements ItemEngine {
  /**
   * Of the 100 actions of a transaction, an item takes one and each of its unique values another, and the feed takes up to three. So 50
   * operations fit unless the container has unique keys: 48 creates with 1 of them and a feed, 32 with 2, 24 with 3, 19 with 4, 16 with 5;
   * an update that changes all its unique values also releases the old ones: 32, 19, 13, 10, 8. A batch that needs more is rejected as
   * LIMIT_EXCEEDED, which names how many actions it needs; nothing is written.
   */
  readonly capabilities: ItemStoreCapabilities = {
    engine: "dynamodb",
    indexReads: "eventual",
    batchOperationsMax: 50,
    durable: true,
  };
  readonly #dynamo: Dynamo;
  readonly #meta: string;
  readonly #clock: Clock;
  readonly #indexWaitMsMax: number;
  readonly #definitions: Definitions;
  readonly #documents: Documents;
  readonly #committer: Committer;
  readonly #scanner: Scanner;
  readonly #trimmer: FeedTrimmer;
  readonly #builder: IndexBuilder;
  readonly #closing = new AbortController();

  constructor({
    dynamo,
    prefix,
    clock,
    objects,
    definitionMaxAgeMs,
    indexWaitMsMax,
    inFlightMsMax,
  }: DynamoEngineOptions) {
    this.#dynamo = dynamo;
    this.#meta = metaTable(prefix);
    this.#clock = clock;
    this.#indexWaitMsMax = indexWaitMsMax;
    this.#definitions = new Definitions(dynamo, prefix, this.#meta, definitionMaxAgeMs, inFlightMsMax);
    this.#documents = new Documents(dynamo, prefix, clock, objects);
    this.#committer = new Committer(dynamo, this.#definitions, this.#documents);
    this.#scanner = new Scanner(dynamo, this.#documents);
    this.#trimmer = new FeedTrimmer(dynamo);
    this.#builder = new IndexBuilder(dynamo, this.#meta, this.#definitions, this.#documents);
  }

  /** Created by the first process that opens the store. */
  async signingKey(): Promise<Uint8Array> {
    await createMetaTable(this.#dynamo, this.#meta, this.#closing.signal);
    return readSigningKey(this.#dynamo, this.#meta);
  }

  async definitions(): Promise<readonly NormalDefinition[]> {
    await createMetaTable(this.#dynamo, this.#meta, this.#closing.signal);
    return this.#definitions.all();
  }

  /** In the service's own order. */
  async dump(
    container: string,
    cursor: string | undefined,
    limit: number,
    tenant?: string,
  ): Promise<{ rows: readonly StoredItem[]; cursor?: string | undefined }> {
    const table = this.#definitions.tableOf(container);
    const start = cursor === undefined ? {} : { ExclusiveStartKey: JSON.parse(cursor) as Attributes };
    const page = await this.#dynamo.repeat(`read all of ${table}`, (api) =>
      api.scan({ TableName: table, Limit: limit, ConsistentRead: true, ...start }),
    );
    const ofTenant = tenant === undefined ? "" : tenantRange(tenant)[0];
    const items = (page.Items ?? []).filter(
      (item) =>
        item["sk"]?.S?.startsWith("i") === true &&
        /^[ph]/.test(item["pk"]?.S ?? "") &&
        storedKeyOf(item).pk.startsWith(ofTenant),
    );
    const loaded = await mapLimited(
      items,
      documentsInParallel,
      async (item) => (await this.#documents.load(table, item as Attributes))?.stored,
    );
    const next = page.LastEvaluatedKey === undefined ? undefined : JSON.stringify(page.LastEvaluatedKey);
    return { rows: loaded.flatMap((stored) => (stored === undefined ? [] : [stored])), cursor: next };
  }

  async forgetFeed({ name }: CompiledContainer, tenant: string, keys: readonly StoredKey[]): Promise<number> {
    return forgetFeed(this.#dynamo, this.#definitions.tableOf(name), tenant, keys);
  }

  /** Nobody but the service sees its files; backups of tables are the operator's. */
  async scrub(): Promise<ScrubReport> {
    return { outcome: "managed", bytes: null };
  }

  async openContainer(
    definition: NormalDefinition,
    { dropUndeclaredIndexes = false }: OpenContainerOptions,
  ): Promise<void> {
    let { stored } = await this.#definitions.open(definition, dropUndeclaredIndexes, this.#closing.signal);
    if (!stored.settled) this.#builder.start(definition.name);
    // The feed has every commit from here on, also of writers with the old definition: every opener of the container waits for them.
    while (stored.definition.feed && !stored.feedSettled) {
      if (!(await idle(this.#definitions.oldWritersMs(stored), this.#closing.signal))) throw closing();
      await this.#definitions.update(definition.name, stored.version, (now) => ({ ...now, feedSettled: true }));
      ({ stored } = await this.#definitions.refresh(definition.name));
    }
  }

  container(name: string): CompiledContainer | undefined {
    return this.#definitions.known(name)?.compiled;
  }

  async indexes({ name }: CompiledContainer): Promise<readonly IndexStatus[]> {
    const definition = await this.#definitions.refresh(name);
    const { compiled, stored } = definition;
    const { progress, error } = stored.settled
      ? { progress: 1, error: undefined }
      : await this.#builder.state(definition);
    const building = { state: "building", progress, ...(error === undefined ? {} : { error }) } as const;
    return compiled.indexes.map(({ name: index }) => ({
      name: index,
      ...(stored.indexes[index]?.ready === true ? ({ state: "ready", progress: 1 } as const) : building),
    }));
  }

  async read(container: CompiledContainer, key: StoredKey): Promise<StoredItem | undefined> {
    const { table } = await this.#definition(container);
    const item = await this.#dynamo.get(table, rowKey(key));
    return item === undefined ? undefined : (await this.#documents.load(table, item))?.stored;
  }

  async readRaw(container: CompiledContainer, key: StoredKey): Promise<StoredRawItem | undefined> {
    return asRawItem(await this.read(container, key));
  }

  async readMany(
    container: CompiledContainer,
    keys: readonly StoredKey[],
  ): Promise<readonly (StoredItem | undefined)[]> {
    const { table } = await this.#definition(container);
    const items = await this.#dynamo.getMany(table, keys.map(rowKey));
    return mapLimited(keys, documentsInParallel, async (key) => {
      const item = items.get(keyText(rowKey(key)));
      return item === undefined ? undefined : (await this.#documents.load(table, item))?.stored;
    });
  }

  commit({ name }: CompiledContainer, request: CommitRequest): Promise<CommitOutcome> {
    return this.#committer.commit(name, request);
  }

  async scan(container: CompiledContainer, request: ScanRequest): Promise<ScanResult> {
    const { range } = request;
    if (range.kind === "partition") return this.#scanner.partition(await this.#definition(container), range, request);
    const { definition, index } = await this.#ready(container, range.index);
    return this.#explained(container, range.index, () => this.#scanner.index(definition, index, range, request));
  }

  async count(container: CompiledContainer, range: ScanRange, now: number): Promise<number> {
    if (range.kind === "partition") return this.#scanner.countPartition(await this.#definition(container), range, now);
    const { definition, index } = await this.#ready(container, range.index);
    return this.#explained(container, range.index, () => this.#scanner.countIndex(definition, index, range, now));
  }

  async changes(container: CompiledContainer, request: FeedRequest): Promise<FeedPage> {
    const { table } = await this.#definition(container);
    return readFeed(this.#dynamo, table, container.name, request);
  }

  async expired(
    container: CompiledContainer,
    now: number,
    limit: number,
    tenants?: TenantFilter,
  ): Promise<readonly StoredKey[]> {
    return findExpired(this.#dynamo, await this.#definition(container), now, limit, tenants);
  }

  async trimFeed(container: CompiledContainer, before: number, limit: number): Promise<number> {
    const { table } = await this.#definition(container);
    return this.#trimmer.trim(table, before, limit);
  }

  async awaitIndex(container: CompiledContainer, index: string, keys: readonly StoredKey[]): Promise<void> {
    const ready = await this.#ready(container, index);
    await awaitIndex(this.#dynamo, ready.definition, ready.index, keys, this.#clock.now(), this.#indexWaitMsMax);
  }

  /** Deletes unreferenced documents in the object store that are older than `graceMs`; call again with `next`. */
  sweepSpills(graceMs: number, after?: string): Promise<SweepResult> {
    return this.#documents.sweep(graceMs, after);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([this.#committer.close(), this.#builder.close()]);
    this.#definitions.forget();
    this.#dynamo.close();
  }

  async #definition({ name, tenant }: CompiledContainer): Promise<Definition> {
    return seenBy(await this.#definitions.current(name), tenant);
  }

  async #ready(container: CompiledContainer, index: string): ReturnType<typeof requireReady> {
    const ready = await requireReady(this.#definitions, container, index, (definition) =>
      this.#builder.state(definition),
    );
    return { ...ready, definition: seenBy(ready.definition, container.tenant) };
  }

  /** The service rejects a query of an index that another process has just dropped: reload, and report it. */
  async #explained<T>(container: CompiledContainer, index: string, read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      if (errorName(error) === "ValidationException") {
        await this.#definitions.refresh(container.name);
        await this.#ready(container, index);
      }
      throw error;
    }
  }
}
