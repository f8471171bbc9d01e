/**
 * Stored records (RFC 0005). Records that must change together are items of one container and partition, distinguished by `kind`:
 *
 *   collections  (repository_id)               the repository, its collections, their number, their tags, operations on them
 *   documents    (repository_id, incarnation)  one incarnation of a collection: fence, stats, documents, their sources, removals,
 *                                              attachments, and which documents have an access of their own
 *
 * Invariants
 * - a document is counted in exactly one field of `stats.by_status`, and `total_size_bytes` is the sum of all `size_bytes`: both change in
 *   the batch that changes the document;
 * - every batch that writes a document checks the fence, so nothing enters a deleted or archived collection;
 * - a document with an `access` has a `restricted` item with the same access and uploader, and its collection is marked `restricted`; the
 *   item stays until everything that a deleted document left is removed (restricted-rows.ts);
 * - `live` of a document is the version that searches show; chunks of any other version are invisible, even while they are still stored.
 */
import type {
  AccessRule,
  CollectionStatus,
  DocumentAccess,
  DocumentSource,
  DocumentStatus,
  Pipeline as PipelineSettings,
} from "@pinakes/client";
import type { ChunkingStrategy } from "../../domain/chunking.ts";
import type { FileType } from "../../domain/file-type.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { ContainerDefinition } from "../../ports/item-store.ts";
import type { GraphSettings } from "../extraction/index.ts";
import type { Metadata } from "./metadata.ts";

export const collectionsContainer: ContainerDefinition = Object.freeze({
  name: "collections",
  partitionKey: ["repository_id"],
  uniqueKeys: { name: ["name_key"] },
  indexes: {
    byCreated: { partition: ["repository_id", "kind"], sort: ["created_at"] },
    byUpdated: { partition: ["repository_id", "kind"], sort: ["updated_at"] },
    byName: { partition: ["repository_id", "kind"], sort: ["sort_name"] },
    byStatus: { partition: ["repository_id", "kind", "status"], sort: ["created_at"] },
    byCreator: { partition: ["kind", "created_by"], sort: ["created_at"] },
    allByCreated: { partition: ["kind"], sort: ["created_at"] },
    allByUpdated: { partition: ["kind"], sort: ["updated_at"] },
    allByName: { partition: ["kind"], sort: ["sort_name"] },
    allByStatus: { partition: ["kind", "status"], sort: ["created_at"] },
    byIncarnation: { partition: ["incarnation"], sort: ["kind"] },
    /** Only tag rows have `tag` (tag-rows.ts). */
    byTag: { partition: ["tag"], sort: ["created_at"] },
  },
  // Only items with their own TTL expire: finished operations.
  ttl: -1,
  feed: true,
});

export const documentsContainer: ContainerDefinition = Object.freeze({
  name: "documents",
  partitionKey: ["repository_id", "incarnation"],
  indexes: {
    byUploaded: { partition: ["incarnation", "kind"], sort: ["uploaded_at"] },
    byStatus: { partition: ["incarnation", "kind", "status"], sort: ["uploaded_at"] },
    bySha256: { partition: ["incarnation", "kind", "sha256"], sort: ["uploaded_at"] },
    /** Only fences have `held`: incarnations that still have data. */
    lives: { partition: ["held"], sort: ["incarnation"] },
  },
  feed: true,
});

export const collectionStatuses: readonly CollectionStatus[] = [
  "ACTIVE",
  "ARCHIVED",
  "DELETE_IN_PROGRESS",
  "DELETE_FAILED",
  "DELETED",
];

export interface RepositoryRecord {
  readonly kind: "repository";
  readonly repository_id: string;
  readonly name: string;
  readonly sort_name: string;
  readonly search_text: string;
  readonly description: string;
  readonly embedding_model: string;
  readonly allowed_groups: readonly string[] | null;
  readonly allow_user_collections: boolean;
  /** Whether a document for a missing collection creates it, named by its id. Absent in older records: no. */
  readonly auto_create?: boolean;
  /** Whether a query for a missing collection creates it, as LISA did at first (RFC 0007). Absent in older records: no. */
  readonly create_on_query?: boolean;
  readonly chunking_strategy: ChunkingStrategy | null;
  /** Settings of graph extraction. Null, or absent in older records: the default. */
  readonly graph?: GraphSettings | null;
  readonly metadata: Metadata;
  /** The user that a personal repository belongs to. */
  readonly owner: string | null;
  readonly status: "ACTIVE" | "DELETE_IN_PROGRESS" | "DELETE_FAILED";
  readonly created_by: string;
  readonly created_at: string;
  readonly updated_at: string;
  /** As in a collection. */
  readonly imported?: JsonObject;
}

export interface CollectionRecord {
  readonly kind: "collection";
  readonly collection_id: string;
  readonly repository_id: string;
  readonly name: string;
  /** Unique within the repository; absent while the collection is deleted, so that its name is free. */
  readonly name_key?: string;
  readonly sort_name: string;
  readonly search_text: string;
  readonly description: string;
  /** null: as `effectiveChunking` decides. */
  readonly chunking_strategy: ChunkingStrategy | null;
  readonly allow_chunking_override: boolean;
  /** null, or absent in older records: the repository's. */
  readonly graph?: GraphSettings | null;
  readonly metadata: Metadata;
  readonly allowed_groups: readonly string[] | null;
  readonly embedding_model: string;
  readonly private: boolean;
  readonly pipelines: readonly PipelineSettings[];
  readonly status: CollectionStatus;
  /** The status before the delete, for a restore. */
  readonly status_before: CollectionStatus | null;
  readonly is_default: boolean;
  readonly created_by: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly deleted_at: string | null;
  readonly purge_at: string | null;
  /** Identifies this incarnation of the collection: part of every key below it, never reused. */
  readonly incarnation: string;
  /** Another incarnation holds the id: this one is stored beside it, and can be restored by its incarnation. */
  readonly displaced?: true;
  /** The whole item it was imported from: an export returns what has not changed since (transfer/give-back.ts). */
  readonly imported?: JsonObject;
  /** Its documents go when nobody used it for so long. Absent or null: they stay. */
  readonly expires_after_days?: number | null;
  /** When they went. */
  readonly expired_at?: string | null;
  /** Absent or empty: the metadata of documents says nothing about their access. */
  readonly access_rules?: readonly AccessRule[];
  /** It has, or had, documents with an access of their own: reads look at the `access` item (restricted-rows.ts). */
  readonly restricted?: true;
  /** A migration fills it and refuses other writers (hold.ts). */
  readonly hold?: { readonly migration_id: string };
  /** The migration that created it, and whether its source knew the creation time. */
  readonly migrated?: { readonly migration_id: string; readonly created_at: "source" | "estimated" };
}

export interface FenceRecord {
  readonly kind: "fence";
  /** PURGED is permanent: it refuses late writes whatever else was deleted. */
  readonly status: "ACTIVE" | "ARCHIVED" | "DELETED" | "PURGED";
  readonly collection_id: string;
  /** Until all data of the incarnation is removed. */
  readonly held?: true;
  /** The vectors that searches read: `<incarnation>.<generation>`. */
  readonly generation: number;
  /** The model of that generation; that of the collection's record when absent. */
  readonly embedding_model?: string;
  /** The generation that a re-index is preparing. */
  readonly next?: { readonly generation: number; readonly embedding_model: string } | null;
}

export type { CollectionStatus, DocumentAccess, DocumentSource, DocumentStatus, PipelineSettings };

export interface StatsRecord {
  readonly kind: "stats";
  readonly document_count: number;
  readonly total_size_bytes: number;
  readonly by_status: Readonly<Record<DocumentStatus, number>>;
  readonly chunk_count: number;
  readonly last_sync_at: string | null;
  /** Accurate to some minutes (uses.ts). Absent: never used, or not since this field exists. */
  readonly last_used_at?: string;
}

/** One uploaded version of a document. */
export interface VersionInfo {
  readonly version: number;
  readonly size_bytes: number;
  readonly sha256: string;
  readonly uploaded_at: string;
  readonly uploaded_by: string;
}

/** How a version was chunked, and where its chunks are stored. */
export interface IndexedVersion extends VersionInfo {
  /** The run that created them: part of the chunk ids. */
  readonly run: number;
  readonly chunking_strategy: ChunkingStrategy;
  /**
   * The model's input limit, which bounds every chunk. Absent: chunked by an earlier version that did not enforce it, so some may be longer
   * (doctor reports that).
   */
  readonly tokens_max?: number;
  readonly chunk_count: number;
  readonly indexed_at: string;
  readonly generation: number;
}

export interface DocumentRecord {
  readonly kind: "document";
  readonly document_id: string;
  readonly collection_id: string;
  readonly repository_id: string;
  readonly incarnation: string;
  readonly source_key: string;
  readonly name: string;
  readonly file_type: FileType;
  readonly metadata: JsonObject;
  /** Who of those who may use the collection may see it (RFC 0014). Absent: all of them. */
  readonly access?: DocumentAccess;
  readonly source: DocumentSource;
  readonly status: DocumentStatus;
  readonly error: string | null;
  /** Of a failed document: the reason or code of its error, if there is one. */
  readonly error_code?: string | undefined;
  /** Attempts of the current run. */
  readonly attempts: number;
  /** Interrupted attempts, which do not count: each gets its own delta id. */
  readonly interrupted?: number;
  /** Chunks embedded so far, of how many. */
  readonly progress: { readonly done: number; readonly total: number } | null;
  /** The newest version's; 0 and absent until its bytes have arrived. */
  readonly size_bytes: number;
  readonly sha256?: string;
  /** The highest number assigned so far; the version being ingested unless it is live. */
  readonly version: number;
  /** Requested at the upload; null: the collection's. */
  readonly chunking_override: ChunkingStrategy | null;
  /** The version that searches show. */
  readonly live: IndexedVersion | null;
  /** The same in the generation being prepared; becomes `live` at the switch. */
  readonly prepared?: IndexedVersion | null;
  /** Its triples in the graph. Absent: it never had any. */
  readonly graph?: DocumentGraph;
  /** Versions whose bytes are stored, newest first. */
  readonly versions: readonly VersionInfo[];
  readonly uploaded_at: string;
  readonly uploaded_by: string;
  readonly indexed_at: string | null;
  readonly job_id: string | null;
  /** Incremented by each ingestion, retry and re-index. A worker of an earlier run can no longer change anything. */
  readonly run: number;
  /** Epoch milliseconds of the last heartbeat, for the watchdog. */
  readonly touched_at: number;
  /** As in a collection. */
  readonly imported?: JsonObject;
  /** Set by a repair that did not find bytes the record names. Everything else stays as it was, until they are back (RFC 0016). */
  readonly missing?: MissingBytes;
}

export interface MissingBytes {
  readonly versions: readonly number[];
  readonly since: string;
  /** The document's status before the repair. */
  readonly status: DocumentStatus;
  readonly error: string | null;
}

type FailedChunks = readonly { readonly chunk: number; readonly error: string }[];

export interface DocumentGraph {
  /** `<run>.<generation>`: sources that may have triples, until a removal names them. */
  readonly sources: readonly string[];
  /** Number of triples of the newest source. */
  readonly triples: number;
  /** Warnings for readers, such as a limit that was reached. */
  readonly warnings?: readonly string[];
  readonly failed_chunks?: FailedChunks;
  /** The same, as earlier versions stored it. */
  readonly failed_passages?: FailedChunks;
}

/** The version of a document that searches of this generation show. */
export function shownIn({ live, prepared }: DocumentRecord, generation: number): IndexedVersion | null {
  if (live?.generation === generation) return live;
  return prepared?.generation === generation ? prepared : null;
}

/** The document of a source. Its id makes it unique. */
export interface SourceRecord {
  readonly kind: "source";
  readonly document_id: string;
}

/** Garbage of a document: chunks that are no longer visible, and objects. */
export interface RemovalRecord {
  readonly kind: "removal";
  readonly document_id: string;
  readonly chunks: readonly ChunkRange[];
  readonly object_keys: readonly string[];
  /** Sources in the graph: `<run>.<generation>`. */
  readonly sources?: readonly string[];
  /** The deleted document had an access of its own, which applies to its leftovers. */
  readonly restricted?: true;
  readonly at: string;
}

/** The document was deleted but its bytes stay, because they existed before it: they must not be collected as garbage. */
export interface KeptRecord {
  readonly kind: "kept";
  readonly document_id: string;
}

/** A file that is to become a document of the collection, or did not: gone once there is a document for it (files/attachments.ts). */
export interface AttachmentRecord {
  readonly kind: "attachment";
  readonly file_id: string;
  readonly status: "waiting" | "failed" | "cancelled";
  readonly error: string | null;
  /** As of a document. */
  readonly error_code?: string | undefined;
  readonly metadata: JsonObject;
  readonly chunking_strategy: ChunkingStrategy | null;
  /** Of the batch that it belongs to. */
  readonly job_id: string;
  /** When the batch was made: its place among the documents. */
  readonly uploaded_at: string;
  readonly uploaded_by: string;
}

/** A document with an access of its own: what the decision needs, in the batch that changes the document. */
export interface RestrictedRecord {
  readonly kind: "restricted";
  readonly document_id: string;
  readonly access: DocumentAccess;
  readonly uploaded_by: string;
}

/** How often the restricted documents of each bucket have changed. */
export interface AccessChangesRecord {
  readonly kind: "access";
  readonly changes: Readonly<Record<string, number>>;
}

export interface ChunkRange {
  readonly run: number;
  readonly chunk_count: number;
  readonly generation: number;
}

export const itemIds = Object.freeze({
  repository: "repository",
  count: "count",
  collection: (id: string) => `collection:${id}`,
  /** No id contains "~". */
  displaced: (id: string, incarnation: string) => `collection:${id}~${incarnation}`,
  /** No tag contains ":". */
  tag: (tag: string, incarnation: string) => `tag:${tag}:${incarnation}`,
  fence: "fence",
  stats: "stats",
  document: (id: string) => `document:${id}`,
  source: (key: string) => `source:${key}`,
  removal: (document: string, what: string) => `removal:${document}:${what}`,
  removalPrefix: "removal:",
  kept: (document: string) => `kept:${document}`,
  access: "access",
  restricted: (bucket: string, document: string) => `restricted:${bucket}:${document}`,
  restrictedPrefix: "restricted:",
  attachment: (file: string) => `attachment:${file}`,
});
