/** A server on a socket with MCP, and raw requests to it at both revisions. */
import { createApp, type AppOptions } from "../../../src/http/app.ts";
import { serve } from "../../../src/http/serve.ts";
import { open, type OpenOptions, type Pinakes } from "../../../src/open.ts";
import type { Authenticated } from "../../../src/identity/index.ts";

export const rootToken = "root-token-of-the-mcp-tests-0123456789";
export const modernRevision = "2026-07-28";
const meta = {
  "io.modelcontextprotocol/protocolVersion": modernRevision,
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

export interface McpTestServer extends AsyncDisposable {
  readonly pinakes: Pinakes;
  readonly url: string;
  /** Aborted: the server begins to close. */
  readonly closing: AbortController;
  key(workspace: string, user: string, scopes?: ("read" | "write")[]): Promise<string>;
  post(body: unknown, options?: RequestOptions): Promise<Response>;
  /** A request of the stateless revision. */
  modern(method: string, params: object, options?: RequestOptions): Promise<Response>;
  /** The id of a new session. */
  session(key?: string): Promise<string>;
}

export interface RequestOptions {
  readonly key?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly signal?: AbortSignal;
}

export async function openMcpServer(options: OpenOptions = {}, app: AppOptions = {}): Promise<McpTestServer> {
  const pinakes = await open({ items: "memory:", objects: "memory:", rootToken, ...options });
  const closing = new AbortController();
  const server = await serve(await createApp(pinakes, { requestsPerSecond: 1e6, closing: closing.signal, ...app }), {
    host: "127.0.0.1",
    port: 0,
    connections: { ...(await import("../../../src/config-connections.ts")).connectionDefaults, ...app.connections },
  });
  const url = `${server.url}/mcp`;
  const root: Authenticated = await pinakes.identity.authenticate({ bearer: rootToken, safeMethod: false });
  const post: McpTestServer["post"] = (body, { key = rootToken, headers, method = "POST", signal } = {}) =>
    fetch(url, {
      method,
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        accept: "application/json, text/event-stream",
        authorization: `Bearer ${key}`,
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  let id = 0;
  return {
    pinakes,
    url,
    closing,
    post,
    key: async (workspace, user, scopes) =>
      (await pinakes.identity.keys.create(root, { workspace_id: workspace, user_id: user, ...(scopes && { scopes }) }))
        .key,
    modern: (method, params, { headers, ...rest } = {}) => {
      const { name, uri } = params as { readonly name?: string; readonly uri?: string };
      return post(
        { jsonrpc: "2.0", id: (id += 1), method, params: { ...params, _meta: meta } },
        {
          ...rest,
          headers: {
            "mcp-protocol-version": modernRevision,
            "mcp-method": method,
            ...(name === undefined && uri === undefined ? {} : { "mcp-name": name ?? uri ?? "" }),
            ...headers,
          },
        },
      );
    },
    session: async (key) => {
      const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
      const response = await post({ jsonrpc: "2.0", id: 1, method: "initialize", params }, { key });
      await response.text();
      return response.headers.get("mcp-session-id") ?? "";
    },
    [Symbol.asyncDispose]: async () => {
      closing.abort();
      await server.close();
      await pinakes.close();
    },
  };
}

/** The JSON-RPC message of an answer, JSON or the first event of a stream. */
export async function messageOf(response: Response): Promise<Record<string, never>> {
  const text = await response.text();
  const data = text.split("\n").find((line) => line.startsWith("data: {"));
  return JSON.parse(data === undefined ? text : data.slice("data: ".length)) as Record<string, never>;
}

/** The messages of an event stream, as they come. */
export async function* messagesOf(response: Response): AsyncGenerator<{ method?: string; params?: { uri?: string } }> {
  let buffered = "";
  for await (const chunk of (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
    buffered += chunk;
    for (let end = buffered.indexOf("\n\n"); end !== -1; end = buffered.indexOf("\n\n")) {
      const data = buffered
        .slice(0, end)
        .split("\n")
        .find((line) => line.startsWith("data: {"));
      buffered = buffered.slice(end + 2);
      if (data !== undefined) yield JSON.parse(data.slice("data: ".length)) as { method?: string };
    }
  }
}
