/**
 * What is stored (RFC 0005). Records that must change together are items of one container and partition, told apart by `kind`:
 *
 *   collections  (repository_id)               the repository, its collections, their number, their tags, operations on them
 *   documents    (repository_id, incarnation)  one life of a collection: fence, stats, documents, their sources, removals, files to attach
 *
 * Invariants
 * - a document is counted in exactly one field of `stats.by_status`, and `total_size_bytes` is the sum of all `size_bytes`: both
 *   change in the batch that changes the document;
 * - every batch that writes a document checks the fence, so nothing enters a collection that is deleted or archived;
 * - `live` of a document is the version that searches show; chunks of any other version are invisible, wherever they still lie.
 */
import type { CollectionStatus, DocumentSource, DocumentStatus, Pipeline as PipelineSettings } from "@pinakes/client";
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
    /** Rows of tags alone have `tag` (tag-rows.ts). */
    byTag: { partition: ["tag"], sort: ["created_at"] },
  },
  // Only what says so expires: finished operations.
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
    /** Fences alone have `held`: the lives of which there is something. */
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
  /** Whether a document for a collection that is not there makes it, named as its id. Absent in records of before: no. */
  readonly auto_create?: boolean;
  /** Whether a query for a collection that is not there makes it, as the source of RFC 0007 did at first. Absent in records of before: no. */
  readonly create_on_query?: boolean;
  readonly chunking_strategy: ChunkingStrategy | null;
  /** What of documents goes into the graph. Null, or absent in records of before: as the system has it. */
  readonly graph?: GraphSettings | null;
  readonly metadata: Metadata;
  /** Of a personal repository: the one user it belongs to. */
  readonly owner: string | null;
  readonly status: "ACTIVE" | "DELETE_IN_PROGRESS" | "DELETE_FAILED";
  readonly created_by: string;
  readonly created_at: string;
  readonly updated_at: string;
  /** As of a collection. */
  readonly imported?: JsonObject;
}

export interface CollectionRecord {
  readonly kind: "collection";
  readonly collection_id: string;
  readonly repository_id: string;
  readonly name: string;
  /** Unique within the repository; null while the collection is deleted, so that its name is free. */
  readonly name_key?: string;
  readonly sort_name: string;
  readonly search_text: string;
  readonly description: string;
  /** null: as `effectiveChunking` finds it. */
  readonly chunking_strategy: ChunkingStrategy | null;
  readonly allow_chunking_override: boolean;
  /** null, or absent in records of before: as the repository has it. */
  readonly graph?: GraphSettings | null;
  readonly metadata: Metadata;
  readonly allowed_groups: readonly string[] | null;
  readonly embedding_model: string;
  readonly private: boolean;
  readonly pipelines: readonly PipelineSettings[];
  readonly status: CollectionStatus;
  /** What it was before it was deleted, for the restore. */
  readonly status_before: CollectionStatus | null;
  readonly is_default: boolean;
  readonly created_by: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly deleted_at: string | null;
  readonly purge_at: string | null;
  /** This life of the collection: part of every key below it, never used again. */
  readonly incarnation: string;
  /** Another life has the id meanwhile: this one is kept beside it, and can be had back by its incarnation. */
  readonly displaced?: true;
  /** The item that it was imported from, whole: an export gives back what has not changed since (transfer/give-back.ts). */
  readonly imported?: JsonObject;
  /** Its documents go when nobody used it for so long. Absent or null: they stay. */
  readonly expires_after_days?: number | null;
  /** When they went. */
  readonly expired_at?: string | null;
  /** A migration fills it: nobody else writes (hold.ts). */
  readonly hold?: { readonly migration_id: string };
  /** The migration that made it, and whether the source said when it was made. */
  readonly migrated?: { readonly migration_id: string; readonly created_at: "source" | "estimated" };
}

export interface FenceRecord {
  readonly kind: "fence";
  /** PURGED is for ever: a write that comes late finds it, whatever else is gone. */
  readonly status: "ACTIVE" | "ARCHIVED" | "DELETED" | "PURGED";
  readonly collection_id: string;
  /** Until everything of the life is gone. */
  readonly held?: true;
  /** Which vectors searches read: `<incarnation>.<generation>`. */
  readonly generation: number;
  /** The model of that generation; that of the collection's record when absent. */
  readonly embedding_model?: string;
  /** The generation that is being made, while all documents are cut and embedded anew. */
  readonly next?: { readonly generation: number; readonly embedding_model: string } | null;
}

export type { CollectionStatus, DocumentSource, DocumentStatus, PipelineSettings };

export interface StatsRecord {
  readonly kind: "stats";
  readonly document_count: number;
  readonly total_size_bytes: number;
  readonly by_status: Readonly<Record<DocumentStatus, number>>;
  readonly chunk_count: number;
  readonly last_sync_at: string | null;
  /** To within some minutes (uses.ts). Absent: never, or not since this is kept. */
  readonly last_used_at?: string;
}

/** One set of bytes of a document. */
export interface VersionInfo {
  readonly version: number;
  readonly size_bytes: number;
  readonly sha256: string;
  readonly uploaded_at: string;
  readonly uploaded_by: string;
}

/** How a version is, or was, cut into passages and where these lie. */
export interface IndexedVersion extends VersionInfo {
  /** The run that made them: part of the passages' ids. */
  readonly run: number;
  readonly chunking_strategy: ChunkingStrategy;
  /** What the model reads at once: no passage takes more. Absent: cut before this was heeded, so some may be longer (doctor says so). */
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
  readonly source: DocumentSource;
  readonly status: DocumentStatus;
  readonly error: string | null;
  /** Tries of the ingestion under way. */
  readonly attempts: number;
  /** Tries that were interrupted and do not count as attempts: what each of them stored has a name of its own. */
  readonly interrupted?: number;
  /** Passages embedded so far, and of how many. */
  readonly progress: { readonly done: number; readonly total: number } | null;
  /** The newest version's; 0 and absent until its bytes are here. */
  readonly size_bytes: number;
  readonly sha256?: string;
  /** The highest number given so far; what is being ingested unless it is live. */
  readonly version: number;
  /** Asked for at the upload; null: as the collection has it. */
  readonly chunking_override: ChunkingStrategy | null;
  /** What searches show. */
  readonly live: IndexedVersion | null;
  /** The same in the generation that is being made; takes the place of `live` when that becomes the collection's. */
  readonly prepared?: IndexedVersion | null;
  /** What of it is in the graph. Absent: nothing ever was. */
  readonly graph?: DocumentGraph;
  /** Those whose bytes are here, newest first. */
  readonly versions: readonly VersionInfo[];
  readonly uploaded_at: string;
  readonly uploaded_by: string;
  readonly indexed_at: string | null;
  readonly job_id: string | null;
  /** Counts what was asked for: each ingestion, retry and re-index is a run. A worker of an earlier run changes nothing any more. */
  readonly run: number;
  /** Epoch milliseconds of the last sign of life, for the watchdog. */
  readonly touched_at: number;
  /** As of a collection. */
  readonly imported?: JsonObject;
  /** Set by a repair that did not find bytes which the record names. All the rest stays as it was, until they are back (RFC 0016). */
  readonly missing?: MissingBytes;
}

export interface MissingBytes {
  readonly versions: readonly number[];
  readonly since: string;
  /** What the document was before. */
  readonly status: DocumentStatus;
  readonly error: string | null;
}

export interface DocumentGraph {
  /** `<run>.<generation>`: sources that may have triples, until a removal names them. */
  readonly sources: readonly string[];
  /** Of the newest of them. */
  readonly triples: number;
  /** What a reader should know: that there was too much, or which passages a model could not read. */
  readonly warnings?: readonly string[];
  readonly failed_passages?: readonly { readonly chunk: number; readonly error: string }[];
}

/** What searches of this generation show of a document. */
export function shownIn({ live, prepared }: DocumentRecord, generation: number): IndexedVersion | null {
  if (live?.generation === generation) return live;
  return prepared?.generation === generation ? prepared : null;
}

/** Which document a source is. Its id makes it unique. */
export interface SourceRecord {
  readonly kind: "source";
  readonly document_id: string;
}

/** What of a document still has to go: passages that are not shown any more, and objects. */
export interface RemovalRecord {
  readonly kind: "removal";
  readonly document_id: string;
  readonly chunks: readonly ChunkRange[];
  readonly object_keys: readonly string[];
  /** Of the graph: `<run>.<generation>`. */
  readonly sources?: readonly string[];
  readonly at: string;
}

/** The document is gone and its bytes stay, because they were there before it: nobody may take them for left over. */
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
  readonly metadata: JsonObject;
  readonly chunking_strategy: ChunkingStrategy | null;
  /** Of the batch that it belongs to. */
  readonly job_id: string;
  /** When the batch was made: its place among the documents. */
  readonly uploaded_at: string;
  readonly uploaded_by: string;
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
  /** "~" is in no id. */
  displaced: (id: string, incarnation: string) => `collection:${id}~${incarnation}`,
  /** ":" is in no tag. */
  tag: (tag: string, incarnation: string) => `tag:${tag}:${incarnation}`,
  fence: "fence",
  stats: "stats",
  document: (id: string) => `document:${id}`,
  source: (key: string) => `source:${key}`,
  removal: (document: string, what: string) => `removal:${document}:${what}`,
  removalPrefix: "removal:",
  kept: (document: string) => `kept:${document}`,
  attachment: (file: string) => `attachment:${file}`,
});
