/** A conversation about documents that goes on after the process has ended: `node examples/lasting-session.ts`. */
import { Agent, run, setTracingDisabled } from "@openai/agents-core";
import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents-core/testing";
import { pinakesSearch, PinakesSession } from "@pinakes/openai-agents";
import { openEmbedded } from "pinakes";

setTracingDisabled(true);
await using client = await openEmbedded({ dir: process.argv[2] ?? "./data/openai-agents", workspace: "acme" });
await client.collections.create({ repository: "me", collection_id: "guides", name: "Guides" });
const guide = { name: "trains.md", body: "# Trains\n\nThe night train to Rome leaves at nine." };
await client.documents.upload("me/guides", guide, { wait: true });

const model = new ScriptedModel([
  [functionCall("search_knowledge", { query: "night train to Rome" }, { callId: "c1" })],
  [assistantMessage("At nine, Ada [trains.md].")],
  [assistantMessage("You are Ada.")],
]); // Yours: "gpt-…"
const tools = [pinakesSearch(client, { in: "me/guides" })];
const agent = new Agent({ name: "Assistant", instructions: "Be brief.", model, tools });

const session = new PinakesSession({ api: client.api });
await run(agent, "I am Ada. When does the night train leave?", { session });

// Another request, another process: the id is all it needs.
const later = new PinakesSession({ api: client.api, sessionId: await session.getSessionId() });
const { finalOutput } = await run(agent, "Who am I?", { session: later });
console.log(finalOutput);
for (const item of await later.getItems()) console.log("role" in item ? item.role : item.type);
console.log(`the model saw ${model.lastCall?.request.input.length} items`);
