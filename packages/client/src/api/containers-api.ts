/** Containers: documents of any shape, the same for those of the system and for your own. */
import type { IfMatch } from "./common.ts";
import type { LineResult } from "../contract/common.ts";
import type {
  BatchOperation,
  BatchOutcome,
  BulkOperation,
  ChangesPage,
  ChangesQuery,
  ContainerInfo,
  ContainerSpec,
  IndexQuery,
  IndexState,
  ItemDocument,
  PartitionKey,
  PatchOperation,
  QueryPage,
  QueryPlan,
  SqlQuery,
  StoredDocument,
} from "../contract/containers.ts";
import type { JsonObject } from "../json.ts";

export interface PatchOptions extends IfMatch {
  /** `from c where c.status = "open"`. */
  readonly condition?: string | undefined;
}

export interface PutContainerOptions extends IfMatch {
  /** Only if no container has this name yet; otherwise PRECONDITION_FAILED, and nothing is changed. */
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
  /** In the order of the keys; null for missing items. */
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
  /** Operations on any partitions, each independently, up to 10,000. */
  bulk(
    name: string,
    operations: readonly BulkOperation[],
  ): Promise<{ readonly succeeded: number; readonly failed: number; readonly lines: readonly LineResult[] }>;
  query(name: string, query: IndexQuery | SqlQuery): Promise<QueryPage>;
  explain(name: string, query: IndexQuery | SqlQuery): Promise<QueryPlan>;
  changes(name: string, query?: ChangesQuery): Promise<ChangesPage>;
  deletePartition(name: string, pk: PartitionKey): Promise<{ readonly deleted: number }>;
}
