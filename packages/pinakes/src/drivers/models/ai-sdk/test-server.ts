/**
 * A real server with the protocols of OpenAI (and so Ollama's) and of Bedrock's InvokeModel, with the local model behind it. Its next
 * responses can be scripted: fail, lie, hang.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import type { Embedder } from "../../../ports/embedder.ts";

export interface SeenRequest {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}

export type Behaviour = (response: ServerResponse, request: SeenRequest) => void;

export interface TestServer {
  readonly url: string;
  readonly seen: SeenRequest[];
  /** One for each coming request; without one the server answers correctly. */
  readonly next: Behaviour[];
  close(): Promise<void>;
}

export async function startTestServer(embedder: Embedder): Promise<TestServer> {
  const seen: SeenRequest[] = [];
  const next: Behaviour[] = [];
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = decodeURIComponent(request.url ?? "");
    const body = (await json(request)) as Record<string, unknown>;
    const current: SeenRequest = { path, authorization: request.headers.authorization, body };
    seen.push(current);
    const behaviour = next.shift();
    if (behaviour !== undefined) return behaviour(response, current);
    answer(response, 200, path.startsWith("/model/") ? await invoke(embedder, body) : await embeddings(embedder, body));
  };
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => answer(response, 500, { error: { message: String(error) } }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    next,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

export function answer(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

/** Rejects what OpenAI rejects. */
async function embeddings(embedder: Embedder, { input, model }: Readonly<Record<string, unknown>>): Promise<unknown> {
  const texts = input as readonly string[];
  if (texts.includes("")) throw new Error("input cannot be an empty string");
  const vectors = await embedder.embed(texts);
  const data = vectors.map((vector, index) => ({
    object: "embedding",
    index,
    embedding: [...vector].map((value) => value * 3),
  }));
  return { object: "list", model, data, usage: { prompt_tokens: 1, total_tokens: 1 } };
}

async function invoke(embedder: Embedder, body: Readonly<Record<string, unknown>>): Promise<unknown> {
  if (Array.isArray(body["texts"]))
    return { embeddings: (await embedder.embed(body["texts"] as string[])).map((vector) => [...vector]) };
  const [vector] = await embedder.embed([body["inputText"] as string]);
  return { embedding: [...(vector as Float32Array)], inputTextTokenCount: 1 };
}
