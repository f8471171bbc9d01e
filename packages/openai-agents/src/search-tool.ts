/** A search of Pinakes as a function tool of the OpenAI Agents SDK. */
import { tool, type FunctionTool } from "@openai/agents-core";
import {
  PinakesClientError,
  searchTool,
  type KnowledgeClient,
  type SearchToolOptions,
  type SearchToolSchema,
} from "@pinakes/client";

/** As the SDK's types describe a non-strict schema; a strict one has no optional properties. */
type SearchParameters = Omit<SearchToolSchema, "additionalProperties"> & { additionalProperties: true };

/**
 * @example
 * const agent = new Agent({ name: "Assistant", tools: [pinakesSearch(client, { in: "me/notes" })] });
 */
export function pinakesSearch<Context = unknown>(
  knowledge: Pick<KnowledgeClient, "search">,
  options?: SearchToolOptions,
): FunctionTool<Context, SearchParameters, string> {
  const { name, description, inputSchema, run } = searchTool(knowledge, options);
  return tool<SearchParameters, Context>({
    name,
    description,
    parameters: inputSchema as object as SearchParameters,
    strict: false,
    execute: async (input) => JSON.stringify(await run(input)),
    // A model can correct errors in its input; other errors are not shown to it.
    errorFunction: (_context, error) =>
      PinakesClientError.isInstance(error) && error.code === "INVALID" ? error.detail : "The search failed.",
  });
}
