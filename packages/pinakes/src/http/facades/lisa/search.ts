/** Similarity search over one collection. */
import { z } from "zod";
import { jsonValue } from "../../../contract/index.ts";
import { invalid, show } from "../../../domain/errors.ts";
import { knowledgeLimits, type Knowledge, type SearchHit } from "../../../knowledge/index.ts";
import { ok, type Route } from "../../framework/index.ts";
import { rid } from "./collections.ts";
import { lisaRoute } from "./lisa-route.ts";
import { s3Path } from "./objects.ts";
import { repositoryType, wholeNumber } from "./query.ts";
import type { Resolver } from "./resolve.ts";

const topDefault = 3;
const modes = ["vector", "hybrid", "keyword"] as const;

const HitMetadata = z.object({
  source: z.string(),
  name: z.string(),
  tags: z.array(jsonValue()),
  repositoryId: z.string(),
  collectionId: z.string(),
  part: z.number().describe("The number of the chunk in its document, from 1."),
  document_id: z.string(),
  similarity_score: z.number().optional().describe("0…1; with score=true."),
});

export function searchRoutes(knowledge: Knowledge, resolver: Resolver): readonly Route[] {
  return [
    lisaRoute({
      method: "GET",
      path: "/repository/{rid}/similaritySearch",
      operationId: "lisaSimilaritySearch",
      summary: "Find the chunks of a collection most similar to a query",
      params: z.object({ rid }),
      query: z.object({
        query: z.string(),
        collectionId: z.string().optional(),
        modelName: z
          .string()
          .optional()
          .describe("Used without a collection: selects the default collection of this embedding model."),
        topK: z.string().optional().describe(`1–${knowledgeLimits.searchHitsMax}; ${topDefault} when absent.`),
        score: z.string().optional().describe("true: each hit includes its score."),
        searchMode: z
          .string()
          .optional()
          .describe(`${modes.join(", ")}; vector when absent.`),
        repositoryType,
      }),
      answers: {
        200: {
          description: "The hits, best first.",
          schema: z.object({
            docs: z.array(z.object({ Document: z.object({ page_content: z.string(), metadata: HitMetadata }) })),
            metadata: z
              .object({
                search_mode: z.enum(modes),
                actual_mode_used: z.string(),
                backend: z.string(),
                hybrid_supported: z.boolean(),
              })
              .optional()
              .describe("With searchMode."),
          }),
        },
      },
      handler: async ({ caller, params, query: asked, signal }) => {
        const { query, collectionId, modelName, score, searchMode } = asked;
        const named = collectionId ?? modelName;
        if (named === undefined || named === "")
          throw invalid("modelName is required when collectionId is not provided.");
        const mode = modeOf(searchMode);
        const input = { query, mode: mode ?? "vector", limit: topOf(asked.topK), min_score: 0, archived: true };
        const { hits, mode_used } = await resolver.within(caller, params.rid, named, (collection) =>
          knowledge.search.run(caller, { ...input, collections: [{ repository: params.rid, collection }] }, { signal }),
        );
        resolver.noted(caller, hits);
        const scored = score?.toLowerCase() === "true";
        return ok({
          docs: hits.map((hit) => ({
            Document: { page_content: hit.text, metadata: metadataOf(hit, scored) },
          })),
          ...(mode === undefined
            ? {}
            : {
                metadata: modeMetadata(mode, mode_used),
              }),
        });
      },
    }),
  ];
}

function modeMetadata(search_mode: (typeof modes)[number], actual_mode_used: string) {
  return { search_mode, actual_mode_used, backend: "pinakes", hybrid_supported: true };
}

function topOf(text: string | undefined): number {
  if (text === undefined || text === "") return topDefault;
  const top = wholeNumber(text, "topK");
  if (top < 1 || top > knowledgeLimits.searchHitsMax)
    throw invalid(`topK: must be a whole number from 1 to ${knowledgeLimits.searchHitsMax}, got ${show(top)}.`);
  return top;
}

function modeOf(text: string | undefined): (typeof modes)[number] | undefined {
  if (text === undefined || text === "") return undefined;
  const mode = modes.find((one) => one === text.toLowerCase());
  if (mode === undefined) throw invalid(`searchMode: must be one of ${modes.join(", ")}, got ${show(text)}.`);
  return mode;
}

function metadataOf(hit: SearchHit, scored: boolean): z.output<typeof HitMetadata> {
  const { repository_id, collection_id, document_id, chunk_id, citation, metadata, source } = hit;
  const { tags } = metadata;
  // A row with a vector supplied by the caller has no document.
  const part = document_id === "" ? 1 : Number(chunk_id.split(".").at(-1)) + 1;
  const name = citation.filename === "" ? chunk_id : citation.filename;
  return {
    source: s3Path(source, { repository_id, collection_id, document_id, name }),
    name,
    tags: Array.isArray(tags) ? [...tags] : [],
    repositoryId: repository_id,
    collectionId: collection_id,
    part,
    document_id,
    ...(scored ? { similarity_score: hit.score } : {}),
  };
}
