/** Files in vector stores, individually and in batches. */
import { z } from "zod";
import { invalid } from "../../../domain/errors.ts";
import { fileLimits, type AttachedFile, type FileBatch, type Knowledge } from "../../../knowledge/index.ts";
import { ok, type Route } from "../../framework/index.ts";
import { ChunkingInput, ChunkingView, chunkingView, toChunking } from "./chunking.ts";
import { Attributes, toAttributes, toDocumentMetadata } from "./metadata.ts";
import { openAiRoute } from "./openai-route.ts";
import { list, listOf, pageDefault, seconds, storePaging } from "./pages.ts";
import { projectOf } from "./project.ts";
import type { Stores } from "./stores.ts";

const statuses = ["in_progress", "completed", "failed", "cancelled"] as const;
/** Polling interval suggested to clients. */
const pollMs = "500";
const batchPrefix = "vsfb_";
const textWindowChars = 1_000_000;

const StoreFile = z
  .object({
    id: z.string(),
    object: z.literal("vector_store.file"),
    created_at: z.number(),
    usage_bytes: z.number(),
    vector_store_id: z.string(),
    status: z.enum(statuses),
    last_error: z
      .object({ code: z.enum(["server_error", "unsupported_file", "invalid_file"]), message: z.string() })
      .nullable(),
    attributes: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
    chunking_strategy: ChunkingView,
  })
  .meta({ id: "OpenAIVectorStoreFile" });

const Batch = z
  .object({
    id: z.string(),
    object: z.literal("vector_store.files_batch"),
    created_at: z.number(),
    vector_store_id: z.string(),
    status: z.enum(statuses),
    file_counts: z.object({
      in_progress: z.number(),
      completed: z.number(),
      failed: z.number(),
      cancelled: z.number(),
      total: z.number(),
    }),
  })
  .meta({ id: "OpenAIVectorStoreFileBatch" });

const store = z.string().describe("Id of the vector store: `vs_…`.");
const file = z.string().describe("Id of the file: `file-…`.");
const batch = z.string().describe("Id of the batch: `vsfb_…`.");
const one = z.object({ store, file });
const ofBatch = z.object({ store, batch });
const filesQuery = z.object({ ...storePaging, filter: z.enum(statuses).optional() });
const attributes = Attributes.nullish();
const chunking_strategy = ChunkingInput.nullish();

export function storeFileRoutes(knowledge: Knowledge, stores: Stores): readonly Route[] {
  return [
    ...attaching(knowledge, stores),
    ...reading(knowledge, stores),
    ...content(knowledge, stores),
    ...batches(knowledge, stores),
    ...batchFiles(knowledge, stores),
  ];
}

function attaching({ files }: Knowledge, stores: Stores): readonly Route[] {
  return [
    openAiRoute({
      method: "POST",
      path: "/openai/v1/vector_stores/{store}/files",
      operationId: "createVectorStoreFile",
      summary: "Attach a file to a vector store",
      params: z.object({ store }),
      body: z.strictObject({ file_id: z.string(), attributes, chunking_strategy }),
      answers: { 200: { description: "The file, pending indexing.", schema: StoreFile } },
      handler: async ({ caller, params: p, body, header }) => {
        const { repository, collection } = await stores.getActive(caller, projectOf(header), p.store);
        const { file_id } = body;
        const metadata = toDocumentMetadata(body.attributes, file_id);
        const input = { file_id, metadata, ...toChunking(body.chunking_strategy) };
        return answer(p.store, await files.attach(caller, repository, collection.collection_id, input));
      },
    }),
    openAiRoute({
      method: "POST",
      path: "/openai/v1/vector_stores/{store}/files/{file}",
      operationId: "updateVectorStoreFile",
      summary: "Replace the attributes of a file, which is then re-indexed",
      params: one,
      body: z.strictObject({ attributes: Attributes.nullable() }),
      answers: { 200: { description: "The file.", schema: StoreFile } },
      handler: async ({ caller, params: p, body, header }) => {
        const { repository, collection } = await stores.getActive(caller, projectOf(header), p.store);
        const metadata = toDocumentMetadata(body.attributes, p.file);
        return answer(p.store, await files.setMetadata(caller, repository, collection.collection_id, p.file, metadata));
      },
    }),
    openAiRoute({
      method: "DELETE",
      path: "/openai/v1/vector_stores/{store}/files/{file}",
      operationId: "deleteVectorStoreFile",
      summary: "Remove a file from a vector store; the file itself is kept",
      params: one,
      answers: {
        200: {
          description: "The file was removed.",
          schema: z.object({ id: z.string(), object: z.literal("vector_store.file.deleted"), deleted: z.boolean() }),
        },
      },
      handler: async ({ caller, params: p, header }) => {
        const repository = projectOf(header);
        await stores.within(caller, repository, p.store, (id) => files.detach(caller, repository, id, p.file));
        return ok({ id: p.file, object: "vector_store.file.deleted", deleted: true });
      },
    }),
  ];
}

function reading({ files }: Knowledge, stores: Stores): readonly Route[] {
  return [
    openAiRoute({
      method: "GET",
      path: "/openai/v1/vector_stores/{store}/files",
      operationId: "listVectorStoreFiles",
      summary: "List the files of a vector store",
      params: z.object({ store }),
      query: filesQuery,
      answers: { 200: { description: "A page.", schema: listOf(StoreFile) } },
      handler: async ({ caller, params: p, query, header }) => {
        const repository = projectOf(header);
        const page = await stores.within(caller, repository, p.store, (id) =>
          files.listAttached(caller, repository, id, pageQuery(query)),
        );
        const data = page.items.map((item) => fileObject(p.store, item));
        return ok(list(data, page.more));
      },
    }),
    openAiRoute({
      method: "GET",
      path: "/openai/v1/vector_stores/{store}/files/{file}",
      operationId: "getVectorStoreFile",
      summary: "Get a file of a vector store",
      params: one,
      answers: { 200: { description: "The file.", schema: StoreFile } },
      handler: async ({ caller, params: p, header }) => {
        const repository = projectOf(header);
        const attached = await stores.within(caller, repository, p.store, (id) =>
          files.attached(caller, repository, id, p.file),
        );
        return answer(p.store, attached);
      },
    }),
  ];
}

function content({ files, documents }: Knowledge, stores: Stores): readonly Route[] {
  return [
    openAiRoute({
      method: "GET",
      path: "/openai/v1/vector_stores/{store}/files/{file}/content",
      operationId: "getVectorStoreFileContent",
      summary: "Get the text extracted from a file",
      params: one,
      answers: {
        200: {
          description: "The whole text, in pieces.",
          schema: z.object({
            object: z.literal("vector_store.file_content.page"),
            data: z.array(z.object({ type: z.literal("text"), text: z.string() })),
            has_more: z.boolean(),
            next_page: z.null(),
          }),
        },
      },
      handler: async ({ caller, params: p, header }) => {
        const { repository, collection } = await stores.get(caller, projectOf(header), p.store);
        const { document, status } = await files.attached(caller, repository, collection.collection_id, p.file);
        if (document?.live === undefined || document.live === null)
          throw invalid(`File "${p.file}" has no text: it is ${status}.`);
        const data: { readonly type: "text"; readonly text: string }[] = [];
        for (let start: number | null = 0; start !== null;) {
          const window: { readonly text: string; readonly next_start: number | null } = await documents.text(
            caller,
            repository,
            collection.collection_id,
            document.document_id,
            { start, end: start + textWindowChars },
          );
          data.push({ type: "text", text: window.text });
          start = window.next_start;
        }
        return ok({ object: "vector_store.file_content.page", data, has_more: false, next_page: null });
      },
    }),
  ];
}

const BatchInput = z.strictObject({
  file_ids: z.array(z.string()).min(1).max(fileLimits.batchFilesMax).nullish(),
  files: z
    .array(z.strictObject({ file_id: z.string(), attributes, chunking_strategy }))
    .min(1)
    .max(fileLimits.batchFilesMax)
    .nullish(),
  attributes,
  chunking_strategy,
});

function batches({ files }: Knowledge, stores: Stores): readonly Route[] {
  return [
    openAiRoute({
      method: "POST",
      path: "/openai/v1/vector_stores/{store}/file_batches",
      operationId: "createVectorStoreFileBatch",
      summary: "Attach up to 2,000 files to a vector store",
      params: z.object({ store }),
      limits: { bodyBytesMax: 2 * 1_048_576 },
      body: BatchInput,
      answers: { 200: { description: "The batch.", schema: Batch } },
      handler: async ({ caller, params: p, body, header }) => {
        const { repository, collection } = await stores.getActive(caller, projectOf(header), p.store);
        const wanted = wantedFiles(body).map((each) => ({
          file_id: each.file_id,
          metadata: toDocumentMetadata(each.attributes, each.file_id),
          ...toChunking(each.chunking_strategy),
        }));
        return batchAnswer(p.store, await files.attachMany(caller, repository, collection.collection_id, wanted));
      },
    }),
    openAiRoute({
      method: "GET",
      path: "/openai/v1/vector_stores/{store}/file_batches/{batch}",
      operationId: "getVectorStoreFileBatch",
      summary: "Get a batch of files",
      params: ofBatch,
      answers: { 200: { description: "The batch.", schema: Batch } },
      handler: async ({ caller, params: p, header }) => {
        const repository = projectOf(header);
        const found = await stores.within(caller, repository, p.store, (id) =>
          files.batch(caller, repository, id, jobOf(p.batch)),
        );
        return batchAnswer(p.store, found);
      },
    }),
  ];
}

function batchFiles({ files }: Knowledge, stores: Stores): readonly Route[] {
  return [
    openAiRoute({
      method: "POST",
      path: "/openai/v1/vector_stores/{store}/file_batches/{batch}/cancel",
      operationId: "cancelVectorStoreFileBatch",
      summary: "Cancel a batch; files already indexed are kept",
      params: ofBatch,
      answers: { 200: { description: "The batch.", schema: Batch } },
      handler: async ({ caller, params: p, header }) => {
        const repository = projectOf(header);
        const cancelled = await stores.within(caller, repository, p.store, (id) =>
          files.cancelBatch(caller, repository, id, jobOf(p.batch)),
        );
        return batchAnswer(p.store, cancelled);
      },
    }),
    openAiRoute({
      method: "GET",
      path: "/openai/v1/vector_stores/{store}/file_batches/{batch}/files",
      operationId: "listVectorStoreFileBatchFiles",
      summary: "List the files of a batch",
      params: ofBatch,
      query: filesQuery,
      answers: { 200: { description: "A page.", schema: listOf(StoreFile) } },
      handler: async ({ caller, params: p, query, header }) => {
        const repository = projectOf(header);
        const page = await stores.within(caller, repository, p.store, (id) =>
          files.batchFiles(caller, repository, id, jobOf(p.batch), pageQuery(query)),
        );
        const data = page.items.map((item) => fileObject(p.store, item));
        return ok(list(data, page.more));
      },
    }),
  ];
}

function wantedFiles({ file_ids, files, ...shared }: z.output<typeof BatchInput>) {
  if ((file_ids ?? undefined) !== undefined && (files ?? undefined) !== undefined)
    throw invalid("files: specify either file_ids or files.");
  const wanted = files ?? file_ids?.map((file_id) => ({ file_id, ...shared }));
  if (wanted === undefined) throw invalid("file_ids: is missing; specify file_ids or files.");
  return wanted;
}

function pageQuery({ filter: status, limit = pageDefault, order = "desc", ...places }: z.output<typeof filesQuery>) {
  return { status, limit, order, ...places };
}

/** The job behind a batch; an id of any other format belongs to no batch. */
function jobOf(batchId: string): string {
  return batchId.startsWith(batchPrefix) ? batchId.slice(batchPrefix.length) : "none";
}

function answer(storeId: string, attached: AttachedFile) {
  const headers = attached.status === "in_progress" ? { "openai-poll-after-ms": pollMs } : {};
  return ok(fileObject(storeId, attached), { headers });
}

function batchAnswer(storeId: string, { batch_id, status, counts, created_at }: FileBatch) {
  const total = counts.in_progress + counts.completed + counts.failed + counts.cancelled;
  const body = {
    id: `${batchPrefix}${batch_id}`,
    object: "vector_store.files_batch" as const,
    created_at: seconds(created_at),
    vector_store_id: storeId,
    status,
    file_counts: { ...counts, total },
  };
  return ok(body, { headers: status === "in_progress" ? { "openai-poll-after-ms": pollMs } : {} });
}

function fileObject(storeId: string, attached: AttachedFile) {
  const {
    file_id,
    status,
    error,
    error_code,
    size_bytes,
    created_at,
    metadata,
    chunking_strategy: strategy,
  } = attached;
  return {
    id: file_id,
    object: "vector_store.file" as const,
    created_at: seconds(created_at),
    usage_bytes: size_bytes,
    vector_store_id: storeId,
    status,
    last_error: error === null ? null : { code: errorCode(error_code), message: error },
    attributes: toAttributes(metadata),
    chunking_strategy: chunkingView(strategy),
  };
}

/** `invalid_file`: sending the same file again cannot help. */
function errorCode(code: string | undefined): "server_error" | "unsupported_file" | "invalid_file" {
  if (code === "file_type_not_accepted") return "unsupported_file";
  return ["INVALID", "LIMIT_EXCEEDED", "NOT_SUPPORTED"].includes(code ?? "") ? "invalid_file" : "server_error";
}
