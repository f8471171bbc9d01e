/** A nearly free embedding model, over OpenAI's protocol: the words of a text, counted by their hash. Texts that share words are near. */
import { createServer, type IncomingMessage } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

export const dims = 384;

export interface EmbeddingServer extends AsyncDisposable {
  readonly url: string;
}

export async function startEmbeddings(): Promise<EmbeddingServer> {
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const { input } = JSON.parse(body) as { input: readonly string[] };
      const data = input.map((text, index) => ({ object: "embedding", index, embedding: vectorOf(text) }));
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify({ object: "list", model: "words", data, usage: { prompt_tokens: 0, total_tokens: 0 } }),
      );
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Whole numbers: short as JSON. */
export function vectorOf(text: string): number[] {
  const vector = Array.from({ length: dims }, () => 0);
  for (const word of text.toLowerCase().split(/\W+/)) {
    let hash = 2_166_136_261;
    for (let i = 0; i < word.length; i += 1) hash = Math.imul(hash ^ word.charCodeAt(i), 16_777_619) >>> 0;
    vector[hash % dims] = (vector[hash % dims] ?? 0) + 1;
  }
  return vector;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
  return Buffer.concat(parts).toString();
}
