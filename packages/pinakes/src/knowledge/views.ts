/**
 * Records as callers see them: the shapes of `/v1`, the same for HTTP, CLI and programs. Each schema is beside the function that creates
 * its view, so a new field needs two changes: the type in the contract, and its value here.
 */
import { z } from "zod";
import {
  accessLevels,
  chunkUnits,
  chunkingTypes,
  collectionStatuses,
  documentSourceTypes,
  documentStatuses,
  extractModes,
  indexingStatuses,
  type ChunkingStrategy,
  type Collection as CollectionView,
  type Document as DocumentView,
  type GraphSettings,
  type IndexingStatus,
  type Job,
  type Metadata,
  type Operation as OperationView,
  type Repository as RepositoryView,
  type StoreProgress as StoreView,
} from "@pinakes/client";
import { jsonObject, shape } from "../contract/index.ts";
import { emptyStats } from "./records/collection-partition.ts";
import { effectiveGraph } from "./extraction/index.ts";
import { effectiveChunking, repositoryChunking } from "./records/collection-fields.ts";
import { openAccess } from "./access/document-access.ts";
import type { OpenCollection } from "./access/open-collection.ts";
import type { Stored } from "./records/catalog-records.ts";
import { effectiveMetadata } from "./records/metadata.ts";
import type { DocumentRecord, RepositoryRecord, StatsRecord } from "./records/records.ts";
import type { JobKind, JobRecord } from "./jobs/jobs.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Operation, StoreRow } from "../lifecycle/index.ts";
import { countedIn } from "./jobs/counted-in.ts";

export type { CollectionView, DocumentView, IndexingStatus, OperationView, RepositoryView, StoreView };
export type { UploadedDocument } from "@pinakes/client";

export const ChunkingStrategySchema = shape<ChunkingStrategy>()(
  z
    .looseObject({
      type: z.enum(chunkingTypes),
      unit: z.enum(chunkUnits),
      chunk_size: z.number(),
      chunk_overlap: z.number(),
      separators: z.array(z.string()).optional(),
      threshold: z.number().optional(),
    })
    .meta({ id: "ChunkingStrategy" }),
);

export const GraphSettingsSchema = shape<GraphSettings>()(
  z
    .looseObject({
      extract: z.enum(extractModes),
      key: z.string().optional(),
      model: z.string().optional(),
      entity_types: z.array(z.string()).optional(),
    })
    .meta({ id: "GraphSettings" }),
);

export const MetadataSchema = shape<Metadata>()(
  z.object({ tags: z.array(z.string()), custom_fields: jsonObject() }).meta({ id: "Metadata" }),
);

export const RepositorySchema = shape<RepositoryView>()(
  z
    .object({
      repository_id: z.string(),
      name: z.string(),
      description: z.string(),
      embedding_model: z.string(),
      allowed_groups: z.array(z.string()).nullable(),
      allow_user_collections: z.boolean(),
      auto_create: z.boolean(),
      create_on_query: z.boolean(),
      chunking_strategy: ChunkingStrategySchema.nullable(),
      effective_chunking_strategy: ChunkingStrategySchema.describe("The strategy of collections that do not set one."),
      graph: GraphSettingsSchema.nullable(),
      metadata: MetadataSchema,
      personal: z.boolean(),
      status: z.string(),
      created_by: z.string(),
      created_at: z.string(),
      updated_at: z.string(),
      etag: z.string(),
      warnings: z.array(z.string()).optional().describe("Warnings about the settings."),
    })
    .meta({ id: "Repository" }),
);

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

export const CollectionSchema = shape<
  CollectionView,
  "created_at_estimated" | "held_by" | "displaced" | "expires_after_days" | "expired_at" | "access_rules"
>()(
  z
    .looseObject({
      collection_id: z.string(),
      repository_id: z.string(),
      repository_name: z.string(),
      name: z.string(),
      description: z.string(),
      chunking_strategy: ChunkingStrategySchema,
      own_chunking_strategy: ChunkingStrategySchema.nullable(),
      allow_chunking_override: z.boolean(),
      graph: GraphSettingsSchema,
      own_graph: GraphSettingsSchema.nullable(),
      metadata: MetadataSchema,
      effective_metadata: MetadataSchema,
      allowed_groups: z.array(z.string()).nullable(),
      effective_groups: z.array(z.string()).nullable(),
      embedding_model: z.string(),
      private: z.boolean(),
      pipelines: z.array(z.looseObject({ pipeline_id: z.string() })),
      status: z.enum(collectionStatuses),
      indexing_status: z.enum(indexingStatuses),
      document_count: z.number(),
      documents_by_status: z.record(z.string(), z.number()),
      total_size_bytes: z.number(),
      chunk_count: z.number(),
      row_count: z
        .number()
        .describe("Rows that callers embedded themselves, or that a migration or a drop box imported."),
      last_sync_at: z.string().nullable(),
      last_used_at: z.string().nullable(),
      is_default: z.boolean(),
      access: z.enum(accessLevels).nullable(),
      created_by: z.string(),
      created_at: z.string(),
      updated_at: z.string(),
      deleted_at: z.string().nullable(),
      purge_at: z.string().nullable(),
      incarnation: z.string(),
      etag: z.string(),
      warnings: z.array(z.string()).optional().describe("Warnings about the settings."),
    })
    .meta({ id: "Collection" }),
);

export interface CollectionChange extends CollectionView {
  readonly warnings: readonly string[];
}

/**
 * The etag combines that of the record, which conditional updates check, with those of the counters and the repository, which contribute
 * fields, and the number of rows.
 */
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
    ...(typeof collection.expires_after_days === "number" ? { expires_after_days: collection.expires_after_days } : {}),
    ...((collection.access_rules ?? []).length === 0 ? {} : { access_rules: collection.access_rules ?? [] }),
    ...(typeof collection.expired_at === "string" ? { expired_at: collection.expired_at } : {}),
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

/** The part of the etag that conditional updates check. */
export function recordEtag(etag: string | undefined): string | undefined {
  return etag?.split("~")[0];
}

/** error ⇔ a document has failed; ready ⇔ all are indexed, and there was at least one, or a row; indexing ⇔ some are being ingested. */
export function indexingStatus({ by_status, document_count, last_sync_at }: StatsRecord, rows = 0): IndexingStatus {
  if (by_status.failed > 0) return "error";
  if (by_status.uploading + by_status.pending + by_status.indexing > 0) return "indexing";
  return document_count === 0 && rows === 0 && last_sync_at === null ? "pending" : "ready";
}

const documentAccessFields = {
  allowed_groups: z
    .array(z.string())
    .nullable()
    .describe("null: `allowed_users`, or everybody who may use the collection."),
  allowed_users: z.array(z.string()).nullable(),
  sensitivity: z.array(z.string()).describe("Readers must also be in the group `sensitivity:<label>` of each label."),
};

export const DocumentSchema = shape<DocumentView>()(
  z
    .looseObject({
      document_id: z.string(),
      collection_id: z.string(),
      repository_id: z.string(),
      name: z.string(),
      file_type: z.string(),
      size_bytes: z.number(),
      sha256: z.string().nullable(),
      version: z.number(),
      status: z.enum(documentStatuses),
      error: z.string().nullable(),
      attempts: z.number(),
      progress: z.object({ done: z.number(), total: z.number() }).nullable(),
      chunk_count: z.number(),
      chunking_strategy: ChunkingStrategySchema.nullable(),
      graph: z
        .looseObject({
          triples: z.number(),
          warnings: z.array(z.string()).optional(),
          failed_chunks: z.array(z.object({ chunk: z.number(), error: z.string() })).optional(),
        })
        .nullable(),
      metadata: jsonObject(),
      ...documentAccessFields,
      source: z.looseObject({ type: z.enum(documentSourceTypes), uri: z.string() }),
      live_version: z.number().nullable(),
      uploaded_by: z.string(),
      uploaded_at: z.string(),
      indexed_at: z.string().nullable(),
      job_id: z.string().nullable(),
      etag: z.string(),
    })
    .meta({ id: "Document" }),
);

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
    ...(record.access ?? openAccess),
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
  const { sources: _, failed_passages, failed_chunks = failed_passages, ...rest } = graph;
  const shown = { ...rest, ...(failed_chunks === undefined ? {} : { failed_chunks }) };
  return shown;
}

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
