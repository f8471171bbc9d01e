/** Searches in one vector store. */
import { z } from "zod";
import type { Caller } from "../../../domain/caller.ts";
import type { Filter } from "../../../domain/filter.ts";
import type { Knowledge, SearchHit } from "../../../knowledge/index.ts";
import { ok, type Route } from "../../framework/index.ts";
import { parseFilter, toFilter, type ParsedFilter } from "./filters.ts";
import { toAttributes } from "./metadata.ts";
import { openAiRoute } from "./openai-route.ts";
import { projectOf } from "./project.ts";
import type { Store, Stores } from "./stores.ts";
import { storeParams } from "./vector-stores.ts";

const queriesMax = 16;
const queryCharsMax = 10_000;
const resultsMax = 50;
const resultsDefault = 10;

const Query = z.string().min(1).max(queryCharsMax);
const Body = z.strictObject({
  query: z.union([Query, z.array(Query).min(1).max(queriesMax)]),
  filters: z
    .unknown()
    .optional()
    .describe("A comparison `{ type, key, value }`, or `{ type: and | or, filters }`, up to 8 levels deep."),
  max_num_results: z.int().min(1).max(resultsMax).optional(),
  ranking_options: z
    .strictObject({
      ranker: z.enum(["none", "auto", "default-2024-11-15"]).optional(),
      score_threshold: z.number().min(0).max(1).optional(),
    })
    .optional(),
  rewrite_query: z
    .boolean()
    .optional()
    .describe("Accepted; `search_query` in the response is the query that was searched."),
});

const Answer = z.object({
  object: z.literal("vector_store.search_results.page"),
  search_query: z.array(z.string()),
  data: z.array(
    z.object({
      file_id: z.string(),
      filename: z.string(),
      score: z.number(),
      attributes: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
      content: z.array(z.object({ type: z.literal("text"), text: z.string() })),
    }),
  ),
  has_more: z.boolean(),
  next_page: z.null(),
});

export function searchRoutes(knowledge: Knowledge, stores: Stores): readonly Route[] {
  return [
    openAiRoute({
      method: "POST",
      path: "/openai/v1/vector_stores/{store}/search",
      operationId: "searchVectorStore",
      summary: "Search a vector store with one or several queries",
      readOnlyOk: true,
      params: storeParams,
      body: Body,
      answers: { 200: { description: "The best chunks, best first.", schema: Answer } },
      handler: async ({ caller, params, body, header, signal }) => {
        const queries = typeof body.query === "string" ? [body.query] : body.query;
        const filter = body.filters === undefined || body.filters === null ? undefined : parseFilter(body.filters);
        const store = await stores.getActive(caller, projectOf(header), params.store);
        const limit = body.max_num_results ?? resultsDefault;
        const minScore = body.ranking_options?.score_threshold ?? 0;
        const found = await Promise.all(
          queries.map((query) => searchOne(knowledge, caller, store, { query, filter, limit, minScore, signal })),
        );
        return ok({
          object: "vector_store.search_results.page",
          search_query: queries,
          data: best(found).slice(0, limit).map(resultOf),
          has_more: false,
          next_page: null,
        });
      },
    }),
  ];
}

interface OneSearch {
  readonly query: string;
  readonly filter: ParsedFilter | undefined;
  readonly limit: number;
  readonly minScore: number;
  readonly signal: AbortSignal;
}

async function searchOne(
  knowledge: Knowledge,
  caller: Caller,
  { repository, collection }: Store,
  { query, filter, limit, minScore, signal }: OneSearch,
): Promise<readonly SearchHit[]> {
  const collections = [{ repository, collection: collection.collection_id }];
  const found = await withFilter(
    filter,
    (wanted) =>
      knowledge.search.run(caller, { query, collections, limit, min_score: minScore, filter: wanted }, { signal }),
    ({ unknown_fields }) => unknown_fields,
  );
  return found?.hits ?? [];
}

/** Runs a search again for each attribute of the filter that turns out to be unknown. Undefined if no file can match. */
export async function withFilter<Found>(
  filter: ParsedFilter | undefined,
  run: (filter: Filter | undefined) => Promise<Found>,
  unknownFieldsOf: (found: Found) => readonly string[] | undefined,
): Promise<Found | undefined> {
  const unknown = new Set<string>();
  for (;;) {
    const wanted = filter === undefined ? true : toFilter(filter, unknown);
    if (wanted === false) return undefined;
    const found = await run(wanted === true ? undefined : wanted);
    const fresh = (unknownFieldsOf(found) ?? []).filter((field) => !unknown.has(field));
    if (fresh.length === 0) return found;
    for (const field of fresh) unknown.add(field);
  }
}

/** For several queries, each chunk with its best score. */
function best(found: readonly (readonly SearchHit[])[]): readonly SearchHit[] {
  const [only = []] = found;
  if (found.length === 1) return only;
  const byChunk = new Map<string, SearchHit>();
  for (const hit of found.flat()) {
    const known = byChunk.get(hit.chunk_id);
    if (known === undefined || known.score < hit.score) byChunk.set(hit.chunk_id, hit);
  }
  return [...byChunk.values()].toSorted((a, b) => b.score - a.score);
}

function resultOf(hit: SearchHit) {
  const { metadata, citation, score, text } = hit;
  return {
    file_id: fileIdOf(hit),
    filename: citation.filename,
    score,
    attributes: toAttributes(metadata),
    content: [{ type: "text" as const, text }],
  };
}

/** A row with a vector supplied by the caller belongs to no file: its own id. */
export function fileIdOf({ document_id, chunk_id, metadata: { file_id } }: SearchHit): string {
  return typeof file_id === "string" ? file_id : document_id === "" ? chunk_id : `file-${document_id}`;
}
