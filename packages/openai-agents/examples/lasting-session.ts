/** A conversation that goes on after the process has ended: `node examples/lasting-session.ts`. */
import { Agent, run, setTracingDisabled } from "@openai/agents-core";
import { assistantMessage, ScriptedModel } from "@openai/agents-core/testing";
import { PinakesSession } from "@pinakes/openai-agents";
import { openEmbedded } from "pinakes";

setTracingDisabled(true);
await using client = await openEmbedded({ dir: process.argv[2] ?? "./data", workspace: "acme" });
const model = new ScriptedModel([[assistantMessage("Nice to meet you, Ada.")], [assistantMessage("You are Ada.")]]);
const agent = new Agent({ name: "Assistant", instructions: "Be brief.", model });

const session = new PinakesSession({ api: client.api });
await run(agent, "My name is Ada.", { session });

// Another request, another process: the id is all it needs.
const later = new PinakesSession({ api: client.api, sessionId: await session.getSessionId() });
const { finalOutput } = await run(agent, "Who am I?", { session: later });
console.log(finalOutput);
for (const item of await later.getItems()) console.log("role" in item ? item.role : item.type);
console.log(`the model saw ${model.lastCall?.request.input.length} items`);
