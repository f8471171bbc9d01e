/** Iterates over a tenant's records, ordered by id: equal stores give equal tables. */
import type { Scope } from "../domain/scope.ts";
import { compareUtf8 } from "../domain/json.ts";
import type { ItemStore, Query } from "../ports/item-store.ts";
import type { IncarnationKey } from "../knowledge/records/collection-partition.ts";
import {
  collectionsContainer,
  documentsContainer,
  itemIds,
  type CollectionRecord,
  type DocumentRecord,
  type RepositoryRecord,
} from "../knowledge/records/records.ts";
import { everyItem } from "../containers/every-item.ts";

const pageItems = 200;

/** Ids first and records one by one: a list of all records could be large, one of ids is not. */
export async function repositoryIds(items: ItemStore, scope: Scope): Promise<readonly string[]> {
  const ids = new Set<string>();
  for await (const record of pages<RepositoryRecord>(items, scope, collectionsContainer.name, {
    index: "allByCreated",
    equals: { kind: "repository" },
  }))
    ids.add(record.repository_id);
  return [...ids].toSorted(compareUtf8);
}

export function collectionsOf(items: ItemStore, scope: Scope, repositoryId: string): AsyncGenerator<CollectionRecord> {
  return pages(items, scope, collectionsContainer.name, {
    equals: { repository_id: repositoryId },
    range: { prefix: itemIds.collection("") },
  });
}

export function documentsOf(
  items: ItemStore,
  scope: Scope,
  { repository_id, incarnation }: IncarnationKey,
): AsyncGenerator<DocumentRecord> {
  return pages(items, scope, documentsContainer.name, {
    equals: { repository_id, incarnation },
    range: { prefix: itemIds.document("") },
  });
}

async function* pages<Record>(items: ItemStore, scope: Scope, container: string, query: Query): AsyncGenerator<Record> {
  for await (const { document } of everyItem(items, scope, container, { ...query, limit: pageItems })) {
    const { id: _, ...record } = document;
    yield record as unknown as Record;
  }
}
