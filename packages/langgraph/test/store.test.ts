import { describe, expect, it } from "vitest";
import { InMemoryStore, type BaseStore, type Operation } from "@langchain/langgraph-checkpoint";
import { createClient } from "@pinakes/client";
import { openWorld } from "../../client/test/support/worlds.ts";
import { PinakesStore, type PinakesStoreOptions } from "../src/index.ts";
import { forAllTests } from "../../pinakes/test/support/for-tests.ts";

/** A text becomes how often each of three letters is in it. */
const embed = (texts: string[]): Promise<number[][]> =>
  Promise.resolve(texts.map((text) => ["x", "y", "z"].map((letter) => text.split(letter).length - 1)));

describe.each([
  ["memory", "embedded"],
  ["sqlite", "embedded"],
  ["sqlite", "http"],
  ["dynamodb", "embedded"],
] as const)("R-AGT-94 PinakesStore on %s, %s", (engine, via) => {
  let stores = 0;
  const world = forAllTests(() => openWorld(engine, via));
  const newStore = async (options: PinakesStoreOptions = {}): Promise<PinakesStore> =>
    new PinakesStore(createClient(await world.api()), { container: `store-${(stores += 1)}`, ...options });

  it("keeps, replaces and deletes values; the time of creation stays", async () => {
    const store = await newStore();
    expect(await store.get(["users", "u1"], "prefs")).toBeNull();
    await store.put(["users", "u1"], "prefs", { theme: "dark", nested: { list: [1, null, "ä"] } });
    const first = await store.get(["users", "u1"], "prefs");
    expect(first).toMatchObject({
      namespace: ["users", "u1"],
      key: "prefs",
      value: { theme: "dark", nested: { list: [1, null, "ä"] } },
    });
    await store.put(["users", "u1"], "prefs", { theme: "light" });
    const second = await store.get(["users", "u1"], "prefs");
    expect(second?.value).toEqual({ theme: "light" });
    expect(second?.createdAt).toEqual(first?.createdAt);
    expect(second?.updatedAt.getTime()).toBeGreaterThanOrEqual(first?.updatedAt.getTime() as number);
    await store.delete(["users", "u1"], "prefs");
    await store.delete(["users", "u1"], "prefs");
    expect(await store.get(["users", "u1"], "prefs")).toBeNull();
  });

  it("takes keys and labels of any kind, without mixing them up", async () => {
    const store = await newStore();
    const keys = ["~a", "a/b", "a?b#c", "%2e", "ключ", "k".repeat(3_000), "k".repeat(3_001), "__proto__"];
    for (const [i, key] of keys.entries()) await store.put(["odd labels/%", "x"], key, { i });
    expect(await Promise.all(keys.map(async (key) => (await store.get(["odd labels/%", "x"], key))?.value))).toEqual(
      keys.map((_, i) => ({ i })),
    );
    await store.put(["user"], "k", { of: "user" });
    await store.put(["users"], "k", { of: "users" });
    expect((await store.search(["user"])).map(({ value }) => value)).toEqual([{ of: "user" }]);
    await expect(store.put(["a.b"], "k", {})).rejects.toThrow("periods");
    await expect(store.put([], "k", {})).rejects.toThrow("empty");
  });

  it("searches under a prefix, with filters, offset and limit", async () => {
    const store = await newStore();
    const item = (i: number) => ({ n: i, kind: i % 2 === 0 ? "even" : "odd", tags: [i] });
    await store.batch(
      Array.from({ length: 60 }, (_, i) => ({
        namespace: ["docs", i < 30 ? "a" : "b"],
        key: String(i).padStart(2, "0"),
        value: item(i),
      })),
    );
    const found = async (filter: object, more: object = {}): Promise<number[]> =>
      (await store.search(["docs"], { filter, limit: 100, ...more })).map(({ value }) => value["n"] as number);
    await expect.poll(() => found({})).toHaveLength(60);
    expect(await found({}, { offset: 5, limit: 3 })).toEqual([5, 6, 7]);
    expect(await found({}, { offset: 59 })).toEqual([59]);
    expect(await found({}, { limit: 0 })).toEqual([]);
    expect((await store.search(["docs"])).length).toBe(10);
    expect(await found({ kind: "even", n: { $gte: 10, $lt: 16 } })).toEqual([10, 12, 14]);
    expect(await found({ n: { $in: [3, 5, 500] } })).toEqual([3, 5]);
    expect(await found({ n: { $nin: [3], $lte: 4 } })).toEqual([0, 1, 2, 4]);
    expect(await found({ kind: { $ne: "even" }, n: { $gt: 56 } })).toEqual([57, 59]);
    expect(await found({ tags: [7] })).toEqual([7]);
    expect(await found({ absent: { $gt: 0 } })).toEqual([]);
    await expect(found({ n: { $near: 1 } })).rejects.toThrow("$nin");
    expect((await store.search(["docs", "b"], { limit: 100 })).map(({ key }) => key)).toEqual(
      Array.from({ length: 30 }, (_, i) => String(i + 30)),
    );
    expect(await store.search(["doc"])).toEqual([]);
  });

  it("lists namespaces by prefix, suffix, wildcard and depth, in order", async () => {
    const [store, model] = [await newStore(), new InMemoryStore()];
    for (const namespace of [["a"], ["a", "b", "c"], ["a", "b", "d"], ["a", "x", "c"], ["z", "b", "c"]]) {
      for (const one of [store, model]) for (const key of ["1", "2"]) await one.put(namespace, key, {});
    }
    const questions: Parameters<BaseStore["listNamespaces"]>[0][] = [
      {},
      { prefix: ["a"] },
      { prefix: ["a", "*", "c"] },
      { suffix: ["c"] },
      { prefix: ["a"], suffix: ["c"] },
      { maxDepth: 1 },
      { maxDepth: 2, prefix: ["a"] },
      { limit: 2, offset: 1 },
      { prefix: ["nothing"] },
    ];
    await expect.poll(() => store.listNamespaces({})).toHaveLength(5);
    for (const question of questions)
      expect(await store.listNamespaces(question)).toEqual(await model.listNamespaces(question));
  });

  it("a batch reads what was there before it writes, and of several writes of one key the last counts", async () => {
    const store = await newStore();
    await store.put(["n"], "k", { at: 0 });
    const operations: Operation[] = [
      { namespace: ["n"], key: "k" },
      { namespace: ["n"], key: "k", value: { at: 1 } },
      { namespace: ["n"], key: "k", value: { at: 2 } },
      { namespacePrefix: ["n"] },
    ];
    const [got, , , all] = await store.batch(operations);
    expect([got, all]).toMatchObject([{ value: { at: 0 } }, [{ value: { at: 0 } }]]);
    expect((await store.get(["n"], "k"))?.value).toEqual({ at: 2 });
    await store.batch([
      { namespace: ["n"], key: "k", value: { at: 3 } },
      { namespace: ["n"], key: "k", value: null },
    ]);
    expect(await store.get(["n"], "k")).toBeNull();
  });

  it("ranks by meaning where it is told how to embed: the nearest first, those that are not indexed last", async () => {
    const store = await newStore({ index: { embed, fields: ["text", "parts[*].text"] } });
    await store.put(["m"], "1", { text: "x" });
    await store.put(["m"], "2", { text: "y" });
    await store.put(["m"], "3", { text: "xxy" });
    await store.put(["m"], "4", { parts: [{ text: "z" }, { text: "xy" }] });
    await store.put(["m"], "5", { text: "x" }, false);
    await store.put(["m"], "6", { note: "x", text: "y" }, ["note"]);
    const ranked = await store.search(["m"], { query: "x", limit: 10 });
    expect(ranked.map(({ key }) => key)).toEqual(["1", "6", "3", "4", "2", "5"]);
    expect(ranked[0]?.score).toBeCloseTo(1);
    expect(ranked[2]?.score).toBeCloseTo(2 / Math.sqrt(5));
    expect(ranked[5]?.score).toBeUndefined();
    expect((await store.search(["m"], { query: "x", limit: 2, offset: 1 })).map(({ key }) => key)).toEqual(["6", "3"]);
    expect((await store.search(["m"], { query: "x", filter: { text: "y" } })).map(({ key }) => key)).toEqual([
      "6",
      "2",
    ]);
    expect((await store.search(["m"])).map(({ key, score }) => [key, score])).toEqual(
      ["1", "2", "3", "4", "5", "6"].map((key) => [key, undefined]),
    );
  });

  it("another workspace sees nothing of it", async () => {
    const [mine, theirs] = await Promise.all(
      ["acme", "other"].map(async (name) => new PinakesStore(createClient(await world.api(name)))),
    );
    await mine?.put(["n"], "k", { mine: true });
    expect(await theirs?.get(["n"], "k")).toBeNull();
    expect(await theirs?.search([])).toEqual([]);
    expect(await theirs?.listNamespaces()).toEqual([]);
  });
});
