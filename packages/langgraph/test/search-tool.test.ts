/** The search as a tool under LangGraph's own node for tools. */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { AIMessage, type ToolMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { searchTool, type SearchToolOutput } from "@pinakes/client";
import { expect, it } from "vitest";
import { openTravelNotes, travelAnswer, travelQuestion } from "../../client/test/support/travel-notes.ts";
import { pinakesSearch } from "../src/index.ts";

it.each([
  ["sqlite", "embedded"],
  ["sqlite", "http"],
  ["postgres", "http"],
] as const)(
  "a graph searches by the tool, with citations for the model and for the program: %s, %s",
  async (engine, via) => {
    await using notes = await openTravelNotes(engine, via);
    const search = pinakesSearch(notes.client, { in: notes.at, limit: 1, limitMax: 3 });
    expect([search.name, search.schema]).toEqual([
      "search_knowledge",
      searchTool(notes.client, { limit: 1, limitMax: 3 }).inputSchema,
    ]);
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("tools", new ToolNode([search]))
      .addEdge(START, "tools")
      .addEdge("tools", END)
      .compile();
    const asked = async (args: Record<string, unknown>): Promise<ToolMessage> => {
      const call = new AIMessage({
        content: "",
        tool_calls: [{ id: "c1", name: search.name, args, type: "tool_call" }],
      });
      return (await graph.invoke({ messages: [call] })).messages.at(-1) as ToolMessage;
    };
    const answer = await asked({ query: travelQuestion });
    const { results, outcome } = answer.artifact as SearchToolOutput;
    expect([answer.status, outcome]).toEqual(["success", "ok"]);
    expect(JSON.parse(String(answer.content))).toEqual(answer.artifact);
    expect(results).toMatchObject([
      { filename: "ada.md", section: "Travel", quote: expect.stringContaining(travelAnswer) },
    ]);
    expect(await notes.client.verifyCitations(results)).toMatchObject([{ result: "exact" }]);
    expect(((await asked({ query: "food or travel", limit: 2 })).artifact as SearchToolOutput).results).toHaveLength(2);
    for (const args of [{ query: "a", limit: 4 }, { limit: 1 }, { query: 7 }])
      expect((await asked(args)).status).toBe("error");
  },
);

it("the example runs end to end: the graph reads what the tool found", async () => {
  const dir = await mkdtemp(join(tmpdir(), "pinakes-langgraph-search-"));
  const example = join(import.meta.dirname, "../examples/search-tool.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [example, dir]);
  expect(stdout.trim().split("\n")).toEqual([
    "human: How does Ada travel?",
    "ai: ",
    expect.stringMatching(/^tool: \{"outcome":"ok","results":\[/),
    expect.stringMatching(/^ai: I have read: \{"outcome":"ok"/),
  ]);
  await rm(dir, { recursive: true });
});
