/** Facts that a model extracts from chunks, with a real server that can fail, lie and be busy. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { openChatModel } from "../../src/drivers/models/chat/index.ts";
import {
  newPlace,
  openTestPinakes,
  settled,
  uploaded,
  type Place,
  type TestPinakes,
} from "../knowledge/support/test-pinakes.ts";
import { until } from "../support/until.ts";
import { fails, says, startChatServer, type ChatServer } from "./support/chat-server.ts";
import { actualSupports, triplesOf } from "./support/graph-oracle.ts";

const key = "sk-very-secret-0123456789";
let server: ChatServer;
let test: TestPinakes;
beforeAll(async () => {
  server = await startChatServer();
  process.env["GRAPH_TEST_KEY"] = key;
  test = await openTestPinakes("memory", {
    chatModels: [
      { id: "reader", provider: "openai", model: "test-1", baseUrl: server.url, apiKeyEnv: "GRAPH_TEST_KEY" },
    ],
  });
});
afterAll(async () => {
  await test[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  delete process.env["GRAPH_TEST_KEY"];
});
afterEach(() => {
  server.behave = () => undefined;
  server.seen.length = 0;
});

const paged = { type: "FIXED", unit: "char", chunk_size: 100, chunk_overlap: 0 };
/** Three chunks of 100 characters, each with its own fact. */
const text = ["Ada works_for Acme.", "Bob lives_in Oslo.", "Ada was_born 1815-12-10."]
  .map((fact) => fact.padEnd(99, "-"))
  .join(" ");

async function llmPlace(): Promise<Place> {
  const place = await newPlace(test);
  await test.knowledge.collections.update(place.caller, place.repository, place.collection, {
    graph: { extract: "llm", model: "reader" },
    chunking_strategy: paged,
  });
  return place;
}

describe("typed extraction with a model", () => {
  it("R-TG-128 each fact is supported by the chunk that states it, and the model gets the schema and the key", async () => {
    const place = await llmPlace();
    const document = await uploaded(place, "facts.txt", text);
    expect(document).toMatchObject({ status: "indexed", graph: { triples: 11 } });
    expect((await triplesOf(test.pinakes, place)).filter((line) => line.includes("<p/"))).toEqual([
      '<e/ada> <p/was_born> "1815-12-10"^^<http://www.w3.org/2001/XMLSchema#date>',
      "<e/ada> <p/works_for> <e/acme>",
      "<e/bob> <p/lives_in> <e/oslo>",
    ]);
    const supports = (await actualSupports(test.pinakes, place))
      .filter((line) => /p\/\w+>/.test(line))
      .map((line) => line.slice(line.lastIndexOf("p/")));
    expect(supports.map((line) => line.replace(/> .* #/, " #"))).toEqual([
      "p/was_born #2",
      "p/works_for #0",
      "p/lives_in #1",
    ]);
    expect(server.seen).toHaveLength(3);
    for (const { authorization, body } of server.seen) {
      expect({ authorization, model: body.model, format: body.response_format?.type }).toEqual({
        authorization: `Bearer ${key}`,
        model: "test-1",
        format: "json_schema",
      });
    }
  });

  it("R-TG-131 an answered chunk is not sent again, and the triples stay the same, whatever the model would answer now", async () => {
    const place = await llmPlace();
    const { document_id } = await uploaded(place, "facts.txt", text);
    const before = await triplesOf(test.pinakes, place);
    server.seen.length = 0;
    server.behave = () => (response) => says(response, '{"entities":[{"name":"Zed","type":"Lie"}],"relations":[]}');
    await test.knowledge.documents.reindex(place.caller, place.repository, place.collection, document_id);
    await settled(place, document_id);
    expect(await triplesOf(test.pinakes, place)).toEqual(before);
    expect(server.seen).toHaveLength(0);
    server.behave = () => undefined;
    await uploaded(place, "facts.txt", `${text.slice(0, 200)}${"Ada likes_to Swim.".padEnd(99, "-")}`, {
      replace: true,
    });
    expect(server.seen.map(({ passage }) => passage.slice(0, 8))).toEqual(["Ada like"]);
  });

  it("a chunk with invalid answers is sent three times, then reported as failed; the others are kept, and re-indexing fixes it", async () => {
    const place = await llmPlace();
    server.behave = ({ passage }) =>
      passage.startsWith("Bob") ? (response) => says(response, "I would rather not.") : undefined;
    const document = await uploaded(place, "facts.txt", text);
    expect(document).toMatchObject({
      status: "indexed",
      graph: { failed_chunks: [{ chunk: 1, error: expect.stringContaining("reader") }] },
    });
    expect(JSON.stringify(document)).not.toContain("rather not");
    expect(server.seen.filter(({ passage }) => passage.startsWith("Bob"))).toHaveLength(3);
    expect((await triplesOf(test.pinakes, place)).join("\n")).toMatch(/works_for[^]*|was_born/);
    expect((await triplesOf(test.pinakes, place)).join("\n")).not.toContain("lives_in");
    server.behave = ({ passage }) =>
      passage.startsWith("Bob") ? (response) => says(response, '{"entities": "none", "relations": [1]}') : undefined;
    await test.knowledge.documents.reindex(place.caller, place.repository, place.collection, document.document_id);
    expect(await settled(place, document.document_id)).toMatchObject({ graph: { failed_chunks: [{ chunk: 1 }] } });
    server.behave = () => undefined;
    await test.knowledge.documents.reindex(place.caller, place.repository, place.collection, document.document_id);
    expect((await settled(place, document.document_id)).graph).toEqual({ triples: 11 });
    expect((await triplesOf(test.pinakes, place)).join("\n")).toContain("lives_in");
  });

  it("a busy model: the document is retried, no chunk is lost, and none is sent twice", async () => {
    const place = await llmPlace();
    let refused = 0;
    server.behave = ({ passage }) =>
      passage.startsWith("Bob") && (refused += 1) <= 4 ? fails(429, "slow down") : undefined;
    const { document_id } = await test.knowledge.documents.upload(place.caller, place.repository, place.collection, {
      name: "facts.txt",
      body: text,
    });
    const waiting = await until(async () => {
      const document = await test.knowledge.documents.get(
        place.caller,
        place.repository,
        place.collection,
        document_id,
      );
      return document.error === null ? undefined : document;
    });
    expect(waiting).toMatchObject({ status: "indexing", error: expect.stringMatching(/429.*slow down/) });
    const document = await settled(place, document_id);
    expect(document).toMatchObject({ status: "indexed", graph: { triples: 11 } });
    expect(document.graph).not.toHaveProperty("failed_chunks");
    for (const start of ["Ada work", "Ada was_"])
      expect(server.seen.filter(({ passage }) => passage.startsWith(start))).toHaveLength(1);
  });

  it("tables need no model, and deleting a document removes what the model found in it", async () => {
    const place = await llmPlace();
    const table = await uploaded(place, "people.csv", "name,city\nAda,London\n");
    expect(table.graph?.triples).toBeGreaterThan(0);
    expect(server.seen).toHaveLength(0);
    const document = await uploaded(place, "facts.txt", text);
    for (const { document_id } of [table, document])
      await test.knowledge.documents.delete(place.caller, place.repository, place.collection, document_id);
    expect(await actualSupports(test.pinakes, place)).toEqual([]);
    const { incarnation } = await test.knowledge.collections.get(place.caller, place.repository, place.collection);
    expect((await test.pinakes.objects.list(place.caller.scope, `knowledge/${incarnation}/`)).keys).toEqual([]);
  });

  it("a setting that no document could be read with is refused at once", async () => {
    const place = await newPlace(test);
    const patch = (graph: unknown) =>
      test.knowledge.collections.update(place.caller, place.repository, place.collection, { graph });
    await expect(patch({ extract: "llm", model: "other" })).rejects.toMatchObject({
      code: "INVALID",
      detail: expect.stringContaining("configured are reader"),
    });
    await using without = await openTestPinakes("memory");
    await expect(
      without.knowledge.repositories.create(without.admin, { graph: { extract: "llm" } }),
    ).rejects.toMatchObject({
      detail: expect.stringContaining("PINAKES_CHAT_MODELS"),
    });
    await expect(
      openTestPinakes("memory", { chatModels: [{ id: "x", provider: "other", model: "m" }] }),
    ).rejects.toMatchObject({
      code: "INVALID",
      detail: expect.stringContaining("chatModels[0].provider"),
    });
  });
});

describe("the chat driver", () => {
  const question = {
    instructions: "Read.",
    text: "secret passage",
    schema: { type: "object", properties: {}, additionalProperties: true },
  } as const;
  const open = () =>
    openChatModel(
      { id: "reader", provider: "openai", model: "m", baseUrl: server.url, apiKeyEnv: "K" },
      { env: { K: key } },
    );

  it("errors have our codes and reveal neither the key nor the chunk", async () => {
    const chat = await open();
    const ask = async (): Promise<Error> =>
      chat.answer(question).then(
        () => new Error("answered"),
        (error: unknown) => error as Error,
      );
    const cases = [
      [fails(429, "slow down"), { code: "THROTTLED", retryable: true }],
      [fails(500, "out of order"), { code: "UNAVAILABLE", retryable: true }],
      [fails(401, `bad key ${key}`), { code: "UNAVAILABLE", retryable: false }],
      [fails(404, "no such model"), { code: "UNAVAILABLE", retryable: false }],
      [fails(400, "too long"), { code: "INVALID" }],
      [(response: Parameters<typeof says>[0]) => says(response, "secret passage, I say"), { code: "CORRUPT" }],
    ] as const;
    for (const [behaviour, expected] of cases) {
      server.behave = () => behaviour;
      const error = await ask();
      expect(error).toMatchObject(expected);
      expect(`${error.message} ${String(error.stack)} ${JSON.stringify(error)}`).not.toMatch(/sk-very|secret passage/);
    }
    await chat.close();
    await expect(chat.answer(question)).rejects.toMatchObject({ code: "UNAVAILABLE", retryable: false });
  });

  it("a missing key is reported at startup, and a signal ends a request", async () => {
    await expect(
      openChatModel({ id: "r", provider: "openai", model: "m", apiKeyEnv: "NOWHERE" }, { env: {} }),
    ).rejects.toMatchObject({
      detail: expect.stringContaining("NOWHERE"),
    });
    const chat = await open();
    const asked = Promise.withResolvers<void>();
    server.behave = () => () => asked.resolve();
    const stop = new AbortController();
    const answer = chat.answer({ ...question, signal: stop.signal });
    await asked.promise;
    const reason = new Error("enough");
    stop.abort(reason);
    await expect(answer).rejects.toBe(reason);
    await chat.close();
  });
});
