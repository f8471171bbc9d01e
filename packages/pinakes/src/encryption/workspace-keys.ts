/**
 * The data keys of workspaces, wrapped under the master key, as items (RFC 0019).
 *
 * Invariants
 * - a key is stored before the first object that needs it, in one batch with the pointer that makes it current;
 * - a key id is never reused, so a destroyed key cannot come back;
 * - a process keeps an unwrapped key for at most `keptMs`: then the items decide again.
 */
import { randomBytes } from "node:crypto";
import { invalid, PinakesError } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Scope } from "../domain/scope.ts";
import type { DataKey, ObjectKeys } from "../objects/encryption/object-keys.ts";
import type { Clock } from "../ports/clock.ts";
import type { ContainerDefinition, Item, ItemStore, Operation } from "../ports/item-store.ts";
import { conflictCodes, isConflict, tolerate } from "../runtime/expected-errors.ts";
import { itemsOf } from "../runtime/pages.ts";
import type { MasterKeys } from "./master-keys.ts";

export const workspaceKeysContainer: ContainerDefinition = Object.freeze({
  name: "workspace-keys",
  partitionKey: ["kind"],
});
/** A tenant name that no caller can use. */
export const keysTenant = "pinakes.keys";

const kind = "key";
const partition = [kind];
const formatVersion = 1;
const keyBytes = 32;
const keyIdBytes = 16;
const keptMs = 30_000;
const keptMax = 10_000;
const pageItems = 500;
const storeId = ":store";

export interface KeyStores {
  readonly items: ItemStore;
  /** In the tenant `keysTenant`. */
  readonly scope: Scope;
  /** Whether objects may already have been written with it. */
  readonly hasObjects: boolean;
}

export interface WorkspaceKeyInfo {
  readonly owner: string;
  readonly key_id: string;
  /** Whether new objects use it. */
  readonly current: boolean;
  readonly master_id: string;
  readonly created_at: string;
}

interface Kept<Value> {
  readonly value: Value;
  readonly until: number;
}

export class WorkspaceKeys implements ObjectKeys {
  readonly #master: MasterKeys;
  readonly #clock: Clock;
  readonly #current = new Map<string, Kept<Promise<DataKey>>>();
  readonly #byId = new Map<string, Kept<Promise<DataKey>>>();
  #stores: KeyStores | undefined;

  constructor(master: MasterKeys, clock: Clock) {
    this.#master = master;
    this.#clock = clock;
  }

  /** Called once, before the first object is read or written. Refuses a store that is not encrypted, and wraps keys under the current master key. */
  async open(stores: KeyStores): Promise<void> {
    this.#stores = stores;
    const { items, scope, hasObjects } = stores;
    await items.openContainer(workspaceKeysContainer);
    if (!(await isEncryptedStore(items, scope))) {
      if (hasObjects)
        throw invalid(
          "The objects of this store are not encrypted, but a master key is set. Copy the store into a new encrypted one: " +
            "pinakes migrate engine … --to-master-key-file FILE. Or start without PINAKES_MASTER_KEY_FILE.",
        );
      const document = { id: storeId, kind, format: formatVersion, created_at: this.#now() };
      await this.#write({ op: "create", document });
    }
    await this.#wrapAgain();
  }

  async current(owner: string): Promise<DataKey> {
    return this.#kept(this.#current, owner, async () => {
      const pointer = await this.#read(`${owner}:current`);
      if (pointer === undefined) return this.#create(owner, undefined);
      return this.byId(owner, Buffer.from(pointer.document["key_id"] as string, "hex"));
    });
  }

  async byId(owner: string, id: Uint8Array): Promise<DataKey> {
    const name = keyName(owner, Buffer.from(id).toString("hex"));
    return this.#kept(this.#byId, name, async () => {
      const item = await this.#read(name);
      if (item === undefined)
        throw new PinakesError(
          "NOT_FOUND",
          `The key ${name}, which encrypts this object, does not exist: it was destroyed with its workspace, or belongs to another store.`,
        );
      return this.#unwrap(item);
    });
  }

  /** New objects of the owner use a new key from now on; in other processes within 30 seconds. */
  async rotate(owner: string): Promise<WorkspaceKeyInfo> {
    const pointer = await this.#read(`${owner}:current`);
    const { id } = await this.#create(owner, pointer?.etag);
    this.#forget(owner);
    const keyId = Buffer.from(id).toString("hex");
    const found = (await this.list(owner)).find(({ key_id }) => key_id === keyId);
    if (found === undefined)
      throw new PinakesError("UNAVAILABLE", `Another process rotated the key of ${owner} at the same time.`);
    return found;
  }

  /** Everything encrypted with the owner's keys becomes unreadable: here at once, in other processes within 30 seconds. */
  async destroy(owner: string): Promise<{ readonly destroyed: number }> {
    const keys = await this.list(owner);
    const names = [`${owner}:current`, ...keys.map(({ key_id }) => keyName(owner, key_id))];
    for (const id of names) await this.#write({ op: "delete", id });
    this.#forget(owner);
    return { destroyed: keys.length };
  }

  /** Keys of one owner, or of all, ordered by owner. */
  async list(owner?: string): Promise<readonly WorkspaceKeyInfo[]> {
    const infos: WorkspaceKeyInfo[] = [];
    const current = new Set<string>();
    for await (const { id, document } of this.#items(owner)) {
      if (id === storeId) continue;
      if (id.endsWith(":current")) current.add(keyName(id.slice(0, -":current".length), document["key_id"] as string));
      else infos.push(infoOf(document));
    }
    return infos.map((info) => ({ ...info, current: current.has(keyName(info.owner, info.key_id)) }));
  }

  async #create(owner: string, replaced: string | undefined): Promise<DataKey> {
    const { items, scope } = this.#opened();
    const id = randomBytes(keyIdBytes);
    const key = randomBytes(keyBytes);
    const keyId = id.toString("hex");
    const name = keyName(owner, keyId);
    const shared = { kind, format: formatVersion };
    const document = {
      ...shared,
      id: name,
      owner,
      key_id: keyId,
      ...this.#master.wrap(key, name),
      created_at: this.#now(),
    };
    const pointer = { ...shared, id: `${owner}:current`, key_id: keyId };
    try {
      await items.batch(scope, workspaceKeysContainer.name, partition, [
        { op: "create", document },
        replaced === undefined
          ? { op: "create", document: pointer }
          : { op: "replace", document: pointer, ifMatch: replaced },
      ]);
      return { id, key };
    } catch (error) {
      // Another process created a key first: that key is the current one.
      if (!isConflict(error)) throw error;
      const winner = await this.#read(`${owner}:current`);
      if (winner === undefined) return this.#create(owner, undefined);
      return this.byId(owner, Buffer.from(winner.document["key_id"] as string, "hex"));
    }
  }

  /** Rewraps all keys under the current master key. One that changes meanwhile was rewrapped by another process. */
  async #wrapAgain(): Promise<void> {
    for await (const item of this.#items()) {
      const { document, etag, id } = item;
      const masterId = document["master_id"];
      if (typeof masterId !== "string") continue;
      if (!this.#master.has(masterId)) throw this.#master.missing(masterId);
      if (masterId === this.#master.currentId) continue;
      const { key } = this.#unwrap(item);
      const wrapped = { ...document, ...this.#master.wrap(key, id) };
      await this.#write({ op: "replace", document: wrapped, ifMatch: etag });
    }
  }

  #unwrap({ id, document }: Item): DataKey {
    const { wrapped, master_id, key_id } = document as { wrapped: string; master_id: string; key_id: string };
    if (document["format"] !== formatVersion)
      throw new PinakesError(
        "NOT_SUPPORTED",
        `The data key ${id} has format ${JSON.stringify(document["format"])}; this release reads ${formatVersion}.`,
      );
    return { id: Buffer.from(key_id, "hex"), key: this.#master.unwrap(wrapped, master_id, id) };
  }

  async *#items(owner?: string): AsyncGenerator<Item, void> {
    const { items, scope } = this.#opened();
    const range = owner === undefined ? {} : { range: { gte: `${owner}:`, lt: `${owner};` } };
    yield* itemsOf((cursor) =>
      items.query(scope, workspaceKeysContainer.name, { equals: { kind }, ...range, limit: pageItems, cursor }),
    );
  }

  /** If another process was first, its write is used. */
  async #write(operation: Operation): Promise<void> {
    const { items, scope } = this.#opened();
    await tolerate(items.write(scope, workspaceKeysContainer.name, partition, operation), ...conflictCodes);
  }

  #read(id: string): Promise<Item | undefined> {
    const { items, scope } = this.#opened();
    return items.read(scope, workspaceKeysContainer.name, { partition, id });
  }

  #kept(cache: Map<string, Kept<Promise<DataKey>>>, name: string, load: () => Promise<DataKey>): Promise<DataKey> {
    const now = this.#clock.now();
    const known = cache.get(name);
    if (known !== undefined && known.until > now) return known.value;
    if (cache.size >= keptMax) cache.clear();
    const value = load();
    cache.set(name, { value, until: now + keptMs });
    // A failure is not cached: the next call reads again.
    value.catch(() => {
      if (cache.get(name)?.value === value) cache.delete(name);
    });
    return value;
  }

  #forget(owner: string): void {
    this.#current.delete(owner);
    for (const name of this.#byId.keys()) if (name.startsWith(`${owner}:`)) this.#byId.delete(name);
  }

  #opened(): KeyStores {
    if (this.#stores === undefined)
      throw new PinakesError("UNAVAILABLE", "The data keys are not open yet: objects cannot be read or written.");
    return this.#stores;
  }

  #now(): string {
    return new Date(this.#clock.now()).toISOString();
  }
}

/** Whether the items mark the objects as encrypted. The container is open. */
export async function isEncryptedStore(items: ItemStore, scope: Scope): Promise<boolean> {
  return (await items.read(scope, workspaceKeysContainer.name, { partition, id: storeId })) !== undefined;
}

function keyName(owner: string, keyId: string): string {
  return `${owner}:${keyId}`;
}

function infoOf(document: JsonObject): WorkspaceKeyInfo {
  const { owner, key_id, master_id, created_at } = document as Record<string, string>;
  return { owner, key_id, master_id, created_at, current: false } as WorkspaceKeyInfo;
}
