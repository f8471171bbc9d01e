/**
 * MCP over streamable HTTP at `/mcp`: the stateless revision 2026-07-28 and the revisions with sessions up to 2025-11-25 on one address.
 * Each request is authenticated; the same api objects as at `/v1` decide what it may see.
 */
import {
  createMcpHandler,
  InMemoryServerEventBus,
  isLegacyRequest,
  type AuthInfo,
  type McpRequestContext,
  type McpServer,
  type ServerContext,
  isJsonContentType,
} from "@modelcontextprotocol/server";
import type { Context, Hono } from "hono";
import { PinakesError, hasCode } from "../../domain/errors.ts";
import { AuditRecorder, auditedKnowledge, auditedState } from "../../governance/index.ts";
import { requireAuthenticated, type Authenticated } from "../../identity/index.ts";
import { createMcpServer, followResources, wantedFor, type McpExtension, type McpSession } from "../../mcp/index.ts";
import { embeddedKnowledge } from "../../embedded-knowledge.ts";
import type { Pinakes } from "../../open.ts";
import { userAgentOf } from "../framework/audit.ts";
import { socketAddress, type KitEnv } from "../framework/context.ts";
import { readCredentials, secretsOf, sessionCookieNameDefault } from "../framework/credentials.ts";
import { HttpError, toProblemAnswer } from "../framework/http-error.ts";
import type { EventStreams, Logger, RateLimiter } from "../framework/index.ts";
import { describeError } from "../framework/log.ts";
import { baseUrlOf, challengeOf, metadataUrlOf, mountMetadata, type ResourceOptions } from "./authorization.ts";
import { boundedStream } from "./bounded-stream.ts";
import { refuseForeignPage } from "./guard.ts";
import { calledToolOf, methodOf, rpcCodes, rpcError, subscribedUris } from "./json-rpc.ts";
import { LegacySessions, type LegacyRequest } from "./legacy-sessions.ts";
import { readJson } from "../framework/body/body.ts";
import { SessionStore, subscriptionsMax, tooManySubscriptions } from "./session-store.ts";

export interface McpOptions {
  readonly limiter: RateLimiter;
  readonly streams: EventStreams;
  readonly closing: AbortSignal;
  readonly log: Logger;
  readonly allowedOrigins: readonly string[];
  readonly publicUrl: string | undefined;
  /** Additional registrations of the conformance suite; for tests. */
  readonly extend?: McpExtension | undefined;
}

const path = "/mcp";
/** Buffer limit of a stream whose client does not read. */
const unreadBytesMax = 1_048_576;
/** How long the source of a full buffer waits for the client to read. */
const unreadWaitMs = 10_000;

export async function mountMcp(app: Hono<KitEnv>, pinakes: Pinakes, options: McpOptions): Promise<void> {
  const endpoint = new McpEndpoint(pinakes, options, await SessionStore.open(pinakes.items));
  mountMetadata(app, path, endpoint.resource);
  app.on(["POST", "GET", "DELETE"], path, (c) => endpoint.answer(c));
  app.all(path, (c) => {
    c.set("route", path);
    return rpcError(405, rpcCodes.refused, `${c.req.method} is not supported here; use POST, GET or DELETE.`, {
      allow: "POST, GET, DELETE, OPTIONS",
    });
  });
}

interface Extra extends Record<string, unknown> {
  readonly auth: Authenticated;
  readonly missingScope: string | undefined;
  /** The tool that the request calls. */
  readonly tool: string | undefined;
  readonly baseUrl: string;
  /** For the audit log. */
  readonly from: RequestOrigin;
}

interface Incoming {
  readonly request: Request;
  /** Parsed; undefined without one. */
  readonly body: unknown;
  readonly auth: Authenticated;
  readonly from: RequestOrigin;
  /** Rejects when the credentials of the request have ended: streams outlive them. */
  readonly stillValid: () => Promise<unknown>;
}

interface RequestOrigin {
  readonly ip: string;
  readonly userAgent: string | undefined;
  readonly requestId: string;
}

class McpEndpoint {
  readonly resource: ResourceOptions;
  readonly #pinakes: Pinakes;
  readonly #options: McpOptions;
  readonly #legacy: LegacySessions;
  readonly #modern: ReturnType<typeof createMcpHandler>;
  readonly #version: string;
  readonly #recorder: AuditRecorder;

  constructor(pinakes: Pinakes, options: McpOptions, store: SessionStore) {
    this.#pinakes = pinakes;
    this.#options = options;
    this.#version = pinakes.info().version;
    this.#recorder = new AuditRecorder(pinakes.audit);
    this.resource = { issuers: pinakes.identity.issuers, publicUrl: options.publicUrl };
    this.#modern = createMcpHandler(this.#serverOf, { legacy: "reject" });
    this.#legacy = new LegacySessions({
      store,
      serverOf: (latest) => this.#serverFor((ctx) => ctx?.http?.authInfo ?? latest()),
      onFailure: this.#onFailure,
      onEnd: (caller, session) => pinakes.catalogSelections.slot(caller, session).clear(),
    });
    options.closing.addEventListener("abort", () => {
      for (const closed of [this.#modern.close(), this.#legacy.close()])
        void closed.catch((error: unknown) => this.#onFailure(error, "close"));
    });
  }

  async answer(c: Context<KitEnv>): Promise<Response> {
    c.set("route", path);
    const { raw } = c.req;
    try {
      const refused = refuseForeignPage(raw, { ...this.#options, fromLoopback: readCredentials(c, "").fromLoopback });
      if (refused !== undefined) return refused;
      const [auth, stillValid] = await this.#authenticate(c);
      const body = raw.method === "POST" ? await readBody(raw) : undefined;
      if (body instanceof Response) return body;
      // The body has been read; transports get it parsed. The signal is aborted when the client disconnects.
      const signal = AbortSignal.any([raw.signal, this.#options.closing]);
      const request = new Request(raw.url, { method: raw.method, headers: raw.headers, signal });
      return await this.#serve({ request, body, auth, from: originOf(c), stillValid });
    } catch (error) {
      c.set("failure", error);
      return await this.#recordedRefusal(c, error);
    }
  }

  /** A rejected request is recorded before the response. */
  async #recordedRefusal(c: Context<KitEnv>, error: unknown): Promise<Response> {
    const call = {
      ...originOf(c),
      auth: () => c.get("auth"),
      action: "mcp",
      resource: "mcp",
      verb: "none",
      face: "mcp",
    } as const;
    const refuse = async (): Promise<Response> => this.#refusal(c.req.raw, error, c.get("requestId"));
    try {
      return await this.#recorder.around(call, refuse, (made) => ({
        status: made?.status,
        failure: error,
        fields: {},
      }));
    } catch (unrecorded) {
      return this.#refusal(c.req.raw, unrecorded, c.get("requestId"));
    }
  }

  async #serve({ request, body, auth, from, stillValid }: Incoming): Promise<Response> {
    const { caller } = auth;
    const authInfo = this.#authInfoOf(auth, request, from, calledToolOf(body));
    if (await isLegacyRequest(request, body)) {
      const session = this.#sessionOf(authInfo);
      return this.#serveLegacy({ request, body, caller, session, authInfo, stillValid }, auth);
    }
    if (methodOf(body) !== "subscriptions/listen") return this.#modern.fetch(request, { parsedBody: body, authInfo });
    const uris = subscribedUris(body);
    if (uris.length > subscriptionsMax)
      return rpcError(400, rpcCodes.invalidRequest, tooManySubscriptions(uris.length));
    // A separate bus: the same URI is another resource in another workspace.
    const bus = new InMemoryServerEventBus();
    const ended = new AbortController();
    const listening = createMcpHandler(this.#serverOf, { legacy: "reject", bus });
    const signal = AbortSignal.any([request.signal, ended.signal]);
    const changed = async (uri: string): Promise<void> => {
      await stillValid();
      bus.publish(uri === "list" ? { kind: "resources_list_changed" } : { kind: "resource_updated", uri });
    };
    const end = (): void => {
      ended.abort();
      void listening.close();
    };
    try {
      // Before the acknowledgement: every change after it is told.
      const { over } = await followResources(this.#sessionOf(authInfo), wantedFor(uris), changed, signal);
      over.catch((error: unknown) => {
        if (signal.aborted) return;
        // A credential that has ended, or a failure: the client listens again, and changes are followed again.
        if (!hasCode(error, "UNAUTHENTICATED")) this.#onFailure(error, "subscriptions");
        void listening.close();
      });
      return await this.#held(await listening.fetch(request, { parsedBody: body, authInfo }), auth, end);
    } catch (error) {
      end();
      throw error;
    }
  }

  async #serveLegacy(legacy: LegacyRequest, auth: Authenticated): Promise<Response> {
    const { request } = legacy;
    if (request.method !== "GET") return this.#legacy.handle(legacy);
    // Nothing is followed for a stream that has ended, by whichever side.
    const ended = new AbortController();
    const signal = AbortSignal.any([request.signal, ended.signal]);
    const response = await this.#legacy.handle({ ...legacy, request: new Request(request, { signal }) });
    return this.#held(response, auth, () => ended.abort());
  }

  async #authenticate(c: Context<KitEnv>): Promise<[Authenticated, Incoming["stillValid"]]> {
    const { limiter } = this.#options;
    const address = socketAddress(c);
    // No cookies: an MCP client is a program, and a browser would also send its cookie for a foreign page.
    const { sessionCookie: _, ...credentials } = readCredentials(c, sessionCookieNameDefault);
    try {
      c.set("secrets", secretsOf(credentials));
      limiter.checkAddress(address, credentials);
      const auth = await this.#pinakes.identity.authenticate(credentials);
      c.set("auth", auth);
      limiter.signedIn(credentials);
      limiter.take(auth.caller);
      return [auth, () => this.#pinakes.identity.authenticate(credentials)];
    } catch (error) {
      limiter.failed(address, credentials, error);
      throw error;
    }
  }

  readonly #serverOf = ({ authInfo }: McpRequestContext): McpServer =>
    this.#serverFor(() => authInfo, (authInfo?.extra as Extra | undefined)?.tool);

  #serverFor(authOf: (ctx: ServerContext | undefined) => AuthInfo | undefined, tool?: string): McpServer {
    return createMcpServer({
      sessionOf: (ctx) => this.#sessionOf(authOf(ctx)),
      tool,
      missingScope: (authInfo) => authInfo?.extra?.["missingScope"] as string | undefined,
      version: this.#version,
      onFailure: this.#onFailure,
      extend: this.#options.extend,
    });
  }

  #sessionOf(authInfo: AuthInfo | undefined): McpSession {
    const { auth, baseUrl, from } = (authInfo?.extra ?? {}) as unknown as Extra;
    const { caller, readOnly = false } = requireAuthenticated(auth);
    const who = { auth: () => auth, face: "mcp", ...from } as const;
    return {
      knowledge: auditedKnowledge(embeddedKnowledge(this.#pinakes, caller, auth), this.#recorder, who),
      state: auditedState(this.#pinakes.state.as(caller), this.#recorder, who),
      denied: async (tool, error) => {
        const call = { ...who, action: tool, resource: "tools", verb: "none" } as const;
        const refuse = async (): Promise<never> => {
          throw error;
        };
        await this.#recorder
          .around(call, refuse, () => ({ failure: error, fields: {} }))
          .catch((thrown: unknown) => {
            if (thrown !== error) throw thrown;
          });
      },
      userId: caller.userId,
      readOnly,
      selection: (id) => this.#pinakes.catalogSelections.slot(caller, id),
      baseUrl,
    };
  }

  /** For the SDK, which passes it to every handler of the request; without the token itself. */
  #authInfoOf(auth: Authenticated, request: Request, from: RequestOrigin, tool: string | undefined): AuthInfo {
    const { caller, readOnly = false, via } = auth;
    // A token may be replaced by one with more scopes; a key may not.
    const writeScope = this.resource.issuers.find((one) => one.writeScope !== undefined)?.writeScope;
    const missingScope = via === "token" && readOnly ? writeScope : undefined;
    return {
      token: "",
      clientId: caller.userId,
      scopes: [],
      resourceMetadataUrl: metadataUrlOf(request, path, this.#options.publicUrl),
      extra: { auth, missingScope, tool, baseUrl: baseUrlOf(request, this.#options.publicUrl), from } satisfies Extra,
    };
  }

  /** An event stream that is counted until it ends, and ends if its client does not read. */
  async #held(response: Response, { caller }: Authenticated, onEnd: () => void = () => {}): Promise<Response> {
    const { body, status, headers } = response;
    if (body === null || headers.get("content-type")?.startsWith("text/event-stream") !== true) {
      onEnd();
      return response;
    }
    const stream = boundedStream(body, { bytesMax: unreadBytesMax, waitMs: unreadWaitMs, onEnd });
    const held = await this.#options.streams.hold(caller, { status, stream, contentType: "text/event-stream" });
    return new Response(held.stream as ReadableStream<Uint8Array>, { status, headers });
  }

  #refusal(request: Request, error: unknown, requestId: string): Response {
    const { status, headers, body } = toProblemAnswer(error, requestId);
    if (status >= 500) this.#onFailure(error, "request");
    const detail = String(body["detail"]);
    const answered: Record<string, string> = { ...headers, "content-type": "application/json" };
    if (status === 401) {
      const sent = request.headers.has("authorization") ? "invalid_token" : undefined;
      answered["www-authenticate"] = challengeOf(request, path, this.resource, sent);
    }
    const code = error instanceof HttpError || PinakesError.isInstance(error) ? rpcCodes.refused : rpcCodes.internal;
    return rpcError(status, code, detail, answered);
  }

  readonly #onFailure = (error: unknown, what: string): void => {
    this.#options.log.error({ route: path, what, error: describeError(error, []) }, "an MCP call failed");
  };
}

function originOf(c: Context<KitEnv>): RequestOrigin {
  const userAgent = userAgentOf(c.req.header("user-agent"));
  return { ip: socketAddress(c), userAgent, requestId: c.get("requestId") };
}

/**
 * The JSON body of a POST to `/mcp`, within its limits. A file of 10 MB is 14 MB of base64. Larger files are uploaded over `/v1`.
 */
const mcpBodyBytesMax = 16 * 1_048_576;

/** The parsed body, or the response that rejects it. */
async function readBody(request: Request): Promise<unknown> {
  if (!isJsonContentType(request.headers.get("content-type")))
    return rpcError(415, rpcCodes.refused, "Unsupported Media Type: Content-Type must be application/json.");
  try {
    const { value } = await readJson(request, mcpBodyBytesMax);
    return value === undefined ? rpcError(400, rpcCodes.parse, "Parse error: the body is empty.") : value;
  } catch (error) {
    if (hasCode(error, "LIMIT_EXCEEDED"))
      return rpcError(413, rpcCodes.refused, `${error.detail} Upload files over /v1.`);
    if (hasCode(error, "INVALID")) return rpcError(400, rpcCodes.parse, `Parse error: ${error.detail}`);
    throw error;
  }
}
