/** Jobs of a repository: ingestions and deletions. Admins see all jobs, other users their own. */
import type { Job } from "@pinakes/client";
import { z } from "zod";
import { jsonObject } from "../../../contract/index.ts";
import type { Caller } from "../../../domain/caller.ts";
import { invalid } from "../../../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../../../domain/json.ts";
import type { CollectionView, JobView, Knowledge } from "../../../knowledge/index.ts";
import { ifMissing } from "../../../runtime/expected-errors.ts";
import { ok, type Route } from "../../framework/index.ts";
import { rid } from "./collections.ts";
import { lisaRoute } from "./lisa-route.ts";
import { jobStatus, s3Path } from "./objects.ts";
import { jsonToken, pageSize, tokenFields, wholeNumber } from "./query.ts";
import { chunkingView } from "./settings.ts";

const hoursDefault = 720;
const hourMs = 3_600_000;
/** Jobs are kept for 90 days. */
const hoursMax = 2_160;
const ingestions = ["ingest"] as const;
const deletions = ["delete", "purge", "delete-documents"] as const;
const kinds = [...ingestions, ...deletions];

const ListedJob = z
  .object({
    id: z.string(),
    s3_path: z.string(),
    document_id: z.string().nullable(),
    document_name: z.string(),
    collection_id: z.string(),
    repository_id: z.string(),
    chunk_strategy: jsonObject().nullable(),
    embedding_model: z.string().nullable(),
    username: z.string(),
    ingestion_type: z.string(),
    status: z.string(),
    created_date: z.string(),
    error_message: z.string().nullable(),
    auto: z.boolean(),
    metadata: jsonObject().nullable(),
    job_type: z.string(),
    collection_deletion: z.boolean(),
    s3_paths: z.array(z.string()),
    document_ids: z.array(z.string()),
  })
  .meta({ id: "LisaJob" });
const Token = z.object({ id: z.string(), repository_id: z.string(), created_date: z.string() });

export function jobRoutes(knowledge: Knowledge): readonly Route[] {
  return [
    lisaRoute({
      method: "GET",
      path: "/repository/{rid}/jobs",
      operationId: "lisaListJobs",
      summary: "List ingestions and deletions, newest first: the caller's own, or all for admins",
      params: z.object({ rid }),
      query: z.object({
        timeLimit: z
          .string()
          .optional()
          .describe(`Time range in hours before now; default ${hoursDefault}, maximum ${hoursMax}.`),
        pageSize: pageSize(10),
        lastEvaluatedKey: z.string().optional().describe("The token of the previous page, as JSON."),
      }),
      answers: {
        200: {
          description: "A page.",
          schema: z.object({
            jobs: z.array(ListedJob),
            lastEvaluatedKey: Token.nullable(),
            hasNextPage: z.boolean(),
            hasPreviousPage: z.boolean(),
          }),
        },
      },
      handler: async ({ caller, params, query }) => {
        const { repository_id } = await knowledge.repositories.get(caller, params.rid);
        const token = tokenOf(query.lastEvaluatedKey, repository_id);
        const since = token?.created_date ?? new Date(Date.now() - hoursOf(query.timeLimit) * hourMs).toISOString();
        const page = await knowledge.jobs.list(caller, {
          repository: repository_id,
          kinds,
          created_by: caller.role === "admin" ? undefined : caller.userId,
          since,
          limit: query.pageSize,
          cursor: token?.id,
        });
        const collections = await collectionsOf(knowledge, caller, repository_id, page.items);
        return ok({
          jobs: page.items.map((job) => listed(job, collections.get(job.collection_id))),
          // The token contains the start of the time range, so that the next page continues the same list.
          lastEvaluatedKey:
            page.next_cursor === null ? null : { id: page.next_cursor, repository_id, created_date: since },
          hasNextPage: page.next_cursor !== null,
          hasPreviousPage: token !== undefined,
        });
      },
    }),
  ];
}

function hoursOf(text: string | undefined): number {
  if (text === undefined || text === "") return hoursDefault;
  return Math.min(hoursMax, Math.max(1, wholeNumber(text, "timeLimit")));
}

function tokenOf(text: string | undefined, repositoryId: string): z.output<typeof Token> | undefined {
  const token = jsonToken(text);
  if (token === undefined) return undefined;
  const fields = tokenFields(token, ["id", "repository_id", "created_date"]);
  if (fields.repository_id !== repositoryId || Number.isNaN(Date.parse(fields.created_date)))
    throw invalid("lastEvaluatedKey: is not a token of this list; omit it to start over.");
  return fields;
}

async function collectionsOf(
  { collections }: Pick<Knowledge, "collections">,
  caller: Caller,
  repositoryId: string,
  jobs: readonly JobView[],
): Promise<ReadonlyMap<string, CollectionView>> {
  const ids = [...new Set(jobs.map(({ collection_id }) => collection_id))];
  const found = await Promise.all(
    ids.map((id) => ifMissing(collections.get(caller, repositoryId, id, { deleted: true }))),
  );
  return new Map(found.flatMap((one) => (one === undefined ? [] : [[one.collection_id, one] as const])));
}

interface JobDocument {
  readonly document_id: string;
  readonly name: string;
  readonly path: string;
  readonly error: string | null;
}

function listed(job: JobView, collection: CollectionView | undefined): z.output<typeof ListedJob> {
  const deletes = (deletions as readonly string[]).includes(job.kind);
  const documents = documentsOf(job);
  const [first] = documents;
  return {
    id: job.job_id,
    s3_path: first?.path ?? "",
    document_id: first?.document_id ?? null,
    document_name: first?.name ?? "",
    collection_id: job.collection_id,
    repository_id: job.repository_id,
    chunk_strategy: chunkingView(collection?.chunking_strategy ?? null),
    embedding_model: collection?.embedding_model ?? null,
    username: job.created_by,
    ingestion_type: "manual",
    status: jobStatus(deletes ? "DELETE" : "INGESTION", job.status),
    created_date: job.created_at,
    error_message: documents.length === 1 ? (first?.error ?? job.error) : job.error,
    auto: false,
    metadata: null,
    job_type: typeOf(deletes, job, documents),
    collection_deletion: job.kind === "delete" || job.kind === "purge",
    s3_paths: documents.map(({ path }) => path),
    document_ids: documents.map(({ document_id }) => document_id),
  };
}

function typeOf(deletes: boolean, { kind }: JobView, documents: readonly JobDocument[]): string {
  if (kind === "delete" || kind === "purge") return "collection_deletion";
  if (deletes) return "document_batch_deletion";
  return documents.length > 1 ? "document_batch_ingestion" : "document_ingestion";
}

function documentsOf({ result, repository_id, collection_id }: Job): readonly JobDocument[] {
  const list = result?.["documents"];
  if (!Array.isArray(list)) return [];
  return list.filter(isJsonObject).map((document: JsonObject) => {
    const document_id = textOf(document["document_id"]) ?? "";
    const name = textOf(document["name"]) ?? "";
    return {
      document_id,
      name,
      path: s3Path(textOf(document["source"]), { repository_id, collection_id, document_id, name }),
      error: textOf(document["error"]) ?? null,
    };
  });
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
