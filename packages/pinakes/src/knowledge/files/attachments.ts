/**
 * Files in collections. A file that is attached becomes a document with the file as its source, so a file is in a collection at most once;
 * the collection has bytes of its own. Files of a batch that are not documents yet, or did not become any, have an attachment record instead.
 * A document that was not made of a file counts as a file, too: its id is `file-` and the id of the document.
 */
import { requireCaller, type Caller } from "../../domain/caller.ts";
import { PinakesError, show } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { ifMissing } from "../../runtime/expected-errors.ts";
import { notFound } from "../access/access.ts";
import { seesDocument } from "../access/document-access.ts";
import { hiddenDocuments } from "../access/hidden-documents.ts";
import type { OpenCollection } from "../access/open-collection.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import type { Documents } from "../documents/documents.ts";
import { checkUpload } from "../documents/check-upload.ts";
import type { Uploads } from "../documents/upload.ts";
import type { Jobs } from "../jobs/jobs.ts";
import { CollectionPartition } from "../records/collection-partition.ts";
import { sourceKey } from "../records/ids.ts";
import { documentsContainer, itemIds, type AttachmentRecord, type DocumentRecord } from "../records/records.ts";
import { filePrefix, fileUri, isFileId } from "./file-records.ts";
import { readPage, type PageQuery, type Placed } from "./attached-pages.ts";
import type { Files } from "./files.ts";

export interface FileToAttach {
  readonly file_id: string;
  readonly metadata?: JsonObject | undefined;
  readonly chunking_strategy?: JsonObject | undefined;
}

export type AttachedStatus = "in_progress" | "completed" | "failed" | "cancelled";

export interface AttachedFile {
  readonly file_id: string;
  readonly status: AttachedStatus;
  readonly error: string | null;
  /** The reason or code of the error, if there is one. */
  readonly error_code?: string | undefined;
  /** Absent: there is none (yet). */
  readonly document: DocumentRecord | undefined;
  readonly metadata: JsonObject;
  readonly chunking_strategy: DocumentRecord["chunking_override"];
  readonly size_bytes: number;
  readonly created_at: string;
}

export type AttachedQuery = Omit<PageQuery, "after" | "before" | "streams" | "sees"> & {
  readonly status?: AttachedStatus | undefined;
  /** Ids of files. */
  readonly after?: string | undefined;
  readonly before?: string | undefined;
};

export type AttachedCounts = Readonly<Record<AttachedStatus, number>>;

export interface AttachmentsDependencies {
  readonly deps: KnowledgeDependencies;
  readonly files: Files;
  readonly uploads: Uploads;
  readonly documents: Documents;
  readonly jobs: Jobs;
}

type Waiting = Pick<AttachmentRecord, "status" | "error">;

export class Attachments {
  readonly #deps: KnowledgeDependencies;
  readonly #files: Files;
  readonly #uploads: Uploads;
  readonly #documents: Documents;
  readonly #jobs: Jobs;

  constructor({ deps, files, uploads, documents, jobs }: AttachmentsDependencies) {
    this.#deps = deps;
    this.#files = files;
    this.#uploads = uploads;
    this.#documents = documents;
    this.#jobs = jobs;
  }

  /** Attached again, it gets the new settings. */
  async attach(caller: Caller, opened: OpenCollection, input: FileToAttach): Promise<AttachedFile> {
    const file = await this.#files.get(caller, input.file_id);
    const upload = {
      name: file.filename,
      metadata: input.metadata ?? {},
      chunking_strategy: input.chunking_strategy,
      source: { type: "manual", uri: fileUri(file.id) },
      replace: true,
    } as const;
    checkUpload(opened, upload);
    await this.#files.link(caller.scope, file, opened.collection);
    const { body } = await this.#files.content(caller, file.id);
    const { record } = await this.#uploads.upload(caller, opened, { ...upload, body });
    const partition = this.partition(caller, opened);
    await ifMissing(partition.clean([{ op: "delete", id: itemIds.attachment(file.id) }]));
    return ofDocument(record);
  }

  async get(caller: Caller, opened: OpenCollection, fileId: string): Promise<AttachedFile> {
    const found = await this.#find(caller, opened, fileId);
    if (found === undefined) throw notFound(`file ${show(fileId)} in collection "${opened.collection.collection_id}"`);
    return found;
  }

  async list(
    caller: Caller,
    opened: OpenCollection,
    { status, after, before, ...query }: AttachedQuery,
  ): Promise<{ readonly items: readonly AttachedFile[]; readonly more: boolean }> {
    requireCaller(caller);
    const partition = this.partition(caller, opened);
    const streams = streamsOf(status);
    const [behind, ahead] = [
      after === undefined ? undefined : await this.#placeOf(caller, opened, after, "after"),
      before === undefined ? undefined : await this.#placeOf(caller, opened, before, "before"),
    ];
    const sees = await this.#sight(caller, opened);
    const page = await readPage(this.#deps.items, partition, { ...query, streams, after: behind, before: ahead, sees });
    const records = page.items.map(({ record }) => record);
    const waiting = records.filter((record) => record.kind === "attachment");
    const shown = await this.settled(partition, waiting);
    const items = records.flatMap((record) => {
      if (record.kind === "document") return ofDocument(record);
      const now = shown.get(record.file_id);
      return now === undefined ? [] : ofAttachment({ ...record, ...now });
    });
    return { items: status === undefined ? items : items.filter((item) => item.status === status), more: page.more };
  }

  /** The document goes; the file stays. */
  async detach(caller: Caller, opened: OpenCollection, fileId: string): Promise<void> {
    const { document } = await this.get(caller, opened, fileId);
    if (document !== undefined) await this.#documents.delete(caller, opened, document.document_id);
    const partition = this.partition(caller, opened);
    await ifMissing(partition.clean([{ op: "delete", id: itemIds.attachment(fileId) }]));
  }

  async setMetadata(
    caller: Caller,
    opened: OpenCollection,
    fileId: string,
    metadata: JsonObject,
  ): Promise<AttachedFile> {
    const { document } = await this.get(caller, opened, fileId);
    if (document === undefined)
      throw new PinakesError("CONFLICT", `File "${fileId}" is not a document yet. Try again when it is.`);
    return ofDocument((await this.#documents.setMetadata(caller, opened, document.document_id, metadata)).record);
  }

  /** Of the files that are no documents. */
  async counts(caller: Caller, opened: OpenCollection): Promise<AttachedCounts> {
    const equals = { incarnation: opened.collection.incarnation, kind: "attachment" };
    const count = (more: { readonly index: string; readonly equals: typeof equals & { readonly status?: string } }) =>
      this.#deps.items.count(caller.scope, documentsContainer.name, more);
    const none = { in_progress: 0, completed: 0, failed: 0, cancelled: 0 };
    if ((await count({ index: "byUploaded", equals })) === 0) return none;
    const of = (status: AttachmentRecord["status"]) => count({ index: "byStatus", equals: { ...equals, status } });
    const [in_progress, failed, cancelled] = await Promise.all([of("waiting"), of("failed"), of("cancelled")]);
    return { ...none, in_progress, failed, cancelled };
  }

  partition(caller: Pick<Caller, "scope">, { collection }: Pick<OpenCollection, "collection">): CollectionPartition {
    return new CollectionPartition(this.#deps.items, caller.scope, collection);
  }

  /**
   * How attachments stand now, by file. One that has become a document is left out; one that waits for a batch which is over will not become
   * one any more.
   */
  async settled(
    partition: CollectionPartition,
    records: readonly AttachmentRecord[],
  ): Promise<ReadonlyMap<string, Waiting>> {
    const jobs = new Map<string, Promise<Waiting>>();
    const stands = (jobId: string): Promise<Waiting> => {
      const known = jobs.get(jobId) ?? this.#ofBatch(partition, jobId);
      jobs.set(jobId, known);
      return known;
    };
    const shown = new Map<string, Waiting>();
    const waiting = records.filter(({ status }) => status === "waiting");
    const documents = await partition.documentsOf(waiting.map(({ file_id }) => sourceKey(fileUri(file_id))));
    const attached = new Set(waiting.filter((_, i) => documents[i] !== undefined));
    for (const record of records)
      if (record.status !== "waiting") shown.set(record.file_id, record);
      else if (!attached.has(record)) shown.set(record.file_id, await stands(record.job_id));
    return shown;
  }

  async #ofBatch({ scope }: CollectionPartition, jobId: string): Promise<Waiting> {
    const job = await this.#jobs.read(scope, jobId);
    if (job?.status === "queued" || job?.status === "running") return { status: "waiting", error: null };
    if (job?.status === "cancelled") return { status: "cancelled", error: null };
    return { status: "failed", error: job?.error ?? "The batch of this file ended before it was attached." };
  }

  async #find(caller: Caller, opened: OpenCollection, fileId: string): Promise<AttachedFile | undefined> {
    const partition = this.partition(caller, opened);
    const sees = await this.#sight(caller, opened);
    const document = await documentOf(partition, fileId);
    if (document !== undefined) return sees(document) ? ofDocument(document) : undefined;
    const record = await this.attachment(partition, fileId);
    const now = record === undefined ? undefined : (await this.settled(partition, [record])).get(fileId);
    if (record !== undefined && now !== undefined) return ofAttachment({ ...record, ...now });
    // It may have become a document between the two reads.
    const later = await documentOf(partition, fileId);
    return later === undefined || !sees(later) ? undefined : ofDocument(later);
  }

  /** In the order of the ids, without those that are not in the collection. */
  async findMany(caller: Caller, opened: OpenCollection, fileIds: readonly string[]): Promise<readonly AttachedFile[]> {
    const partition = this.partition(caller, opened);
    const sees = await this.#sight(caller, opened);
    // Attachments before documents: a document is there before its attachment goes, so that no file is missed between the two reads.
    const attachments = await partition.attachments(fileIds);
    const documents = await partition.documentsOf(fileIds.map((id) => sourceKey(fileUri(id))));
    const left = attachments.filter((record, i) => record !== undefined && documents[i] === undefined);
    const now = await this.settled(partition, left as readonly AttachmentRecord[]);
    return fileIds.flatMap((id, i) => {
      const [document, attachment, waiting] = [documents[i], attachments[i], now.get(id)];
      if (document !== undefined) return sees(document) ? ofDocument(document) : [];
      return attachment === undefined || waiting === undefined ? [] : ofAttachment({ ...attachment, ...waiting });
    });
  }

  async #sight(caller: Caller, opened: OpenCollection): Promise<(document: DocumentRecord) => boolean> {
    const hidden = await hiddenDocuments(this.#deps, caller, opened);
    return (document) =>
      hidden?.values.has(document.document_id) !== true && seesDocument(caller, opened.decision, document);
  }

  async attachment(partition: CollectionPartition, fileId: string): Promise<AttachmentRecord | undefined> {
    if (!isFileId(fileId)) return undefined;
    const { repository_id, incarnation } = partition.key;
    const key = { partition: [repository_id, incarnation], id: itemIds.attachment(fileId) };
    const item = await this.#deps.items.read(partition.scope, documentsContainer.name, key);
    return item?.document as unknown as AttachmentRecord | undefined;
  }

  async #placeOf(caller: Caller, opened: OpenCollection, fileId: string, parameter: string): Promise<Placed> {
    const partition = this.partition(caller, opened);
    // Attachments first, as in `findMany`.
    const attachment = await this.attachment(partition, fileId);
    const document = await documentOf(partition, fileId);
    if (document !== undefined && (await this.#sight(caller, opened))(document))
      return { at: document.uploaded_at, id: itemIds.document(document.document_id) };
    if (attachment !== undefined) return { at: attachment.uploaded_at, id: itemIds.attachment(fileId) };
    throw notFound(`file ${show(fileId)} in collection "${opened.collection.collection_id}" (${parameter})`);
  }
}

/** The document that a file is in a collection. */
export async function documentOf(partition: CollectionPartition, fileId: string): Promise<DocumentRecord | undefined> {
  if (isFileId(fileId)) return (await partition.documentOf(sourceKey(fileUri(fileId))))?.record;
  if (!/^file-[A-Za-z0-9._-]{1,128}$/.test(fileId)) return undefined;
  const record = (await partition.read(fileId.slice(filePrefix.length)))?.record;
  return record === undefined || fileIdOf(record) !== fileId ? undefined : record;
}

export function fileIdOf({ source, document_id }: Pick<DocumentRecord, "source" | "document_id">): string {
  const id = source.uri.slice(fileUri("").length);
  return source.uri.startsWith(fileUri("")) && isFileId(id) ? id : `${filePrefix}${document_id}`;
}

export function ofDocument(document: DocumentRecord): AttachedFile {
  return {
    file_id: fileIdOf(document),
    status: statusOf[document.status],
    error: document.status === "failed" ? document.error : null,
    error_code: document.status === "failed" ? document.error_code : undefined,
    document,
    metadata: document.metadata,
    chunking_strategy: document.live?.chunking_strategy ?? document.chunking_override,
    size_bytes: document.size_bytes,
    created_at: document.uploaded_at,
  };
}

export function ofAttachment(record: AttachmentRecord): AttachedFile {
  const { file_id, status, error, error_code, metadata, chunking_strategy, uploaded_at } = record;
  return {
    file_id,
    status: status === "waiting" ? "in_progress" : status,
    error,
    error_code,
    document: undefined,
    metadata,
    chunking_strategy,
    size_bytes: 0,
    created_at: uploaded_at,
  };
}

const statusOf = {
  uploading: "in_progress",
  pending: "in_progress",
  indexing: "in_progress",
  indexed: "completed",
  failed: "failed",
} as const;

function streamsOf(status: AttachedStatus | undefined): PageQuery["streams"] {
  const documents = (...statuses: readonly DocumentRecord["status"][]) =>
    statuses.map((one) => ({ kind: "document", status: one }));
  switch (status) {
    case undefined:
      return [{ kind: "document" }, { kind: "attachment" }];
    case "in_progress":
      return [...documents("uploading", "pending", "indexing"), { kind: "attachment", status: "waiting" }];
    case "completed":
      return documents("indexed");
    case "failed":
      return [...documents("failed"), { kind: "attachment", status: "failed" }];
    case "cancelled":
      return [{ kind: "attachment", status: "cancelled" }];
  }
}
