/** The graph of a collection: triples by pattern, and read-only SPARQL. */
import { z } from "zod";
import { PinakesError } from "../../domain/errors.ts";
import { defineTool, reads, type McpTool } from "../tool.ts";
import { collection, nextCursor, paging } from "./fields.ts";

const term = z.object({
  type: z.enum(["iri", "literal", "blank"]),
  value: z.string(),
  language: z.string().optional(),
  datatype: z.string().optional(),
});
const triple = z.object({ s: term, p: term, o: term, g: term.nullable() });
const position = (what: string) =>
  z.string().min(1).max(65_536).optional().describe(`${what}: <iri>, "words"@en, "1"^^<type>; anything when absent.`);
const rowsMax = 1_000;

export const graphTools: readonly McpTool[] = [
  defineTool({
    name: "triples_match",
    title: "Match triples",
    description:
      "Triples of a collection by subject, predicate, object and graph; an absent position matches anything.",
    input: z.strictObject({
      collection,
      s: position("Subject"),
      p: position("Predicate"),
      o: position("Object"),
      g: position("Graph").nullable().describe("Graph; null is the default graph."),
      ...paging,
    }),
    output: z.object({ items: z.array(triple), next_cursor: nextCursor }),
    annotations: reads,
    run: async ({ knowledge }, { collection: at, limit = 100, ...pattern }) => ({
      structured: await knowledge.graph.match(at, { ...pattern, limit }),
    }),
  }),
  defineTool({
    name: "sparql_select",
    title: "Query the graph with SPARQL",
    description: "A SPARQL 1.1 SELECT or ASK over the triples of one collection. Updates are refused.",
    input: z.strictObject({
      collection,
      query: z.string().min(1).max(100_000),
      default_graph: z
        .enum(["unnamed", "union"])
        .optional()
        .describe("union: patterns outside GRAPH match the triples of all graphs."),
      limit: z.number().int().min(1).max(rowsMax).optional().describe(`Rows; 1–${rowsMax}, 100 when absent.`),
    }),
    output: z.object({
      variables: z.array(z.string()).optional(),
      rows: z.array(z.record(z.string(), term)).optional().describe("Of SELECT."),
      value: z.boolean().optional().describe("Of ASK."),
    }),
    annotations: reads,
    run: async ({ knowledge, signal }, { collection: at, query, default_graph, limit = 100 }) => {
      const answer = await knowledge.graph.query(at, query, { defaultGraph: default_graph, limit, signal });
      if (answer.kind === "bindings") return { structured: { variables: answer.variables, rows: answer.rows } };
      if (answer.kind === "boolean") return { structured: { value: answer.value } };
      throw new PinakesError(
        "INVALID",
        "query: use SELECT or ASK; for CONSTRUCT and DESCRIBE call POST …/sparql of the HTTP interface.",
      );
    },
  }),
];
