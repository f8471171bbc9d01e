/** Cited passages for a query engine, and nodes with vectors of one's own: `node examples/cited-answers.ts`. */
import { BaseEmbedding } from "@llamaindex/core/embeddings";
import { MockLLM } from "@llamaindex/core/llms/mock";
import { RetrieverQueryEngine } from "@llamaindex/core/query-engine";
import { getResponseSynthesizer } from "@llamaindex/core/response-synthesizers";
import { TextNode } from "@llamaindex/core/schema";
import { VectorStoreQueryMode } from "@llamaindex/core/vector-store";
import { PinakesRetriever, PinakesVectorStore } from "@pinakes/llamaindex";
import { openEmbedded } from "pinakes";

// Or connect({ url, key }) of @pinakes/client: the rest is the same.
await using client = await openEmbedded({ dir: process.argv[2] ?? "./data/llamaindex", workspace: "acme" });
await client.collections.create({ repository: "me", collection_id: "guides", name: "Guides" });
const guide = { name: "ada.md", body: "# Travel\n\nAda prefers trains to planes." };
await client.documents.upload("me/guides", guide, { wait: true });

const retriever = new PinakesRetriever({ knowledge: client, in: "me/guides", limit: 3 });
const llm = new MockLLM({ responseMessage: "By train." }); // Yours: openai({ model: "…" }), …
const engine = new RetrieverQueryEngine(retriever, getResponseSynthesizer("compact", { llm }));
const { message, sourceNodes = [] } = await engine.query({ query: "How does Ada travel?" });
console.log(message.content);
for (const { node } of sourceNodes) console.log(node.metadata.filename, node.metadata.section, node.metadata.quote);

/** Yours: OpenAIEmbedding, … This one counts letters. */
class Letters extends BaseEmbedding {
  readonly #letters: string;
  constructor(letters: string) {
    super();
    this.#letters = letters;
  }
  override getTextEmbedding = async (text: string) =>
    Array.from(this.#letters, (letter) => text.split(letter).length - 1);
}
const embedModel = new Letters("aeiourst");
const store = new PinakesVectorStore({ knowledge: client, collection: "me/nodes", create: true, embedModel });
const nodes = [
  new TextNode({ text: "trains", metadata: { year: 2025 } }),
  new TextNode({ text: "stations", metadata: { year: 2026 } }),
];
await store.add(await embedModel(nodes));
const found = await store.query({
  queryEmbedding: await embedModel.getTextEmbedding("a station"),
  similarityTopK: 1,
  mode: VectorStoreQueryMode.DEFAULT,
  filters: { filters: [{ key: "year", operator: ">=", value: 2026 }] },
});
for (const node of found.nodes ?? []) console.log(node.metadata, found.similarities[0]?.toFixed(2));
