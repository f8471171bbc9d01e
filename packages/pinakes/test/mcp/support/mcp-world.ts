/** A Pinakes on a socket, called by the official MCP client at either revision, and at `/v1` for what its answers must equal. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport, type CallToolResult } from "@modelcontextprotocol/client";
import { afterAll, beforeAll } from "vitest";
import { startPostgres } from "../../../src/drivers/postgres/test-server.ts";
import { createApp } from "../../../src/http/app.ts";
import { RateLimiter } from "../../../src/http/framework/index.ts";
import { serve } from "../../../src/http/serve.ts";
import { open, type OpenOptions, type Pinakes } from "../../../src/open.ts";
import { requestInit, rootToken, type Json, type KeyWishes } from "../../http/support/server.ts";
import { until } from "../../support/until.ts";

export const revisions = ["2025-11-25", "2026-07-28"] as const;
export type Revision = (typeof revisions)[number];
export type Engine = "SQLite" | "PostgreSQL";
export const engines: readonly Engine[] = ["SQLite", "PostgreSQL"];
/** No test shall meet a limit that it is not about. */
const wide = { perSecond: 1e6, burst: 1e6 };

export interface V1Answer {
  readonly status: number;
  readonly json: Json;
}

export interface ClientWishes {
  /** Of a user whom the client can ask; none when absent. */
  readonly elicit?: (message: string) => Elicited | Promise<Elicited>;
  /** Of another server than the world's own. */
  readonly url?: string;
}
export type Elicited =
  | { readonly action: "accept"; readonly content: Record<string, string | number | boolean> }
  | { readonly action: "decline" | "cancel" };

export interface Connection {
  readonly client: Client;
  readonly transport: StreamableHTTPClientTransport;
}

export class McpWorld implements AsyncDisposable {
  readonly url: string;
  readonly #pinakes: Pinakes | undefined;
  readonly #undo: AsyncDisposableStack;
  readonly #moveClock: (ms: number) => void;

  /** `pinakes`: undefined where the servers are processes of their own. */
  constructor(
    pinakes: Pinakes | undefined,
    url: string,
    undo: AsyncDisposableStack,
    moveClock: (ms: number) => void = () => {},
  ) {
    this.#pinakes = pinakes;
    this.url = url;
    this.#undo = undo;
    this.#moveClock = moveClock;
  }

  get pinakes(): Pinakes {
    if (this.#pinakes === undefined) throw new Error("The servers are processes of their own.");
    return this.#pinakes;
  }

  static async open(options: OpenOptions = {}): Promise<McpWorld> {
    await using undo = new AsyncDisposableStack();
    const dir = await mkdtemp(join(tmpdir(), "pinakes-mcp-"));
    undo.defer(() => rm(dir, { recursive: true, force: true }));
    let offsetMs = 0;
    const clock = { now: () => Date.now() + offsetMs };
    const pinakes = undo.use(await open({ dir, rootToken, clock, ...options }));
    const url = await listen(pinakes, undo);
    return new McpWorld(pinakes, url, undo.move(), (ms) => {
      offsetMs += ms;
    });
  }

  /** Everything that measures time on the server is ahead from now on. */
  later(ms: number): void {
    this.#moveClock(ms);
  }

  async key(workspace_id: string, user_id: string, wishes: KeyWishes = {}): Promise<string> {
    const { json } = await this.v1(rootToken, "POST", "/v1/keys", { workspace_id, user_id, ...wishes });
    return json["key"] as string;
  }

  async v1(key: string, method: string, path: string, body?: unknown): Promise<V1Answer> {
    const answer = await fetch(`${this.url}${path}`, requestInit(method, { key, body }));
    const text = await answer.text();
    const json = answer.headers.get("content-type")?.includes("json") === true ? (JSON.parse(text) as Json) : { text };
    return { status: answer.status, json };
  }

  /** The body of an answer that must be a success. */
  async ok(key: string, method: string, path: string, body?: unknown): Promise<Json> {
    const { status, json } = await this.v1(key, method, path, body);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(json)}`);
    return json;
  }

  /** A text in a collection, indexed; its document. */
  async indexed(key: string, collection: string, name: string, text: string): Promise<Json> {
    const at = pathOf(collection);
    const { documents } = await this.ok(key, "POST", `${at}/documents`, { name, text });
    const [document] = documents as Json[];
    return until(async () => {
      const found = await this.ok(key, "GET", `${at}/documents/${String(document?.["document_id"])}`);
      if (found["status"] === "failed") throw new Error(`${name} was not indexed: ${JSON.stringify(found)}`);
      return found["status"] === "indexed" ? found : undefined;
    });
  }

  transport(key: string, url: string = this.url): StreamableHTTPClientTransport {
    return new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${key}` } },
    });
  }

  async connect(revision: Revision, key: string, wishes: ClientWishes = {}): Promise<Connection> {
    const transport = this.transport(key, wishes.url);
    const client = newClient(revision, wishes.elicit);
    await client.connect(transport);
    this.#undo.defer(() => client.close());
    return { client, transport };
  }

  async client(revision: Revision, key: string, wishes?: ClientWishes): Promise<Client> {
    return (await this.connect(revision, key, wishes)).client;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#undo.disposeAsync();
  }
}

/** An app on a free port, until the stack is disposed. */
export async function listen(pinakes: Pinakes, undo: AsyncDisposableStack): Promise<string> {
  const closing = new AbortController();
  const limiter = new RateLimiter({ caller: wide, authFailures: wide });
  const connections = { eventStreamsMax: 1_000, eventStreamsPerUserMax: 100 };
  const app = await createApp(pinakes, { checkAnswers: true, limiter, connections, closing: closing.signal });
  const server = await serve(app, { host: "127.0.0.1", port: 0 });
  undo.defer(() => server.close());
  undo.defer(() => closing.abort());
  return server.url;
}

/** The official client, which speaks exactly this revision. */
export function newClient(revision: Revision, elicit?: ClientWishes["elicit"]): Client {
  const client = new Client(
    { name: "pinakes-tests", version: "1.0.0" },
    {
      capabilities: elicit === undefined ? {} : { elicitation: { form: {} } },
      versionNegotiation: { mode: revision === "2025-11-25" ? "legacy" : { pin: revision } },
    },
  );
  if (elicit !== undefined)
    client.setRequestHandler("elicitation/create", async ({ params }) => ({ ...(await elicit(params.message)) }));
  return client;
}

/** The tests of a describe share one world of its engine. The options are read when it opens. */
export function useWorld(
  engine: Engine,
  fill: (world: McpWorld) => Promise<void> = async () => {},
  options: () => OpenOptions = () => ({}),
): () => McpWorld {
  let world: McpWorld;
  const undo = new AsyncDisposableStack();
  beforeAll(async () => {
    const stores: OpenOptions = { ...options() };
    if (engine === "PostgreSQL") {
      const server = await startPostgres();
      undo.defer(() => server.stop());
      const objects = await mkdtemp(join(tmpdir(), "pinakes-mcp-objects-"));
      undo.defer(() => rm(objects, { recursive: true, force: true }));
      Object.assign(stores, { items: server.url, objects: `file:${objects}` });
    }
    world = undo.use(await McpWorld.open(stores));
    await fill(world);
  });
  afterAll(() => undo.disposeAsync());
  return () => world;
}

export function pathOf(collection: string): string {
  const [repository = "", id = ""] = collection.split("/");
  return `/v1/repositories/${encodeURIComponent(repository)}/collections/${encodeURIComponent(id)}`;
}

export interface Called {
  readonly structured: Json;
  readonly text: string;
  readonly isError: boolean;
  readonly result: CallToolResult;
}

export async function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<Called> {
  const result = await client.callTool({ name, arguments: args });
  const text = result.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  return {
    structured: (result.structuredContent ?? {}) as Json,
    text,
    isError: result.isError === true,
    result,
  };
}

/** The structured content of a call that must succeed. */
export async function succeed(client: Client, name: string, args: Record<string, unknown> = {}): Promise<Json> {
  const { structured, text, isError } = await call(client, name, args);
  if (isError) throw new Error(`${name}: ${text}`);
  return structured;
}

/** The metadata of a catalog tool's envelope. */
export function metadataOf(envelope: Json): Json {
  return envelope["metadata"] as Json;
}

export const base64 = (text: string): string => Buffer.from(text).toString("base64");
