/**
 * ItemStore: documents in containers, the heart of Pinakes.
 *
 * Scope. The first argument of every method is the tenant scope; a call without one throws. Two tenants never see, count, block or
 * learn of each other's items: another tenant's item answers exactly as if it did not exist.
 *
 * Atomicity. A batch (one container, one partition) commits as a whole or not at all. Nothing spans two partitions.
 *
 * Consistency. A point read sees every acknowledged write, and so does a query without `index` (it reads the partition itself).
 * An index query does too unless `capabilities.indexReads` is "eventual"; then a query that carries a session token waits, bounded,
 * until the index shows that write. Even on such an engine an index query never returns a deleted or outdated document: it may only be late.
 *
 * Conditions. Every write may carry `ifMatch` (an etag) and `where` (a filter on the stored document). An etag changes at every write
 * and never repeats, so repeating a conditional write after an unknown outcome is safe: the etag tells which one won.
 *
 * Time to live. Exact (domain/ttl.ts): an expired item disappears from reads, queries, counts, conditions and unique keys at once;
 * `purgeExpired` removes it later and puts a delete marked `expired` into the feed.
 *
 * Order. A query runs in the order of its index (type order: undefined < null < false < true < numbers < strings), ties by id
 * (by the first 192 bytes of an id, by the first 84 in ties; beyond that the order is stable but not that of the ids). Cursors are
 * keysets: concurrent writes never make an unchanged item be skipped or repeated. They are signed and bound to tenant and query.
 *
 * Feed. With `feed: true` every commit is delivered: in commit order within a partition, without order across partitions,
 * at least once, none skipped, deletes included. A change carries its document while that is still the newest one. Changes are retained
 * for 7 days; a cursor older than that is rejected rather than silently skipping a gap.
 *
 * Documents. JSON objects with `id` and the partition key inside. Keys keep their order, unknown properties are kept. NUL is rejected.
 * `_etag`, `_ts` and other system properties sent by a client are dropped.
 *
 * Limits. domain/limits.ts; each is an INVALID or LIMIT_EXCEEDED error that names the field, and nothing is written.
 */
import type { Filter } from "../domain/filter.ts";
import type { JsonObject, JsonScalar } from "../domain/json.ts";
import type { PatchStep } from "../domain/patch.ts";
import type { Prefilter } from "../domain/prefilter.ts";
import type { Scope, SystemScope } from "../domain/scope.ts";
import type { ItemErasure } from "./item-erasure.ts";

export interface ItemStore {
  readonly capabilities: ItemStoreCapabilities;
  /** For erasures alone (item-erasure.ts). */
  readonly erasure: ItemErasure;

  /** Declares a container: creates it, or changes its indexes and ttl online. Idempotent. */
  openContainer(definition: ContainerDefinition, options?: OpenContainerOptions): Promise<void>;
  /** The container's default time to live, or the tenant's own. Another process may have changed it a moment ago. */
  defaultTtl(scope: Scope, container: string): DefaultTtl;
  /**
   * Sets the tenant's own default in a container whose `ttl` is not null. It applies to existing items too; those with a `ttl` of their own
   * keep it.
   */
  setDefaultTtl(scope: Scope, container: string, ttl: number | null): Promise<void>;
  /** Each declared index: ready, or building with progress. A query on a building index is rejected as UNAVAILABLE. */
  indexes(container: string): Promise<readonly IndexStatus[]>;

  read(scope: Scope, container: string, key: ItemKey, options?: ReadOptions): Promise<Item | undefined>;
  /** The same without parsing: the stored UTF-8 bytes, for answers that pass them through. */
  readRaw(scope: Scope, container: string, key: ItemKey, options?: ReadOptions): Promise<RawItem | undefined>;
  /** In the order of the keys; undefined for an absent item. */
  readMany(scope: Scope, container: string, keys: readonly ItemKey[]): Promise<readonly (Item | undefined)[]>;

  /** One operation. Throws the error that a batch of one would give. */
  write(scope: Scope, container: string, partition: Partition, operation: Operation): Promise<WriteResult>;
  /** Up to 100 operations on one partition, all or nothing. The error names the operation that failed (`context.batch`). */
  batch(scope: Scope, container: string, partition: Partition, operations: readonly Operation[]): Promise<BatchResult>;

  query(scope: Scope, container: string, query: Query): Promise<Page>;
  count(scope: Scope, container: string, query: Omit<Query, "limit" | "cursor" | "order">): Promise<number>;
  /** Removes up to `limit` items of a partition; call again until `done`. */
  deletePartition(
    scope: Scope,
    container: string,
    partition: Partition,
    options?: { limit?: number },
  ): Promise<{ deleted: number; done: boolean }>;
  /** The next changes of this tenant after `cursor` (absent: from the oldest retained). Resuming from the returned cursor is always safe. */
  changes(scope: Scope, container: string, options?: ChangesOptions): Promise<ChangePage>;

  /** Background: removes up to `limit` expired items and old feed entries of all tenants; returns how many items are still waiting. */
  purgeExpired(scope: SystemScope, container: string, options?: { limit?: number }): Promise<PurgeResult>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface DefaultTtl {
  /** As in ContainerDefinition.ttl. */
  readonly seconds: number | null;
  /** How often the tenant has changed it: items that were purged under an earlier value do not return with it. */
  readonly changes: number;
}

export interface ItemStoreCapabilities {
  readonly engine: string;
  /** "eventual": an index may show a write late (DynamoDB's global secondary indexes). */
  readonly indexReads: "strong" | "eventual";
  /**
   * The most operations in one batch; ≥ 25 on every engine. Features stay within 25. On DynamoDB every unique value that a batch claims or
   * releases also counts towards the 100 actions of a transaction, so many of them leave room for fewer operations: LIMIT_EXCEEDED names
   * the count.
   */
  readonly batchOperationsMax: number;
  /** Whether data survives the process. */
  readonly durable: boolean;
}

export interface ContainerDefinition {
  /** Lower-case letters, digits and dashes. */
  readonly name: string;
  /** 1–3 paths; fixed for the lifetime of the container. */
  readonly partitionKey: readonly string[];
  readonly indexes?: Readonly<Record<string, IndexDefinition>>;
  /** Documents may have null or no value in the partition key, as in Cosmos DB; fixed for the lifetime of the container. */
  readonly optionalKey?: boolean;
  /** Values that must be unique within a partition, by name; fixed for the lifetime of the container. Items without a value are exempt. */
  readonly uniqueKeys?: Readonly<Record<string, readonly string[]>>;
  /** null: items never expire; -1: only those with a `ttl` of their own; n: n seconds after their last change. */
  readonly ttl?: number | null;
  /** Keep a change feed. Once on, it stays on. */
  readonly feed?: boolean;
}

export interface OpenContainerOptions {
  /** Also remove indexes that the stored container has and this declaration lacks (kept by default, for rolling deploys). */
  readonly dropUndeclaredIndexes?: boolean | undefined;
}

export interface IndexDefinition {
  /** Paths that a query must fix by equality. May be empty: one order over the whole tenant. */
  readonly partition: readonly string[];
  /** Paths that order the items; `{ path, order: "desc" }` reverses one. */
  readonly sort: readonly SortPath[];
}
export type SortPath = string | { readonly path: string; readonly order: "asc" | "desc" };

export interface IndexStatus {
  readonly name: string;
  readonly state: "ready" | "building";
  /** 0…1 */
  readonly progress: number;
  /** Why the build makes no progress, if so; it is retried. */
  readonly error?: string;
}

/** `{}` stands for a document without a value at the path, or with an object or array there (`optionalKey`). */
export type PartitionValue = string | number | boolean | null | NoValue;
export type NoValue = Readonly<Record<string, never>>;
/** The values at the partition key's paths, in their order. */
export type Partition = readonly PartitionValue[];

export interface ItemKey {
  readonly partition: Partition;
  readonly id: string;
}

export interface Item {
  readonly id: string;
  readonly etag: string;
  /** Epoch milliseconds of the last change. */
  readonly modifiedAt: number;
  readonly document: JsonObject;
}

export interface RawItem {
  readonly id: string;
  readonly etag: string;
  readonly modifiedAt: number;
  readonly bytes: Uint8Array;
}

interface Conditions {
  /** Only if the item has this etag now. */
  readonly ifMatch?: string | undefined;
  /** Only if the stored document matches. */
  readonly where?: Filter | undefined;
}

export type Operation =
  /** Only if absent. An id (UUID v4) is generated if the document has none. */
  | { readonly op: "create"; readonly document: JsonObject }
  | ({ readonly op: "replace"; readonly document: JsonObject } & Conditions)
  | ({ readonly op: "upsert"; readonly document: JsonObject } & Conditions)
  | ({ readonly op: "patch"; readonly id: string; readonly patch: readonly PatchStep[] } & Conditions)
  | ({ readonly op: "delete"; readonly id: string } & Conditions)
  /** Writes nothing: the batch fails unless the item exists (or is absent, with `exists: false`) and meets the conditions. */
  | ({ readonly op: "check"; readonly id: string; readonly exists?: boolean } & Conditions);

export interface OperationResult {
  readonly id: string;
  /** Of the item after the batch; absent for delete and check. */
  readonly etag?: string;
  readonly modifiedAt?: number;
  /** After a patch: the resulting document. */
  readonly document?: JsonObject;
}

export interface WriteResult extends OperationResult {
  readonly session: string;
}

export interface BatchResult {
  readonly results: readonly OperationResult[];
  /** Reads and queries that carry it see this write. */
  readonly session: string;
}

export interface ReadOptions {
  readonly session?: SessionTokens | undefined;
}

/** Tokens that writes returned; several if several writes must be seen. */
export type SessionTokens = string | readonly string[];

export interface Query {
  /** The index to read; absent: the items of one partition in the order of their ids. */
  readonly index?: string | undefined;
  /** With `index`: its partition paths and a prefix of its sort paths. Without: the partition key's paths. */
  readonly equals: Readonly<Record<string, JsonScalar>>;
  /** Bounds on the next sort path after those in `equals` (`id` without an index). */
  readonly range?: Range | undefined;
  readonly order?: "asc" | "desc" | undefined;
  /** Evaluated on each document after the index; a page may then be short and still have a cursor. */
  readonly filter?: Filter | undefined;
  /**
   * A hint, for callers that filter the documents themselves: documents for which it is certainly false may be left out; the others may
   * match or not (domain/prefilter.ts). A cursor is not bound to it.
   */
  readonly prefilter?: Prefilter | undefined;
  /** The page then reports its cost and where each of its items ends: `Page.examined`, `Page.after`. */
  readonly resumable?: boolean | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly session?: SessionTokens | undefined;
}

export interface Range {
  readonly gt?: string | number;
  readonly gte?: string | number;
  readonly lt?: string | number;
  readonly lte?: string | number;
  readonly prefix?: string;
}

export interface Page {
  readonly items: readonly Item[];
  /** Absent at the end. */
  readonly cursor?: string;
  /** With `resumable`: rows examined, including those a filter left out. */
  readonly examined?: number;
  /** With `resumable`: the cursor that continues after the item at this index, for callers that take only a part of a page. */
  readonly after?: (place: number) => string;
}

export interface ChangesOptions {
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
  /** Where to begin without a cursor. */
  readonly from?: "oldest" | "now" | undefined;
}

export interface Change {
  readonly kind: "put" | "delete";
  readonly partition: Partition;
  readonly id: string;
  readonly etag: string;
  readonly at: number;
  /** The ttl ran out. */
  readonly expired?: true;
  /** The document, unless a later change (which follows in the feed) has replaced it. */
  readonly document?: JsonObject;
}

export interface ChangePage {
  readonly changes: readonly Change[];
  readonly cursor: string;
  /** False when the feed was read to its end. */
  readonly more: boolean;
}

export interface PurgeResult {
  readonly purged: number;
  /** Expired items still waiting, counted up to a bound. */
  readonly backlog: number;
}
