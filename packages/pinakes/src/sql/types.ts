/** What `runQuery` takes and gives. */
import type { JsonObject, JsonValue } from "../domain/json.ts";
import type { Scope } from "../domain/scope.ts";
import type { IndexDefinition, Item, ItemStore, Partition, SessionTokens } from "../ports/item-store.ts";

export interface QueryRequest {
  readonly items: ItemStore;
  readonly scope: Scope;
  /** The container as the caller knows it: named in errors, and what a cursor is bound to. */
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
  /** An index with `partition: []`, which holds every item: read when nothing else fits. */
  readonly scanIndex?: string | undefined;
  /** Documents have `_etag` and `_ts` (seconds), in the answer and in the query. */
  readonly systemProperties?: boolean;
  /** The document as the query sees it, instead of that. */
  readonly view?: (item: Item) => JsonObject;
  /** Only documents for which it holds; an engine cannot count them. */
  readonly among?: (document: JsonObject) => boolean;
  /** What that depends on: a cursor is bound to it. */
  readonly amongText?: string;
}

export interface QueryOptions {
  /** Items of a page. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  /** Only this partition. */
  readonly partition?: Partition | undefined;
  /** Refuse, as Cosmos DB does, what no index serves; else it is answered, with advice. */
  readonly strict?: boolean | undefined;
  /** Rows that a sort or an aggregate may look at. */
  readonly rowsMax?: number | undefined;
  readonly session?: SessionTokens | undefined;
  /** Epoch milliseconds for GetCurrentDateTime and the like; the system's clock by default. */
  readonly now?: number | undefined;
  /** Counts what is kept to sort or group, in bytes; throws where that is too much for all queries together. Who gives it releases the rest. */
  readonly memory?: { hold(bytes: number): void; release(bytes: number): void } | undefined;
  /** How cursors are sealed. One of the two is needed where an answer has more than one page. */
  readonly tokens?: CursorTokens | undefined;
  readonly key?: Uint8Array | undefined;
}

export interface CursorTokens {
  seal(payload: JsonObject): string;
  /** Throws INVALID for a token that `seal` did not make. */
  open(token: string): JsonObject;
}

export interface QueryResult {
  readonly items: readonly JsonValue[];
  /** Absent at the end. A page may be short, even empty, and still have one. */
  readonly cursor?: string;
  readonly stats: QueryStats;
  /** The index that would serve this query better, in words. */
  readonly advice?: string;
}

export interface QueryStats {
  readonly rows_examined: number;
  /** The index that was read; null for the partition itself. */
  readonly index: string | null;
  /** "one" and "several": partitions that were looked up; "all": the query went over an index. */
  readonly partition: "one" | "several" | "all";
}

export interface QueryExplanation {
  /**
   * stream: in the order of the index, page by page; merge: several such, merged; sort: everything is read and sorted in memory;
   * group: everything is read and put together; count: the engine counts; empty: nothing can match.
   */
  readonly mode: "stream" | "merge" | "sort" | "group" | "count" | "empty";
  readonly index: string | null;
  readonly partition: "one" | "several" | "all";
  /** Ranges of the index that are read. */
  readonly ranges: number;
  /** Paths of WHERE that the index looks up. */
  readonly lookedUp: readonly string[];
  /** Whether documents are still judged one by one after the index. */
  readonly residual: boolean;
  /** Whether the engine is given a part of that to judge early. */
  readonly prefilter: boolean;
  readonly orderServed: boolean;
  readonly advice?: string;
}
