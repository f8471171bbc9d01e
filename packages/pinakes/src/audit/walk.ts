/**
 * All repositories and collections of a workspace. The list of repositories may be stale; the collections of a known repository are
 * complete.
 */
import type { Scope } from "../domain/scope.ts";
import type { ItemStore } from "../ports/item-store.ts";
import {
  collectionsContainer,
  itemIds,
  type CollectionRecord,
  type RepositoryRecord,
} from "../knowledge/records/records.ts";
import { everyItem } from "../containers/every-item.ts";
import { pagesOf } from "../runtime/pages.ts";
import { auditLimits } from "./limits.ts";

interface Walked<Record> {
  readonly record: Record | undefined;
  /** Absent at the end. */
  readonly cursor: string | undefined;
}

/** One at a time, so that a walk can stop and resume anywhere. */
export async function nextRepository(
  items: ItemStore,
  scope: Scope,
  cursor: string | undefined,
): Promise<Walked<RepositoryRecord>> {
  const page = await items.query(scope, collectionsContainer.name, {
    index: "allByCreated",
    equals: { kind: "repository" },
    limit: 1,
    cursor,
  });
  return { record: page.items[0]?.document as RepositoryRecord | undefined, cursor: page.cursor };
}

export async function nextCollection(
  items: ItemStore,
  scope: Scope,
  repository_id: string,
  cursor: string | undefined,
): Promise<Walked<CollectionRecord>> {
  const query = { equals: { repository_id }, range: { prefix: itemIds.collection("") }, limit: 1, cursor };
  const page = await items.query(scope, collectionsContainer.name, query);
  return { record: page.items[0]?.document as CollectionRecord | undefined, cursor: page.cursor };
}

export async function* allRepositories(items: ItemStore, scope: Scope): AsyncGenerator<RepositoryRecord> {
  for await (const found of pagesOf((cursor) => nextRepository(items, scope, cursor))) {
    if (found.record !== undefined) yield found.record;
  }
}

export async function* allCollections(
  items: ItemStore,
  scope: Scope,
  repository_id: string,
): AsyncGenerator<CollectionRecord> {
  for await (const { document } of everyItem(items, scope, collectionsContainer.name, {
    equals: { repository_id },
    range: { prefix: itemIds.collection("") },
    limit: auditLimits.pageItemsMax,
  }))
    yield document as unknown as CollectionRecord;
}
