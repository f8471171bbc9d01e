/** Input and output of `runQuery`. */
import type { JsonObject, JsonValue } from "../domain/json.ts";
import type { Scope } from "../domain/scope.ts";
import type { IndexDefinition, Item, ItemStore, Partition, SessionTokens } from "../ports/item-store.ts";

export interface QueryRequest {
  readonly items: ItemStore;
  readonly scope: Scope;
  /** The container's name as the caller knows it: used in errors, and cursors are bound to it. */
  readonly container: string;
  readonly definition: QueryDefinition;
  /** SELECT … FROM c … */
  readonly query: string;
  readonly parameters?: Readonly<Record<string, JsonValue>> | undefined;
  readonly options?: QueryOptions | undefined;
}

export interface QueryDefinition {
  /** The container's name in the item store. */
  readonly name: string;
  readonly partitionKey: readonly string[];
  readonly indexes: Readonly<Record<string, IndexDefinition>>;
  /** An index with `partition: []`, which contains every item: used if nothing else fits. */
  readonly scanIndex?: string | undefined;
  /** Documents have `_etag` and `_ts` (seconds), in the result and in the query. */
  readonly systemProperties?: boolean;
  /** Replaces the default view of the document in queries. */
  readonly view?: (item: Item) => JsonObject;
  /** Restricts the query to documents for which it returns true; an engine cannot count them. */
  readonly among?: (document: JsonObject) => boolean;
  /** What the restriction depends on: a cursor is bound to it. */
  readonly amongText?: string;
}

export interface QueryOptions {
  /** Items per page. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  /** Restricts the query to this partition. */
  readonly partition?: Partition | undefined;
  /** Refuse queries that no index serves, as Cosmos DB does; otherwise they run, with advice. */
  readonly strict?: boolean | undefined;
  /** Maximum rows that a sort or an aggregate reads. */
  readonly rowsMax?: number | undefined;
  readonly session?: SessionTokens | undefined;
  /** Epoch milliseconds for GetCurrentDateTime and the like; defaults to the system clock. */
  readonly now?: number | undefined;
  /**
   * Reports the bytes held to sort or group; throws if all queries together hold too much. The caller that supplies it releases the rest.
   */
  readonly memory?: { hold(bytes: number): void; release(bytes: number): void } | undefined;
  /** How cursors are sealed. One of the two is required if a result has more than one page. */
  readonly tokens?: CursorTokens | undefined;
  readonly key?: Uint8Array | undefined;
}

export interface CursorTokens {
  seal(payload: JsonObject): string;
  /** Throws INVALID for a token that `seal` did not create. */
  open(token: string): JsonObject;
}

export interface QueryResult {
  readonly items: readonly JsonValue[];
  /** Absent at the end. A page may be short, even empty, and still have a cursor. */
  readonly cursor?: string;
  readonly stats: QueryStats;
  /** Describes the index that would serve this query better. */
  readonly advice?: string;
}

export interface QueryStats {
  readonly rows_examined: number;
  /** The index that was used; null for the partition itself. */
  readonly index: string | null;
  /** "one" and "several": partitions that were looked up; "all": the query used a cross-partition index. */
  readonly partition: "one" | "several" | "all";
}

export interface QueryExplanation {
  /**
   * stream: in index order, page by page; merge: several such streams, merged; sort: everything is read and sorted in memory; group:
   * everything is read and grouped; count: the engine counts; empty: nothing can match.
   */
  readonly mode: "stream" | "merge" | "sort" | "group" | "count" | "empty";
  readonly index: string | null;
  readonly partition: "one" | "several" | "all";
  /** Index ranges that are read. */
  readonly ranges: number;
  /** Paths of WHERE that the index looks up. */
  readonly lookedUp: readonly string[];
  /** Whether documents are also filtered after the index lookup. */
  readonly residual: boolean;
  /** Whether the engine evaluates a part of that filter early. */
  readonly prefilter: boolean;
  readonly orderServed: boolean;
  readonly advice?: string;
}
