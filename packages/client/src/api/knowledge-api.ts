/**
 * What agents know: repositories, collections, documents, searches and triples. The same calls for a server and for an embedded Pinakes.
 */
import type { AuditApi } from "./audit-api.ts";
import type { IfMatch } from "./common.ts";
import type { GovernanceApi } from "./governance-api.ts";
import type { Answer, AnswerEvent, AnswerMode } from "../contract/answers.ts";
import type { IncludeTotal, Page, Paging, SortOrder } from "../contract/common.ts";
import type {
  LoadedTriples,
  RdfFormat,
  SparqlAnswer,
  SparqlUpdated,
  Triple,
  TripleInput,
  TriplePattern,
} from "../contract/graph.ts";
import type { CreatedKey, Key, Me, NewKey } from "../contract/identity.ts";
import type {
  Chunk,
  ChunkingStrategy,
  Collection,
  CollectionChange,
  CollectionStatus,
  CollectionUsage,
  Document,
  DocumentAccess,
  DocumentStatus,
  DocumentText,
  DocumentVersion,
  NewCollection,
  NewRepository,
  Repository,
  RepositoryChange,
  ServerInfo,
  TransferLink,
  UploadedDocument,
} from "../contract/knowledge.ts";
import type { Job, KnowledgeEvent, Operation, OperationStatus } from "../contract/operations.ts";
import type { CitationCheck, CitationToVerify, SearchAnswer, SearchMode } from "../contract/search.ts";
import type { Manifest, NewRow, RowQuery, RowQueryAnswer, RowsWritten } from "../contract/vectors.ts";
import type { JsonObject } from "../json.ts";

/** `repository/collection`, or both by name. `me` is the caller's own repository. */
export type CollectionRef = string | { readonly repository: string; readonly collection: string };

export interface RepositoriesApi {
  create(input: NewRepository): Promise<Repository>;
  get(repositoryId: string): Promise<Repository>;
  list(query?: Paging & IncludeTotal): Promise<Page<Repository>>;
  update(repositoryId: string, change: RepositoryChange, options?: IfMatch): Promise<Repository>;
  /** With all its collections, permanently; `confirm` is the id. */
  delete(repositoryId: string, options: IfMatch & { readonly confirm: string }): Promise<Job>;
}

export interface CollectionQuery extends Paging, IncludeTotal {
  /** Default: all repositories. */
  readonly repository?: string | undefined;
  /** In the name or the description, ignoring case. */
  readonly q?: string | undefined;
  readonly tag?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  /** Whether one of the tags suffices; default: all are required. */
  readonly tag_match?: "any" | "all" | undefined;
  /** Collections neither loaded nor searched since this time. */
  readonly unused_since?: string | undefined;
  /** Default ACTIVE; `live`: also ARCHIVED. */
  readonly status?: CollectionStatus | "live" | "all" | undefined;
  readonly created_by?: string | undefined;
  readonly sort?: "created_at" | "updated_at" | "name" | "last_used_at" | "size" | undefined;
  readonly order?: SortOrder | undefined;
}

export interface DeleteCollection extends IfMatch {
  /** Remove everything now instead of keeping it in the trash. */
  readonly purge?: boolean | undefined;
  /** The id of the collection; required for a purge. */
  readonly confirm?: string | undefined;
  readonly incarnation?: string | undefined;
  /** Go on although a store cannot delete; the result says `partial`. */
  readonly allow_partial?: boolean | undefined;
}

export interface CollectionsApi {
  create(input: NewCollection & { readonly repository: string }): Promise<Collection>;
  get(
    at: CollectionRef,
    options?: { readonly deleted?: boolean | undefined; readonly incarnation?: string | undefined },
  ): Promise<Collection>;
  list(query?: CollectionQuery): Promise<Page<Collection>>;
  update(
    at: CollectionRef,
    change: CollectionChange,
    options?: IfMatch,
  ): Promise<Collection & { readonly warnings: readonly string[] }>;
  /** To the trash, from which `restore` brings it back; or permanently, with `purge`. */
  delete(at: CollectionRef, options?: DeleteCollection): Promise<Job>;
  restore(at: CollectionRef, options?: { readonly incarnation?: string | undefined }): Promise<Collection>;
  archive(at: CollectionRef, options?: IfMatch): Promise<Collection>;
  unarchive(at: CollectionRef, options?: IfMatch): Promise<Collection>;
  /** Chunks and embeds every document again; searches see the old chunks until all are ready. */
  reindex(at: CollectionRef, options?: { readonly embedding_model?: string | undefined }): Promise<Job>;
  usage(at: CollectionRef): Promise<CollectionUsage>;
}

/** A string, bytes, a browser's file, or a stream of bytes. */
export type UploadBody = string | Uint8Array | Blob | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/** Fields that are absent stay as they are. */
export type AccessChange = { readonly [Field in keyof DocumentAccess]?: DocumentAccess[Field] | undefined };

/** With the access of the document: absent, everybody who may use the collection, or as before where it is replaced. */
export interface NewDocument extends AccessChange {
  /** With its extension, which determines the file type. */
  readonly name: string;
  readonly body: UploadBody;
  /** Searches can filter by it. */
  readonly metadata?: JsonObject | undefined;
  readonly chunking_strategy?: Partial<ChunkingStrategy> | undefined;
  /** Replace the document of the same name; otherwise that is a CONFLICT. */
  readonly replace?: boolean | undefined;
  /** `a/x.md`: the path inside its original folder. Files with the same name and different paths are different documents. */
  readonly path?: string | undefined;
}

/** The parameters that an upload link fixes; only the bytes are missing. */
export interface NewUploadLink extends Pick<
  NewDocument,
  "name" | "metadata" | "chunking_strategy" | "replace" | keyof DocumentAccess
> {
  /** Default 300, maximum 900. */
  readonly expires_in_seconds?: number | undefined;
}

export interface DocumentQuery extends Paging, IncludeTotal {
  readonly status?: DocumentStatus | undefined;
  /** In the name. */
  readonly q?: string | undefined;
  readonly order?: SortOrder | undefined;
}

export interface TextQuery {
  readonly version?: number | undefined;
  readonly start?: number | undefined;
  readonly end?: number | undefined;
}

export interface DocumentsApi {
  /** Stored when this resolves, indexed some time later. `onBytes` reports the bytes sent so far. */
  upload(
    at: CollectionRef,
    document: NewDocument,
    options?: { readonly onBytes?: ((sent: number) => void) | undefined; readonly signal?: AbortSignal | undefined },
  ): Promise<UploadedDocument>;
  get(at: CollectionRef, documentId: string): Promise<Document>;
  list(at: CollectionRef, query?: DocumentQuery): Promise<Page<Document>>;
  delete(at: CollectionRef, documentId: string, options?: IfMatch): Promise<void>;
  /** All documents of the collection, which stays; `confirm` is the id of the collection. */
  deleteAll(at: CollectionRef, options: { readonly confirm: string }): Promise<Job>;
  reindex(at: CollectionRef, documentId: string): Promise<Document>;
  /** Narrows who of those who may use the collection may see the document. */
  setAccess(at: CollectionRef, documentId: string, access: AccessChange, options?: IfMatch): Promise<Document>;
  /** The bytes as they were uploaded. */
  content(
    at: CollectionRef,
    documentId: string,
    options?: { readonly version?: number | undefined },
  ): Promise<ReadableStream<Uint8Array>>;
  text(at: CollectionRef, documentId: string, query?: TextQuery): Promise<DocumentText>;
  chunks(at: CollectionRef, documentId: string, query?: Paging): Promise<Page<Chunk>>;
  versions(at: CollectionRef, documentId: string): Promise<readonly DocumentVersion[]>;
  /** A link to which the bytes of one file can be sent once, with PUT and without a key. */
  uploadLink(at: CollectionRef, document: NewUploadLink): Promise<TransferLink>;
  /** A link with which the file can be downloaded without a key. */
  downloadLink(
    at: CollectionRef,
    documentId: string,
    options?: { readonly expires_in_seconds?: number | undefined; readonly version?: number | undefined },
  ): Promise<TransferLink>;
}

/** A collection, or all of a repository. */
export type SearchPlace = CollectionRef | { readonly repository: string };

export interface SearchOptions {
  /** Collections and whole repositories; default: all that the caller may read. */
  readonly in?: SearchPlace | readonly SearchPlace[] | undefined;
  readonly mode?: SearchMode | undefined;
  readonly limit?: number | undefined;
  /** On metadata and `filename`, `file_type`, `page`, …; applied before ranking. */
  readonly filter?: JsonObject | undefined;
  readonly min_score?: number | undefined;
  readonly explain?: boolean | undefined;
  /** A time in the past, ISO 8601. */
  readonly as_of?: string | undefined;
  readonly group_by?: "document" | undefined;
  /** 0…1: prefer chunks that differ from those ranked before them. */
  readonly diversity?: number | undefined;
  readonly fusion?: "convex" | "rrf" | undefined;
  /** 0…1: the weight of the vectors in the fused score. */
  readonly vector_weight?: number | undefined;
  readonly archived?: boolean | undefined;
  readonly graph?:
    | { readonly hops?: number | undefined; readonly limit?: number | undefined; readonly weight?: number | undefined }
    | undefined;
}

export interface SearchApi {
  query(query: string, options?: SearchOptions): Promise<SearchAnswer>;
  /** One check for each citation, in their order. */
  verifyCitations(citations: readonly CitationToVerify[]): Promise<readonly CitationCheck[]>;
}

export interface AskOptions extends Pick<SearchOptions, "in" | "filter" | "min_score" | "archived"> {
  /** Chunks to answer from: default 8, maximum 20. */
  readonly limit?: number | undefined;
  /** Default hybrid. */
  readonly search_mode?: SearchMode | undefined;
  /** Default `generated` if a chat model is configured, else `extractive`. */
  readonly mode?: AnswerMode | undefined;
  /** Id of a chat model; default: the first. */
  readonly model?: string | undefined;
  readonly sentences_max?: number | undefined;
  /** Includes the hits of the search. */
  readonly include_hits?: boolean | undefined;
  /** Aborts the answer, and the call to the model. */
  readonly signal?: AbortSignal | undefined;
}

export interface AnswersApi {
  ask(question: string, options?: AskOptions): Promise<Answer>;
  /** Each sentence after its check, and the whole answer last. Leaving the iteration ends the call of the model. */
  stream(question: string, options?: AskOptions): AsyncIterable<AnswerEvent>;
}

export interface RowWrite {
  /** Repeating a write with the same id is safe; default: a new id. */
  readonly deltaId?: string | undefined;
}

/** Rows whose embeddings the caller computes, beside the chunks of documents. Each write is atomic, and visible to every later query. */
export interface VectorsApi {
  /** Adds or replaces up to 10,000 rows. */
  upsert(at: CollectionRef, rows: readonly NewRow[], options?: RowWrite): Promise<RowsWritten>;
  delete(at: CollectionRef, ids: readonly string[], options?: RowWrite): Promise<RowsWritten>;
  query(at: CollectionRef, query: RowQuery): Promise<RowQueryAnswer>;
  /** The settings of the vectors of chunks and rows. */
  manifest(at: CollectionRef): Promise<Manifest>;
}

export interface LoadOptions {
  readonly format: RdfFormat;
  readonly allOrNothing?: boolean | undefined;
  readonly baseIri?: string | undefined;
  /** The IRI of the graph for triples without a graph in the body. */
  readonly graph?: string | undefined;
}

export interface SparqlOptions {
  readonly defaultGraphs?: readonly string[] | undefined;
  readonly namedGraphs?: readonly string[] | undefined;
  /** What a pattern outside GRAPH matches: triples in no named graph (default), or those of all graphs. */
  readonly defaultGraph?: "unnamed" | "union" | undefined;
  readonly timeoutMs?: number | undefined;
  readonly limit?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface GraphApi {
  add(at: CollectionRef, triples: readonly TripleInput[]): Promise<LoadedTriples>;
  load(at: CollectionRef, body: string, options: LoadOptions): Promise<LoadedTriples>;
  match(at: CollectionRef, query?: TriplePattern & Paging): Promise<Page<Triple>>;
  /** Removes by pattern; `confirm` is the id of the collection, required if the pattern binds nothing. */
  remove(
    at: CollectionRef,
    pattern: TriplePattern & { readonly confirm?: string | undefined },
  ): Promise<{ readonly removed: number }>;
  query(at: CollectionRef, sparql: string, options?: SparqlOptions): Promise<SparqlAnswer>;
  update(at: CollectionRef, sparql: string, options?: Omit<SparqlOptions, "limit">): Promise<SparqlUpdated>;
}

export interface JobsApi {
  get(jobId: string): Promise<Job>;
  list(query?: Paging): Promise<Page<Job>>;
  retry(jobId: string): Promise<Job>;
  cancel(jobId: string): Promise<Job>;
}

export interface OperationQuery extends Paging {
  readonly status?: OperationStatus | undefined;
  readonly repository?: string | undefined;
  readonly collection?: string | undefined;
}

export interface OperationsApi {
  get(operationId: string): Promise<Operation>;
  list(query?: OperationQuery): Promise<Page<Operation>>;
  retry(operationId: string): Promise<Operation>;
}

export interface KeysApi {
  create(input: NewKey): Promise<CreatedKey>;
  list(query?: Paging & { readonly workspace_id?: string | undefined }): Promise<Page<Key>>;
  /** With `workspace_id`, only if it is a key of that workspace. */
  revoke(keyId: string, options?: { readonly workspace_id?: string | undefined }): Promise<void>;
}

export interface EventsApi {
  /**
   * Without end, until the signal; `after` is the id of the last event seen, from now on when absent. `onOpen` is called when what happens
   * from then on will be told.
   */
  follow(options: {
    readonly after?: string | undefined;
    readonly signal: AbortSignal;
    readonly onOpen?: (() => void) | undefined;
  }): AsyncIterable<KnowledgeEvent>;
}

export interface ServerApi {
  info(): Promise<ServerInfo>;
  /** The user of the key. */
  me(): Promise<Me>;
}

export interface KnowledgeApi extends GovernanceApi {
  readonly repositories: RepositoriesApi;
  readonly collections: CollectionsApi;
  readonly documents: DocumentsApi;
  readonly search: SearchApi;
  readonly answers: AnswersApi;
  readonly graph: GraphApi;
  readonly vectors: VectorsApi;
  readonly jobs: JobsApi;
  readonly operations: OperationsApi;
  readonly keys: KeysApi;
  readonly audit: AuditApi;
  readonly events: EventsApi;
  readonly server: ServerApi;
}
