/**
 * The pipelines of all tenants, for the background: stored under the system's own tenant, so that a process finds at its start what to
 * watch and what is due. The collection's record is authoritative; an entry is created before it and deleted after it, and one without a
 * pipeline is removed when it is next read. Leases are here, too: who watches a folder, and who runs a pipeline.
 */
import { acrossShards, workPlace } from "../containers/work-registry-shards.ts";
import type { Scope, SystemScope } from "../domain/scope.ts";
import { ifMissing, tolerate } from "../runtime/expected-errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { ContainerDefinition, ItemStore, Query } from "../ports/item-store.ts";
import { knowledgeTenant } from "../knowledge/records/work-registry.ts";
import type { CollectionRecord, PipelineSettings } from "../knowledge/records/records.ts";

/** A younger entry may belong to a pipeline that is just being created. */
export const entryRestMs = 60_000;
export const leaseMs = 60_000;

export const pipelinesContainer: ContainerDefinition = Object.freeze({
  name: "knowledge-pipelines",
  partitionKey: ["shard"],
  indexes: {
    due: { partition: ["shard"], sort: ["next_run_at"] },
    // Not by the source, which may exceed the size of an index key.
    byTrigger: { partition: ["shard", "trigger"], sort: ["pipeline_id"] },
  },
});

export interface PipelineEntry {
  readonly id: string;
  readonly shard: string;
  readonly tenant: string;
  readonly repository_id: string;
  readonly collection_id: string;
  readonly incarnation: string;
  readonly pipeline_id: string;
  readonly trigger: PipelineSettings["trigger"];
  readonly source: string;
  readonly registered_at: number;
  /** Epoch milliseconds; only with a schedule. */
  readonly next_run_at?: number;
}

export interface StoredEntry extends PipelineEntry {
  readonly etag: string;
}

export class PipelineRegistry {
  readonly #items: ItemStore;
  readonly #scope: Scope;
  readonly #clock: Clock;

  constructor(items: ItemStore, system: SystemScope, clock: Clock) {
    this.#items = items;
    this.#scope = system.forTenant(knowledgeTenant);
    this.#clock = clock;
  }

  async put(
    tenant: string,
    collection: CollectionRecord,
    pipeline: PipelineSettings,
    nextRunAt: number | undefined,
  ): Promise<void> {
    const { repository_id, collection_id, incarnation } = collection;
    const { pipeline_id, trigger, source } = pipeline;
    const key = keyOf({ tenant, incarnation, pipeline_id });
    const registered_at = this.#clock.now();
    const next = nextRunAt === undefined ? {} : { next_run_at: nextRunAt };
    const document = {
      ...key,
      tenant,
      repository_id,
      collection_id,
      incarnation,
      pipeline_id,
      trigger,
      source,
      registered_at,
      ...next,
    };
    await this.#items.write(this.#scope, pipelinesContainer.name, [key.shard], { op: "upsert", document });
  }

  async remove(tenant: string, incarnation: string, pipelineId: string): Promise<void> {
    const { shard, id } = keyOf({ tenant, incarnation, pipeline_id: pipelineId });
    await ifMissing(this.#items.write(this.#scope, pipelinesContainer.name, [shard], { op: "delete", id }));
  }

  /** Undefined: changed or removed concurrently. */
  async reschedule(entry: StoredEntry, nextRunAt: number | undefined): Promise<StoredEntry | undefined> {
    const { etag, next_run_at: _, ...rest } = entry;
    const next = { ...rest, ...(nextRunAt === undefined ? {} : { next_run_at: nextRunAt }) };
    const write = this.#items.write(this.#scope, pipelinesContainer.name, [entry.shard], {
      op: "replace",
      document: { ...next },
      ifMatch: etag,
    });
    const written = await tolerate(write, "NOT_FOUND", "PRECONDITION_FAILED");
    return written === undefined ? undefined : { ...next, etag: written.etag as string };
  }

  async *due(now: number): AsyncGenerator<StoredEntry> {
    yield* this.#entries((shard) => ({ index: "due", equals: { shard }, range: { lte: now } }));
  }

  async *withTrigger(trigger: PipelineSettings["trigger"]): AsyncGenerator<StoredEntry> {
    yield* this.#entries((shard) => ({ index: "byTrigger", equals: { shard, trigger } }));
  }

  /** Acquires or extends the lease; false if another owner holds it. */
  async hold(lease: Lease): Promise<boolean> {
    const { shard, id } = leasePlace(lease);
    const now = this.#clock.now();
    const document = { id, shard, owner: lease.owner, until: now + leaseMs };
    const found = await this.#items.read(this.#scope, pipelinesContainer.name, { partition: [shard], id });
    if (found !== undefined && found.document["owner"] !== lease.owner && (found.document["until"] as number) > now)
      return false;
    const operation =
      found === undefined
        ? ({ op: "create", document } as const)
        : ({ op: "replace", document, ifMatch: found.etag } as const);
    const write = this.#items.write(this.#scope, pipelinesContainer.name, [shard], operation);
    return (await tolerate(write, "CONFLICT", "NOT_FOUND", "PRECONDITION_FAILED")) !== undefined;
  }

  async release(lease: Lease): Promise<void> {
    const { shard, id } = leasePlace(lease);
    const write = this.#items.write(this.#scope, pipelinesContainer.name, [shard], {
      op: "delete",
      id,
      where: { owner: lease.owner },
    });
    await tolerate(write, "NOT_FOUND", "PRECONDITION_FAILED");
  }

  async *#entries(query: (shard: string) => Query): AsyncGenerator<StoredEntry> {
    for await (const { document, etag } of acrossShards(this.#items, this.#scope, pipelinesContainer.name, query))
      yield { ...(document as unknown as PipelineEntry), etag };
  }
}

export interface Lease {
  readonly tenant: string;
  readonly incarnation: string;
  readonly pipeline_id: string;
  readonly what: "watch" | "run";
  /** Unique for each acquisition. */
  readonly owner: string;
}

interface RegistryKey {
  readonly shard: string;
  readonly id: string;
}

function keyOf({
  tenant,
  incarnation,
  pipeline_id,
}: Pick<PipelineEntry, "tenant" | "incarnation" | "pipeline_id">): RegistryKey {
  return workPlace({ kind: "pipeline", tenant, key: `${incarnation}:${pipeline_id}` });
}

/** Beside the entry. */
function leasePlace({ what, ...of }: Lease): RegistryKey {
  const { shard, id } = keyOf(of);
  return { shard, id: `lease:${what}:${id}` };
}
