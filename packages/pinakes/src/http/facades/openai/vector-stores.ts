/** Routes of vector stores. */
import { z } from "zod";
import type { CollectionView, Knowledge } from "../../../knowledge/index.ts";
import { ok, type Route } from "../../framework/index.ts";
import { ChunkingInput, toChunking } from "./chunking.ts";
import { Metadata, toDocumentMetadata } from "./metadata.ts";
import { openAiRoute } from "./openai-route.ts";
import { list, listOf, pageDefault, seconds, storePaging } from "./pages.ts";
import { projectOf } from "./project.ts";
import {
  displayName,
  expiresAt,
  isExpired,
  lastActiveAt,
  metadataOf,
  storeIdOf,
  type Store,
  type Stores,
} from "./stores.ts";

const fileIdsMax = 500;
const daysMax = 365;

const Counts = z.object({
  in_progress: z.number(),
  completed: z.number(),
  failed: z.number(),
  cancelled: z.number(),
  total: z.number(),
});
const ExpiresAfter = z.strictObject({ anchor: z.literal("last_active_at"), days: z.int().min(1).max(daysMax) });

const VectorStore = z
  .object({
    id: z.string(),
    object: z.literal("vector_store"),
    created_at: z.number(),
    name: z.string(),
    description: z.string(),
    usage_bytes: z.number(),
    file_counts: Counts,
    status: z.enum(["in_progress", "completed", "expired"]),
    expires_after: ExpiresAfter.optional(),
    expires_at: z.number().nullable(),
    last_active_at: z.number().nullable(),
    metadata: z.record(z.string(), z.string()),
  })
  .meta({ id: "OpenAIVectorStore" });

export const storeParams = z.object({ store: z.string().describe("Id of the vector store: `vs_…`.") });

export function vectorStoreRoutes(knowledge: Knowledge, stores: Stores): readonly Route[] {
  return [...creating(knowledge, stores), ...reading(knowledge, stores), ...changing(knowledge, stores)];
}

function creating(knowledge: Knowledge, stores: Stores): readonly Route[] {
  return [
    openAiRoute({
      method: "POST",
      path: "/openai/v1/vector_stores",
      operationId: "createVectorStore",
      summary: "Create a vector store: a collection, in the repository of the project",
      body: z.strictObject({
        name: z.string().max(256).nullish(),
        description: z.string().nullish(),
        metadata: Metadata.nullish(),
        expires_after: ExpiresAfter.nullish(),
        file_ids: z.array(z.string()).max(fileIdsMax).nullish(),
        chunking_strategy: ChunkingInput.nullish(),
      }),
      answers: { 200: { description: "The vector store.", schema: VectorStore } },
      handler: async ({ caller, body, header }) => {
        const { file_ids, chunking_strategy, expires_after, description, ...fields } = body;
        const ids = file_ids ?? [];
        // A file that cannot be attached is an error of the whole request, detected before the store is created.
        for (const id of ids) await knowledge.files.get(caller, id);
        const chunking = toChunking(chunking_strategy);
        const store = await stores.create(caller, projectOf(header), {
          ...fields,
          description: description ?? undefined,
          expires_after_days: expires_after?.days,
        });
        if (ids.length > 0) {
          const files = ids.map((file_id) => ({ file_id, metadata: toDocumentMetadata({}, file_id), ...chunking }));
          await knowledge.files.attachMany(caller, store.repository, store.collection.collection_id, files);
        }
        return ok(await storeObject(knowledge, caller, store));
      },
    }),
  ];
}

function reading(knowledge: Knowledge, stores: Stores): readonly Route[] {
  return [
    openAiRoute({
      method: "GET",
      path: "/openai/v1/vector_stores",
      operationId: "listVectorStores",
      summary: "List the vector stores of the project that the caller may see",
      query: z.object(storePaging),
      answers: { 200: { description: "A page.", schema: listOf(VectorStore) } },
      handler: async ({ caller, query, header }) => {
        const { limit = pageDefault, order = "desc", after, before } = query;
        const repository = projectOf(header);
        const page = await stores.list(caller, repository, { limit, order, after, before });
        const data = await Promise.all(
          page.items.map((collection) => storeObject(knowledge, caller, { repository, collection })),
        );
        return ok(list(data, page.more));
      },
    }),
    openAiRoute({
      method: "GET",
      path: "/openai/v1/vector_stores/{store}",
      operationId: "getVectorStore",
      summary: "Get a vector store",
      params: storeParams,
      answers: { 200: { description: "The vector store.", schema: VectorStore } },
      handler: async ({ caller, params: { store }, header }) =>
        ok(await storeObject(knowledge, caller, await stores.get(caller, projectOf(header), store))),
    }),
  ];
}

function changing(knowledge: Knowledge, stores: Stores): readonly Route[] {
  return [
    openAiRoute({
      method: "POST",
      path: "/openai/v1/vector_stores/{store}",
      operationId: "updateVectorStore",
      summary: "Change a vector store",
      params: storeParams,
      body: z.strictObject({
        name: z.string().max(256).nullish(),
        metadata: Metadata.nullish(),
        expires_after: ExpiresAfter.nullish(),
      }),
      answers: { 200: { description: "The vector store.", schema: VectorStore } },
      handler: async ({ caller, params: { store }, body: { expires_after, ...fields }, header }) => {
        const expires_after_days = expires_after === null ? null : expires_after?.days;
        const changed = await stores.update(caller, projectOf(header), store, { ...fields, expires_after_days });
        const collection = await knowledge.collections.get(
          caller,
          changed.repository,
          changed.collection.collection_id,
        );
        return ok(await storeObject(knowledge, caller, { ...changed, collection }));
      },
    }),
    openAiRoute({
      method: "DELETE",
      path: "/openai/v1/vector_stores/{store}",
      operationId: "deleteVectorStore",
      summary: "Delete a vector store; its files are kept",
      params: storeParams,
      answers: {
        200: {
          description: "The store was deleted; its collection is in the trash.",
          schema: z.object({ id: z.string(), object: z.literal("vector_store.deleted"), deleted: z.boolean() }),
        },
      },
      handler: async ({ caller, params: { store }, header }) => {
        await stores.delete(caller, projectOf(header), store);
        return ok({ id: store, object: "vector_store.deleted", deleted: true });
      },
    }),
  ];
}

async function storeObject(
  knowledge: Knowledge,
  caller: Parameters<Knowledge["collections"]["get"]>[0],
  { repository, collection }: Store,
) {
  const unattached = await knowledge.files.unattachedCounts(caller, repository, collection.collection_id);
  const counts = countsOf(collection, unattached);
  const expires = expiresAt(collection);
  const days = collection.expires_after_days;
  return {
    id: storeIdOf(collection),
    object: "vector_store" as const,
    created_at: seconds(collection.created_at),
    name: displayName(collection),
    description: collection.description,
    usage_bytes: collection.total_size_bytes,
    file_counts: counts,
    status: isExpired(collection)
      ? ("expired" as const)
      : counts.in_progress > 0
        ? ("in_progress" as const)
        : ("completed" as const),
    ...(days === undefined ? {} : { expires_after: { anchor: "last_active_at" as const, days } }),
    expires_at: expires === undefined ? null : Math.floor(expires / 1_000),
    last_active_at: Math.floor(lastActiveAt(collection) / 1_000),
    metadata: metadataOf(collection),
  };
}

function countsOf(
  { documents_by_status: of }: CollectionView,
  more: Awaited<ReturnType<Knowledge["files"]["unattachedCounts"]>>,
) {
  const { uploading, pending, indexing, indexed, failed } = of;
  const counts = {
    in_progress: uploading + pending + indexing + more.in_progress,
    completed: indexed,
    failed: failed + more.failed,
    cancelled: more.cancelled,
  };
  return { ...counts, total: counts.in_progress + counts.completed + counts.failed + counts.cancelled };
}
