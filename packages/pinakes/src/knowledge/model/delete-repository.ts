/** The end of a repository: it takes nothing new, then its collections are purged one by one, then its record goes. */
import { PinakesError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import type { JobTools } from "../jobs/jobs.ts";
import type { KnowledgeParts } from "../parts.ts";
import type { CollectionDeletion } from "./delete-collection.ts";
import { repositoryDocument, type Library } from "./library.ts";
import { collectionsContainer, type CollectionRecord, type RepositoryRecord } from "./records.ts";
import { laterThan } from "./times.ts";

export class RepositoryDeletion {
  readonly #parts: KnowledgeParts;
  readonly #library: Library;
  readonly #collections: CollectionDeletion;

  constructor(parts: KnowledgeParts, library: Library, collections: CollectionDeletion) {
    this.#parts = parts;
    this.#library = library;
    this.#collections = collections;
  }

  async purge(scope: Scope, repositoryId: string, attempts: number, tools: JobTools): Promise<JsonObject> {
    if (!(await this.#mark(scope, repositoryId, "DELETE_IN_PROGRESS"))) return { mode: "purge", collections: 0 };
    try {
      const ids = await this.#collectionIds(scope, repositoryId);
      for (const [i, id] of ids.entries()) {
        await tools.tell({ done: i, total: ids.length });
        await this.#collections.purge(scope, repositoryId, id, attempts, { withDefault: true });
      }
      await tools.tell({ done: ids.length, total: ids.length });
      for (;;) {
        const { done } = await this.#parts.items.deletePartition(scope, collectionsContainer.name, [repositoryId], { limit: 500 });
        if (done) return { mode: "purge", collections: ids.length };
      }
    } catch (error) {
      await this.#mark(scope, repositoryId, "DELETE_FAILED").catch(() => {});
      throw error;
    }
  }

  /** From here on nobody makes a collection in it. */
  async #mark(scope: Scope, repositoryId: string, status: RepositoryRecord["status"]): Promise<boolean> {
    for (;;) {
      const found = await this.#library.repository(scope, repositoryId);
      if (found === undefined) return false;
      const record: RepositoryRecord = { ...found.record, status, updated_at: laterThan(found.record.updated_at, this.#parts.clock.now()) };
      try {
        await this.#library.batch(scope, repositoryId, [{ op: "replace", document: repositoryDocument(record), ifMatch: found.etag }]);
        return true;
      } catch (error) {
        if (!PinakesError.isInstance(error) || error.code !== "PRECONDITION_FAILED") throw error;
      }
    }
  }

  /** Reads the partition itself: one that an index does not show yet would be left over. */
  async #collectionIds(scope: Scope, repositoryId: string): Promise<readonly string[]> {
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.#parts.items.query(scope, collectionsContainer.name, {
        equals: { repository_id: repositoryId },
        range: { prefix: "collection:" },
        limit: 500,
        cursor,
      });
      ids.push(...page.items.map(({ document }) => (document as unknown as CollectionRecord).collection_id));
      cursor = page.cursor;
    } while (cursor !== undefined);
    return ids;
  }
}
