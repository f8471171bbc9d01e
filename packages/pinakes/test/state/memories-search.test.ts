/** Searches in memories: by words without a model, by meaning with the real local one; the index follows, the messages decide. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { NewMemory } from "@pinakes/client";
import { limits } from "../../src/domain/limits.ts";
import { openMemoryItems } from "../../src/drivers/memory/index.ts";
import { openModels } from "../../src/open-engines.ts";
import type { Embedder } from "../../src/ports/embedder.ts";
import { memoryLimits } from "../../src/state/memories/limits.ts";
import type { Memories } from "../../src/state/memories/memories.ts";
import { World, type Process } from "../../src/state/memories/test-world.ts";
import { failure } from "../../src/testing/item-store/fixture.ts";
import { Calls } from "../vectors/support/calls.ts";
import { forAllTests } from "../support/for-tests.ts";

let world: World;
let process: Process;
let memories: Memories;
const open = async (embedder?: Embedder): Promise<void> => {
  world = await World.open({ items: openMemoryItems, ...(embedder === undefined ? {} : { embedder }) });
  process = await world.process();
  ({ memories } = process);
};
afterEach(() => world[Symbol.asyncDispose]());

const say = (content: string, more: Partial<NewMemory> = {}, from = memories) =>
  from.append(world.caller, { agent_id: "a1", session_id: "s1", content, message_type: "user", ...more });
const find = async (query: string, more: object = {}, from = memories): Promise<string[]> =>
  (await from.search(world.caller, { query, ...more })).hits.map(({ memory }) => memory.content);

describe("searching by words", () => {
  beforeEach(() => open());

  it("finds the best first, in the workspace, the agent or the session", async () => {
    await say("The otter swims in the river.");
    await say("An otter, an otter, and one more otter!", { agent_id: "a2" });
    await say("Nothing about animals.", { session_id: "s2" });
    await say("Otter in another session.", { session_id: "s2" });
    const result = await memories.search(world.caller, { query: "otter" });
    expect([result.mode_used, result.incomplete, result.hits.length]).toEqual(["keyword", undefined, 3]);
    expect(result.hits.map(({ score }) => score)).toEqual(
      result.hits.map(({ score }) => score).toSorted((a, b) => b - a),
    );
    expect(result.hits[0]?.memory.agent_id).toBe("a2");
    expect(await find("otter", { agent_id: "a2" })).toEqual(["An otter, an otter, and one more otter!"]);
    expect(await find("otter", { agent_id: "a1", session_id: "s2" })).toEqual(["Otter in another session."]);
    expect(await find("otter", { agent_id: "nobody" })).toEqual([]);
    expect(await find("otter", { limit: 1 })).toHaveLength(1);
  });

  it("follows what is written, changed and deleted, at once and in every process", async () => {
    expect(await find("otter")).toEqual([]);
    const { id } = await say("The otter swims.");
    expect(await find("otter")).toEqual(["The otter swims."]);
    await memories.patch(world.caller, "a1", id, { content: "The badger digs." });
    const other = await world.process();
    expect([await find("otter", {}, other.memories), await find("badger", {}, other.memories)]).toEqual([
      [],
      ["The badger digs."],
    ]);
    await memories.delete(world.caller, "a1", id);
    expect(await find("badger")).toEqual([]);
    await say("Back again: the badger.", { id });
    expect(await find("badger")).toEqual(["Back again: the badger."]);
  });

  it("R-AGT-49 what has expired is not found, before and after its purge, and leaves the index then", async () => {
    await say("A short otter.", { ttl: 10 });
    await say("A long otter.");
    await say("An otter of a session.", { session_id: "unit", ttl: 10 }, memories);
    await memories.append(
      world.caller,
      { agent_id: "a1", session_id: "u2", content: "Otters together.", message_type: "user", ttl: 10 },
      { ttlUnit: "session" },
    );
    expect(await find("otter")).toHaveLength(4);
    world.clock.advance(10_000);
    expect(await find("otter")).toEqual(["A long otter."]);
    await world.purge("agent-memories");
    await process.sweep();
    expect(await find("otter")).toEqual(["A long otter."]);
    expect(await world.vectors.count(world.caller.scope, "state-memories-words")).toBe(1);
  });

  it("finds what is left when most candidates are gone", async () => {
    for (let i = 0; i < 10; i += 1)
      await memories.appendMany(
        world.caller,
        "a1",
        Array.from({ length: 20 }, () => ({
          session_id: "s1",
          content: "otter",
          message_type: "user" as const,
          ttl: 10,
        })),
      );
    await say("Much longer words about all kinds of rivers, and one otter in them.");
    expect((await find("otter")).length).toBe(memoryLimits.searchHitsDefault);
    world.clock.advance(10_000);
    expect(await find("otter")).toEqual(["Much longer words about all kinds of rivers, and one otter in them."]);
  });

  it("an index that is older than the feed is made anew from the messages, without those that went meanwhile", async () => {
    const { id } = await say("The first otter.", { ttl: -1 });
    await say("The second otter.", { ttl: -1 });
    expect(await find("otter")).toHaveLength(2);
    await memories.delete(world.caller, "a1", id);
    await say("The third otter.", { ttl: -1 });
    world.clock.advance(limits.feedRetentionMs + 1);
    await world.purge("agent-memories");
    await say("The fourth otter.", { ttl: -1 });
    expect((await find("otter")).toSorted()).toEqual(["The fourth otter.", "The second otter.", "The third otter."]);
    expect(await world.vectors.count(world.caller.scope, "state-memories-words")).toBe(3);
  });

  it("a first search on a store that is older than the feed finds everything", async () => {
    for (let i = 0; i < 30; i += 1)
      await memories.appendMany(
        world.caller,
        `a${i}`,
        Array.from({ length: 20 }, (_, k) => ({
          session_id: "s",
          content: `otter ${i}.${k}`,
          message_type: "user" as const,
          ttl: -1,
        })),
      );
    world.clock.advance(limits.feedRetentionMs + 1);
    await world.purge("agent-memories");
    expect(await find("otter", { limit: 100 })).toHaveLength(100);
    expect(await world.vectors.count(world.caller.scope, "state-memories-words")).toBe(600);
  });

  it("a search that dies anywhere does not keep the next one, a minute later, from finding all", async () => {
    for (let at = 0, died = true; died; at += 1) {
      await world[Symbol.asyncDispose]();
      await open();
      await say("The otter swims.");
      const calls = new Calls();
      const dying = await world.process(
        new Proxy(world.items, {
          get: (target, name) => {
            const value: unknown = Reflect.get(target, name, target);
            if (typeof value !== "function") return value;
            const bound = value.bind(target) as (...given: readonly unknown[]) => Promise<unknown>;
            return name === "openContainer"
              ? bound
              : (...given: readonly unknown[]) => calls.call(String(name), () => bound(...given));
          },
        }),
      );
      calls.add({ at, kind: "crash-after" });
      died = await Promise.race([
        dying.memories.search(world.caller, { query: "otter" }).then(() => false),
        calls.died.then(() => true),
      ]);
      await say("One more otter.");
      world.clock.advance(60_000);
      expect([at, (await find("otter")).length]).toEqual([at, 2]);
      if (!died) expect(at).toBeGreaterThan(6);
    }
  });

  it("what is asked must make sense; without a model there is no meaning", async () => {
    for (const query of ["", "  ", "x".repeat(memoryLimits.searchQueryCharsMax + 1), 5 as never])
      await failure(memories.search(world.caller, { query }), "INVALID");
    for (const more of [
      { limit: 0 },
      { limit: memoryLimits.searchHitsMax + 1 },
      { mode: "magic" },
      { agent_id: "" },
      { session_id: 5 },
    ])
      await failure(memories.search(world.caller, { query: "x", ...more } as never), "INVALID");
    expect(await find("x".repeat(memoryLimits.searchQueryCharsMax), { limit: memoryLimits.searchHitsMax })).toEqual([]);
    for (const mode of ["semantic", "hybrid"] as const) {
      const error = await failure(memories.search(world.caller, { query: "x", mode }), "INVALID");
      expect(error.detail).toContain("embedding model");
    }
  });
});

describe("bringing many messages into the index", () => {
  /** A model of two dimensions: what begins with a vowel, and what does not. */
  const embedder: Embedder = {
    model: { id: "vowels", provider: "test", dims: 2, metric: "cosine", tokensMax: 1_000 },
    embed: async (texts) => texts.map((text) => Float32Array.from(/^[aeiou]/i.test(text) ? [1, 0] : [0, 1])),
    tokenizer: () => Promise.reject(new Error("nobody counts here")),
    close: async () => {},
  };
  beforeEach(() => open(embedder));

  it("one search embeds so many and says that there are more; the next goes on", async () => {
    for (let i = 0; i < 60; i += 1)
      await memories.appendMany(
        world.caller,
        "a1",
        Array.from({ length: 20 }, (_, k) => ({
          session_id: `s${i}`,
          content: `${k === 7 ? "apple" : "pear"} ${i}`,
          message_type: "user" as const,
        })),
      );
    const first = await memories.search(world.caller, { query: "egg", mode: "semantic", limit: 100 });
    expect(first.incomplete).toBe(true);
    const second = await memories.search(world.caller, { query: "egg", mode: "semantic", limit: 60 });
    expect([second.incomplete, second.mode_used]).toEqual([undefined, "semantic"]);
    expect(new Set(second.hits.map(({ memory }) => memory.content))).toEqual(
      new Set(Array.from({ length: 60 }, (_, i) => `apple ${i}`)),
    );
    // Words have an index of their own, which needs no embeddings.
    expect((await memories.search(world.caller, { query: "apple", mode: "keyword", limit: 100 })).hits).toHaveLength(
      60,
    );
  });
});

describe("searching by meaning", () => {
  const models = forAllTests(() => openModels(undefined));
  beforeEach(async () => open(await models.embedders.get(models.embedders.defaultModel)));

  it("finds what is meant, not only what is said; both together by default", async () => {
    await say("The invoice was paid last Tuesday by bank transfer.");
    await say("Our cat sleeps on the sofa all day.");
    await say("The deployment failed because the disk was full.");
    expect((await find("pet animal resting", { mode: "semantic" }))[0]).toContain("cat");
    const hybrid = await memories.search(world.caller, { query: "disk full" });
    expect([hybrid.mode_used, hybrid.hits[0]?.memory.content]).toEqual([
      "hybrid",
      "The deployment failed because the disk was full.",
    ]);
    expect(await find("sofa", { mode: "keyword" })).toEqual(["Our cat sleeps on the sofa all day."]);
  });
});
