/** Documents of a collection, for every interface. */
import { type Caller } from "../../domain/caller.ts";
import { invalid } from "../../domain/errors.ts";
import type { TextQuery, TextWindow } from "../documents/document-text.ts";
import type { DocumentTriple } from "../documents/document-triples.ts";
import type { Content, DocumentQuery, Passage } from "../documents/documents.ts";
import type { AccessInput } from "../access/document-access.ts";
import { archived } from "../access/open-collection.ts";
import { CollectionPartition } from "../records/collection-partition.ts";
import { startJob } from "./start-job.ts";
import { openForUploads, takeUpload, takeUploads } from "./take-uploads.ts";
import { checkUpload, type UploadInput } from "../documents/check-upload.ts";
import { conditionOn } from "../records/conditions.ts";
import { checkLimit } from "../collections/list-collections.ts";
import type { VersionInfo } from "../records/records.ts";
import type { ListPage, Paging, Totalled } from "../records/paging.ts";
import type { Services } from "./services.ts";
import { documentView, type DocumentView, type JobView, type UploadedDocument } from "../views.ts";

export class DocumentsApi {
  readonly #of: Services;

  constructor(services: Services) {
    this.#of = services;
  }

  async upload(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    input: UploadInput,
  ): Promise<UploadedDocument> {
    return takeUpload(this.#of, caller, repositoryId, collectionId, input);
  }

  /** Throws unless the caller may add these documents; checks everything that can be known before the first byte. */
  async checkUpload(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    inputs: readonly Omit<UploadInput, "body">[] = [],
  ): Promise<void> {
    const opened = await openForUploads(this.#of, caller, repositoryId, collectionId);
    for (const input of inputs) checkUpload(opened, input);
  }

  /**
   * Several uploads as one job. `take` uploads one document; permissions are checked before the first byte. The job's state is derived from
   * its documents; if none was accepted, there is no job.
   */
  async uploadMany<T>(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    run: (take: (input: UploadInput) => Promise<UploadedDocument>) => Promise<T>,
  ): Promise<{ readonly job_id: string | null; readonly result: T }> {
    return takeUploads(this.#of, caller, repositoryId, collectionId, run);
  }

  async get(caller: Caller, repositoryId: string, collectionId: string, documentId: string): Promise<DocumentView> {
    return documentView(
      await this.#of.documents.get(
        caller,
        await this.#of.collections.open(caller, repositoryId, collectionId),
        documentId,
      ),
    );
  }

  async list(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    query: DocumentQuery & Totalled = {},
  ): Promise<ListPage<DocumentView>> {
    const opened = await this.#of.collections.open(caller, repositoryId, collectionId);
    const { include_total, ...filter } = query;
    const page = await this.#of.documents.list(caller, opened, filter);
    const total = include_total === true ? { total: await this.#of.documents.count(caller, opened, filter) } : {};
    return { items: page.items.map(documentView), next_cursor: page.cursor ?? null, ...total };
  }

  async delete(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    documentId: string,
    ifMatch?: string,
  ): Promise<void> {
    const opened = await this.#of.collections.open(caller, repositoryId, collectionId);
    await conditionOn(`Document "${documentId}"`, this.#of.documents.delete(caller, opened, documentId, ifMatch));
  }

  /** Starts a job that deletes all current documents; `confirm` must be the collection's id. The collection and its rows stay. */
  async deleteAll(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    confirm: string | undefined,
  ): Promise<JobView> {
    return beginDeletingDocuments(this.#of, caller, repositoryId, collectionId, confirm);
  }

  async reindex(caller: Caller, repositoryId: string, collectionId: string, documentId: string): Promise<DocumentView> {
    const opened = await this.#of.collections.open(caller, repositoryId, collectionId, {
      needed: "WRITE",
      action: "Re-indexing",
    });
    return documentView(await this.#of.documents.reindex(caller, opened, documentId));
  }

  /** Replaces its metadata. The document is indexed again; searches see the old metadata until that is done. */
  async setMetadata(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    documentId: string,
    metadata: unknown,
  ): Promise<DocumentView> {
    const opened = await this.#of.collections.open(caller, repositoryId, collectionId, {
      needed: "WRITE",
      action: "Changing metadata",
    });
    return documentView(await this.#of.documents.setMetadata(caller, opened, documentId, metadata));
  }

  /** Who may see it; absent fields stay as they are. The next call of every process decides by it. */
  async setAccess(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    documentId: string,
    input: AccessInput,
    ifMatch?: string,
  ): Promise<DocumentView> {
    const opened = await this.#of.collections.open(caller, repositoryId, collectionId, {
      needed: "WRITE",
      action: "Changing the access of a document",
    });
    const changing = this.#of.documents.setAccess(caller, opened, documentId, input, ifMatch);
    return documentView(await conditionOn(`Document "${documentId}"`, changing));
  }

  async content(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    documentId: string,
    version?: number,
  ): Promise<Content> {
    return this.#of.documents.content(
      caller,
      await this.#of.collections.open(caller, repositoryId, collectionId),
      documentId,
      version,
    );
  }

  async versions(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    documentId: string,
  ): Promise<readonly (VersionInfo & { readonly live: boolean })[]> {
    const { record } = await this.#of.documents.get(
      caller,
      await this.#of.collections.open(caller, repositoryId, collectionId),
      documentId,
    );
    return record.versions.map((version) => ({ ...version, live: record.live?.version === version.version }));
  }

  async passages(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    documentId: string,
    { limit, cursor }: Paging = {},
  ): Promise<ListPage<Passage> & { readonly total: number }> {
    const after = cursor === undefined ? -1 : Number(cursor);
    if (cursor !== undefined && !/^\d{1,9}$/.test(cursor)) throw invalid("cursor: is not a cursor of this list.");
    const opened = await this.#of.collections.open(caller, repositoryId, collectionId);
    const { items, total, next } = await this.#of.documents.passages(caller, opened, documentId, {
      after,
      limit: checkLimit(limit),
    });
    return { items, total, next_cursor: next === undefined ? null : String(next) };
  }

  /** A window of the text that chunks and citations refer to. */
  async text(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    documentId: string,
    query: TextQuery = {},
  ): Promise<TextWindow> {
    return this.#of.documents.textWindow(
      caller,
      await this.#of.collections.open(caller, repositoryId, collectionId),
      documentId,
      query,
    );
  }

  /** Triples extracted from the chunks of a document. A page may be short and still have a cursor. */
  async triples(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    documentId: string,
    paging: Paging = {},
  ): Promise<ListPage<DocumentTriple>> {
    return this.#of.documents.triples(
      caller,
      await this.#of.collections.open(caller, repositoryId, collectionId),
      documentId,
      paging,
    );
  }
}

/** Starts the job that deletes all documents of a collection (documents/delete-all.ts). */
async function beginDeletingDocuments(
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
