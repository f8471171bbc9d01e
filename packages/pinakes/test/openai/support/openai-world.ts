/** A started server with clients of the official package, on an engine that servers run on. */
import OpenAI from "openai";
import { serve, type RunningServer } from "../../../src/http/serve.ts";
import type { OpenOptions } from "../../../src/open.ts";
import { openTestServer, type KeyWishes, type TestServer } from "../../http/support/server.ts";

export interface OpenAiWorld extends AsyncDisposable {
  readonly server: TestServer;
  readonly url: string;
  /** A client of a user, as everybody makes one: base URL and key. */
  client(workspace: string, user: string, wishes?: KeyWishes & { readonly project?: string }): Promise<OpenAI>;
}

export async function openAiWorld(options: OpenOptions = {}): Promise<OpenAiWorld> {
  const server = await openTestServer("sqlite", options);
  const running: RunningServer = await serve(server.app, { host: "127.0.0.1", port: 0 });
  return {
    server,
    url: running.url,
    client: async (workspace, user, { project, ...wishes } = {}) =>
      new OpenAI({
        baseURL: `${running.url}/openai/v1`,
        apiKey: await server.key(workspace, user, wishes),
        ...(project === undefined ? {} : { project }),
      }),
    [Symbol.asyncDispose]: async () => {
      await running.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

export function textFile(name: string, text: string): File {
  return new File([text], name, { type: "text/plain" });
}

export async function all<Item>(pages: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of pages) items.push(item);
  return items;
}

/** Quick: the default asks every 5 s. The server's own hint is tested by leaving it out. */
export const soon = { pollIntervalMs: 20 };
