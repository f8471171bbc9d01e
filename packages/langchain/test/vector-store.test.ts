/** LangChain's own classes over the store: retrievers, structured queries, and its store in memory as the model of what searches answer. */
import { Document } from "@langchain/core/documents";
import { BasicTranslator, Comparison, Operation, StructuredQuery } from "@langchain/core/structured_query";
import { FakeVectorStore } from "@langchain/core/utils/testing";
import { NotFoundError, type PinakesClient } from "@pinakes/client";
import { beforeAll, describe, expect, it } from "vitest";
import { openWorld } from "../../client/test/support/worlds.ts";
import { PinakesVectorStore, type PinakesFilter, type PinakesVectorStoreConfig } from "../src/index.ts";
import { LetterEmbeddings, ways } from "./support/ways.ts";
import { forAllTests } from "../../pinakes/test/support/for-tests.ts";

const embeddings = new LetterEmbeddings();
const texts = ["x", "xxy", "xy", "yyx", "y", "yz", "z w", "zzw", "w", "xyzw"];
const documents = texts.map(
  (pageContent, i) =>
    new Document({
      id: `d${i}`,
      pageContent,
      metadata: { n: i, kind: i % 2 === 0 ? "even" : "odd", tags: [`t${i}`], at: { page: i } },
    }),
);
const texted = (found: readonly Document[]) => found.map(({ pageContent }) => pageContent);

describe.each(ways)("the vector store on %s, %s", (engine, via) => {
  let knowledge: PinakesClient;
  let stores = 0;
  const world = forAllTests(() => openWorld(engine, via));
  beforeAll(async () => {
    knowledge = await world.client();
  });
  const config = (more: Partial<PinakesVectorStoreConfig> = {}): PinakesVectorStoreConfig => ({
    knowledge,
    collection: `me/store-${(stores += 1)}`,
    create: true,
    ...more,
  });
  const filled = (more?: Partial<PinakesVectorStoreConfig>) =>
    PinakesVectorStore.fromDocuments(documents, embeddings, config(more));

  it("finds what LangChain's store in memory finds, in the same order, with the same scores", async () => {
    const [ours, theirs] = [await filled(), await FakeVectorStore.fromDocuments(documents, embeddings)];
    for (const question of ["xx", "xyy", "zw", "wwwx"]) {
      const [found, expected] = [
        await ours.similaritySearchWithScore(question, texts.length),
        await theirs.similaritySearchWithScore(question, texts.length),
      ];
      expect(found.map(([, score]) => score.toFixed(4))).toEqual(expected.map(([, score]) => score.toFixed(4)));
      const near = (list: typeof found) =>
        list.filter(([, score]) => score > 0.7).map(([{ pageContent }]) => pageContent);
      expect(near(found).toSorted()).toEqual(near(expected).toSorted());
    }
    const [best] = await ours.similaritySearch("x");
    expect(best).toEqual(documents[0]);
    expect(await ours.similaritySearch("x")).toHaveLength(4);
    const [[byVector] = []] = await ours.similaritySearchVectorWithScore([0, 0, 0, 1], 1);
    expect(byVector?.pageContent).toBe("w");
  });

  it("ids are those given, those of the documents, or new; the same id again replaces", async () => {
    const store = new PinakesVectorStore(embeddings, config());
    expect(await store.addDocuments([])).toEqual([]);
    const given = await store.addDocuments(documents.slice(0, 2), { ids: ["a", "b"] });
    const [own, made] = await store.addDocuments([documents[2] as Document, new Document({ pageContent: "w" })]);
    expect([given, own]).toEqual([["a", "b"], "d2"]);
    expect(made).toMatch(/^[0-9a-f-]{36}$/);
    await store.addVectors([[0, 0, 1, 0]], [{ pageContent: "instead", metadata: {} }], { ids: ["a"] });
    expect(await store.similaritySearch("z", 1)).toMatchObject([{ id: "a", pageContent: "instead", metadata: {} }]);
    expect(await store.similaritySearch("x", 10)).toHaveLength(4);
    await expect(store.addVectors([[1, 0, 0, 0]], [])).rejects.toThrow("Each document needs a vector");
    await expect(store.addDocuments(documents, { ids: ["a"] })).rejects.toThrow("10 documents, 10 vectors and 1 ids");
  });

  it("filters mean the same in the language of Pinakes, with dollar signs, and as a structured query", async () => {
    const store = await filled();
    const found = async (filter: PinakesFilter) =>
      (await store.similaritySearch("xyzw", 10, filter)).map(({ metadata }) => metadata["n"] as number).toSorted();
    const dialects: readonly (readonly [PinakesFilter, PinakesFilter, readonly number[]])[] = [
      [{ kind: "even" }, { kind: { $eq: "even" } }, [0, 2, 4, 6, 8]],
      [{ n: { gte: 3, lt: 6 } }, { $and: [{ n: { $gte: 3 } }, { n: { $lt: 6 } }] }, [3, 4, 5]],
      [{ or: [{ n: 1 }, { n: { gt: 8 } }] }, { $or: [{ n: 1 }, { n: { $gt: 8 } }] }, [1, 9]],
      [{ not: { n: { lte: 7 } } }, { $not: { n: { $lte: 7 } } }, [8, 9]],
      [{ n: { in: [1, 2] }, kind: { ne: "odd" } }, { n: { $in: [1, 2] }, kind: { $ne: "odd" } }, [2]],
      [{ n: { nin: [0, 1, 2, 3, 4, 5, 6, 7, 8] } }, { n: { $nin: [0, 1, 2, 3, 4, 5, 6, 7, 8] } }, [9]],
      [{ tags: { contains: "t4" } }, { tags: { $contains: "t4" } }, [4]],
      [{ "at.page": 7 }, { "at.page": { $exists: true, $eq: 7 } }, [7]],
    ];
    for (const [own, dollars, expected] of dialects)
      expect([await found(own), await found(dollars)]).toEqual([expected, expected]);

    const translator = new BasicTranslator({
      allowedOperators: ["and", "or", "not"],
      allowedComparators: ["eq", "ne", "lt", "lte", "gt", "gte"],
    });
    const either = new Operation("or", [new Comparison("lt", "n", 2), new Comparison("eq", "kind", "odd")]);
    const query = new StructuredQuery(
      "",
      new Operation("and", [either, new Operation("not", [new Comparison("gte", "n", 5)])]),
    );
    const { filter } = translator.visitStructuredQuery(query);
    expect(await found(filter as PinakesFilter)).toEqual([0, 1, 3]);
  });

  it("what is no filter here is refused, and never finds more than was meant", async () => {
    const store = await filled();
    const refused: readonly (readonly [unknown, string])[] = [
      [() => true, "functions and strings are not supported as filters"],
      ["n = 1", "functions and strings are not supported as filters"],
      [{ n: { $regex: "1" } }, 'there is no operator "$regex"'],
      [{ $nor: [{ n: 1 }] }, "there is no such operator"],
      [{ $and: { n: 1 } }, "must be a list of filters"],
      [{ kind: undefined }, "filter.kind: is undefined"],
      [{ or: [{ n: 1 }, { kind: { eq: undefined } }] }, "kind.eq: is undefined"],
      [{ n: { in: [undefined] } }, "JSON cannot represent undefined"],
      [{ n: Number.NaN }, "JSON cannot represent NaN"],
      [{ colour: "red" }, 'no row has a field "colour"'],
      [{ n: "1" }, 'field "n" only contains numbers'],
      [{ tags: ["t1"] }, "must be a string, finite number, boolean or null"],
    ];
    for (const [filter, words] of refused)
      await expect(store.similaritySearch("x", 4, filter as PinakesFilter), words).rejects.toThrow(words);
    await expect(store.similaritySearch("x", 1_001)).rejects.toThrow("from 1 to 1000");
    await expect(store.similaritySearchVectorWithScore([1, 0], 1)).rejects.toThrow("this collection's vectors have 4");
    const odd = new Document({ pageContent: "x", metadata: { when: Number.POSITIVE_INFINITY } });
    await expect(store.addDocuments([odd])).rejects.toThrow(
      "documents[0].metadata.when: JSON cannot represent Infinity",
    );
  });

  it("deletes by ids and by filter, and refuses what would delete everything", async () => {
    const store = await filled();
    await store.delete({ ids: ["d0", "never there"] });
    await store.delete({ filter: { kind: { $eq: "odd" }, n: { $lt: 8 } } });
    expect((await store.similaritySearch("xyzw", 10)).map(({ id }) => id).toSorted()).toEqual([
      "d2",
      "d4",
      "d6",
      "d8",
      "d9",
    ]);
    for (const which of [
      {},
      { ids: ["d1"], filter: { n: 1 } },
      { deleteAll: true },
      { filter: {} },
      { filter: { n: undefined } },
    ])
      await expect(store.delete(which)).rejects.toMatchObject({ code: "INVALID" });
    const empty = new PinakesVectorStore(embeddings, config());
    await expect(empty.delete({ ids: ["d1"] })).rejects.toSatisfy(NotFoundError.isInstance);
  });

  it("maximal marginal relevance leaves out what says the same again", async () => {
    const store = await PinakesVectorStore.fromTexts(
      ["xxx", "xx", "xxxxy", "xy", "y"],
      { of: "all" },
      embeddings,
      config(),
    );
    expect(texted(await store.similaritySearch("x", 3))).toEqual(expect.arrayContaining(["xxx", "xx", "xxxxy"]));
    const spread = texted(await store.maxMarginalRelevanceSearch("xxxy", { k: 2, fetchK: 5, lambda: 0.1 }));
    expect(spread).toEqual(["xxxxy", "y"]);
    const retriever = store.asRetriever({
      k: 2,
      searchType: "mmr",
      searchKwargs: { fetchK: 5, lambda: 0.1 },
      filter: { of: "all" },
    });
    expect(texted(await retriever.invoke("xxxy"))).toEqual(spread);
    expect(await store.maxMarginalRelevanceSearch("x", { k: 2, filter: { of: "none" } })).toEqual([]);
  });

  it("LangChain's retriever over it answers with k, filters and adds", async () => {
    const store = await filled();
    const retriever = store.asRetriever(2, { kind: "odd" });
    const found = await retriever.invoke("x");
    expect(found.map(({ metadata }) => metadata["kind"])).toEqual(["odd", "odd"]);
    await retriever.addDocuments([new Document({ pageContent: "xxxx", metadata: { kind: "odd", n: 11 } })]);
    expect((await retriever.invoke("x"))[0]?.pageContent).toBe("xxxx");
  });

  it("ranks by words, or by words and vectors, where it is told to", async () => {
    const { collection } = await (async () => {
      const one = config();
      await PinakesVectorStore.fromTexts(["yes, a zebra", "xxxxxx", "x and zebra"], {}, embeddings, one);
      return one;
    })();
    const by = async (mode: "keyword" | "hybrid") =>
      texted(
        await new PinakesVectorStore(embeddings, config({ collection, mode })).similaritySearch(
          "zebra x",
          1,
          undefined,
        ),
      );
    expect(await by("hybrid")).toEqual(["x and zebra"]);
    const words = new PinakesVectorStore(embeddings, config({ collection, mode: "keyword" }));
    expect(texted(await words.similaritySearch("zebra", 5)).toSorted()).toEqual(["x and zebra", "yes, a zebra"]);
  });

  it("a collection that is missing is an error unless it may be created; another workspace sees nothing of one that is there", async () => {
    const missing = new PinakesVectorStore(embeddings, config({ create: false }));
    await expect(missing.addDocuments(documents)).rejects.toSatisfy(NotFoundError.isInstance);
    await expect(missing.similaritySearch("x")).rejects.toSatisfy(NotFoundError.isInstance);
    const { repository_id } = await knowledge.repositories.create({ name: "Shared" });
    const collection = `${repository_id}/store`;
    await filled({ collection });
    const theirs = new PinakesVectorStore(
      embeddings,
      config({ collection, create: false, knowledge: await world.client("rival") }),
    );
    for (const call of [
      () => theirs.similaritySearch("x"),
      () => theirs.addDocuments(documents),
      () => theirs.delete({ ids: ["d1"] }),
    ])
      await expect(call()).rejects.toSatisfy(NotFoundError.isInstance);
  });
});
