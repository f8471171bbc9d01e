import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { embedderSuite } from "../../../testing/embedder-suite.ts";
import type { Embedder } from "../../../ports/embedder.ts";
import { openLocalEmbedder } from "../local/index.ts";
import { openEmbedder } from "../index.ts";
import type { RemoteModelSettings } from "../settings.ts";
import type { RemoteOptions } from "./connect.ts";
import { openAiSdkEmbedder } from "./index.ts";
import { answer, startTestServer, type Behaviour } from "./test-server.ts";

const local = await openLocalEmbedder();
const server = await startTestServer(local);
const key = "sk-very-secret-0123456789";
const env = { TEST_KEY: key, AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: "aws-very-secret" };
afterAll(async () => {
  await server.close();
  await local.close();
});

const openai = {
  id: "test",
  provider: "openai",
  model: "minilm",
  dims: 384,
  tokensMax: 512,
  baseUrl: `${server.url}/v1`,
  apiKeyEnv: "TEST_KEY",
} as const;
const titan = {
  id: "titan",
  provider: "bedrock",
  model: "amazon.titan-embed-text-v2:0",
  dims: 384,
  tokensMax: 512,
  region: "eu-central-1",
  baseUrl: server.url,
} as const;
const cohere = { ...titan, id: "cohere", model: "cohere.embed-english-v3" } as const;

embedderSuite("openai-compatible", () => openAiSdkEmbedder(openai, { env }));
embedderSuite("ollama", () => openAiSdkEmbedder({ ...openai, provider: "ollama", apiKeyEnv: undefined }, { env: {} }));
embedderSuite("bedrock, titan", () => openAiSdkEmbedder(titan, { env }));
embedderSuite("bedrock, cohere", () => openAiSdkEmbedder(cohere, { env }));

let opened: Embedder[] = [];
beforeEach(() => {
  server.seen.length = 0;
  server.next.length = 0;
});
afterEach(async () => {
  await Promise.all(opened.map((embedder) => embedder.close()));
  opened = [];
});

async function open(settings: Partial<RemoteModelSettings> = {}, options: RemoteOptions = {}): Promise<Embedder> {
  const embedder = await openAiSdkEmbedder({ ...openai, ...settings } as RemoteModelSettings, { env, ...options });
  opened.push(embedder);
  return embedder;
}

const fails =
  (status: number, message: string, headers: Readonly<Record<string, string>> = {}): Behaviour =>
  (response) =>
    answer(response, status, { error: { message } }, headers);
/** Retries come at once, so that no test waits. */
const now = { "retry-after-ms": "1" };
const vectorsOf = (...vectors: readonly (readonly number[])[]): Behaviour => {
  return (response) => answer(response, 200, { data: vectors.map((embedding) => ({ embedding })) });
};

describe("AI SDK embedder: requests", () => {
  it("sends the model, the key and at most 96 texts per request", async () => {
    const embedder = await open();
    const texts = Array.from({ length: 97 }, (_, i) => `text ${i}`);
    expect(await embedder.embed(texts)).toHaveLength(97);
    expect(server.seen.map(({ body }) => (body["input"] as string[]).length).sort((a, b) => b - a)).toEqual([96, 1]);
    for (const { path, authorization, body } of server.seen) {
      expect({ path, authorization, model: body["model"] }).toEqual({
        path: "/v1/embeddings",
        authorization: `Bearer ${key}`,
        model: "minilm",
      });
      expect(body).not.toHaveProperty("dimensions");
    }
    server.seen.length = 0;
    await embedder.embed(texts.slice(0, 96));
    expect(server.seen).toHaveLength(1);
  });

  it("requests a dimension only when configured to", async () => {
    await (await open({ requestDims: true })).embed(["x"]);
    expect(server.seen[0]?.body["dimensions"]).toBe(384);
  });

  it("a text at the limit is sent whole, a longer one in windows, and never in the middle of a character", async () => {
    const embedder = await open({ tokensMax: 4 });
    await embedder.embed(["one two three four", "one two three four five", "😀😀😀", "half \uD83D"]);
    expect(server.seen[0]?.body["input"]).toEqual([
      "one two three four",
      "one two three",
      "four five",
      "😀",
      "😀😀",
      "half \uFFFD",
    ]);
  });

  it("a model's token limit comes from its name or its settings, or is assumed to be small", async () => {
    const limit = async (settings: Partial<RemoteModelSettings>) => (await open(settings)).model.tokensMax;
    expect(await limit({ model: "text-embedding-3-small", tokensMax: undefined })).toBe(8_191);
    expect(await limit({ ...cohere, tokensMax: undefined })).toBe(510);
    expect(await limit({ model: "nomic-embed-text", tokensMax: undefined })).toBe(2_048);
    expect(await limit({ model: "nobody-knows-me", tokensMax: undefined })).toBe(510);
    expect(await limit({ model: "nobody-knows-me", tokensMax: 4_000 })).toBe(4_000);
  });

  it("normalises vectors for cosine, and leaves them alone otherwise", async () => {
    const vector = [3, 4, ...Array.from({ length: 382 }, () => 0)];
    server.next.push(vectorsOf(vector), vectorsOf(vector));
    expect((await (await open()).embed(["x"]))[0]?.slice(0, 2)).toEqual(Float32Array.of(0.6, 0.8));
    expect((await (await open({ metric: "dot" })).embed(["x"]))[0]?.slice(0, 2)).toEqual(Float32Array.of(3, 4));
  });

  it("bedrock: signs each request, one text each for Titan", async () => {
    await (await open(titan)).embed(["one", "two"]);
    expect(server.seen.map(({ path }) => path)).toEqual(
      Array.from({ length: 2 }, () => "/model/amazon.titan-embed-text-v2:0/invoke"),
    );
    expect(server.seen.map(({ body }) => body["inputText"]).sort()).toEqual(["one", "two"]);
    for (const { authorization } of server.seen)
      expect(authorization).toMatch(
        /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-central-1\/bedrock\/aws4_request/,
      );
  });

  it("bedrock: tells Cohere queries from documents", async () => {
    const embedder = await open(cohere);
    await embedder.embed(["one", "two"]);
    await embedder.embed(["three"], { kind: "query" });
    expect(server.seen.map(({ body }) => body)).toEqual([
      { input_type: "search_document", texts: ["one", "two"], truncate: "NONE" },
      { input_type: "search_query", texts: ["three"], truncate: "NONE" },
    ]);
  });
});

describe("AI SDK embedder: failures", () => {
  it("waits as long as a busy provider asks, and continues", async () => {
    server.next.push(fails(429, "slow down", now), fails(429, "slow down", now));
    expect(await (await open()).embed(["x"])).toHaveLength(1);
    expect(server.seen).toHaveLength(3);
  });

  it("THROTTLED when it stays busy, UNAVAILABLE when it stays broken", async () => {
    server.next.push(...Array.from({ length: 3 }, () => fails(429, "slow down", now)));
    await expect((await open()).embed(["x"])).rejects.toMatchObject({
      code: "THROTTLED",
      retryable: true,
      message: expect.stringContaining("slow down"),
    });
    server.next.push(...Array.from({ length: 3 }, () => fails(500, "out of order", now)));
    await expect((await open()).embed(["x"])).rejects.toMatchObject({
      code: "UNAVAILABLE",
      retryable: true,
      message: expect.stringContaining("out of order"),
    });
    expect(server.seen).toHaveLength(6);
  });

  it("a bad key is reported without the key, and not retried", async () => {
    server.next.push((response, { authorization }) =>
      answer(response, 401, { error: { message: `Incorrect API key provided: ${authorization ?? ""}` } }),
    );
    const error: unknown = await (await open()).embed(["x"]).catch((caught: unknown) => caught);
    expect(error).toMatchObject({
      code: "UNAVAILABLE",
      retryable: false,
      message: expect.stringMatching(/refused the key \(401\): Incorrect API key provided: Bearer \(key\)/),
    });
    expect((error as Error).cause).toBeUndefined();
    expect(JSON.stringify(error) + String((error as Error).stack)).not.toContain(key);
    expect(server.seen).toHaveLength(1);
  });

  it("rejected input is INVALID, an unknown model is not the caller's fault", async () => {
    server.next.push(fails(400, "maximum context length is 8192 tokens"));
    await expect((await open()).embed(["x"])).rejects.toMatchObject({
      code: "INVALID",
      message: expect.stringContaining("8192 tokens"),
    });
    server.next.push(fails(404, "model not found"));
    await expect((await open()).embed(["x"])).rejects.toMatchObject({ code: "UNAVAILABLE", retryable: false });
  });

  it("another dimension is rejected, naming the expected and the received one", async () => {
    await expect((await open({ dims: 768 })).embed(["x"])).rejects.toMatchObject({
      code: "CORRUPT",
      message: expect.stringMatching(/expected vectors of 768 numbers, got 384/),
    });
    await expect((await open({ ...titan, dims: 1024 })).embed(["x"])).rejects.toMatchObject({ code: "CORRUPT" });
  });

  it("too few vectors, no vector, or no JSON are rejected", async () => {
    const one = Array.from({ length: 384 }, () => 1);
    server.next.push(vectorsOf(one));
    await expect((await open()).embed(["x", "y"])).rejects.toMatchObject({ code: "CORRUPT" });
    server.next.push(vectorsOf(one.map(() => 0)));
    await expect((await open()).embed(["x"])).rejects.toMatchObject({ code: "CORRUPT" });
    server.next.push((response) => response.end("<html>"));
    await expect((await open()).embed(["x"])).rejects.toMatchObject({ code: "CORRUPT" });
  });

  it("a hanging provider ends by the caller's signal, or by its timeout", async () => {
    const hangs = Promise.withResolvers<void>();
    server.next.push(() => hangs.resolve());
    const controller = new AbortController();
    const call = (await open()).embed(["x"], { signal: controller.signal });
    await hangs.promise;
    const reason = new Error("enough");
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
    server.next.push(() => {});
    await expect((await open({}, { answerMsMax: 50 })).embed(["x"])).rejects.toMatchObject({
      code: "UNAVAILABLE",
      retryable: true,
      message: expect.stringContaining("0.05 s"),
    });
  });

  it("a failed batch ends the others", async () => {
    const hangs = Promise.withResolvers<void>();
    // One hangs; the other fails once the first has arrived.
    server.next.push(
      (response) => void response.once("close", () => hangs.resolve()),
      (response) => answer(response, 400, { error: { message: "no" } }),
    );
    await expect((await open()).embed(Array.from({ length: 97 }, (_, i) => `${i}`))).rejects.toMatchObject({
      code: "INVALID",
    });
    await hangs.promise;
  });

  it("an unreachable server is UNAVAILABLE, and named", async () => {
    const gone = await startTestServer(local);
    await gone.close();
    const embedder = await open({ baseUrl: `${gone.url}/v1` }, { retriesMax: 0 });
    await expect(embedder.embed(["x"])).rejects.toMatchObject({
      code: "UNAVAILABLE",
      retryable: true,
      message: expect.stringContaining(new URL(gone.url).host),
    });
  });

  it("a missing key is reported at the start", async () => {
    await expect(open({}, { env: {} })).rejects.toMatchObject({
      code: "UNAVAILABLE",
      retryable: false,
      message: expect.stringContaining("TEST_KEY"),
    });
    await expect(open(titan, { env: {} })).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("AWS_ACCESS_KEY_ID"),
    });
    await expect(
      openAiSdkEmbedder({ id: "o", provider: "openai", model: "m", dims: 3 }, { env: {} }),
    ).rejects.toMatchObject({
      message: expect.stringContaining("OPENAI_API_KEY"),
    });
  });
});

describe("openEmbedder", () => {
  it("opens what the settings say, with a prefix for each kind if the model needs one", async () => {
    const settings = {
      ...openai,
      provider: "ollama",
      apiKeyEnv: undefined,
      queryPrefix: "search_query: ",
      documentPrefix: "search_document: ",
    } as const;
    const embedder = await openEmbedder(settings);
    opened.push(embedder);
    expect(embedder.model).toEqual({
      id: "test",
      provider: "ollama",
      dims: 384,
      metric: "cosine",
      tokensMax: 512 - "search _ document :".split(" ").length,
    });
    await embedder.embed(["a"], { kind: "query" });
    await embedder.embed(["b"]);
    expect(server.seen.map(({ body }) => body["input"])).toEqual([["search_query: a"], ["search_document: b"]]);
  });

  it("opens the local model", async () => {
    const embedder = await openEmbedder({ id: "mine", provider: "local", threads: 1 });
    opened.push(embedder);
    expect(embedder.model).toMatchObject({ id: "mine", provider: "local", dims: 384 });
    expect(await embedder.embed(["x"])).toEqual(await local.embed(["x"]));
  });
});

it("a redirect is not followed, neither with the texts nor with the key", async () => {
  const embedder = await open({}, { retriesMax: 0 });
  server.next.push((response) => void response.writeHead(307, { location: `${server.url}/elsewhere` }).end());
  await expect(embedder.embed(["private"])).rejects.toThrow();
  expect(server.seen.map(({ path }) => path)).toEqual(["/v1/embeddings"]);
});
