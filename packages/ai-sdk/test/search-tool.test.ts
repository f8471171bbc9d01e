/** The search as a tool under the AI SDK's own loop, with its mock of a model. */
import { searchTool, type SearchToolOutput } from "@pinakes/client";
import { asSchema, generateText, isStepCount } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { describe, expect, it } from "vitest";
import { openTravelNotes, travelAnswer, travelQuestion } from "../../client/test/support/travel-notes.ts";
import { pinakesSearch } from "../src/index.ts";
import { ways } from "./support/worlds.ts";

const usage = {
  inputTokens: { total: 7, noCache: 7, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 4, text: 4, reasoning: undefined },
};
const reply = { finishReason: { unified: "stop" as const, raw: "stop" }, usage, warnings: [] };

/** Calls the tool with this input, then answers. */
const callerOf = (input: object) =>
  new MockLanguageModelV4({
    doGenerate: [
      {
        ...reply,
        content: [{ type: "tool-call", toolCallId: "c1", toolName: "search", input: JSON.stringify(input) }],
      },
      { ...reply, content: [{ type: "text", text: "By train [ada.md]." }] },
    ],
  });

describe.each([...ways, ["postgres", "http"] as const])("the search tool on %s, %s", (engine, via) => {
  it("the model gets citations, and so does the program", async () => {
    await using notes = await openTravelNotes(engine, via);
    const tools = { search: pinakesSearch(notes.client, { in: notes.at, limit: 1, limitMax: 3 }) };
    const { inputSchema } = searchTool(notes.client, { limit: 1, limitMax: 3 });
    expect(await asSchema(tools.search.inputSchema).jsonSchema).toEqual(inputSchema);
    const model = callerOf({ query: travelQuestion });
    const { text, steps } = await generateText({ model, tools, prompt: travelQuestion, stopWhen: isStepCount(3) });
    expect(text).toBe("By train [ada.md].");
    const results = (steps[0]?.toolResults[0]?.output as SearchToolOutput | undefined)?.results ?? [];
    expect(results).toMatchObject([{ filename: "ada.md", quote: expect.stringContaining(travelAnswer) }]);
    expect(await notes.client.verifyCitations(results)).toMatchObject([{ result: "exact" }]);
    expect(JSON.stringify(model.doGenerateCalls[1]?.prompt)).toContain(travelAnswer);
    for (const input of [{ query: "a", limit: 4 }, {}]) {
      const failed = await generateText({ model: callerOf(input), tools, prompt: "a", stopWhen: isStepCount(3) });
      expect(failed.steps[0]?.content.map(({ type }) => type)).toContain("tool-error");
    }
  });
});
