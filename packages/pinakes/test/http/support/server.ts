/** A whole Pinakes behind its HTTP interface: real stores, real model, every answer checked against what its route declares. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Hono } from "hono";
import { createApp, type AppOptions } from "../../../src/http/app.ts";
import { RateLimiter, type KitEnv } from "../../../src/http/framework/index.ts";
import { open, type OpenOptions, type Pinakes } from "../../../src/open.ts";
import { until } from "../../support/until.ts";

export const rootToken = "root-token-of-these-tests-0123456789";
/** No test shall meet a limit that it is not about. */
const wide = { perSecond: 1e6, burst: 1e6 };

export interface Json {
  readonly [field: string]: unknown;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** {} when the body is no JSON. */
  readonly json: Json;
}

export interface CallOptions {
  /** Absent: no credentials. */
  readonly key?: string | undefined;
  /** Sent as JSON, unless it is text, bytes, a form or a stream. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal;
}

export interface KeyWishes {
  readonly groups?: readonly string[];
  readonly role?: "admin" | "repository_admin" | "user";
  readonly scopes?: readonly ("read" | "write")[];
  readonly expires_at?: string;
  readonly name?: string;
  readonly act_as?: readonly string[];
}

export interface TestServer extends AsyncDisposable {
  readonly pinakes: Pinakes;
  readonly app: Hono<KitEnv>;
  readonly dir: string;
  /** What the server calls now; moved by `later`. */
  later(ms: number): void;
  call(method: string, path: string, options?: CallOptions): Promise<Reply>;
  raw(method: string, path: string, options?: CallOptions): Promise<Response>;
  /** A new API key. */
  key(workspace: string, user: string, wishes?: KeyWishes): Promise<string>;
  /** The document when it is indexed or has failed. */
  settled(key: string, documentPath: string): Promise<Json>;
}

export async function openTestServer(
  engine: "memory" | "sqlite" = "memory",
  options: OpenOptions = {},
  more: AppOptions = {},
): Promise<TestServer> {
  const dir = await mkdtemp(join(tmpdir(), "pinakes-http-"));
  let offsetMs = 0;
  const clock = { now: () => Date.now() + offsetMs };
  // Items elsewhere: the objects are in the folder all the same.
  const local = options.items === undefined ? {} : { objects: `file:${join(dir, "objects")}` };
  const stores = engine === "memory" ? { items: "memory:", objects: "memory:" } : local;
  const pinakes = await open({ dir, ...stores, clock, rootToken, pipelineFolders: [dir], ...options });
  const limiter = new RateLimiter({ caller: wide, authFailures: wide });
  const app = await createApp(pinakes, { checkAnswers: true, limiter, ...more });
  const raw = async (method: string, path: string, call: CallOptions = {}) =>
    app.request(path, requestInit(method, call));
  const call = async (method: string, path: string, wishes: CallOptions = {}) =>
    readReply(await raw(method, path, wishes));
  return {
    pinakes,
    app,
    dir,
    later: (ms) => void (offsetMs += ms),
    raw,
    call,
    key: async (workspace_id, user_id, wishes = {}) => {
      const made = await call("POST", "/v1/keys", { key: rootToken, body: { workspace_id, user_id, ...wishes } });
      if (made.status !== 201) throw new Error(`no key was made: ${made.text}`);
      return made.json["key"] as string;
    },
    settled: (key, path) =>
      until(async () => {
        const { status, json, text } = await call("GET", path, { key });
        if (status !== 200) throw new Error(`no document at ${path}: ${text}`);
        return json["status"] === "indexed" || json["status"] === "failed" ? json : undefined;
      }),
    [Symbol.asyncDispose]: async () => {
      await pinakes.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

export function requestInit(method: string, { key, body, headers = {}, signal }: CallOptions): RequestInit {
  const asIs =
    typeof body === "string" ||
    body instanceof Uint8Array ||
    body instanceof FormData ||
    body instanceof ReadableStream;
  return {
    method,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined || asIs ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: asIs ? body : JSON.stringify(body) }),
    ...(body instanceof ReadableStream ? { duplex: "half" } : {}),
    ...(signal === undefined ? {} : { signal }),
  };
}

export async function readReply(response: Response): Promise<Reply> {
  const text = await response.text();
  // Not NDJSON, which is several.
  const isJson = /\bjson\b/.test(response.headers.get("content-type") ?? "") && text !== "";
  return { status: response.status, headers: response.headers, text, json: isJson ? (JSON.parse(text) as Json) : {} };
}

/** A form with files, and fields before them. */
export function form(
  files: Readonly<Record<string, string | Uint8Array>>,
  fields: Readonly<Record<string, string>> = {},
): FormData {
  const made = new FormData();
  for (const [name, value] of Object.entries(fields)) made.append(name, value);
  for (const [name, content] of Object.entries(files))
    made.append("file", new Blob([typeof content === "string" ? content : Buffer.from(content)]), name);
  return made;
}

/** A repository with one collection, made by its admin. */
export interface Site {
  readonly server: TestServer;
  readonly key: string;
  readonly repository: string;
  readonly collection: string;
  /** /v1/repositories/…/collections/… */
  readonly at: string;
}

let sites = 0;
export async function newSite(server: TestServer, key: string, fields: object = {}): Promise<Site> {
  sites += 1;
  const repository = `r${sites}`;
  const made = await server.call("POST", "/v1/repositories", { key, body: { repository_id: repository } });
  const collection = await server.call("POST", `/v1/repositories/${repository}/collections`, {
    key,
    body: { name: "Papers", ...fields },
  });
  if (made.status !== 201 || collection.status !== 201)
    throw new Error(`no place was made: ${made.text} ${collection.text}`);
  const id = collection.json["collection_id"] as string;
  return { server, key, repository, collection: id, at: `/v1/repositories/${repository}/collections/${id}` };
}

export async function sendText(
  { server, key, at }: Site,
  name: string,
  text: string,
  more: object = {},
): Promise<Json> {
  const {
    status,
    json,
    text: told,
  } = await server.call("POST", `${at}/documents`, { key, body: { name, text, ...more } });
  if (status !== 202) throw new Error(`${name} was not taken: ${told}`);
  return (json["documents"] as Json[])[0] as Json;
}

export async function sendAndSettle(site: Site, name: string, text: string, more: object = {}): Promise<Json> {
  const { document_id } = await sendText(site, name, text, more);
  return site.server.settled(site.key, `${site.at}/documents/${document_id as string}`);
}
