/**
 * Pending work of all tenants, and when it is due: stored under the system's own tenant, so that a sweep finds due work, or what a crash
 * left behind, without looking at idle tenants. An entry is written before the work begins, and removed only when nothing remains and it
 * was not renewed meanwhile.
 */
import type { JsonObject } from "../domain/json.ts";
import type { Scope, SystemScope } from "../domain/scope.ts";
import { tolerate } from "../runtime/expected-errors.ts";
import type { ContainerDefinition, Item, ItemStore, Operation } from "../ports/item-store.ts";
import { acrossShards, workPlace, type WorkName } from "./work-registry-shards.ts";

export type { WorkName };

/** `data` is what its worker needs to know. */
export interface Work<Kind extends string = string, Data extends JsonObject = JsonObject> extends WorkName<Kind> {
  /** Epoch milliseconds. */
  readonly due_at: number;
  readonly data?: Data;
}
export type RegisteredWork<Kind extends string = string, Data extends JsonObject = JsonObject> = Work<Kind, Data> & {
  readonly etag: string;
};

/** The field names of a stored entry. Containers that are older than this registry have their own, so that their entries stay valid. */
export interface WorkFields {
  /** Default `due_at`. */
  readonly due?: string;
  /** Default `key`. */
  readonly key?: string;
  /** The fields of `data` are stored beside the others, not nested. */
  readonly dataBeside?: boolean;
}

export function workContainer(name: string, { due = "due_at" }: WorkFields = {}): ContainerDefinition {
  return Object.freeze({ name, partitionKey: ["shard"], indexes: { due: { partition: ["shard"], sort: [due] } } });
}

export interface WorkRegistryOptions {
  readonly items: ItemStore;
  readonly system: SystemScope;
  /** The opened container. */
  readonly container: string;
  /** `pinakes.…`: a name that no caller can have. */
  readonly tenant: string;
  /** The same as for `workContainer`. */
  readonly fields?: WorkFields | undefined;
}

export class WorkRegistry<Kind extends string = string, Data extends JsonObject = JsonObject> {
  readonly #items: ItemStore;
  readonly #scope: Scope;
  readonly #container: string;
  readonly #fields: WorkFields;

  constructor({ items, system, container, tenant, fields = {} }: WorkRegistryOptions) {
    this.#items = items;
    this.#scope = system.forTenant(tenant);
    this.#container = container;
    this.#fields = fields;
  }

  /** Adds or renews it: a removal on condition of the earlier entry then fails. */
  async put(work: Work<Kind, Data>): Promise<void> {
    const { shard, id } = workPlace(work);
    await this.#items.write(this.#scope, this.#container, [shard], {
      op: "upsert",
      document: { id, shard, ...toStored(work, this.#fields) },
    });
  }

  /** Only if there is none, or only a later one. */
  async ensure(work: Work<Kind, Data>): Promise<void> {
    const known = await this.read(work);
    if (known === undefined || known.due_at > work.due_at) await this.put(work);
  }

  async read(work: WorkName<Kind>): Promise<RegisteredWork<Kind, Data> | undefined> {
    const { shard, id } = workPlace(work);
    const item = await this.#items.read(this.#scope, this.#container, { partition: [shard], id });
    return item === undefined ? undefined : fromStored(item, this.#fields);
  }

  /** Reschedules the entry, unless it was renewed since it was read. */
  async postpone({ etag, ...work }: RegisteredWork<Kind, Data>, due_at: number): Promise<void> {
    const { shard, id } = workPlace(work);
    const document = { id, shard, ...toStored({ ...work, due_at }, this.#fields) };
    await this.#unlessRenewed(shard, { op: "replace", document, ifMatch: etag });
  }

  /** Removes the entry unless it was renewed since it was read. */
  async remove(work: WorkName<Kind> & { readonly etag: string }): Promise<void> {
    const { shard, id } = workPlace(work);
    await this.#unlessRenewed(shard, { op: "delete", id, ifMatch: work.etag });
  }

  async #unlessRenewed(shard: string, operation: Operation): Promise<void> {
    await tolerate(
      this.#items.write(this.#scope, this.#container, [shard], operation),
      "PRECONDITION_FAILED",
      "NOT_FOUND",
    );
  }

  /**
   * What is due at `now`, of all tenants, the earliest first within each shard. The index may be late, never wrong: read the subject itself
   * before working on it.
   */
  async *due(now: number): AsyncGenerator<RegisteredWork<Kind, Data>> {
    const found = acrossShards(this.#items, this.#scope, this.#container, (shard) => ({
      index: "due",
      equals: { shard },
      range: { lte: now },
    }));
    for await (const item of found) yield fromStored(item, this.#fields);
  }
}

function toStored(
  { kind, tenant, key, due_at, data }: Work,
  { due = "due_at", key: keyField = "key", dataBeside = false }: WorkFields,
): JsonObject {
  const names = { kind, tenant, [keyField]: key, [due]: due_at };
  if (data === undefined) return names;
  // The names come last, so that a worker's data never change the owner or the time.
  return dataBeside ? { ...data, ...names } : { ...names, data };
}

function fromStored<Kind extends string, Data extends JsonObject>(
  { document, etag }: Item,
  { due = "due_at", key: keyField = "key", dataBeside = false }: WorkFields,
): RegisteredWork<Kind, Data> {
  const { id: _id, shard: _shard, kind, tenant, [keyField]: key, [due]: due_at, ...rest } = document;
  const data = dataBeside ? rest : rest["data"];
  return { kind, tenant, key, due_at, ...(data === undefined ? {} : { data }), etag } as RegisteredWork<Kind, Data>;
}
