/** Mastra itself on the store: its workflow engine, its agents, its mock model and memory. */
import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { MockMemory } from "@mastra/core/memory";
import { createMockModel } from "@mastra/core/test-utils/llm-mock";
import { createStep, createWorkflow } from "@mastra/core/workflows";
import type { WorkflowRun } from "@mastra/core/storage";
import { describe, expect, it } from "vitest";
import type { PinakesStore } from "../src/index.ts";
import { openStores, ways } from "./support/stores.ts";

const numbers = { type: "object" as const, properties: { n: { type: "number" as const } }, required: ["n"] };
const anything = { type: "object" as const };

function countingWorkflow() {
  const plus = (id: string, more: number) =>
    createStep({
      id,
      inputSchema: numbers,
      outputSchema: numbers,
      execute: async ({ inputData }) => ({ n: (inputData as { n: number }).n + more }),
    });
  const ask = createStep({
    id: "ask",
    inputSchema: anything,
    outputSchema: numbers,
    resumeSchema: numbers,
    suspendSchema: anything,
    execute: async ({ inputData, resumeData, suspend }) => {
      const parts = inputData as { one: { n: number }; ten: { n: number } };
      return resumeData === undefined
        ? suspend({ why: "a person decides" })
        : { n: parts.one.n + parts.ten.n + (resumeData as { n: number }).n };
    },
  });
  return createWorkflow({ id: "counting", inputSchema: numbers, outputSchema: numbers })
    .parallel([plus("one", 1), plus("ten", 10)])
    .then(ask)
    .commit();
}

describe.each(ways)("Mastra on %s, %s", (engine, via) => {
  it("R-AGT-95 Mastra workflows: a run with parallel steps is suspended in one process and resumed in another", async () => {
    await using stores = await openStores(engine, via);
    const start = async () =>
      new Mastra({ storage: await stores.another(), workflows: { counting: countingWorkflow() }, logger: false });
    const run = await (await start()).getWorkflow("counting").createRun({ resourceId: "ada" });
    expect((await run.start({ inputData: { n: 5 } })).status).toBe("suspended");
    const second = (await start()).getWorkflow("counting");
    const { runs } = await second.listWorkflowRuns({ status: "suspended", resourceId: "ada" });
    expect(runs.map(({ runId, workflowName }: WorkflowRun) => [runId, workflowName])).toEqual([
      [run.runId, "counting"],
    ]);
    const resumed = await (
      await second.createRun({ runId: run.runId })
    ).resume({ step: "ask", resumeData: { n: 100 } });
    expect(resumed.status === "success" ? resumed.result : resumed).toEqual({ n: 121 });
    const third = (await start()).getWorkflow("counting");
    expect((await third.getWorkflowRunById(run.runId))?.status).toBe("success");
    expect((await third.listWorkflowRuns({ status: "suspended" })).total).toBe(0);
    await third.deleteWorkflowRunById(run.runId);
    expect(await third.getWorkflowRunById(run.runId)).toBeNull();
  });

  it("R-AGT-95 Mastra memory: an agent in another process sees what was said, and only in its thread", async () => {
    await using stores = await openStores(engine, via);
    const prompts: string[] = [];
    const start = (storage: PinakesStore) => {
      const spy = (call: { prompt: unknown }) => void prompts.push(JSON.stringify(call.prompt));
      const model = createMockModel({
        mockText: "Tea it is.",
        version: "v2",
        spyGenerate: spy,
        spyStream: spy,
      }) as never;
      const memory = new MockMemory({ storage: storage as never });
      const agent = new Agent({ id: "helper", name: "helper", instructions: "Help.", model, memory });
      return new Mastra({ storage, agents: { agent }, logger: false }).getAgent("agent");
    };
    const memory = { thread: "t1", resource: "ada" };
    await start(await stores.another()).generate("I like tea.", { memory });
    const { text } = await start(await stores.another()).generate("What do I like?", { memory });
    await start(await stores.another()).generate("And I?", { memory: { thread: "t2", resource: "bob" } });
    expect(text).toBe("Tea it is.");
    expect(prompts.map((prompt) => prompt.includes("I like tea."))).toEqual([true, true, false]);
    const { messages, total } = await stores.ours.memory.listMessages({ threadId: "t1", resourceId: "ada" });
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
    expect(total).toBe(4);
    expect(
      (await stores.ours.memory.listThreads({ filter: { resourceId: "ada" } })).threads.map(({ id }) => id),
    ).toEqual(["t1"]);
  });
});
