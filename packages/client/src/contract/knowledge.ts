/**
 * Wire types of the knowledge side: repositories, collections and documents. Field names are those of `/v1`. Lists of allowed values are
 * defined only here; routes, features, CLI and console import them.
 */
import type { NewPipeline, Pipeline } from "./pipelines.ts";
import type { JsonObject } from "../json.ts";

export const collectionStatuses = ["ACTIVE", "ARCHIVED", "DELETE_IN_PROGRESS", "DELETE_FAILED", "DELETED"] as const;
export type CollectionStatus = (typeof collectionStatuses)[number];

export const indexingStatuses = ["pending", "indexing", "ready", "error"] as const;
export type IndexingStatus = (typeof indexingStatuses)[number];

export const documentStatuses = ["uploading", "pending", "indexing", "indexed", "failed"] as const;
export type DocumentStatus = (typeof documentStatuses)[number];

export const collectionSorts = ["created_at", "updated_at", "name", "last_used_at", "size"] as const;
export type CollectionSort = (typeof collectionSorts)[number];

/** Whether one of the tags is enough. */
export const tagMatches = ["any", "all"] as const;
export type TagMatch = (typeof tagMatches)[number];

export const accessLevels = ["READ", "WRITE", "ADMIN"] as const;
export type AccessLevel = (typeof accessLevels)[number];

export const chunkingTypes = ["FIXED", "RECURSIVE", "TOKEN", "SENTENCE", "MARKDOWN", "SEMANTIC", "NONE"] as const;
export type ChunkingType = (typeof chunkingTypes)[number];

export const chunkUnits = ["char", "token"] as const;
export type ChunkUnit = (typeof chunkUnits)[number];

/** How documents are split into chunks. */
export interface ChunkingStrategy {
  readonly type: ChunkingType;
  /** The unit of `chunk_size` and `chunk_overlap`. */
  readonly unit: ChunkUnit;
  readonly chunk_size: number;
  readonly chunk_overlap: number;
  /** RECURSIVE: tried in this order. */
  readonly separators?: readonly string[];
  /** SEMANTIC: 0…1; a chunk ends where neighbouring sentences are less similar than this. */
  readonly threshold?: number;
}

/**
 * `structured`: tables, JSON, YAML, front matter and links of Markdown, RDF. `cooccurrence`: these, and names that occur in the same chunk.
 * `llm`: these, and what a model extracts from the chunks.
 */
export const extractModes = ["off", "structured", "cooccurrence", "llm"] as const;
export type ExtractMode = (typeof extractModes)[number];

/** Which triples documents add to the graph. */
export interface GraphSettings {
  readonly extract: ExtractMode;
  /** The column or field whose value names a record, the same in all documents of the collection. */
  readonly key?: string;
  /** For `llm`: the chat model; default: the first configured one. */
  readonly model?: string;
  /** For `llm`: the types of entities to extract; default: any. */
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
  /** Warnings for the user who created or changed it. */
  readonly warnings?: readonly string[];
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
  /** Derived from the name if absent. */
  readonly repository_id?: string | undefined;
  /** Defaults to the server's default model. */
  readonly embedding_model?: string | undefined;
}

export interface Collection {
  readonly collection_id: string;
  readonly repository_id: string;
  readonly repository_name: string;
  readonly name: string;
  readonly description: string;
  /** The effective strategy; `own_chunking_strategy` is null if it is inherited. */
  readonly chunking_strategy: ChunkingStrategy;
  readonly own_chunking_strategy: ChunkingStrategy | null;
  readonly allow_chunking_override: boolean;
  /** The effective setting; `own_graph` is null if it is inherited. */
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
  /** Loaded or searched, to within some minutes; null: never. */
  readonly last_used_at: string | null;
  readonly is_default: boolean;
  /** The caller's level of access. */
  readonly access: AccessLevel | null;
  readonly created_by: string;
  readonly created_at: string;
  /** It was imported from a place that had not recorded when it was created. */
  readonly created_at_estimated?: true;
  /** Its documents are deleted when it was not used for this long. */
  readonly expires_after_days?: number;
  /** When that happened. */
  readonly expired_at?: string;
  /** Narrow the access of documents by their metadata. */
  readonly access_rules?: readonly AccessRule[];
  /** The migration that fills it; until that is done it accepts no other writes. */
  readonly held_by?: string;
  readonly updated_at: string;
  readonly deleted_at: string | null;
  readonly purge_at: string | null;
  /** A new one for each collection that is created under the same id. */
  readonly incarnation: string;
  /** Another incarnation has the id now; this one is named by its incarnation. */
  readonly displaced?: true;
  readonly etag: string;
  /** Warnings for the user who created or changed it. */
  readonly warnings?: readonly string[];
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
  /** All of them; null removes them. */
  readonly access_rules?: readonly AccessRule[] | null | undefined;
  readonly private?: boolean | undefined;
}

export interface NewCollection extends CollectionChange {
  /** Derived from the name if absent. */
  readonly collection_id?: string | undefined;
  readonly embedding_model?: string | undefined;
  /** Created with the collection: all of them, or nothing. */
  readonly pipelines?: readonly NewPipeline[] | undefined;
}

export interface DocumentCounts {
  readonly document_count: number;
  readonly total_size_bytes: number;
  readonly chunk_count: number;
  readonly by_status: Readonly<Record<DocumentStatus, number>>;
}

/** The data of a collection in each store. */
export interface CollectionUsage extends DocumentCounts {
  readonly recounted: DocumentCounts;
  readonly repaired: boolean;
  readonly triples: number;
  readonly stores: Readonly<Record<string, number>>;
  /** Whether the counters equal a recount. */
  readonly consistent: boolean;
}

/** Why a user may or may not use something. */
export interface AccessDecision {
  /** null: not visible at all. */
  readonly level: AccessLevel | null;
  /** The rule that decided. */
  readonly reason: string;
  /** The user's groups that opened it. */
  readonly groups: readonly string[];
  readonly document?: Pick<Document, "document_id" | "status" | "uploaded_by" | keyof DocumentAccess> & {
    readonly searchable: boolean;
  };
}

/** Server information for clients; `ServerStatus` has the rest. */
export interface ServerInfo {
  readonly name: string;
  readonly version: string;
  readonly database: string;
  /** How long a deleted collection can be restored; 0: not at all. */
  readonly trash_days: number;
}

export interface ServerStatus extends ServerInfo {
  readonly uptime_ms: number;
  readonly items: {
    readonly engine: string;
    readonly index_reads: string;
    readonly batch_operations_max: number;
    readonly durable: boolean;
  };
  readonly objects: { readonly driver: string; readonly conditional_put: boolean; readonly durable: boolean };
  readonly queue: { readonly driver: string; readonly dedup_window_ms: number; readonly durable: boolean };
  readonly triples: {
    readonly engine: string;
    readonly reads: string;
    readonly atomic_quads_max: number;
    readonly durable: boolean;
  };
  readonly models: readonly { readonly id: string; readonly provider: string }[];
}

/** `auto`: by a pipeline; `existing`: bytes that stay in place and are never removed. */
export const documentSourceTypes = ["manual", "auto", "existing"] as const;

/** The source of a document; the same source always identifies the same document. */
export interface DocumentSource {
  readonly type: (typeof documentSourceTypes)[number];
  readonly uri: string;
  readonly pipeline_id?: string;
  /** Identifies the content in its source, so that an unchanged file is not read again. */
  readonly etag?: string;
}

/** The graph data extracted from a document. */
export interface DocumentGraph {
  readonly triples: number;
  /** Warnings for the user: for example that triples were truncated, or which chunks a model could not process */
  readonly warnings?: readonly string[];
  readonly failed_chunks?: readonly { readonly chunk: number; readonly error: string }[];
}

/** Who of those who may use the collection may see a document: it narrows the access to the collection, and never widens it. */
export interface DocumentAccess {
  /** These groups of the collection, and `allowed_users`; both null: everybody who may use the collection. */
  readonly allowed_groups: readonly string[] | null;
  readonly allowed_users: readonly string[] | null;
  /** Labels: for each of them a reader must also be in the group `sensitivity:<label>`. */
  readonly sensitivity: readonly string[];
}

/** The access of documents whose metadata matches: for those uploaded, or whose metadata or access is changed, from then on. */
export interface AccessRule extends Partial<DocumentAccess> {
  /** Properties of the metadata and their values, all of them. */
  readonly metadata: JsonObject;
}

export interface Document extends DocumentAccess {
  readonly document_id: string;
  readonly collection_id: string;
  readonly repository_id: string;
  readonly name: string;
  readonly file_type: string;
  readonly size_bytes: number;
  readonly sha256: string | null;
  /** The newest whose bytes are here. */
  readonly version: number;
  readonly status: DocumentStatus;
  readonly error: string | null;
  readonly attempts: number;
  readonly progress: { readonly done: number; readonly total: number } | null;
  readonly chunk_count: number;
  /** How the chunks that searches show were cut. */
  readonly chunking_strategy: ChunkingStrategy | null;
  /** null: nothing of it ever was in the graph. */
  readonly graph: DocumentGraph | null;
  readonly metadata: JsonObject;
  readonly source: DocumentSource;
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

/** A link with which one file can be uploaded or downloaded without a key, for a while. */
export interface TransferLink {
  /** A path on the server: prefix it with the server's address. */
  readonly url: string;
  readonly expires_at: string;
  readonly expires_in_seconds: number;
}

export interface DocumentVersion {
  readonly version: number;
  readonly size_bytes: number;
  readonly sha256: string;
  readonly uploaded_at: string;
  readonly uploaded_by: string;
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

/** A window of the text that offsets of chunks and citations refer to. */
export interface DocumentText {
  readonly document_id: string;
  readonly version: number;
  /** Length of the whole text, in UTF-16 code units. */
  readonly length: number;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Start of the next window; null at the end of the text. */
  readonly next_start: number | null;
  readonly pages: readonly { readonly page: number; readonly start: number; readonly end: number }[];
  readonly sections: readonly { readonly path: readonly string[]; readonly start: number; readonly end: number }[];
  readonly warnings: readonly string[];
}
