import type { Caller } from "../../domain/caller.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import { decideCollection } from "./access.ts";
import { hiddenDocuments, type HiddenDocuments } from "./hidden-documents.ts";
import type { CatalogRecords } from "../records/catalog-records.ts";
import { documentIdsOf } from "../jobs/ingest-jobs.ts";
import type { JobRecord } from "../jobs/jobs.ts";

/** What a caller may see of a job. */
export interface JobSight {
  /** Documents of its collection that are left out. */
  readonly hidden: HiddenDocuments | undefined;
}

/** A job, or the operation of one. */
export type Work = Pick<JobRecord, "repository_id" | "collection_id" | "incarnation" | "created_by"> & {
  readonly kind?: unknown;
  readonly input?: unknown;
};

/**
 * Undefined: the caller may not see the job. The access decision of its collection applies, as for every other read: a caller who lost
 * access to the collection must not read document names and errors from its jobs. If the collection no longer exists or never did
 * (evaluations), only the creator of the job sees it. A job that ingests only documents that the caller may not see does not exist.
 */
export async function sightOfJob(
  { catalog, items }: { readonly catalog: CatalogRecords; readonly items: ItemStore },
  caller: Caller,
  job: Work,
): Promise<JobSight | undefined> {
  if (caller.role === "admin") return { hidden: undefined };
  const { repository_id, collection_id, incarnation, created_by } = job;
  const [repository, current] = await catalog.both(caller.scope, repository_id, collection_id);
  // Another incarnation of the same id says nothing about access to this one.
  const other = incarnation !== undefined && current?.record.incarnation !== incarnation;
  const collection = other
    ? await catalog.incarnation(caller.scope, { repository_id, collection_id, incarnation })
    : current;
  if (repository === undefined || collection === undefined)
    return created_by === caller.userId ? { hidden: undefined } : undefined;
  const decision = decideCollection(caller, repository.record, collection.record);
  if (decision.level === null) return undefined;
  const hidden = await hiddenDocuments({ items }, caller, { collection: collection.record, decision });
  const ids = job.kind === "ingest" ? documentIdsOf({ input: job.input as JobRecord["input"] }) : [];
  if (hidden !== undefined && ids.length > 0 && ids.every((id) => hidden.values.has(id))) return undefined;
  return { hidden };
}

/** An error, a result or the progress of other work may name or count documents that the caller may not see. */
export function shownJob<Job extends Pick<JobRecord, "kind" | "error" | "result" | "progress">>(
  job: Job,
  { hidden }: JobSight,
): Job {
  if (hidden === undefined || job.kind === "ingest") return job;
  return {
    ...job,
    error: job.error === null ? null : "The details name documents that you may not see.",
    result: null,
    progress: { done: 0, total: 0 },
  };
}
