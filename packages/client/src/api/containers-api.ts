/** Containers: documents of any shape, the same for those of the system and for your own. */
import type { Stored } from "../documents.ts";
import type { JsonObject, JsonScalar, JsonValue } from "../json.ts";
import type { IfMatch, LineResult, Page, Paging } from "./common.ts";

export type PartitionKeyValue = string | number | boolean;
/** One value, or one per path where a partition key has several. */
export type PartitionKey = PartitionKeyValue | readonly PartitionKeyValue[];

export interface IndexSpec {
  readonly partition: readonly string[];
  readonly sort: readonly (string | { readonly path: string; readonly order: "asc" | "desc" })[];
}
/** Cosmos DB's form. A star in the middle of a path, which Cosmos DB refuses, means every element of an array. */
export interface IndexingPolicy {
  readonly indexingMode?: "consistent" | "none";
  readonly automatic?: boolean;
  readonly includedPaths?: readonly { readonly path: string }[];
  readonly excludedPaths?: readonly { readonly path: string }[];
  readonly compositeIndexes?: readonly (readonly {
    readonly path: string;
    readonly order?: "ascending" | "descending";
  }[])[];
}
export interface ContainerSpec {
  /** `/workflow_id`, or up to three. */
  readonly partition_key: string | readonly string[];
  readonly indexes?: Readonly<Record<string, IndexSpec>>;
  readonly indexing_policy?: IndexingPolicy;
  readonly unique_keys?: Readonly<Record<string, readonly string[]>>;
  /** Seconds; null: off, -1: only items with their own. */
  readonly default_ttl?: number | null;
  /** Queries that no index serves are refused instead of answered slowly. */
  readonly strict?: boolean;
}
export interface ContainerInfo extends Required<Omit<ContainerSpec, "indexing_policy">> {
  readonly name: string;
  /** As it was given. */
  readonly indexing_policy: IndexingPolicy | null;
  /** As it is understood: with a root path, arrays as `[]`. */
  readonly normalised_policy: IndexingPolicy | null;
  readonly kind: "system" | "own";
  /** Items are only added: no change, no delete. */
  readonly append_only: boolean;
  readonly etag: string;
  /** What of the policy got no index, and why. */
  readonly advice?: string;
}
export interface IndexState extends IndexSpec {
  readonly name: string;
  readonly state: "ready" | "building";
  readonly progress: number;
  readonly error?: string;
}

export type ItemDocument = JsonObject & { readonly id?: string };
export type StoredDocument = Stored<JsonObject & { readonly id: string }>;

export type PatchOperation =
  | { readonly op: "add" | "set" | "replace"; readonly path: string; readonly value: JsonValue }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "incr"; readonly path: string; readonly value: number }
  | { readonly op: "move"; readonly from: string; readonly path: string };
export interface PatchOptions extends IfMatch {
  /** `from c where c.status = "open"`. */
  readonly condition?: string | undefined;
}

export type BatchOperation =
  | { readonly op: "create"; readonly document: ItemDocument }
  | {
      readonly op: "upsert" | "replace";
      readonly document: JsonObject & { readonly id: string };
      readonly if_match?: string;
    }
  | {
      readonly op: "patch";
      readonly id: string;
      readonly operations: readonly PatchOperation[];
      readonly if_match?: string;
    }
  | { readonly op: "delete"; readonly id: string; readonly if_match?: string }
  | { readonly op: "read"; readonly id: string }
  | { readonly op: "check"; readonly id: string; readonly exists?: boolean; readonly if_match?: string };
/** In any partition: an operation without a document names its partition key. `read` and `check` are for batches only. */
export type BulkOperation = BatchOperation & { readonly pk?: PartitionKey | undefined };
export interface BatchOutcome {
  readonly status: number;
  readonly id?: string;
  readonly etag?: string;
  readonly document?: StoredDocument;
}

/** An index and a range, or SQL. */
export interface IndexQuery extends Paging {
  /** Absent: the items of one partition in the order of their ids. */
  readonly index?: string | undefined;
  readonly equals: Readonly<Record<string, JsonScalar>>;
  readonly range?: {
    readonly gt?: string | number;
    readonly gte?: string | number;
    readonly lt?: string | number;
    readonly lte?: string | number;
    readonly prefix?: string;
  };
  readonly order?: "asc" | "desc" | undefined;
  readonly filter?: JsonObject | undefined;
}
export interface SqlQuery extends Paging {
  readonly query: string;
  readonly parameters?: readonly { readonly name: string; readonly value: JsonValue }[] | undefined;
  readonly pk?: PartitionKey | undefined;
  readonly strict?: boolean | undefined;
}
export interface QueryPage extends Page<JsonValue> {
  /** An index that would make it faster. */
  readonly advice?: string;
}
export interface QueryPlan {
  /** `partition`: one or several partitions by key; `index`; `scan`: every item. */
  readonly access: "partition" | "index" | "scan";
  readonly index: string | null;
  readonly order_served: boolean;
  readonly evaluated: readonly string[];
  readonly advice: string | null;
}

export interface ContainerChange {
  readonly kind: "put" | "delete";
  readonly id: string;
  readonly pk: readonly PartitionKeyValue[];
  readonly etag: string;
  readonly at: string;
  /** Because its time to live ran out. */
  readonly time_to_live_expired?: true;
  readonly document?: StoredDocument;
}
export interface ChangesQuery {
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
  readonly from?: "oldest" | "now" | undefined;
  /** `latest`: puts only, the newest of each item; `all`: deletes too. */
  readonly mode?: "latest" | "all" | undefined;
}
export interface ChangesPage {
  readonly items: readonly ContainerChange[];
  readonly cursor: string;
  readonly more: boolean;
}

export interface PutContainerOptions extends IfMatch {
  /** Only if there is none of this name yet; else PRECONDITION_FAILED, and nothing is changed. */
  readonly ifNoneMatch?: "*" | undefined;
}

export interface ContainersApi {
  list(): Promise<{ readonly items: readonly ContainerInfo[] }>;
  /** Creates it, or changes its indexes and time to live online. The same again changes nothing. */
  put(name: string, spec: ContainerSpec, options?: PutContainerOptions): Promise<ContainerInfo>;
  get(name: string): Promise<ContainerInfo>;
  /** One's own only, with everything in it. */
  delete(name: string): Promise<void>;
  indexes(name: string): Promise<{ readonly items: readonly IndexState[] }>;

  create(name: string, document: ItemDocument): Promise<StoredDocument>;
  upsert(name: string, document: ItemDocument, options?: IfMatch): Promise<StoredDocument>;
  replace(name: string, document: JsonObject & { readonly id: string }, options?: IfMatch): Promise<StoredDocument>;
  read(name: string, pk: PartitionKey, id: string): Promise<StoredDocument>;
  patch(
    name: string,
    pk: PartitionKey,
    id: string,
    operations: readonly PatchOperation[],
    options?: PatchOptions,
  ): Promise<StoredDocument>;
  deleteItem(name: string, pk: PartitionKey, id: string, options?: IfMatch): Promise<void>;
  /** In the order of the keys; null where there is none. */
  readMany(
    name: string,
    keys: readonly { readonly pk: PartitionKey; readonly id: string }[],
  ): Promise<{ readonly items: readonly (StoredDocument | null)[] }>;
  /** One partition, all or nothing. */
  batch(
    name: string,
    pk: PartitionKey,
    operations: readonly BatchOperation[],
  ): Promise<{ readonly results: readonly BatchOutcome[] }>;
  /** Any partitions, each by itself, up to 10,000. */
  bulk(
    name: string,
    operations: readonly BulkOperation[],
  ): Promise<{ readonly succeeded: number; readonly failed: number; readonly lines: readonly LineResult[] }>;
  query(name: string, query: IndexQuery | SqlQuery): Promise<QueryPage>;
  explain(name: string, query: IndexQuery | SqlQuery): Promise<QueryPlan>;
  changes(name: string, query?: ChangesQuery): Promise<ChangesPage>;
  deletePartition(name: string, pk: PartitionKey): Promise<{ readonly deleted: number }>;
}
