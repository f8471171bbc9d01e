/** The files API: a user's own files by id, and their use in collections. */
import type { Caller } from "../../domain/caller.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { PartRecord } from "../files/file-records.ts";
import type { AttachedCounts, AttachedFile, AttachedQuery, FileToAttach } from "../files/attachments.ts";
import type { BatchFilesQuery, FileBatch } from "../files/file-batches.ts";
import type { CompletedUpload, FileUploadView, NewFileUpload } from "../files/file-uploads.ts";
import type { FilePage, FileQuery, NewFile } from "../files/files.ts";
import type { FileRecord } from "../files/file-records.ts";
import type { Services } from "./services.ts";

interface Page<Item> {
  readonly items: readonly Item[];
  readonly more: boolean;
}

type Dependencies = Pick<Services, "collections" | "files" | "fileUploads" | "attachments" | "fileBatches">;

const attaching = { needed: "WRITE", action: "Attaching files" } as const;

export class FilesApi {
  readonly #of: Dependencies;

  constructor(services: Dependencies) {
    this.#of = services;
  }

  async create(caller: Caller, input: NewFile): Promise<FileRecord> {
    return this.#of.files.create(caller, input);
  }

  async get(caller: Caller, fileId: string): Promise<FileRecord> {
    return this.#of.files.get(caller, fileId);
  }

  async list(caller: Caller, query: FileQuery = {}): Promise<FilePage> {
    return this.#of.files.list(caller, query);
  }

  /** The original bytes. */
  async content(caller: Caller, fileId: string): Promise<{ file: FileRecord; body: AsyncIterable<Uint8Array> }> {
    return this.#of.files.content(caller, fileId);
  }

  /** Includes the documents created from it. */
  async delete(caller: Caller, fileId: string): Promise<void> {
    return this.#of.files.delete(caller, fileId);
  }

  async beginUpload(caller: Caller, input: NewFileUpload): Promise<FileUploadView> {
    return this.#of.fileUploads.create(caller, input);
  }

  async addPart(caller: Caller, uploadId: string, body: AsyncIterable<Uint8Array>): Promise<PartRecord> {
    return this.#of.fileUploads.addPart(caller, uploadId, body);
  }

  async completeUpload(
    caller: Caller,
    uploadId: string,
    input: CompletedUpload,
  ): Promise<{ readonly upload: FileUploadView; readonly file: FileRecord }> {
    return this.#of.fileUploads.complete(caller, uploadId, input);
  }

  async cancelUpload(caller: Caller, uploadId: string): Promise<FileUploadView> {
    return this.#of.fileUploads.cancel(caller, uploadId);
  }

  async attach(caller: Caller, repositoryId: string, collectionId: string, input: FileToAttach): Promise<AttachedFile> {
    return this.#of.attachments.attach(
      caller,
      await this.#of.collections.open(caller, repositoryId, collectionId, attaching),
      input,
    );
  }

  async attached(caller: Caller, repositoryId: string, collectionId: string, fileId: string): Promise<AttachedFile> {
    return this.#of.attachments.get(
      caller,
      await this.#of.collections.open(caller, repositoryId, collectionId),
      fileId,
    );
  }

  async listAttached(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    query: AttachedQuery,
  ): Promise<Page<AttachedFile>> {
    return this.#of.attachments.list(
      caller,
      await this.#of.collections.open(caller, repositoryId, collectionId),
      query,
    );
  }

  /** Files of batches that did not become documents of the collection. */
  async unattachedCounts(caller: Caller, repositoryId: string, collectionId: string): Promise<AttachedCounts> {
    return this.#of.attachments.counts(caller, await this.#of.collections.open(caller, repositoryId, collectionId));
  }

  async setMetadata(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    fileId: string,
    metadata: JsonObject,
  ): Promise<AttachedFile> {
    const opened = await this.#of.collections.open(caller, repositoryId, collectionId, attaching);
    return this.#of.attachments.setMetadata(caller, opened, fileId, metadata);
  }

  async detach(caller: Caller, repositoryId: string, collectionId: string, fileId: string): Promise<void> {
    const opened = await this.#of.collections.open(caller, repositoryId, collectionId, attaching);
    return this.#of.attachments.detach(caller, opened, fileId);
  }

  async attachMany(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    files: readonly FileToAttach[],
  ): Promise<FileBatch> {
    return this.#of.fileBatches.create(
      caller,
      await this.#of.collections.open(caller, repositoryId, collectionId, attaching),
      files,
    );
  }

  async batch(caller: Caller, repositoryId: string, collectionId: string, batchId: string): Promise<FileBatch> {
    return this.#of.fileBatches.get(
      caller,
      await this.#of.collections.open(caller, repositoryId, collectionId),
      batchId,
    );
  }

  async cancelBatch(caller: Caller, repositoryId: string, collectionId: string, batchId: string): Promise<FileBatch> {
    return this.#of.fileBatches.cancel(
      caller,
      await this.#of.collections.open(caller, repositoryId, collectionId, attaching),
      batchId,
    );
  }

  async batchFiles(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    batchId: string,
    query: BatchFilesQuery,
  ): Promise<Page<AttachedFile>> {
    return this.#of.fileBatches.list(
      caller,
      await this.#of.collections.open(caller, repositoryId, collectionId),
      batchId,
      query,
    );
  }
}
