/**
 * Which collections have a tag: one row per tag of each collection, so that a list by tag reads only its matches.
 *
 *   tag:<tag>:<incarnation>   in the partition of the repository, beside the record
 *
 * Invariants
 * - every tag of a record has a row: rows are written before the record, and deleted only in a batch that changes the record, so that
 *   concurrent writers of the record get an etag conflict;
 * - a row proves nothing: readers check the record. A stale row (of a failed write) costs one read.
 */
import type { JsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import { tolerate } from "../../runtime/expected-errors.ts";
import type { ItemStore, Operation, SessionTokens } from "../../ports/item-store.ts";
import { everyPage } from "../../containers/every-item.ts";
import { collectionsContainer, itemIds, type CollectionRecord } from "./records.ts";

/** Per batch; every engine accepts this many. */
const batchRowsMax = 25;
/** Rows that go with the record in one batch; the rest of the batch is for the record. */
export const removedRowsMax = 20;

export interface TagRow {
  readonly repository_id: string;
  readonly collection_id: string;
  readonly incarnation: string;
}

type Tagged = Pick<CollectionRecord, "repository_id" | "collection_id" | "incarnation" | "created_at" | "metadata">;

export class TagRows {
  readonly #items: ItemStore;

  constructor(items: ItemStore) {
    this.#items = items;
  }

  /** Before the record is written. Idempotent. */
  async add(scope: Scope, record: Tagged, tags: readonly string[] = record.metadata.tags): Promise<void> {
    for (let at = 0; at < tags.length; at += batchRowsMax) {
      const operations = tags
        .slice(at, at + batchRowsMax)
        .map((tag): Operation => ({ op: "upsert", document: rowOf(record, tag) }));
      await this.#items.batch(scope, collectionsContainer.name, [record.repository_id], operations);
    }
  }

  /** Operations that delete the rows of removed tags, in portions that fit into the batches of the record. */
  async removing(scope: Scope, record: Tagged, tags: readonly string[]): Promise<readonly (readonly Operation[])[]> {
    const ids = tags.map((tag) => itemIds.tag(tag, record.incarnation));
    const keys = ids.map((id) => ({ partition: [record.repository_id], id }));
    const found = keys.length === 0 ? [] : await this.#items.readMany(scope, collectionsContainer.name, keys);
    const there = ids.filter((_, i) => found[i] !== undefined).map((id): Operation => ({ op: "delete", id }));
    const portions: Operation[][] = [];
    for (let at = 0; at < there.length; at += removedRowsMax) portions.push(there.slice(at, at + removedRowsMax));
    return portions;
  }

  /** Deletes all rows of an incarnation whose record is about to be deleted. */
  async end(scope: Scope, record: Tagged): Promise<void> {
    for (const portion of await this.removing(scope, record, record.metadata.tags)) {
      // A concurrent process deletes them, too.
      await tolerate(this.#items.batch(scope, collectionsContainer.name, [record.repository_id], portion), "NOT_FOUND");
    }
  }

  /** Candidates with the tag: of one repository from the partition itself, which is never stale; else from the index. */
  async *having(
    scope: Scope,
    tag: string,
    repositoryId: string | undefined,
    session?: SessionTokens,
  ): AsyncGenerator<readonly TagRow[]> {
    const of =
      repositoryId === undefined
        ? { index: "byTag", equals: { tag }, session }
        : { equals: { repository_id: repositoryId }, range: { prefix: itemIds.tag(tag, "") } };
    for await (const page of everyPage(this.#items, scope, collectionsContainer.name, { ...of, limit: 500 })) {
      yield page.items.map(({ document }) => document as unknown as TagRow);
    }
  }
}

function rowOf(
  { repository_id, collection_id, incarnation, created_at }: Tagged,
  tag: string,
): JsonObject & { readonly id: string } {
  return { id: itemIds.tag(tag, incarnation), kind: "tag", tag, repository_id, collection_id, incarnation, created_at };
}
