/** Responses and chat completions with the official client: a scripted model on a real server writes from vector stores, and without them. */
import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { readPrompt, writes } from "../answers/support/model-server.ts";
import { fails, startChatServer } from "../graph-retrieval/support/chat-server.ts";
import { useServers } from "../support/servers.ts";
import { all, openAiWorld, soon, textFile, type OpenAiWorld } from "./support/openai-world.ts";
import { forAllTests } from "../support/for-tests.ts";

const { postgres } = useServers();
const pump = "The Harwell pump starts at a pressure of 4.2 bar. Maintenance is due every 2,000 hours.";
const script = "The pump starts at 4.2 bar [1].\nIt was sold to Sweden [1].\nMaintenance is due every 2,000 hours [1].";
const answer = "The pump starts at 4.2 bar. Maintenance is due every 2,000 hours.";
const question = "How does the pump start?";

describe.each([
  ["SQLite", () => ({})],
  ["PostgreSQL", () => ({ items: postgres(), objects: "memory:" })],
])("models for OpenAI's client on %s", (_, options) => {
  let world: OpenAiWorld;
  let ann: OpenAI;
  let store: string;
  let file: string;
  const model = forAllTests(() => startChatServer());
  beforeAll(async () => {
    world = await openAiWorld({
      ...options(),
      chatModels: [{ id: "writer", provider: "ollama", model: "test-1", baseUrl: model.url }],
    });
    ann = await world.client("w1", "ann");
    store = (await ann.vectorStores.create({ name: "Manuals" })).id;
    const attributes = { machine: "pump" };
    file = (await ann.files.create({ file: textFile("pump.txt", pump), purpose: "assistants" })).id;
    await ann.vectorStores.files.createAndPoll(store, { file_id: file, attributes }, soon);
  });
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    model.seen.length = 0;
    model.behave = () => writes(script);
  });
  const tools = (more: object = {}): OpenAI.Responses.FileSearchTool[] => [
    { type: "file_search", vector_store_ids: [store], ...more },
  ];
  const citations = () => [
    {
      type: "file_citation",
      file_id: file,
      filename: "pump.txt",
      index: 27,
      quote: "The Harwell pump starts at a pressure of 4.2 bar.",
    },
    {
      type: "file_citation",
      file_id: file,
      filename: "pump.txt",
      index: answer.length,
      quote: "Maintenance is due every 2,000 hours.",
    },
  ];

  it("a response from a store: only sentences that its files support, each with its citation", async () => {
    const response = await ann.responses.create({
      model: "writer",
      input: question,
      tools: tools(),
      metadata: { run: "1" },
    });
    expect(response).toMatchObject({
      object: "response",
      status: "completed",
      model: "writer",
      error: null,
      incomplete_details: null,
      metadata: { run: "1" },
      store: true,
      tools: tools(),
      output: [
        { type: "file_search_call", status: "completed", queries: [question], results: null },
        { type: "message", role: "assistant", status: "completed" },
      ],
    });
    expect(response.output_text).toBe(answer);
    const [, message] = response.output as [unknown, OpenAI.Responses.ResponseOutputMessage];
    expect(message.content).toMatchObject([{ type: "output_text", text: answer, annotations: citations() }]);
  });

  it("include: the results of the search, in the response and when it is read again", async () => {
    const include = ["file_search_call.results" as const];
    const { id, output } = await ann.responses.create({ model: "writer", input: question, tools: tools(), include });
    const results = [{ file_id: file, filename: "pump.txt", text: pump, attributes: { machine: "pump" } }];
    expect(output[0]).toMatchObject({ type: "file_search_call", results });
    expect((await ann.responses.retrieve(id)).output[0]).toMatchObject({ results: null });
    expect((await ann.responses.retrieve(id, { include })).output[0]).toMatchObject({ results });
  });

  it("a stream has its events in OpenAI's order, and the client makes the same response of them", async () => {
    const stream = ann.responses.stream({ model: "writer", input: question, tools: tools() });
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    for await (const event of stream) events.push(event);
    const names = events.map(({ type }) => type.replace("response.", ""));
    const text = ["output_text.delta", "output_text.annotation.added"];
    expect(names).toEqual([
      "created",
      "in_progress",
      "output_item.added",
      "file_search_call.in_progress",
      "file_search_call.searching",
      "file_search_call.completed",
      "output_item.done",
      "output_item.added",
      "content_part.added",
      ...text,
      ...text,
      "output_text.done",
      "content_part.done",
      "output_item.done",
      "completed",
    ]);
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((__, i) => i));
    const final = await stream.finalResponse();
    expect(final.output_text).toBe(answer);
    const stored = await ann.responses.retrieve(final.id);
    expect(stored.output).toEqual(
      events.flatMap((event) => (event.type === "response.completed" ? event.response.output : [])),
    );
  });

  it("the model sees the sources, the caller's instructions and the earlier messages; the search is for the last one", async () => {
    await ann.responses.create({
      model: "writer",
      instructions: "Answer like a sailor.",
      input: [
        { role: "developer", content: "Be short." },
        { role: "user", content: "Hello" },
        { role: "assistant", content: "Ahoy" },
        { role: "user", content: [{ type: "input_text", text: question }] },
      ],
      tools: tools(),
      temperature: 0.3,
      max_output_tokens: 50,
    });
    const [request] = model.seen;
    const [system, ...turns] = request?.body.messages ?? [];
    expect(system?.content).toMatch(/Use only what the sources state[^]*Answer like a sailor\.\nBe short\.$/);
    expect(turns.slice(0, 2)).toMatchObject([{ role: "user" }, { role: "assistant", content: "Ahoy" }]);
    expect(readPrompt(request?.passage ?? "")).toMatchObject({ question, sources: [{ name: "pump.txt" }] });
    expect(request?.body).toMatchObject({ temperature: 0.3, max_tokens: 50 });
  });

  it("filters, thresholds and stores narrow what is answered from; without a file there is a refusal and the model is not asked", async () => {
    const ask = async (more: object) => {
      const { output } = await ann.responses.create({ model: "writer", input: question, tools: tools(more) });
      const message = output.at(-1) as OpenAI.Responses.ResponseOutputMessage;
      return message.content.map(({ type }) => type);
    };
    const eq = (key: string, value: string) => ({ filters: { type: "eq", key, value } });
    expect(await ask(eq("machine", "pump"))).toEqual(["output_text"]);
    expect(await ask({ filters: { type: "ne", key: "nowhere", value: "x" } })).toEqual(["output_text"]);
    const asked = model.seen.length;
    expect(await ask(eq("machine", "press"))).toEqual(["refusal"]);
    expect(await ask(eq("nowhere", "x"))).toEqual(["refusal"]);
    expect(await ask({ ranking_options: { score_threshold: 1 } })).toEqual(["refusal"]);
    const { id } = await ann.vectorStores.create({ name: "Empty" });
    expect(await ask({ vector_store_ids: [id] })).toEqual(["refusal"]);
    expect(model.seen.length).toBe(asked);
    expect(await ask({ vector_store_ids: [id, store] })).toEqual(["output_text"]);
  });

  it("a refusal of a stream is one for the client", async () => {
    model.behave = () => writes("NO_ANSWER");
    const final = await ann.responses.stream({ model: "writer", input: question, tools: tools() }).finalResponse();
    const message = final.output.at(-1) as OpenAI.Responses.ResponseOutputMessage;
    expect(message.content).toMatchObject([
      { type: "refusal", refusal: "The model found no answer in what the search found." },
    ]);
    expect(final.output_text).toBe("");
  });

  it("without tools, and with tool_choice none, the model answers alone and nothing is cited", async () => {
    for (const more of [{}, { tools: tools(), tool_choice: "none" as const }]) {
      model.behave = () => writes("Just a *chat*.");
      const { output } = await ann.responses.create({
        model: "writer",
        instructions: "Be kind.",
        input: "Hi",
        ...more,
      });
      expect(output).toMatchObject([
        { type: "message", content: [{ type: "output_text", text: "Just a *chat*.", annotations: [] }] },
      ]);
    }
    expect(model.seen[0]?.body.messages).toEqual([
      { role: "system", content: "Be kind." },
      expect.objectContaining({ role: "user" }),
    ]);
  });

  it("previous_response_id goes on with what was said; input items are listed in pages; a deleted response is gone", async () => {
    const first = await ann.responses.create({ model: "writer", input: question, tools: tools() });
    model.behave = () => writes("Yes.");
    const second = await ann.responses.create({ model: "writer", input: "Really?", previous_response_id: first.id });
    const said = model.seen.at(-1)?.body.messages.map(({ role, content }) => [role, content]);
    expect(said?.slice(-3, -1)).toEqual([
      ["user", expect.anything()],
      ["assistant", answer],
    ]);
    const items = await all(ann.responses.inputItems.list(second.id, { limit: 1, order: "asc" }));
    expect(items.map(({ type }) => type)).toEqual(["message", "file_search_call", "message", "message"]);
    const newest = await ann.responses.inputItems.list(second.id);
    expect(newest.data.map(({ id }) => id)).toEqual(items.map(({ id }) => id).toReversed());
    await ann.responses.delete(first.id);
    for (const call of [
      ann.responses.retrieve(first.id),
      ann.responses.create({ model: "writer", input: "And?", previous_response_id: second.id }),
    ])
      await expect(call).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  it("store: false keeps nothing", async () => {
    const { id } = await ann.responses.create({ model: "writer", input: "Hi", store: false });
    await expect(ann.responses.retrieve(id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  it("a conversation gets what was asked and answered, and is what the next response goes on from", async () => {
    const conversation = await ann.conversations.create({ items: [{ role: "user", content: "I am Ann." }] });
    await ann.responses.create({ model: "writer", input: question, tools: tools(), conversation: conversation.id });
    const items = await all(ann.conversations.items.list(conversation.id, { order: "asc" }));
    expect(items.map(({ type }) => type)).toEqual(["message", "message", "file_search_call", "message"]);
    expect(items.at(-1)).toMatchObject({ role: "assistant", content: [{ text: answer, annotations: citations() }] });
    model.behave = () => writes("Ann.");
    await ann.responses.create({ model: "writer", input: "Who am I?", conversation: { id: conversation.id } });
    expect(JSON.stringify(model.seen.at(-1)?.body.messages)).toContain("I am Ann.");
  });

  it("chat completions: whole, and as chunks that the client joins", async () => {
    const body = {
      model: "writer",
      messages: [{ role: "user" as const, content: question }],
      tools: tools() as never,
    };
    const whole = await ann.chat.completions.create(body);
    expect(whole.object).toBe("chat.completion");
    expect(whole.choices).toMatchObject([
      {
        index: 0,
        finish_reason: "stop",
        message: { role: "assistant", content: answer, refusal: null, annotations: citations() },
      },
    ]);
    const joined = await ann.chat.completions.stream(body).finalChatCompletion();
    expect(joined.choices[0]?.message).toMatchObject({ content: answer, annotations: citations() });
    const chunks = await all(await ann.chat.completions.create({ ...body, stream: true }));
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: "assistant", content: "" });
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe("stop");
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    model.behave = () => writes("NO_ANSWER");
    const refused = await ann.chat.completions.create(body);
    expect(refused.choices[0]?.message).toMatchObject({ content: null, refusal: expect.stringContaining("no answer") });
  });

  it("chat completions without tools: every role, and usage where it is asked for", async () => {
    model.behave = () => writes("Hello Ann.");
    const messages = [
      { role: "system" as const, content: "Be kind." },
      { role: "user" as const, content: "I am Ann." },
      { role: "assistant" as const, content: "Hi!" },
      { role: "user" as const, content: [{ type: "text" as const, text: "Greet me." }] },
    ];
    const usage = { stream: true as const, stream_options: { include_usage: true } };
    const chunks = await all(await ann.chat.completions.create({ model: "writer", messages, ...usage }));
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe("Hello Ann.");
    expect(chunks.at(-1)).toMatchObject({ choices: [] });
    expect(model.seen[0]?.body.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
  });

  it("a model that ends early, breaks off or fails says so in the client's own forms", async () => {
    const ask = (more: object = {}) =>
      ann.responses.create({ model: "writer", input: question, tools: tools(), ...more });
    model.behave = () => writes("The pump starts at 4.2 bar [1].\nMaintenance", "length");
    expect(await ask()).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } });
    model.behave = () => writes("The pump starts at 4.2 bar [1].\nMaintenance", null);
    const broken = await ask();
    expect(broken).toMatchObject({ status: "incomplete", incomplete_details: { reason: "interrupted" } });
    expect(broken.output_text).toBe("The pump starts at 4.2 bar.");
    model.behave = () => fails(400, "too long");
    await expect(ask()).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    const events = await all(
      await ann.responses.create({ model: "writer", input: question, tools: tools(), stream: true }),
    );
    expect(events.at(-1)).toMatchObject({
      type: "response.failed",
      response: { status: "failed", error: { code: "server_error", message: expect.stringContaining("writer") } },
    });
    const messages = [{ role: "user" as const, content: "Hi" }];
    await expect(ann.chat.completions.create({ model: "writer", messages })).rejects.toBeInstanceOf(OpenAI.APIError);
    const streamed = ann.chat.completions.create({ model: "writer", messages, stream: true }).then(all);
    await expect(streamed).rejects.toBeInstanceOf(OpenAI.APIError);
  });

  it("models: those for chats are listed too", async () => {
    expect((await all(ann.models.list())).map(({ id }) => id)).toContain("writer");
    expect(await ann.models.retrieve("writer")).toMatchObject({ id: "writer", owned_by: "ollama" });
  });

  it("another workspace, and another user of the workspace, find neither the stores nor the responses", async () => {
    const { id } = await ann.responses.create({ model: "writer", input: question, tools: tools() });
    const asked = model.seen.length;
    for (const other of [await world.client("w2", "ann"), await world.client("w1", "ben")]) {
      const messages = [{ role: "user" as const, content: question }];
      for (const call of [
        () => other.responses.retrieve(id),
        () => other.responses.delete(id),
        () => other.responses.cancel(id),
        () => Promise.resolve(other.responses.inputItems.list(id)),
        () => other.responses.create({ model: "writer", input: "And?", previous_response_id: id }),
        () => other.responses.create({ model: "writer", input: question, tools: tools() }),
        () => other.chat.completions.create({ model: "writer", messages, tools: tools() as never }),
      ])
        await expect(call()).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    }
    expect(model.seen.length).toBe(asked);
    expect((await ann.responses.retrieve(id)).id).toBe(id);
    // Not as state of the workspace either, which all of its users may read.
    const key = await world.server.key("w1", "ben");
    expect((await world.server.call("GET", `/v1/entities/${id}`, { key })).status).toBe(404);
  });

  it.each([
    ["a function", { tools: [{ type: "function", name: "f" }] }, /^tools/],
    ["two searches", { tools: ["a", "b"].map((id) => ({ type: "file_search", vector_store_ids: [id] })) }, "tools"],
    ["a required tool that is not there", { tool_choice: "required" }, "tool_choice"],
    ["an image", { input: [{ role: "user", content: [{ type: "input_image", image_url: "x" }] }] }, /^input\[0\]/],
    [
      "the output of a function",
      { input: [{ type: "function_call_output", call_id: "c", output: "x" }] },
      /^input\[0\]/,
    ],
    ["an assistant last", { input: [{ role: "assistant", content: "x" }] }, "input"],
    ["501 items", { input: Array.from({ length: 501 }, () => ({ role: "user", content: "x" })) }, "input"],
    ["a format", { text: { format: { type: "json_object" } } }, /^text/],
    ["the background", { background: true }, "background"],
    ["an unknown parameter", { prompt: { id: "x" } }, "prompt"],
    ["too hot", { temperature: 2.1 }, "temperature"],
    [
      "a conversation and a previous response",
      { conversation: "conv_x", previous_response_id: "resp_x" },
      "previous_response_id",
    ],
    ["a text that is too long", { input: "x".repeat(200_001) }, "messages"],
  ])("refused: %s", async (__, more, param) => {
    const asked = model.seen.length;
    const error = await ann.responses.create({ model: "writer", input: "Hi", ...more } as never).then(
      () => undefined,
      (thrown: unknown) => thrown as InstanceType<typeof OpenAI.APIError>,
    );
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error?.param).toMatch(param);
    expect(model.seen.length).toBe(asked);
  });

  it("accepted at the limits: 500 items, 200,000 characters", async () => {
    const input = Array.from({ length: 500 }, () => ({ role: "user" as const, content: "x" }));
    expect((await ann.responses.create({ model: "writer", input, store: false })).status).toBe("completed");
    const long = "x".repeat(200_000);
    expect((await ann.responses.create({ model: "writer", input: long, store: false })).status).toBe("completed");
  });
});

it("without a chat model, the client's error for an unavailable model names the setting", async () => {
  await using world = await openAiWorld();
  const client = await world.client("w1", "ann");
  const messages = [{ role: "user" as const, content: "Hi" }];
  for (const call of [
    client.responses.create({ model: "gpt-5", input: "Hi" }),
    client.chat.completions.create({ model: "gpt-5", messages }),
  ]) {
    const error = await call.then(
      () => undefined,
      (thrown: unknown) => thrown as InstanceType<typeof OpenAI.APIError>,
    );
    expect(error).toBeInstanceOf(OpenAI.NotFoundError);
    expect(error).toMatchObject({ code: "model_not_found", param: "model" });
    expect(error?.message).toContain("PINAKES_CHAT_MODELS");
  }
});
