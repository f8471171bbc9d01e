/** Collections of a repository, under both spellings of the path. */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { invalid, show } from "../../../domain/errors.ts";
import type { Caller } from "../../../domain/caller.ts";
import type {
  CollectionPatch,
  CollectionView as Collection,
  Knowledge,
  NewCollection,
} from "../../../knowledge/index.ts";
import { ifMissing } from "../../../runtime/expected-errors.ts";
import { ok, type Route } from "../../framework/index.ts";
import { lisaRoute } from "./lisa-route.ts";
import { CollectionView, collectionView, jobStatus } from "./objects.ts";
import { syncPipelines } from "./pipelines.ts";
import type { Resolver } from "./resolve.ts";
import { ChunkingInput, MetadataInput, ownSettings, PipelinesInput, toMetadata, toPipeline } from "./settings.ts";

const fields = {
  name: z.string().nullish(),
  description: z.string().nullish(),
  chunkingStrategy: ChunkingInput.nullish(),
  allowChunkingOverride: z.boolean().nullish(),
  allowedGroups: z.array(z.string()).nullish().describe("[] or null: those of the repository."),
  metadata: MetadataInput.nullish(),
  embeddingModel: z.string().nullish().describe("The repository's when absent; cannot be changed."),
  private: z.boolean().nullish(),
  pipelines: PipelinesInput.nullish(),
};
const NewInput = z.object({ ...fields, collectionId: z.string().nullish() });
const ChangeInput = z.object({
  ...fields,
  status: z.string().nullish().describe("ACTIVE, ARCHIVED or DELETED: restores, archives, deletes."),
});
type Change = z.output<typeof ChangeInput>;

export const rid = z.string().describe("The id of a repository.");
export const cid = z.string().describe("The id or the name of a collection, or the model of the default one.");
const one = z.object({ rid, cid });

/** The path of LISA, and that of its SDK and design document. */
export const spellings = [
  ["collection", ""],
  ["collections", "Alias"],
] as const;

export function collectionRoutes(knowledge: Knowledge, resolver: Resolver): readonly Route[] {
  return spellings.flatMap(([segment, mark]) => [
    lisaRoute({
      method: "POST",
      path: `/repository/{rid}/${segment}`,
      operationId: `lisaCreateCollection${mark}`,
      summary: "Create a collection, with its pipelines",
      params: z.object({ rid }),
      body: NewInput,
      answers: { 200: { description: "The collection.", schema: CollectionView } },
      handler: async ({ caller, params, body }) => ok(await createCollection(knowledge, caller, params.rid, body)),
    }),
    ...ofOne(knowledge, resolver, segment, mark),
  ]);
}

function ofOne(knowledge: Knowledge, resolver: Resolver, segment: string, mark: string): readonly Route[] {
  const path = `/repository/{rid}/${segment}/{cid}`;
  return [
    lisaRoute({
      method: "GET",
      path,
      operationId: `lisaGetCollection${mark}`,
      summary: "Get a collection by its id or name",
      params: one,
      answers: { 200: { description: "The collection.", schema: CollectionView } },
      handler: async ({ caller, params }) =>
        ok(
          await resolver.within(caller, params.rid, params.cid, async (id) =>
            collectionView(await knowledge.collections.get(caller, params.rid, id)),
          ),
        ),
    }),
    lisaRoute({
      method: "PUT",
      path,
      operationId: `lisaUpdateCollection${mark}`,
      summary: "Change the fields that are present; null keeps a field",
      params: one,
      body: ChangeInput,
      answers: { 200: { description: "The collection.", schema: CollectionView } },
      handler: async ({ caller, params, body }) =>
        ok(
          await resolver.within(caller, params.rid, params.cid, (id) =>
            changeCollection(knowledge, caller, params.rid, id, body),
          ),
        ),
    }),
    lisaRoute({
      method: "DELETE",
      path,
      operationId: `lisaDeleteCollection${mark}`,
      summary: "Move a collection to the trash; for the default collection, delete its documents",
      params: one,
      query: z.object({ embeddingName: z.string().optional().describe("The model of the default collection.") }),
      answers: { 200: { description: "The deletion.", schema: Deletion } },
      handler: async ({ caller, params, query }) => {
        const run = (id: string) => deleteCollection(knowledge, caller, params.rid, id);
        const deleted = resolver.within(caller, params.rid, params.cid, run);
        const { embeddingName } = query;
        if (embeddingName === undefined) return ok(await deleted);
        return ok((await ifMissing(deleted)) ?? (await resolver.within(caller, params.rid, embeddingName, run)));
      },
    }),
  ];
}

async function createCollection(
  knowledge: Knowledge,
  caller: Caller,
  repositoryId: string,
  input: z.output<typeof NewInput>,
): Promise<z.output<typeof CollectionView>> {
  const { collectionId, embeddingModel, pipelines } = input;
  const repository = await knowledge.repositories.get(caller, repositoryId);
  if (ownSettings(repository.metadata)["type"] === "bedrock_knowledge_base")
    throw invalid("A knowledge base has one collection for each of its data sources; add a data source instead.");
  const unnamed = (collectionId ?? input.name ?? null) === null;
  const created = await knowledge.collections.create(caller, repositoryId, {
    ...(settingsOf(input) as NewCollection),
    ...(collectionId === null || collectionId === undefined ? {} : { collection_id: collectionId }),
    ...(unnamed ? { collection_id: randomUUID() } : {}),
    ...(embeddingModel === null || embeddingModel === undefined ? {} : { embedding_model: embeddingModel }),
    pipelines: (pipelines ?? []).map((pipeline, i) => toPipeline(pipeline, `pipelines[${i}]`)),
  });
  return collectionView(created);
}

/** Removes null fields. */
function settingsOf(input: Omit<Change, "status" | "pipelines">): CollectionPatch {
  const { name, description, chunkingStrategy, allowChunkingOverride, allowedGroups, metadata } = input;
  const wanted = {
    name,
    description,
    chunking_strategy: chunkingStrategy,
    allow_chunking_override: allowChunkingOverride,
    allowed_groups: allowedGroups,
    metadata: metadata === null || metadata === undefined ? undefined : toMetadata(metadata),
    private: input.private,
  };
  return Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== null && value !== undefined));
}

const statuses = ["ACTIVE", "ARCHIVED", "DELETED"] as const;

async function changeCollection(
  knowledge: Knowledge,
  caller: Caller,
  repositoryId: string,
  collectionId: string,
  input: Change,
): Promise<z.output<typeof CollectionView>> {
  const { pipelines, embeddingModel } = input;
  const status = statusOf(input.status);
  const patch = settingsOf(input);
  const changes = Object.keys(patch).length > 0;
  const modelled = embeddingModel !== null && embeddingModel !== undefined;
  const piped = pipelines !== null && pipelines !== undefined;
  if (!changes && !piped && !modelled && status === undefined)
    throw invalid(`Nothing to change: specify at least one of ${Object.keys(ChangeInput.shape).join(", ")}.`);
  const at = [caller, repositoryId, collectionId] as const;
  // Repeating the current value is allowed; another value is refused.
  if (modelled) await requireModel(knowledge, at, embeddingModel);
  let shown = status === "ACTIVE" ? await activate(knowledge, ...at) : undefined;
  if (changes) shown = await knowledge.collections.update(...at, patch);
  if (piped) {
    await syncPipelines(knowledge, ...at, pipelines);
    shown = { ...(await knowledge.collections.get(...at)), warnings: shown?.warnings ?? [] };
  }
  if (status === "ARCHIVED") shown = await archive(knowledge, ...at);
  if (status === "DELETED") {
    await knowledge.collections.delete(...at, { confirm: collectionId });
    shown = await knowledge.collections.get(...at, { deleted: true });
  }
  return collectionView(shown ?? (await knowledge.collections.get(...at)));
}

async function requireModel(
  knowledge: Knowledge,
  at: readonly [Caller, string, string],
  wanted: string,
): Promise<void> {
  const { embedding_model } = await knowledge.collections.get(...at, { deleted: true });
  if (wanted !== embedding_model)
    throw invalid(`embeddingModel: the collection's is ${embedding_model} and cannot be changed; re-index it instead.`);
}

function statusOf(asked: string | null | undefined): (typeof statuses)[number] | undefined {
  if (asked === null || asked === undefined) return undefined;
  const status = statuses.find((known) => known === asked.toUpperCase());
  if (status === undefined) throw invalid(`status: must be one of ${statuses.join(", ")}, got ${show(asked)}.`);
  return status;
}

async function activate(knowledge: Knowledge, ...at: readonly [Caller, string, string]): Promise<Collection> {
  const now = await knowledge.collections.get(...at, { deleted: true });
  if (now.status === "DELETED") return knowledge.collections.restore(...at);
  return now.status === "ARCHIVED" ? knowledge.collections.unarchive(...at) : now;
}

async function archive(knowledge: Knowledge, ...at: readonly [Caller, string, string]): Promise<Collection> {
  const now = await knowledge.collections.get(...at);
  return now.status === "ARCHIVED" ? now : knowledge.collections.archive(...at);
}

const Deletion = z
  .object({
    jobId: z.string(),
    deletionType: z.enum(["full", "partial"]).describe("partial: the collection itself stays."),
    status: z.string(),
    summary: z.object({
      documents: z.number(),
      chunks: z.number(),
      bytes: z.number(),
      restorableUntil: z.string().nullable(),
    }),
  })
  .meta({ id: "LisaDeletion" });

async function deleteCollection(
  knowledge: Knowledge,
  caller: Caller,
  repositoryId: string,
  collectionId: string,
): Promise<z.output<typeof Deletion>> {
  const at = [caller, repositoryId, collectionId] as const;
  const { is_default, document_count, chunk_count, total_size_bytes } = await knowledge.collections.get(...at);
  const counts = { documents: document_count, chunks: chunk_count, bytes: total_size_bytes };
  if (is_default) {
    const job = await knowledge.documents.deleteAll(...at, collectionId);
    return {
      jobId: job.job_id,
      deletionType: "partial",
      status: jobStatus("DELETE", job.status),
      summary: { ...counts, restorableUntil: null },
    };
  }
  const job = await knowledge.collections.delete(...at, { confirm: collectionId });
  const trashDays = await knowledge.trashDaysOf(at[0]);
  const kept = trashDays > 0 ? Date.parse(job.created_at) + trashDays * dayMs : undefined;
  return {
    jobId: job.job_id,
    deletionType: "full",
    status: jobStatus("DELETE", job.status),
    summary: { ...counts, restorableUntil: kept === undefined ? null : new Date(kept).toISOString() },
  };
}

const dayMs = 86_400_000;
