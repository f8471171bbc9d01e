/** The SDK's own runner, with its scripted model: what it does with a session, nobody else does. */
import { Agent, MemorySession, Runner, RunState, tool, type Session } from "@openai/agents-core";
import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents-core/testing";
import { describe, expect, it } from "vitest";
import { openSessions, ways } from "./support/sessions.ts";

const runner = new Runner({ tracingDisabled: true });

/** Asks for a tool that needs approval; after that it answers. */
function makeAgent() {
  const model = new ScriptedModel([
    [functionCall("pay", { euros: 5 }, { callId: "c1" })],
    [assistantMessage("Paid.", { id: "msg_1" })],
    [assistantMessage("Five euros.", { id: "msg_2" })],
  ]);
  const pay = tool({
    name: "pay",
    description: "Pays",
    parameters: {
      type: "object",
      properties: { euros: { type: "number" } },
      required: ["euros"],
      additionalProperties: false,
    },
    needsApproval: async () => true,
    execute: async (input) => `paid ${JSON.stringify(input)}`,
  });
  return { model, agent: new Agent({ name: "Cashier", model, tools: [pay] }) };
}

/** A run that stops for approval, is stored, and goes on from the stored state, as it would in another process. */
async function converse(session: () => Session) {
  const { agent, model } = makeAgent();
  const first = await runner.run(agent, "Pay five euros.", { session: session() });
  expect(first.interruptions.length).toBe(1);
  const state = await RunState.fromString(agent, first.state.toString());
  for (const interruption of state.getInterruptions()) state.approve(interruption);
  const second = await runner.run(agent, state, { session: session() });
  const third = await runner.run(agent, "How much was it?", { session: session() });
  model.assertComplete();
  return { outputs: [second.finalOutput, third.finalOutput], seen: model.lastCall?.request.input };
}

describe.each(ways)("the SDK's runner on %s, %s", (engine, via) => {
  it("R-AGT-95 OpenAI Agents Session: a run with tools, an approval and a resumed state leaves the history that the SDK's own session has", async () => {
    await using sessions = await openSessions(engine, via);
    const memory = new MemorySession();
    const [ours, theirs] = [await converse(() => sessions.session()), await converse(() => memory)];
    expect(ours).toEqual(theirs);
    expect(ours.outputs).toEqual(["Paid.", "Five euros."]);
    const items = await sessions.session().getItems();
    expect(items).toEqual(JSON.parse(JSON.stringify(await memory.getItems())));
    expect(items.map((item) => item.type ?? "message")).toEqual([
      "message",
      "function_call",
      "function_call_result",
      "message",
      "message",
      "message",
    ]);
  });
});
