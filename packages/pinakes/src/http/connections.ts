/**
 * Limits of connections: their number, in total and per address, how long a body may stall, and how long a client may leave a response
 * unread. Node's own timers cover headers, whole requests and pauses between requests (serve.ts).
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { ConnectionLimits } from "../config-connections.ts";
import { addressKey } from "./framework/rate-limit.ts";

type Bounds = Pick<
  ConnectionLimits,
  "connectionsMax" | "connectionsPerAddressMax" | "bodyIdleTimeoutSeconds" | "answerIdleTimeoutSeconds"
>;

export function boundConnections(server: Server, limits: Bounds): void {
  boundCount(server, limits);
  boundSilence(server, limits.bodyIdleTimeoutSeconds * 1000);
  boundReading(server, limits.answerIdleTimeoutSeconds * 1000);
}

function boundCount(server: Server, { connectionsMax, connectionsPerAddressMax }: Bounds): void {
  const open = new Map<string, number>();
  let sum = 0;
  server.prependListener("connection", (socket: Socket) => {
    const address = addressKey(socket.remoteAddress ?? "");
    const own = (open.get(address) ?? 0) + 1;
    open.set(address, own);
    sum += 1;
    socket.once("close", () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
      sum -= 1;
    });
    if (own > connectionsPerAddressMax)
      refuse(
        socket,
        429,
        "Too Many Requests",
        `This address already has ${connectionsPerAddressMax} connections; close some.`,
      );
    else if (sum > connectionsMax)
      refuse(socket, 503, "Service Unavailable", `There are already ${connectionsMax} connections; try again later.`);
  });
}

/** Answered before the request is read, so that excess connections cost as little as possible. */
function refuse(socket: Socket, status: number, title: string, detail: string): void {
  const body = JSON.stringify({ type: "about:blank", title, status, detail });
  const head = [
    `HTTP/1.1 ${status} ${title}`,
    "content-type: application/problem+json",
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  socket.on("error", () => undefined);
  socket.end(`${[...head, "retry-after: 5", "connection: close"].join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
}

/** Checked periodically, so a stall ends after at most twice the time. (The socket's own timer is Node's, for pauses between requests.) */
function boundSilence(server: Server, idleMs: number): void {
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const { socket, headers } = request;
    if (headers["content-length"] === undefined && headers["transfer-encoding"] === undefined) return;
    let seen = socket.bytesRead;
    const look = (): void => {
      if (request.complete || request.destroyed) return clearInterval(timer);
      // Data that has arrived but is unread is our own delay.
      const silent = socket.bytesRead === seen && request.readableLength === 0;
      seen = socket.bytesRead;
      if (!silent) return;
      clearInterval(timer);
      if (response.headersSent) socket.destroy();
      else
        refuse(
          socket,
          408,
          "Request Timeout",
          `No byte of the body arrived for ${idleMs / 1000} s; send the request again.`,
        );
    };
    const timer = setInterval(look, idleMs).unref();
    response.once("close", () => clearInterval(timer));
  });
}

/**
 * A client that reads nothing of its pending response is disconnected after at most twice the time; its streams end, and their slots are
 * released. A response without pending data, such as an idle event stream, is left alone.
 */
function boundReading(server: Server, idleMs: number): void {
  const answering = new Map<ServerResponse, { readonly socket: Socket; taken: number; waiting: boolean }>();
  server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
    answering.set(response, { socket, taken: 0, waiting: false });
    response.once("close", () => answering.delete(response));
  });
  const look = (): void => {
    for (const one of answering.values()) {
      const { socket } = one;
      const taken = socket.bytesWritten - socket.writableLength;
      const waiting = socket.writableLength > 0;
      if (waiting && one.waiting && taken === one.taken) socket.destroy();
      one.taken = taken;
      one.waiting = waiting;
    }
  };
  const timer = setInterval(look, idleMs).unref();
  server.once("close", () => clearInterval(timer));
}
