/** One turn of a chat, with a search of documents by a tool, stored and observed: `node examples/chat-with-telemetry.ts`. */
import { createChatStore, pinakesSearch, pinakesTelemetry } from "@pinakes/ai-sdk";
import {
  convertToModelMessages,
  generateText,
  isStepCount,
  jsonSchema,
  registerTelemetry,
  tool,
  type UIMessage,
} from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { openEmbedded } from "pinakes";

await using client = await openEmbedded({ dir: process.argv[2] ?? "./data/ai-sdk", workspace: "acme" });
const telemetry = pinakesTelemetry(client.api);
registerTelemetry(telemetry);
const chats = createChatStore(client.api);
await client.collections.create({ repository: "me", collection_id: "guides", name: "Guides" });
const guide = { name: "rome.md", body: "# Clothes\n\nIn Rome a light jacket is enough from May on." };
await client.documents.upload("me/guides", guide, { wait: true });

const usage = {
  inputTokens: { total: 12, noCache: 12, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 8, text: 8, reasoning: undefined },
};
const answer = { finishReason: { unified: "stop" as const, raw: undefined }, usage, warnings: [] };
const call = { type: "tool-call" as const, toolCallId: "c1", toolName: "weather", input: '{"city":"Rome"}' };
const look = { type: "tool-call" as const, toolCallId: "c2", toolName: "search", input: '{"query":"clothes in Rome"}' };
const doGenerate = [
  { ...answer, content: [call, look] },
  { ...answer, content: [{ type: "text" as const, text: "20 degrees: a light jacket is enough [rome.md]." }] },
];
const model = new MockLanguageModelV4({ modelId: "scripted", doGenerate }); // Yours: openai("…").
const inputSchema = jsonSchema<{ city: string }>({
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
});
const tools = {
  weather: tool({ inputSchema, execute: async ({ city }) => ({ city, degrees: 20 }) }),
  search: pinakesSearch(client, { in: "me/guides" }),
};

const chatId = await chats.createChat();
const question: UIMessage = { id: "u1", role: "user", parts: [{ type: "text", text: "What do I wear in Rome?" }] };
const messages = [...(await chats.loadChat(chatId)), question];
const { text, steps } = await generateText({
  model,
  tools,
  stopWhen: isStepCount(5),
  messages: await convertToModelMessages(messages),
  runtimeContext: { session_id: chatId },
  telemetry: { functionId: "weather-agent", includeRuntimeContext: { session_id: true } },
});
await chats.saveChat({
  chatId,
  messages: [...messages, { id: "a1", role: "assistant", parts: [{ type: "text", text }] }],
});

for (const result of steps[0]?.toolResults ?? [])
  if (!result.dynamic && result.toolName === "search")
    for (const { filename, quote } of result.output.results) console.log(filename, JSON.stringify(quote));

await telemetry.flush();
for (const { role, parts } of await chats.loadChat(chatId))
  console.log(`${role}: ${parts[0]?.type === "text" ? parts[0].text : ""}`);
for await (const { tool_name, status } of client.tools.list({ session_id: chatId }))
  console.log(`tool ${tool_name}: ${status}`);
const { items } = await client.metrics.aggregate({
  aggregates: ["sum", "count"],
  filter: { agent_id: "weather-agent", metric_type: "token_usage" },
});
console.log(`${items[0]?.values.count} model calls, ${items[0]?.values.sum} tokens`);
