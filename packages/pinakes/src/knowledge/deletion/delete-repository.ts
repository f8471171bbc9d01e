/** Deletes a repository: it first refuses new writes, then its collections are purged from every store, then its record is deleted. */
import { hasCode } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Incarnation, Lifecycle } from "../../lifecycle/index.ts";
import { Later, type JobRecord, type JobTools } from "../jobs/jobs.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { incarnationOf } from "../records/incarnation-of.ts";
import { everyItem } from "../../containers/every-item.ts";
import type { CollectionDeletion } from "./delete-collection.ts";
import { repositoryDocument, type CatalogRecords } from "../records/catalog-records.ts";
import { collectionsContainer, itemIds, type CollectionRecord, type RepositoryRecord } from "../records/records.ts";
import { laterThan } from "../records/times.ts";

export class RepositoryDeletion {
  readonly #deps: KnowledgeDependencies;
  readonly #catalog: CatalogRecords;
  readonly #collections: CollectionDeletion;
  readonly #lifecycle: Lifecycle;

  constructor(
    deps: KnowledgeDependencies,
    catalog: CatalogRecords,
    collections: CollectionDeletion,
    lifecycle: Lifecycle,
  ) {
    this.#deps = deps;
    this.#catalog = catalog;
    this.#collections = collections;
    this.#lifecycle = lifecycle;
  }

  async purge(scope: Scope, { repository_id, created_by, progress }: JobRecord, tools: JobTools): Promise<JsonObject> {
    if (!(await this.#mark(scope, repository_id, "DELETE_IN_PROGRESS")))
      return { mode: "purge", collections: progress.total };
    const incarnations = await this.#incarnations(scope, repository_id);
    // Including those deleted by earlier attempts.
    const total = Math.max(progress.total, incarnations.length);
    for (const [i, incarnation] of incarnations.entries()) {
      await tools.tell({ done: total - incarnations.length + i, total });
      await this.#purge(scope, incarnation, created_by);
    }
    await tools.tell({ done: total, total });
    for (;;) {
      const { done } = await this.#deps.items.deletePartition(scope, collectionsContainer.name, [repository_id], {
        limit: 500,
      });
      if (done) return { mode: "purge", collections: total };
    }
  }

  /** Refuses writers from here on. Only for this repository: one created with the same id after the job finished is another. */
  async close(
    scope: Scope,
    { repository_id, created_at }: Pick<RepositoryRecord, "repository_id" | "created_at">,
  ): Promise<void> {
    await this.#mark(
      scope,
      repository_id,
      "DELETE_IN_PROGRESS",
      (found) => found.created_at === created_at && found.status === "ACTIVE",
    );
  }

  /** Waits for a store that is down: the job resumes when the collection is gone. */
  async #purge(scope: Scope, incarnation: Incarnation, createdBy: string): Promise<void> {
    try {
      await this.#collections.begin(scope, incarnation, { createdBy, withDefault: true });
    } catch (error) {
      // Its own operation finished concurrently.
      if (hasCode(error, "NOT_FOUND")) return;
      throw error;
    }
    const operation = await this.#lifecycle.finish(scope, incarnation);
    if (operation === undefined || operation.status === "done") return;
    if (operation.status === "failed") await this.#mark(scope, incarnation.repository_id, "DELETE_FAILED");
    const waiting = operation.stores.filter(({ status }) => status !== "confirmed").map(({ store }) => store);
    throw new Later(`Collection "${incarnation.collection_id}" is still in ${waiting.join(", ")}.`);
  }

  /** From here on no collection can be created in it or written to. */
  async #mark(
    scope: Scope,
    repositoryId: string,
    status: RepositoryRecord["status"],
    isMeant: (found: RepositoryRecord) => boolean = () => true,
  ): Promise<boolean> {
    for (;;) {
      const found = await this.#catalog.repository(scope, repositoryId);
      if (found === undefined || !isMeant(found.record)) return false;
      const record: RepositoryRecord = {
        ...found.record,
        status,
        updated_at: laterThan(found.record.updated_at, this.#deps.clock.now()),
      };
      try {
        await this.#catalog.batch(scope, repositoryId, [
          { op: "replace", document: repositoryDocument(record), ifMatch: found.etag },
        ]);
        return true;
      } catch (error) {
        if (!hasCode(error, "PRECONDITION_FAILED")) throw error;
      }
    }
  }

  /** Reads the partition itself: an eventually consistent index could miss a collection. */
  async #incarnations(scope: Scope, repositoryId: string): Promise<readonly Incarnation[]> {
    return Array.fromAsync(
      everyItem(this.#deps.items, scope, collectionsContainer.name, {
        equals: { repository_id: repositoryId },
        range: { prefix: itemIds.collection("") },
        limit: 500,
      }),
      ({ document }) => incarnationOf(document as unknown as CollectionRecord),
    );
  }
}
