/** A workflow that waits for a person, and an agent that remembers and searches documents: `node examples/approval-and-memory.ts`. */
import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { MockMemory } from "@mastra/core/memory";
import { createStep, createWorkflow } from "@mastra/core/workflows";
import { createMockModel, MastraLanguageModelV2Mock } from "@mastra/core/test-utils/llm-mock";
import { pinakesSearch, PinakesStore } from "@pinakes/mastra";
import { openEmbedded } from "pinakes";

await using client = await openEmbedded({ dir: process.argv[2] ?? "./data/mastra", workspace: "acme" });
await client.collections.create({ repository: "me", collection_id: "guides", name: "Guides" });
const guide = { name: "tea.md", body: "# Tea\n\nGreen tea is brewed at 80 degrees." };
await client.documents.upload("me/guides", guide, { wait: true });
const search = pinakesSearch(client, { in: "me/guides" });

const text = { type: "object" as const, properties: { text: { type: "string" as const } }, required: ["text"] };
const yes = { type: "object" as const, properties: { approved: { type: "boolean" as const } }, required: ["approved"] };
const approve = createStep({
  id: "approve",
  inputSchema: text,
  outputSchema: text,
  resumeSchema: yes,
  execute: async ({ inputData, resumeData, suspend }) => {
    const { text: order } = inputData as { text: string };
    const answer = resumeData as { approved: boolean } | undefined;
    return answer?.approved ? { text: `${order}: ordered` } : suspend({});
  },
});

/** Each call is what a new process would do: everything it knows comes from the store. */
function start() {
  const storage = new PinakesStore({ api: client.api });
  const order = createWorkflow({ id: "order", inputSchema: text, outputSchema: text }).then(approve).commit();
  // Yours: a model such as "openai/…", and Memory of @mastra/memory. (The mocks' types are narrower than what they are used for.)
  const model = createMockModel({ mockText: "Noted.", version: "v2" }) as never;
  const agent = new Agent({
    id: "helper",
    name: "helper",
    instructions: "Help.",
    model,
    memory: new MockMemory({ storage: storage as never }),
  });
  return new Mastra({ storage, workflows: { order }, agents: { agent }, logger: false });
}

const run = await start().getWorkflow("order").createRun();
console.log((await run.start({ inputData: { text: "tea" } })).status);
const resumed = await start().getWorkflow("order").createRun({ runId: run.runId });
const result = await resumed.resume({ step: "approve", resumeData: { approved: true } });
console.log(result.status, result.status === "success" ? result.result : undefined);

const memory = { thread: "t1", resource: "ada" };
await start().getAgent("agent").generate("I like tea.", { memory });
await start().getAgent("agent").generate("What do I like?", { memory });
const stored = await new PinakesStore({ api: client.api }).stores.memory?.listMessages({ threadId: "t1" });
for (const { role } of stored?.messages ?? []) console.log(role);

// A scripted model, again: it calls the tool, then says what it has read.
const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const call = { type: "tool-call" as const, toolCallId: "c1", toolName: "search", input: '{"query":"how hot is tea?"}' };
const scripted = new MastraLanguageModelV2Mock({
  doGenerate: async ({ prompt }) => {
    const [found] = prompt.flatMap(({ role, content }) => (role === "tool" ? content : []));
    return found === undefined
      ? { content: [call], finishReason: "tool-calls", usage, warnings: [] }
      : { content: [{ type: "text", text: JSON.stringify(found.output) }], finishReason: "stop", usage, warnings: [] };
  },
});
const guided = new Agent({
  id: "guide",
  name: "guide",
  instructions: "Cite.",
  model: scripted as never,
  tools: { search },
});
const { text: answer } = await guided.generate("How hot is tea?");
console.log(answer);
