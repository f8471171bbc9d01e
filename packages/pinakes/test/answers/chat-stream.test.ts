/** The port's `stream`, on a real server that speaks OpenAI's protocol: text in order, one end, errors with our codes, nothing left open. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { openChatModel } from "../../src/drivers/models/chat/index.ts";
import type { ChatModel, ChatPiece, ChatTextRequest } from "../../src/ports/chat-model.ts";
import { fails, startChatServer, type ChatBehaviour } from "../graph-retrieval/support/chat-server.ts";
import { breaksOff, endless, garbage, stalls, writes } from "./support/model-server.ts";
import { forAllTests } from "../support/for-tests.ts";

const key = "sk-very-secret-0123456789";
const request: ChatTextRequest = { instructions: "Answer.", text: "the secret prompt", tokensMax: 77 };
let chat: ChatModel;
const server = forAllTests(() => startChatServer());
beforeAll(async () => {
  const settings = { id: "writer", provider: "openai", model: "m", baseUrl: server.url, apiKeyEnv: "K" } as const;
  chat = await openChatModel(settings, { env: { K: key } });
});
afterAll(async () => {
  await chat.close();
});

async function read(behaviour: ChatBehaviour, more: Partial<ChatTextRequest> = {}) {
  server.behave = () => behaviour;
  const pieces: ChatPiece[] = [];
  let error: unknown;
  try {
    for await (const piece of chat.stream({ ...request, ...more })) pieces.push(piece);
  } catch (thrown) {
    error = thrown;
  }
  return { text: pieces.map((piece) => ("text" in piece ? piece.text : "")).join(""), end: pieces.at(-1), error };
}

it("gives the text in order and the end last, and the model sees instructions, text and limit", async () => {
  server.seen.length = 0;
  expect(await read(writes(["One", " two", " thrée."]))).toEqual({
    text: "One two thrée.",
    end: { end: "stop" },
    error: undefined,
  });
  const [{ body, authorization } = { body: undefined, authorization: undefined }] = server.seen;
  expect(authorization).toBe(`Bearer ${key}`);
  expect(body).toMatchObject({ model: "m", stream: true, max_tokens: 77, temperature: 0 });
  expect(body?.messages.map(({ role }) => role)).toEqual(["system", "user"]);
  expect((await read(writes("cut", "length"))).end).toEqual({ end: "length" });
  expect((await read(writes("filtered", "content_filter"))).end).toEqual({ end: "other" });
});

it("a stream that ends without its end is an error, behind the text that came", async () => {
  expect(await read(writes("half a sent", null))).toMatchObject({
    text: "half a sent",
    error: { code: "UNAVAILABLE" },
  });
  expect(await read(breaksOff("half a"))).toMatchObject({ text: "half a", error: { code: "UNAVAILABLE" } });
});

it.each([
  ["429", fails(429, "slow down"), { code: "THROTTLED", retryable: true }],
  ["500", fails(500, "out of order"), { code: "UNAVAILABLE", retryable: true }],
  ["401", fails(401, `bad key ${key}`), { code: "UNAVAILABLE", retryable: false }],
  ["400", fails(400, "too long"), { code: "INVALID" }],
  [
    "an event that reports an error",
    garbage('data: {"error":{"message":"overloaded"}}\n\n'),
    { code: "UNAVAILABLE", message: expect.stringContaining("overloaded") },
  ],
  ["events that are no JSON", garbage("data: the secret prompt {{{\n\n"), { code: "CORRUPT" }],
] as const)("%s has our code, without the key and the prompt", async (_, behaviour, expected) => {
  const { error } = await read(behaviour);
  expect(error).toMatchObject(expected);
  const told = error as Error;
  expect(`${told.message} ${String(told.stack)} ${JSON.stringify(told)}`).not.toMatch(/sk-very|secret prompt/);
});

it("an answer that is another page is an error without text", async () => {
  expect(await read(garbage("<html>login</html>", "text/html"))).toMatchObject({
    text: "",
    error: { code: "UNAVAILABLE" },
  });
});

it("a signal ends it with its reason, and the request is closed", async () => {
  const { behaviour, closed } = stalls("First");
  server.behave = () => behaviour;
  const stop = new AbortController();
  const reason = new Error("enough");
  const reading = (async () => {
    for await (const piece of chat.stream({ ...request, signal: stop.signal })) if ("text" in piece) stop.abort(reason);
  })();
  await expect(reading).rejects.toBe(reason);
  await closed;
});

it("leaving the iteration closes the request of a model that never ends", async () => {
  const { behaviour, closed } = endless("more ");
  server.behave = () => behaviour;
  for await (const piece of chat.stream(request)) if ("text" in piece) break;
  await closed;
});

it("a closed model is UNAVAILABLE, also in the middle of an answer", async () => {
  const settings = { id: "short", provider: "ollama", model: "m", baseUrl: server.url } as const;
  const own = await openChatModel(settings);
  const { behaviour, closed } = stalls("First");
  server.behave = () => behaviour;
  const reading = (async () => {
    for await (const piece of own.stream(request)) if ("text" in piece) await own.close();
  })();
  await expect(reading).rejects.toMatchObject({ code: "UNAVAILABLE", retryable: false });
  await closed;
  await expect(Array.fromAsync(own.stream(request))).rejects.toMatchObject({ code: "UNAVAILABLE" });
});
