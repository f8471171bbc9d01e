/**
 * One session of a 2025 client in this process: a server and its transport. Ids of requests that the server sends carry a tag of the
 * process, so that a response that another process receives is routed back (session-store.ts).
 */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  WebStandardStreamableHTTPServerTransport,
  type AuthInfo,
  type JSONRPCMessage,
  type McpServer,
} from "@modelcontextprotocol/server";
import type { Caller } from "../../domain/caller.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { SessionStore } from "./session-store.ts";

const collectMs = 300;
const address = "http://localhost/mcp";

export interface LocalSessionInput {
  readonly id: string;
  readonly server: McpServer;
  readonly caller: Caller;
  readonly store: SessionStore;
  readonly auth: AuthInfo;
}

export class LocalSession {
  readonly id: string;
  readonly server: McpServer;
  /** The caller of the latest request. */
  auth: AuthInfo;
  readonly #transport: WebStandardStreamableHTTPServerTransport;
  readonly #tag = randomBytes(6).toString("base64url");
  /** Requests to the client that await a response, by tagged id. */
  readonly #pending = new Set<string>();
  readonly #caller: Caller;
  readonly #store: SessionStore;
  #collecting = false;
  #closed = false;

  constructor({ id, server, caller, store, auth }: LocalSessionInput) {
    this.id = id;
    this.server = server;
    this.auth = auth;
    this.#caller = caller;
    this.#store = store;
    this.#transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => id });
    const send = this.#transport.send.bind(this.#transport);
    this.#transport.send = (message, options) => send(this.#tagged(message), options);
  }

  /** Connects the server and answers the client's `initialize`. */
  async start(request: Request, initialize: unknown): Promise<Response> {
    await this.server.connect(this.#transport);
    return this.handle(request, initialize);
  }

  /** In a process other than the one the client initialized: uses the original parameters. */
  async resume(params: JsonObject): Promise<void> {
    const response = await this.start(postRequest(), { jsonrpc: "2.0", id: 0, method: "initialize", params });
    await response.body?.cancel();
    await this.handle(postRequest(this.id), { jsonrpc: "2.0", method: "notifications/initialized" });
  }

  async handle(request: Request, parsedBody: unknown, authInfo?: AuthInfo): Promise<Response> {
    return this.#transport.handleRequest(request, {
      ...(parsedBody === undefined ? {} : { parsedBody }),
      ...(authInfo === undefined ? {} : { authInfo }),
    });
  }

  /** The untagged id of a request of this process; undefined for a request of another process. */
  ownRequestId(id: string | number): number | undefined {
    const [tag, own] = String(id).split(":");
    return tag === this.#tag && own !== undefined ? Number(own) : undefined;
  }

  answered(id: string | number): void {
    this.#pending.delete(String(id));
  }

  /** Ends the event stream opened by a GET; the session stays. */
  endStream(): void {
    this.#transport.closeStandaloneSSEStream();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#pending.clear();
    await this.server.close();
  }

  #tagged(message: JSONRPCMessage): JSONRPCMessage {
    if (!("method" in message)) return message;
    if ("id" in message) {
      const id = `${this.#tag}:${message.id}`;
      this.#pending.add(id);
      if (!this.#collecting) void this.#collect();
      return { ...message, id };
    }
    if (message.method !== "notifications/cancelled") return message;
    const id = `${this.#tag}:${String(message.params?.["requestId"])}`;
    this.#pending.delete(id);
    return { ...message, params: { ...message.params, requestId: id } };
  }

  /** Polls while requests await a response: the client may have sent it to another process. */
  async #collect(): Promise<void> {
    this.#collecting = true;
    while (this.#pending.size > 0 && !this.#closed) {
      await sleep(collectMs);
      for (const id of this.#pending) {
        const message = await this.#store.collect(this.#caller, this.id, id).catch(() => undefined);
        if (message === undefined) continue;
        this.#pending.delete(id);
        this.#transport.onmessage?.({ ...message, id: this.ownRequestId(id) } as JSONRPCMessage);
      }
    }
    this.#collecting = false;
  }
}

function postRequest(session?: string): Request {
  return new Request(address, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(session === undefined ? {} : { "mcp-session-id": session }),
    },
  });
}
