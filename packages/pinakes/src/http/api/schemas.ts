/** The shapes of `/v1` for the reference and for validation. Those of repositories, collections and documents stand beside their views. */
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
  limit: queryInteger().optional().describe("Items on a page; 20 when absent, at most 100."),
  cursor: z.string().optional().describe("`next_cursor` of the page before."),
};

const json = jsonObject();

/** Checked by the feature, which takes three spellings of it. */
export const chunkingInput = z
  .json()
  .describe(
    "`{ type, unit, chunk_size, chunk_overlap, separators }`; also as LISA writes it. null: as the parent has it.",
  );

/** Checked by the feature. */
export const graphInput = z
  .json()
  .describe(
    "What of documents goes into the graph: `{ extract: off | structured | cooccurrence | llm, key, model, entity_types }`. null: as the parent has it.",
  );

export const metadataInput = z.strictObject({ tags: z.array(z.string()).optional(), custom_fields: json.optional() });
export const groupsInput = z
  .array(z.string())
  .nullable()
  .describe("Groups that may use it; null or []: as the parent, or everybody in the workspace.");

export const Citation = shape<wire.Citation>()(
  z
    .object({
      repository_id: z.string(),
      collection_id: z.string(),
      document_id: z.string().describe("Empty for a row that a caller embedded itself."),
      row_id: z
        .string()
        .optional()
        .describe("Of a row that a caller embedded itself: it is of no document, and its quote is its own text."),
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
          "0…1, with one meaning for all questions and collections: how likely the passage answers the question.",
        ),
      scores: z
        .object({
          vector: z.number().optional(),
          keyword: z.number().optional(),
          graph: z.number().optional(),
          fused: z.number().optional(),
        })
        .describe(
          "What the ranking was made of: cosine, BM25, the graph's share, and `fused`, by which hybrid searches order their hits.",
        ),
      metadata: json,
      source: z
        .string()
        .optional()
        .describe("Where the document came from; absent for a row that a caller embedded itself."),
      citation: Citation,
    })
    .meta({ id: "Hit" }),
);

/** What a query of several collections may ask for beside what it finds … */
export const queryWishes = {
  include_metadata: z.boolean().optional().describe("Adds the records of the collections."),
  unknown_collections: z
    .enum(["error", "empty"])
    .optional()
    .describe(
      "empty: a collection that is not there answers nothing, and `collection_exists` is false. error when absent: 404.",
    ),
};

/** … and how it is answered. */
export const queryMore = {
  collections: z.array(CollectionSchema).optional().describe("With include_metadata."),
  collection_exists: z
    .boolean()
    .optional()
    .describe("With unknown_collections=empty: whether all that were named are there."),
  missing: z
    .array(z.object({ repository: z.string(), collection: z.string().optional() }))
    .optional()
    .describe("Those that are not."),
};

/** What a search could not do, or did otherwise than asked. */
export const searchNotes = {
  skipped: z
    .array(z.object({ repository_id: z.string(), collection_id: z.string(), code: z.string(), reason: z.string() }))
    .optional()
    .describe(
      "Collections that could not be searched, such as those whose embedding model is not configured. All others were.",
    ),
  unknown_fields: z
    .array(z.string())
    .optional()
    .describe("Fields of the filter that no passage of any collection has."),
  warnings: z
    .array(z.string())
    .optional()
    .describe("What was done otherwise than asked, such as a limit that was reduced."),
};

export const SearchAnswer = shape<wire.SearchAnswer & wire.QueryMore, "explain">()(
  z
    .looseObject({
      hits: z.array(Hit),
      outcome: z
        .enum(searchOutcomes)
        .describe(
          "Why there are no hits: nothing to search, documents still on their way, or nothing that answers the question.",
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
          "What the graph went over: entities that the question names, and triples with the passages that state them.",
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
      status: z.enum(operationStatuses).describe("failed: it is tried on all the same, every five minutes."),
      partial: z.boolean().describe("Some store was left out: it cannot do this, or is not registered any more."),
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
            .describe("What the store counted last; null: it did not count yet, so what is left is unknown."),
          unit: z
            .string()
            .describe("What `deleted` and `remaining` count: records, files, …; docs/operations.md has what they are."),
          duration_ms: z.number(),
          error: z.object({ type: z.string(), message: z.string() }).nullable(),
          next_at: z.string().nullable().describe("When it is tried again."),
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
