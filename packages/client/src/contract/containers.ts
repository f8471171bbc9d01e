/** Containers: documents of any shape, the same for those of the system and for your own. */
import type { Page, Paging, SortOrder } from "./common.ts";
import type { Stored } from "./state.ts";
import type { JsonObject, JsonScalar, JsonValue } from "../json.ts";

/** Null, and `{}` for documents without a value, only if the key is optional. */
export type PartitionKeyValue = string | number | boolean | null | Readonly<Record<string, never>>;
/** One value, or one per path if the partition key has several. */
export type PartitionKey = PartitionKeyValue | readonly PartitionKeyValue[];

export interface IndexSpec {
  readonly partition: readonly string[];
  readonly sort: readonly (string | { readonly path: string; readonly order: SortOrder })[];
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
  /** Queries that no index serves are refused instead of running slowly. */
  readonly strict?: boolean;
  /** Documents may have null or no value in the partition key. Fixed at creation. */
  readonly optional_key?: boolean;
}

export const containerKinds = ["system", "own"] as const;
export type ContainerKind = (typeof containerKinds)[number];

export interface ContainerInfo extends Required<Omit<ContainerSpec, "indexing_policy">> {
  readonly name: string;
  /** As specified. */
  readonly indexing_policy: IndexingPolicy | null;
  /** As interpreted: with a root path, arrays as `[]`. */
  readonly normalised_policy: IndexingPolicy | null;
  readonly kind: ContainerKind;
  /** Items are only added: no change, no delete. */
  readonly append_only: boolean;
  readonly etag: string;
  /** Parts of the policy without an index, with the reason. */
  readonly advice?: string;
}

export const indexStates = ["ready", "building"] as const;
export type IndexBuildState = (typeof indexStates)[number];

export interface IndexState extends IndexSpec {
  readonly name: string;
  readonly state: IndexBuildState;
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
      /** `from c where …`: a condition on the stored document. */
      readonly condition?: string;
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
  readonly order?: SortOrder | undefined;
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

export const queryAccesses = ["partition", "index", "scan"] as const;
export type QueryAccess = (typeof queryAccesses)[number];

export interface QueryPlan {
  /** `partition`: one or several partitions by key; `index`; `scan`: every item. */
  readonly access: QueryAccess;
  readonly index: string | null;
  readonly order_served: boolean;
  readonly evaluated: readonly string[];
  readonly advice: string | null;
}

export const changeKinds = ["put", "delete"] as const;
export type ChangeKind = (typeof changeKinds)[number];

export interface ContainerChange {
  readonly kind: ChangeKind;
  readonly id: string;
  readonly pk: readonly PartitionKeyValue[];
  readonly etag: string;
  readonly at: string;
  /** Because its time to live ran out. */
  readonly time_to_live_expired?: true;
  readonly document?: StoredDocument;
}

export const changesModes = ["latest", "all"] as const;
export type ChangesMode = (typeof changesModes)[number];

export const changesStarts = ["oldest", "now"] as const;
export type ChangesStart = (typeof changesStarts)[number];

export interface ChangesQuery {
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
  readonly from?: ChangesStart | undefined;
  /** `latest`: only puts, the newest of each item; `all`: also deletes. */
  readonly mode?: ChangesMode | undefined;
}
export interface ChangesPage {
  readonly items: readonly ContainerChange[];
  readonly cursor: string;
  readonly more: boolean;
}
