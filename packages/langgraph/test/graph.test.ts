/** Real graphs: stopped in one process and finished in another, forked, looked at in all their states. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import { Annotation, Command, END, interrupt, MessagesAnnotation, Send, START, StateGraph } from "@langchain/langgraph";
import { createClient } from "@pinakes/client";
import { openWorld } from "../../client/test/support/worlds.ts";
import { PinakesSaver } from "../src/index.ts";
import { forAllTests } from "../../pinakes/test/support/for-tests.ts";

const root = join(import.meta.dirname, "..");

it("R-AGT-94 the example: a graph that waits for a person in one process goes on in the next", async () => {
  const dir = await mkdtemp(join(tmpdir(), "pinakes-langgraph-"));
  const run = async (): Promise<string[]> => {
    const { stdout } = await promisify(execFile)(process.execPath, [join(root, "examples/approval.ts")], {
      env: { ...process.env, PINAKES_DATA: dir },
    });
    return stdout.trim().split("\n");
  };
  try {
    expect(await run()).toEqual(["waits for an answer"]);
    expect(await run()).toEqual(["May I order 12 chairs? Yes.", "approved: true; stored: 12 chairs"]);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});

it("what the README shows is in the example, word for word", async () => {
  const [readme, example] = await Promise.all(
    ["README.md", "examples/approval.ts"].map((name) => readFile(join(root, name), "utf8")),
  );
  const [, shown] = /```ts\n([^]*?)```/.exec(readme as string) as RegExpExecArray;
  const lines = (example as string).split("\n").map((line) => line.trim());
  for (const line of (shown as string).split("\n")) if (line.trim() !== "") expect(lines).toContain(line.trim());
});

describe.each([
  ["sqlite", "embedded"],
  ["sqlite", "http"],
] as const)("graphs on %s, %s", (engine, via) => {
  const world = forAllTests(() => openWorld(engine, via));
  /** Knows nothing of what others did. */
  const newSaver = async (): Promise<PinakesSaver> => new PinakesSaver(createClient(await world.api()));

  it("R-AGT-94 tasks side by side, one of them interrupted: the others are not run again after the resume", async () => {
    const runs: string[] = [];
    const State = Annotation.Root({
      names: Annotation<string[]>,
      done: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
    });
    const build = async () =>
      new StateGraph(State)
        .addNode("greet", (input: { name: string }) => {
          runs.push(input.name);
          const word = input.name === "Ada" ? interrupt<string, string>("how?") : "Hello";
          return { done: [`${word}, ${input.name}`] };
        })
        .addConditionalEdges(START, ({ names }) => names.map((name) => new Send("greet", { name })))
        .addEdge("greet", END)
        .compile({ checkpointer: await newSaver() });
    const config = { configurable: { thread_id: "parallel" } };
    await (await build()).invoke({ names: ["Ada", "Bob", "Cid"] }, config);
    expect(runs.toSorted()).toEqual(["Ada", "Bob", "Cid"]);
    const { done } = await (await build()).invoke(new Command({ resume: "Welcome" }), config);
    expect(done.toSorted()).toEqual(["Hello, Bob", "Hello, Cid", "Welcome, Ada"]);
    expect(runs.toSorted()).toEqual(["Ada", "Ada", "Bob", "Cid"]);
  });

  it("R-AGT-94 the history is whole, and a fork of an earlier state goes its own way", async () => {
    const build = async () =>
      new StateGraph(MessagesAnnotation)
        .addNode("answer", ({ messages }) => ({
          messages: [
            new AIMessage({
              content: `${messages.length}: ${String(messages.at(-1)?.content)}`.padEnd(600, "."),
              id: `a${messages.length}`,
            }),
          ],
        }))
        .addEdge(START, "answer")
        .addEdge("answer", END)
        .compile({ checkpointer: await newSaver() });
    const config: RunnableConfig = { configurable: { thread_id: "history" } };
    const say = async (text: string, at: RunnableConfig = config): Promise<(string | undefined)[]> => {
      const { messages } = await (
        await build()
      ).invoke({ messages: [new HumanMessage({ content: text, id: `h-${text}` })] }, at);
      return messages.map(({ id }) => id);
    };
    await say("one");
    await say("two");
    expect(await say("three")).toEqual(["h-one", "a1", "h-two", "a3", "h-three", "a5"]);
    const history = await Array.fromAsync((await build()).getStateHistory(config));
    expect(history).toHaveLength(9);
    expect(history.map(({ values }) => (values as { messages?: unknown[] }).messages?.length ?? 0)).toEqual([
      6, 5, 4, 4, 3, 2, 2, 1, 0,
    ]);
    const afterOne = history.find(
      ({ values, next }) => next.length === 0 && (values as { messages: unknown[] }).messages.length === 2,
    );
    expect(await say("other", afterOne?.config)).toEqual(["h-one", "a1", "h-other", "a3"]);
    // A state that is changed by hand, from an earlier one.
    const graph = await build();
    const changed = await graph.updateState(afterOne?.config as RunnableConfig, {
      messages: [new HumanMessage({ content: "by hand", id: "h-hand" })],
    });
    const state = await (await build()).getState(changed);
    expect((state.values as { messages: { id: string }[] }).messages.map(({ id }) => id)).toEqual([
      "h-one",
      "a1",
      "h-hand",
    ]);
    const before = await (await build()).getState(history[0]?.config as RunnableConfig);
    expect((before.values as { messages: unknown[] }).messages).toHaveLength(6);
    await (await newSaver()).deleteThread("history");
    expect((await (await build()).getState(config)).values).toEqual({});
  });

  it("R-AGT-94 a copied checkpoint has the values of the one it was copied from", async () => {
    const State = Annotation.Root({
      a: Annotation<number>,
      b: Annotation<string[]>({ reducer: (x, y) => [...x, ...y], default: () => [] }),
    });
    const build = async () =>
      new StateGraph(State)
        .addNode("one", () => ({ a: 1, b: ["x".repeat(700)] }))
        .addNode("two", () => ({ a: 2, b: ["y"] }))
        .addEdge(START, "one")
        .addEdge("one", "two")
        .addEdge("two", END)
        .compile({ checkpointer: await newSaver() });
    const config = { configurable: { thread_id: "copied" } };
    await (await build()).invoke({ a: 0 }, config);
    const history = await Array.fromAsync((await build()).getStateHistory(config));
    const between = history.find(({ next }) => next[0] === "two");
    // "__copy__" puts the checkpoint again beside itself, without saying which channels changed.
    const copied = await (await build()).updateState(between?.config as RunnableConfig, null, "__copy__");
    expect((await (await build()).getState(copied)).values).toEqual(between?.values);
    expect((await (await build()).invoke(null, copied)).a).toBe(2);
  });
});
