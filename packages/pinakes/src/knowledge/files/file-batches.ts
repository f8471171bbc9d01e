/**
 * Batches: many files attached to a collection by one job. Each file has an attachment record before the job begins, so lists and counters
 * know of it at once; the job makes documents of them one after the other and can be carried on, or cancelled, at any file.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { requireCaller, type Caller } from "../../domain/caller.ts";
import { errorCodeOf, PinakesError, invalid, show } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import { ifMissing, tolerate } from "../../runtime/expected-errors.ts";
import { inParallel } from "../../runtime/in-parallel.ts";
import { notFound } from "../access/access.ts";
import type { OpenCollection } from "../access/open-collection.ts";
import { readChunkingStrategy } from "../chunking/index.ts";
import type { Collections } from "../collections/collections.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import type { Documents } from "../documents/documents.ts";
import type { JobRecord, Jobs, JobTools } from "../jobs/jobs.ts";
import type { CollectionPartition } from "../records/collection-partition.ts";
import { checkAskedId } from "../records/names.ts";
import { itemIds, type AttachmentRecord } from "../records/records.ts";
import { isoTime } from "../records/times.ts";
import {
  type AttachedCounts,
  type AttachedFile,
  type AttachedStatus,
  type Attachments,
  type FileToAttach,
} from "./attachments.ts";
import type { Files } from "./files.ts";
import { fileLimits } from "./limits.ts";

export interface FileBatch {
  readonly batch_id: string;
  readonly status: AttachedStatus;
  readonly counts: AttachedCounts;
  readonly created_at: string;
}

export interface BatchFilesQuery {
  readonly status?: AttachedStatus | undefined;
  readonly order: "asc" | "desc";
  readonly limit: number;
  readonly after?: string | undefined;
  readonly before?: string | undefined;
}

interface BatchInput {
  readonly file_ids: readonly string[];
  readonly user: { readonly id: string; readonly groups: readonly string[]; readonly role: Caller["role"] };
}

export interface FileBatchesDependencies {
  readonly deps: KnowledgeDependencies;
  readonly jobs: Jobs;
  readonly collections: Collections;
  readonly documents: Documents;
  readonly files: Files;
  readonly attachments: Attachments;
}

const operationsPerBatch = 24;
const readAtOnce = 16;
const cancelAttemptsMax = 40;
const cancelPollMs = 50;

export class FileBatches {
  readonly #of: FileBatchesDependencies;

  constructor(dependencies: FileBatchesDependencies) {
    this.#of = dependencies;
    dependencies.jobs.register("attach-files", (scope, job, tools) => this.#run(scope, job, tools));
  }

  async create(caller: Caller, opened: OpenCollection, inputs: readonly FileToAttach[]): Promise<FileBatch> {
    const { deps, files, jobs, attachments } = this.#of;
    const scope = requireCaller(caller);
    const { batchFilesMax } = fileLimits;
    if (inputs.length === 0 || inputs.length > batchFilesMax)
      throw invalid(`A batch has 1–${batchFilesMax} files; this one has ${inputs.length}.`);
    const ids = inputs.map(({ file_id }) => file_id);
    const twice = ids.find((id, i) => ids.indexOf(id) !== i);
    if (twice !== undefined) throw invalid(`File ${show(twice)} is in the batch twice.`);
    // A file that is not there is a mistake of the whole batch; it is found before anything is changed.
    await inParallel(ids, readAtOnce, (id) => files.get(caller, id));
    const job_id = deps.newId();
    const now = deps.clock.now();
    const records = inputs.map(({ file_id, metadata = {}, chunking_strategy }, i): AttachmentRecord => ({
      kind: "attachment",
      file_id,
      status: "waiting",
      error: null,
      metadata,
      chunking_strategy:
        chunking_strategy === undefined ? null : readChunkingStrategy(chunking_strategy, "chunking_strategy"),
      job_id,
      // Apart from each other, so that lists have the order of the batch.
      uploaded_at: isoTime(now + i),
      uploaded_by: caller.userId,
    }));
    const partition = attachments.partition(caller, opened);
    await partition.ensure();
    for (let at = 0; at < records.length; at += operationsPerBatch)
      await put(partition, records.slice(at, at + operationsPerBatch));
    const { repository_id, collection_id, incarnation } = opened.collection;
    const input: BatchInput = {
      file_ids: ids,
      user: { id: caller.userId, groups: caller.groups, role: caller.role },
    };
    const job = await jobs.start(
      scope,
      {
        kind: "attach-files",
        repository_id,
        collection_id,
        incarnation,
        created_by: caller.userId,
        input: input as unknown as JsonObject,
      },
      { job_id },
    );
    return this.#view(caller, opened, job);
  }

  async get(caller: Caller, opened: OpenCollection, batchId: string): Promise<FileBatch> {
    return this.#view(caller, opened, await this.#read(caller, opened, batchId));
  }

  /** Files that are documents and indexed stay; all others of the batch are not attached. */
  async cancel(caller: Caller, opened: OpenCollection, batchId: string): Promise<FileBatch> {
    const job = await this.#read(caller, opened, batchId);
    if (caller.role !== "admin" && job.created_by !== caller.userId)
      throw new PinakesError("FORBIDDEN", `Batch "${batchId}" is another user's.`);
    // CONFLICT: it is over already, and what is still being indexed can be cancelled all the same.
    await tolerate(this.#of.jobs.cancel(caller.scope, batchId), "CONFLICT");
    const partition = this.#of.attachments.partition(caller, opened);
    for (let attempt = 0; attempt < cancelAttemptsMax; attempt += 1) {
      const files = await this.#files(caller, opened, job);
      for (const file of files) {
        if (file.status !== "in_progress" && file.status !== "cancelled") continue;
        await this.#remove(caller, opened, file);
        await put(partition, [cancelled(file, job)]);
      }
      if (files.every(({ status }) => status !== "in_progress")) break;
      // A file that is being attached right now is taken back by whoever attaches it.
      await sleep(cancelPollMs);
    }
    return this.get(caller, opened, batchId);
  }

  async #remove(caller: Caller, opened: OpenCollection, { document }: AttachedFile): Promise<void> {
    if (document !== undefined) await ifMissing(this.#of.documents.delete(caller, opened, document.document_id));
  }

  /** In the order in which the batch names them. */
  async list(
    caller: Caller,
    opened: OpenCollection,
    batchId: string,
    { status, order, limit, after, before }: BatchFilesQuery,
  ): Promise<{ readonly items: readonly AttachedFile[]; readonly more: boolean }> {
    const job = await this.#read(caller, opened, batchId);
    const ids = order === "asc" ? inputOf(job).file_ids : inputOf(job).file_ids.toReversed();
    const placeOf = (id: string, parameter: string): number => {
      const index = ids.indexOf(id);
      if (index < 0) throw notFound(`file ${show(id)} in batch "${batchId}" (${parameter})`);
      return index;
    };
    const first = after === undefined ? 0 : placeOf(after, "after") + 1;
    const end = before === undefined ? ids.length : placeOf(before, "before");
    const files = (await this.#files(caller, opened, job, ids.slice(first, Math.max(first, end)))).filter(
      (file) => status === undefined || file.status === status,
    );
    const items = before !== undefined && after === undefined ? files.slice(-limit) : files.slice(0, limit);
    return { items, more: files.length > limit };
  }

  async #view(caller: Caller, opened: OpenCollection, job: JobRecord): Promise<FileBatch> {
    const counts = { in_progress: 0, completed: 0, failed: 0, cancelled: 0 };
    for (const { status } of await this.#files(caller, opened, job)) counts[status] += 1;
    const { job_id, created_at } = job;
    return { batch_id: job_id, status: batchStatus(job, counts), counts, created_at };
  }

  /** Those that were taken out of the collection since are left out. */
  async #files(
    caller: Caller,
    opened: OpenCollection,
    job: JobRecord,
    ids: readonly string[] = inputOf(job).file_ids,
  ): Promise<readonly AttachedFile[]> {
    const { attachments } = this.#of;
    return attachments.findMany(caller, opened, ids);
  }

  async #read(caller: Caller, { collection }: OpenCollection, batchId: string): Promise<JobRecord> {
    const scope = requireCaller(caller);
    checkAskedId(batchId, "batch_id");
    const job = await this.#of.jobs.read(scope, batchId);
    if (job?.kind !== "attach-files" || job.incarnation !== collection.incarnation)
      throw notFound(`batch ${show(batchId)} in collection "${collection.collection_id}"`);
    return job;
  }

  async #run(scope: Scope, job: JobRecord, tools: JobTools): Promise<JsonObject> {
    const { deps, collections, attachments } = this.#of;
    const { file_ids, user } = inputOf(job);
    const caller = deps.callerOf({ tenant: scope.tenant, userId: user.id, groups: user.groups, role: user.role });
    const opened = await collections.open(caller, job.repository_id, job.collection_id, {
      needed: "WRITE",
      action: "Attaching files",
    });
    if (opened.collection.incarnation !== job.incarnation) throw notFound(`collection "${job.collection_id}"`);
    const partition = attachments.partition(caller, opened);
    let done = 0;
    await inParallel(file_ids, fileLimits.attachedAtOnce, async (id) => {
      tools.signal.throwIfAborted();
      await this.#attach(caller, opened, partition, job, id);
      done += 1;
      await tools.tell({ done, total: file_ids.length });
    });
    return { files: file_ids.length };
  }

  /** What is wrong with a file is its own; what may pass is tried again with the job. */
  async #attach(
    caller: Caller,
    opened: OpenCollection,
    partition: CollectionPartition,
    { job_id }: JobRecord,
    fileId: string,
  ): Promise<void> {
    const record = await this.#of.attachments.attachment(partition, fileId);
    if (record?.status !== "waiting" || record.job_id !== job_id) return;
    const { metadata, chunking_strategy } = record;
    const input = {
      file_id: fileId,
      metadata,
      ...(chunking_strategy === null ? {} : { chunking_strategy: chunking_strategy as unknown as JsonObject }),
    };
    const failure = await this.#of.attachments.attach(caller, opened, input).then(() => undefined, asError);
    // Cancelled meanwhile: the cancel may have seen the file before it became a document.
    if ((await this.#of.jobs.read(partition.scope, job_id))?.status === "cancelled") {
      const [file] = await this.#of.attachments.findMany(caller, opened, [fileId]);
      if (file?.status === "completed") return;
      if (file !== undefined) await this.#remove(caller, opened, file);
      return put(partition, [{ ...record, status: "cancelled" }]);
    }
    if (failure === undefined) return;
    if (!PinakesError.isInstance(failure) || failure.retryable || failure.status >= 500) throw failure;
    await put(partition, [{ ...record, status: "failed", error: failure.detail, error_code: errorCodeOf(failure) }]);
  }
}

function inputOf({ input }: JobRecord): BatchInput {
  return input as unknown as BatchInput;
}

async function put(partition: CollectionPartition, records: readonly AttachmentRecord[]): Promise<void> {
  await partition.write(
    records.map((record) => ({
      op: "upsert" as const,
      document: partition.document(itemIds.attachment(record.file_id), record),
    })),
  );
}

function cancelled(file: AttachedFile, { job_id, created_by }: JobRecord): AttachmentRecord {
  return {
    kind: "attachment",
    file_id: file.file_id,
    status: "cancelled",
    error: null,
    metadata: file.metadata,
    chunking_strategy: file.chunking_strategy,
    job_id,
    uploaded_at: file.created_at,
    uploaded_by: created_by,
  };
}

function batchStatus({ status }: JobRecord, counts: AttachedCounts): AttachedStatus {
  if (status === "cancelled") return "cancelled";
  if (status === "failed") return "failed";
  return status === "succeeded" && counts.in_progress === 0 ? "completed" : "in_progress";
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
