/** A search as a tool that a model may call: one definition, which each framework's adapter dresses as its own kind of tool. */
import type { SearchOptions } from "../api/knowledge-api.ts";
import type { Citation, Hit, SearchAnswer } from "../contract/search.ts";
import { invalidInput } from "../errors.ts";
import type { JsonObject } from "../json.ts";
import type { KnowledgeClient } from "../knowledge-client.ts";

export interface SearchToolOptions extends Omit<SearchOptions, "limit" | "explain"> {
  /** By which the model calls it. `search_knowledge` when absent. */
  readonly name?: string | undefined;
  /** What the model knows of it: say what is in the collections. */
  readonly description?: string | undefined;
  /** Results when the model asks for no number. 5 when absent. */
  readonly limit?: number | undefined;
  /** The most that the model may ask for. 20 when absent. */
  readonly limitMax?: number | undefined;
}

export interface SearchToolInput {
  readonly query: string;
  readonly limit?: number | null | undefined;
}

/** A citation with its text as `quote`. */
export interface SearchToolResult extends Citation {
  readonly chunk_id: string;
  readonly score: number;
  readonly metadata?: JsonObject;
}

export interface SearchToolOutput extends Pick<SearchAnswer, "outcome" | "skipped" | "warnings"> {
  readonly results: readonly SearchToolResult[];
}

/** JSON Schema. */
export interface SearchToolSchema {
  type: "object";
  properties: {
    query: { type: "string"; minLength: number; description: string };
    limit: { type: "integer"; minimum: number; maximum: number; description: string };
  };
  required: "query"[];
  additionalProperties: false;
}

export interface SearchTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: SearchToolSchema;
  /** What a model gave, which no framework has to have checked. */
  readonly run: (input: unknown) => Promise<SearchToolOutput>;
}

const nameDefault = "search_knowledge";
const descriptionDefault =
  "Searches the documents of this workspace by meaning and by words. Each result is a quote with the place it stands at: cite filename, page and section with what you take from it. No results: nothing that is stored answers the question.";
const limitDefault = 5;
const limitMaxDefault = 20;

export function searchTool(
  knowledge: Pick<KnowledgeClient, "search">,
  {
    name = nameDefault,
    description = descriptionDefault,
    limitMax = limitMaxDefault,
    limit = Math.min(limitDefault, limitMax),
    ...options
  }: SearchToolOptions = {},
): SearchTool {
  checkCount("limit", limit, limitMax);
  return {
    name,
    description,
    inputSchema: schemaOf(limit, limitMax),
    run: async (input) => {
      const { query, limit: wanted } = checkInput(input);
      const most = wanted ?? limit;
      checkCount("limit", most, limitMax);
      const { hits, outcome, skipped, warnings } = await knowledge.search(query, { ...options, limit: most });
      return {
        outcome,
        results: hits.map(toResult),
        ...(skipped === undefined ? {} : { skipped }),
        ...(warnings === undefined ? {} : { warnings }),
      };
    },
  };
}

function schemaOf(limit: number, limitMax: number): SearchToolSchema {
  const query = "What to look for: a question, or the words that the answer would use.";
  const count = `How many results: 1 to ${limitMax}, ${limit} when absent.`;
  return {
    type: "object",
    properties: {
      query: { type: "string", minLength: 1, description: query },
      limit: { type: "integer", minimum: 1, maximum: limitMax, description: count },
    },
    required: ["query"],
    additionalProperties: false,
  };
}

function checkInput(input: unknown): SearchToolInput {
  const given = typeof input === "object" && input !== null ? (input as Readonly<Record<string, unknown>>) : {};
  if (typeof given["query"] === "string" && given["query"].trim() !== "") return given as unknown as SearchToolInput;
  throw invalidInput("query: must be a string that is not empty.");
}

function checkCount(name: string, value: number, max: number): void {
  if (!Number.isInteger(value) || value < 1 || value > max)
    throw invalidInput(`${name}: must be a whole number from 1 to ${max}, got ${String(value)}.`);
}

function toResult({ citation, chunk_id, score, metadata }: Hit): SearchToolResult {
  return { ...citation, chunk_id, score, ...(Object.keys(metadata).length === 0 ? {} : { metadata }) };
}
