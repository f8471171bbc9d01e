/** A real server of OpenAI's chat protocol. It reads "X predicate Y." out of a chunk; tests can make it fail or lie. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

export interface ChatRequest {
  readonly authorization: string | undefined;
  readonly body: {
    readonly model: string;
    readonly messages: readonly { readonly role: string; readonly content: unknown }[];
    readonly response_format?: { readonly type: string };
  };
  readonly passage: string;
}

export type ChatBehaviour = (response: ServerResponse, request: ChatRequest) => void;

export interface ChatServer extends AsyncDisposable {
  readonly url: string;
  readonly seen: ChatRequest[];
  /** Called before each good answer; undefined: answer correctly. */
  behave: (request: ChatRequest) => ChatBehaviour | undefined;
}

export async function startChatServer(): Promise<ChatServer> {
  const seen: ChatRequest[] = [];
  const chat: { behave: ChatServer["behave"] } = { behave: () => undefined };
  const server = createServer((request, response) => {
    void json(request).then((parsed) => {
      const body = parsed as ChatRequest["body"];
      const current: ChatRequest = {
        authorization: request.headers.authorization,
        body,
        passage: textOf(body.messages.at(-1)?.content),
      };
      seen.push(current);
      const behaviour = chat.behave(current);
      if (behaviour === undefined) says(response, JSON.stringify(factsOf(current.passage)));
      else behaviour(response, current);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    seen,
    get behave() {
      return chat.behave;
    },
    set behave(next) {
      chat.behave = next;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

export function says(response: ServerResponse, content: string): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(
    JSON.stringify({
      id: "1",
      object: "chat.completion",
      created: 1,
      model: "test",
      choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    }),
  );
}

export const fails =
  (status: number, message: string): ChatBehaviour =>
  (response) => {
    response.writeHead(status, { "content-type": "application/json", "retry-after-ms": "1" });
    response.end(JSON.stringify({ error: { message } }));
  };

function textOf(content: unknown): string {
  return typeof content === "string"
    ? content
    : (content as readonly { readonly text?: string }[]).map(({ text = "" }) => text).join("");
}

/** "Ada works_for Acme." */
function factsOf(passage: string): {
  entities: { name: string; type: string }[];
  relations: { subject: string; predicate: string; object: string }[];
} {
  const found = [...passage.matchAll(/(\p{Lu}\p{L}+) ([a-z]+_[a-z]+) (\p{Lu}\p{L}+|\d{4}-\d{2}-\d{2})\./gu)];
  const relations = found.map(([, subject, predicate, object]) => ({
    subject: subject as string,
    predicate: predicate as string,
    object: object as string,
  }));
  const names = new Set(
    relations.flatMap(({ subject, object }) => (/^\d/.test(object) ? [subject] : [subject, object])),
  );
  return { entities: [...names].map((name) => ({ name, type: "Thing" })), relations };
}
