/** The history under LangChain's own runner, beside its history in memory, which is the model of what comes back. */
import { InMemoryChatMessageHistory } from "@langchain/core/chat_history";
import {
  AIMessage,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
  type AIMessageFields,
  type BaseMessage,
} from "@langchain/core/messages";
import { ChatPromptTemplate, MessagesPlaceholder } from "@langchain/core/prompts";
import { RunnableWithMessageHistory } from "@langchain/core/runnables";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { describe, expect, it } from "vitest";
import { openWorld } from "../../client/test/support/worlds.ts";
import { PinakesChatHistory } from "../src/index.ts";
import { ways } from "./support/ways.ts";
import { forAllTests } from "../../pinakes/test/support/for-tests.ts";

const dicts = (messages: readonly BaseMessage[]) =>
  JSON.parse(JSON.stringify(messages.map((one) => one.toDict()))) as unknown;

describe.each(ways)("the chat history on %s, %s", (engine, via) => {
  const world = forAllTests(() => openWorld(engine, via));
  const api = forAllTests(() => world.api());

  it("messages of every kind come back in order and as they were, in another process too", async () => {
    const messages = [
      new SystemMessage("Be brief."),
      new HumanMessage({
        id: "h1",
        name: "ada",
        content: [
          { type: "text", text: "What is on this picture? é😀" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
        ],
        additional_kwargs: { channel: "web" },
      }),
      new AIMessage({
        id: "a1",
        content: "",
        tool_calls: [{ id: "c1", name: "look", args: { deep: [{ at: 1.5 }] }, type: "tool_call" }],
        invalid_tool_calls: [{ id: "c2", name: "look", args: "{", error: "no JSON", type: "invalid_tool_call" }],
        usage_metadata: { input_tokens: 7, output_tokens: 3, total_tokens: 10 },
        response_metadata: { model: "m" },
      } as unknown as AIMessageFields),
      new ToolMessage({ tool_call_id: "c1", content: "A quokka.", artifact: { pixels: [1, 2] }, status: "success" }),
      new AIMessage("A quokka."),
    ];
    const history = new PinakesChatHistory({ api, sessionId: "kinds" });
    const model = new InMemoryChatMessageHistory();
    for (const one of [history, model]) {
      await one.addMessages(messages.slice(0, 2));
      for (const message of messages.slice(2)) await one.addMessage(message);
      await one.addUserMessage("Thanks.");
      await one.addAIMessage("You are welcome.");
    }
    const later = await new PinakesChatHistory({ api: await world.api(), sessionId: "kinds" }).getMessages();
    expect(dicts(later)).toEqual(dicts(await model.getMessages()));
    expect(later.map((message) => message.constructor)).toEqual(
      (await model.getMessages()).map((message) => message.constructor),
    );
    expect((later[2] as AIMessage).tool_calls).toEqual((messages[2] as AIMessage).tool_calls);
    expect(later[2]).toMatchObject({ usage_metadata: { total_tokens: 10 } });
  });

  it("many messages at once stay in order; clear removes them; sessions and workspaces are apart", async () => {
    const history = new PinakesChatHistory({ api, sessionId: "many/1 ?" });
    const texts = Array.from({ length: 245 }, (_, i) => `message ${i}`);
    await history.addMessages(texts.map((text) => new HumanMessage(text)));
    expect((await history.getMessages()).map(({ content }) => content)).toEqual(texts);
    const other = new PinakesChatHistory({ api, sessionId: "many" });
    const rival = new PinakesChatHistory({ api: await world.api("rival"), sessionId: "many/1 ?" });
    expect([await other.getMessages(), await rival.getMessages()]).toEqual([[], []]);
    await history.addMessages([]);
    await history.clear();
    await other.clear();
    expect(await history.getMessages()).toEqual([]);
    await history.addUserMessage("again");
    expect(await history.getMessages()).toHaveLength(1);
  });

  it("what else is in the thread is passed over, and a message that LangChain cannot store is refused", async () => {
    await api.threads.append("shared", { kind: "ui-message", role: "user", message: { text: "of another framework" } });
    const history = new PinakesChatHistory({ api, sessionId: "shared" });
    await history.addUserMessage("mine");
    expect((await history.getMessages()).map(({ content }) => content)).toEqual(["mine"]);
    const unreadable = [new HumanMessage("never stored"), new RemoveMessage({ id: "x" })];
    await expect(history.addMessages(unreadable)).rejects.toThrow("remove");
    expect(await history.getMessages()).toHaveLength(1);
  });

  it("LangChain's runner keeps a conversation in it, which another process goes on with", async () => {
    const prompts: string[][] = [];
    const start = () => {
      const prompt = ChatPromptTemplate.fromMessages([
        ["system", "Be brief."],
        new MessagesPlaceholder("history"),
        ["human", "{input}"],
      ]);
      const spied = prompt.pipe((value) => {
        prompts.push(value.toChatMessages().map(({ content }) => String(content)));
        return value;
      });
      return new RunnableWithMessageHistory({
        runnable: spied.pipe(new FakeListChatModel({ responses: ["Noted."] })),
        getMessageHistory: (sessionId) => new PinakesChatHistory({ api, sessionId }),
        inputMessagesKey: "input",
        historyMessagesKey: "history",
      });
    };
    const config = { configurable: { sessionId: "runner" } };
    await start().invoke({ input: "I am Ada." }, config);
    await start().invoke({ input: "Who am I?" }, config);
    await start().invoke({ input: "And I?" }, { configurable: { sessionId: "other runner" } });
    expect(prompts).toEqual([
      ["Be brief.", "I am Ada."],
      ["Be brief.", "I am Ada.", "Noted.", "Who am I?"],
      ["Be brief.", "And I?"],
    ]);
  });
});
