/** Documents of a loader in, cited passages out, a conversation that lasts, and vectors of one's own: `node examples/cited-answers.ts`. */
import { Document } from "@langchain/core/documents";
import { Embeddings } from "@langchain/core/embeddings";
import { ChatPromptTemplate, MessagesPlaceholder } from "@langchain/core/prompts";
import { RunnableWithMessageHistory } from "@langchain/core/runnables";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { PinakesChatHistory, PinakesRetriever, PinakesVectorStore, uploadDocuments } from "@pinakes/langchain";
import { openEmbedded } from "pinakes";

// Or connect({ url, key }) of @pinakes/client: the rest is the same.
await using client = await openEmbedded({ dir: process.argv[2] ?? "./data/langchain", workspace: "acme" });
await client.collections.create({ repository: "me", collection_id: "guides", name: "Guides" });

// A loader, or the documents that it made. Pinakes cuts them into chunks, embeds and cites them.
const documents = [
  new Document({ pageContent: "# Travel\n\nAda prefers trains to planes.", metadata: { source: "ada.md" } }),
  new Document({ pageContent: "# Food\n\nBob eats no mushrooms.", metadata: { source: "bob.md" } }),
];
await uploadDocuments(client, documents, { in: "me/guides", wait: true });

const retriever = new PinakesRetriever({ knowledge: client, in: "me/guides", limit: 1 });
const [found] = await retriever.invoke("how does Ada travel?");
console.log(found?.metadata.filename, found?.metadata.section, found?.metadata.quote);
const [check] = await client.verifyCitations(found === undefined ? [] : [found.metadata]);
console.log("the quote is", check?.result);

// A conversation: of any process, as long as the thread is kept.
const prompt = ChatPromptTemplate.fromMessages([new MessagesPlaceholder("history"), ["human", "{question}"]]);
const model = new FakeListChatModel({ responses: ["By train.", "You asked how Ada travels."] }); // Yours: ChatOpenAI, …
const chain = new RunnableWithMessageHistory({
  runnable: prompt.pipe(model),
  getMessageHistory: (sessionId) => new PinakesChatHistory({ api: client.api, sessionId }),
  inputMessagesKey: "question",
  historyMessagesKey: "history",
});
const session = { configurable: { sessionId: "chat-1" } };
await chain.invoke({ question: "How does Ada travel?" }, session);
await chain.invoke({ question: "What did I ask?" }, session);
for (const message of await new PinakesChatHistory({ api: client.api, sessionId: "chat-1" }).getMessages())
  console.log(`${message.type}: ${message.text}`);

/** Yours: OpenAIEmbeddings, … This one counts letters. */
class Letters extends Embeddings {
  override embedDocuments = async (texts: string[]) => Promise.all(texts.map((text) => this.embedQuery(text)));
  override embedQuery = async (text: string) => Array.from("aeiourst", (letter) => text.split(letter).length - 1);
}
const store = new PinakesVectorStore(new Letters({}), { knowledge: client, collection: "me/vectors", create: true });
await store.addDocuments([
  new Document({ pageContent: "trains", metadata: { year: 2025 } }),
  new Document({ pageContent: "stations", metadata: { year: 2026 } }),
]);
const [nearest] = await store.similaritySearchWithScore("a station", 1, { year: { $gte: 2026 } });
console.log(nearest?.[0].pageContent, nearest?.[1].toFixed(2));
