/** A search of Pinakes as a tool of the AI SDK. */
import {
  searchTool,
  type KnowledgeClient,
  type SearchToolInput,
  type SearchToolOptions,
  type SearchToolOutput,
} from "@pinakes/client";
import { jsonSchema, tool, type Tool } from "ai";

/**
 * The tool's name is its key in `tools`.
 *
 * @example
 * const { text } = await generateText({ model, prompt, tools: { search: pinakesSearch(client, { in: "me/notes" }) } });
 */
export function pinakesSearch(
  knowledge: Pick<KnowledgeClient, "search">,
  options?: Omit<SearchToolOptions, "name">,
): Tool<SearchToolInput, SearchToolOutput> {
  const { description, inputSchema, run } = searchTool(knowledge, options);
  return tool({ description, inputSchema: jsonSchema<SearchToolInput>(inputSchema), execute: run });
}
