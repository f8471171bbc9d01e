/** Connections that hold on to the server, over real sockets: each bound at the limit and one past it. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Hono } from "hono";
import { afterEach, describe, expect, it } from "vitest";
import { connectionDefaults, readConnectionLimits, type ConnectionLimits } from "../config-connections.ts";
import { makeCaller } from "../domain/caller.ts";
import { defineRoute, EventStreams, mount, sse, type KitEnv } from "./framework/index.ts";
import { serve, type RunningServer } from "./serve.ts";
import { z } from "zod";

let running: RunningServer | undefined;
let sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  await running?.close();
  running = undefined;
});

async function start(limits: Partial<ConnectionLimits>): Promise<void> {
  const app = new Hono<KitEnv>();
  const via = "key" as const;
  const caller = { via, caller: makeCaller({ tenant: "w", userId: "ann" }) };
  const other = { via, caller: makeCaller({ tenant: "w", userId: "bob" }) };
  const connections = { ...connectionDefaults, ...limits };
  const common = { tag: "t", summary: "x", answers: { 200: { description: "x" } } } as const;
  const routes = [
    defineRoute({
      ...common,
      method: "GET",
      path: "/one",
      operationId: "one",
      auth: "public",
      handler: () => ({ status: 200, body: { ok: true } }),
    }),
    defineRoute({
      ...common,
      method: "POST",
      path: "/in",
      operationId: "in",
      auth: "public",
      body: z.looseObject({}),
      handler: () => ({ status: 200, body: { ok: true } }),
    }),
    defineRoute({
      ...common,
      method: "GET",
      path: "/flood",
      operationId: "flood",
      auth: "caller",
      handler: (request) =>
        sse(request, async function* (_last, signal) {
          for (let id = 0; !signal.aborted; id += 1)
            yield { id: String(id), event: "document.status", data: { text: "x".repeat(100_000) } };
        }),
    }),
    defineRoute({
      ...common,
      method: "GET",
      path: "/events",
      operationId: "events",
      auth: "caller",
      handler: (request) =>
        sse(request, async function* (_last, signal) {
          if (!signal.aborted) await once(signal, "abort");
          yield* [];
        }),
    }),
  ];
  const authenticate = async ({ bearer }: { bearer?: string | undefined }) => (bearer === "bob" ? other : caller);
  mount(app, routes, { authenticate, streams: new EventStreams(connections) });
  running = await serve(app, { host: "127.0.0.1", port: 0, connections });
}

async function open(text = ""): Promise<Socket> {
  const socket = connect(Number(new URL((running as RunningServer).url).port), "127.0.0.1");
  socket.on("error", () => undefined);
  sockets.push(socket);
  await once(socket, "connect");
  if (text !== "") socket.write(text);
  return socket;
}

const get = "GET /one HTTP/1.1\r\nhost: x\r\n\r\n";

/** What comes until `wanted` is in it, or the server closed. */
async function answerOf(socket: Socket, wanted = "\0"): Promise<string> {
  let text = "";
  for await (const chunk of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    text += chunk.toString("latin1");
    if (text.includes(wanted)) break;
  }
  return text;
}

describe("http: connections", () => {
  it("of one address: the last that fits is served, one more is 429 with Retry-After, and a place that is free again is taken", async () => {
    await start({ connectionsPerAddressMax: 3 });
    const [first] = [await open(), await open()];
    const third = await open(get);
    expect(await answerOf(third, '"ok"')).toContain("200 OK");
    expect(await answerOf(await open(get))).toMatch(/^HTTP\/1\.1 429 [^]*retry-after: 5[^]*3 connections/);
    first?.destroy();
    // The server learns of it a moment later.
    for (let text = ""; !text.includes("200 OK");) text = await answerOf(await open(get), '"ok"');
  });

  it("of all: one more than fit is 503 with Retry-After", async () => {
    await start({ connectionsMax: 2 });
    await open();
    expect(await answerOf(await open(get), '"ok"')).toContain("200 OK");
    expect(await answerOf(await open(get))).toMatch(/^HTTP\/1\.1 503 [^]*retry-after: 5/);
  });

  it("that send nothing, or headers without end, are closed after the time for headers", async () => {
    await start({ headersTimeoutSeconds: 1 });
    const [silent, slow] = [await open(), await open("GET /one HTTP/1.1\r\nx: ")];
    expect(await answerOf(slow)).toMatch(/^HTTP\/1\.1 408 /);
    await answerOf(silent);
  });

  it("with half a body are closed after the time without a byte; one that goes on is served", async () => {
    await start({ bodyIdleTimeoutSeconds: 1 });
    const head = "POST /in HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 7\r\n\r\n";
    expect(await answerOf(await open(`${head}{"a"`))).toMatch(/^HTTP\/1\.1 408 [^]*No byte of the body/);
    const whole = await open(`${head}{"a"`);
    whole.write(":1}");
    expect(await answerOf(whole, '"ok"')).toContain("200 OK");
  });

  it("with a whole request that takes too long are closed, although bytes come", async () => {
    await start({ headersTimeoutSeconds: 1, requestTimeoutSeconds: 1 });
    const socket = await open(
      "POST /in HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n",
    );
    const drip = setInterval(() => void (socket.writable && socket.write(" ")), 50);
    // A byte that arrives after the server closed resets the connection, which may discard an answer that was not read yet.
    const answer = await answerOf(socket).catch((error: NodeJS.ErrnoException) => error.code);
    expect(answer).toMatch(/^(HTTP\/1\.1 408 |ECONNRESET$)/);
    clearInterval(drip);
  });

  it("that pause between two requests are closed after the time for that", async () => {
    await start({ keepAliveTimeoutSeconds: 1 });
    expect(await answerOf(await open(get))).toContain("200 OK");
  });
});

describe("http: event streams", () => {
  const events = (user = "ann") => `GET /events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${user}\r\n\r\n`;

  it("of one user: one more than fit is 429 with Retry-After, others are served, and a place that is free again is taken", async () => {
    await start({ eventStreamsPerUserMax: 2 });
    const first = await open(events());
    expect(await answerOf(first, "retry: ")).toContain("200 OK");
    expect(await answerOf(await open(events()), "retry: ")).toContain("200 OK");
    expect(await answerOf(await open(events()), "close one")).toMatch(
      /^HTTP\/1\.1 429 [^]*retry-after: 5[^]*2 open event streams/i,
    );
    expect(await answerOf(await open(events("bob")), "retry: ")).toContain("200 OK");
    first.destroy();
    for (let text = ""; !text.includes("200 OK");) text = await answerOf(await open(events()), "\r\n\r\n");
  });

  it("that their client never reads end after the time for that, and their places are free; quiet ones stay", async () => {
    await start({ eventStreamsPerUserMax: 2, answerIdleTimeoutSeconds: 1 });
    const quiet = await open(events());
    expect(await answerOf(quiet, "retry: ")).toContain("200 OK");
    const unread = await open(events().replace("/events", "/flood"));
    unread.pause();
    expect(await answerOf(await open(events()), "close one")).toMatch(/^HTTP\/1\.1 429 /);
    for (let text = ""; !text.includes("200 OK");) {
      const again = await open(events());
      text = await answerOf(again, "\r\n\r\n");
      if (!text.includes("200 OK")) again.destroy();
      await sleep(50);
    }
    expect(quiet.readyState).toBe("open");
    // One that reads gets far more than fits into any buffer.
    const reading = await open(events("bob").replace("/events", "/flood"));
    let bytes = 0;
    for await (const chunk of reading as AsyncIterable<Buffer>) if ((bytes += chunk.length) > 30_000_000) break;
    expect(bytes).toBeGreaterThan(30_000_000);
  });

  it("of all users: one more than fit is 429", async () => {
    await start({ eventStreamsMax: 1 });
    expect(await answerOf(await open(events()), "retry: ")).toContain("200 OK");
    expect(await answerOf(await open(events("bob")), "the most")).toMatch(/^HTTP\/1\.1 429 [^]*retry-after: 5/i);
  });
});

it("the settings are whole numbers within bounds", () => {
  const read = (given: Record<string, string>) => readConnectionLimits((name) => given[name]);
  expect(read({})).toEqual(connectionDefaults);
  expect(read({ PINAKES_EVENT_STREAMS_PER_USER_MAX: "1", PINAKES_KEEP_ALIVE_TIMEOUT_SECONDS: "86400" })).toMatchObject({
    eventStreamsPerUserMax: 1,
    keepAliveTimeoutSeconds: 86_400,
  });
  for (const bad of ["0", "86401", "x", "1.5"])
    expect(() => read({ PINAKES_KEEP_ALIVE_TIMEOUT_SECONDS: bad })).toThrow("PINAKES_KEEP_ALIVE_TIMEOUT_SECONDS");
  expect(() => read({ PINAKES_HEADERS_TIMEOUT_SECONDS: "301" })).toThrow("PINAKES_REQUEST_TIMEOUT_SECONDS");
});
