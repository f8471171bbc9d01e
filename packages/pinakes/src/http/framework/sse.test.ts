import { Hono } from "hono";
import { afterAll, describe, expect, it } from "vitest";
import { makeCaller } from "../../domain/caller.ts";
import { serve } from "../serve.ts";
import { defineRoute, mount, sse, type KitEnv, type ServerEvent } from "./index.ts";
import { formatEvent, type EventSource, type SseOptions } from "./sse.ts";

function setUp(source: EventSource, options: SseOptions = {}) {
  const closing = new AbortController();
  const app = new Hono<KitEnv>();
  const events = defineRoute({
    method: "GET",
    path: "/v1/events",
    operationId: "events",
    summary: "Events",
    tag: "t",
    auth: "caller",
    answers: { 200: { description: "x", contentType: "text/event-stream" } },
    handler: (request) => sse(request, source, options),
  });
  mount(app, [events], {
    closing: closing.signal,
    authenticate: async () => ({ caller: makeCaller({ tenant: "w", userId: "u" }), via: "key" }),
  });
  return { app, closing };
}

/** Counts up until it is told to stop; then waits for ever unless the signal comes. */
function counter(count: number, stopped: string[] = []): EventSource {
  return async function* count_(lastEventId, signal): AsyncGenerator<ServerEvent> {
    try {
      for (let i = Number(lastEventId ?? 0) + 1; i <= count; i += 1)
        yield { id: String(i), event: "tick", data: { i } };
      await new Promise((resolve) => void signal.addEventListener("abort", resolve, { once: true }));
    } finally {
      stopped.push("stopped");
    }
  };
}

async function readUntil(reader: ReadableStreamDefaultReader<Uint8Array>, wanted: string): Promise<string> {
  let text = "";
  while (!text.includes(wanted)) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`ended without ${wanted}: ${text}`);
    text += Buffer.from(value).toString("utf8");
  }
  return text;
}

function readerOf(response: Response): ReadableStreamDefaultReader<Uint8Array> {
  if (response.body === null) throw new Error("no body");
  return response.body.getReader();
}

describe("http kit: server-sent events", () => {
  it("events come with id, name and JSON; the stream ends with its source", async () => {
    const { app } = setUp(async function* () {
      yield { id: "1", event: "job.done", data: { text: "two\nlines" } };
      yield { data: null };
    });
    const response = await app.request("/v1/events");
    expect([response.headers.get("content-type"), response.headers.get("cache-control")]).toEqual([
      "text/event-stream",
      "no-store",
    ]);
    expect(await response.text()).toBe(
      `retry: 2000\n\nid: 1\nevent: job.done\ndata: {"text":"two\\nlines"}\n\ndata: null\n\n`,
    );
    expect(formatEvent({ id: "a\nb", event: "c\rd", data: undefined })).toBe("id: a b\nevent: c d\ndata: null\n\n");
  });

  it("goes on after Last-Event-ID", async () => {
    const { app, closing } = setUp(counter(3));
    const response = await app.request("/v1/events", { headers: { "last-event-id": "2" } });
    const reader = readerOf(response);
    const text = await readUntil(reader, "data:");
    expect(text).toContain("id: 3");
    expect(text).not.toContain("id: 2");
    closing.abort();
    expect((await app.request("/v1/events", { headers: { "last-event-id": "x".repeat(4_096) } })).status).toBe(200);
    expect((await app.request("/v1/events", { headers: { "last-event-id": "x".repeat(4_097) } })).status).toBe(400);
  });

  it("comments keep a quiet connection alive", async () => {
    const stopped: string[] = [];
    const { app } = setUp(counter(0, stopped), { heartbeatMs: 1 });
    const reader = readerOf(await app.request("/v1/events"));
    await readUntil(reader, ": still here");
    await readUntil(reader, ": still here");
    await reader.cancel();
    await expect.poll(() => stopped).toEqual(["stopped"]);
  });

  it("an error of the source is an event, and the end", async () => {
    const { app } = setUp(async function* () {
      yield* await Promise.reject<never[]>(new Error("hunter2"));
    });
    const text = await (await app.request("/v1/events", { headers: { "x-request-id": "r1" } })).text();
    expect(text).toMatch(/event: problem\ndata: \{.*"code":"INTERNAL".*"request_id":"r1"\}\n\n$/);
    expect(text).not.toContain("hunter2");
  });
});

describe("http kit: server-sent events through a socket", async () => {
  const stopped: string[] = [];
  const { app, closing } = setUp(counter(1, stopped));
  const server = await serve(app, { host: "127.0.0.1", port: 0 });
  afterAll(() => server.close());

  it("the source stops when the client goes away, and when the server begins to close", async () => {
    const leaving = new AbortController();
    const left = readerOf(await fetch(`${server.url}/v1/events`, { signal: leaving.signal }));
    await readUntil(left, "id: 1");
    leaving.abort();
    await expect.poll(() => stopped).toHaveLength(1);
    const reader = readerOf(await fetch(`${server.url}/v1/events`));
    await readUntil(reader, "id: 1");
    closing.abort();
    expect((await reader.read()).done).toBe(true);
    expect(stopped).toHaveLength(2);
  });
});
