/** A search of Pinakes as a tool of LangChain, for agents and graphs. */
import { DynamicStructuredTool } from "@langchain/core/tools";
import {
  searchTool,
  type KnowledgeClient,
  type SearchToolInput,
  type SearchToolOptions,
  type SearchToolOutput,
  type SearchToolSchema,
} from "@pinakes/client";

/** What the tool returns to LangChain: the text for the model, and the same as an object (the `artifact` of the message). */
export type SearchToolContent = [content: string, artifact: SearchToolOutput];

/**
 * @example
 * const agent = new ToolNode([pinakesSearch(client, { in: "me/notes" })]);
 */
export function pinakesSearch(
  knowledge: Pick<KnowledgeClient, "search">,
  options?: SearchToolOptions,
): DynamicStructuredTool<SearchToolSchema, SearchToolInput, SearchToolInput, SearchToolContent> {
  const { name, description, inputSchema, run } = searchTool(knowledge, options);
  return new DynamicStructuredTool({
    name,
    description,
    schema: inputSchema,
    responseFormat: "content_and_artifact",
    func: async (input): Promise<SearchToolContent> => {
      const output = await run(input);
      return [JSON.stringify(output), output];
    },
  });
}
