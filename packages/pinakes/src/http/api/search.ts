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
  mode: z.enum(searchModes).optional().describe("Default hybrid."),
  limit: z
    .number()
    .int()
    .optional()
    .describe(
      "Default 10, maximum 1,000. For catalogs (repository `me`): default 5; more than 20 is reduced to 20, with a warning.",
    ),
  filter: z
    .record(z.string(), z.json())
    .optional()
    .describe("On document metadata and `filename`, `file_type`, `page`, …; evaluated before ranking."),
  min_score: z
    .number()
    .optional()
    .describe(
      "0…1, on the scale of `score`. By default a search whose best hit is too weak returns nothing (`no_match`); 0 returns all candidates.",
    ),
  explain: z.boolean().optional(),
  as_of: z.string().optional().describe("A time in the past, within the retention of the vectors."),
  group_by: z.literal("document").optional(),
  diversity: z.number().optional().describe("0…1: prefer chunks that differ from those ranked before them."),
  fusion: z.enum(fusions).optional(),
  vector_weight: z.number().optional().describe("0…1: weight of the vectors in the fusion."),
  archived: z.boolean().optional(),
  ...queryWishes,
  graph: z
    .strictObject({
      hops: z
        .number()
        .int()
        .optional()
        .describe("0…3, default 1: maximum distance from the entities that the question names; 0 disables the graph."),
      limit: z.number().int().optional().describe("Maximum number of edges in the response; default 20, maximum 100."),
      weight: z.number().optional().describe("0…1: how much the graph can add to a score; default 0.5."),
    })
    .optional()
    .describe("Use of the graph, in the modes hybrid and graph. Collections without triples are unaffected."),
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
  row_id: z.string().describe("For raw vectors."),
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
      summary: "Search any number of collections with one ranking",
      tag: "search",
      auth: "caller",
      readOnlyOk: true,
      body: z.strictObject({
        ...fields,
        collections: z
          .array(z.strictObject({ repository: z.string(), collection: z.string().optional() }))
          .optional()
          .describe(
            "Collections to search; default: all that the caller may read. An entry without a collection means the whole repository.",
          ),
        as_user: z
          .strictObject({ user_id: z.string(), groups: z.array(z.string()).optional() })
          .optional()
          .describe("Admins only: search as this user."),
      }),
      answers: { 200: { description: "The hits, best first.", schema: SearchAnswer } },
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
      answers: { 200: { description: "The hits, best first.", schema: SearchAnswer } },
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
      answers: { 200: { description: "The hits, best first.", schema: SearchAnswer } },
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
      summary: "Verify that quotes are in the cited version, at the cited position",
      tag: "search",
      auth: "caller",
      readOnlyOk: true,
      body: z.strictObject({ citations: z.array(CitationToVerify).min(1).max(knowledgeLimits.citationsMax) }),
      answers: {
        200: {
          description: "One result per citation, in order.",
          schema: z.object({ checks: z.array(CitationCheck) }),
        },
      },
      handler: async ({ caller, body }) => ok(await knowledge.search.verifyCitations(caller, body.citations)),
    }),
  ];
}
