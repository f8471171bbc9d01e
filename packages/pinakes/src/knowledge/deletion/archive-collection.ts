/** Archiving: the record changes at once, the fence stops writers, and every store confirms (RFC 0007, "Other operations"). */
import type { Caller } from "../../domain/caller.ts";
import { invalid } from "../../domain/errors.ts";
import { isConflict } from "../../runtime/expected-errors.ts";
import type { Lifecycle, StoredOperation } from "../../lifecycle/index.ts";
import { operationItemId } from "../../lifecycle/index.ts";
import type { Operation as ItemOperation } from "../../ports/item-store.ts";
import { CollectionPartition } from "../records/collection-partition.ts";
import type { KnowledgeWork } from "../records/work-registry.ts";
import type { Jobs } from "../jobs/jobs.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { decideCollection } from "../access/access.ts";
import { incarnationOf } from "../records/incarnation-of.ts";
import type { Collections } from "../collections/collections.ts";
import type { OpenCollection } from "../access/open-collection.ts";
import { collectionDocument, type CatalogRecords } from "../records/catalog-records.ts";
import { named } from "../records/new-collection.ts";
import { laterThan } from "../records/times.ts";

export interface ArchivingDependencies {
  readonly deps: KnowledgeDependencies;
  readonly catalog: CatalogRecords;
  readonly collections: Collections;
  readonly registry: KnowledgeWork;
  readonly lifecycle: Lifecycle;
  readonly jobs: Jobs;
}

export interface ToArchive {
  readonly repositoryId: string;
  readonly collectionId: string;
  readonly ifMatch?: string | undefined;
}

export class CollectionArchiving {
  readonly #services: ArchivingDependencies;

  constructor(services: ArchivingDependencies) {
    this.#services = services;
  }

  async archive(caller: Caller, which: ToArchive): Promise<OpenCollection> {
    const { deps, lifecycle, registry } = this.#services;
    const archived = await this.#change(caller, which, "ARCHIVED", async (found, next, earlier) => {
      const { collection } = found;
      const operation = await lifecycle.plan({
        ...incarnationOf(collection),
        operation_id: deps.newId(),
        action: "archive-collection",
        created_by: caller.userId,
        allow_partial: true,
      });
      await registry.mark(
        { kind: "operation", tenant: caller.scope.tenant, ...incarnationOf(collection) },
        deps.clock.now(),
      );
      await lifecycle.begin(caller.scope, operation, [next], earlier);
    });
    lifecycle.driveSoon(caller.scope, incarnationOf(archived.collection));
    return archived;
  }

  /** Cancels an archival in progress, in the batch that makes the collection active again. */
  async unarchive(caller: Caller, which: ToArchive): Promise<OpenCollection> {
    return this.#change(caller, which, "ACTIVE", async ({ collection }, next, earlier) => {
      const end =
        earlier === undefined
          ? []
          : [{ op: "delete", id: operationItemId(collection.incarnation), ifMatch: earlier.etag } as const];
      await this.#services.catalog.batch(caller.scope, collection.repository_id, [next, ...end]);
      if (earlier !== undefined) await this.#services.jobs.supersede(caller.scope, earlier.operation.operation_id);
    });
  }

  async #change(
    caller: Caller,
    { repositoryId, collectionId, ifMatch }: ToArchive,
    status: "ACTIVE" | "ARCHIVED",
    write: (found: OpenCollection, next: ItemOperation, earlier: StoredOperation | undefined) => Promise<void>,
  ): Promise<OpenCollection> {
    const { deps, collections, lifecycle } = this.#services;
    const action = status === "ARCHIVED" ? "Archiving" : "Unarchiving";
    for (;;) {
      const found = await collections.open(caller, repositoryId, collectionId, { needed: "ADMIN", action });
      const { collection } = found;
      if (collection.is_default && status === "ARCHIVED") throw invalid("The default collection cannot be archived.");
      const record = named({
        ...collection,
        status,
        updated_at: laterThan(collection.updated_at, deps.clock.now()),
      });
      const earlier = await lifecycle.read(caller.scope, collection);
      try {
        await write(
          found,
          { op: "replace", document: collectionDocument(record), ifMatch: ifMatch ?? found.etag },
          earlier,
        );
      } catch (error) {
        if (!isConflict(error) || (ifMatch !== undefined && error.context.batch?.index === 0)) throw error;
        continue;
      }
      await new CollectionPartition(deps.items, caller.scope, record).setStatus(status);
      const [repository, stored] = await this.#services.catalog.both(caller.scope, record.repository_id, collectionId);
      const parent = repository?.record ?? found.repository;
      return {
        repository: parent,
        collection: record,
        etag: stored?.etag ?? found.etag,
        decision: decideCollection(caller, parent, record),
      };
    }
  }
}
