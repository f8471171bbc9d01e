/** The text of a document and what its passages state, over HTTP: what a person sees beside the passages. */
import type * as wire from "@pinakes/client";
import { z } from "zod";
import { pageOf, shape } from "../../contract/index.ts";
import { textWindowCharsMax, type Knowledge } from "../../knowledge/index.ts";
import { defineRoute, ok, queryInteger, type Route } from "../framework/index.ts";
import { cid, did, paging, rid } from "./schemas.ts";
import { triple } from "./triples.ts";

const one = "/v1/repositories/{rid}/collections/{cid}/documents/{did}";
const params = z.object({ rid, cid, did });
const place = { start: z.number(), end: z.number() };

const DocumentText = shape<wire.DocumentText>()(
  z
    .object({
      document_id: z.string(),
      version: z.number(),
      length: z.number().describe("Of the whole text, in UTF-16 code units."),
      ...place,
      text: z.string().describe("From start to end: what a citation means begins at its start minus this start."),
      next_start: z.number().nullable().describe("Where to go on; null at the end of the text."),
      pages: z
        .array(z.object({ page: z.number(), ...place }))
        .describe("Those that the window touches; empty for types without pages."),
      sections: z
        .array(z.object({ path: z.array(z.string()), ...place }))
        .describe("From each heading to the next, with the headings above it."),
      warnings: z.array(z.string()),
    })
    .meta({ id: "DocumentText" }),
);

const DocumentTriple = shape<wire.DocumentTriple>()(
  z
    .object({
      ...triple,
      passages: z
        .array(z.object({ chunk_id: z.string(), index: z.number() }))
        .describe("Of this document, in the order of the text."),
    })
    .meta({ id: "DocumentTriple" }),
);

export function documentTextRoutes(knowledge: Knowledge): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: `${one}/text`,
      operationId: "getDocumentText",
      summary: "The text of a document that passages and citations point into",
      description:
        "A window of it, in UTF-16 code units: the first 200,000 when nothing is asked for. `length` is that of the whole text.",
      tag: "documents",
      auth: "caller",
      params,
      query: z.object({
        version: queryInteger().optional().describe("The one that searches show when absent."),
        start: queryInteger().optional().describe("0 when absent."),
        end: queryInteger()
          .optional()
          .describe(`At most ${textWindowCharsMax} after start; what is beyond the text does not matter.`),
      }),
      answers: { 200: { description: "The window.", schema: DocumentText } },
      handler: async ({ caller, params: p, query }) =>
        ok(await knowledge.documents.text(caller, p.rid, p.cid, p.did, query)),
    }),
    defineRoute({
      method: "GET",
      path: `${one}/triples`,
      operationId: "listDocumentTriples",
      summary: "What the passages of a document state in the graph, each triple with its passages",
      description:
        "From the index of triples by source; 2,000 are looked at for each answer, with those kept to find names: a page may be short and still have a cursor.",
      tag: "documents",
      auth: "caller",
      params,
      query: z.object(paging),
      answers: { 200: { description: "A page.", schema: pageOf(DocumentTriple) } },
      handler: async ({ caller, params: p, query }) =>
        ok(await knowledge.documents.triples(caller, p.rid, p.cid, p.did, query)),
    }),
  ];
}
