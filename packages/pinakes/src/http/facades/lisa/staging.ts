/** The staging area: an upload link, the upload itself as a multipart form, and the ingestion of uploaded files. */
import { z } from "zod";
import { jsonObject } from "../../../contract/index.ts";
import type { Caller } from "../../../domain/caller.ts";
import { invalid } from "../../../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../../../domain/json.ts";
import {
  fileLimits,
  knowledgeLimits,
  stagedUri,
  type CollectionView,
  type Knowledge,
} from "../../../knowledge/index.ts";
import { noContent, ok, type Part, type Route } from "../../framework/index.ts";
import { originOf } from "../origin.ts";
import { rid } from "./collections.ts";
import { lisaRoute } from "./lisa-route.ts";
import { BegunJob, bucket, jobStatus } from "./objects.ts";
import { repositoryType, wholeNumber } from "./query.ts";
import type { Resolver } from "./resolve.ts";
import { ChunkingInput } from "./settings.ts";

const uploadPath = "/repository/presigned-url/upload";
const keyBytesMax = 1_048_576;
/** Size of the form around the file. */
const formBytesMax = 65_536;
const tokenField = "x-amz-signature";
const userField = "x-amz-meta-user";

export function stagingRoutes(knowledge: Knowledge, resolver: Resolver): readonly Route[] {
  return [linkRoute(knowledge), uploadRoute(knowledge), bulkRoute(knowledge, resolver)];
}

function linkRoute({ staging }: Knowledge): Route {
  return lisaRoute({
    method: "POST",
    path: "/repository/presigned-url",
    operationId: "lisaPresignedUrl",
    limitStatus: 413,
    summary: "Create a link to upload one file; the body is its key",
    body: { raw: ["*/*"] },
    limits: { bodyBytesMax: keyBytesMax },
    answers: {
      200: {
        description: "The upload address and the form fields to send before the file; valid for an hour.",
        schema: z.object({ response: z.object({ url: z.string(), fields: z.record(z.string(), z.string()) }) }),
      },
    },
    handler: async (request) => {
      const { caller, body } = request;
      if (body.kind !== "raw") throw invalid("The body must be the key of the file.");
      const { token, key, expires_at } = await staging.grant(caller, await textOf(body.stream));
      const policy = {
        expiration: expires_at,
        conditions: [{ key }, { [userField]: caller.userId }, ["content-length-range", 0, fileLimits.stagedBytesMax]],
      };
      return ok({
        response: {
          url: `${originOf(request)}${uploadPath}`,
          fields: {
            key,
            [userField]: caller.userId,
            policy: Buffer.from(JSON.stringify(policy)).toString("base64"),
            [tokenField]: token,
          },
        },
      });
    },
  });
}

async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch (cause) {
    throw invalid("The body, which is the key, is not valid UTF-8.", { cause });
  }
  if (text.includes("\0")) throw invalid("The request contains a NUL byte; remove it.");
  return text;
}

function uploadRoute({ staging }: Knowledge): Route {
  return lisaRoute({
    auth: "public",
    limitStatus: 413,
    method: "POST",
    path: uploadPath,
    operationId: "lisaUpload",
    summary: "Upload a file to the staging area; the fields returned with the link are the credential",
    body: {
      multipart: true,
      fields: {
        key: { description: "As returned with the link.", required: true },
        [userField]: { description: "As returned with the link." },
        [tokenField]: { description: "As returned with the link.", required: true },
        file: { description: "The file, last, up to 50 MiB.", file: true, required: true },
      },
      partLimits: { filesMax: 1, fieldsMax: 20, fieldBytesMax: 8_192 },
    },
    limits: { bodyBytesMax: fileLimits.stagedBytesMax + formBytesMax },
    answers: { 204: { description: "The file is stored." } },
    handler: async ({ body }) => {
      if (body.kind !== "multipart") throw invalid("The body must be multipart/form-data.");
      await receive(staging, body.parts());
      return noContent();
    },
  });
}

async function receive(staging: Knowledge["staging"], parts: AsyncIterable<Part>): Promise<void> {
  const fields = new Map<string, string>();
  for await (const part of parts) {
    if (part.kind === "field") {
      fields.set(part.name, part.value);
      continue;
    }
    const token = fields.get(tokenField);
    if (token === undefined || !fields.has("key"))
      throw invalid(`key, ${tokenField}: must come before the file; send every field returned with the link.`);
    await staging.receive(token, { key: fields.get("key"), user: fields.get(userField) }, part.stream);
    return;
  }
  throw invalid("file: is missing; send the file as the last part of the form.");
}

const BulkInput = z.object({
  keys: z.array(z.string()).min(1).max(knowledgeLimits.uploadFilesMax),
  collectionId: z.string().nullish(),
  embeddingModel: z
    .object({ modelName: z.string() })
    .nullish()
    .describe("Selects the default collection of this model if there is no collectionId."),
  chunkingStrategy: ChunkingInput.nullish(),
  metadata: jsonObject().nullish(),
});

function bulkRoute(knowledge: Knowledge, resolver: Resolver): Route {
  return lisaRoute({
    method: "POST",
    path: "/repository/{rid}/bulk",
    operationId: "lisaIngest",
    summary: "Ingest staged files, one job for each",
    params: z.object({ rid }),
    query: z.object({
      collectionId: z.string().optional(),
      repositoryType,
      chunkSize: z.string().optional().describe("Used if the body has no strategy and the collection allows one."),
      chunkOverlap: z.string().optional(),
    }),
    body: BulkInput,
    answers: {
      200: {
        description: "The jobs, in the order of the keys.",
        schema: z.object({ jobs: z.array(BegunJob), collectionId: z.string(), collectionName: z.string() }),
      },
    },
    handler: async ({ caller, params, query, body }) => {
      const asked = body.collectionId ?? query.collectionId ?? body.embeddingModel?.modelName;
      const named = asked ?? (await knowledge.repositories.get(caller, params.rid)).embedding_model;
      return ok(
        await resolver.within(caller, params.rid, named, async (id) => {
          const collection = await knowledge.collections.get(caller, params.rid, id);
          return ingest(knowledge, caller, collection, body, chunkingOf(collection, body, query));
        }),
      );
    },
  });
}

type Chunking = JsonObject | undefined;

/** The SDK sends sizes with every call. If the collection allows no strategy but its own, they are ignored, as in LISA. */
function chunkingOf(
  { allow_chunking_override }: CollectionView,
  { chunkingStrategy }: z.output<typeof BulkInput>,
  { chunkSize, chunkOverlap }: { chunkSize?: string | undefined; chunkOverlap?: string | undefined },
): Chunking {
  if (chunkingStrategy !== null && chunkingStrategy !== undefined) return chunkingStrategy;
  const size = chunkSize === undefined ? 512 : wholeNumber(chunkSize, "chunkSize");
  const overlap = chunkOverlap === undefined ? 51 : wholeNumber(chunkOverlap, "chunkOverlap");
  if (!allow_chunking_override || (chunkSize === undefined && chunkOverlap === undefined)) return undefined;
  return { type: "fixed", size, overlap };
}

async function ingest(
  { staging, documents }: Knowledge,
  caller: Caller,
  { repository_id, collection_id, name, effective_metadata }: CollectionView,
  { keys, metadata }: z.output<typeof BulkInput>,
  chunking: Chunking,
) {
  const fields = withTags(metadata ?? {}, effective_metadata.tags);
  const inputs = keys.map((key) => ({
    name: key.split("/").at(-1) as string,
    metadata: fields,
    ...(chunking === undefined ? {} : { chunking_strategy: chunking }),
    source: { type: "manual" as const, uri: stagedUri(bucket, caller.userId, key) },
    replace: true,
  }));
  // All checks run before the first document is created.
  const staged = await staging.find(caller, keys);
  const empty = staged.find(({ bytes }) => bytes === 0);
  if (empty !== undefined) throw invalid(`keys: "${empty.key}" is empty.`);
  await documents.checkUpload(caller, repository_id, collection_id, inputs);
  const jobs: z.output<typeof BegunJob>[] = [];
  for (const [i, input] of inputs.entries()) {
    const body = staging.content(caller, keys[i] as string);
    const { job_id, result } = await documents.uploadMany(caller, repository_id, collection_id, (take) =>
      take({ ...input, body }),
    );
    const status = result.status === "indexed" ? "succeeded" : "queued";
    jobs.push({
      jobId: job_id ?? result.document_id,
      documentId: null,
      status: jobStatus("INGESTION", status),
      s3Path: input.source.uri,
    });
  }
  return { jobs, collectionId: collection_id, collectionName: name };
}

/** A document has its own tags and those of its repository and collection. */
function withTags(metadata: JsonObject, inherited: readonly string[]): JsonObject {
  const { customFields, tags: own, ...rest } = metadata;
  const tags = [...new Set([...inherited, ...(Array.isArray(own) ? own : [])])];
  return { ...(isJsonObject(customFields) ? customFields : {}), ...rest, ...(tags.length === 0 ? {} : { tags }) };
}
