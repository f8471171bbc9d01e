/** A graph that searches documents by a tool, with citations: `node examples/search-tool.ts`. */
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { pinakesSearch } from "@pinakes/langgraph";
import { openEmbedded } from "pinakes";

// Or connect({ url, key }) of @pinakes/client: the rest is the same.
await using client = await openEmbedded({ dir: process.argv[2] ?? "./data/search-tool", workspace: "acme" });
await client.collections.create({ repository: "me", collection_id: "guides", name: "Guides" });
const guide = { name: "ada.md", body: "# Travel\n\nAda prefers trains to planes." };
await client.documents.upload("me/guides", guide, { wait: true });

const tools = [pinakesSearch(client, { in: "me/guides", description: "Searches the guides of our travellers." })];

// Yours: new ChatOpenAI({ … }).bindTools(tools). This one searches first, and then says what it has read.
const model = ({ messages }: typeof MessagesAnnotation.State) => {
  const last = messages.at(-1);
  if (last?.type === "tool") return { messages: new AIMessage(`I have read: ${last.text}`) };
  const call = { id: "c1", name: "search_knowledge", args: { query: last?.text }, type: "tool_call" as const };
  return { messages: new AIMessage({ content: "", tool_calls: [call] }) };
};
const graph = new StateGraph(MessagesAnnotation)
  .addNode("model", model)
  .addNode("tools", new ToolNode(tools))
  .addEdge(START, "model")
  .addConditionalEdges("model", toolsCondition, ["tools", END])
  .addEdge("tools", "model")
  .compile();

const { messages } = await graph.invoke({ messages: [new HumanMessage("How does Ada travel?")] });
for (const message of messages) console.log(`${message.type}: ${message.text.slice(0, 60)}`);
