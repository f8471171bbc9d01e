/** The text of a document and the triples of its chunks, over HTTP. Consoles show them beside the chunks. */
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
      length: z.number().describe("Length of the whole text, in UTF-16 code units."),
      ...place,
      text: z
        .string()
        .describe(
          "The text from start to end: a citation's offsets are relative to the whole text, so subtract this start.",
        ),
      next_start: z.number().nullable().describe("Offset of the next window; null at the end of the text."),
      pages: z
        .array(z.object({ page: z.number(), ...place }))
        .describe("The pages that the window overlaps; empty for types without pages."),
      sections: z
        .array(z.object({ path: z.array(z.string()), ...place }))
        .describe("From each heading to the next, with its parent headings."),
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
        .describe("Chunks of this document, in text order."),
    })
    .meta({ id: "DocumentTriple" }),
);

export function documentTextRoutes(knowledge: Knowledge): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: `${one}/text`,
      operationId: "getDocumentText",
      summary: "Read the text of a document that chunks and citations refer to",
      description:
        "A window of the text, in UTF-16 code units; default: the first 200,000. `length` is the length of the whole text.",
      tag: "documents",
      auth: "caller",
      params,
      query: z.object({
        version: queryInteger().optional().describe("Default: the version that searches show."),
        start: queryInteger().optional().describe("Default 0."),
        end: queryInteger()
          .optional()
          .describe(`At most ${textWindowCharsMax} after start; clipped at the end of the text.`),
      }),
      answers: { 200: { description: "The window.", schema: DocumentText } },
      handler: async ({ caller, params: p, query }) =>
        ok(await knowledge.documents.text(caller, p.rid, p.cid, p.did, query)),
    }),
    defineRoute({
      method: "GET",
      path: `${one}/triples`,
      operationId: "listDocumentTriples",
      summary: "List the triples extracted from the chunks of a document, each with its chunks",
      description:
        "Reads the index of triples by source, at most 2,000 rows per page, including labels of entities: a page may be short and still have a cursor.",
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
