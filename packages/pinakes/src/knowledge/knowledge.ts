/**
 * What agents know: repositories, collections, documents, and searches over them. Every call begins with who calls; what they may not
 * see answers exactly as what is not there. HTTP, CLI, MCP and programs call these same functions.
 */
import { requireCaller, type Caller } from "../domain/caller.ts";
import type { Chunk } from "../domain/chunking.ts";
import { PinakesError, invalid } from "../domain/errors.ts";
import { invariant } from "../domain/invariant.ts";
import type { EmbeddingModel } from "../ports/embedder.ts";
import type { Activity } from "./activity.ts";
import type { Audit } from "./audit/index.ts";
import { verifyCitations, type CitationCheck, type CitationToVerify } from "./citations.ts";
import type { Content, DocumentQuery, Passage } from "./documents/documents.ts";
import type { Grants } from "./documents/grants.ts";
import { recount, type Usage } from "./documents/recount.ts";
import { Shelf } from "./documents/shelf.ts";
import type { UploadInput } from "./documents/upload.ts";
import type { Evaluations } from "./evaluation/evaluations.ts";
import { followEvents, type FollowEvents, type KnowledgeEvent } from "./events.ts";
import type { GraphDesk } from "./graph/graph-desk.ts";
import type { TripleInput } from "./graph/triple-view.ts";
import type { QueueDesk, QueueView } from "./ingest/queue-desk.ts";
import type { JobDesk } from "./jobs/job-desk.ts";
import type { OperationQuery } from "./jobs/operation-desk.ts";
import { tellJob } from "./jobs/operation-jobs.ts";
import { noteIngest, startJob } from "./jobs/start-job.ts";
import { decideCollection, decideRepository, requirePurge, type Decision, type Level } from "./model/access.ts";
import { lifeOf } from "./model/collection-catalogue.ts";
import { personalAlias, personalRepositoryId } from "./model/ids.ts";
import { archived, type CollectionPatch, type NewCollection, type OpenCollection } from "./model/collections.ts";
import type { Stored } from "./model/library.ts";
import { checkLimit, type CollectionQuery } from "./model/list-collections.ts";
import { openOrCreate, openToQuery } from "./model/open-or-create.ts";
import type { StatsRecord, VersionInfo } from "./model/records.ts";
import type { NewRepository, RepositoryPatch } from "./model/repositories.ts";
import { Librarian } from "./librarian.ts";
import type { OwnVectors } from "./own-vectors.ts";
import type { ListPage, Paging } from "./paging.ts";
import type { KnowledgeParts } from "./parts.ts";
import type { PipelineDesk } from "./pipelines/index.ts";
import type { ProvenanceView } from "./search/provenance.ts";
import { knownAmong, nothingFound, recordsOf, type CollectionName, type QueryMore, type QueryWishes } from "./search/query-answer.ts";
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
  collectionView,
  documentView,
  jobView,
  recordEtag,
  repositoryView,
  type CollectionChange,
  type CollectionView,
  type DocumentView,
  type JobView,
  type OperationView,
  type RepositoryView,
  type UploadedDocument,
} from "./views.ts";

export interface DeleteOptions {
  /** Now and for good. */
  readonly purge?: boolean | undefined;
  /** The id again; needed where nothing can be had back. */
  readonly confirm?: string | undefined;
  readonly ifMatch?: string | undefined;
  /** Of a purge: which of the lives that had the id. */
  readonly incarnation?: string | undefined;
  /** Go on although a store cannot delete; the result says `partial`. */
  readonly allow_partial?: boolean | undefined;
}

export interface CollectionUsage extends Usage {
  readonly triples: number;
  /** How much each store holds of it: documents, vectors, triples, and keys of objects. */
  readonly stores: Readonly<Record<string, number>>;
}

export class Knowledge {
  readonly #parts: KnowledgeParts;
  readonly #of: Services;
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
    this.grants = services.grants;
    this.queue = services.queueDesk;
    this.activity = services.activity;
    this.rows = services.rows;
    this.graph = services.graph;
    this.audit = services.audit;
    this.pipelines = services.pipelineDesk;
    this.evaluations = services.evaluations;
    this.jobs = services.jobDesk;
    this.librarian = new Librarian(this, services.parts.clock);
  }

  get models(): readonly Pick<EmbeddingModel, "id" | "provider">[] {
    return this.#parts.embedders.models;
  }

  async createRepository(caller: Caller, input: NewRepository): Promise<RepositoryView> {
    return repositoryView(await this.#of.repositories.create(caller, input));
  }

  /** `me` is the caller's own. */
  async repository(caller: Caller, repositoryId: string): Promise<RepositoryView> {
    return repositoryView(await this.#of.repositories.get(caller, repositoryId));
  }

  async listRepositories(caller: Caller, { limit, cursor }: Paging = {}): Promise<ListPage<RepositoryView>> {
    const page = await this.#of.repositories.list(caller, { limit: checkLimit(limit), cursor });
    return { items: page.items.map(repositoryView), next_cursor: page.cursor ?? null };
  }

  async updateRepository(caller: Caller, repositoryId: string, patch: RepositoryPatch, ifMatch?: string): Promise<RepositoryView> {
    return repositoryView(await this.#of.repositories.update(caller, repositoryId, patch, ifMatch));
  }

  /** With all its collections, for good; `confirm` must be the id. */
  async deleteRepository(caller: Caller, repositoryId: string, confirm: string | undefined, ifMatch?: string): Promise<JobView> {
    const { record, etag } = await this.#of.repositories.get(caller, repositoryId, "ADMIN", "Deleting");
    requireEtag(etag, ifMatch, `Repository "${repositoryId}"`);
    if (confirm !== repositoryId) throw invalid(`confirm: must be the id of the repository, "${repositoryId}": this cannot be undone.`);
    return startJob(this.#of.jobs, caller, { kind: "delete-repository", repository_id: record.repository_id, collection_id: "" }, false);
  }

  async createCollection(caller: Caller, repositoryId: string, input: NewCollection): Promise<CollectionView> {
    return collectionView(await this.#of.collections.create(caller, repositoryId, input), undefined);
  }

  async collection(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    options: { readonly deleted?: boolean; readonly incarnation?: string | undefined } = {},
  ): Promise<CollectionView> {
    const opened = await this.#of.collections.open(caller, repositoryId, collectionId, options);
    return collectionView(opened, await this.#stats(caller, opened));
  }

  async listCollections(caller: Caller, query: CollectionQuery = {}): Promise<ListPage<CollectionView>> {
    const page = await this.#of.lists.list(caller, await this.#withRepository(caller, query));
    const items = await Promise.all(page.items.map(async (opened) => collectionView(opened, await this.#stats(caller, opened))));
    return { items, next_cursor: page.cursor ?? null };
  }

  async countCollections(caller: Caller, query: CollectionQuery = {}): Promise<number> {
    return this.#of.lists.count(caller, await this.#withRepository(caller, query));
  }

  async updateCollection(caller: Caller, repositoryId: string, collectionId: string, patch: CollectionPatch, ifMatch?: string): Promise<CollectionChange> {
    const opened = await this.#of.collections.update(caller, repositoryId, collectionId, patch, recordEtag(ifMatch));
    const stats = await this.#stats(caller, opened);
    const stale = patch.chunking_strategy !== undefined && (stats?.record.document_count ?? 0) > 0;
    const warnings = stale
      ? [`The ${stats?.record.document_count} documents that are here keep the passages they have. Re-index the collection to cut them in the new way.`]
      : [];
    return { ...collectionView(opened, stats), warnings };
  }

  /** Read-only from here on; that every store confirms it is an operation of its own. */
  async archiveCollection(caller: Caller, repositoryId: string, collectionId: string, ifMatch?: string): Promise<CollectionView> {
    const opened = await this.#of.archiving.archive(caller, { repositoryId, collectionId, ifMatch: recordEtag(ifMatch) });
    return collectionView(opened, await this.#stats(caller, opened));
  }

  async unarchiveCollection(caller: Caller, repositoryId: string, collectionId: string, ifMatch?: string): Promise<CollectionView> {
    const opened = await this.#of.archiving.unarchive(caller, { repositoryId, collectionId, ifMatch: recordEtag(ifMatch) });
    return collectionView(opened, await this.#stats(caller, opened));
  }

  /** Soft: to be had back until `purge_at`. Purge: gone for good, which needs its own permission; `confirm` must be the id. */
  async deleteCollection(caller: Caller, repositoryId: string, collectionId: string, options: DeleteOptions = {}): Promise<JobView> {
    const { deletion, collections, jobs, lifecycle } = this.#of;
    const { confirm, incarnation } = options;
    const purge = options.purge === true;
    const opened = await collections.open(caller, repositoryId, collectionId, { needed: "ADMIN", action: "Deleting", deleted: purge, incarnation });
    const { collection, repository } = opened;
    requireEtag(opened.etag, recordEtag(options.ifMatch), `Collection "${collectionId}"`);
    // Without a trash every delete is one that cannot be undone.
    const final = purge || deletion.trashMs === 0;
    if (confirm !== undefined ? confirm !== collectionId : final)
      throw invalid(`confirm: must be the id of the collection, "${collectionId}"${final ? ": a purge cannot be undone" : ""}.`);
    if (collection.is_default) throw invalid("The default collection cannot be deleted; its documents can.");
    const life = lifeOf(collection);
    if (!final) return startJob(jobs, caller, { kind: "delete", ...life }, true);
    if (purge) requirePurge(caller, repository, collection);
    const begun = await deletion.begin(caller.scope, life, { createdBy: caller.userId, allowPartial: options.allow_partial });
    invariant(begun !== undefined, "INTERNAL", "a purge without a time is always due");
    // Asked for again, it does not wait for its next try.
    const operation = begun.status === "failed" ? await lifecycle.retry(caller.scope, life) : begun;
    const job = await tellJob(jobs, caller.scope, operation);
    lifecycle.driveSoon(caller.scope, life);
    return jobView(job);
  }

  /** The life that was deleted last, or the one that is named. GONE when its time is over. */
  async restoreCollection(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    options: { readonly incarnation?: string | undefined } = {},
  ): Promise<CollectionView> {
    const { collections, deletion } = this.#of;
    const opening = { needed: "ADMIN", action: "Restoring", deleted: true, ...options } as const;
    const { collection } = await collections.open(caller, repositoryId, collectionId, opening).catch(async (error: unknown) => {
      throw (await this.#of.operationDesk.gone(caller, repositoryId, collectionId)) ?? error;
    });
    deletion.requireRestorable(collection);
    const job = await startJob(this.#of.jobs, caller, { kind: "restore", ...lifeOf(collection) }, true);
    if (job.status !== "succeeded") throw new PinakesError("CONFLICT", job.error ?? "The restore did not finish; see its job.");
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
    input: { readonly embedding_model?: string | undefined } = {},
  ): Promise<JobView> {
    const { collection } = await this.#open(caller, repositoryId, collectionId, "ADMIN", "Re-indexing");
    if (collection.status === "ARCHIVED") throw archived(collection);
    const { embedding_model } = input;
    if (embedding_model !== undefined) await this.#parts.embedders.get(embedding_model);
    const fields = embedding_model === undefined ? {} : { input: { embedding_model } };
    return startJob(this.#of.jobs, caller, { kind: "reindex", ...lifeOf(collection), ...fields }, false);
  }

  async upload(caller: Caller, repositoryId: string, collectionId: string, input: UploadInput): Promise<UploadedDocument> {
    const opened = await openOrCreate(this.#of, caller, repositoryId, collectionId, input);
    const { unchanged, duplicate_of, ...stored } = await this.#of.uploads.upload(caller, opened, input);
    this.activity.add(caller.scope, { uploads: 1, upload_bytes: stored.record.size_bytes });
    return { ...documentView(stored), ...(unchanged ? { unchanged } : {}), ...(duplicate_of === undefined ? {} : { duplicate_of }) };
  }

  /** Whether the caller may add documents at all. */
  async checkUpload(caller: Caller, repositoryId: string, collectionId: string): Promise<void> {
    const { collection } = await openOrCreate(this.#of, caller, repositoryId, collectionId);
    if (collection.status === "ARCHIVED") throw archived(collection);
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
    const opened = await openOrCreate(this.#of, caller, repositoryId, collectionId);
    if (opened.collection.status === "ARCHIVED") throw archived(opened.collection);
    const job_id = this.#parts.newId();
    const ids: string[] = [];
    try {
      const result = await run(async (input) => {
        const document = await this.upload(caller, repositoryId, collectionId, { ...input, job_id });
        ids.push(document.document_id);
        return document;
      });
      return { job_id: ids.length === 0 ? null : job_id, result };
    } finally {
      if (ids.length > 0) await noteIngest(this.#of.jobs, caller, opened, job_id, ids);
    }
  }

  async document(caller: Caller, repositoryId: string, collectionId: string, documentId: string): Promise<DocumentView> {
    return documentView(await this.#of.documents.get(caller, await this.#open(caller, repositoryId, collectionId), documentId));
  }

  async listDocuments(caller: Caller, repositoryId: string, collectionId: string, query: DocumentQuery = {}): Promise<ListPage<DocumentView>> {
    const page = await this.#of.documents.list(caller, await this.#open(caller, repositoryId, collectionId), query);
    return { items: page.items.map(documentView), next_cursor: page.cursor ?? null };
  }

  async deleteDocument(caller: Caller, repositoryId: string, collectionId: string, documentId: string, ifMatch?: string): Promise<void> {
    await this.#of.documents.delete(caller, await this.#open(caller, repositoryId, collectionId), documentId, ifMatch);
  }

  async reindexDocument(caller: Caller, repositoryId: string, collectionId: string, documentId: string): Promise<DocumentView> {
    const opened = await this.#open(caller, repositoryId, collectionId, "WRITE", "Re-indexing");
    return documentView(await this.#of.documents.reindex(caller, opened, documentId));
  }

  async content(caller: Caller, repositoryId: string, collectionId: string, documentId: string, version?: number): Promise<Content> {
    return this.#of.documents.content(caller, await this.#open(caller, repositoryId, collectionId), documentId, version);
  }

  async versions(
    caller: Caller,
    repositoryId: string,
    collectionId: string,
    documentId: string,
  ): Promise<readonly (VersionInfo & { readonly live: boolean })[]> {
    const { record } = await this.#of.documents.get(caller, await this.#open(caller, repositoryId, collectionId), documentId);
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
    const { items, total, next } = await this.#of.documents.passages(caller, opened, documentId, { after, limit: checkLimit(limit) });
    return { items, total, next_cursor: next === undefined ? null : String(next) };
  }

  async search(caller: Caller, input: SearchInput & QueryWishes): Promise<SearchResult & QueryMore> {
    const scope = requireCaller(caller);
    const { include_metadata, unknown_collections, ...asked } = input;
    const lenient = unknown_collections === "empty" && asked.collections !== undefined;
    const open = ({ repository, collection }: CollectionName) => openToQuery(this.#of, caller, repository, collection);
    const { known, missing } = lenient ? await knownAmong(asked.collections ?? [], open) : { known: asked.collections, missing: [] };
    const result = lenient && known?.length === 0 ? nothingFound(asked) : await this.#of.search.search(caller, { ...asked, collections: known });
    this.activity.add(scope, { searches: 1, search_ms: result.timings.total_ms });
    const named = known ?? result.hits.map(({ repository_id, collection_id }) => ({ repository: repository_id, collection: collection_id }));
    return {
      ...result,
      ...(include_metadata === true
        ? { collections: await recordsOf(named, ({ repository, collection }) => this.collection(caller, repository, collection)) }
        : {}),
      ...(lenient ? { collection_exists: missing.length === 0, missing } : {}),
    };
  }

  /** Which passages of which documents state a triple. */
  async provenance(caller: Caller, repositoryId: string, collectionId: string, triple: TripleInput): Promise<ProvenanceView> {
    requireCaller(caller);
    return this.#of.search.provenance(caller, repositoryId, collectionId, triple);
  }

  /** Whether each quote stands where the citation says, in the version that it names. */
  async verifyCitations(caller: Caller, citations: readonly CitationToVerify[]): Promise<readonly CitationCheck[]> {
    requireCaller(caller);
    return verifyCitations(citations, async (citation) => {
      const opened = await this.#open(caller, citation.repository_id, citation.collection_id);
      const { record } = await this.#of.documents.get(caller, opened, citation.document_id);
      return { record, text: await this.#of.documents.text(caller, opened, citation.document_id, citation.version) };
    });
  }

  /** How a text would be cut, without storing anything. */
  async previewChunking(caller: Caller, input: PreviewInput): Promise<readonly Chunk[]> {
    requireCaller(caller);
    return previewChunks(this.#parts, input);
  }

  /** Admins only. Files in the layouts of the source documents, read one after the other: see transfer/export.ts. */
  export(caller: Caller, options?: ExportOptions): AsyncIterable<TransferFile> {
    return exportKnowledge(this.#parts, this.#of.library, caller, options);
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
  actingAs(caller: Caller, user: { readonly user_id: string; readonly groups?: readonly string[] | undefined }): Caller {
    const { tenant } = requireCaller(caller);
    if (caller.role !== "admin") throw new PinakesError("FORBIDDEN", "as_user: only admins look as somebody else.");
    return this.#parts.callerOf({ tenant, userId: user.user_id, groups: user.groups ?? [] });
  }

  /** What the counters say, and what counting gives. With `repair` they are set right. */
  async usage(caller: Caller, repositoryId: string, collectionId: string, options: { repair?: boolean } = {}): Promise<CollectionUsage> {
    const needed = options.repair === true ? "ADMIN" : "READ";
    const { collection } = await this.#open(caller, repositoryId, collectionId, needed, "Counting anew");
    const counted = await recount(this.#parts.items, new Shelf(this.#parts.items, caller.scope, collection), options);
    const { quads } = await this.#parts.triples.usage(caller.scope, collection.incarnation);
    const held = await Promise.all(this.#of.stores.map(async (one) => [one.store, await one.count(caller.scope, lifeOf(collection))] as const));
    return {
      ...counted,
      triples: quads,
      stores: {
        ...Object.fromEntries(held),
        documents: counted.recounted.document_count,
        vectors: await this.#of.rows.count(caller, collection),
        triples: quads,
      },
    };
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

  async #open(caller: Caller, repositoryId: string, collectionId: string, needed: Level = "READ", action = "Reading"): Promise<OpenCollection> {
    return this.#of.collections.open(caller, repositoryId, collectionId, { needed, action });
  }

  async #withRepository(caller: Caller, query: CollectionQuery): Promise<CollectionQuery> {
    if (query.repositoryId === undefined) return query;
    requireCaller(caller);
    if (query.repositoryId === personalAlias) return { ...query, repositoryId: personalRepositoryId(caller.userId) };
    const { record } = await this.#of.repositories.get(caller, query.repositoryId);
    return { ...query, repositoryId: record.repository_id };
  }

  async #stats(caller: Caller, { collection }: OpenCollection): Promise<Stored<StatsRecord> | undefined> {
    return new Shelf(this.#parts.items, caller.scope, collection).stats();
  }
}

/** Before long work begins. What changes while it goes on does not stop it. */
function requireEtag(currentEtag: string, wanted: string | undefined, what: string): void {
  if (wanted === undefined || wanted === currentEtag) return;
  throw new PinakesError("PRECONDITION_FAILED", `${what} has changed since it was read; read it again.`, { currentEtag });
}
