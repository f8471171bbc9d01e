/**
 * What crosses the wire on the knowledge side: repositories, collections, documents and searches. Field names are those of `/v1`. Lists
 * of allowed values stand here once; routes, features, CLI and console take them from here.
 */
import type { JsonObject } from "../json.ts";

export const collectionStatuses = ["ACTIVE", "ARCHIVED", "DELETE_IN_PROGRESS", "DELETE_FAILED", "DELETED"] as const;
export type CollectionStatus = (typeof collectionStatuses)[number];

export const indexingStatuses = ["pending", "indexing", "ready", "error"] as const;
export type IndexingStatus = (typeof indexingStatuses)[number];

export const documentStatuses = ["uploading", "pending", "indexing", "indexed", "failed"] as const;
export type DocumentStatus = (typeof documentStatuses)[number];

export const searchModes = ["hybrid", "vector", "keyword", "graph"] as const;
export type SearchMode = (typeof searchModes)[number];

export const accessLevels = ["READ", "WRITE", "ADMIN"] as const;
export type AccessLevel = (typeof accessLevels)[number];

/** How documents are split into chunks. */
export interface ChunkingStrategy {
  readonly type: string;
  readonly unit: "char" | "token";
  readonly chunk_size: number;
  readonly chunk_overlap: number;
  readonly separators?: readonly string[];
  readonly threshold?: number;
}

/** Which triples documents add to the graph. */
export interface GraphSettings {
  readonly extract: "off" | "structured" | "cooccurrence" | "llm";
  readonly key?: string;
  readonly model?: string;
  readonly entity_types?: readonly string[];
}

export interface Metadata {
  readonly tags: readonly string[];
  readonly custom_fields: JsonObject;
}

export interface Repository {
  readonly repository_id: string;
  readonly name: string;
  readonly description: string;
  readonly embedding_model: string;
  readonly allowed_groups: readonly string[] | null;
  readonly allow_user_collections: boolean;
  readonly auto_create: boolean;
  readonly create_on_query: boolean;
  readonly chunking_strategy: ChunkingStrategy | null;
  /** The strategy of collections that do not set their own. */
  readonly effective_chunking_strategy: ChunkingStrategy;
  readonly graph: GraphSettings | null;
  readonly metadata: Metadata;
  readonly personal: boolean;
  readonly status: string;
  readonly created_by: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly etag: string;
}

export interface RepositoryChange {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly allowed_groups?: readonly string[] | null | undefined;
  readonly allow_user_collections?: boolean | undefined;
  readonly auto_create?: boolean | undefined;
  readonly create_on_query?: boolean | undefined;
  readonly chunking_strategy?: Partial<ChunkingStrategy> | null | undefined;
  readonly graph?: Partial<GraphSettings> | null | undefined;
  readonly metadata?: Partial<Metadata> | undefined;
}

export interface NewRepository extends RepositoryChange {
  /** Made from the name when absent. */
  readonly repository_id?: string | undefined;
  /** The server's default model when absent. */
  readonly embedding_model?: string | undefined;
}

export interface Collection {
  readonly collection_id: string;
  readonly repository_id: string;
  readonly repository_name: string;
  readonly name: string;
  readonly description: string;
  /** The strategy in effect; `own_chunking_strategy` is null where it is inherited. */
  readonly chunking_strategy: ChunkingStrategy;
  readonly own_chunking_strategy: ChunkingStrategy | null;
  readonly allow_chunking_override: boolean;
  readonly graph: GraphSettings;
  readonly own_graph: GraphSettings | null;
  readonly metadata: Metadata;
  /** Merged with the repository's. */
  readonly effective_metadata: Metadata;
  readonly allowed_groups: readonly string[] | null;
  readonly effective_groups: readonly string[] | null;
  readonly embedding_model: string;
  readonly private: boolean;
  readonly pipelines: readonly Pipeline[];
  readonly status: CollectionStatus;
  readonly indexing_status: IndexingStatus;
  readonly document_count: number;
  readonly documents_by_status: Readonly<Record<DocumentStatus, number>>;
  readonly total_size_bytes: number;
  readonly chunk_count: number;
  /** Rows that callers embedded themselves, or that a migration or a drop box brought. */
  readonly row_count: number;
  readonly last_sync_at: string | null;
  readonly last_used_at: string | null;
  readonly is_default: boolean;
  /** What the caller may do with it. */
  readonly access: AccessLevel | null;
  readonly created_by: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly deleted_at: string | null;
  readonly purge_at: string | null;
  /** A new one for each collection that is created under the same id. */
  readonly incarnation: string;
  /** Another incarnation has the id now; this one is named by its incarnation. */
  readonly displaced?: true;
  readonly etag: string;
  /** What its creator should know. */
  readonly warnings?: readonly string[];
}

export interface Pipeline {
  readonly pipeline_id: string;
  readonly trigger: "event" | "schedule";
  readonly source: string;
  readonly schedule: string | null;
  readonly auto_remove: boolean;
  readonly chunking_strategy: ChunkingStrategy | null;
  readonly max_removal_share: number;
  readonly created_by: string;
  readonly created_at: string;
}

export interface CollectionChange {
  readonly name?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly chunking_strategy?: Partial<ChunkingStrategy> | null | undefined;
  readonly allow_chunking_override?: boolean | undefined;
  readonly graph?: Partial<GraphSettings> | null | undefined;
  /** Replaces tags and custom fields as a whole; null removes them. */
  readonly metadata?: Partial<Metadata> | null | undefined;
  readonly allowed_groups?: readonly string[] | null | undefined;
  readonly private?: boolean | undefined;
}

/** Keeps a collection in step with a folder or a prefix of a bucket. */
export interface NewPipeline {
  /** `event`: when a file changes; `schedule`: at certain times. */
  readonly trigger: "event" | "schedule";
  /** `file:/folder` or `s3://bucket/prefix`, among those that the operator of the server opened. */
  readonly source: string;
  /** Cron in UTC, or `daily` (the default), `hourly`, `weekly`. */
  readonly schedule?: string | null | undefined;
  /** Whether a document is deleted with its file. False when absent. */
  readonly auto_remove?: boolean | undefined;
  readonly chunking_strategy?: Partial<ChunkingStrategy> | null | undefined;
  /** A run that would remove more than this share of the documents stops instead; 0.5 when absent. */
  readonly max_removal_share?: number | undefined;
}

export interface NewCollection extends CollectionChange {
  /** Made from the name when absent. */
  readonly collection_id?: string | undefined;
  readonly embedding_model?: string | undefined;
  /** Created with the collection: all of them, or nothing. */
  readonly pipelines?: readonly NewPipeline[] | undefined;
}

/** What each store holds of a collection. */
export interface CollectionUsage {
  readonly document_count: number;
  readonly triples: number;
  readonly stores: Readonly<Record<string, number>>;
  /** Whether the counters equal a recount. */
  readonly consistent: boolean;
}

export interface ServerInfo {
  readonly name: string;
  readonly version: string;
  readonly database: string;
  /** How long a deleted collection can be restored; 0: not at all. */
  readonly trash_days: number;
}

export interface Document {
  readonly document_id: string;
  readonly collection_id: string;
  readonly repository_id: string;
  readonly name: string;
  readonly file_type: string;
  readonly size_bytes: number;
  readonly sha256: string | null;
  readonly version: number;
  readonly status: DocumentStatus;
  readonly error: string | null;
  readonly attempts: number;
  readonly progress: { readonly done: number; readonly total: number } | null;
  readonly chunk_count: number;
  readonly chunking_strategy: ChunkingStrategy | null;
  readonly metadata: JsonObject;
  readonly source: { readonly type: "manual" | "auto" | "existing"; readonly uri: string };
  /** The version that searches show; a newer one may still be indexing. */
  readonly live_version: number | null;
  readonly uploaded_by: string;
  readonly uploaded_at: string;
  readonly indexed_at: string | null;
  readonly job_id: string | null;
  readonly etag: string;
}

export interface UploadedDocument extends Document {
  /** The same bytes as before: nothing changed. */
  readonly unchanged?: true;
  /** Another document of the collection with the same bytes. */
  readonly duplicate_of?: string;
}

export interface DocumentVersion {
  readonly version: number;
  readonly size_bytes: number;
  readonly sha256: string;
  readonly live: boolean;
}

/** A slice of a document's text, as searches show it. */
export interface Chunk {
  readonly chunk_id: string;
  readonly index: number;
  readonly text: string;
  /** UTF-16 code units into the document's text. */
  readonly start: number;
  readonly end: number;
  readonly page?: number;
  readonly section?: string;
}

/** A window of the text that chunks and citations point into. */
export interface DocumentText {
  readonly document_id: string;
  readonly version: number;
  /** Of the whole text, in UTF-16 code units. */
  readonly length: number;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Where the next window starts; null at the end of the text. */
  readonly next_start: number | null;
  readonly pages: readonly { readonly page: number; readonly start: number; readonly end: number }[];
  readonly sections: readonly { readonly path: readonly string[]; readonly start: number; readonly end: number }[];
  readonly warnings: readonly string[];
}

/** Where a hit stands in its source. */
export interface Citation {
  readonly repository_id: string;
  readonly collection_id: string;
  readonly document_id: string;
  /** Of a row that a caller embedded itself: it is of no document (document_id and filename are empty), and its quote is its own text. */
  readonly row_id?: string;
  readonly filename: string;
  readonly version: number;
  readonly page?: number;
  readonly section?: string;
  readonly start: number;
  readonly end: number;
  readonly quote: string;
}

export type CitationToVerify = Pick<
  Citation,
  "repository_id" | "collection_id" | "document_id" | "row_id" | "version" | "start" | "end" | "quote"
>;

export interface CitationCheck {
  readonly valid: boolean;
  readonly result: "exact" | "moved" | "not_in_document" | "version_gone" | "document_gone" | "not_in_row" | "row_gone";
  /** Whether searches still show this version. */
  readonly current: boolean;
  /** Where the quote stands now, when it moved. */
  readonly found_at?: number;
}

export interface Hit {
  readonly repository_id: string;
  readonly collection_id: string;
  readonly document_id: string;
  readonly chunk_id: string;
  readonly text: string;
  /** 0…1, calibrated: one meaning for all questions and collections. */
  readonly score: number;
  /** What the ranking was made of; `fused` orders the hits of a hybrid search. */
  readonly scores: {
    readonly vector?: number;
    readonly keyword?: number;
    readonly graph?: number;
    readonly fused?: number;
  };
  readonly metadata: JsonObject;
  readonly citation: Citation;
  /** Other hits of the same document, with `group_by`. */
  readonly more?: readonly { readonly chunk_id: string; readonly score: number }[];
  readonly explain?: JsonObject;
}

export const searchOutcomes = ["ok", "empty", "indexing", "no_match"] as const;
export type SearchOutcome = (typeof searchOutcomes)[number];

export interface SearchAnswer {
  readonly hits: readonly Hit[];
  /** Why there are no hits: nothing is stored, documents are still being indexed, or nothing is relevant. */
  readonly outcome: SearchOutcome;
  /** Collections that could not be searched; the others were. */
  readonly skipped?: readonly {
    readonly repository_id: string;
    readonly collection_id: string;
    readonly code: string;
    readonly reason: string;
  }[];
  /** Fields of the filter that nothing has. */
  readonly unknown_fields?: readonly string[];
  /** What was done otherwise than asked: a search of catalogs has at most 20 hits. */
  readonly warnings?: readonly string[];
  readonly mode_used: SearchMode;
  readonly timings: { readonly embed_ms: number; readonly search_ms: number; readonly total_ms: number };
  readonly explain?: JsonObject;
}
