/**
 * What agents know: repositories, collections, documents, and searches over them. Every call begins with who calls; what they may not
 * see answers exactly as what is not there. HTTP, CLI, MCP and programs call these same functions.
 */
import { requireCaller, type Caller } from "../domain/caller.ts";
import type { Chunk } from "../domain/chunking.ts";
import { PinakesError, invalid } from "../domain/errors.ts";
import type { EmbeddingModel } from "../ports/embedder.ts";
import type { Activity } from "./activity.ts";
import type { Audit } from "./audit/index.ts";
import type { Quarantine } from "./quarantine/index.ts";
import { verifyCitations, type CitationCheck, type CitationToVerify } from "./citations.ts";
import type { TextQuery, TextWindow } from "./documents/document-text.ts";
import type { DocumentTriple } from "./documents/document-triples.ts";
import type { Content, DocumentQuery, Passage } from "./documents/documents.ts";
import { beginDeletingDocuments } from "./documents/delete-all.ts";
import type { Grants } from "./documents/grants.ts";
import { openForUploads, takeUpload, takeUploads } from "./documents/take-uploads.ts";
import type { UploadInput } from "./documents/upload.ts";
import { usageOf, type CollectionUsage } from "./documents/usage.ts";
import type { Evaluations } from "./evaluation/evaluations.ts";
import { followEvents, type FollowEvents, type KnowledgeEvent } from "./events.ts";
import type { GraphDesk } from "./graph/graph-desk.ts";
import type { TripleInput } from "./graph/triple-view.ts";
import type { QueueDesk, QueueView } from "./ingest/queue-desk.ts";
import {
  deleteCollection,
  deleteRepository,
  reindexCollection,
  restoreCollection,
  type DeleteOptions,
  type ReindexInput,
} from "./jobs/begin-work.ts";
import type { JobDesk } from "./jobs/job-desk.ts";
import type { OperationQuery } from "./jobs/operation-desk.ts";
import { decideCollection, decideRepository, type Decision, type Level } from "./model/access.ts";
import { chunkingWarnings } from "./model/chunking-warnings.ts";
import { CollectionDesk, type CollectionChoice } from "./model/collection-desk.ts";
import { conditionOn } from "./model/conditions.ts";
import type { CollectionPatch, NewCollection, OpenCollection } from "./model/collections.ts";
import { dayMs, trashMs } from "./limits.ts";
import { checkLimit, type CollectionQuery } from "./model/list-collections.ts";
import type { Stored } from "./model/library.ts";
import type { RepositoryRecord, VersionInfo } from "./model/records.ts";
import type { NewRepository, RepositoryPatch } from "./model/repositories.ts";
import { Librarian } from "./librarian.ts";
import type { OwnVectors } from "./own-vectors.ts";
import type { ListPage, Paging, Totalled } from "./paging.ts";
import type { KnowledgeParts } from "./parts.ts";
import type { PipelineDesk } from "./pipelines/index.ts";
import { answerQuery } from "./search/answer-query.ts";
import type { ProvenanceView } from "./search/provenance.ts";
import type { QueryMore, QueryWishes } from "./search/query-answer.ts";
import type { SearchInput } from "./search/search-input.ts";
import type { SearchResult } from "./search/search-result.ts";
import type { Services } from "./services.ts";
import { embedTexts, previewChunks, type Embedded, type PreviewInput } from "./text-tools.ts";
import {
  exportKnowledge,
  importKnowledge,
  type ExportOptions,
  type ImportOptions,
  type ImportReport,
  type TransferFile,
  type TransferReader,
} from "./transfer/index.ts";
import {
  documentView,
  repositoryView,
  type CollectionChange,
  type CollectionView,
  type DocumentView,
  type JobView,
  type OperationView,
  type RepositoryView,
  type UploadedDocument,
  type Warned,
} from "./views.ts";

export class Knowledge {
  readonly #parts: KnowledgeParts;
  readonly #of: Services;
  readonly #collections: CollectionDesk;
  /** Links with which files are uploaded and downloaded without a key. */
  readonly grants: Grants;
  /** Dead letters of the workspace. */
  readonly queue: QueueDesk;
  /** What the workspace did over time. */
  readonly activity: Activity;
  /** Rows that callers embed themselves, and a look at the vectors below. */
  readonly rows: OwnVectors;
  /** What every store holds beside what the records say. */
  readonly audit: Audit;
  /** What repairs took away, and the way back. */
  readonly quarantine: Quarantine;
  /** Triples of collections, by pattern and by SPARQL. */
  readonly graph: GraphDesk;
  /** Collections kept in step with folders and buckets. */
  readonly pipelines: PipelineDesk;
  /** Queries with the documents that they should find, run again whenever something changed. */
  readonly evaluations: Evaluations;
  /** Long work: how far it is, and why it failed. */
  readonly jobs: JobDesk;
  /** Collections of the caller's own, for clients of another librarian. */
  readonly librarian: Librarian;

  constructor(services: Services) {
    this.#parts = services.parts;
    this.#of = services;
    this.#collections = new CollectionDesk(services);
    this.grants = services.grants;
    this.queue = services.queueDesk;
    this.activity = services.activity;
    this.rows = services.rows;
    this.graph = services.graph;
    this.audit = services.audit;
    this.quarantine = services.quarantine;
    this.pipelines = services.pipelineDesk;
    this.evaluations = services.evaluations;
    this.jobs = services.jobDesk;
    this.librarian = new Librarian(this, services.parts.clock);
  }

  get models(): readonly Pick<EmbeddingModel, "id" | "provider">[] {
    return this.#parts.embedders.models;
  }

  /** How long a deleted collection can be had back; 0: not at all. */
  get trashDays(): number {
    return (this.#parts.trashMs ?? trashMs) / dayMs;
  }

  async createRepository(caller: Caller, input: NewRepository): Promise<Warned<RepositoryView>> {
    return this.#changedRepository(await this.#of.repositories.create(caller, input));
  }

  async #changedRepository(stored: Stored<RepositoryRecord>): Promise<Warned<RepositoryView>> {
    const { chunking_strategy, embedding_model } = stored.record;
    const warnings =
      chunking_strategy === null ? [] : await chunkingWarnings(this.#parts, chunking_strategy, embedding_model);
    return { ...repositoryView(stored), ...(warnings.length === 0 ? {} : { warnings }) };
  }

  /** `me` is the caller's own. */
  async repository(caller: Caller, repositoryId: string): Promise<RepositoryView> {
    return repositoryView(await this.#of.repositories.get(caller, repositoryId));
  }

  async listRepositories(
    caller: Caller,
    { limit, cursor, include_total }: Paging & Totalled = {},
  ): Promise<ListPage<RepositoryView>> {
    const page = await this.#of.repositories.list(caller, { limit: checkLimit(limit), cursor });
    const total = include_total === true ? { total: await this.#of.repositories.count(caller) } : {};
    return { items: page.items.map(repositoryView), next_cursor: page.cursor ?? null, ...total };
  }

  async updateRepository(
    caller: Caller,
    repositoryId: string,
    patch: RepositoryPatch,
    ifMatch?: string,
  ): Promise<Warned<RepositoryView>> {
    return this.#changedRepository(
      await conditionOn(
        `Repository "${repositoryId}"`,
        this.#of.repositories.update(caller, repositoryId, patch, ifMatch),
      ),
    );
  }

  /** With all its collections, for good; `confirm` must be the id. */
  async deleteRepository(
    caller: Caller,
    repositoryId: string,
    confirm: string | undefined,
    ifMatch?: string,
  ): Promise<JobView> {
    return deleteRepository(this.#of, caller, repositoryId, { confirm, ifMatch });
  }

  async createCollection(caller: Caller, repositoryId: string, input: NewCollection): Promise<Warned<CollectionView>> {
    return this.#collections.create(caller, repositoryId, input, this.#of.pipelines);
  }

  async collection(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    options: CollectionChoice = {},
  ): Promise<CollectionView> {
    return this.#collections.get(caller, repositoryId, collectionId, options);
  }

  async listCollections(caller: Caller, query: CollectionQuery & Totalled = {}): Promise<ListPage<CollectionView>> {
    return this.#collections.list(caller, query);
  }

  async countCollections(caller: Caller, query: CollectionQuery = {}): Promise<number> {
    return this.#collections.count(caller, query);
  }

  async updateCollection(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    patch: CollectionPatch,
    ifMatch?: string,
  ): Promise<CollectionChange> {
    return this.#collections.update(caller, repositoryId, collectionId, patch, ifMatch);
  }

  /** Read-only from here on; that every store confirms it is an operation of its own. */
  async archiveCollection(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    ifMatch?: string,
  ): Promise<CollectionView> {
    return this.#collections.archive(caller, repositoryId, collectionId, ifMatch);
  }

  async unarchiveCollection(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    ifMatch?: string,
  ): Promise<CollectionView> {
    return this.#collections.unarchive(caller, repositoryId, collectionId, ifMatch);
  }

  /** Soft: to be had back until `purge_at`. Purge: gone for good, which needs its own permission; `confirm` must be the id. */
  async deleteCollection(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    options: DeleteOptions = {},
  ): Promise<JobView> {
    return deleteCollection(this.#of, caller, repositoryId, collectionId, options);
  }

  /** The life that was deleted last, or the one that is named. GONE when its time is over. */
  async restoreCollection(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    options: Pick<DeleteOptions, "incarnation"> = {},
  ): Promise<CollectionView> {
    await restoreCollection(this.#of, caller, repositoryId, collectionId, options);
    return this.collection(caller, repositoryId, collectionId);
  }

  /** What is being done to collections in all stores, newest first. */
  async operations(caller: Caller, query: OperationQuery = {}): Promise<ListPage<OperationView>> {
    return this.#of.operationDesk.list(caller, query);
  }

  async operation(caller: Caller, operationId: string): Promise<OperationView> {
    return this.#of.operationDesk.get(caller, operationId);
  }

  /** Tries what failed again, at once. */
  async retryOperation(caller: Caller, operationId: string): Promise<OperationView> {
    return this.#of.operationDesk.retry(caller, operationId);
  }

  /** Cuts and embeds every document anew, with the chunking the collection has now, or with another model. Searches see the old until all is ready. */
  async reindexCollection(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    input: ReindexInput = {},
  ): Promise<JobView> {
    return reindexCollection(this.#of, caller, repositoryId, collectionId, input);
  }

  async upload(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    input: UploadInput,
  ): Promise<UploadedDocument> {
    return takeUpload(this.#of, caller, repositoryId, collectionId, input);
  }

  /** Whether the caller may add documents at all. */
  async checkUpload(caller: Caller, repositoryId: string, collectionId: string): Promise<void> {
    await openForUploads(this.#of, caller, repositoryId, collectionId);
  }

  /**
   * Several uploads under one job. `take` uploads one; before the first byte it is known whether the caller may. The job's state is that
   * of its documents; where none was taken, there is none.
   */
  async uploadMany<T>(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    run: (take: (input: UploadInput) => Promise<UploadedDocument>) => Promise<T>,
  ): Promise<{ readonly job_id: string | null; readonly result: T }> {
    return takeUploads(this.#of, caller, repositoryId, collectionId, run);
  }

  async document(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    documentId: string,
  ): Promise<DocumentView> {
    return documentView(
      await this.#of.documents.get(caller, await this.#open(caller, repositoryId, collectionId), documentId),
    );
  }

  async listDocuments(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    query: DocumentQuery & Totalled = {},
  ): Promise<ListPage<DocumentView>> {
    const opened = await this.#open(caller, repositoryId, collectionId);
    const { include_total, ...asked } = query;
    const page = await this.#of.documents.list(caller, opened, asked);
    const total = include_total === true ? { total: await this.#of.documents.count(caller, opened, asked) } : {};
    return { items: page.items.map(documentView), next_cursor: page.cursor ?? null, ...total };
  }

  async deleteDocument(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    documentId: string,
    ifMatch?: string,
  ): Promise<void> {
    const opened = await this.#open(caller, repositoryId, collectionId);
    await conditionOn(`Document "${documentId}"`, this.#of.documents.delete(caller, opened, documentId, ifMatch));
  }

  /** All documents that are in the collection now, as a job; `confirm` must be the collection's id. The collection and its rows stay. */
  async deleteDocuments(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    confirm: string | undefined,
  ): Promise<JobView> {
    return beginDeletingDocuments(this.#of, caller, repositoryId, collectionId, confirm);
  }

  async reindexDocument(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    documentId: string,
  ): Promise<DocumentView> {
    const opened = await this.#open(caller, repositoryId, collectionId, "WRITE", "Re-indexing");
    return documentView(await this.#of.documents.reindex(caller, opened, documentId));
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
      await this.#open(caller, repositoryId, collectionId),
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
      await this.#open(caller, repositoryId, collectionId),
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
    if (cursor !== undefined && !/^\d{1,9}$/.test(cursor)) throw invalid("cursor: is not one that this list gave.");
    const opened = await this.#open(caller, repositoryId, collectionId);
    const { items, total, next } = await this.#of.documents.passages(caller, opened, documentId, {
      after,
      limit: checkLimit(limit),
    });
    return { items, total, next_cursor: next === undefined ? null : String(next) };
  }

  /** A window of the text that passages and citations point into. */
  async documentText(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    documentId: string,
    query: TextQuery = {},
  ): Promise<TextWindow> {
    return this.#of.documents.textWindow(
      caller,
      await this.#open(caller, repositoryId, collectionId),
      documentId,
      query,
    );
  }

  /** What the passages of a document state in the graph. A page may be short and still have a cursor. */
  async documentTriples(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    documentId: string,
    paging: Paging = {},
  ): Promise<ListPage<DocumentTriple>> {
    return this.#of.documents.triples(caller, await this.#open(caller, repositoryId, collectionId), documentId, paging);
  }

  /** In a place for searches; waits for one no longer than until the signal. */
  async search(
    caller: Caller,
    input: SearchInput & QueryWishes,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<SearchResult & QueryMore> {
    const { tenant } = requireCaller(caller);
    const run = () =>
      answerQuery(this.#of, caller, input, ({ repository, collection }) =>
        this.collection(caller, repository, collection),
      );
    return this.#parts.places?.searches.within(tenant, run, signal) ?? run();
  }

  /** Which passages of which documents state a triple. */
  async provenance(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    triple: TripleInput,
  ): Promise<ProvenanceView> {
    requireCaller(caller);
    return this.#of.search.provenance(caller, repositoryId, collectionId, triple);
  }

  /** Whether each quote stands where the citation says, in the version that it names. The same answer as over HTTP. */
  async verifyCitations(
    caller: Caller,
    citations: readonly CitationToVerify[],
  ): Promise<{ readonly checks: readonly CitationCheck[] }> {
    requireCaller(caller);
    const checks = await verifyCitations(citations, {
      document: async (citation) => {
        const opened = await this.#open(caller, citation.repository_id, citation.collection_id);
        const { record } = await this.#of.documents.get(caller, opened, citation.document_id);
        return { record, text: await this.#of.documents.text(caller, opened, citation.document_id, citation.version) };
      },
      row: async ({ repository_id, collection_id, row_id }) =>
        this.rows.text(caller, repository_id, collection_id, row_id),
    });
    return { checks };
  }

  /** How a text would be cut, without storing anything. */
  async previewChunking(caller: Caller, input: PreviewInput): Promise<readonly Chunk[]> {
    const { tenant } = requireCaller(caller);
    return previewChunks(this.#parts, tenant, input);
  }

  /** Admins only. Files in the layouts of the source documents, read one after the other: see transfer/export.ts. */
  export(caller: Caller, options?: ExportOptions): AsyncIterable<TransferFile> {
    const { tenant } = requireCaller(caller);
    const run = () => exportKnowledge(this.#parts, this.#of.library, caller, options);
    return this.#parts.places?.exports.stream(tenant, run) ?? run();
  }

  /** Admins only. What such files hold, made here; what is wrong is in the report, by file and line: see transfer/import.ts. */
  async import(caller: Caller, reader: TransferReader, options?: ImportOptions): Promise<ImportReport> {
    return importKnowledge(this.#of, caller, reader, options);
  }

  /** The queue of documents, as far as it is this workspace's. */
  async queues(caller: Caller): Promise<readonly QueueView[]> {
    return this.queue.summary(caller, (cursor) => this.listCollections(caller, { limit: 100, cursor }));
  }

  /** What happens in what the caller may see, without end. */
  events(caller: Caller, options: FollowEvents): AsyncGenerator<KnowledgeEvent, void> {
    return followEvents(this.#parts, this.#of.library, caller, options);
  }

  /** An admin, as somebody else: to see what they see. */
  actingAs(
    caller: Caller,
    user: { readonly user_id: string; readonly groups?: readonly string[] | undefined },
  ): Caller {
    const { tenant } = requireCaller(caller);
    if (caller.role !== "admin") throw new PinakesError("FORBIDDEN", "as_user: only admins look as somebody else.");
    return this.#parts.callerOf({ tenant, userId: user.user_id, groups: user.groups ?? [] });
  }

  /** What the counters say, and what counting gives. With `repair` they are set right. */
  async usage(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    options: { repair?: boolean } = {},
  ): Promise<CollectionUsage> {
    const needed = options.repair === true ? "ADMIN" : "READ";
    const { collection } = await this.#open(caller, repositoryId, collectionId, needed, "Counting anew");
    return usageOf(this.#of, caller, collection, options);
  }

  /** What the caller, or for admins somebody else, may do with it, and why. Only admins are told about what is not visible. */
  async explainAccess(
    caller: Caller,
    repositoryId: string,
    collectionId?: string,
    user?: { readonly user_id: string; readonly groups?: readonly string[] | undefined },
  ): Promise<Decision> {
    const who = user === undefined ? caller : this.actingAs(caller, user);
    const { record: repository } = await this.#of.repositories.get(caller, repositoryId);
    if (collectionId === undefined) return decideRepository(who, repository);
    const { collection } = await this.#open(caller, repositoryId, collectionId);
    return decideCollection(who, repository, collection);
  }

  /** The texts as vectors of a model; the default one when absent. */
  async embed(caller: Caller, texts: readonly string[], model?: string): Promise<Embedded> {
    requireCaller(caller);
    return embedTexts(this.#parts, texts, model);
  }

  async #open(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    needed: Level = "READ",
    action = "Reading",
  ): Promise<OpenCollection> {
    return this.#of.collections.open(caller, repositoryId, collectionId, { needed, action });
  }
}
