/** What a scripted chat model writes, as the streams of OpenAI's protocol: on a real server, which can also lie, stall and break. */
import type { ServerResponse } from "node:http";
import type { ChatBehaviour } from "../../graph-retrieval/support/chat-server.ts";

/** Pieces of text, then the end; with null the stream just stops. */
export const writes =
  (pieces: readonly string[] | string, finish: "stop" | "length" | "content_filter" | null = "stop"): ChatBehaviour =>
  (response) => {
    begin(response);
    for (const piece of typeof pieces === "string" ? pieces.split(/(?<= )/) : pieces)
      send(response, { content: piece });
    if (finish !== null) {
      send(response, {}, finish);
      response.write("data: [DONE]\n\n");
    }
    response.end();
  };

/** Writes and then says nothing more; `closed` resolves when the other side has gone away. */
export function stalls(text: string): { readonly behaviour: ChatBehaviour; readonly closed: Promise<void> } {
  const closed = Promise.withResolvers<void>();
  const behaviour: ChatBehaviour = (response) => {
    response.once("close", closed.resolve);
    begin(response);
    if (text !== "") send(response, { content: text });
  };
  return { behaviour, closed: closed.promise };
}

/** Writes the same again and again, until the other side has gone away. */
export function endless(text: string): { readonly behaviour: ChatBehaviour; readonly closed: Promise<void> } {
  const closed = Promise.withResolvers<void>();
  const behaviour: ChatBehaviour = (response) => {
    let over = false;
    response.once("close", () => {
      over = true;
      closed.resolve();
    });
    begin(response);
    const more = (): void => {
      if (over) return;
      send(response, { content: text });
      setImmediate(more);
    };
    more();
  };
  return { behaviour, closed: closed.promise };
}

/** Writes, and breaks the connection in the middle. */
export const breaksOff =
  (text: string): ChatBehaviour =>
  (response) => {
    begin(response);
    response.write(frame({ content: text }), () => response.destroy());
  };

/** What is no event of the protocol. */
export const garbage =
  (bytes: string | Uint8Array, contentType = "text/event-stream"): ChatBehaviour =>
  (response) => {
    response.writeHead(200, { "content-type": contentType });
    response.end(bytes);
  };

/** The sources that the prompt shows, and its question. */
export function readPrompt(prompt: string): {
  readonly sources: readonly { readonly source: number; readonly name: string; readonly text: string }[];
  readonly question: string;
} {
  const lines = prompt.split("\n").map((line) => JSON.parse(line) as Record<string, unknown>);
  const { question } = lines.pop() as { question: string };
  return { sources: lines as never, question };
}

function begin(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
}

function send(response: ServerResponse, delta: object, finish: string | null = null): void {
  response.write(frame(delta, finish));
}

function frame(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "test", choices })}\n\n`;
}
