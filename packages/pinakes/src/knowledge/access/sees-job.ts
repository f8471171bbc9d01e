/** Whether a caller may see a job: the one decision of its collection, as for every other read. */
import type { Caller } from "../../domain/caller.ts";
import { decideCollection } from "./access.ts";
import type { CatalogRecords } from "../records/catalog-records.ts";
import type { JobRecord } from "../jobs/jobs.ts";

/**
 * Having started it is not enough: who lost the collection has lost its jobs, which tell names and errors of documents. Where no
 * collection is left, or never was (an evaluation), who started it is told how it ended.
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
  // Another life of the same id says nothing about who may see this one.
  const other = incarnation !== undefined && current?.record.incarnation !== incarnation;
  const collection = other ? await catalog.life(caller.scope, { repository_id, collection_id, incarnation }) : current;
  if (repository === undefined || collection === undefined) return created_by === caller.userId;
  return decideCollection(caller, repository.record, collection.record).level !== null;
}
