/** A server on a socket with its stores in a temporary folder, and client calls to it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApp } from "../../packages/pinakes/src/http/app.ts";
import { serve } from "../../packages/pinakes/src/http/serve.ts";
import { open, type OpenOptions, type Pinakes } from "../../packages/pinakes/src/open.ts";

export interface BenchServer extends AsyncDisposable {
  readonly pinakes: Pinakes;
  call(method: string, path: string, body?: unknown, more?: Readonly<Record<string, string>>): Promise<unknown>;
}

export async function startServer(options: OpenOptions = {}): Promise<BenchServer> {
  const dir = mkdtempSync(join(tmpdir(), "pinakes-bench-"));
  const rootToken = "a-token-that-is-only-for-this-bench-0123456789";
  const pinakes = await open({ dir, rootToken, ...options });
  const server = await serve(await createApp(pinakes, { requestsPerSecond: 1_000_000 }), {
    host: "127.0.0.1",
    port: 0,
  });
  const headers = { authorization: `Bearer ${rootToken}`, "content-type": "application/json" };
  return {
    pinakes,
    call: async (method, path, body, more = {}) => {
      const response = await fetch(`${server.url}${path}`, {
        method,
        headers: { ...headers, ...more },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const answer: unknown = response.status === 204 ? undefined : await response.json();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
      return answer;
    },
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await pinakes.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Until no document of the collection is in progress. */
export async function settled(server: BenchServer, path: string, documents: number): Promise<void> {
  for (;;) {
    const { documents_by_status: by } = (await server.call("GET", path)) as {
      documents_by_status: Record<string, number>;
    };
    if (by["failed"] !== 0) throw new Error(`${by["failed"]} documents failed.`);
    if (by["indexed"] === documents) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const words = (
  "the of a system data store log write read commit index query vector agent memory network cell protein disease patient trial model result " +
  "method analysis effect rate time group high low increase decrease function structure process change level risk response treatment"
).split(" ");

/** Text that depends on the seed, of about this many bytes. */
export function textOf(seed: number, bytes: number): string {
  let state = seed * 2654435761 + 1;
  const next = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state;
  };
  const parts: string[] = [];
  for (let length = 0; length < bytes;) {
    const sentence = `${Array.from({ length: 8 + (next() % 10) }, () => words[next() % words.length]).join(" ")} ${seed}.`;
    parts.push(sentence);
    length += sentence.length + 1;
  }
  return parts.join(" ").slice(0, bytes);
}
