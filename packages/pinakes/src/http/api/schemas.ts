/** The shapes of `/v1` for OpenAPI and validation. Those of repositories, collections and documents are beside their views. */
import { z } from "zod";
import type * as wire from "@pinakes/client";
import {
  jobStatuses,
  operationActions,
  operationStatuses,
  roles,
  searchModes,
  searchOutcomes,
  storeStatuses,
} from "@pinakes/client";
import { jsonObject, shape } from "../../contract/index.ts";
import { CollectionSchema } from "../../knowledge/index.ts";
import { queryInteger } from "../framework/index.ts";

export {
  CollectionSchema as Collection,
  DocumentSchema as Document,
  RepositorySchema as Repository,
} from "../../knowledge/index.ts";

export const id = z.string().min(1).max(256);
export const rid = id.describe("Id of the repository; `me` is the caller's own.");
export const cid = id.describe("Id of the collection.");
export const did = id.describe("Id of the document.");

export const paging = {
  limit: queryInteger().optional().describe("Items per page; default 20, maximum 100."),
  cursor: z.string().optional().describe("`next_cursor` of the previous page."),
};

const json = jsonObject();

/** Validated by the feature, which accepts three spellings. */
export const chunkingInput = z
  .json()
  .describe(
    "`{ type, unit, chunk_size, chunk_overlap, separators }`; LISA's spelling is also accepted. null: inherited.",
  );

/** Validated by the feature. */
export const graphInput = z
  .json()
  .describe(
    "What documents contribute to the graph: `{ extract: off | structured | cooccurrence | llm, key, model, entity_types }`. null: inherited.",
  );

export const metadataInput = z.strictObject({ tags: z.array(z.string()).optional(), custom_fields: json.optional() });
export const groupsInput = z
  .array(z.string())
  .nullable()
  .describe("Groups with access; null or []: inherited, or everyone in the workspace.");

export const Citation = shape<wire.Citation>()(
  z
    .object({
      repository_id: z.string(),
      collection_id: z.string(),
      document_id: z.string().describe("Empty for raw vectors."),
      row_id: z
        .string()
        .optional()
        .describe("For raw vectors: the row belongs to no document, and the quote is its own text."),
      filename: z.string(),
      version: z.number(),
      page: z.number().optional(),
      section: z.string().optional(),
      start: z.number().describe("UTF-16 code units into the document's text."),
      end: z.number(),
      quote: z.string(),
    })
    .meta({ id: "Citation" }),
);

export const Hit = shape<wire.Hit, "more" | "explain">()(
  z
    .looseObject({
      repository_id: z.string(),
      collection_id: z.string(),
      document_id: z.string(),
      chunk_id: z.string(),
      text: z.string(),
      score: z
        .number()
        .describe(
          "Calibrated score, 0…1, comparable across questions and collections: the probability that the chunk answers the question.",
        ),
      scores: z
        .object({
          vector: z.number().optional(),
          keyword: z.number().optional(),
          graph: z.number().optional(),
          fused: z.number().optional(),
        })
        .describe("Parts of the ranking: cosine, BM25, the share of the graph, and `fused`, which orders hybrid hits."),
      metadata: json,
      source: z.string().optional().describe("Where the document came from; absent for raw vectors."),
      citation: Citation,
    })
    .meta({ id: "Hit" }),
);

/** Extra fields that a query of several collections may request … */
export const queryWishes = {
  include_metadata: z.boolean().optional().describe("Adds the records of the collections."),
  unknown_collections: z
    .enum(["error", "empty"])
    .optional()
    .describe("empty: a missing collection returns nothing, and `collection_exists` is false. Default error: 404."),
};

/** … and how they are returned. */
export const queryMore = {
  collections: z.array(CollectionSchema).optional().describe("With include_metadata."),
  collection_exists: z
    .boolean()
    .optional()
    .describe("With unknown_collections=empty: whether all given collections exist."),
  missing: z
    .array(z.object({ repository: z.string(), collection: z.string().optional() }))
    .optional()
    .describe("The missing ones."),
};

/** Parts of a search that failed or were adjusted. */
export const searchNotes = {
  skipped: z
    .array(z.object({ repository_id: z.string(), collection_id: z.string(), code: z.string(), reason: z.string() }))
    .optional()
    .describe(
      "Collections that could not be searched, such as those whose embedding model is not configured. All others were.",
    ),
  unknown_fields: z.array(z.string()).optional().describe("Fields of the filter that no chunk of any collection has."),
  warnings: z.array(z.string()).optional().describe("Adjustments of the request, such as a reduced limit."),
};

export const SearchAnswer = shape<wire.SearchAnswer & wire.QueryMore, "explain">()(
  z
    .looseObject({
      hits: z.array(Hit),
      outcome: z
        .enum(searchOutcomes)
        .describe(
          "Why there are no hits: nothing to search, documents still being indexed, or nothing that matches the question.",
        ),
      ...searchNotes,
      graph: z
        .looseObject({
          entities: z.array(z.looseObject({ entity: json, words: z.string(), score: z.number() })),
          edges: z.array(
            z.looseObject({
              s: json,
              p: json,
              o: json,
              hop: z.number(),
              score: z.number(),
              sources: z.array(z.looseObject({ document_id: z.string(), chunk_id: z.string() })),
            }),
          ),
        })
        .optional()
        .describe(
          "What the graph search used: entities that the question names, and triples with the chunks that state them.",
        ),
      mode_used: z.enum(searchModes),
      timings: z.object({ embed_ms: z.number(), search_ms: z.number(), total_ms: z.number() }),
      ...queryMore,
    })
    .meta({ id: "SearchAnswer" }),
);

export const Job = shape<wire.Job>()(
  z
    .object({
      job_id: z.string(),
      kind: z.string(),
      status: z.enum(jobStatuses),
      progress: z.object({ done: z.number(), total: z.number() }),
      attempts: z.number(),
      error: z.string().nullable(),
      result: jsonObject().nullable(),
      repository_id: z.string(),
      collection_id: z.string(),
      created_by: z.string(),
      created_at: z.string(),
      updated_at: z.string(),
    })
    .meta({ id: "Job" }),
);

export const Operation = shape<wire.Operation>()(
  z
    .object({
      operation_id: z.string(),
      action: z.enum(operationActions),
      status: z.enum(operationStatuses).describe("failed: retried every five minutes."),
      partial: z.boolean().describe("A store was skipped: it cannot do this, or is no longer registered."),
      repository_id: z.string(),
      collection_id: z.string(),
      incarnation: z.string(),
      stores: z.array(
        z.object({
          store: z.string(),
          status: z.enum(storeStatuses),
          attempts: z.number(),
          deleted: z.number(),
          remaining: z
            .number()
            .nullable()
            .describe("The last count of the store; null: not counted yet, so the remainder is unknown."),
          unit: z
            .string()
            .describe("The unit of `deleted` and `remaining`: records, files, …; see docs/operations.md."),
          duration_ms: z.number(),
          error: z.object({ type: z.string(), message: z.string() }).nullable(),
          next_at: z.string().nullable().describe("Time of the next attempt."),
        }),
      ),
      created_by: z.string(),
      created_at: z.string(),
      updated_at: z.string(),
      finished_at: z.string().nullable(),
    })
    .meta({ id: "Operation" }),
);

export const Key = shape<
  wire.Key,
  "name" | "scopes" | "act_as" | "created_at" | "created_by" | "expires_at" | "last_used_at" | "account"
>()(
  z
    .looseObject({
      key_id: z.string(),
      user_id: z.string(),
      workspace_id: z.string(),
      groups: z.array(z.string()),
      role: z.enum(roles),
      permissions: z.array(z.string()),
    })
    .meta({ id: "Key" }),
);

/** Who of those who may use the collection may see a document. */
export const accessInput = {
  allowed_groups: z
    .array(z.string())
    .nullable()
    .optional()
    .describe("Groups of the collection; null, with `allowed_users` null: everybody who may use the collection."),
  allowed_users: z.array(z.string()).nullable().optional().describe("Ids of users, beside the groups."),
  sensitivity: z
    .array(z.string())
    .optional()
    .describe("Labels; readers must also be in the group `sensitivity:<label>` of each."),
};
