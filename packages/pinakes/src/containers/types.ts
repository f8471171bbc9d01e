/** The types of a repository: keys, queries, conditions, operations and changes of one container. */
import type { Change, Query } from "../ports/item-store.ts";
import type { FilterOf, KeyAt, PartitionValueAt } from "./paths.ts";

/** A document as returned: with its etag and the time of its last change in seconds. */
export type Stored<Document> = Document & { readonly id: string; readonly _etag: string; readonly _ts: number };

export type PartitionOf<Document, PartitionPath extends string> = {
  readonly [P in PartitionPath]: PartitionValueAt<Document, P>;
};
export type KeyOf<Document, PartitionPath extends string> = PartitionOf<Document, PartitionPath> & {
  readonly id: string;
};

export interface Conditions<Document> {
  readonly ifMatch?: string | undefined;
  readonly where?: FilterOf<Document> | undefined;
}

/** A batch's operations with typed documents. No patch: its result could not be checked against the schema; see `update`. */
export type DocumentOperation<Document, Input> =
  | { readonly op: "create"; readonly document: Input }
  | ({ readonly op: "replace" | "upsert"; readonly document: Input & { readonly id: string } } & Conditions<Document>)
  | ({ readonly op: "delete"; readonly id: string } & Conditions<Document>)
  | ({ readonly op: "check"; readonly id: string; readonly exists?: boolean } & Conditions<Document>);

type IndexPartition<Index> = Index extends { readonly partition: readonly (infer P extends string)[] } ? P : never;
type IndexSort<Index> = Index extends { readonly sort: readonly (infer S)[] }
  ? S extends string
    ? S
    : S extends { readonly path: infer P extends string }
      ? P
      : never
  : never;

/** The partition paths of the index must be given; sort paths may be, in their order. */
export type EqualsOf<Document, Index> = { readonly [P in IndexPartition<Index>]: KeyAt<Document, P> } & {
  readonly [S in IndexSort<Index>]?: KeyAt<Document, S>;
};

/** A query of one partition. */
export type ListOf<Document> = Omit<Query, "index" | "equals" | "filter"> & {
  readonly filter?: FilterOf<Document> | undefined;
};
export type QueryOf<Document, Index> = ListOf<Document> & { readonly equals: EqualsOf<Document, Index> };

export interface DocumentPage<Document> {
  readonly items: readonly Stored<Document>[];
  readonly cursor?: string;
}

export type DocumentChange<Document> = Omit<Change, "document"> & {
  readonly document?: Document & { readonly id: string };
};

export interface DocumentChanges<Document> {
  readonly changes: readonly DocumentChange<Document>[];
  readonly cursor: string;
  readonly more: boolean;
}

export interface FollowOptions {
  readonly cursor?: string | undefined;
  readonly from?: "oldest" | "now" | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How long to wait at the end of the feed before polling again. */
  readonly pollMs?: number | undefined;
}
