/** Collections, documents and jobs as LISA's clients read them. */
import type { Collection, Document, JobStatus } from "@pinakes/client";
import { z } from "zod";
import { jsonObject } from "../../../contract/index.ts";
import { defaultNames } from "../../../knowledge/index.ts";
import { chunkingView, metadataView, MetadataView, ownSettings, PipelineView, pipelineView } from "./settings.ts";

const chunking = jsonObject().nullable();

export const CollectionView = z
  .object({
    collectionId: z.string(),
    repositoryId: z.string(),
    repositoryName: z.string().optional(),
    name: z.string(),
    description: z.string().nullable(),
    chunkingStrategy: chunking,
    allowChunkingOverride: z.boolean(),
    metadata: MetadataView,
    allowedGroups: z.array(z.string()).nullable(),
    embeddingModel: z.string(),
    createdBy: z.string(),
    createdAt: z.string(),
    updatedAt: z.string(),
    status: z.string(),
    private: z.boolean(),
    default: z.boolean(),
    dataSourceId: z.string().nullable(),
    pipelines: z.array(PipelineView).nullable(),
    warnings: z.array(z.string()).optional(),
  })
  .meta({ id: "LisaCollection" });

export function collectionView(collection: Collection): z.output<typeof CollectionView> {
  const { collection_id, own_chunking_strategy, allowed_groups, effective_metadata, warnings = [] } = collection;
  const { tags, customFields } = metadataView(collection.metadata);
  const pipelines = collection.pipelines.flatMap((pipeline) => pipelineView(pipeline, collection_id) ?? []);
  return {
    collectionId: collection_id,
    repositoryId: collection.repository_id,
    name: collection.name,
    description: collection.description === "" ? null : collection.description,
    chunkingStrategy: chunkingView(own_chunking_strategy),
    allowChunkingOverride: collection.allow_chunking_override,
    metadata: { tags: [...tags], customFields },
    allowedGroups: allowed_groups === null ? null : [...allowed_groups],
    embeddingModel: collection.embedding_model,
    createdBy: collection.created_by,
    createdAt: collection.created_at,
    updatedAt: collection.updated_at,
    status: collection.status,
    private: collection.private,
    default: collection.is_default,
    // A collection of a data source has its id; the repository's settings reach the collection through its metadata.
    dataSourceId: dataSourcesOf(ownSettings(effective_metadata)).includes(collection_id) ? collection_id : null,
    pipelines: pipelines.length === 0 ? null : pipelines,
    ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
  };
}

const DataSources = z.object({
  bedrockKnowledgeBaseConfig: z.object({ dataSources: z.array(z.object({ id: z.string() })) }),
});

function dataSourcesOf(own: object): readonly string[] {
  const { data } = DataSources.safeParse(own);
  return data === undefined ? [] : data.bedrockKnowledgeBaseConfig.dataSources.map(({ id }) => id);
}

/** The bucket name of objects that its staging area and exports refer to. */
export const bucket = defaultNames.bucket;

export const DocumentObject = z
  .object({
    pk: z.string(),
    document_id: z.string(),
    repository_id: z.string(),
    collection_id: z.string(),
    document_name: z.string(),
    source: z.string(),
    username: z.string(),
    chunk_strategy: chunking,
    ingestion_type: z.enum(["auto", "manual", "existing"]),
    upload_date: z.number(),
    chunks: z.number(),
  })
  .meta({ id: "LisaDocument" });

export function documentObject(document: Document): z.output<typeof DocumentObject> {
  const { document_id, repository_id, collection_id, name, source } = document;
  return {
    pk: keyOf(repository_id, collection_id),
    document_id,
    repository_id,
    collection_id,
    document_name: name,
    source: s3Path(source.uri, { repository_id, collection_id, document_id, name }),
    username: document.uploaded_by,
    chunk_strategy: chunkingView(document.chunking_strategy),
    ingestion_type: source.type,
    upload_date: Date.parse(document.uploaded_at),
    chunks: document.chunk_count,
  };
}

export function keyOf(repositoryId: string, collectionId: string): string {
  return `${repositoryId}#${collectionId}`;
}

/** In LISA, every source is an S3 object. A source of another kind gets the address to which an export writes it. */
export function s3Path(
  uri: string | null | undefined,
  of: Pick<Document, "repository_id" | "collection_id" | "document_id" | "name">,
): string {
  if (uri?.startsWith("s3://") === true) return uri;
  return `s3://${bucket}/${of.repository_id}/${of.collection_id}/${of.document_id}-${of.name}`;
}

const stages: Readonly<Record<JobStatus, string>> = {
  queued: "PENDING",
  running: "IN_PROGRESS",
  succeeded: "COMPLETED",
  failed: "FAILED",
  cancelled: "FAILED",
};

export function jobStatus(kind: "INGESTION" | "DELETE", status: JobStatus): string {
  return `${kind}_${stages[status]}`;
}

/** The response that starts work, per document. */
export const BegunJob = z
  .object({ jobId: z.string(), documentId: z.string().nullable(), status: z.string(), s3Path: z.string() })
  .meta({ id: "LisaBegunJob" });
