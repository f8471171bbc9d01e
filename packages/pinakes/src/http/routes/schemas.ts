/** The shapes of `/v1` for the reference and for validation. What they mean is said where they are made: knowledge/views.ts. */
import { z } from "zod";
import { chunkingTypes } from "../../domain/chunking.ts";
import { roles } from "../../domain/caller.ts";
import { queryInteger } from "../kit/index.ts";

export const id = z.string().min(1).max(256);
export const rid = id.describe("Id of the repository; `me` is the caller's own.");
export const cid = id.describe("Id of the collection.");
export const did = id.describe("Id of the document.");

export const paging = {
  limit: queryInteger().optional().describe("Items on a page; 20 when absent, at most 100."),
  cursor: z.string().optional().describe("`next_cursor` of the page before."),
};

export function pageOf(item: z.ZodType): z.ZodType {
  return z.object({
    items: z.array(item),
    next_cursor: z.string().nullable(),
    total: z.number().optional().describe("With include_total."),
  });
}

const json = z.record(z.string(), z.json());

export const ChunkingStrategy = z
  .looseObject({
    type: z.enum(chunkingTypes),
    unit: z.enum(["char", "token"]),
    chunk_size: z.number(),
    chunk_overlap: z.number(),
    separators: z.array(z.string()).optional(),
    threshold: z.number().optional(),
  })
  .meta({ id: "ChunkingStrategy" });

/** Checked by the feature, which takes three spellings of it. */
export const chunkingInput = z
  .json()
  .describe(
    "`{ type, unit, chunk_size, chunk_overlap, separators }`; also as LISA writes it. null: as the parent has it.",
  );

export const GraphSettings = z
  .looseObject({
    extract: z.enum(["off", "structured", "cooccurrence", "llm"]),
    key: z.string().optional(),
    model: z.string().optional(),
    entity_types: z.array(z.string()).optional(),
  })
  .meta({ id: "GraphSettings" });
/** Checked by the feature. */
export const graphInput = z
  .json()
  .describe(
    "What of documents goes into the graph: `{ extract: off | structured | cooccurrence | llm, key, model, entity_types }`. null: as the parent has it.",
  );

export const Metadata = z.object({ tags: z.array(z.string()), custom_fields: json }).meta({ id: "Metadata" });
export const metadataInput = z.strictObject({ tags: z.array(z.string()).optional(), custom_fields: json.optional() });
export const groupsInput = z
  .array(z.string())
  .nullable()
  .describe("Groups that may use it; null or []: as the parent, or everybody in the workspace.");

export const Repository = z
  .object({
    repository_id: z.string(),
    name: z.string(),
    description: z.string(),
    embedding_model: z.string(),
    allowed_groups: z.array(z.string()).nullable(),
    allow_user_collections: z.boolean(),
    auto_create: z.boolean(),
    create_on_query: z.boolean(),
    chunking_strategy: ChunkingStrategy.nullable(),
    effective_chunking_strategy: ChunkingStrategy.describe("What its collections have that say nothing themselves."),
    graph: GraphSettings.nullable(),
    metadata: Metadata,
    personal: z.boolean(),
    status: z.string(),
    created_by: z.string(),
    created_at: z.string(),
    updated_at: z.string(),
    etag: z.string(),
    warnings: z.array(z.string()).optional().describe("What whoever made or changed it should know."),
  })
  .meta({ id: "Repository" });

export const Collection = z
  .looseObject({
    collection_id: z.string(),
    repository_id: z.string(),
    repository_name: z.string(),
    name: z.string(),
    description: z.string(),
    chunking_strategy: ChunkingStrategy,
    own_chunking_strategy: ChunkingStrategy.nullable(),
    allow_chunking_override: z.boolean(),
    graph: GraphSettings,
    own_graph: GraphSettings.nullable(),
    metadata: Metadata,
    effective_metadata: Metadata,
    allowed_groups: z.array(z.string()).nullable(),
    effective_groups: z.array(z.string()).nullable(),
    embedding_model: z.string(),
    private: z.boolean(),
    pipelines: z.array(z.looseObject({ pipeline_id: z.string() })),
    status: z.enum(["ACTIVE", "ARCHIVED", "DELETE_IN_PROGRESS", "DELETE_FAILED", "DELETED"]),
    indexing_status: z.enum(["pending", "indexing", "ready", "error"]),
    document_count: z.number(),
    documents_by_status: z.record(z.string(), z.number()),
    total_size_bytes: z.number(),
    chunk_count: z.number(),
    row_count: z.number().describe("Rows that callers embedded themselves, or that a migration or a drop box brought."),
    last_sync_at: z.string().nullable(),
    last_used_at: z.string().nullable(),
    is_default: z.boolean(),
    access: z.enum(["READ", "WRITE", "ADMIN"]).nullable(),
    created_by: z.string(),
    created_at: z.string(),
    updated_at: z.string(),
    deleted_at: z.string().nullable(),
    purge_at: z.string().nullable(),
    incarnation: z.string(),
    etag: z.string(),
    warnings: z.array(z.string()).optional().describe("What whoever made or changed it should know."),
  })
  .meta({ id: "Collection" });

export const Document = z
  .looseObject({
    document_id: z.string(),
    collection_id: z.string(),
    repository_id: z.string(),
    name: z.string(),
    file_type: z.string(),
    size_bytes: z.number(),
    sha256: z.string().nullable(),
    version: z.number(),
    status: z.enum(["uploading", "pending", "indexing", "indexed", "failed"]),
    error: z.string().nullable(),
    attempts: z.number(),
    progress: z.object({ done: z.number(), total: z.number() }).nullable(),
    chunk_count: z.number(),
    chunking_strategy: ChunkingStrategy.nullable(),
    graph: z
      .looseObject({
        triples: z.number(),
        warnings: z.array(z.string()).optional(),
        failed_passages: z.array(z.object({ chunk: z.number(), error: z.string() })).optional(),
      })
      .nullable(),
    metadata: json,
    source: z.looseObject({ type: z.enum(["manual", "auto", "existing"]), uri: z.string() }),
    live_version: z.number().nullable(),
    uploaded_by: z.string(),
    uploaded_at: z.string(),
    indexed_at: z.string().nullable(),
    job_id: z.string().nullable(),
    etag: z.string(),
  })
  .meta({ id: "Document" });

export const Citation = z
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
  .meta({ id: "Citation" });

export const Hit = z
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
    citation: Citation,
  })
  .meta({ id: "Hit" });

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
  collections: z.array(Collection).optional().describe("With include_metadata."),
  collection_exists: z
    .boolean()
    .optional()
    .describe("With unknown_collections=empty: whether all that were named are there."),
  missing: z
    .array(z.object({ repository: z.string(), collection: z.string().optional() }))
    .optional()
    .describe("Those that are not."),
};

export const SearchAnswer = z
  .looseObject({
    hits: z.array(Hit),
    outcome: z
      .enum(["ok", "empty", "indexing", "no_match"])
      .describe(
        "Why there are no hits: nothing to search, documents still on their way, or nothing that answers the question.",
      ),
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
    mode_used: z.enum(["hybrid", "vector", "keyword", "graph"]),
    timings: z.object({ embed_ms: z.number(), search_ms: z.number(), total_ms: z.number() }),
    ...queryMore,
  })
  .meta({ id: "SearchAnswer" });

export const Job = z
  .object({
    job_id: z.string(),
    kind: z.string(),
    status: z.enum(["queued", "running", "succeeded", "failed", "cancelled"]),
    progress: z.object({ done: z.number(), total: z.number() }),
    attempts: z.number(),
    error: z.string().nullable(),
    result: json.nullable(),
    repository_id: z.string(),
    collection_id: z.string(),
    created_by: z.string(),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: "Job" });

export const Operation = z
  .object({
    operation_id: z.string(),
    action: z.enum(["delete-collection", "archive-collection"]),
    status: z.enum(["running", "failed", "done"]).describe("failed: it is tried on all the same, every five minutes."),
    partial: z.boolean().describe("Some store was left out: it cannot do this, or is not registered any more."),
    repository_id: z.string(),
    collection_id: z.string(),
    incarnation: z.string(),
    stores: z.array(
      z.object({
        store: z.string(),
        status: z.enum(["waiting", "sent", "confirmed", "left"]),
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
  .meta({ id: "Operation" });

export const Key = z
  .looseObject({
    key_id: z.string(),
    user_id: z.string(),
    workspace_id: z.string(),
    groups: z.array(z.string()),
    role: z.enum(roles),
    permissions: z.array(z.string()),
  })
  .meta({ id: "Key" });
