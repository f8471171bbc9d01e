import type { Caller } from "../../domain/caller.ts";
import { decideCollection } from "./access.ts";
import type { CatalogRecords } from "../records/catalog-records.ts";
import type { JobRecord } from "../jobs/jobs.ts";

/**
 * Whether a caller may see a job. The access decision of its collection applies, as for every other read: a caller who lost access to the
 * collection must not read document names and errors from its jobs. If the collection no longer exists or never did (evaluations), only the
 * creator of the job sees it.
 */
export async function seesJob(
  catalog: CatalogRecords,
  caller: Caller,
  {
    repository_id,
    collection_id,
    incarnation,
    created_by,
  }: Pick<JobRecord, "repository_id" | "collection_id" | "incarnation" | "created_by">,
): Promise<boolean> {
  if (caller.role === "admin") return true;
  const [repository, current] = await catalog.both(caller.scope, repository_id, collection_id);
  // Another incarnation of the same id says nothing about access to this one.
  const other = incarnation !== undefined && current?.record.incarnation !== incarnation;
  const collection = other
    ? await catalog.incarnation(caller.scope, { repository_id, collection_id, incarnation })
    : current;
  if (repository === undefined || collection === undefined) return created_by === caller.userId;
  return decideCollection(caller, repository.record, collection.record).level !== null;
}
