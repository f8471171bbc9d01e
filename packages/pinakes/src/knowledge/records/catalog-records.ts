/** The stored records of repositories and collections: reads, and batches within one repository. */
import { hasCode, PinakesError } from "../../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import type { BatchResult, Item, ItemStore, Operation } from "../../ports/item-store.ts";
import type { Incarnation } from "../../lifecycle/index.ts";
import { knowledgeLimits } from "../limits.ts";
import { hasNameKey, NameTaken } from "./name-taken.ts";
import { collectionsContainer, itemIds, type CollectionRecord, type RepositoryRecord } from "./records.ts";

export interface Stored<Record> {
  readonly record: Record;
  readonly etag: string;
}

export class CatalogRecords {
  readonly #items: ItemStore;

  constructor(items: ItemStore) {
    this.#items = items;
  }

  async repository(scope: Scope, repositoryId: string): Promise<Stored<RepositoryRecord> | undefined> {
    return stored(
      await this.#items.read(scope, collectionsContainer.name, { partition: [repositoryId], id: itemIds.repository }),
    );
  }

  async collection(
    scope: Scope,
    repositoryId: string,
    collectionId: string,
  ): Promise<Stored<CollectionRecord> | undefined> {
    return stored(
      await this.#items.read(scope, collectionsContainer.name, {
        partition: [repositoryId],
        id: itemIds.collection(collectionId),
      }),
    );
  }

  /** One incarnation of a collection, whether or not it holds the id now. */
  async incarnation(
    scope: Scope,
    { repository_id, collection_id, incarnation }: Incarnation,
  ): Promise<Stored<CollectionRecord> | undefined> {
    const first = await this.collection(scope, repository_id, collection_id);
    if (first?.record.incarnation === incarnation) return first;
    const id = itemIds.displaced(collection_id, incarnation);
    const beside = stored<CollectionRecord>(
      await this.#items.read(scope, collectionsContainer.name, { partition: [repository_id], id }),
    );
    if (beside !== undefined) return beside;
    // It may have moved between the two reads.
    const again = await this.collection(scope, repository_id, collection_id);
    return again?.record.incarnation === incarnation ? again : undefined;
  }

  /** Former incarnations of an id, latest delete first. Reads the partition itself, not an index, so none is missed. */
  async displaced(
    scope: Scope,
    repositoryId: string,
    collectionId: string,
  ): Promise<readonly Stored<CollectionRecord>[]> {
    const found: Stored<CollectionRecord>[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await this.#items.query(scope, collectionsContainer.name, {
        equals: { repository_id: repositoryId },
        range: { prefix: itemIds.displaced(collectionId, "") },
        limit: 100,
        cursor,
      });
      found.push(...page.items.map((item) => stored<CollectionRecord>(item) as Stored<CollectionRecord>));
      cursor = page.cursor;
      if (cursor === undefined)
        return found.toSorted((a, b) => ((a.record.deleted_at ?? "") < (b.record.deleted_at ?? "") ? 1 : -1));
    }
  }

  /** Both in one call: every read of a collection needs its repository for the access decision. */
  async both(
    scope: Scope,
    repositoryId: string,
    collectionId: string,
  ): Promise<readonly [Stored<RepositoryRecord> | undefined, Stored<CollectionRecord> | undefined]> {
    const [repository, collection] = await this.#items.readMany(scope, collectionsContainer.name, [
      { partition: [repositoryId], id: itemIds.repository },
      { partition: [repositoryId], id: itemIds.collection(collectionId) },
    ]);
    return [stored(repository), stored(collection)];
  }

  async repositories(scope: Scope, ids: readonly string[]): Promise<ReadonlyMap<string, RepositoryRecord>> {
    const found = new Map<string, RepositoryRecord>();
    for (let at = 0; at < ids.length; at += 100) {
      const keys = ids.slice(at, at + 100).map((id) => ({ partition: [id], id: itemIds.repository }));
      for (const item of await this.#items.readMany(scope, collectionsContainer.name, keys)) {
        if (item !== undefined)
          found.set(item.document["repository_id"] as string, item.document as unknown as RepositoryRecord);
      }
    }
    return found;
  }

  async batch(scope: Scope, repositoryId: string, operations: readonly Operation[]): Promise<BatchResult> {
    for (const operation of operations) if ("document" in operation) checkBytes(operation.document);
    try {
      return await this.#items.batch(scope, collectionsContainer.name, [repositoryId], operations);
    } catch (error) {
      throw await this.#nameTaken(scope, repositoryId, operations, error);
    }
  }

  /**
   * Translates a unique key violation into a name conflict: the store's message would expose internal keys. Returns all other errors
   * unchanged.
   */
  async #nameTaken(
    scope: Scope,
    repositoryId: string,
    operations: readonly Operation[],
    error: unknown,
  ): Promise<unknown> {
    if (!hasCode(error, "CONFLICT")) return error;
    const failed = operations[error.context.batch?.index ?? -1];
    if (failed === undefined || !("document" in failed) || !hasNameKey(failed.document)) return error;
    const { id, name } = failed.document;
    // A create fails with the same code if the id is taken.
    const sameId =
      failed.op === "create" &&
      (await this.#items.read(scope, collectionsContainer.name, { partition: [repositoryId], id: id as string })) !==
        undefined;
    return sameId ? error : new NameTaken(name, repositoryId, error);
  }
}

export function repositoryDocument(record: RepositoryRecord): JsonObject & { readonly id: string } {
  return { id: itemIds.repository, ...(record as unknown as JsonObject) };
}

export function collectionDocument(record: CollectionRecord): JsonObject & { readonly id: string } {
  return { id: collectionItemId(record), ...(record as unknown as JsonObject) };
}

export function collectionItemId({ collection_id, incarnation, displaced }: CollectionRecord): string {
  return displaced === true ? itemIds.displaced(collection_id, incarnation) : itemIds.collection(collection_id);
}

export function isLive({ status }: Pick<CollectionRecord, "status">): boolean {
  return status === "ACTIVE" || status === "ARCHIVED";
}

export function countDocument(repositoryId: string, collections: number): JsonObject & { readonly id: string } {
  return { id: itemIds.count, kind: "count", repository_id: repositoryId, collections };
}

function stored<Record>(item: Item | undefined): Stored<Record> | undefined {
  if (item === undefined) return undefined;
  const { id: _, ...record } = item.document;
  return { record: record as unknown as Record, etag: item.etag };
}

/** Names the largest field, the one to shorten. */
function checkBytes(document: JsonObject): void {
  const bytes = Buffer.byteLength(JSON.stringify(document), "utf8");
  if (bytes <= knowledgeLimits.recordBytesMax) return;
  const sizes = Object.entries(document).map(
    ([field, value]) => [field, value === undefined ? 0 : JSON.stringify(value).length] as const,
  );
  const [field] = sizes.toSorted((a, b) => b[1] - a[1])[0] as readonly [string, number];
  const inside = isJsonObject(document[field]) ? " (or its contents)" : "";
  throw new PinakesError(
    "LIMIT_EXCEEDED",
    `The record would have ${bytes} bytes; at most ${knowledgeLimits.recordBytesMax} are allowed. Shorten "${field}"${inside}.`,
  );
}
