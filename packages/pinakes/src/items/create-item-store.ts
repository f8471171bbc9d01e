/**
 * An ItemStore over any ItemEngine. It does everything that must be the same on every engine: scope first, validation before anything is
 * written, time to live, cursors, session tokens, errors. Engines only store and find.
 */
import { PinakesError, inBatch, invalid, show } from "../domain/errors.ts";
import { invariant } from "../domain/invariant.ts";
import type { JsonObject } from "../domain/json.ts";
import { limits } from "../domain/limits.ts";
import { requireScope, requireSystemScope, type Scope, type SystemScope } from "../domain/scope.ts";
import { isExpired } from "../domain/ttl.ts";
import { setImmediate } from "node:timers/promises";
import { systemClock, type Clock } from "../ports/clock.ts";
import type * as port from "../ports/item-store.ts";
import { changesPage } from "./changes-page.ts";
import { EngineErasure } from "./engine-erasure.ts";
import { forTenant, normaliseDefinition, type CompiledContainer } from "./compiled-container.ts";
import { changeDefaultTtl, defaultTtlOf, expiredKeys } from "./default-ttl.ts";
import { checkId, idKeyOf } from "./id-key.ts";
import type { ItemEngine, StoredItem, StoredKey } from "./item-engine.ts";
import type { PreparedOperation } from "./plan-batch.ts";
import { checkPartition, partitionText } from "./prepare.ts";
import { Operations } from "./operations.ts";
import { queryPage } from "./query-page.ts";
import { planQuery } from "./query-plan.ts";
import { Tokens } from "./tokens.ts";

export interface ItemStoreOptions {
  readonly clock?: Clock | undefined;
}

export async function createItemStore(engine: ItemEngine, options: ItemStoreOptions = {}): Promise<port.ItemStore> {
  return new EngineItemStore(engine, new Tokens(await engine.signingKey()), options.clock ?? systemClock);
}

const parseBytesPerTurn = 1_048_576;
const trimStepsMax = 100;
const removeConcurrency = 16;

class EngineItemStore implements port.ItemStore {
  readonly capabilities: port.ItemStoreCapabilities;
  readonly erasure: EngineErasure;
  readonly #engine: ItemEngine;
  readonly #tokens: Tokens;
  readonly #clock: Clock;
  readonly #operations: Operations;
  #closed = false;

  constructor(engine: ItemEngine, tokens: Tokens, clock: Clock) {
    this.capabilities = Object.freeze({ ...engine.capabilities });
    this.#engine = engine;
    this.#tokens = tokens;
    this.#clock = clock;
    this.#operations = new Operations(engine.capabilities.batchOperationsMax);
    this.erasure = new EngineErasure({
      engine,
      clock,
      requireOpen: () => this.#requireOpen(),
      remove: (container, tenant, keys) => this.#removeRows(container, "remove", tenant, keys),
    });
  }

  async openContainer(definition: port.ContainerDefinition, options?: port.OpenContainerOptions): Promise<void> {
    this.#requireOpen();
    await this.#engine.openContainer(normaliseDefinition(definition), {
      dropUndeclaredIndexes: options?.dropUndeclaredIndexes === true,
    });
  }

  defaultTtl(scope: Scope, container: string): port.DefaultTtl {
    return defaultTtlOf(this.#container(container), requireScope(scope));
  }

  async setDefaultTtl(scope: Scope, container: string, ttl: number | null): Promise<void> {
    const tenant = requireScope(scope);
    await changeDefaultTtl(this.#engine, this.#container(container, undefined, true), tenant, ttl);
  }

  async indexes(container: string): Promise<readonly port.IndexStatus[]> {
    return this.#engine.indexes(this.#container(container));
  }

  async read(
    scope: Scope,
    container: string,
    key: port.ItemKey,
    options?: port.ReadOptions,
  ): Promise<port.Item | undefined> {
    const tenant = requireScope(scope);
    const target = this.#container(container, tenant);
    if (options?.session !== undefined) this.#session(target, tenant, options.session);
    const found = this.#engine.read(target, storedKey(target, tenant, key));
    const stored = found instanceof Promise ? await found : found;
    return stored === undefined || this.#expired(target, stored) ? undefined : toItem(stored, key.id);
  }

  async readRaw(
    scope: Scope,
    container: string,
    key: port.ItemKey,
    options?: port.ReadOptions,
  ): Promise<port.RawItem | undefined> {
    const tenant = requireScope(scope);
    const target = this.#container(container, tenant);
    if (options?.session !== undefined) this.#session(target, tenant, options.session);
    const found = this.#engine.readRaw(target, storedKey(target, tenant, key));
    const stored = found instanceof Promise ? await found : found;
    if (stored === undefined || this.#expired(target, stored)) return undefined;
    return { id: key.id, etag: stored.etag, modifiedAt: stored.modifiedAt, bytes: stored.bytes };
  }

  async readMany(
    scope: Scope,
    container: string,
    keys: readonly port.ItemKey[],
  ): Promise<readonly (port.Item | undefined)[]> {
    const tenant = requireScope(scope);
    const target = this.#container(container, tenant);
    if (!Array.isArray(keys) || keys.length > limits.readManyKeysMax)
      throw invalid(`readMany takes an array of at most ${limits.readManyKeysMax} keys.`);
    const stored = await this.#engine.readMany(
      target,
      keys.map((key: port.ItemKey) => storedKey(target, tenant, key)),
    );
    const items: (port.Item | undefined)[] = [];
    let bytes = 0;
    for (const row of stored) {
      items.push(row === undefined || this.#expired(target, row) ? undefined : toItem(row));
      bytes += row?.json.length ?? 0;
      // Parsing many large documents takes a while; yields to the event loop in between.
      if (bytes > parseBytesPerTurn) [bytes] = [0, await setImmediate()];
    }
    return items;
  }

  async write(
    scope: Scope,
    container: string,
    partition: port.Partition,
    operation: port.Operation,
  ): Promise<port.WriteResult> {
    const tenant = requireScope(scope);
    const { results, keys } = await this.#commit(tenant, this.#container(container), partition, [operation], false);
    return this.#withSession(results[0] as port.OperationResult, tenant, container, keys);
  }

  /** The token is created on demand: most callers of an engine with strong reads never look at it. */
  #withSession<Result extends object>(
    result: Result,
    tenant: string,
    container: string,
    keys: readonly StoredKey[],
  ): Result & { readonly session: string } {
    const tokens = this.#tokens;
    const eventual = this.#eventual;
    return {
      ...result,
      get session() {
        return tokens.seal("session token", tenant, sessionPayload(container, eventual ? keys : []));
      },
    };
  }

  async batch(
    scope: Scope,
    container: string,
    partition: port.Partition,
    operations: readonly port.Operation[],
  ): Promise<port.BatchResult> {
    const tenant = requireScope(scope);
    const { results, keys } = await this.#commit(tenant, this.#container(container), partition, operations, true);
    return this.#withSession({ results }, tenant, container, keys);
  }

  async query(scope: Scope, container: string, query: port.Query): Promise<port.Page> {
    const tenant = requireScope(scope);
    const target = this.#container(container, tenant, true);
    const plan = planQuery(target, tenant, query);
    if (query.session !== undefined) await this.#awaitSession(target, tenant, query.session, query.index);
    return queryPage(
      { engine: this.#engine, tokens: this.#tokens, container: target, tenant, now: this.#clock.now() },
      plan,
      query.cursor,
      query.resumable === true,
    );
  }

  async count(scope: Scope, container: string, query: Omit<port.Query, "limit" | "cursor" | "order">): Promise<number> {
    const tenant = requireScope(scope);
    const target = this.#container(container, tenant, true);
    const plan = planQuery(target, tenant, query);
    if (query.session !== undefined) await this.#awaitSession(target, tenant, query.session, query.index);
    if (plan.predicate === undefined) return this.#engine.count(target, plan.range, this.#clock.now());
    const context = { engine: this.#engine, tokens: this.#tokens, container: target, tenant, now: this.#clock.now() };
    let total = 0;
    let cursor: string | undefined;
    do {
      const page: port.Page = await queryPage(context, { ...plan, limit: limits.pageItemsMax }, cursor);
      total += page.items.length;
      cursor = page.cursor;
    } while (cursor !== undefined);
    return total;
  }

  async deletePartition(
    scope: Scope,
    container: string,
    partition: port.Partition,
    options?: { limit?: number },
  ): Promise<{ deleted: number; done: boolean }> {
    const tenant = requireScope(scope);
    const target = this.#container(container, tenant);
    const limit = checkBound(options?.limit, limits.purgeItemsMax);
    const pk = partitionText(tenant, checkPartition(target, partition));
    // Time 0: nothing has expired yet, so rows that wait for their purge are found too.
    const { rows, done } = await this.#engine.scan(target, {
      range: { kind: "partition", pk, lower: "", upper: undefined },
      reverse: false,
      limit,
      bytesMax: limits.pageBytesMax,
      now: 0,
    });
    await this.#removeRows(target, "remove", tenant, rows);
    return { deleted: rows.length, done };
  }

  async changes(scope: Scope, container: string, options?: port.ChangesOptions): Promise<port.ChangePage> {
    const tenant = requireScope(scope);
    const target = this.#container(container, tenant, true);
    if (!target.feed)
      throw new PinakesError(
        "NOT_SUPPORTED",
        `Container "${container}" keeps no change feed; declare it with feed: true.`,
      );
    return changesPage(
      { engine: this.#engine, tokens: this.#tokens, container: target, tenant, now: this.#clock.now() },
      options ?? {},
    );
  }

  async purgeExpired(scope: SystemScope, container: string, options?: { limit?: number }): Promise<port.PurgeResult> {
    requireSystemScope(scope);
    const target = this.#container(container);
    const limit = checkBound(options?.limit, limits.purgeItemsMax);
    const now = this.#clock.now();
    if (target.feed) await this.#trimFeed(target, now - limits.feedRetentionMs);
    if (target.ttl === null) return { purged: 0, backlog: 0 };
    const keys = await expiredKeys(this.#engine, target, now, limit);
    await this.erasure.keepExpired(target, keys);
    await this.#removeRows(target, "purge", undefined, keys);
    const backlog =
      keys.length < limit ? 0 : (await expiredKeys(this.#engine, target, now, limits.purgeItemsMax)).length;
    return { purged: keys.length, backlog };
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#engine.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  get #eventual(): boolean {
    return this.capabilities.indexReads === "eventual";
  }

  #requireOpen(): void {
    if (this.#closed)
      throw new PinakesError("UNAVAILABLE", "This store is closed; open it again.", { retryable: false });
  }

  /** `fresh` if a plan depends on the definition: another process may have changed it a moment ago. */
  #container(name: string, tenant?: string, fresh = false): CompiledContainer {
    this.#requireOpen();
    const container = this.#engine.container(name, fresh);
    if (container === undefined)
      throw new PinakesError(
        "NOT_FOUND",
        `There is no container ${show(name)} here; open it first with openContainer().`,
      );
    return tenant === undefined ? container : forTenant(container, tenant);
  }

  #expired(container: CompiledContainer, { ttl, modifiedAt }: { ttl: number | null; modifiedAt: number }): boolean {
    return container.ttl !== null && isExpired(container.ttl, ttl, modifiedAt, this.#clock.now());
  }

  async #commit(
    tenant: string,
    container: CompiledContainer,
    partition: port.Partition,
    operations: readonly port.Operation[],
    asBatch: boolean,
  ) {
    const pk = partitionText(tenant, checkPartition(container, partition));
    const prepared = this.#operations.prepare(container, tenant, pk, operations, asBatch);
    const now = this.#clock.now();
    const outcome = await this.#engine.commit(container, { tenant, pk, now, operations: prepared });
    if (!outcome.ok) {
      const { index, code, detail, currentEtag } = outcome.failure;
      const error = new PinakesError(code, detail, currentEtag === undefined ? {} : { currentEtag });
      throw asBatch ? inBatch(error, index, operations.length) : error;
    }
    invariant(
      outcome.results.length === operations.length,
      "INTERNAL",
      "the engine returned fewer results than operations",
    );
    const documents = new Map(
      outcome.results.flatMap(({ id, json }) =>
        json === undefined ? [] : [[id, JSON.parse(json) as JsonObject] as const],
      ),
    );
    const results = outcome.results.map(({ id, etag }, i): port.OperationResult => {
      const document = prepared[i]?.op === "patch" ? documents.get(id) : undefined;
      return {
        id,
        ...(etag === undefined ? {} : { etag, modifiedAt: now }),
        ...(document === undefined ? {} : { document }),
      };
    });
    return {
      results,
      keys: prepared.filter(({ op }) => op !== "check").map(({ idKey }): StoredKey => ({ pk, idKey })),
    };
  }

  /** In bounded steps, up to a maximum: a sweep must keep up with a busy feed. */
  async #trimFeed(container: CompiledContainer, before: number): Promise<void> {
    for (let step = 0; step < trimStepsMax; step += 1) {
      if ((await this.#engine.trimFeed(container, before, limits.purgeItemsMax)) < limits.purgeItemsMax) return;
    }
  }

  /** In batches, each within one partition, several partitions at a time. */
  async #removeRows(
    container: CompiledContainer,
    op: "remove" | "purge",
    tenant: string | undefined,
    keys: readonly StoredKey[],
  ): Promise<void> {
    const now = this.#clock.now();
    const partitions = [...Map.groupBy(keys, ({ pk }) => pk)];
    const next = async (): Promise<void> => {
      for (let entry = partitions.pop(); entry !== undefined; entry = partitions.pop()) await remove(...entry);
    };
    const remove = async (pk: string, rows: readonly StoredKey[]): Promise<void> => {
      const owner = tenant ?? (JSON.parse(pk) as [string])[0];
      for (let start = 0; start < rows.length; start += this.capabilities.batchOperationsMax) {
        const operations = rows
          .slice(start, start + this.capabilities.batchOperationsMax)
          .map(({ idKey }): PreparedOperation => ({ op, id: idKey, idKey, etag: this.#operations.nextEtag() }));
        await this.#engine.commit(container, { tenant: owner, pk, now, operations });
      }
    };
    await Promise.all(Array.from({ length: removeConcurrency }, next));
  }

  /** The writes that the tokens identify. A token of another tenant or container is rejected at once. */
  #session(container: CompiledContainer, tenant: string, session: port.SessionTokens): StoredKey[] {
    const tokens = typeof session === "string" ? [session] : session;
    if (!Array.isArray(tokens)) throw invalid("session: must be a token or a list of tokens.");
    return tokens.flatMap((token: string) => {
      const payload = this.#tokens.open("session token", tenant, token);
      if (payload["c"] !== container.name)
        throw invalid(
          `The session token belongs to container "${payload["c"] as string}", not to "${container.name}".`,
        );
      return (payload["k"] as string[]).map((idKey) => ({ pk: payload["p"] as string, idKey }));
    });
  }

  async #awaitSession(
    container: CompiledContainer,
    tenant: string,
    session: port.SessionTokens,
    index: string | undefined,
  ): Promise<void> {
    const keys = this.#session(container, tenant, session);
    if (index !== undefined && keys.length > 0) await this.#engine.awaitIndex?.(container, index, keys);
  }
}

function sessionPayload(container: string, keys: readonly StoredKey[]): JsonObject {
  // All keys of a write are of one partition, which is named once.
  return { c: container, p: keys[0]?.pk ?? "", k: keys.map(({ idKey }) => idKey) };
}

function storedKey(container: CompiledContainer, tenant: string, key: port.ItemKey): StoredKey {
  if (typeof key !== "object" || key === null) throw invalid("A key must be an object with partition and id.");
  return { pk: partitionText(tenant, checkPartition(container, key.partition)), idKey: idKeyOf(checkId(key.id)) };
}

function toItem(stored: StoredItem, id?: string): port.Item {
  const document = JSON.parse(stored.json) as JsonObject;
  invariant(
    id === undefined || document["id"] === id,
    "CORRUPT",
    `the item under key "${stored.idKey}" has another id`,
  );
  return { id: document["id"] as string, etag: stored.etag, modifiedAt: stored.modifiedAt, document };
}

function checkBound(limit: number | undefined, max: number): number {
  if (limit === undefined) return max;
  if (Number.isInteger(limit) && limit >= 1 && limit <= max) return limit;
  throw invalid(`limit: must be a whole number from 1 to ${max}, got ${show(limit)}.`);
}
