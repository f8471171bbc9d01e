/** Operations of collections that the caller may see, and the caller's own, as for jobs. */
import { operationStatuses } from "@pinakes/client";
import { requireCaller, type Caller } from "../../domain/caller.ts";
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import { operationItemId, type Lifecycle, type Operation, type OperationStatus } from "../../lifecycle/index.ts";
import { notFound } from "../access/access.ts";
import { personalAlias, personalRepositoryId } from "../records/ids.ts";
import type { CatalogRecords } from "../records/catalog-records.ts";
import { incarnationOf } from "../records/incarnation-of.ts";
import { checkLimit } from "../collections/list-collections.ts";
import { checkAskedId } from "../records/names.ts";
import { collectionsContainer } from "../records/records.ts";
import type { ListPage, Paging } from "../records/paging.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { operationView, type OperationView } from "../views.ts";
import type { Jobs } from "../jobs/jobs.ts";
import { sightOfJob, type Work } from "../access/sees-job.ts";
import { everyPage } from "../../containers/every-item.ts";

export interface OperationQuery extends Paging {
  readonly status?: OperationStatus | undefined;
  /** On any incarnation of the collection with this id. */
  readonly collection?: string | undefined;
  /** `me` is the caller's personal repository. */
  readonly repository?: string | undefined;
}

export interface OperationsApiDependencies {
  readonly deps: KnowledgeDependencies;
  readonly catalog: CatalogRecords;
  readonly jobs: Jobs;
  readonly lifecycle: Lifecycle;
}

export class OperationsApi {
  readonly #services: OperationsApiDependencies;

  constructor(services: OperationsApiDependencies) {
    this.#services = services;
  }

  /** Newest first. */
  async list(caller: Caller, query: OperationQuery = {}): Promise<ListPage<OperationView>> {
    const scope = requireCaller(caller);
    const limit = checkLimit(query.limit);
    const { status } = query;
    if (status !== undefined && !operationStatuses.includes(status))
      throw invalid(`status: must be one of ${operationStatuses.join(", ")}, got ${show(status)}.`);
    const repository_id = query.repository === personalAlias ? personalRepositoryId(caller.userId) : query.repository;
    const filter = {
      ...(status === undefined ? {} : { status }),
      ...(query.collection === undefined ? {} : { collection_id: query.collection }),
      ...(repository_id === undefined ? {} : { repository_id }),
    };
    const items: OperationView[] = [];
    let { cursor } = query;
    do {
      const page = await this.#services.deps.items.query(scope, collectionsContainer.name, {
        index: "allByCreated",
        equals: { kind: "operation" },
        order: "desc",
        filter,
        limit: limit - items.length,
        cursor,
      });
      for (const { document } of page.items) {
        const operation = document as unknown as Operation;
        if (await this.#sees(caller, operation)) items.push(operationView(operation));
      }
      cursor = page.cursor;
    } while (cursor !== undefined && items.length < limit);
    return { items, next_cursor: cursor ?? null };
  }

  async get(caller: Caller, operationId: string): Promise<OperationView> {
    return operationView(await this.#visible(caller, operationId));
  }

  /** Retries immediately. */
  async retry(caller: Caller, operationId: string): Promise<OperationView> {
    const { scope, operation } = await this.#own(caller, operationId);
    const next = await this.#services.lifecycle.retry(scope, operation);
    this.#services.lifecycle.driveSoon(scope, incarnationOf(operation));
    return operationView(next);
  }

  /** The error for a collection that was purged, for callers who could have restored it: the operation's report is kept for a while. */
  async gone(caller: Caller, repositoryId: string, collectionId: string): Promise<PinakesError | undefined> {
    const scope = requireCaller(caller);
    const repository_id = repositoryId === personalAlias ? personalRepositoryId(caller.userId) : repositoryId;
    let operation: Operation | undefined;
    let cursor: string | undefined;
    do {
      const page = await this.#services.deps.items.query(scope, collectionsContainer.name, {
        equals: { repository_id },
        range: { prefix: operationItemId("") },
        filter: { collection_id: collectionId, action: "delete-collection", status: "done" },
        limit: 100,
        cursor,
      });
      operation = page.items[0]?.document as unknown as Operation | undefined;
      cursor = page.cursor;
    } while (operation === undefined && cursor !== undefined);
    if (operation === undefined || (caller.role !== "admin" && operation.created_by !== caller.userId))
      return undefined;
    return new PinakesError("GONE", `Collection "${collectionId}" was purged at ${operation.finished_at}.`);
  }

  /** The job with the same id, if there is one, locates the operation. */
  async #visible(caller: Caller, operationId: string): Promise<Operation> {
    const scope = requireCaller(caller);
    checkAskedId(operationId, "operation_id");
    const what = `operation "${operationId}"`;
    const job = (await this.#services.jobs.read(scope, operationId)) ?? (await this.#listed(scope, operationId));
    if (job?.incarnation === undefined || !(await this.#sees(caller, job))) throw notFound(what);
    const found = await this.#services.lifecycle.read(scope, {
      repository_id: job.repository_id,
      incarnation: job.incarnation,
    });
    if (found?.operation.operation_id !== operationId) throw notFound(what);
    return found.operation;
  }

  /** What a store counts may be of documents that the caller may not see: then the operation is not shown. */
  async #sees(caller: Caller, work: Work): Promise<boolean> {
    const { catalog, deps } = this.#services;
    const sight = await sightOfJob({ catalog, items: deps.items }, caller, work);
    return sight !== undefined && (sight.hidden === undefined || work.created_by === caller.userId);
  }

  /** Finds an operation without a job by scanning all operations. */
  async #listed(scope: Scope, operation_id: string): Promise<Operation | undefined> {
    for await (const page of everyPage(this.#services.deps.items, scope, collectionsContainer.name, {
      index: "allByCreated",
      equals: { kind: "operation" },
      order: "desc",
      filter: { operation_id },
      limit: 100,
    })) {
      const found = page.items[0]?.document as unknown as Operation | undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  }

  async #own(caller: Caller, operationId: string): Promise<{ readonly scope: Scope; readonly operation: Operation }> {
    const operation = await this.#visible(caller, operationId);
    if (caller.role !== "admin" && operation.created_by !== caller.userId)
      throw new PinakesError(
        "FORBIDDEN",
        `Retrying is for admins and for the user who started operation "${operationId}".`,
      );
    return { scope: caller.scope, operation };
  }
}
