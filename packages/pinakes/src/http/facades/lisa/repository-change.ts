/** Changes of a repository. */
import { invalid } from "../../../domain/errors.ts";
import type { Caller } from "../../../domain/caller.ts";
import type { Pipeline } from "@pinakes/client";
import type { Knowledge, RepositoryView } from "../../../knowledge/index.ts";
import { ifMissing } from "../../../runtime/expected-errors.ts";
import { addDataSources, addPipelines, placeOf, present } from "./repository-create.ts";
import { knowledgeBaseOf, ownPipelines, type OwnPipelines, type RepositoryChange } from "./repository-object.ts";
import { metadataView, ownSettings, requireSame, toMetadata, toPipeline, type PipelineInput } from "./settings.ts";

interface Changed {
  readonly repository: RepositoryView;
  readonly warnings: readonly string[];
  /** Changes of pipelines or data sources, for which LISA runs a deployment. */
  readonly deployed: boolean;
}

export async function changeRepository(
  knowledge: Knowledge,
  caller: Caller,
  repositoryId: string,
  input: RepositoryChange,
): Promise<Changed> {
  const known = await knowledge.repositories.get(caller, repositoryId);
  const { embeddingModelId, bedrockKnowledgeBaseConfig: base, pipelines } = input;
  if (typeof embeddingModelId === "string" && embeddingModelId !== known.embedding_model)
    throw invalid(
      `embeddingModelId: the repository's is ${known.embedding_model} and cannot be changed; create another repository, or re-index its collections.`,
    );
  if (Object.keys(present(input)).length === 0) throw invalid("Nothing to change: specify at least one field.");
  const before = knowledgeBaseOf(known);
  if (base !== null && base !== undefined && before === undefined)
    throw invalid("bedrockKnowledgeBaseConfig: the repository is of another type, which cannot be changed.");
  const own = { ...ownSettings(known.metadata), ...present({ bedrockKnowledgeBaseConfig: base }) };
  const metadata = input.metadata ?? metadataInput(known);
  const patch = present({
    name: input.repositoryName,
    description: input.description,
    allowed_groups: input.allowedGroups,
    allow_user_collections: input.allowUserCollections,
    chunking_strategy: input.chunkingStrategy,
  });
  const described = (input.metadata ?? base ?? null) !== null;
  const fields = {
    ...patch,
    ...(described ? { metadata: toMetadata(metadata, Object.keys(own).length === 0 ? undefined : own) } : {}),
  };
  let repository =
    Object.keys(fields).length === 0
      ? known
      : await knowledge.repositories.update(caller, repositoryId, fields, known.etag);
  const added = (base?.dataSources ?? []).filter(({ id }) => !before?.dataSources.some((one) => one.id === id));
  const warnings = await addDataSources(knowledge, caller, repository, added);
  const changed =
    pipelines === null || pipelines === undefined ? undefined : await sync(knowledge, caller, repository, pipelines);
  repository = changed ?? repository;
  return { repository, warnings, deployed: changed !== undefined || added.length > 0 };
}

function metadataInput({ metadata }: RepositoryView) {
  const { tags, customFields } = metadataView(metadata);
  return { tags: [...tags], customFields };
}

/** Undefined if nothing changed. */
async function sync(
  knowledge: Knowledge,
  caller: Caller,
  repository: RepositoryView,
  inputs: readonly PipelineInput[],
): Promise<RepositoryView | undefined> {
  const noted = await existing(knowledge, caller, repository);
  const kept: OwnPipelines = [];
  const added: PipelineInput[] = [];
  for (const [i, input] of inputs.entries()) {
    const where = `pipelines[${i}]`;
    const wanted = toPipeline(input, where);
    const same = noted.find(({ place }) => place === placeOf(input, repository));
    if (same === undefined) {
      added.push(input);
      continue;
    }
    requireSame(same.pipeline, wanted, where);
    kept.push(same.entry);
  }
  const gone = noted.filter(({ entry }) => !kept.includes(entry));
  if (added.length === 0 && gone.length === 0) return undefined;
  await knowledge.pipelines.check(
    caller,
    added.map((input) => toPipeline(input, "pipelines")),
  );
  for (const { entry } of gone)
    await ifMissing(knowledge.pipelines.delete(caller, repository.repository_id, entry.collectionId, entry.pipelineId));
  return addPipelines(knowledge, caller, repository, added, kept);
}

interface Noted {
  readonly entry: OwnPipelines[number];
  readonly pipeline: Pipeline;
  readonly place: string;
}

async function existing(knowledge: Knowledge, caller: Caller, repository: RepositoryView): Promise<readonly Noted[]> {
  const found: Noted[] = [];
  for (const entry of ownPipelines(ownSettings(repository.metadata))) {
    const collection = await ifMissing(knowledge.collections.get(caller, repository.repository_id, entry.collectionId));
    const pipeline = collection?.pipelines.find(({ pipeline_id }) => pipeline_id === entry.pipelineId);
    if (pipeline !== undefined) found.push({ entry, pipeline, place: `${entry.collectionId} ${pipeline.source}` });
  }
  return found;
}
