/**
 * A graph that asks a person, and goes on when the answer comes: in another process, or after a restart. Run it twice:
 * npx node packages/langgraph/examples/approval.ts   # asks
 * npx node packages/langgraph/examples/approval.ts   # goes on
 */
import { Annotation, Command, END, interrupt, START, StateGraph } from "@langchain/langgraph";
import { PinakesSaver, PinakesStore } from "@pinakes/langgraph";
import { openEmbedded } from "pinakes";

// Or createStateClient({ url, apiKey }) of @pinakes/client: the rest is the same.
await using client = await openEmbedded({ dir: process.env["PINAKES_DATA"] ?? "./data/langgraph", workspace: "acme" });

const State = Annotation.Root({ order: Annotation<string>, approved: Annotation<boolean> });
const graph = new StateGraph(State)
  .addNode("check", ({ order }) => ({ approved: interrupt<string, boolean>(`May I order ${order}?`) }))
  .addNode("place", async ({ order, approved }, { store }) => {
    if (approved) await store?.put(["orders", "u1"], order, { approved });
    return {};
  })
  .addEdge(START, "check")
  .addEdge("check", "place")
  .addEdge("place", END)
  .compile({ checkpointer: new PinakesSaver(client), store: new PinakesStore(client) });

const config = { configurable: { thread_id: "order-1" } };
const { tasks } = await graph.getState(config);
const question = tasks[0]?.interrupts[0]?.value as string | undefined;
if (question === undefined) {
  await graph.invoke({ order: "12 chairs" }, config);
  console.log("waits for an answer");
} else {
  console.log(`${question} Yes.`);
  const { approved } = await graph.invoke(new Command({ resume: true }), config);
  const [stored] = await new PinakesStore(client).search(["orders"]);
  console.log(`approved: ${approved}; stored: ${stored?.key}`);
}
