/** Raw vectors over HTTP, for callers that compute embeddings themselves. */
import { vectorQueryModes } from "@pinakes/client";
import { z } from "zod";
import type { Knowledge } from "../../knowledge/index.ts";
import { accepted, defineRoute, ok, type Route } from "../framework/index.ts";
import { cid, Collection, rid } from "./schemas.ts";

const one = "/v1/repositories/{rid}/collections/{cid}";
const params = z.object({ rid, cid });
const json = z.record(z.string(), z.json());
const bodyBytesMax = 64 * 1_048_576;
const itemsMax = 10_000;

export function vectorRoutes(knowledge: Knowledge): readonly Route[] {
  return [...rowRoutes(knowledge), ...careRoutes(knowledge)];
}

function rowRoutes(knowledge: Knowledge): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: `${one}/vectors:upsert`,
      operationId: "upsertVectors",
      summary: "Add or replace rows with the caller's own vectors",
      description: "Rows are stored beside the chunks of documents, under their own ids, and found by vectors:query.",
      tag: "vectors",
      auth: "caller",
      limits: { bodyBytesMax },
      params,
      body: z.strictObject({
        delta_id: z.string().optional().describe("Makes retries idempotent."),
        items: z
          .array(
            z.strictObject({
              id: z.string(),
              vector: z.array(z.number()),
              text: z.string().optional(),
              metadata: json.optional(),
            }),
          )
          .min(1)
          .max(itemsMax),
      }),
      answers: {
        200: {
          description: "Durable, and visible to every query from now on.",
          schema: z.looseObject({ delta_id: z.string(), session: z.string() }),
        },
      },
      handler: async ({ caller, params: p, body }) => ok(await knowledge.rows.upsert(caller, p.rid, p.cid, body)),
    }),
    defineRoute({
      method: "POST",
      path: `${one}/vectors:delete`,
      operationId: "deleteVectors",
      summary: "Remove rows",
      tag: "vectors",
      auth: "caller",
      params,
      body: z.strictObject({ delta_id: z.string().optional(), ids: z.array(z.string()).min(1).max(itemsMax) }),
      answers: {
        200: {
          description: "Invisible to every query from now on.",
          schema: z.looseObject({ delta_id: z.string(), session: z.string() }),
        },
      },
      handler: async ({ caller, params: p, body }) => ok(await knowledge.rows.delete(caller, p.rid, p.cid, body)),
    }),
    defineRoute({
      method: "POST",
      path: `${one}/vectors:query`,
      operationId: "queryVectors",
      summary: "Query the rows nearest to a vector, or best for a text",
      tag: "vectors",
      auth: "caller",
      readOnlyOk: true,
      params,
      body: z.strictObject({
        vector: z.array(z.number()).optional(),
        text: z.string().optional(),
        mode: z.enum(vectorQueryModes).optional(),
        limit: z.number().int().optional(),
        filter: json.optional(),
        recall: z.number().optional(),
        min_score: z.number().optional(),
        include_vectors: z.boolean().optional().describe("Includes the vector of each row."),
        include_metadata: z.boolean().optional().describe("Adds the record of the collection."),
      }),
      answers: {
        200: {
          description: "The rows, best first.",
          schema: z.object({
            hits: z.array(z.looseObject({ id: z.string(), score: z.number() })),
            mode_used: z.enum(vectorQueryModes),
            collection: Collection.optional(),
          }),
        },
      },
      handler: async ({ caller, params: p, body, signal }) =>
        ok(await knowledge.rows.query(caller, p.rid, p.cid, body, { signal })),
    }),
  ];
}

function careRoutes(knowledge: Knowledge): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: `${one}/manifest`,
      operationId: "getManifest",
      summary: "Get the settings and versions of the vectors of a collection",
      tag: "vectors",
      auth: "caller",
      params,
      answers: {
        200: {
          description: "Stats and versions.",
          schema: z.looseObject({ versions: z.array(z.looseObject({ version: z.number() })) }),
        },
      },
      handler: async ({ caller, params: p }) => ok(await knowledge.rows.manifest(caller, p.rid, p.cid)),
    }),
    defineRoute({
      method: "POST",
      path: `${one}:compact`,
      operationId: "compactCollection",
      summary: "Compact the vectors of a collection now",
      tag: "vectors",
      auth: "caller",
      params,
      answers: { 202: { description: "What was done.", schema: z.looseObject({ outcome: z.string() }) } },
      handler: async ({ caller, params: p }) => accepted(await knowledge.rows.compact(caller, p.rid, p.cid)),
    }),
  ];
}
