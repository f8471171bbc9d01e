/** Search over collections, and verification of the citations in an answer. */
import {
  citationResults,
  searchModes,
  searchOutcomes,
  type CitationToVerify,
  type Hit,
  type SearchAnswer,
  type SearchPlace,
} from "@pinakes/client";
import type { ContentBlock } from "@modelcontextprotocol/server";
import { z } from "zod";
import { jsonObject } from "../../contract/index.ts";
import { documentUri, excerptUri } from "../uris.ts";
import { defineTool, reads, type McpTool, type ToolAnswer } from "../tool.ts";

export const citation = z.looseObject({
  repository_id: z.string(),
  collection_id: z.string(),
  document_id: z.string(),
  filename: z.string(),
  version: z.number(),
  page: z.number().optional(),
  section: z.string().optional(),
  start: z.number().describe("UTF-16 code units into the document's text."),
  end: z.number(),
  quote: z.string(),
});
const hit = z.object({
  text: z.string(),
  score: z.number().describe("0…1, comparable across questions."),
  document_id: z.string(),
  chunk_id: z.string(),
  metadata: jsonObject(),
  citation,
  uri: z.string().optional().describe("Resource with the cited text."),
});
const limitMax = 100;
export const collections = z
  .array(z.string().min(1).max(257))
  .max(100)
  .optional()
  .describe('Collections as "repository/collection" or whole repositories as "repository"; "me" is your own.');

const noAnswer: Readonly<Record<Exclude<SearchAnswer["outcome"], "ok">, string>> = {
  empty: "Nothing is stored there yet: upload documents first.",
  indexing: "The documents are still being indexed: search again in a moment.",
  no_match: "Nothing relevant was found.",
};

export const searchTools: readonly McpTool[] = [
  defineTool({
    name: "search",
    title: "Search documents",
    description:
      "Finds the chunks of the caller's documents that answer a question, best first, each with a citation (file, page, section, exact quote). Searches everything the caller may read, or the collections in `in`. For an empty result, `outcome` says why.",
    input: z.strictObject({
      query: z.string().min(1).max(10_000),
      in: collections,
      limit: z.number().int().min(1).max(limitMax).optional().describe(`Hits; 1–${limitMax}, 5 when absent.`),
      mode: z.enum(searchModes).optional().describe("hybrid when absent."),
      filter: jsonObject().optional().describe('On metadata, filename, file_type, page: {"year": {"gte": 2020}}.'),
      min_score: z.number().min(0).max(1).optional(),
    }),
    output: z.object({
      outcome: z.enum(searchOutcomes),
      hits: z.array(hit),
      warnings: z.array(z.string()).optional(),
      mode_used: z.enum(searchModes),
    }),
    annotations: reads,
    run: async ({ knowledge }, { query, in: within, limit = 5, ...options }) =>
      answerOf(await knowledge.search.query(query, { ...options, limit, in: within?.map(placeOf) })),
  }),
  defineTool({
    name: "verify_citation",
    title: "Verify a citation",
    description:
      "Checks that the stored bytes of the cited document contain the quote, at the cited position and version. Pass a citation as `search` returned it.",
    input: z.strictObject({
      citation: z.looseObject({
        repository_id: z.string(),
        collection_id: z.string(),
        document_id: z.string(),
        row_id: z.string().optional(),
        version: z.number().int(),
        start: z.number().int().min(0),
        end: z.number().int().min(0),
        quote: z.string().max(100_000),
      }),
    }),
    output: z.object({
      valid: z.boolean(),
      result: z.enum(citationResults),
      current: z.boolean().describe("Whether searches still show this version."),
      found_at: z.number().optional().describe("Where the quote is now, if it moved."),
    }),
    annotations: reads,
    run: async ({ knowledge }, args) => {
      const [check] = await knowledge.search.verifyCitations([args.citation as CitationToVerify]);
      return { structured: check as object };
    },
  }),
];

export function placeOf(text: string): SearchPlace {
  return text.includes("/") ? text : { repository: text };
}

/** Each hit as text that a model can cite from, followed by links to the documents. */
function answerOf({ hits, outcome, mode_used, warnings }: SearchAnswer): ToolAnswer {
  const structured = {
    outcome,
    hits: hits.map((found) => ({
      text: found.text,
      score: found.score,
      document_id: found.document_id,
      chunk_id: found.chunk_id,
      metadata: found.metadata,
      citation: found.citation,
      ...(found.document_id === "" ? {} : { uri: excerptUri(found.citation) }),
    })),
    ...(warnings === undefined ? {} : { warnings }),
    mode_used,
  };
  const text = outcome === "ok" ? hits.map(hitText).join("\n\n") : noAnswer[outcome];
  return { structured, content: [{ type: "text", text }, ...links(hits)] };
}

function hitText({ text, score, citation: { filename, page, section } }: Hit, index: number): string {
  const where = [filename, page === undefined ? "" : `page ${page}`, section ?? ""].filter((part) => part !== "");
  return `[${index + 1}] ${where.join(", ")} (score ${score.toFixed(2)})\n${text}`;
}

function links(hits: readonly Hit[]): ContentBlock[] {
  const documents = new Map(
    hits.filter(({ document_id }) => document_id !== "").map((one) => [documentUri(one), one.citation.filename]),
  );
  return [...documents].map(([uri, name]) => ({ type: "resource_link", uri, name, mimeType: "text/plain" }));
}
