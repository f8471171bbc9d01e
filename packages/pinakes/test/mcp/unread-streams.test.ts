/** Clients that open an event stream at `/mcp` and never read it, over real sockets, at both revisions. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { connectionDefaults } from "../../src/config-connections.ts";
import { sessionUri } from "../../src/mcp/index.ts";
import { forAllTests } from "../support/for-tests.ts";
import { openMcpServer } from "./support/mcp-server.ts";
import { revisions, type Revision } from "./support/mcp-world.ts";

const limits = { ...connectionDefaults, eventStreamsPerUserMax: 1, answerIdleTimeoutSeconds: 1 };
const server = forAllTests(() => openMcpServer({}, { connections: limits }));

/** Long ids: every notification of their session has more than 2,500 bytes. */
const [agentId, sessionId] = ["€".repeat(140), "☕".repeat(140)];
const uri = sessionUri(agentId, sessionId);

let sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
});

/** The request that opens a stream which is told of the session, and another of the same user. */
async function streamOf(revision: Revision, key: string): Promise<RequestInit & { readonly method: string }> {
  const common = { authorization: `Bearer ${key}`, "mcp-protocol-version": revision };
  if (revision === "2025-11-25") {
    const headers = { ...common, accept: "text/event-stream", "mcp-session-id": await server.session(key) };
    const subscribe = { jsonrpc: "2.0", id: 2, method: "resources/subscribe", params: { uri } };
    const subscribed = await server.post(subscribe, {
      key,
      headers: { ...headers, accept: "application/json, text/event-stream" },
    });
    expect([subscribed.status, await subscribed.text()]).toEqual([200, expect.stringContaining('"result":{}')]);
    return { method: "GET", headers };
  }
  const params = {
    notifications: { resourceSubscriptions: [uri] },
    _meta: {
      "io.modelcontextprotocol/protocolVersion": revision,
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  };
  return {
    method: "POST",
    headers: {
      ...common,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-method": "subscriptions/listen",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 3, method: "subscriptions/listen", params }),
  };
}

/** Sends the request and reads the head of its answer, and nothing after it. */
async function openUnread({ method, headers, body = "" }: RequestInit & { readonly method: string }): Promise<Socket> {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  const lines = Object.entries(headers as Record<string, string>).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = body === "" ? "" : `content-length: ${Buffer.byteLength(body as string)}\r\n`;
  socket.write(`${method} /mcp HTTP/1.1\r\nhost: ${hostname}\r\n${lines.join("")}${length}\r\n${body as string}`);
  const [head] = (await once(socket, "data")) as [Buffer];
  socket.pause();
  expect(head.toString()).toMatch(/^HTTP\/1\.1 200 [^]*text\/event-stream/);
  return socket;
}

it.each(revisions)("at %s: it is disconnected and its place is free again; a quiet stream stays", async (revision) => {
  const [ann, bob] = await Promise.all([server.key("w1", `ann-${revision}`), server.key("w2", `bob-${revision}`)]);
  const quiet = await openUnread(await streamOf(revision, bob));
  const unread = await openUnread(await streamOf(revision, ann));
  // Of another session at 2025-11-25: a session has one stream.
  const another = await streamOf(revision, ann);
  const open = async (): Promise<number> => {
    const stop = new AbortController();
    const { status } = await fetch(server.url, { ...another, signal: stop.signal });
    stop.abort();
    return status;
  };
  expect(await open()).toBe(429);
  const caller = server.pinakes.as({ tenant: "w1", userId: `ann-${revision}` });
  const message = { agent_id: agentId, session_id: sessionId, message_type: "user", content: "Hello." } as const;
  const statuses = new Set<number>();
  // Far more than sockets and buffers hold: it is never read, so that its place is only free when the server has closed it.
  while (!statuses.has(200)) {
    for (let n = 0; n < 50; n += 1) await server.pinakes.state.memories.append(caller, message);
    statuses.add(await open());
  }
  expect(statuses).toEqual(new Set([429, 200]));
  expect(quiet.readyState).toBe("open");
  // What had been sent is still there; then the connection ends, in the middle of the stream.
  let last: Buffer = Buffer.alloc(0);
  unread.on("data", (chunk: Buffer) => void (last = chunk));
  unread.on("error", () => {});
  unread.resume();
  await once(unread, "close");
  expect(last.toString().endsWith("\r\n0\r\n\r\n")).toBe(false);
});
