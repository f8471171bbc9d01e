/** Jobs of collections that the caller may see, and the caller's own jobs. */
import { requireCaller, type Caller } from "../../domain/caller.ts";
import { PinakesError } from "../../domain/errors.ts";
import type { Documents } from "../documents/documents.ts";
import { notFound } from "../access/access.ts";
import type { Collections } from "../collections/collections.ts";
import type { CatalogRecords } from "../records/catalog-records.ts";
import { checkLimit } from "../collections/list-collections.ts";
import { checkAskedId } from "../records/names.ts";
import type { ListPage } from "../records/paging.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { jobView, type JobView } from "../views.ts";
import { documentIdsOf, withDocuments, type DocumentResult } from "../jobs/ingest-jobs.ts";
import type { JobQuery, JobRecord, Jobs } from "../jobs/jobs.ts";
import type { OperationsApi } from "./operations-api.ts";
import { isOperationJob } from "../jobs/operation-jobs.ts";
import { shownJob, sightOfJob, type JobSight } from "../access/sees-job.ts";

export interface JobsApiDependencies {
  readonly deps: KnowledgeDependencies;
  readonly catalog: CatalogRecords;
  readonly jobs: Jobs;
  readonly collections: Collections;
  readonly documents: Documents;
  readonly operations: OperationsApi;
}

export class JobsApi {
  readonly #services: JobsApiDependencies;

  constructor(services: JobsApiDependencies) {
    this.#services = services;
  }

  async get(caller: Caller, jobId: string): Promise<JobView> {
    const [view] = await this.#views(caller, await this.#visible(caller, jobId));
    if (view === undefined) throw notFound(`job "${jobId}"`);
    return view;
  }

  async list(caller: Caller, query: JobQuery = {}): Promise<ListPage<JobView>> {
    const scope = requireCaller(caller);
    const limit = checkLimit(query.limit);
    const items: JobView[] = [];
    let { cursor } = query;
    do {
      const page = await this.#services.jobs.list(scope, { ...query, limit: limit - items.length, cursor });
      for (const job of page.items) items.push(...(await this.#views(caller, job)));
      cursor = page.cursor;
    } while (cursor !== undefined && items.length < limit);
    return { items, next_cursor: cursor ?? null };
  }

  /** For an upload, retries only the documents that failed. */
  async retry(caller: Caller, jobId: string): Promise<JobView> {
    const job = await this.#own(caller, jobId, "Retrying");
    if (isOperationJob(job)) {
      await this.#services.operations.retry(caller, jobId);
      return this.get(caller, jobId);
    }
    if (job.kind !== "ingest") return jobView(await this.#services.jobs.retry(caller.scope, jobId));
    const { repository_id, collection_id } = job;
    const opened = await this.#services.collections.open(caller, repository_id, collection_id, {
      needed: "WRITE",
      action: "Retrying",
    });
    const hidden = (await this.#sight(caller, job))?.hidden;
    const { result } = await withDocuments(this.#services.deps, this.#services.catalog, caller.scope, job, hidden);
    const failed = ((result?.["documents"] ?? []) as readonly DocumentResult[]).filter(
      ({ status }) => status === "failed",
    );
    if (failed.length === 0) throw new PinakesError("CONFLICT", `No document of job "${jobId}" has failed.`);
    for (const { document_id } of failed) await this.#services.documents.reindex(caller, opened, document_id);
    return this.get(caller, jobId);
  }

  async cancel(caller: Caller, jobId: string): Promise<JobView> {
    const job = await this.#own(caller, jobId, "Cancelling it");
    if (job.kind === "ingest")
      throw new PinakesError(
        "CONFLICT",
        `Job "${jobId}" ingests ${documentIdsOf(job).length} documents and cannot be cancelled; delete the unwanted documents.`,
      );
    if (isOperationJob(job) && job.status !== "succeeded")
      throw new PinakesError(
        "CONFLICT",
        `Job "${jobId}" cannot be cancelled: what one store has already deleted cannot be restored.`,
      );
    return jobView(await this.#services.jobs.cancel(caller.scope, jobId));
  }

  async #sight(caller: Caller, job: JobRecord): Promise<JobSight | undefined> {
    const { catalog, deps } = this.#services;
    return sightOfJob({ catalog, items: deps.items }, caller, job);
  }

  /** None: the caller may not see the job. */
  async #views(caller: Caller, job: JobRecord): Promise<readonly JobView[]> {
    const sight = await this.#sight(caller, job);
    if (sight === undefined) return [];
    if (job.kind !== "ingest") return [jobView(shownJob(job, sight))];
    const { deps, catalog } = this.#services;
    return [jobView(await withDocuments(deps, catalog, caller.scope, job, sight.hidden))];
  }

  async #visible(caller: Caller, jobId: string): Promise<JobRecord> {
    const scope = requireCaller(caller);
    checkAskedId(jobId, "job_id");
    const job = await this.#services.jobs.read(scope, jobId);
    if (job === undefined || (await this.#sight(caller, job)) === undefined) throw notFound(`job "${jobId}"`);
    return job;
  }

  async #own(caller: Caller, jobId: string, action: string): Promise<JobRecord> {
    const job = await this.#visible(caller, jobId);
    if (caller.role !== "admin" && job.created_by !== caller.userId)
      throw new PinakesError("FORBIDDEN", `${action} is for admins and for the user who started job "${jobId}".`);
    return job;
  }
}
