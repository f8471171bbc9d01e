/**
 * Which collections have something unfinished, for all tenants: kept by the system's own tenant, so that the watchdog finds what a
 * crash left behind without looking at idle collections. An entry is put there before the work begins, and taken away only when
 * nothing is left and nobody renewed it.
 */
import { hash } from "node:crypto";
import { PinakesError } from "../../domain/errors.ts";
import type { Scope, SystemScope } from "../../domain/scope.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ContainerDefinition, ItemStore } from "../../ports/item-store.ts";

/** No caller can have it: `tenantScope` refuses names that begin so. */
export const knowledgeTenant = "pinakes.knowledge";
const shards = 8;
/** An entry this young is not put there again by the same process … */
const freshMs = 5_000;
/** … and one younger than this is never taken away: whoever relied on it has begun by then. */
export const restMs = 60_000;

export const workContainer: ContainerDefinition = Object.freeze({
  name: "knowledge-work",
  partitionKey: ["shard"],
  indexes: { due: { partition: ["shard"], sort: ["not_before"] } },
});

/** `documents`: uploads and ingestions under way; `purge`: a deleted collection whose time comes; `job`: a job under way. */
export type WorkKind = "documents" | "purge" | "job";

export interface Work {
  readonly kind: WorkKind;
  readonly tenant: string;
  readonly repository_id: string;
  readonly collection_id: string;
  readonly incarnation: string;
}

export interface RegisteredWork extends Work {
  readonly etag: string;
  readonly marked_at: number;
}

export class WorkRegistry {
  readonly #items: ItemStore;
  readonly #scope: Scope;
  readonly #clock: Clock;
  readonly #marked = new Map<string, number>();

  constructor(items: ItemStore, system: SystemScope, clock: Clock) {
    this.#items = items;
    this.#scope = system.forTenant(knowledgeTenant);
    this.#clock = clock;
  }

  async mark(work: Work, notBefore?: number): Promise<void> {
    const { shard, id } = place(work);
    const now = this.#clock.now();
    if (notBefore === undefined && now - (this.#marked.get(id) ?? -Infinity) < freshMs) return;
    const { kind, tenant, repository_id, collection_id, incarnation } = work;
    const document = { id, shard, kind, tenant, repository_id, collection_id, incarnation, marked_at: now, not_before: notBefore ?? now };
    await this.#items.write(this.#scope, workContainer.name, [shard], { op: "upsert", document });
    if (this.#marked.size > 10_000) this.#marked.clear();
    if (notBefore === undefined) this.#marked.set(id, now);
  }

  /** Unless somebody renewed it since it was read, or may be about to rely on it. */
  async remove(work: RegisteredWork): Promise<void> {
    if (this.#clock.now() - work.marked_at < restMs && work.kind === "documents") return;
    const { shard, id } = place(work);
    this.#marked.delete(id);
    try {
      await this.#items.write(this.#scope, workContainer.name, [shard], { op: "delete", id, ifMatch: work.etag });
    } catch (error) {
      if (PinakesError.isInstance(error) && (error.code === "PRECONDITION_FAILED" || error.code === "NOT_FOUND")) return;
      throw error;
    }
  }

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
        for (const { document, etag } of page.items) yield { ...(document as unknown as Omit<RegisteredWork, "etag">), etag };
        cursor = page.cursor;
        if (cursor === undefined) break;
      }
    }
  }
}

function place({ kind, tenant, incarnation }: Work): { shard: string; id: string } {
  const id = `${kind}:${tenant}:${incarnation}`;
  return { shard: String((hash("sha256", id, "buffer")[0] as number) % shards), id };
}
