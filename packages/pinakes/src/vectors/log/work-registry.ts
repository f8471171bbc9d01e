/**
 * Which collections have work to do, for all tenants (RFC 0001, "Append"): kept by the system's own tenant, so that a sweep finds a
 * collection with pending deltas, garbage or a purge without looking at idle ones.
 */
import { hash } from "node:crypto";
import { PinakesError } from "../../domain/errors.ts";
import type { Scope, SystemScope } from "../../domain/scope.ts";
import type { ContainerDefinition, ItemStore } from "../../ports/item-store.ts";

/** No caller can have it: `tenantScope` refuses names that begin so. */
const systemTenant = "pinakes.system";
const shards = 8;

export const workContainer: ContainerDefinition = Object.freeze({
  name: "vector-work",
  partitionKey: ["shard"],
  indexes: { due: { partition: ["shard"], sort: ["notBefore"] } },
});

export type WorkKind = "compact" | "collect" | "purge";

export interface Work {
  readonly kind: WorkKind;
  readonly tenant: string;
  readonly collection: string;
  readonly notBefore: number;
}

export interface RegisteredWork extends Work {
  readonly etag: string;
}

export class WorkRegistry {
  readonly #items: ItemStore;
  readonly #scope: Scope;

  constructor(items: ItemStore, system: SystemScope) {
    this.#items = items;
    this.#scope = system.forTenant(systemTenant);
  }

  /** Puts it there, or renews it: a removal on condition of the earlier entry then fails. */
  async put(work: Work): Promise<void> {
    const { shard, id } = place(work);
    await this.#items.write(this.#scope, workContainer.name, [shard], { op: "upsert", document: { id, shard, ...work } });
  }

  /** Only if there is none: one that is there is early enough. */
  async ensure(work: Work): Promise<void> {
    if ((await this.read(work)) === undefined) await this.put(work);
  }

  async read(work: Pick<Work, "kind" | "tenant" | "collection">): Promise<RegisteredWork | undefined> {
    const { shard, id } = place(work);
    const item = await this.#items.read(this.#scope, workContainer.name, { partition: [shard], id });
    return item === undefined ? undefined : { ...(item.document as unknown as Work), etag: item.etag };
  }

  /** Takes the entry away unless somebody renewed it since it was read. */
  async remove(work: RegisteredWork): Promise<void> {
    const { shard, id } = place(work);
    try {
      await this.#items.write(this.#scope, workContainer.name, [shard], { op: "delete", id, ifMatch: work.etag });
    } catch (error) {
      if (PinakesError.isInstance(error) && (error.code === "PRECONDITION_FAILED" || error.code === "NOT_FOUND")) return;
      throw error;
    }
  }

  /** What is due at `now`, of all tenants. The index may be late, never wrong: the entry is read again before it is worked on. */
  async *due(now: number): AsyncGenerator<RegisteredWork> {
    for (let shard = 0; shard < shards; shard += 1) {
      for (let cursor: string | undefined; ;) {
        const page = await this.#items.query(this.#scope, workContainer.name, {
          index: "due",
          equals: { shard: String(shard) },
          range: { lte: now },
          limit: 500,
          cursor,
        });
        for (const { document, etag } of page.items) yield { ...(document as unknown as Work), etag };
        cursor = page.cursor;
        if (cursor === undefined) break;
      }
    }
  }
}

function place({ kind, tenant, collection }: Pick<Work, "kind" | "tenant" | "collection">): { shard: string; id: string } {
  const id = `${kind}:${tenant}:${collection}`;
  return { shard: String((hash("sha256", id, "buffer")[0] as number) % shards), id };
}
