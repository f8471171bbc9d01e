/** Long-running work that callers start. Permissions and input are checked before it starts. */
import type { Caller } from "../../domain/caller.ts";
import { hasCode, PinakesError, invalid } from "../../domain/errors.ts";
import { invariant } from "../../domain/invariant.ts";
import { requireEtag } from "../records/conditions.ts";
import { decideCollection, requirePurge } from "../access/access.ts";
import { incarnationOf } from "../records/incarnation-of.ts";
import { archived } from "../access/open-collection.ts";
import { isLive, type CatalogRecords } from "../records/catalog-records.ts";
import type { CollectionRecord, RepositoryRecord } from "../records/records.ts";
import type { Services } from "./services.ts";
import { jobView, recordEtag, type JobView } from "../views.ts";
import { updateJob } from "../jobs/operation-jobs.ts";
import { startJob } from "./start-job.ts";

export interface DeleteOptions {
  /** Delete permanently and immediately. */
  readonly purge?: boolean | undefined;
  /** The id again; required when the delete cannot be undone. */
  readonly confirm?: string | undefined;
  readonly ifMatch?: string | undefined;
  /** For a purge: which incarnation of the id. */
  readonly incarnation?: string | undefined;
  /** Continue although a store cannot delete; the result then says `partial`. */
  readonly allow_partial?: boolean | undefined;
}

export async function deleteRepository(
  { repositories, jobs, repositoryDeletion }: Pick<Services, "repositories" | "jobs" | "repositoryDeletion">,
  caller: Caller,
  repositoryId: string,
  { confirm, ifMatch }: Pick<DeleteOptions, "confirm" | "ifMatch">,
): Promise<JobView> {
  const { record, etag } = await repositories.get(caller, repositoryId, "ADMIN", "Deleting");
  requireEtag(etag, ifMatch, `Repository "${repositoryId}"`);
  if (confirm !== repositoryId)
    throw invalid(`confirm: must be the id of the repository, "${repositoryId}": this cannot be undone.`);
  const job = await startJob(
    jobs,
    caller,
    { kind: "delete-repository", repository_id: record.repository_id, collection_id: "" },
    false,
  );
  // After this returns, nothing is accepted that the job would delete, even if another process runs the job later.
  await repositoryDeletion.close(caller.scope, record);
  return job;
}

export async function deleteCollection(
  { deletion, collections, jobs, lifecycle }: Pick<Services, "deletion" | "collections" | "jobs" | "lifecycle">,
  caller: Caller,
  repositoryId: string,
  collectionId: string,
  options: DeleteOptions,
): Promise<JobView> {
  const { confirm, incarnation: wanted } = options;
  const purge = options.purge === true;
  const opened = await collections.open(caller, repositoryId, collectionId, {
    needed: "ADMIN",
    action: "Deleting",
    ending: true,
    deleted: purge,
    incarnation: wanted,
  });
  const { collection, repository } = opened;
  requireEtag(opened.etag, recordEtag(options.ifMatch), `Collection "${collectionId}"`);
  // Without a trash every delete is permanent.
  const final = purge || (await deletion.trashMsOf(caller.scope)) === 0;
  if (confirm !== undefined ? confirm !== collectionId : final)
    throw invalid(
      `confirm: must be the id of the collection, "${collectionId}"${final ? ": a purge cannot be undone" : ""}.`,
    );
  if (collection.is_default) throw invalid("The default collection cannot be deleted; delete its documents instead.");
  const incarnation = incarnationOf(collection);
  if (!final) return startJob(jobs, caller, { kind: "delete", ...incarnation }, true);
  if (purge) requirePurge(caller, repository, collection);
  const started = await deletion.begin(caller.scope, incarnation, {
    createdBy: caller.userId,
    allowPartial: options.allow_partial,
  });
  invariant(started !== undefined, "INTERNAL", "a purge without a due time is always due");
  // Asking again retries immediately instead of waiting for the next attempt.
  const operation = started.status === "failed" ? await lifecycle.retry(caller.scope, incarnation) : started;
  const job = await updateJob(jobs, caller.scope, operation);
  lifecycle.driveSoon(caller.scope, incarnation);
  return jobView(job);
}

/** Returns when the restore is done. */
export async function restoreCollection(
  {
    catalog,
    collections,
    deletion,
    jobs,
    operations,
  }: Pick<Services, "catalog" | "collections" | "deletion" | "jobs" | "operations">,
  caller: Caller,
  repositoryId: string,
  collectionId: string,
  options: Pick<DeleteOptions, "incarnation">,
): Promise<void> {
  const opening = { needed: "ADMIN", action: "Restoring", deleted: true, ...options } as const;
  const { repository, collection } = await collections
    .open(caller, repositoryId, collectionId, opening)
    .catch(async (error: unknown) => {
      if (!hasCode(error, "NOT_FOUND")) throw error;
      throw (await operations.gone(caller, repositoryId, collectionId)) ?? error;
    });
  if (isLive(collection)) throw await notDeleted(catalog, caller, repository, collection);
  deletion.requireRestorable(collection);
  const job = await startJob(jobs, caller, { kind: "restore", ...incarnationOf(collection) }, true);
  if (job.status !== "succeeded")
    throw new PinakesError("CONFLICT", job.error ?? "The restore did not finish; see its job.");
}

/** Names the incarnation that the caller probably meant, if there is one that the caller can restore. */
async function notDeleted(
  catalog: CatalogRecords,
  caller: Caller,
  repository: RepositoryRecord,
  now: CollectionRecord,
): Promise<PinakesError> {
  const { repository_id, collection_id, status } = now;
  const former = (await catalog.displaced(caller.scope, repository_id, collection_id)).find(
    ({ record }) => record.status === "DELETED" && decideCollection(caller, repository, record).level === "ADMIN",
  );
  const hint =
    former === undefined
      ? ""
      : ` An earlier one with this id is in the trash: delete this one first, then restore the earlier one with incarnation ${former.record.incarnation} (on the command line --incarnation).`;
  return new PinakesError("CONFLICT", `Collection "${collection_id}" is not deleted; it is ${status}.${hint}`);
}

export interface ReindexInput {
  readonly embedding_model?: string | undefined;
}

export async function reindexCollection(
  { deps, collections, jobs }: Pick<Services, "deps" | "collections" | "jobs">,
  caller: Caller,
  repositoryId: string,
  collectionId: string,
  { embedding_model }: ReindexInput,
): Promise<JobView> {
  const { collection } = await collections.open(caller, repositoryId, collectionId, {
    needed: "ADMIN",
    action: "Re-indexing",
  });
  if (collection.status === "ARCHIVED") throw archived(collection);
  if (embedding_model !== undefined) await deps.embedders.get(embedding_model);
  const fields = embedding_model === undefined ? {} : { input: { embedding_model } };
  return startJob(jobs, caller, { kind: "reindex", ...incarnationOf(collection), ...fields }, false);
}
