/** The search as a tool under Mastra's own agent, with its mock of a model. */
import { Agent } from "@mastra/core/agent";
import { MastraLanguageModelV2Mock } from "@mastra/core/test-utils/llm-mock";
import { searchTool, type SearchToolOutput } from "@pinakes/client";
import { describe, expect, it } from "vitest";
import { openTravelNotes, travelAnswer, travelQuestion } from "../../client/test/support/travel-notes.ts";
import { pinakesSearch } from "../src/index.ts";
import { ways } from "./support/stores.ts";

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

describe.each([...ways, ["postgres", "http"] as const])("the search tool on %s, %s", (engine, via) => {
  it("an agent's model gets citations, and so does the program", async () => {
    await using notes = await openTravelNotes(engine, via);
    const search = pinakesSearch(notes.client, { in: notes.at, limit: 1, limitMax: 3 });
    const { name, inputSchema } = searchTool(notes.client, { limit: 1, limitMax: 3 });
    expect(search.id).toBe(name);
    expect(search.inputSchema?.["~standard"].jsonSchema.input({ target: "draft-07" })).toMatchObject(inputSchema);
    const prompts: string[] = [];
    const ask = async (input: object) => {
      const content = [
        [{ type: "tool-call" as const, toolCallId: "c1", toolName: "search", input: JSON.stringify(input) }],
        [{ type: "text" as const, text: "By train [ada.md]." }],
      ];
      const model = new MastraLanguageModelV2Mock({
        doGenerate: async ({ prompt }) => {
          prompts.push(JSON.stringify(prompt));
          const [next = []] = content.splice(0, 1);
          const finishReason = next[0]?.type === "text" ? ("stop" as const) : ("tool-calls" as const);
          return { content: next, finishReason, usage, warnings: [] };
        },
      });
      const agent = new Agent({
        id: "guide",
        name: "guide",
        instructions: "Cite.",
        model: model as never,
        tools: { search },
      });
      return agent.generate(travelQuestion, { maxSteps: 3 });
    };
    const { text, toolResults } = await ask({ query: travelQuestion });
    expect(text).toBe("By train [ada.md].");
    const results = (toolResults[0]?.payload.result as SearchToolOutput | undefined)?.results ?? [];
    expect(results).toMatchObject([{ filename: "ada.md", quote: expect.stringContaining(travelAnswer) }]);
    expect(await notes.client.verifyCitations(results)).toMatchObject([{ result: "exact" }]);
    expect(prompts.at(-1)).toContain(travelAnswer);
    await ask({ query: "a", limit: 4 });
    expect(prompts.at(-1)).toContain("limit");
    expect(prompts.at(-1)).not.toContain("quote");
  });
});
