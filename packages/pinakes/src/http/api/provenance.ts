/** The provenance of a triple, over HTTP. */
import type * as wire from "@pinakes/client";
import { z } from "zod";
import { jsonObject, shape } from "../../contract/index.ts";
import type { Knowledge } from "../../knowledge/index.ts";
import { defineRoute, ok, type Route } from "../framework/index.ts";
import { cid, rid } from "./schemas.ts";

const Provenance = shape<wire.Provenance>()(
  z
    .looseObject({
      triple: z.looseObject({}),
      asserted: z.boolean().describe("The triple was asserted directly, without a document."),
      sources: z.array(
        z.looseObject({
          document_id: z.string(),
          chunk_id: z.string(),
          filename: z.string(),
          version: z.number(),
          page: z.number().optional(),
          start: z.number().describe("UTF-16 code units into the document's text."),
          end: z.number(),
          quote: z.string(),
        }),
      ),
      prov: jsonObject().describe("The same as PROV-O, in JSON-LD."),
    })
    .meta({ id: "Provenance" }),
);

export function provenanceRoutes(knowledge: Knowledge): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/repositories/{rid}/collections/{cid}/triples/provenance",
      operationId: "tripleProvenance",
      summary: "List the chunks and documents that state a triple",
      tag: "graph",
      auth: "caller",
      params: z.object({ rid, cid }),
      query: z.object({
        s: z.string().describe("`<iri>` or `_:label`"),
        p: z.string().describe("`<iri>`"),
        o: z.string().describe('`<iri>`, `"words"`, `"words"@en`, `"1"^^xsd:integer` or `_:label`'),
        g: z.string().optional().describe("The graph: `<iri>`; default: the default graph."),
      }),
      answers: {
        200: { description: "Its chunks, each with its position in the text of a version.", schema: Provenance },
      },
      handler: async ({ caller, params, query }) =>
        ok(await knowledge.search.provenance(caller, params.rid, params.cid, query)),
    }),
  ];
}
