/**
 * Repositories in the form of LISA's clients. Settings without effect here (the type of the vector store and its configuration) are stored
 * in the repository's custom field `lisa` and returned unchanged.
 */
import { z } from "zod";
import { jsonObject } from "../../../contract/index.ts";
import { isJsonObject, type JsonObject } from "../../../domain/json.ts";
import type { RepositoryView } from "../../../knowledge/index.ts";
import {
  ChunkingInput,
  chunkingView,
  MetadataInput,
  metadataView,
  MetadataView,
  ownSettings,
  PipelinesInput,
  PipelineView,
} from "./settings.ts";

export const types = ["opensearch", "pgvector", "bedrock_knowledge_base"] as const;

const instance = z.string().default("r7g.large.search");
const OpenSearch = z.union([
  z.object({ endpoint: z.string().min(1) }),
  z.object({
    dataNodes: z.int().min(1).default(2),
    dataNodeInstanceType: instance,
    masterNodes: z.int().min(0).default(0),
    masterNodeInstanceType: instance,
    volumeSize: z.int().min(20).default(20),
    volumeType: z.string().default("gp3"),
    multiAzWithStandby: z.boolean().default(false),
  }),
]);
const Rds = z.object({
  username: z.string().default("postgres"),
  passwordSecretId: z.string().nullish(),
  dbHost: z.string().nullish(),
  dbName: z.string().default("postgres"),
  dbPort: z.int().min(1).max(65_535).default(5432),
});
const DataSource = z.object({ id: z.string(), name: z.string(), s3Uri: z.string() });
export type DataSource = z.output<typeof DataSource>;
export const KnowledgeBase = z
  .object({
    knowledgeBaseId: z.string().min(1).nullish(),
    bedrockKnowledgeBaseId: z.string().min(1).nullish().describe("Former name of knowledgeBaseId."),
    dataSources: z.array(DataSource).min(1).max(100),
  })
  .transform(({ knowledgeBaseId, bedrockKnowledgeBaseId, dataSources }) => ({
    knowledgeBaseId: knowledgeBaseId ?? bedrockKnowledgeBaseId ?? "",
    dataSources,
  }))
  .refine(({ knowledgeBaseId }) => knowledgeBaseId !== "", { path: ["knowledgeBaseId"], error: "is missing" });

const fields = {
  repositoryName: z.string().nullish(),
  description: z.string().nullish(),
  embeddingModelId: z.string().nullish().describe("Defaults to the server's default model; immutable."),
  allowedGroups: z.array(z.string()).nullish().describe("[]: every user of the workspace."),
  allowUserCollections: z.boolean().nullish(),
  chunkingStrategy: ChunkingInput.nullish(),
  metadata: MetadataInput.nullish(),
  pipelines: PipelinesInput.nullish(),
  bedrockKnowledgeBaseConfig: KnowledgeBase.nullish(),
};
export const RepositoryInput = z.object({
  ...fields,
  repositoryId: z.string(),
  type: z.enum(types),
  opensearchConfig: OpenSearch.nullish(),
  rdsConfig: Rds.nullish(),
});
export type RepositoryInput = z.output<typeof RepositoryInput>;
export const RepositoryChange = z.object(fields);
export type RepositoryChange = z.output<typeof RepositoryChange>;

/** A pipeline of the repository belongs to one of its collections. */
export const OwnPipelines = z.array(z.object({ collectionId: z.string(), pipelineId: z.string() }));
export type OwnPipelines = z.output<typeof OwnPipelines>;

export function ownPipelines(own: JsonObject): OwnPipelines {
  return OwnPipelines.safeParse(own["pipelines"] ?? []).data ?? [];
}

export function knowledgeBaseOf({
  metadata,
}: Pick<RepositoryView, "metadata">):
  | { readonly knowledgeBaseId: string; readonly dataSources: readonly DataSource[] }
  | undefined {
  return KnowledgeBase.safeParse(ownSettings(metadata)["bedrockKnowledgeBaseConfig"]).data;
}

const config = jsonObject().optional();

export const RepositoryObject = z
  .object({
    repositoryId: z.string(),
    repositoryName: z.string(),
    description: z.string(),
    embeddingModelId: z.string(),
    type: z.enum(types),
    allowedGroups: z.array(z.string()),
    allowUserCollections: z.boolean(),
    chunkingStrategy: jsonObject().optional(),
    metadata: MetadataView,
    pipelines: z.array(PipelineView),
    opensearchConfig: config,
    rdsConfig: config,
    bedrockKnowledgeBaseConfig: config,
    status: z.string(),
    createdBy: z.string(),
    createdAt: z.string(),
    updatedAt: z.string(),
    executionArn: z.string().optional(),
    warnings: z.array(z.string()).optional(),
  })
  .meta({ id: "LisaRepository" });

export function repositoryObject(
  repository: RepositoryView,
  pipelines: readonly z.output<typeof PipelineView>[],
): z.output<typeof RepositoryObject> {
  const own = ownSettings(repository.metadata);
  const { tags, customFields } = metadataView(repository.metadata);
  const chunkingStrategy = chunkingView(repository.chunking_strategy);
  return {
    repositoryId: repository.repository_id,
    repositoryName: repository.name,
    description: repository.description,
    embeddingModelId: repository.embedding_model,
    // LISA's clients know no other types; as with pgvector, vectors are stored beside the records.
    type: types.find((type) => type === own["type"]) ?? "pgvector",
    allowedGroups: [...(repository.allowed_groups ?? [])],
    allowUserCollections: repository.allow_user_collections,
    ...(chunkingStrategy === null ? {} : { chunkingStrategy }),
    metadata: { tags: [...tags], customFields },
    pipelines: [...pipelines],
    ...configs(own),
    status: statusOf(repository),
    createdBy: repository.created_by,
    createdAt: repository.created_at,
    updatedAt: repository.updated_at,
  };
}

function configs(own: JsonObject): Readonly<Record<string, JsonObject>> {
  const names = ["opensearchConfig", "rdsConfig", "bedrockKnowledgeBaseConfig"] as const;
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = own[name];
      return isJsonObject(value) ? [[name, value] as const] : [];
    }),
  );
}

export function statusOf({ status, created_at, updated_at }: RepositoryView): string {
  if (status !== "ACTIVE") return status;
  return created_at === updated_at ? "CREATE_COMPLETE" : "UPDATE_COMPLETE";
}

/** Parts of a repository that this server does not support. */
export function notDone(input: Pick<RepositoryInput, "type" | "opensearchConfig" | "rdsConfig">): readonly string[] {
  const store = (["opensearchConfig", "rdsConfig"] as const)
    .filter((name) => input[name] !== null && input[name] !== undefined)
    .map(
      (name) => `${name}: is stored and shown, but not used: this server stores vectors itself and creates no cluster.`,
    );
  if (input.type !== "bedrock_knowledge_base") return store;
  return [
    ...store,
    "bedrockKnowledgeBaseConfig: is stored and shown. The knowledge base itself is not queried: each data source is a collection here, which contains what is ingested into it.",
  ];
}
