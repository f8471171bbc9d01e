/**
 * Which collections have something unfinished, for all tenants, so that the watchdog finds what a crash left behind without looking at
 * idle ones. An entry is marked again and again while documents come, and whoever marks it relies on it a moment later: two rules for
 * that are here, the rest is the common registry's.
 */
import { WorkRegistry, workContainer, type RegisteredWork } from "../../containers/index.ts";
import type { SystemScope } from "../../domain/scope.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ContainerDefinition, ItemStore } from "../../ports/item-store.ts";

/** No caller can have it: `tenantScope` refuses names that begin so. */
export const knowledgeTenant = "pinakes.knowledge";
/** An entry this young is not put there again by the same process … */
export const freshMs = 5_000;
/** … of which it remembers so many … */
const freshEntriesMax = 10_000;
/** … and one younger than this is never taken away: whoever relied on it has begun by then. */
export const restMs = 60_000;

/** As the first version stored them: what an entry stands for is found by nothing else. */
const fields = { due: "not_before", key: "incarnation", dataBeside: true } as const;

export const knowledgeWorkContainer: ContainerDefinition = workContainer("knowledge-work", fields);

/**
 * `documents`: uploads and ingestions under way; `purge`: a deleted or restored collection, whose stores follow its record, and whose time comes;
 * `operation`: one on all stores; `job`: a job under way; `file`: a file or an upload in parts that may be unfinished, or expires; `expiry`: a
 * collection that expires when nobody uses it.
 */
type UnfinishedKind = "documents" | "purge" | "operation" | "job" | "file" | "expiry";

export interface Unfinished {
  readonly kind: UnfinishedKind;
  readonly tenant: string;
  /** Of a file its owner. */
  readonly repository_id: string;
  readonly collection_id: string;
  /** Of the collection; of a job or a file its id. */
  readonly incarnation: string;
}

export interface RegisteredUnfinished extends Unfinished {
  readonly etag: string;
  readonly marked_at: number;
}

// A type, not an interface: only so it is JSON to the compiler.
type Data = { readonly repository_id: string; readonly collection_id: string; readonly marked_at: number };

export class KnowledgeWork {
  readonly #registry: WorkRegistry<UnfinishedKind, Data>;
  readonly #clock: Clock;
  readonly #marked = new Map<string, number>();

  constructor(items: ItemStore, system: SystemScope, clock: Clock) {
    this.#registry = new WorkRegistry({
      items,
      system,
      container: knowledgeWorkContainer.name,
      tenant: knowledgeTenant,
      fields,
    });
    this.#clock = clock;
  }

  async mark(work: Unfinished, notBefore?: number): Promise<void> {
    const name = nameOf(work);
    const now = this.#clock.now();
    if (notBefore === undefined && now - (this.#marked.get(name) ?? -Infinity) < freshMs) return;
    const { kind, tenant, repository_id, collection_id, incarnation } = work;
    await this.#registry.put({
      kind,
      tenant,
      key: incarnation,
      due_at: notBefore ?? now,
      data: { repository_id, collection_id, marked_at: now },
    });
    if (this.#marked.size > freshEntriesMax) this.#marked.clear();
    if (notBefore === undefined) this.#marked.set(name, now);
  }

  /** Due at another time, unless somebody marked it since it was read. */
  async postpone(
    { etag, kind, tenant, incarnation, repository_id, collection_id, marked_at }: RegisteredUnfinished,
    notBefore: number,
  ): Promise<void> {
    await this.#registry.postpone(
      { kind, tenant, key: incarnation, due_at: notBefore, data: { repository_id, collection_id, marked_at }, etag },
      notBefore,
    );
  }

  /** Unless somebody renewed it since it was read, or may be about to rely on it. */
  async remove(work: RegisteredUnfinished): Promise<void> {
    if (this.#clock.now() - work.marked_at < restMs && (work.kind === "documents" || work.kind === "operation")) return;
    this.#marked.delete(nameOf(work));
    const { kind, tenant, incarnation, etag } = work;
    await this.#registry.remove({ kind, tenant, key: incarnation, etag });
  }

  /** Who has documents that are not done; a tenant may come more than once. */
  async *tenantsWithDocuments(): AsyncGenerator<string> {
    for await (const { kind, tenant } of this.#registry.due(this.#clock.now())) if (kind === "documents") yield tenant;
  }

  async *due(now: number): AsyncGenerator<RegisteredUnfinished> {
    for await (const entry of this.#registry.due(now)) yield unfinished(entry);
  }
}

function unfinished({ kind, tenant, key, data, etag }: RegisteredWork<UnfinishedKind, Data>): RegisteredUnfinished {
  return { kind, tenant, incarnation: key, ...(data as Data), etag };
}

function nameOf({ kind, tenant, incarnation }: Unfinished): string {
  return `${kind}:${tenant}:${incarnation}`;
}
