/** The knowledge side as programs use it, over any KnowledgeApi: lists that are iterated, uploads and jobs that can be waited for. */
import type {
  AnswersApi,
  CollectionQuery,
  CollectionRef,
  CollectionsApi,
  DocumentQuery,
  DocumentsApi,
  EventsApi,
  GraphApi,
  JobsApi,
  KeysApi,
  KnowledgeApi,
  NewDocument,
  OperationQuery,
  OperationsApi,
  RepositoriesApi,
  SearchApi,
  SearchOptions,
  ServerApi,
  VectorsApi,
} from "./api/knowledge-api.ts";
import type { AuditApi } from "./api/audit-api.ts";
import type { AuditEntry, AuditQuery } from "./contract/audit.ts";
import type { IncludeTotal, Paging } from "./contract/common.ts";
import type { Triple, TriplePattern } from "./contract/graph.ts";
import type { Key } from "./contract/identity.ts";
import type { Chunk, Collection, Document, Repository, UploadedDocument } from "./contract/knowledge.ts";
import type { Job, Operation } from "./contract/operations.ts";
import type { SearchAnswer } from "./contract/search.ts";
import { clientError } from "./errors.ts";
import { createGovernanceClient, type GovernanceClient } from "./governance-client.ts";
import { extend } from "./sugar/extend.ts";
import { listing, type Listing } from "./sugar/listing.ts";
import { mapKnowledgeErrors } from "./sugar/map-errors.ts";
import { polled } from "./waiting.ts";

export interface UploadProgress {
  readonly phase: "uploading" | "indexing";
  /** Bytes while uploading, steps of the server while indexing. */
  readonly done: number;
  /** Null while unknown. */
  readonly total: number | null;
}

export interface UploadOptions extends Partial<
  Pick<NewDocument, "name" | "metadata" | "chunking_strategy" | "replace" | "path">
> {
  /** Resolve when the document can be searched; an ingestion that fails rejects with its reason. */
  readonly wait?: boolean | undefined;
  readonly onProgress?: ((progress: UploadProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface WaitOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((job: Job) => void) | undefined;
}

export interface DocumentsClient extends Omit<DocumentsApi, "upload" | "list" | "chunks" | "deleteAll"> {
  /** All documents of the collection, which stays; `confirm` is the id of the collection. With `wait`, resolves when they are deleted. */
  deleteAll(
    at: CollectionRef,
    options: WaitOptions & { readonly confirm: string; readonly wait?: boolean | undefined },
  ): Promise<Job>;
  /** A `File`, or a name with its body. Stored when this resolves; with `wait`, also indexed. */
  upload(at: CollectionRef, file: File | NewDocument, options?: UploadOptions): Promise<UploadedDocument>;
  list(at: CollectionRef, query?: DocumentQuery): Listing<Document>;
  chunks(at: CollectionRef, documentId: string, query?: Paging): Listing<Chunk>;
  /** Resolves when the document is indexed; rejects with the reason when it failed. */
  wait(
    at: CollectionRef,
    documentId: string,
    options?: Pick<UploadOptions, "signal" | "onProgress">,
  ): Promise<Document>;
}

export interface JobsClient extends Omit<JobsApi, "list"> {
  list(query?: Paging): Listing<Job>;
  /** Resolves when the job succeeded; rejects with the reason when it failed or was cancelled. */
  wait(jobId: string, options?: WaitOptions): Promise<Job>;
}

export interface KnowledgeClient extends Pick<SearchApi, "verifyCitations">, GovernanceClient {
  readonly repositories: Omit<RepositoriesApi, "list"> & { list(query?: Paging & IncludeTotal): Listing<Repository> };
  readonly collections: Omit<CollectionsApi, "list"> & { list(query?: CollectionQuery): Listing<Collection> };
  readonly documents: DocumentsClient;
  readonly graph: Omit<GraphApi, "match"> & {
    match(at: CollectionRef, query?: TriplePattern & Paging): Listing<Triple>;
  };
  /** Rows that the program embeds itself. */
  readonly vectors: VectorsApi;
  readonly jobs: JobsClient;
  readonly operations: Omit<OperationsApi, "list"> & { list(query?: OperationQuery): Listing<Operation> };
  readonly keys: Omit<KeysApi, "list"> & {
    list(query?: Paging & { readonly workspace_id?: string | undefined }): Listing<Key>;
  };
  readonly audit: Omit<AuditApi, "list"> & { list(query?: AuditQuery): Listing<AuditEntry> };
  readonly server: ServerApi;
  search(query: string, options?: SearchOptions): Promise<SearchAnswer>;
  /** Answers questions with verified citations, at once or sentence by sentence. */
  readonly answers: AnswersApi;
  /** Events of documents, collections and jobs, endless until the signal is aborted. */
  events(options: Parameters<EventsApi["follow"]>[0]): ReturnType<EventsApi["follow"]>;
}

export function createKnowledgeClient(implementation: KnowledgeApi): KnowledgeClient {
  const api = mapKnowledgeErrors(implementation);
  return {
    repositories: extend(api.repositories, {
      list: (query?: Paging & IncludeTotal) =>
        listing((paging) => api.repositories.list({ ...query, ...paging }), query),
    }),
    collections: extend(api.collections, {
      list: (query?: CollectionQuery) => listing((paging) => api.collections.list({ ...query, ...paging }), query),
    }),
    documents: documentsClient(api.documents, api.jobs),
    graph: extend(api.graph, {
      match: (at: CollectionRef, query?: TriplePattern & Paging) =>
        listing((paging) => api.graph.match(at, { ...query, ...paging }), query),
    }),
    vectors: api.vectors,
    audit: extend(api.audit, {
      list: (query?: AuditQuery) => listing((paging) => api.audit.list({ ...query, ...paging }), query),
    }),
    jobs: extend(api.jobs, {
      list: (query?: Paging) => listing((paging) => api.jobs.list({ ...query, ...paging }), query),
      wait: (jobId: string, options?: WaitOptions) => waitForJob(api.jobs, jobId, options),
    }),
    operations: extend(api.operations, {
      list: (query?: OperationQuery) => listing((paging) => api.operations.list({ ...query, ...paging }), query),
    }),
    keys: extend(api.keys, {
      list: (query?: Paging & { readonly workspace_id?: string | undefined }) =>
        listing((paging) => api.keys.list({ ...query, ...paging }), query),
    }),
    ...createGovernanceClient(api),
    server: api.server,
    answers: api.answers,
    search: (query, options) => api.search.query(query, options),
    verifyCitations: (citations) => api.search.verifyCitations(citations),
    events: (options) => api.events.follow(options),
  };
}

function documentsClient(api: DocumentsApi, jobs: JobsApi): DocumentsClient {
  return extend(api, {
    deleteAll: async (
      at: CollectionRef,
      { confirm, wait = false, ...waiting }: Parameters<DocumentsClient["deleteAll"]>[1],
    ) => {
      const job = await api.deleteAll(at, { confirm });
      return wait ? waitForJob(jobs, job.job_id, waiting) : job;
    },
    list: (at: CollectionRef, query?: DocumentQuery) =>
      listing((paging) => api.list(at, { ...query, ...paging }), query),
    chunks: (at: CollectionRef, documentId: string, query?: Paging) =>
      listing((paging) => api.chunks(at, documentId, { ...query, ...paging }), query),
    upload: async (
      at: CollectionRef,
      file: File | NewDocument,
      { wait = false, onProgress, signal, ...given }: UploadOptions = {},
    ) => {
      const document: NewDocument = { ...("body" in file ? file : { name: file.name, body: file }), ...given };
      const total = sizeOf(document.body);
      const onBytes =
        onProgress === undefined ? undefined : (done: number): void => onProgress({ phase: "uploading", done, total });
      const uploaded = await api.upload(at, document, { onBytes, signal });
      return wait
        ? { ...uploaded, ...(await waitForDocument(api, at, uploaded.document_id, { onProgress, signal })) }
        : uploaded;
    },
    wait: (at: CollectionRef, documentId: string, options?: Pick<UploadOptions, "signal" | "onProgress">) =>
      waitForDocument(api, at, documentId, options),
  });
}

function sizeOf(body: NewDocument["body"]): number | null {
  if (typeof body === "string") return new TextEncoder().encode(body).byteLength;
  if (body instanceof Uint8Array) return body.byteLength;
  return body instanceof Blob ? body.size : null;
}

async function waitForDocument(
  api: DocumentsApi,
  at: CollectionRef,
  documentId: string,
  { signal, onProgress }: Pick<UploadOptions, "signal" | "onProgress"> = {},
): Promise<Document> {
  const document = await polled(
    () => api.get(at, documentId),
    signal,
    ({ status, progress }) => {
      if (status === "indexed" || status === "failed") return true;
      onProgress?.({ phase: "indexing", done: progress?.done ?? 0, total: progress?.total ?? null });
      return false;
    },
  );
  if (document.status === "failed")
    throw failed(`The document "${document.name}" could not be indexed: ${document.error ?? "no reason was recorded"}`);
  return document;
}

async function waitForJob(api: JobsApi, jobId: string, { signal, onProgress }: WaitOptions = {}): Promise<Job> {
  const job = await polled(
    () => api.get(jobId),
    signal,
    (now) => {
      onProgress?.(now);
      return now.status !== "queued" && now.status !== "running";
    },
  );
  if (job.status !== "succeeded")
    throw failed(`The job ${jobId} (${job.kind}) ${job.status}: ${job.error ?? "no reason was recorded"}`);
  return job;
}

function failed(detail: string): Error {
  return clientError({ code: "FAILED", status: 0, detail });
}
