/** Runs an app on a socket. */
import type { IncomingMessage, Server, ServerOptions } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { createAdaptorServer, type Http2Bindings, type HttpBindings } from "@hono/node-server";
import type { Hono } from "hono";
import { connectionDefaults, type ConnectionLimits } from "../config-connections.ts";
import { PinakesError } from "../domain/errors.ts";
import { boundConnections } from "./connections.ts";
import { answeringLast } from "./unread-body.ts";

export interface RunningServer {
  /** Such as http://127.0.0.1:7430 */
  readonly url: string;
  /** Accepts no new requests, lets running ones finish for a while, then aborts them. */
  close(): Promise<void>;
}

const closeMsMax = 5_000;

export interface ServeOptions {
  readonly host: string;
  readonly port: number;
  /** Default limits if absent. */
  readonly connections?: ConnectionLimits | undefined;
  /** If absent, an upgrade is handled like any other request. */
  readonly sockets?: SocketServer | undefined;
}

/** Handler of WebSocket upgrades. */
export interface SocketServer {
  wants(request: IncomingMessage): boolean;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  close(): Promise<void>;
}

/** How often Node checks for late requests. */
const checkMsMax = 5_000;

export async function serve(
  app: Pick<Hono, "fetch">,
  { host, port, connections = connectionDefaults, sockets }: ServeOptions,
): Promise<RunningServer> {
  const fetch = answeringLast((request, bindings: HttpBindings | Http2Bindings) => app.fetch(request, bindings));
  const server = createAdaptorServer({
    fetch,
    serverOptions: { ...timeouts(connections), ...upgrades(sockets) },
  }) as Server;
  if (sockets !== undefined) server.on("upgrade", (request, socket, head) => sockets.upgrade(request, socket, head));
  boundConnections(server, connections);
  const idle = watchRequests(server);
  await listen(server, host, port);
  const address = server.address() as AddressInfo;
  const shown = address.family === "IPv6" ? `[${address.address}]` : address.address;
  return { url: `http://${shown}:${address.port}`, close: () => close(server, idle, sockets) };
}

/** Without this, Node would withhold every request with an Upgrade header from the app. */
function upgrades(sockets: SocketServer | undefined): ServerOptions {
  return sockets === undefined ? {} : { shouldUpgradeCallback: (request) => sockets.wants(request) };
}

function timeouts({
  headersTimeoutSeconds,
  requestTimeoutSeconds,
  keepAliveTimeoutSeconds,
}: ConnectionLimits): ServerOptions {
  return {
    headersTimeout: headersTimeoutSeconds * 1000,
    requestTimeout: requestTimeoutSeconds * 1000,
    keepAliveTimeout: keepAliveTimeoutSeconds * 1000,
    connectionsCheckingInterval: Math.min(checkMsMax, headersTimeoutSeconds * 500),
  };
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  const started = Promise.withResolvers<void>();
  server.once("error", started.reject);
  server.listen(port, host, started.resolve);
  try {
    await started.promise;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EADDRINUSE")
      throw new PinakesError(
        "UNAVAILABLE",
        `Port ${port} on ${host} is in use. Stop the other process, or choose another port with PINAKES_PORT.`,
        {
          cause: error,
        },
      );
    if (code === "EACCES")
      throw new PinakesError(
        "FORBIDDEN",
        `Port ${port} on ${host} is not allowed for this user; choose 1024 or higher with PINAKES_PORT.`,
        { cause: error },
      );
    if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
      throw new PinakesError(
        "INVALID",
        `This machine has no address ${host}; set PINAKES_HOST to one it has, such as 127.0.0.1.`,
        { cause: error },
      );
    throw error;
  } finally {
    server.off("error", started.reject);
  }
}

/** Resolves when no request is running. (Node's own idle check omits connections that never sent one.) */
function watchRequests(server: Server): () => Promise<void> {
  let underWay = 0;
  const waiting: (() => void)[] = [];
  server.on("request", (_request, response) => {
    underWay += 1;
    response.once("close", () => {
      underWay -= 1;
      if (underWay === 0) for (const resolve of waiting.splice(0)) resolve();
    });
  });
  return () => (underWay === 0 ? Promise.resolve() : new Promise((resolve) => void waiting.push(resolve)));
}

async function close(server: Server, idle: () => Promise<void>, sockets: SocketServer | undefined): Promise<void> {
  const closed = Promise.withResolvers<void>();
  await sockets?.close();
  server.close(() => closed.resolve());
  const timer = setTimeout(() => server.closeAllConnections(), closeMsMax);
  await idle();
  server.closeAllConnections();
  await closed.promise;
  clearTimeout(timer);
}
