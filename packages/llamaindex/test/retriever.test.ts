/** The retriever under LlamaIndex's own query engine, with its mock of a model. */
import { MockLLM } from "@llamaindex/core/llms/mock";
import type { LLMCompletionParamsNonStreaming } from "@llamaindex/core/llms";
import { RetrieverQueryEngine } from "@llamaindex/core/query-engine";
import { getResponseSynthesizer } from "@llamaindex/core/response-synthesizers";
import { MetadataMode, TextNode, type Metadata } from "@llamaindex/core/schema";
import type { MetadataFilter } from "@llamaindex/core/vector-store";
import { NotFoundError, type CitationToVerify, type PinakesClient } from "@pinakes/client";
import { beforeAll, describe, expect, it } from "vitest";
import { openWorld } from "../../client/test/support/worlds.ts";
import { PinakesRetriever, PinakesVectorStore } from "../src/index.ts";
import { LetterEmbedding, ways } from "./support/ways.ts";
import { forAllTests } from "../../pinakes/test/support/for-tests.ts";

const cited = (metadata: Metadata) => metadata as unknown as CitationToVerify;

describe.each(ways)("the retriever on %s, %s", (engine, via) => {
  let knowledge: PinakesClient;
  const at = "me/people";
  const world = forAllTests(() => openWorld(engine, via));
  beforeAll(async () => {
    knowledge = await world.client();
    await knowledge.collections.create({ repository: "me", collection_id: "people", name: "People" });
    const upload = (name: string, body: string, metadata: Record<string, string | readonly string[]>) =>
      knowledge.documents.upload(at, { name, body, metadata }, { wait: true });
    await upload("ada.md", "# Travel\n\nAda prefers trains to planes.\n", { person: "ada", tags: ["rail"] });
    await upload("bob.md", "# Travel\n\nBob flies wherever he can.\n", { person: "bob", tags: ["air", "rail"] });
  });

  it("chunks come as nodes with their citations, which can be verified", async () => {
    const found = await new PinakesRetriever({ knowledge, in: at, limit: 1 }).retrieve("how does Ada travel?");
    expect(found).toHaveLength(1);
    const [{ node, score } = { node: undefined, score: 0 }] = found;
    expect(node).toMatchObject({
      text: expect.stringContaining("Ada prefers trains"),
      metadata: { person: "ada", filename: "ada.md", section: "Travel", version: 1, start: 0, score },
      endCharIdx: node?.metadata["end"] as number,
    });
    expect([node?.id_, node?.sourceNode?.nodeId]).toEqual([node?.metadata["chunk_id"], node?.metadata["document_id"]]);
    expect(await knowledge.verifyCitations([cited(node?.metadata ?? {})])).toMatchObject([{ result: "exact" }]);
    const shown = node?.getContent(MetadataMode.LLM) ?? "";
    expect(shown).toContain("filename: ada.md");
    for (const name of ["quote:", "chunk_id:", "score:", "start:"]) expect(shown).not.toContain(name);
    const parts = [
      { type: "text" as const, text: "how does" },
      { type: "text" as const, text: "Bob travel?" },
    ];
    const [second] = await new PinakesRetriever({ knowledge, in: at, limit: 1 }).retrieve({ query: parts });
    expect(second?.node.metadata["filename"]).toBe("bob.md");
  });

  it("LlamaIndex' query engine answers from them and names its sources", async () => {
    const prompts: string[] = [];
    class Model extends MockLLM {
      override complete = ((params: LLMCompletionParamsNonStreaming) => {
        prompts.push(JSON.stringify(params.prompt));
        return MockLLM.prototype.complete.call(this, params);
      }) as MockLLM["complete"];
    }
    const responseSynthesizer = getResponseSynthesizer("compact", {
      llm: new Model({ responseMessage: "By train [ada.md]." }),
    });
    const retriever = new PinakesRetriever({ knowledge, in: at, limit: 1 });
    const { message, sourceNodes = [] } = await new RetrieverQueryEngine(retriever, responseSynthesizer).query({
      query: "How does Ada travel?",
    });
    expect(message.content).toBe("By train [ada.md].");
    expect(prompts[0]).toContain("Ada prefers trains");
    const checks = await knowledge.verifyCitations(sourceNodes.map(({ node }) => cited(node.metadata)));
    expect(checks).toMatchObject([{ valid: true }]);
  });

  it("filters of LlamaIndex hold in searches; what they cannot mean there is an error", async () => {
    const namesOf = async (...filters: readonly MetadataFilter[]) => {
      const retriever = new PinakesRetriever({ knowledge, in: at, min_score: 0, filters: { filters: [...filters] } });
      return (await retriever.retrieve("travel")).map(({ node }) => node.metadata["filename"] as string).toSorted();
    };
    expect(await namesOf()).toEqual(["ada.md", "bob.md"]);
    expect(await namesOf({ key: "person", operator: "!=", value: "ada" })).toEqual(["bob.md"]);
    expect(await namesOf({ key: "tags", operator: "all", value: ["air", "rail"] })).toEqual(["bob.md"]);
    expect(await namesOf({ key: "filename", operator: "==", value: "ada.md" })).toEqual(["ada.md"]);
    expect(await namesOf({ key: "colour", operator: "!=", value: "red" })).toEqual([]);
    await expect(namesOf({ key: "person", operator: "contains", value: "ad" })).rejects.toThrow("is a string");
    await expect(namesOf({ key: "person", operator: "is_empty" })).rejects.toThrow("in PinakesVectorStore only");
    const retriever = new PinakesRetriever({ knowledge, in: at });
    await expect(retriever.retrieve({ query: "a", embeddings: [1] })).rejects.toThrow("embeds the question itself");
    const image = { type: "image_url" as const, image_url: { url: "https://example.org/a.png" } };
    await expect(retriever.retrieve({ query: [image] })).rejects.toThrow("not a part of type image_url");
    await expect(new PinakesRetriever({ knowledge, in: "me/none" }).retrieve("a")).rejects.toSatisfy(
      NotFoundError.isInstance,
    );
  });

  it("nodes of the vector store are found by their words, with what is their own", async () => {
    const embedModel = new LetterEmbedding();
    const store = new PinakesVectorStore({ knowledge, collection: "me/nodes", create: true, embedModel });
    await store.add(
      await embedModel([new TextNode({ id_: "n1", text: "Quokkas smile.", metadata: { kind: "animal" } })]),
    );
    const [found] = await new PinakesRetriever({ knowledge, in: "me/nodes" }).retrieve("quokkas");
    expect(found?.node).toMatchObject({
      id_: "n1",
      text: "Quokkas smile.",
      metadata: { kind: "animal", row_id: "n1" },
    });
    expect(Object.keys(found?.node.metadata ?? {}).filter((name) => name.startsWith("_"))).toEqual([]);
    expect(await knowledge.verifyCitations([cited(found?.node.metadata ?? {})])).toMatchObject([{ result: "exact" }]);
  });
});
