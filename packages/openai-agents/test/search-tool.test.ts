/** The search as a tool under the SDK's own runner, with its scripted model. */
import { Agent, Runner } from "@openai/agents-core";
import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents-core/testing";
import { searchTool, type SearchToolOutput } from "@pinakes/client";
import { describe, expect, it } from "vitest";
import { openTravelNotes, travelAnswer, travelQuestion } from "../../client/test/support/travel-notes.ts";
import { pinakesSearch } from "../src/index.ts";
import { ways } from "./support/sessions.ts";

const runner = new Runner({ tracingDisabled: true });

describe.each([...ways, ["postgres", "http"] as const])("the search tool on %s, %s", (engine, via) => {
  it("the model gets citations; of what goes wrong it reads only what it can put right", async () => {
    await using notes = await openTravelNotes(engine, via);
    const search = pinakesSearch(notes.client, { in: notes.at, limit: 1, limitMax: 3 });
    expect([search.name, search.parameters]).toEqual([
      "search_knowledge",
      searchTool(notes.client, { limit: 1, limitMax: 3 }).inputSchema,
    ]);
    const outputOf = async (tool: typeof search, input: Record<string, unknown>): Promise<string> => {
      const model = new ScriptedModel([
        [functionCall(tool.name, input, { callId: "c1" })],
        [assistantMessage("By train [ada.md].")],
      ]);
      const agent = new Agent({ name: "Guide", model, tools: [tool] });
      const result = await runner.run(agent, travelQuestion);
      expect(result.finalOutput).toBe("By train [ada.md].");
      expect(JSON.stringify(model.lastCall?.request.input)).toContain("function_call_result");
      const done = result.newItems.find(({ type }) => type === "tool_call_output_item");
      return String((done as unknown as { output: unknown }).output);
    };
    const { results } = JSON.parse(await outputOf(search, { query: travelQuestion, limit: null })) as SearchToolOutput;
    expect(results).toMatchObject([{ filename: "ada.md", quote: expect.stringContaining(travelAnswer) }]);
    expect(await notes.client.verifyCitations(results)).toMatchObject([{ result: "exact" }]);
    expect(await outputOf(search, { query: "a", limit: 4 })).toBe("limit: must be a whole number from 1 to 3, got 4.");
    expect(await outputOf(search, {})).toBe("query: must be a string that is not empty.");
    expect(await outputOf(pinakesSearch(notes.client, { in: "me/secret-plans" }), { query: "a" })).toBe(
      "The search failed.",
    );
  });
});
