/** Uploads into a collection that may be created by them, one at a time or several as one job. */
import type { Caller } from "../../domain/caller.ts";
import { noteIngest } from "./start-job.ts";
import { archived, type OpenCollection } from "../access/open-collection.ts";
import { openOrCreate } from "../collections/open-or-create.ts";
import type { Services } from "./services.ts";
import { documentView, type UploadedDocument } from "../views.ts";
import type { UploadInput } from "../documents/check-upload.ts";

type Dependencies = Pick<Services, "deps" | "collections" | "repositories" | "uploads" | "activity" | "jobs">;

export async function takeUpload(
  services: Dependencies,
  caller: Caller,
  repositoryId: string,
  collectionId: string,
  input: UploadInput,
): Promise<UploadedDocument> {
  const opened = await openOrCreate(services, caller, repositoryId, collectionId, input);
  const { unchanged, duplicate_of, ...stored } = await services.uploads.upload(caller, opened, input);
  services.activity.add(caller.scope, { uploads: 1, upload_bytes: stored.record.size_bytes });
  return {
    ...documentView(stored),
    ...(unchanged ? { unchanged } : {}),
    ...(duplicate_of === undefined ? {} : { duplicate_of }),
  };
}

/** The collection, if the caller may add documents to it. */
export async function openForUploads(
  services: Dependencies,
  caller: Caller,
  repositoryId: string,
  collectionId: string,
): Promise<OpenCollection> {
  const opened = await openOrCreate(services, caller, repositoryId, collectionId);
  if (opened.collection.status === "ARCHIVED") throw archived(opened.collection);
  return opened;
}

/** All documents that `run` uploads belong to one job, also if it fails part-way. */
export async function takeUploads<T>(
  services: Dependencies,
  caller: Caller,
  repositoryId: string,
  collectionId: string,
  run: (take: (input: UploadInput) => Promise<UploadedDocument>) => Promise<T>,
): Promise<{ readonly job_id: string | null; readonly result: T }> {
  const opened = await openForUploads(services, caller, repositoryId, collectionId);
  const job_id = services.deps.newId();
  const ids: string[] = [];
  try {
    const result = await run(async (input) => {
      const document = await takeUpload(services, caller, repositoryId, collectionId, { ...input, job_id });
      ids.push(document.document_id);
      return document;
    });
    return { job_id: ids.length === 0 ? null : job_id, result };
  } finally {
    if (ids.length > 0) await noteIngest(services.jobs, caller, opened, job_id, ids);
  }
}
