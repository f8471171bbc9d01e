/** A search of Pinakes as a tool of Mastra. */
import { createTool, type Tool } from "@mastra/core/tools";
import { searchTool, type KnowledgeClient, type SearchToolOptions } from "@pinakes/client";

/**
 * The name is the tool's id.
 *
 * @example
 * new Agent({ id: "helper", name: "helper", instructions, model, tools: { search: pinakesSearch(client, { in: "me/notes" }) } });
 */
export function pinakesSearch(knowledge: Pick<KnowledgeClient, "search">, options?: SearchToolOptions): Tool {
  const { name, description, inputSchema, run } = searchTool(knowledge, options);
  return createTool({ id: name, description, inputSchema, execute: run });
}
