import type { Caller } from "../../domain/caller.ts";
import type { OpenCollection } from "../access/open-collection.ts";
import { jobView, type JobView } from "../views.ts";
import type { Jobs, NewJob } from "../jobs/jobs.ts";

/** Starts a job for a caller, who has passed the access decision. With `wait`, returns when it has finished. */
export async function startJob(
  jobs: Jobs,
  caller: Caller,
  input: Omit<NewJob, "created_by">,
  wait: boolean,
): Promise<JobView> {
  const job = await jobs.start(caller.scope, { ...input, created_by: caller.userId });
  return jobView(wait ? await jobs.run(caller.scope, job.job_id) : job);
}

/** Groups the documents of one upload under one job id. */
export async function noteIngest(
  jobs: Jobs,
  caller: Caller,
  { collection }: OpenCollection,
  jobId: string,
  documentIds: readonly string[],
): Promise<void> {
  const { repository_id, collection_id, incarnation } = collection;
  const input = { document_ids: documentIds };
  await jobs.note(
    caller.scope,
    { kind: "ingest", repository_id, collection_id, incarnation, created_by: caller.userId, input },
    jobId,
  );
}
