/** Clients of the revisions up to 2025-11-25: they initialize a session and name it in every request. Any process can serve any session. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { ProtocolError, ProtocolErrorCode, type AuthInfo, type McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { jsonObject } from "../../contract/index.ts";
import type { Caller } from "../../domain/caller.ts";
import type { JsonObject } from "../../domain/json.ts";
import { hasCode } from "../../domain/errors.ts";
import { allChanges, followResources, type McpSession } from "../../mcp/index.ts";
import { answerIdOf, rpcCodes, rpcError } from "./json-rpc.ts";
import { LocalSession } from "./local-session.ts";
import { subscriptionsMax, tooManySubscriptions, type SessionRecord, type SessionStore } from "./session-store.ts";

export interface LegacyOptions {
  readonly store: SessionStore;
  /** A server whose requests act for their sender. */
  readonly serverOf: (latest: () => AuthInfo) => McpServer;
  readonly onFailure: (error: unknown, what: string) => void;
  /** Called when a session ends permanently. */
  readonly onEnd: (caller: Caller, session: string) => Promise<void>;
}

/** A request of an authenticated caller. */
export interface LegacyRequest {
  readonly request: Request;
  /** The parsed body; undefined without one. */
  readonly body: unknown;
  readonly caller: Caller;
  readonly session: McpSession;
  readonly authInfo: AuthInfo;
  /** Rejects when the credentials of the request have ended. */
  readonly stillValid: () => Promise<unknown>;
}

const sessionHeader = "mcp-session-id";
const sessionIdCharsMax = 128;
/** Sessions kept in memory, of all users: beyond that, the least recently used one is closed here; it stays in the store. */
const localMax = 1_000;
const watchMs = 2_000;

const Initialize = z.looseObject({ method: z.literal("initialize"), params: jsonObject() });

export class LegacySessions {
  readonly #options: LegacyOptions;
  readonly #local = new Map<string, Promise<LocalSession>>();

  constructor(options: LegacyOptions) {
    this.#options = options;
  }

  async handle(incoming: LegacyRequest): Promise<Response> {
    const { request, body, caller, authInfo } = incoming;
    const id = request.headers.get(sessionHeader);
    if (id === null) return this.#initialize(request, body, caller, authInfo);
    const { store } = this.#options;
    const record = id.length > sessionIdCharsMax ? undefined : await store.read(caller, id);
    if (record === undefined) {
      this.#drop(keyOf(caller, id));
      return rpcError(
        404,
        rpcCodes.noSession,
        "Session not found: it has ended. Send initialize without Mcp-Session-Id.",
      );
    }
    await store.touch(caller, record);
    const local = await this.#open(caller, authInfo, id, record);
    if (request.method === "DELETE") return this.#end(local, request, caller, id);
    const answerId = answerIdOf(body);
    if (answerId !== undefined) return this.#answer(local, request, body as JsonObject, caller, answerId);
    const response = await local.handle(request, body, authInfo);
    if (request.method === "GET" && response.ok) {
      await this.#notify(local, incoming);
      this.#watch(local, request.signal, caller);
    }
    return response;
  }

  async close(): Promise<void> {
    const open = await Promise.allSettled(this.#local.values());
    this.#local.clear();
    await Promise.all(open.map(async (one) => (one.status === "fulfilled" ? one.value.close() : undefined)));
  }

  async #initialize(request: Request, body: unknown, caller: Caller, authInfo: AuthInfo): Promise<Response> {
    const initialize = Initialize.safeParse(body);
    if (!initialize.success)
      return rpcError(400, rpcCodes.refused, "Bad Request: Mcp-Session-Id is required. Send initialize first.");
    const id = randomUUID();
    const { params } = initialize.data;
    const local = this.#make(caller, authInfo, id);
    const response = await local.start(request, body);
    try {
      if (response.ok) await this.#options.store.create(caller, id, params);
    } catch (error) {
      await local.close();
      throw error;
    }
    if (response.ok) this.#keep(caller, id, Promise.resolve(local));
    else await local.close();
    return response;
  }

  /** From this process, or rebuilt from the initialize request that another process received. */
  async #open(caller: Caller, authInfo: AuthInfo, id: string, { initialize }: SessionRecord): Promise<LocalSession> {
    const key = keyOf(caller, id);
    const known = this.#local.get(key);
    if (known !== undefined) {
      this.#keep(caller, id, known);
      (await known).auth = authInfo;
      return known;
    }
    const opening = (async () => {
      const local = this.#make(caller, authInfo, id);
      await local.resume(initialize);
      return local;
    })();
    this.#keep(caller, id, opening);
    opening.catch(() => this.#local.delete(key));
    return opening;
  }

  #make(caller: Caller, authInfo: AuthInfo, id: string): LocalSession {
    const { serverOf, store } = this.#options;
    const server = serverOf(() => local.auth);
    this.#takeSubscriptions(server, caller, id);
    const local = new LocalSession({ id, server, caller, store, auth: authInfo });
    return local;
  }

  #takeSubscriptions(server: McpServer, caller: Caller, id: string): void {
    const apply = async (change: (uris: readonly string[]) => readonly string[]) => {
      await this.#options.store.subscribe(caller, id, change);
      return {};
    };
    server.server.setRequestHandler("resources/subscribe", ({ params: { uri } }) =>
      apply((uris) => {
        if (uris.includes(uri)) return uris;
        if (uris.length >= subscriptionsMax)
          throw new ProtocolError(ProtocolErrorCode.InvalidRequest, tooManySubscriptions(uris.length + 1));
        return [...uris, uri];
      }),
    );
    server.server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) =>
      apply((uris) => uris.filter((one) => one !== uri)),
    );
  }

  /** While the client holds its stream open: what it subscribed to, in whichever process. */
  async #notify(
    local: LocalSession,
    { request: { signal }, caller, session, stillValid }: LegacyRequest,
  ): Promise<void> {
    const { store, onFailure } = this.#options;
    const changed = async (uri: string): Promise<void> => {
      await stillValid();
      if (uri === "list") return local.server.sendResourceListChanged();
      const record = await store.read(caller, local.id);
      if (record?.subscriptions.includes(uri) === true) await local.server.server.sendResourceUpdated({ uri });
    };
    try {
      const { over } = await followResources(session, allChanges, changed, signal);
      over.catch((error: unknown) => {
        if (signal.aborted) return;
        // A credential that has ended, or a failure: the client opens it again, and changes are followed again.
        if (!hasCode(error, "UNAUTHENTICATED")) onFailure(error, "subscriptions");
        local.endStream();
      });
    } catch (error) {
      local.endStream();
      throw error;
    }
  }

  /** While the stream is open, marks the session as used, and checks whether another process ended it. */
  #watch(local: LocalSession, signal: AbortSignal, caller: Caller): void {
    const { store, onFailure } = this.#options;
    const look = async (): Promise<void> => {
      for (;;) {
        await sleep(watchMs, undefined, { signal, ref: false });
        const record = await store.read(caller, local.id);
        if (record === undefined) return this.#drop(keyOf(caller, local.id));
        await store.touch(caller, record);
      }
    };
    look().catch((error: unknown) => {
      if (signal.aborted) return;
      onFailure(error, "session");
      local.endStream();
    });
  }

  async #answer(
    local: LocalSession,
    request: Request,
    body: JsonObject,
    caller: Caller,
    id: string | number,
  ): Promise<Response> {
    const own = local.ownRequestId(id);
    if (own !== undefined) {
      local.answered(id);
      return local.handle(request, { ...body, id: own });
    }
    await this.#options.store.deliver(caller, local.id, String(id), body);
    return new Response(null, { status: 202 });
  }

  async #end(local: LocalSession, request: Request, caller: Caller, id: string): Promise<Response> {
    await this.#options.store.end(caller, id);
    await this.#options.onEnd(caller, id);
    const response = await local.handle(request, undefined);
    this.#drop(keyOf(caller, id));
    return response;
  }

  #keep(caller: Caller, id: string, local: Promise<LocalSession>): void {
    const key = keyOf(caller, id);
    this.#local.delete(key);
    this.#local.set(key, local);
    const oldest = this.#local.keys().next().value;
    if (this.#local.size > localMax && oldest !== undefined) this.#drop(oldest);
  }

  #drop(key: string): void {
    const local = this.#local.get(key);
    this.#local.delete(key);
    void local?.then((one) => one.close()).catch((error: unknown) => this.#options.onFailure(error, "session"));
  }
}

function keyOf({ scope, userId }: Caller, id: string): string {
  return JSON.stringify([scope.tenant, userId, id]);
}
