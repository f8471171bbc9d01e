/** Searches and citations over HTTP. */
import { citationResults, fusions, searchModes } from "@pinakes/client";
import type * as wire from "@pinakes/client";
import { z } from "zod";
import { shape } from "../../contract/index.ts";
import type { Filter } from "../../domain/filter.ts";
import { knowledgeLimits, type Knowledge } from "../../knowledge/index.ts";
import { defineRoute, ok, type Route } from "../framework/index.ts";
import { cid, queryWishes, rid, SearchAnswer } from "./schemas.ts";

const fields = {
  query: z.string(),
  mode: z.enum(searchModes).optional().describe("hybrid when absent."),
  limit: z
    .number()
    .int()
    .optional()
    .describe(
      "10 when absent, at most 1,000. Of catalogs (repository `me`): 5 when absent; more than 20 are reduced to 20, with a warning.",
    ),
  filter: z
    .record(z.string(), z.json())
    .optional()
    .describe("On the documents' metadata and `filename`, `file_type`, `page`, …; evaluated before ranking."),
  min_score: z
    .number()
    .optional()
    .describe(
      "0…1, on the scale of the hits' `score`. When absent an answer whose best hit is too weak is empty (`no_match`); 0 asks for all candidates.",
    ),
  explain: z.boolean().optional(),
  as_of: z.string().optional().describe("A time in the past, within the retention of the vectors."),
  group_by: z.literal("document").optional(),
  diversity: z.number().optional().describe("0…1: prefer passages that say something else than those before them."),
  fusion: z.enum(fusions).optional(),
  vector_weight: z.number().optional().describe("0…1: the share of the vectors in the mix."),
  archived: z.boolean().optional(),
  ...queryWishes,
  graph: z
    .strictObject({
      hops: z
        .number()
        .int()
        .optional()
        .describe("0…3, 1 when absent: how far from the entities that the question names; 0 leaves the graph out."),
      limit: z.number().int().optional().describe("Edges that the answer shows; 20 when absent, at most 100."),
      weight: z.number().optional().describe("0…1: how much the graph can add to a score; 0.5 when absent."),
    })
    .optional()
    .describe(
      "How the graph takes part, in the modes hybrid and graph. Collections without triples are searched as before.",
    ),
};

const DocumentCitation = z.looseObject({
  repository_id: z.string(),
  collection_id: z.string(),
  document_id: z.string(),
  version: z.number().int(),
  start: z.number().int(),
  end: z.number().int(),
  quote: z.string(),
});

const RowCitation = z.looseObject({
  repository_id: z.string(),
  collection_id: z.string(),
  row_id: z.string().describe("Of a row that a caller embedded itself."),
  quote: z.string(),
});

const CitationToVerify = z.union([RowCitation, DocumentCitation]);

const CitationCheck = shape<wire.CitationCheck, "found_at">()(
  z.looseObject({
    valid: z.boolean(),
    result: z.enum(citationResults),
    current: z.boolean(),
  }),
);

export function searchRoutes(knowledge: Knowledge): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: "/v1/search",
      operationId: "search",
      summary: "Search any number of collections, with one ranking",
      tag: "search",
      auth: "caller",
      readOnlyOk: true,
      body: z.strictObject({
        ...fields,
        collections: z
          .array(z.strictObject({ repository: z.string(), collection: z.string().optional() }))
          .optional()
          .describe("All that the caller may read when absent. An entry without a collection is the whole repository."),
        as_user: z
          .strictObject({ user_id: z.string(), groups: z.array(z.string()).optional() })
          .optional()
          .describe("Admins only: what this user would find."),
      }),
      answers: { 200: { description: "The passages, the best first.", schema: SearchAnswer } },
      handler: async ({ caller, body, signal }) => {
        const { as_user, filter, ...input } = body;
        const who = as_user === undefined ? caller : knowledge.access.actAs(caller, as_user);
        return ok(await knowledge.search.run(who, { ...input, filter: filter as Filter | undefined }, { signal }));
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/repositories/{rid}/collections/{cid}/search",
      operationId: "searchCollection",
      summary: "Search one collection",
      tag: "search",
      auth: "caller",
      readOnlyOk: true,
      params: z.object({ rid, cid }),
      body: z.strictObject(fields),
      answers: { 200: { description: "The passages, the best first.", schema: SearchAnswer } },
      handler: async ({ caller, params: p, body: { filter, ...input }, signal }) =>
        ok(
          await knowledge.search.run(
            caller,
            { ...input, filter: filter as Filter, collections: [{ repository: p.rid, collection: p.cid }] },
            { signal },
          ),
        ),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/repositories/{rid}/search",
      operationId: "searchRepository",
      summary: "Search all collections of a repository that the caller may read",
      tag: "search",
      auth: "caller",
      readOnlyOk: true,
      params: z.object({ rid }),
      body: z.strictObject(fields),
      answers: { 200: { description: "The passages, the best first.", schema: SearchAnswer } },
      handler: async ({ caller, params: p, body: { filter, ...input }, signal }) =>
        ok(
          await knowledge.search.run(
            caller,
            { ...input, filter: filter as Filter | undefined, collections: [{ repository: p.rid }] },
            { signal },
          ),
        ),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/citations:verify",
      operationId: "verifyCitations",
      summary: "Whether quotes stand where citations say, in the version they name",
      tag: "search",
      auth: "caller",
      readOnlyOk: true,
      body: z.strictObject({ citations: z.array(CitationToVerify).min(1).max(knowledgeLimits.citationsMax) }),
      answers: {
        200: {
          description: "One check for each citation, in their order.",
          schema: z.object({ checks: z.array(CitationCheck) }),
        },
      },
      handler: async ({ caller, body }) => ok(await knowledge.search.verifyCitations(caller, body.citations)),
    }),
  ];
}
