/** The lifecycle's view of the catalog: how an operation changes a collection's record, and whom it notifies. */
import type { Scope } from "../../domain/scope.ts";
import type { Catalogue, Incarnation, Operation } from "../../lifecycle/index.ts";
import type { Operation as ItemOperation } from "../../ports/item-store.ts";
import type { Jobs } from "../jobs/jobs.ts";
import { updateJob } from "../jobs/operation-jobs.ts";
import { ownVectorsName } from "../records/raw-vectors-name.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { personalRepositoryId } from "../records/ids.ts";
import { collectionDocument, collectionItemId, isLive, type CatalogRecords } from "../records/catalog-records.ts";
import { named } from "../records/new-collection.ts";
import { collectionsContainer } from "../records/records.ts";
import { incarnationOf } from "../records/incarnation-of.ts";
import { TagRows } from "../records/tag-rows.ts";
import { laterThan } from "../records/times.ts";

/** The workspace of messages from LISA, which has none. */
const defaultWorkspace = "default";

export class LifecycleCatalog implements Catalogue {
  readonly container = collectionsContainer.name;
  readonly #deps: KnowledgeDependencies;
  readonly #catalog: CatalogRecords;
  readonly #jobs: Jobs;

  constructor(deps: KnowledgeDependencies, catalog: CatalogRecords, jobs: Jobs) {
    this.#deps = deps;
    this.#catalog = catalog;
    this.#jobs = jobs;
  }

  async beside(scope: Scope, operation: Operation): Promise<readonly ItemOperation[]> {
    if (operation.action !== "delete-collection") return [];
    const found = await this.#catalog.incarnation(scope, operation);
    // Nothing else deletes a record; if it is missing all the same, the operation may still finish.
    if (found === undefined) return [];
    const { record, etag } = found;
    if (operation.status === "done") {
      // Before the record, which names them.
      await new TagRows(this.#deps.items).end(scope, record);
      return [{ op: "delete", id: collectionItemId(record), ifMatch: etag }];
    }
    const status = operation.status === "failed" ? "DELETE_FAILED" : "DELETE_IN_PROGRESS";
    if (record.status === status) return [];
    const next = named({ ...record, status, updated_at: laterThan(record.updated_at, this.#deps.clock.now()) });
    return [{ op: "replace", document: collectionDocument(next), ifMatch: etag }];
  }

  async incarnationsOf(
    user: string,
    collection: string,
  ): Promise<readonly { readonly scope: Scope; readonly key: Incarnation }[]> {
    const scope = this.#deps.system.forTenant(defaultWorkspace);
    const repository = personalRepositoryId(user);
    if (!/^[\w.-]+$/.test(collection)) return [];
    const first = await this.#catalog.collection(scope, repository, collection);
    const all = [
      ...(first === undefined ? [] : [first]),
      ...(await this.#catalog.displaced(scope, repository, collection)),
    ];
    return all
      .filter(({ record }) => !isLive(record) && record.status !== "DELETED")
      .map(({ record }) => ({ scope, key: incarnationOf(record) }));
  }

  async knows(scope: Scope, incarnation: string): Promise<boolean> {
    const { items } = await this.#deps.items.query(scope, this.container, {
      index: "byIncarnation",
      equals: { incarnation, kind: "collection" },
      limit: 1,
    });
    return items.length > 0;
  }

  /** A purge retires this name permanently, even if it never held a row (stores/vectors-store.ts). */
  async ended(scope: Scope, incarnation: string): Promise<boolean> {
    return (await this.#deps.vectors.remains(scope, ownVectorsName(incarnation))).status === "deleted";
  }

  async statusChanged(scope: Scope, operation: Operation): Promise<void> {
    // An archival creates a job only when it fails, and then updates it to the end.
    const quiet = operation.action === "archive-collection" && operation.status !== "failed";
    if (quiet && (await this.#jobs.read(scope, operation.operation_id)) === undefined) return;
    await updateJob(this.#jobs, scope, operation);
  }
}
