/** LlamaIndex's own nodes, splitter and embeddings over the store. */
import { SentenceSplitter } from "@llamaindex/core/node-parser";
import {
  Document,
  ImageNode,
  IndexNode,
  MetadataMode,
  NodeRelationship,
  TextNode,
  type BaseNode,
} from "@llamaindex/core/schema";
import {
  VectorStoreQueryMode,
  type MetadataFilter,
  type MetadataFilters,
  type VectorStoreQuery,
} from "@llamaindex/core/vector-store";
import { NotFoundError, type PinakesClient } from "@pinakes/client";
import { beforeAll, describe, expect, it } from "vitest";
import { openWorld } from "../../client/test/support/worlds.ts";
import { PinakesVectorStore, type PinakesQueryParams, type PinakesVectorStoreParams } from "../src/index.ts";
import { LetterEmbedding, ways } from "./support/ways.ts";
import { forAllTests } from "../../pinakes/test/support/for-tests.ts";

const embedModel = new LetterEmbedding();
const source = (nodeId: string) => ({ [NodeRelationship.SOURCE]: { nodeId, metadata: {} } });
const metadatas: readonly Record<string, unknown>[] = [
  { n: 1, kind: "a", tags: ["red", "blue"], note: "by rail" },
  { n: 2, kind: "b", tags: ["red"], note: "" },
  { n: 3, kind: "a", tags: [], note: "by air" },
  { n: 4, tags: ["green", "blue"], note: null, "odd.name/~": "x" },
];
const newNodes = () =>
  Promise.all(
    metadatas.map(async (metadata, i) => {
      const text = "xyzw"[i] as string;
      const embedding = await embedModel.getTextEmbedding(text);
      return new TextNode({
        id_: `n${i + 1}`,
        text,
        metadata,
        embedding,
        relationships: source(i < 2 ? "doc-1" : "doc-2"),
      });
    }),
  );

describe.each(ways)("the vector store on %s, %s", (engine, via) => {
  let knowledge: PinakesClient;
  let stores = 0;
  const world = forAllTests(() => openWorld(engine, via));
  beforeAll(async () => {
    knowledge = await world.client();
  });
  const newStore = (more: Partial<PinakesVectorStoreParams> = {}) =>
    new PinakesVectorStore({ knowledge, collection: `me/store-${(stores += 1)}`, create: true, embedModel, ...more });
  const filled = async () => {
    const store = newStore();
    await store.add(await newNodes());
    return store;
  };
  const query = (more: Partial<VectorStoreQuery<PinakesQueryParams>> = {}): VectorStoreQuery<PinakesQueryParams> => ({
    queryEmbedding: [4, 3, 2, 1],
    similarityTopK: 10,
    mode: VectorStoreQueryMode.DEFAULT,
    ...more,
  });
  const numbers = async (store: PinakesVectorStore, filters: MetadataFilters) =>
    ((await store.query(query({ filters }))).nodes ?? []).map(({ metadata }) => metadata["n"] as number).toSorted();

  it("nodes come back as they were, the most similar first", async () => {
    const store = newStore();
    const nodes: BaseNode[] = [
      ...(await newNodes()),
      new IndexNode({
        id_: "i1",
        indexId: "other",
        text: "xx yy é😀",
        embedding: [2, 2, 0, 0],
        startCharIdx: 3,
        endCharIdx: 12,
      }),
      new Document({ id_: "d1", text: "zzz", embedding: [0, 0, 3, 0], excludedLlmMetadataKeys: ["n"] }),
    ];
    expect(await store.add(nodes)).toEqual(["n1", "n2", "n3", "n4", "i1", "d1"]);
    const found = await store.query(query({ similarityTopK: 3 }));
    expect(found.ids).toEqual(["i1", "n1", "n2"]);
    const embedding = [4, 3, 2, 1];
    const exact = found.ids.map((id) =>
      embedModel.similarity(embedding, nodes.find(({ id_ }) => id_ === id)?.getEmbedding() ?? []),
    );
    found.similarities.forEach((similarity, i) => expect(similarity).toBeCloseTo(exact[i] as number, 4));
    const all = (await store.query(query())).nodes ?? [];
    for (const node of nodes) {
      const back = all.find(({ id_ }) => id_ === node.id_);
      expect(back).toMatchObject({ metadata: node.metadata, relationships: node.relationships });
      expect(back?.getContent(MetadataMode.NONE)).toBe(node.getContent(MetadataMode.NONE));
      expect(back?.hash).toBe(back?.generateHash());
      expect(Object.keys(back?.metadata ?? {})).toEqual(Object.keys(node.metadata));
    }
    expect(all.find(({ id_ }) => id_ === "i1")).toMatchObject({
      indexId: "other",
      type: "INDEX",
      startCharIdx: 3,
      endCharIdx: 12,
    });
    expect(all.find(({ id_ }) => id_ === "d1")).toMatchObject({ excludedLlmMetadataKeys: ["n"] });
    await store.add([new TextNode({ id_: "n1", text: "instead", embedding: [9, 0, 0, 0] })]);
    expect((await store.query(query({ similarityTopK: 1, queryEmbedding: [1, 0, 0, 0] }))).nodes?.[0]).toMatchObject({
      text: "instead",
      metadata: {},
    });
  });

  it("documents are split and embedded by LlamaIndex, stored, found, and deleted by their id", async () => {
    const store = newStore();
    const documents = ["xxx yyy zzz. ".repeat(60), "www xyw. "].map(
      (text, i) => new Document({ id_: `doc-${i}`, text, metadata: { i } }),
    );
    const split = new SentenceSplitter({ chunkSize: 60, chunkOverlap: 0 }).getNodesFromDocuments(documents);
    expect(split.length).toBeGreaterThan(2);
    await store.add(await embedModel(split));
    expect(await store.delete("doc-9")).toBeUndefined();
    await store.delete("doc-0");
    const { nodes = [] } = await store.query(query());
    expect(nodes.length).toBeGreaterThan(0);
    expect(new Set(nodes.map(({ sourceNode }) => sourceNode?.nodeId))).toEqual(new Set(["doc-1"]));
    await store.delete("doc-1");
    expect(await store.query(query())).toEqual({ nodes: [], similarities: [], ids: [] });
    await expect(store.delete("")).rejects.toThrow("refDocId");
    await expect(store.delete("doc-1", { soft: true })).rejects.toThrow('options of delete: "soft" is not supported');
  });

  it("every operator means what it means in LlamaIndex, alone and joined", async () => {
    const store = await filled();
    const rows: readonly (readonly [MetadataFilter, readonly number[]])[] = [
      [{ key: "kind", operator: "==", value: "a" }, [1, 3]],
      [{ key: "kind", operator: "!=", value: "a" }, [2]],
      [{ key: "n", operator: ">", value: 2 }, [3, 4]],
      [{ key: "n", operator: ">=", value: 2 }, [2, 3, 4]],
      [{ key: "n", operator: "<", value: 2 }, [1]],
      [{ key: "n", operator: "<=", value: 2 }, [1, 2]],
      [{ key: "n", operator: "in", value: [1, 4, 9] }, [1, 4]],
      [{ key: "kind", operator: "nin", value: ["b"] }, [1, 3]],
      [{ key: "tags", operator: "any", value: ["red", "green"] }, [1, 2, 4]],
      [{ key: "tags", operator: "all", value: ["red", "blue"] }, [1]],
      [{ key: "tags", operator: "contains", value: "blue" }, [1, 4]],
      [{ key: "note", operator: "text_match", value: "by " }, [1, 3]],
      [{ key: "note", operator: "is_empty" }, [2, 4]],
      [{ key: "tags", operator: "is_empty" }, [3]],
      [{ key: "kind", operator: "is_empty" }, [4]],
      [{ key: "n", operator: "is_empty" }, []],
      [{ key: "odd.name/~", operator: "==", value: "x" }, [4]],
    ];
    for (const [filter, expected] of rows)
      expect([filter, await numbers(store, { filters: [filter] })]).toEqual([filter, expected]);
    for (const [i, [a, first]] of rows.entries()) {
      const [b, second] = rows[(i + 5) % rows.length] as (typeof rows)[number];
      const both = first.filter((n) => second.includes(n));
      const either = [1, 2, 3, 4].filter((n) => first.includes(n) || second.includes(n));
      expect([a, b, await numbers(store, { filters: [a, b] })]).toEqual([a, b, both]);
      expect([a, b, await numbers(store, { filters: [a, b], condition: "and" })]).toEqual([a, b, both]);
      expect([a, b, await numbers(store, { filters: [a, b], condition: "or" })]).toEqual([a, b, either]);
    }
    expect(await numbers(store, { filters: [] })).toEqual([1, 2, 3, 4]);
    expect((await store.query(query({ docIds: ["doc-2", "doc-7"] }))).ids.toSorted()).toEqual(["n3", "n4"]);
    const both = query({ docIds: ["doc-2"], filters: { filters: [{ key: "kind", operator: "==", value: "a" }] } });
    expect((await store.query(both)).ids).toEqual(["n3"]);
  });

  it("what a filter cannot mean here is an error, never another answer", async () => {
    const store = await filled();
    const refused: readonly (readonly [unknown, string])[] = [
      [{ key: "n", operator: "near", value: 1 }, 'no operator "near"'],
      [{ key: "n", value: 1 }, "no operator undefined"],
      [{ key: "", operator: "==", value: 1 }, "filters[0].key"],
      [{ key: "kind", operator: "==" }, "must be a string, a number or a boolean, got undefined"],
      [{ key: "kind", operator: "in", value: "a" }, "must be a list that is not empty"],
      [{ key: "tags", operator: "all", value: [] }, "must be a list that is not empty"],
      [{ key: "note", operator: "text_match", value: 3 }, "text_match requires a string"],
      [{ key: "colour", operator: "==", value: "red" }, 'no row has a field "colour"'],
      [{ key: "n", operator: "==", value: "1" }, 'field "n" only contains numbers'],
      // Pinakes finds a part of a text; LlamaIndex' operators on lists do not.
      [{ key: "note", operator: "contains", value: "rail" }, 'the field "note" of node n1 is a string'],
      [{ key: "note", operator: "any", value: ["air", "sea"] }, 'the field "note" of node n3 is a string'],
    ];
    for (const [filter, words] of refused) {
      const asked = store.query(query({ filters: { filters: [filter as MetadataFilter] } }));
      await expect(asked, words).rejects.toThrow(words);
    }
    const none = { filters: [], condition: "xor" } as unknown as MetadataFilters;
    await expect(store.query(query({ filters: none }))).rejects.toThrow('must be "and" or "or"');
  });

  it("modes: by vector, by words, by both; others and what they lack are errors", async () => {
    const store = newStore();
    const texts = ["yes, a zebra", "xxxxxx", "x and zebra"];
    const nodes = texts.map((text, i) => new TextNode({ id_: `n${i}`, text, metadata: { i } }));
    await store.add(await embedModel(nodes));
    const sparse = query({ mode: VectorStoreQueryMode.SPARSE, queryStr: "zebra" });
    expect((await store.query(sparse)).ids.toSorted()).toEqual(["n0", "n2"]);
    const queryEmbedding = await embedModel.getTextEmbedding("zebra x");
    const hybrid = query({ mode: VectorStoreQueryMode.HYBRID, queryStr: "zebra x", queryEmbedding, similarityTopK: 1 });
    expect((await store.query(hybrid)).ids).toEqual(["n2"]);
    const best = await store.query(
      query({ queryEmbedding: [1, 0, 0, 0], customParams: { min_score: 0.99, recall: 1 } }),
    );
    expect(best.ids).toEqual(["n1"]);
    const refused: readonly (readonly [Partial<VectorStoreQuery<PinakesQueryParams>>, string])[] = [
      [{ mode: VectorStoreQueryMode.MMR, mmrThreshold: 0.5 }, "mode: mmr is not supported"],
      [{ mode: VectorStoreQueryMode.SVM }, "mode: svm is not supported"],
      [{ mode: VectorStoreQueryMode.SEMANTIC_HYBRID }, "use default, sparse or hybrid"],
      [{ mode: VectorStoreQueryMode.SPARSE }, "queryStr: is needed with mode sparse"],
      [{ mode: VectorStoreQueryMode.HYBRID }, "queryStr: is needed with mode hybrid"],
      [
        { mode: VectorStoreQueryMode.DEFAULT, queryEmbedding: undefined as unknown as number[] },
        "queryEmbedding: is needed",
      ],
      [{ mode: VectorStoreQueryMode.HYBRID, queryStr: "a", alpha: 0.3 }, "leave alpha out"],
      [{ similarityTopK: 0 }, "from 1 to 1000"],
      [{ similarityTopK: 1_001 }, "from 1 to 1000"],
      [{ queryEmbedding: [1, 0] }, "this collection's vectors have 4"],
      [{ customParams: { ef: 9 } as PinakesQueryParams }, 'customParams: "ef" is not supported'],
    ];
    for (const [more, words] of refused) await expect(store.query(query(more)), words).rejects.toThrow(words);
    await expect(store.query(query(), { timeout: 1 })).rejects.toThrow('options of query: "timeout"');
  });

  it("what cannot be stored whole is refused, and rows that others wrote are texts with their metadata", async () => {
    const store = newStore();
    const image = new ImageNode({ image: "a.png", embedding: [1, 0, 0, 0] });
    await expect(store.add([image])).rejects.toThrow("nodes[0]: has type IMAGE; only text nodes can be stored.");
    const infinite = new TextNode({ text: "x", metadata: { n: Infinity }, embedding: [1, 0, 0, 0] });
    await expect(store.add([infinite])).rejects.toThrow("nodes[0].metadata.n: JSON cannot represent Infinity");
    await expect(store.add([new TextNode({ text: "x" })])).rejects.toThrow("Embedding not set");
    expect(await store.add([])).toEqual([]);
    const collection = `me/others-${stores}`;
    await knowledge.collections.create({ repository: "me", collection_id: collection.slice(3), name: "Others" });
    await knowledge.vectors.upsert(collection, [{ id: "r", vector: [1, 0, 0, 0], text: "theirs", metadata: { n: 1 } }]);
    const { nodes } = await newStore({ collection }).query(query());
    expect(nodes).toMatchObject([{ id_: "r", text: "theirs", metadata: { n: 1 }, type: "TEXT" }]);
  });

  it("nothing has to be persisted; a collection that is missing is an error unless it may be created; workspaces are apart", async () => {
    const { repository_id } = await knowledge.repositories.create({ name: "Shared" });
    const collection = `${repository_id}/store`;
    const store = newStore({ collection });
    expect([store.storesText, store.client(), store.embedModel]).toEqual([true, knowledge, embedModel]);
    await store.add(await newNodes());
    await store.persist("./vector_store.json");
    const again = newStore({ collection, knowledge: await world.client() });
    expect((await again.query(query())).ids).toHaveLength(4);
    const missing = newStore({ create: false });
    const theirs = newStore({ collection, create: false, knowledge: await world.client("rival") });
    const nodes = await newNodes();
    for (const one of [missing, theirs])
      for (const call of [() => one.add(nodes), () => one.query(query()), () => one.delete("doc-1")])
        await expect(call()).rejects.toSatisfy(NotFoundError.isInstance);
  });
});
