/** A search as a tool that a model may call: one definition, which each framework's adapter dresses as its own kind of tool. */
import type { SearchOptions } from "../api/knowledge-api.ts";
import type { Citation, Hit, SearchAnswer } from "../contract/search.ts";
import { invalidInput } from "../errors.ts";
import type { JsonObject } from "../json.ts";
import type { KnowledgeClient } from "../knowledge-client.ts";

export interface SearchToolOptions extends Omit<SearchOptions, "limit" | "explain"> {
  /** The tool's name for the model. Default `search_knowledge`. */
  readonly name?: string | undefined;
  /** The description for the model: what the collections contain. */
  readonly description?: string | undefined;
  /** Results if the model does not specify a number. Default 5. */
  readonly limit?: number | undefined;
  /** Maximum that the model may request. Default 20. */
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
  /** Input from a model, which the framework may not have validated. */
  readonly run: (input: unknown) => Promise<SearchToolOutput>;
}

const nameDefault = "search_knowledge";
const descriptionDefault =
  "Searches the documents of this workspace by meaning and by words. Each result is a quote with its location: cite filename, page and section when you use it. No results: no stored document answers the question.";
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
  const count = `Number of results: 1 to ${limitMax}, default ${limit}.`;
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
