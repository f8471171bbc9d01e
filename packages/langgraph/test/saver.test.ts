/** What LangGraph's own tests do not ask: values of every kind and size, threads that are deleted under a writer, damaged connections. */
import { describe, expect, it } from "vitest";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import { emptyCheckpoint, uuid6, type CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { createClient } from "@pinakes/client";
import { openWorld } from "../../client/test/support/worlds.ts";
import { PinakesSaver } from "../src/index.ts";
import { forAllTests } from "../../pinakes/test/support/for-tests.ts";

const container = "langgraph-checkpoints";
let threads = 0;
const newThread = (): RunnableConfig => ({ configurable: { thread_id: `t${(threads += 1)}`, checkpoint_ns: "" } });
const idOf = (config: RunnableConfig): string => config.configurable?.["thread_id"] as string;

let counter = 0;
async function put(
  saver: PinakesSaver,
  config: RunnableConfig,
  values: Record<string, unknown>,
): Promise<RunnableConfig> {
  counter += 1;
  const channel_versions = Object.fromEntries(Object.keys(values).map((name) => [name, counter]));
  const checkpoint = { ...emptyCheckpoint(), id: uuid6(counter), channel_values: values, channel_versions };
  return saver.put(config, checkpoint, { source: "loop", step: counter, parents: {} }, channel_versions);
}
const valuesOf = (tuple: CheckpointTuple | undefined): Record<string, unknown> | undefined =>
  tuple?.checkpoint.channel_values;

describe.each([
  ["sqlite", "embedded"],
  ["dynamodb", "embedded"],
  ["sqlite", "http"],
] as const)("PinakesSaver on %s, %s", (engine, via) => {
  const world = forAllTests(() => openWorld(engine, via));
  const api = forAllTests(() => world.api());
  const client = forAllTests(() => createClient(api));
  const itemsOf = (config: RunnableConfig) =>
    client
      .container(container)
      .query<{ id: string }>({ equals: { thread_id: idOf(config) } })
      .all();

  it("values of every kind come back as they were, to a saver that never saw them", async () => {
    const odd = `\u00010 "quoted" \\ \0 \ud800 ${"ä€😀".repeat(300)}`;
    const values = {
      text: odd,
      list: [odd, { nested: [odd] }, undefined, null, [1, 2], "short"],
      empty: [],
      numbers: [1, 2.5, -3],
      nothing: null,
      bytes: new Uint8Array([0, 1, 255]),
      byteList: [new Uint8Array([7]), "x"],
      set: new Set(["a"]),
      map: new Map([["k", { v: 1 }]]),
      message: new HumanMessage({ content: "m".repeat(2_000), id: "h1" }),
      ["__proto__x"]: { constructor: "c" },
      "a channel/with?odd#characters:and a name that is longer than ids have room for, much longer": [{ a: 1 }],
    };
    const config = await put(new PinakesSaver(client), newThread(), values);
    expect(valuesOf(await new PinakesSaver(client).getTuple(config))).toEqual(values);
    expect(valuesOf(await new PinakesSaver(api).getTuple(config))).toEqual(values);
  });

  it("values larger than an item are stored in parts, and lists longer than a batch in several", async () => {
    const large = "😀x".repeat(700_000);
    const many = Array.from({ length: 1_500 }, (_, i) => ({ i, text: `${i} `.repeat(150) }));
    const config = await put(new PinakesSaver(client), newThread(), {
      large,
      many,
      both: [large, ...many.slice(0, 3)],
    });
    const found = valuesOf(await new PinakesSaver(client).getTuple(config));
    expect(found?.["large"] === large).toBe(true);
    expect(found?.["many"]).toEqual(many);
    expect((found as { both: unknown[] }).both[0] === large).toBe(true);
    // The large text is there once, in parts of 65,536 characters.
    const parts = (await itemsOf(config)).flatMap((item) =>
      "x" in item && (item.x as string).includes("😀") ? [(item.x as string).length] : [],
    );
    expect(parts.reduce((sum, chars) => sum + chars)).toBe(large.length);
    expect(Math.max(...parts)).toBeLessThanOrEqual(65_536);
  });

  it("a serialiser of one's own is used for every value", async () => {
    const reversed = (text: string): string => Array.from(text).toReversed().join("");
    const serde = {
      dumpsTyped: (value: unknown): Promise<[string, Uint8Array]> =>
        Promise.resolve(["reversed", Buffer.from(reversed(JSON.stringify(value)))]),
      loadsTyped: (type: string, data: Uint8Array | string): Promise<unknown> =>
        type === "reversed"
          ? Promise.resolve(JSON.parse(reversed(Buffer.from(data as Uint8Array).toString())))
          : Promise.reject(new Error(type)),
    };
    const values = { list: ["a", { b: "c".repeat(1_000) }], value: { d: 1 } };
    const config = await put(new PinakesSaver(client, { serde }), newThread(), values);
    expect(valuesOf(await new PinakesSaver(client, { serde }).getTuple(config))).toEqual(values);
    expect(JSON.stringify(await itemsOf(config))).not.toContain("cccc");
  });

  it("two savers go on with one thread, each seeing what the other added", async () => {
    const savers = [new PinakesSaver(client), new PinakesSaver(createClient(await world.api()))] as const;
    let config = newThread();
    const messages: unknown[] = [];
    for (let turn = 0; turn < 8; turn += 1) {
      const saver = savers[turn % 2] as PinakesSaver;
      expect(valuesOf(await saver.getTuple(config))?.["messages"] ?? []).toEqual(messages);
      messages.push(new AIMessage({ content: `${turn}`.repeat(800), id: `m${turn}` }));
      config = await put(saver, config, { messages: [...messages] });
    }
    for (const saver of savers)
      expect(valuesOf(await saver.getTuple({ configurable: { thread_id: idOf(config) } }))?.["messages"]).toEqual(
        messages,
      );
  });

  it("deleting a thread leaves nothing of it; who goes on without knowing begins a new one, whole", async () => {
    const [writer, other] = [new PinakesSaver(client), new PinakesSaver(client)];
    const messages = Array.from(
      { length: 40 },
      (_, i) => new HumanMessage({ content: `${i} `.repeat(400), id: `m${i}` }),
    );
    const config = await put(writer, newThread(), { messages });
    await writer.putWrites(config, [["messages", [new HumanMessage("w".repeat(900))]]], "task");
    await other.deleteThread(idOf(config));
    expect(await itemsOf(config)).toEqual([]);
    expect(await writer.getTuple(config)).toBeUndefined();
    // The writer knows its messages as stored, and they are not any more.
    const next = await put(writer, config, {
      messages: [...messages, new HumanMessage({ content: "new", id: "new" })],
    });
    expect(valuesOf(await new PinakesSaver(client).getTuple(next))?.["messages"]).toHaveLength(41);
    await other.deleteThread(idOf(config));
    await other.deleteThread(idOf(config));
    expect(await itemsOf(config)).toEqual([]);
  });

  it("a delete that stopped in the middle is finished by whoever goes on: nothing of the old thread is seen again", async () => {
    const saver = new PinakesSaver(client);
    const old = await put(saver, await put(saver, newThread(), { messages: ["old".repeat(300)] }), {
      messages: ["old", "older"],
    });
    const stopping = new Proxy(api.containers, {
      get: (target, name) =>
        name === "batch" ? () => Promise.reject(new Error("the power went")) : (Reflect.get(target, name) as unknown),
    });
    await expect(new PinakesSaver({ containers: stopping }).deleteThread(idOf(old))).rejects.toThrow("the power went");
    const next = await put(new PinakesSaver(client), old, { messages: ["new"] });
    const listed = await Array.fromAsync(new PinakesSaver(client).list({ configurable: { thread_id: idOf(old) } }));
    expect(listed.map((tuple) => [tuple.config.configurable?.["checkpoint_id"], valuesOf(tuple)])).toEqual([
      [next.configurable?.["checkpoint_id"], { messages: ["new"] }],
    ]);
    expect(JSON.stringify(await itemsOf(old))).not.toContain("old");
    // And one that stopped is finished by the next delete.
    await expect(new PinakesSaver({ containers: stopping }).deleteThread(idOf(old))).rejects.toThrow("the power went");
    await saver.deleteThread(idOf(old));
    expect(await itemsOf(old)).toEqual([]);
  });

  it("puts and deletes at once: whatever is listed in the end can be read", async () => {
    const start = newThread();
    const savers = Array.from({ length: 3 }, () => new PinakesSaver(client));
    const messages = Array.from({ length: 30 }, (_, i) => ({ i, text: `${i} `.repeat(300) }));
    await Promise.all(
      savers.map(async (saver, s) => {
        for (let i = 1; i <= 6; i += 1) {
          if (i % 3 === 0) await saver.deleteThread(idOf(start));
          else await put(saver, start, { messages: messages.slice(0, i * 4 + s) });
        }
      }),
    );
    for await (const tuple of new PinakesSaver(client).list(start)) {
      const found = valuesOf(tuple)?.["messages"] as object[];
      expect(found).toEqual(messages.slice(0, found.length));
    }
    await new PinakesSaver(client).deleteThread(idOf(start));
    expect(await itemsOf(start)).toEqual([]);
  });

  it("the first write at a place stays, special ones are replaced, and a repeated call changes nothing", async () => {
    const saver = new PinakesSaver(client);
    const config = await put(saver, newThread(), {});
    const pending = async (): Promise<unknown[]> =>
      ((await new PinakesSaver(client).getTuple(config))?.pendingWrites ?? []).map(([task, channel, value]) => [
        task,
        channel,
        value,
      ]);
    await saver.putWrites(config, [["a", 1]], "task");
    await saver.putWrites(config, [["a", 1]], "task");
    await saver.putWrites(
      config,
      [
        ["a", "other"],
        ["b", 2],
      ],
      "task",
    );
    await saver.putWrites(config, [["__interrupt__", "first"]], "task");
    await saver.putWrites(config, [["__interrupt__", "second"]], "task");
    await saver.putWrites(
      config,
      [
        ["c", 3],
        ["__error__", { message: "no" }],
      ],
      "other",
    );
    expect((await pending()).toSorted()).toEqual(
      [
        ["other", "c", 3],
        ["other", "__error__", { message: "no" }],
        ["task", "a", 1],
        ["task", "b", 2],
        ["task", "__interrupt__", "second"],
      ].toSorted(),
    );
  });

  if (via === "http")
    it("requests and answers that are lost leave no gap and nothing twice", async () => {
      let calls = 0;
      const losing: typeof fetch = async (input, init) => {
        calls += 1;
        if (calls % 5 === 0) throw new TypeError("fetch failed");
        const response = await fetch(input, init);
        if (calls % 3 !== 0) return response;
        await response.arrayBuffer();
        throw new TypeError("terminated");
      };
      const saver = new PinakesSaver(createClient(await world.api("acme", { fetch: losing, retries: 10 })));
      let config = newThread();
      const messages: unknown[] = [];
      for (let turn = 0; turn < 10; turn += 1) {
        messages.push(new AIMessage({ content: `${turn}`.repeat(800), id: `m${turn}` }));
        config = await put(saver, config, { messages: [...messages] });
        await saver.putWrites(config, [["messages", turn]], `task-${turn}`);
        const tuple = await new PinakesSaver(client).getTuple({ configurable: { thread_id: idOf(config) } });
        expect([valuesOf(tuple)?.["messages"], tuple?.pendingWrites]).toEqual([
          messages,
          [[`task-${turn}`, "messages", turn]],
        ]);
      }
      expect(await Array.fromAsync(saver.list(config))).toHaveLength(1);
      expect(await Array.fromAsync(saver.list({ configurable: { thread_id: idOf(config) } }))).toHaveLength(10);
      await saver.deleteThread(idOf(config));
      expect(await itemsOf(config)).toEqual([]);
    });

  it("another workspace sees nothing of it", async () => {
    const config = await put(new PinakesSaver(client), newThread(), { messages: ["mine"] });
    const theirs = new PinakesSaver(createClient(await world.api("other")));
    expect(await theirs.getTuple(config)).toBeUndefined();
    expect(await Array.fromAsync(theirs.list({}))).toEqual([]);
    await theirs.deleteThread(idOf(config));
    expect(valuesOf(await new PinakesSaver(client).getTuple(config))).toEqual({ messages: ["mine"] });
  });
});
