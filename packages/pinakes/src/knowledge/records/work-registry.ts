/**
 * The collections with unfinished work, of all tenants, so that the watchdog finds what a crash left behind without scanning idle ones.
 * While documents arrive an entry is marked repeatedly, and its markers rely on it shortly after: the two rules for that are here, the rest
 * is in the shared registry.
 */
import { WorkRegistry, workContainer, type RegisteredWork } from "../../containers/index.ts";
import type { SystemScope } from "../../domain/scope.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ContainerDefinition, ItemStore } from "../../ports/item-store.ts";

/** No caller can have this tenant: `tenantScope` refuses names with this prefix. */
export const knowledgeTenant = "pinakes.knowledge";
/** A process does not rewrite an entry younger than this … */
export const freshMs = 5_000;
/** … and remembers at most this many … */
const freshEntriesMax = 10_000;
/** … and an entry younger than this is never removed: work that relies on it has started by then. */
export const restMs = 60_000;

/** The stored format of the first version; keys derive from these fields. */
const fields = { due: "not_before", key: "incarnation", dataBeside: true } as const;

export const knowledgeWorkContainer: ContainerDefinition = workContainer("knowledge-work", fields);

/**
 * `documents`: uploads and ingestions in progress; `purge`: a deleted or restored collection, whose stores follow its record until it is
 * due; `operation`: an operation on all stores; `job`: a job in progress; `file`: a file or
 * an upload in parts that may be unfinished, or expires; `expiry`: a collection that expires when it is not used.
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

// A type, not an interface: only a type is assignable to JSON.
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

  /** Changes the due time, unless the entry was marked since it was read. */
  async postpone(
    { etag, kind, tenant, incarnation, repository_id, collection_id, marked_at }: RegisteredUnfinished,
    notBefore: number,
  ): Promise<void> {
    await this.#registry.postpone(
      { kind, tenant, key: incarnation, due_at: notBefore, data: { repository_id, collection_id, marked_at }, etag },
      notBefore,
    );
  }

  /** Unless it was marked since it was read, or is too young. */
  async remove(work: RegisteredUnfinished): Promise<void> {
    if (this.#clock.now() - work.marked_at < restMs && (work.kind === "documents" || work.kind === "operation")) return;
    this.#marked.delete(nameOf(work));
    const { kind, tenant, incarnation, etag } = work;
    await this.#registry.remove({ kind, tenant, key: incarnation, etag });
  }

  /** Tenants with unfinished documents; a tenant may repeat. */
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
