/** How much a conversation takes in the store. LangGraph's own savers store every message again in every checkpoint after it. */
import { describe, expect, it } from "vitest";
import { AIMessage, HumanMessage, type BaseMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint";
import { createClient, type StateClient } from "@pinakes/client";
import { openWorld } from "../../client/test/support/worlds.ts";
import { PinakesSaver } from "../src/index.ts";
import { forAllTests } from "../../pinakes/test/support/for-tests.ts";

const turns = 200;
const messageChars = 1_000;

/** No two alike, and none of them like a part of another. */
function said(turn: number): string {
  let text = `Turn ${turn}.`;
  for (let word = 1; text.length < messageChars; word += 1) text += ` ${((turn + 1) * word * 7_919).toString(36)}`;
  return text;
}

async function storedBytes(client: StateClient, threadId: string): Promise<number> {
  let bytes = 0;
  const items = client
    .container("langgraph-checkpoints")
    .query<object>({ equals: { thread_id: threadId }, limit: 1_000 });
  for await (const item of items) bytes += Buffer.byteLength(JSON.stringify(item));
  return bytes;
}

/** By a saver that has not seen the thread before. */
async function finalState(client: StateClient, threadId: string): Promise<{ bytes: number; messages: BaseMessage[] }> {
  const tuple = await new PinakesSaver(client).getTuple({ configurable: { thread_id: threadId } });
  const values = tuple?.checkpoint.channel_values;
  return { bytes: Buffer.byteLength(JSON.stringify(values)), messages: values?.["messages"] as BaseMessage[] };
}

describe("the growth of a thread", () => {
  const world = forAllTests(() => openWorld("memory", "embedded"));
  const client = forAllTests(async () => createClient(await world.api()));

  it("R-AGT-99 200 turns of 1 KB, a checkpoint each: less than three times the final state, and twice as much for twice as many", async () => {
    const saver = new PinakesSaver(client);
    let config: RunnableConfig = { configurable: { thread_id: "put", checkpoint_ns: "" } };
    const messages: BaseMessage[] = [];
    let half = 0;
    for (let turn = 1; turn <= turns; turn += 1) {
      messages.push(new HumanMessage({ content: said(turn), id: `m${turn}` }));
      const checkpoint = {
        ...emptyCheckpoint(),
        id: uuid6(turn),
        channel_values: { messages: [...messages] },
        channel_versions: { messages: turn },
      };
      config = await saver.put(config, checkpoint, { source: "loop", step: turn, parents: {} }, { messages: turn });
      if (turn === turns / 2) half = await storedBytes(client, "put");
    }
    const [stored, final] = [await storedBytes(client, "put"), await finalState(client, "put")];
    expect(final.messages.map(({ content }) => content)).toEqual(messages.map(({ content }) => content));
    expect(final.bytes).toBeGreaterThan(turns * messageChars);
    expect(stored).toBeLessThan(3 * final.bytes);
    expect(stored / half).toBeLessThan(2.2);
    // Every checkpoint is still whole.
    const old = await new PinakesSaver(client).getTuple({
      configurable: { thread_id: "put", checkpoint_id: await nthCheckpoint(saver, "put", 150) },
    });
    expect(old?.checkpoint.channel_values["messages"]).toHaveLength(50);
  });

  it("R-AGT-99 the same in a running graph, with its inputs and the writes of its tasks", async () => {
    const talk = new StateGraph(MessagesAnnotation)
      .addNode("agent", ({ messages }) => ({ messages: [new AIMessage(said(10_000 + messages.length))] }))
      .addEdge(START, "agent")
      .addEdge("agent", END);
    const graph = talk.compile({ checkpointer: new PinakesSaver(client) });
    for (let turn = 0; turn < turns / 2; turn += 1)
      await graph.invoke({ messages: [new HumanMessage(said(turn))] }, { configurable: { thread_id: "graph" } });
    const final = await finalState(client, "graph");
    expect(final.messages).toHaveLength(turns);
    expect(await storedBytes(client, "graph")).toBeLessThan(3 * final.bytes);
  });

  it("a change in the middle stores what follows it anew, without its long texts; forks share their beginning", async () => {
    const saver = new PinakesSaver(client);
    const start: RunnableConfig = { configurable: { thread_id: "fork", checkpoint_ns: "" } };
    const list = (from: number, count: number): BaseMessage[] =>
      Array.from({ length: count }, (_, i) => new HumanMessage({ content: said(from + i), id: `m${from + i}` }));
    const put = async (parent: RunnableConfig, version: number, messages: BaseMessage[]): Promise<RunnableConfig> => {
      const checkpoint = {
        ...emptyCheckpoint(),
        id: uuid6(version),
        channel_values: { messages },
        channel_versions: { messages: version },
      };
      return saver.put(parent, checkpoint, { source: "loop", step: version, parents: {} }, { messages: version });
    };
    const trunk = list(0, 100);
    const base = await put(start, 1, trunk);
    const bytes = [await storedBytes(client, "fork")];
    const forks = [await put(base, 2, [...trunk, ...list(200, 1)]), await put(base, 3, [...trunk, ...list(300, 1)])];
    bytes.push(await storedBytes(client, "fork"));
    const edited = await put(base, 4, trunk.with(50, new HumanMessage({ content: said(999), id: "m50" })));
    bytes.push(await storedBytes(client, "fork"));
    expect((bytes[1] as number) - (bytes[0] as number)).toBeLessThan(6_000);
    expect((bytes[2] as number) - (bytes[1] as number)).toBeLessThan(20_000);
    const ends = await Promise.all(
      [...forks, edited].map(
        async (config) =>
          (await new PinakesSaver(client).getTuple(config))?.checkpoint.channel_values["messages"] as BaseMessage[],
      ),
    );
    const contents = ends.map((messages) => messages.map(({ id }) => id));
    expect(contents).toEqual([
      [...trunk.map(({ id }) => id), "m200"],
      [...trunk.map(({ id }) => id), "m300"],
      trunk.map(({ id }) => id),
    ]);
    expect(ends[2]?.[50]?.content).toBe(said(999));
  });
});

async function nthCheckpoint(saver: PinakesSaver, threadId: string, n: number): Promise<string> {
  let i = 0;
  for await (const { checkpoint } of saver.list({ configurable: { thread_id: threadId, checkpoint_ns: "" } })) {
    if (i === n) return checkpoint.id;
    i += 1;
  }
  throw new Error(`no checkpoint ${n}`);
}
