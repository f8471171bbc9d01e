import { threadMessagesMax, type StateApi } from "@pinakes/client";
import {
  convertToModelMessages,
  createIdGenerator,
  readUIMessageStream,
  simulateReadableStream,
  streamText,
  toUIMessageStream,
  type UIMessage,
} from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { describe, expect, it } from "vitest";
import { createChatStore } from "../src/index.ts";
import { openWorld, ways } from "./support/worlds.ts";

const say = (id: string, text = `text of ${id}`, role: UIMessage["role"] = "user"): UIMessage => ({
  id,
  role,
  parts: [{ type: "text", text }],
});
const many = (count: number, from = 0) => Array.from({ length: count }, (_, i) => say(`m${from + i}`));
const idsOf = (messages: readonly UIMessage[]) => messages.map(({ id }) => id);
const code = (name: string) => expect.objectContaining({ code: name }) as object;

describe.each(ways)("the chat store on %s, %s", (engine, via) => {
  it("R-AGT-95 AI SDK chat store: a chat is created, saved, loaded, listed and deleted", async () => {
    await using world = await openWorld(engine, via);
    const chats = createChatStore(await world.api());
    const chatId = await chats.createChat({ metadata: { title: "First" } });
    expect(await chats.loadChat(chatId)).toEqual([]);
    expect(await chats.loadChat("nobody's")).toEqual([]);
    await expect(chats.createChat({ chatId })).rejects.toEqual(code("CONFLICT"));
    const messages: UIMessage[] = [
      { ...say("m/1 ?"), metadata: { at: 5, nothing: undefined } },
      {
        id: "m2",
        role: "assistant",
        parts: [
          { type: "step-start" },
          {
            type: "tool-weather",
            toolCallId: "c1",
            state: "output-available",
            input: { city: "Rome" },
            output: [{ degrees: 20 }],
          },
          { type: "text", text: "20 degrees é😀", state: "done" },
        ],
      },
    ];
    await chats.saveChat({ chatId, messages });
    expect(await chats.loadChat(chatId)).toEqual(messages);
    expect(await createChatStore(await world.api("other")).loadChat(chatId)).toEqual([]);
    expect((await chats.deleteChat(chatId)).deleted).toBe(3);
    expect(await chats.loadChat(chatId)).toEqual([]);
    await chats.saveChat({ chatId, messages: [] });
    expect(await chats.loadChat(chatId)).toEqual([]);
  });

  it("R-AGT-95 AI SDK chat store: saving again changes nothing, also many messages at once, at the limit of a batch and one past it", async () => {
    await using world = await openWorld(engine, via);
    const api = await world.api();
    const chats = createChatStore(api);
    for (const count of [threadMessagesMax, threadMessagesMax + 1, 3 * threadMessagesMax + 1]) {
      const chatId = `of-${count}`;
      const messages = many(count);
      await Promise.all([chats.saveChat({ chatId, messages }), chats.saveChat({ chatId, messages })]);
      const before = await etags(api, chatId);
      await chats.saveChat({ chatId, messages });
      expect(await chats.loadChat(chatId)).toEqual(messages);
      expect(await etags(api, chatId)).toEqual(before);
    }
    const first = await chats.listMessages("of-61", { limit: 40 });
    const rest = await chats.listMessages("of-61", { limit: 40, cursor: first.next_cursor ?? undefined });
    expect([...first.items, ...rest.items]).toEqual(many(61));
    expect(rest.next_cursor).toBeNull();
    expect(idsOf((await chats.listMessages("of-20", { limit: 2, order: "desc" })).items)).toEqual(["m19", "m18"]);
    const large = Array.from({ length: 3 }, (_, i) => say(`large${i}`, `${i}`.repeat(900_000)));
    await chats.saveChat({ chatId: "large", messages: large });
    expect(await chats.loadChat("large")).toEqual(large);
  });

  it("R-AGT-95 AI SDK chat store: a message that was streamed on replaces its stored version, in its place", async () => {
    await using world = await openWorld(engine, via);
    const chats = createChatStore(await world.api());
    const chatId = await chats.createChat();
    await chats.saveChat({ chatId, messages: [say("u1"), say("a1", "Hel", "assistant")] });
    await chats.saveChat({ chatId, messages: [say("u1"), say("a1", "Hello", "assistant")] });
    await chats.saveChat({ chatId, messages: [say("u1"), say("a1", "Hello", "assistant"), say("u2")] });
    await chats.saveChat({ chatId, messages: [say("u1", "edited"), say("a1", "Hello!", "assistant"), say("u2")] });
    expect(await chats.loadChat(chatId)).toEqual([say("u1", "edited"), say("a1", "Hello!", "assistant"), say("u2")]);
    const versions = Array.from({ length: 5 }, (_, i) => say("u2", `version ${i}`));
    await Promise.all(versions.map((version) => chats.saveChat({ chatId, messages: [version] })));
    const after = await chats.loadChat(chatId);
    expect(idsOf(after)).toEqual(["u1", "a1", "u2"]);
    expect(versions).toContainEqual(after[2]);
  });

  it("R-AGT-95 AI SDK chat store: a regenerated answer takes the place of the old one; a stale or partial list deletes nothing", async () => {
    await using world = await openWorld(engine, via);
    const chats = createChatStore(await world.api());
    const chatId = await chats.createChat();
    await chats.saveChat({ chatId, messages: many(4) });
    await chats.saveChat({ chatId, messages: many(2) });
    await chats.saveChat({ chatId, messages: many(1, 4) });
    expect(idsOf(await chats.loadChat(chatId))).toEqual(["m0", "m1", "m2", "m3", "m4"]);
    await chats.saveChat({ chatId, messages: [...many(3), say("new")] });
    expect(idsOf(await chats.loadChat(chatId))).toEqual(["m0", "m1", "m2", "new"]);
    await chats.saveChat({ chatId, messages: [say("m1"), say("new")] });
    expect(idsOf(await chats.loadChat(chatId))).toEqual(["m0", "m1", "new"]);
  });

  it("R-AGT-95 AI SDK chat store: what would not keep the order, a doubled id and no id are refused, and nothing is stored", async () => {
    await using world = await openWorld(engine, via);
    const chats = createChatStore(await world.api());
    const chatId = await chats.createChat();
    await chats.saveChat({ chatId, messages: many(2) });
    for (const messages of [
      [say("m1"), say("m0")],
      [say("x"), say("m0")],
      [say("y"), say("y")],
      [say("m0"), say("m0")],
      [say("")],
    ]) {
      await expect(chats.saveChat({ chatId, messages })).rejects.toEqual(code("INVALID"));
    }
    expect(await chats.loadChat(chatId)).toEqual(many(2));
  });

  it("R-AGT-95 AI SDK chat store: a streamed answer is saved while it grows and when it is done", async () => {
    await using world = await openWorld(engine, via);
    const chats = createChatStore(await world.api());
    const chatId = await chats.createChat();
    const messages = [say("u1", "Hello?")];
    const result = streamText({ model: streaming("Good", " day"), messages: await convertToModelMessages(messages) });
    const stream = toUIMessageStream({
      stream: result.stream,
      originalMessages: messages,
      generateMessageId: createIdGenerator({ prefix: "msg" }),
    });
    let saves = 0;
    for await (const message of readUIMessageStream({ stream })) {
      if (message.id === "" || message.parts.length === 0) continue;
      await chats.saveChat({ chatId, messages: [...messages, message] });
      saves += 1;
    }
    const [, answer, ...more] = await chats.loadChat(chatId);
    expect(saves).toBeGreaterThan(2);
    expect(more).toEqual([]);
    expect(answer?.parts.at(-1)).toMatchObject({ type: "text", text: "Good day", state: "done" });
  });
});

async function etags(api: StateApi, chatId: string) {
  return (await api.threads.list(chatId, { limit: 1000 })).items.map(({ _etag }) => _etag);
}

function streaming(...words: readonly string[]) {
  return new MockLanguageModelV4({
    doStream: {
      stream: simulateReadableStream({
        chunks: [
          { type: "stream-start", warnings: [] },
          { type: "text-start", id: "1" },
          ...words.map((delta) => ({ type: "text-delta" as const, id: "1", delta })),
          { type: "text-end", id: "1" },
          { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage },
        ],
      }),
    },
  });
}

const usage = {
  inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 5, text: 5, reasoning: undefined },
};
