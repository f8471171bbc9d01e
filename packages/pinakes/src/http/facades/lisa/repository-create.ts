/** A new repository: the record, a collection for each data source of a knowledge base, and its pipelines. */
import type { JsonObject } from "../../../domain/json.ts";
import type { Caller } from "../../../domain/caller.ts";
import { hasCode, invalid, show } from "../../../domain/errors.ts";
import { defaultCollectionId, type Knowledge, type RepositoryView } from "../../../knowledge/index.ts";
import { notDone, type DataSource, type OwnPipelines, type RepositoryInput } from "./repository-object.ts";
import { ownSettings, sourceOf, toMetadata, toPipeline, type PipelineInput } from "./settings.ts";

/** Returns the parts of the input that are not supported. */
export async function createRepository(
  knowledge: Knowledge,
  caller: Caller,
  input: RepositoryInput,
): Promise<readonly string[]> {
  const { bedrockKnowledgeBaseConfig: base, pipelines, type } = input;
  if (type === "bedrock_knowledge_base" && (base === null || base === undefined))
    throw invalid("bedrockKnowledgeBaseConfig: is missing; a knowledge base needs it.");
  const piped = pipelines ?? [];
  await knowledge.pipelines.check(
    caller,
    piped.map((pipeline, i) => toPipeline(pipeline, `pipelines[${i}]`)),
  );
  const { opensearchConfig, rdsConfig } = input;
  const own = present({ type, opensearchConfig, rdsConfig, bedrockKnowledgeBaseConfig: base });
  const repository = await knowledge.repositories.create(caller, {
    repository_id: input.repositoryId,
    ...present({
      name: input.repositoryName,
      description: input.description,
      embedding_model: input.embeddingModelId,
      allowed_groups: input.allowedGroups,
      allow_user_collections: input.allowUserCollections,
      chunking_strategy: input.chunkingStrategy,
    }),
    metadata: toMetadata(input.metadata ?? {}, own),
  });
  try {
    const warnings = await addDataSources(knowledge, caller, repository, base?.dataSources ?? []);
    await addPipelines(knowledge, caller, repository, piped);
    return [...notDone(input), ...warnings];
  } catch (error) {
    await knowledge.repositories.delete(caller, input.repositoryId, input.repositoryId);
    throw error;
  }
}

/** Each data source becomes a collection with its id. Its bucket is read if the operator of the server allows it. */
export async function addDataSources(
  knowledge: Pick<Knowledge, "collections" | "pipelines">,
  caller: Caller,
  { repository_id }: RepositoryView,
  sources: readonly DataSource[],
): Promise<readonly string[]> {
  const warnings: string[] = [];
  for (const { id, name, s3Uri } of sources) {
    const pipeline = { trigger: "event", source: s3Uri, auto_remove: true } as const;
    let reason: string | undefined;
    try {
      await knowledge.pipelines.check(caller, [pipeline]);
    } catch (error) {
      if (!hasCode(error, "FORBIDDEN", "INVALID")) throw error;
      reason = error.detail;
    }
    if (reason !== undefined)
      warnings.push(
        `bedrockKnowledgeBaseConfig.dataSources: ${show(s3Uri)} of ${show(id)} is not read (${reason}); its collection accepts uploads.`,
      );
    await knowledge.collections.create(caller, repository_id, {
      collection_id: id,
      // LISA allows characters in names that Pinakes does not.
      name: /^[A-Za-z0-9 _-]{1,100}$/.test(name) ? name : id,
      pipelines: reason === undefined ? [pipeline] : [],
    });
  }
  return warnings;
}

/** Creates pipelines on the collections they name, or else on the default one; the repository records which are its own. */
export async function addPipelines(
  knowledge: Pick<Knowledge, "pipelines" | "repositories">,
  caller: Caller,
  repository: RepositoryView,
  inputs: readonly PipelineInput[],
  kept: OwnPipelines = [],
): Promise<RepositoryView> {
  const { repository_id, embedding_model } = repository;
  const made: { collectionId: string; pipelineId: string }[] = [...kept];
  for (const [i, input] of inputs.entries()) {
    const collectionId = input.collectionId ?? defaultCollectionId(embedding_model);
    const pipeline = toPipeline(input, `pipelines[${i}]`);
    const { pipeline_id } = await knowledge.pipelines.create(caller, repository_id, collectionId, pipeline);
    made.push({ collectionId, pipelineId: pipeline_id });
  }
  if (made.length === 0 && ownSettings(repository.metadata)["pipelines"] === undefined) return repository;
  const { tags, custom_fields } = repository.metadata;
  const lisa = { ...ownSettings(repository.metadata), pipelines: made };
  return knowledge.repositories.update(
    caller,
    repository_id,
    { metadata: { tags, custom_fields: { ...custom_fields, lisa } } },
    repository.etag,
  );
}

/** The source and the target collection of a repository's pipeline. */
export function placeOf(input: PipelineInput, repository: RepositoryView): string {
  return `${input.collectionId ?? defaultCollectionId(repository.embedding_model)} ${sourceOf(input)}`;
}

/** Omits null and undefined fields. */
export function present<Fields extends Readonly<Record<string, unknown>>>(fields: Fields): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  ) as JsonObject;
}
