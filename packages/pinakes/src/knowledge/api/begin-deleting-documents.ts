/** Starts the job that deletes all documents of a collection (documents/delete-all.ts). */
import type { Caller } from "../../domain/caller.ts";
import { invalid } from "../../domain/errors.ts";
import { archived } from "../access/open-collection.ts";
import { CollectionPartition } from "../records/collection-partition.ts";
import type { JobView } from "../views.ts";
import type { Services } from "./services.ts";
import { startJob } from "./start-job.ts";

export async function beginDeletingDocuments(
  { deps, collections, jobs, queue }: Pick<Services, "deps" | "collections" | "jobs" | "queue">,
  caller: Caller,
  repositoryId: string,
  collectionId: string,
  confirm: string | undefined,
): Promise<JobView> {
  const { collection } = await collections.open(caller, repositoryId, collectionId, {
    needed: "ADMIN",
    action: "Deleting all documents",
  });
  if (collection.status === "ARCHIVED") throw archived(collection);
  const { repository_id, collection_id, incarnation } = collection;
  if (confirm !== collection_id)
    throw invalid(
      `confirm: must be the id of the collection, ${JSON.stringify(collection_id)}: all its documents are deleted.`,
    );
  await queue.watch(new CollectionPartition(deps.items, caller.scope, collection));
  return startJob(jobs, caller, { kind: "delete-documents", repository_id, collection_id, incarnation }, false);
}
