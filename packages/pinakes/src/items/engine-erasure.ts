/** ItemErasure over any engine. */
import { forTenant } from "./compiled-container.ts";
import { setImmediate } from "node:timers/promises";
import { PinakesError } from "../domain/errors.ts";
import { invariant } from "../domain/invariant.ts";
import type { JsonObject } from "../domain/json.ts";
import { limits } from "../domain/limits.ts";
import { requireScope, requireSystemScope, type Scope, type SystemScope } from "../domain/scope.ts";
import { isExpired } from "../domain/ttl.ts";
import type { Clock } from "../ports/clock.ts";
import type {
  ItemErasure,
  KeepExpired,
  ScrubReport,
  StoredContainer,
  WalkedItem,
  WalkOptions,
  WalkPage,
} from "../ports/item-erasure.ts";
import type { ItemKey, Partition } from "../ports/item-store.ts";
import type { CompiledContainer } from "./compiled-container.ts";
import { idKeyOf } from "./id-key.ts";
import type { ItemEngine, StoredItem, StoredKey } from "./item-engine.ts";
import { partitionText } from "./prepare.ts";

const rowsPerPage = 500;
/** Keys of one search of the feed, which examines all of the tenant's entries. */
const keysPerSearch = 10_000;

export interface EngineErasureOptions {
  readonly engine: ItemEngine;
  readonly clock: Clock;
  readonly requireOpen: () => void;
  /** Removes rows whether or not they have expired. */
  readonly remove: (container: CompiledContainer, tenant: string, keys: readonly StoredKey[]) => Promise<void>;
}

export class EngineErasure implements ItemErasure {
  readonly #options: EngineErasureOptions;
  #keep: KeepExpired | undefined;

  constructor(options: EngineErasureOptions) {
    this.#options = options;
  }

  async containers(): Promise<readonly StoredContainer[]> {
    this.#options.requireOpen();
    const found = await this.#options.engine.definitions();
    return found.map(({ name, feed }) => ({ name, feed })).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  async walk(scope: Scope, container: string, options: WalkOptions = {}): Promise<WalkPage> {
    const tenant = requireSystemsOwn(scope);
    const { ttl } = forTenant(await this.#container(container), tenant);
    const { cursor, limit = rowsPerPage } = options;
    const { engine, clock } = this.#options;
    const page = await engine.dump(container, cursor, Math.min(limit, limits.purgeItemsMax), tenant);
    await setImmediate();
    const now = clock.now();
    const rows = page.rows.map((row) => walked(tenant, row, isExpired(ttl, row.ttl, row.modifiedAt, now)));
    return { rows, cursor: page.cursor };
  }

  async remove(scope: Scope, container: string, keys: readonly ItemKey[]): Promise<number> {
    const tenant = requireSystemsOwn(scope);
    const target = await this.#container(container);
    let removed = 0;
    for (let at = 0; at < keys.length; at += limits.readManyKeysMax) {
      const some = keys.slice(at, at + limits.readManyKeysMax).map((key) => storedKey(tenant, key));
      const found = await this.#options.engine.readMany(target, some);
      const present = some.filter((_, i) => found[i] !== undefined);
      await this.#options.remove(target, tenant, present);
      removed += present.length;
    }
    return removed;
  }

  async forget(scope: Scope, container: string, keys: readonly ItemKey[]): Promise<number> {
    const tenant = requireSystemsOwn(scope);
    const target = await this.#container(container);
    if (!target.feed) return 0;
    let forgotten = 0;
    for (let at = 0; at < keys.length; at += keysPerSearch) {
      const some = keys.slice(at, at + keysPerSearch).map((key) => storedKey(tenant, key));
      forgotten += await this.#options.engine.forgetFeed(target, tenant, some);
    }
    return forgotten;
  }

  beforePurge(keep: KeepExpired): void {
    this.#keep = keep;
  }

  /** Of any tenant. */
  async keepExpired(container: CompiledContainer, keys: readonly StoredKey[]): Promise<void> {
    if (this.#keep === undefined) return;
    for (const [tenant, some] of Map.groupBy(keys, tenantOf)) {
      const rows = await this.#options.engine.readMany(container, some);
      const found = rows.flatMap((row) => (row === undefined ? [] : [walked(tenant, row, true)]));
      if (found.length > 0) await this.#keep(tenant, container.name, found);
    }
  }

  async scrub(scope: SystemScope): Promise<ScrubReport> {
    requireSystemScope(scope);
    this.#options.requireOpen();
    return this.#options.engine.scrub();
  }

  /** Also one that only another process has opened so far. */
  async #container(name: string): Promise<CompiledContainer> {
    this.#options.requireOpen();
    const { engine } = this.#options;
    const known = engine.container(name, true);
    if (known !== undefined) return known;
    const definition = (await engine.definitions()).find((one) => one.name === name);
    if (definition === undefined) throw new PinakesError("NOT_FOUND", `There is no container "${name}" in this store.`);
    await engine.openContainer(definition, {});
    const opened = engine.container(name);
    invariant(opened !== undefined, "INTERNAL", "a container that was opened exists");
    return opened;
  }
}

/** Rows that no reader sees, and removal past every rule of the features: not for callers. */
function requireSystemsOwn(scope: Scope): string {
  const tenant = requireScope(scope);
  if (scope.systemReason !== undefined) return tenant;
  throw new PinakesError("FORBIDDEN", "Only the system's own work walks and erases rows past the features.");
}

function tenantOf({ pk }: StoredKey): string {
  return (JSON.parse(pk) as [string])[0];
}

function storedKey(tenant: string, { partition, id }: ItemKey): StoredKey {
  return { pk: partitionText(tenant, partition), idKey: idKeyOf(id) };
}

function walked(tenant: string, { pk, etag, modifiedAt, json }: StoredItem, expired: boolean): WalkedItem {
  const [owner, ...partition] = JSON.parse(pk) as [string, ...Partition];
  invariant(owner === tenant, "INTERNAL", "a scan reads only rows of its own tenant");
  const document = JSON.parse(json) as JsonObject;
  return { partition, id: document["id"] as string, etag, modifiedAt, expired, document };
}
