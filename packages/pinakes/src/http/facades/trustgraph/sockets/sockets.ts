/** Sockets of TrustGraph clients: their addresses, who may open one, and how many. */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import { hasCode, PinakesError } from "../../../../domain/errors.ts";
import type { AuditRecorder } from "../../../../governance/index.ts";
import { userAgentOf } from "../../../framework/audit.ts";
import { basicKeyOf, loopbackOf } from "../../../framework/credentials.ts";
import {
  HttpError,
  type Authenticated,
  type Credentials,
  type Logger,
  type RateLimiter,
} from "../../../framework/index.ts";
import type { SocketServer } from "../../../serve.ts";
import { readCall, UnknownService, UnknownWorkspace } from "../call.ts";
import { errorObject, type Gateway } from "../gateway.ts";
import { splitKey } from "../key-in-path.ts";
import { requireFlow } from "../services/flows.ts";
import { requireWriter } from "../services/service.ts";
import type { Connection } from "./connection.ts";
import { Import, importKinds, type ImportKind } from "./imports.ts";
import { socketLimits } from "./limits.ts";
import { Multiplexer } from "./multiplexer.ts";

export interface SocketOptions {
  readonly gateway: Gateway;
  readonly authenticate: (credentials: Credentials) => Promise<Authenticated>;
  readonly limiter: RateLimiter;
  readonly log: Logger;
  readonly recorder: AuditRecorder;
}

type Place =
  | { readonly kind: "socket" }
  | { readonly kind: "import" | "export"; readonly flow: string; readonly what: ImportKind };

export class TrustGraphSockets implements SocketServer {
  readonly #options: SocketOptions;
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: socketLimits.frameBytesMax,
    perMessageDeflate: false,
  });
  readonly #perUser = new Map<string, number>();
  readonly #imports = new Set<Import>();
  readonly #alive = new WeakSet<WebSocket>();
  #pings: NodeJS.Timeout | undefined;

  constructor(options: SocketOptions) {
    this.#options = options;
  }

  /** Other upgrades (h2c, which some clients offer) are handled as ordinary requests. */
  wants({ url = "/", headers }: IncomingMessage): boolean {
    return headers.upgrade?.toLowerCase() === "websocket" && /^\/(?:pk_[\w-]+\/)?api\/v1\//.test(url);
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on("error", () => socket.destroy());
    this.#openRecorded(request, socket, head).catch((error: unknown) => refuse(socket, error));
  }

  async close(): Promise<void> {
    clearInterval(this.#pings);
    for (const ws of this.#server.clients) ws.close(1001, "The server is closing.");
    await Promise.all([...this.#imports].map((one) => one.settled()));
    for (const ws of this.#server.clients) ws.terminate();
    this.#server.close();
  }

  /** A rejected socket is recorded as a request. */
  async #openRecorded(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    let auth: Authenticated | undefined;
    const open = () => this.#open(request, socket, head, (known) => (auth = known));
    await this.#recorded(request)("socket", () => auth, open);
  }

  #recorded({ socket, headers }: IncomingMessage): Connection["recorded"] {
    const ip = socket.remoteAddress ?? "unknown";
    const userAgent = userAgentOf(headers["user-agent"]);
    return (service, auth, run) =>
      this.#options.recorder.around(
        { auth, ip, userAgent, action: `socket.${service}`, resource: "trustgraph", verb: "none", face: "trustgraph" },
        run,
        (_, failure) => ({ failure, fields: {} }),
      );
  }

  async #open(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    onKnown: (auth: Authenticated) => void,
  ): Promise<void> {
    const url = new URL(request.url ?? "/", "http://localhost");
    const keyed = splitKey(url.pathname);
    const place = placeOf(keyed?.path ?? url.pathname);
    const address = request.socket.remoteAddress ?? "unknown";
    const token = url.searchParams.get("token") ?? keyed?.key ?? tokenOf(request.headers.authorization);
    const fromLoopback = loopbackOf(request);
    const credentialsOf = (bearer: string): Credentials => ({ bearer, safeMethod: false, fromLoopback });
    const credentials = token === undefined || token === "" ? undefined : credentialsOf(token);
    const authenticate = (wanted: Credentials) => this.#authenticate(address, wanted);
    const auth = credentials === undefined ? undefined : await authenticate(credentials);
    if (auth !== undefined) onKnown(auth);
    if (auth === undefined && place.kind !== "socket")
      throw new PinakesError("UNAUTHENTICATED", "Add ?token= with an API key to the address.");
    const who =
      auth === undefined ? `address ${address}` : JSON.stringify([auth.caller.scope.tenant, auth.caller.userId]);
    this.#requireRoom(who);
    if (auth !== undefined && place.kind !== "socket") await this.#requirePlace(auth, place, url.searchParams);
    this.#server.handleUpgrade(request, socket, head, (ws) => {
      this.#count(who, ws);
      const { limiter, log } = this.#options;
      this.#serve(place, {
        ws,
        credentials,
        authenticate,
        credentialsOf,
        take: ({ caller }) => void limiter.take(caller),
        recorded: this.#recorded(request),
        log: (fields, line, level = "info") => log[level](fields, line),
        query: url.searchParams,
      });
    });
  }

  #serve(place: Place, connection: Connection): void {
    const { gateway } = this.#options;
    const { ws, credentials, query } = connection;
    if (place.kind === "socket") return new Multiplexer(gateway, connection).serve();
    if (credentials === undefined) return ws.close(1008, "No credentials.");
    if (place.kind === "import") {
      const one = new Import(gateway, connection, { kind: place.what, flow: place.flow });
      this.#imports.add(one);
      ws.on("close", () => void one.settled().finally(() => this.#imports.delete(one)));
      return one.serve(credentials);
    }
    void connection.authenticate(credentials).then((auth) => {
      const { caller } = callIn(auth, query);
      const end = gateway.deps.live.listen(caller, place.flow, place.what, (message) => {
        if (ws.bufferedAmount > socketLimits.unreadBytesMax) ws.close(1013, "Read faster.");
        else ws.send(JSON.stringify(message));
      });
      ws.on("close", end);
    });
  }

  async #authenticate(address: string, credentials: Credentials): Promise<Authenticated> {
    const { limiter, authenticate } = this.#options;
    try {
      limiter.checkAddress(address, credentials);
      const auth = await authenticate(credentials);
      limiter.signedIn(credentials);
      return auth;
    } catch (error) {
      limiter.failed(address, credentials, error);
      throw error;
    }
  }

  async #requirePlace(
    auth: Authenticated,
    place: Exclude<Place, { kind: "socket" }>,
    query: URLSearchParams,
  ): Promise<void> {
    const call = { ...callIn(auth, query), flow: place.flow };
    if (place.kind === "import") requireWriter(call);
    await requireFlow(this.#options.gateway.deps.knowledge, call);
  }

  #requireRoom(who: string): void {
    const { socketsMax, socketsPerUserMax } = socketLimits;
    if (this.#server.clients.size >= socketsMax || (this.#perUser.get(who) ?? 0) >= socketsPerUserMax)
      throw new PinakesError("THROTTLED", "Too many sockets are open; close some first.");
  }

  #count(who: string, ws: WebSocket): void {
    this.#perUser.set(who, (this.#perUser.get(who) ?? 0) + 1);
    this.#alive.add(ws);
    this.#pings ??= setInterval(() => this.#ping(), socketLimits.pingEveryMs).unref();
    ws.on("pong", () => this.#alive.add(ws));
    // Errors for frames that are too large or malformed end here; ws has closed the socket with the right code.
    ws.on("error", () => {});
    ws.on("close", () => {
      const left = (this.#perUser.get(who) ?? 1) - 1;
      if (left === 0) this.#perUser.delete(who);
      else this.#perUser.set(who, left);
    });
  }

  #ping(): void {
    for (const ws of this.#server.clients) {
      if (!this.#alive.delete(ws) && !ws.isPaused) ws.terminate();
      else ws.ping();
    }
  }
}

function placeOf(path: string): Place {
  if (path === "/api/v1/socket") return { kind: "socket" };
  const [, flow, kind, what] = /^\/api\/v1\/flow\/([^/]+)\/(import|export)\/([a-z-]+)$/.exec(path) ?? [];
  const known = importKinds.find((one) => one === what);
  if (flow === undefined || known === undefined || (kind !== "import" && kind !== "export"))
    throw new UnknownService("There is no such socket.");
  try {
    return { kind, flow: decodeURIComponent(flow), what: known };
  } catch (error) {
    throw new PinakesError("INVALID", "The path is not valid percent-encoded UTF-8.", { cause: error });
  }
}

function callIn(auth: Authenticated, query: URLSearchParams) {
  const request = { user: query.get("user") ?? undefined, workspace: query.get("workspace") ?? undefined };
  return readCall(auth, { request });
}

function tokenOf(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  return /^Bearer +(\S+)$/i.exec(authorization.trim())?.[1] ?? basicKeyOf(authorization);
}

/** Before the handshake: an HTTP response. */
function refuse(socket: Duplex, error: unknown): void {
  const { message, type } = errorObject(error);
  const status = PinakesError.isInstance(error) ? error.status : 500;
  const plain = hasCode(error, "UNAUTHENTICATED", "FORBIDDEN") || error instanceof UnknownWorkspace;
  const body = JSON.stringify({ error: plain ? message : { type, message } });
  const retry =
    error instanceof HttpError ? Object.entries(error.headers).map(([name, value]) => `${name}: ${value}`) : [];
  const head = [
    `HTTP/1.1 ${status} ${status === 401 ? "Unauthorized" : "Refused"}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
    ...retry,
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
}
