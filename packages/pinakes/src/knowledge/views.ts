/** Records as callers see them: the shapes of `/v1`, the same for HTTP, CLI and programs. */
import type { Job, Operation as OperationView, StoreProgress as StoreView } from "@pinakes/client";
import type { ChunkingStrategy } from "../domain/chunking.ts";
import { emptyStats } from "./records/collection-partition.ts";
import { effectiveGraph, type GraphSettings } from "./extraction/index.ts";
import { effectiveChunking, repositoryChunking } from "./records/collection-fields.ts";
import type { OpenCollection } from "./access/open-collection.ts";
import type { Level } from "./access/access.ts";
import type { Stored } from "./records/catalog-records.ts";
import { effectiveMetadata, type Metadata } from "./records/metadata.ts";
import type {
  CollectionStatus,
  DocumentGraph,
  DocumentRecord,
  DocumentSource,
  DocumentStatus,
  PipelineSettings,
  RepositoryRecord,
  StatsRecord,
} from "./records/records.ts";
import type { JobKind, JobRecord } from "./jobs/jobs.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Operation, StoreRow } from "../lifecycle/index.ts";
import { countedIn } from "./jobs/counted-in.ts";

export interface RepositoryView {
  readonly repository_id: string;
  readonly name: string;
  readonly description: string;
  readonly embedding_model: string;
  readonly allowed_groups: readonly string[] | null;
  readonly allow_user_collections: boolean;
  readonly auto_create: boolean;
  readonly create_on_query: boolean;
  readonly chunking_strategy: ChunkingStrategy | null;
  /** What its collections have that say nothing themselves. */
  readonly effective_chunking_strategy: ChunkingStrategy;
  readonly graph: GraphSettings | null;
  readonly metadata: Metadata;
  readonly personal: boolean;
  readonly status: RepositoryRecord["status"];
  readonly created_by: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly etag: string;
}

/** With what whoever made or changed it should know; absent: nothing. */
export type Warned<View> = View & { readonly warnings?: readonly string[] };

export function repositoryView({ record, etag }: Stored<RepositoryRecord>): RepositoryView {
  return {
    repository_id: record.repository_id,
    name: record.name,
    description: record.description,
    embedding_model: record.embedding_model,
    allowed_groups: record.allowed_groups,
    allow_user_collections: record.allow_user_collections,
    auto_create: record.auto_create ?? false,
    create_on_query: record.create_on_query ?? false,
    chunking_strategy: record.chunking_strategy,
    effective_chunking_strategy: repositoryChunking(record),
    graph: record.graph ?? null,
    metadata: record.metadata,
    personal: record.owner !== null,
    status: record.status,
    created_by: record.created_by,
    created_at: record.created_at,
    updated_at: record.updated_at,
    etag,
  };
}

export type IndexingStatus = "pending" | "indexing" | "ready" | "error";

export interface CollectionView {
  readonly collection_id: string;
  readonly repository_id: string;
  readonly repository_name: string;
  readonly name: string;
  readonly description: string;
  /** The one in effect; `own_chunking_strategy` is null where it comes from above. */
  readonly chunking_strategy: ChunkingStrategy;
  readonly own_chunking_strategy: ChunkingStrategy | null;
  readonly allow_chunking_override: boolean;
  /** What of documents goes into the graph, in effect; `own_graph` is null where it comes from above. */
  readonly graph: GraphSettings;
  readonly own_graph: GraphSettings | null;
  readonly metadata: Metadata;
  /** With those of the repository. */
  readonly effective_metadata: Metadata;
  readonly allowed_groups: readonly string[] | null;
  readonly effective_groups: readonly string[] | null;
  readonly embedding_model: string;
  readonly private: boolean;
  readonly pipelines: readonly PipelineSettings[];
  readonly status: CollectionStatus;
  readonly indexing_status: IndexingStatus;
  readonly document_count: number;
  readonly documents_by_status: Readonly<Record<DocumentStatus, number>>;
  readonly total_size_bytes: number;
  readonly chunk_count: number;
  /** Rows that callers embedded themselves, or that a migration or a drop box brought. */
  readonly row_count: number;
  readonly last_sync_at: string | null;
  /** Loaded or asked, to within some minutes; null: never. */
  readonly last_used_at: string | null;
  readonly is_default: boolean;
  readonly access: Level | null;
  readonly created_by: string;
  readonly created_at: string;
  /** It came from elsewhere, where nobody had kept when it was made. */
  readonly created_at_estimated?: true;
  /** The migration that fills it: until that is done it takes no other writes. */
  readonly held_by?: string;
  readonly updated_at: string;
  readonly deleted_at: string | null;
  readonly purge_at: string | null;
  readonly incarnation: string;
  /** Another life has the id now; this one is named by its incarnation. */
  readonly displaced?: true;
  readonly etag: string;
}

export interface CollectionChange extends CollectionView {
  readonly warnings: readonly string[];
}

/** The etag has parts: of the record, which a change is conditional on, of the counters, of the repository, from which a part of what is shown comes, and how many rows. */
export function collectionView(
  { repository, collection, etag, decision }: OpenCollection,
  stats: Stored<StatsRecord> | undefined,
  rows: number,
): CollectionView {
  const counted = stats?.record ?? emptyStats;
  return {
    collection_id: collection.collection_id,
    repository_id: collection.repository_id,
    repository_name: repository.name,
    name: collection.name,
    description: collection.description,
    chunking_strategy: effectiveChunking(repository, collection),
    own_chunking_strategy: collection.chunking_strategy,
    allow_chunking_override: collection.allow_chunking_override,
    graph: effectiveGraph(repository, collection),
    own_graph: collection.graph ?? null,
    metadata: collection.metadata,
    effective_metadata: effectiveMetadata(repository.metadata, collection.metadata),
    allowed_groups: collection.allowed_groups,
    effective_groups: collection.allowed_groups ?? repository.allowed_groups,
    embedding_model: collection.embedding_model,
    private: collection.private,
    pipelines: collection.pipelines,
    status: collection.status,
    indexing_status: indexingStatus(counted, rows),
    document_count: counted.document_count,
    documents_by_status: counted.by_status,
    total_size_bytes: counted.total_size_bytes,
    chunk_count: counted.chunk_count,
    row_count: rows,
    last_sync_at: counted.last_sync_at,
    last_used_at: counted.last_used_at ?? null,
    is_default: collection.is_default,
    access: decision.level,
    created_by: collection.created_by,
    created_at: collection.created_at,
    ...(collection.migrated?.created_at === "estimated" ? { created_at_estimated: true } : {}),
    ...(collection.hold === undefined ? {} : { held_by: collection.hold.migration_id }),
    updated_at: collection.updated_at,
    deleted_at: collection.deleted_at,
    purge_at: collection.purge_at,
    incarnation: collection.incarnation,
    ...(collection.displaced === true ? { displaced: true } : {}),
    etag: [
      etag,
      stats?.etag ?? "",
      Date.parse(repository.updated_at).toString(36),
      ...(rows === 0 ? [] : [rows.toString(36)]),
    ].join("~"),
  };
}

/** What a change of the record is conditional on. */
export function recordEtag(etag: string | undefined): string | undefined {
  return etag?.split("~")[0];
}

/** error ⇔ a document has failed; ready ⇔ all are indexed, and there was at least one, or a row; indexing ⇔ some are on their way. */
export function indexingStatus({ by_status, document_count, last_sync_at }: StatsRecord, rows = 0): IndexingStatus {
  if (by_status.failed > 0) return "error";
  if (by_status.uploading + by_status.pending + by_status.indexing > 0) return "indexing";
  return document_count === 0 && rows === 0 && last_sync_at === null ? "pending" : "ready";
}

export interface DocumentView {
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
  /** How the passages that searches show were cut. */
  readonly chunking_strategy: ChunkingStrategy | null;
  /** What of it is in the graph, and what a reader should know of that; null: nothing ever was. */
  readonly graph: Omit<DocumentGraph, "sources"> | null;
  readonly metadata: JsonObject;
  readonly source: DocumentSource;
  /** The version that searches show; another one may be on its way. */
  readonly live_version: number | null;
  readonly uploaded_by: string;
  readonly uploaded_at: string;
  readonly indexed_at: string | null;
  readonly job_id: string | null;
  readonly etag: string;
}

export interface UploadedDocument extends DocumentView {
  /** The same bytes as before: nothing was done. */
  readonly unchanged?: true;
  readonly duplicate_of?: string;
}

export function documentView({ record, etag }: Stored<DocumentRecord>): DocumentView {
  return {
    document_id: record.document_id,
    collection_id: record.collection_id,
    repository_id: record.repository_id,
    name: record.name,
    file_type: record.file_type,
    size_bytes: record.size_bytes,
    sha256: record.sha256 ?? null,
    version: record.versions[0]?.version ?? record.version,
    status: record.status,
    error: record.error,
    attempts: record.attempts,
    progress: record.progress,
    chunk_count: record.live?.chunk_count ?? 0,
    chunking_strategy: record.live?.chunking_strategy ?? record.chunking_override,
    graph: graphView(record),
    metadata: record.metadata,
    source: record.source,
    live_version: record.live?.version ?? null,
    uploaded_by: record.uploaded_by,
    uploaded_at: record.uploaded_at,
    indexed_at: record.indexed_at,
    job_id: record.job_id,
    etag,
  };
}

function graphView({ graph }: DocumentRecord): DocumentView["graph"] {
  if (graph === undefined) return null;
  const { sources: _, ...told } = graph;
  return told;
}

/** Its kind is one of those that there are. */
export interface JobView extends Job {
  readonly kind: JobKind;
}

export function jobView(job: JobRecord): JobView {
  const {
    job_id,
    kind,
    status,
    progress,
    attempts,
    error,
    result,
    repository_id,
    collection_id,
    created_by,
    created_at,
    updated_at,
  } = job;
  return {
    job_id,
    kind,
    status,
    progress,
    attempts,
    error,
    result: result as JsonObject | null,
    repository_id,
    collection_id,
    created_by,
    created_at,
    updated_at,
  };
}

export type { OperationView };

export type { StoreView };

export function operationView(operation: Operation): OperationView {
  const { operation_id, action, status, partial, repository_id, collection_id, incarnation } = operation;
  const { created_by, created_at, updated_at, finished_at } = operation;
  const stores = operation.stores.map((row) => storeView(action, row));
  return {
    operation_id,
    action,
    status,
    partial,
    repository_id,
    collection_id,
    incarnation,
    stores,
    created_by,
    created_at,
    updated_at,
    finished_at,
  };
}

function storeView(action: Operation["action"], row: StoreRow): StoreView {
  const { store, status, attempts, deleted, remaining, duration_ms, error, next_at } = row;
  const waits = status === "waiting" ? new Date(next_at).toISOString() : null;
  return {
    store,
    status,
    attempts,
    deleted,
    remaining,
    unit: countedIn(action, store),
    duration_ms,
    error,
    next_at: waits,
  };
}
