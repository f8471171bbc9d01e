/** Common parts of all sockets: who opened it, and how frames are read, sent and rejected. */
import type { WebSocket } from "ws";
import { invalid, PinakesError } from "../../../../domain/errors.ts";
import { withinUtf8Bytes } from "../../../../domain/json.ts";
import type { Authenticated, Credentials } from "../../../framework/index.ts";
import { deeperThan } from "../../../framework/body/json-position.ts";
import type { Request } from "../call.ts";
import { errorObject } from "../gateway.ts";
import { socketLimits } from "./limits.ts";

export interface Connection {
  readonly ws: WebSocket;
  /** From the address or the headers; if absent, the first frame contains it. */
  readonly credentials: Credentials | undefined;
  /** Evaluates the current credentials: revoking a key ends the requests of its sockets. */
  readonly authenticate: (credentials: Credentials) => Promise<Authenticated>;
  /** Counts a request against the limit of its user. */
  readonly take: (auth: Authenticated) => void;
  readonly credentialsOf: (token: string) => Credentials;
  /** Runs a request and records it before its response, if it is a change or a refusal. */
  readonly recorded: <T>(service: string, auth: () => Authenticated | undefined, run: () => Promise<T>) => Promise<T>;
  readonly log: (fields: Readonly<Record<string, unknown>>, line: string, level?: "info" | "error") => void;
  readonly query: URLSearchParams;
}

/** An object of a text frame. */
export function readFrame(data: unknown, isBinary: boolean): Request {
  if (isBinary || !Buffer.isBuffer(data)) throw invalid("A frame must be JSON text.");
  const text = data.toString("utf8");
  if (deeperThan(text, socketLimits.jsonDepthMax)) throw invalid("The frame is nested too deeply.");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalid("The frame is not valid JSON.", { cause: error });
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Request;
  throw invalid("The frame must be a JSON object.");
}

/** Resolves when the frame was sent, so that a slow reader slows the sender. */
export async function send(ws: WebSocket, message: object): Promise<void> {
  if (ws.readyState !== ws.OPEN) return;
  await new Promise<void>((resolve) => ws.send(JSON.stringify(message), () => resolve()));
}

/** Closes with the reason of the error, truncated to what a close frame allows. */
export function closeWith(ws: WebSocket, error: unknown): void {
  const { message } = errorObject(error);
  const code = PinakesError.isInstance(error) && (error.status < 500 || error.code === "NOT_SUPPORTED") ? 1008 : 1011;
  let reason = message;
  while (!withinUtf8Bytes(reason, socketLimits.closeReasonBytesMax)) reason = reason.slice(0, -1);
  ws.close(code, reason);
}

/** Without this log line a failed frame could not be diagnosed. */
export function isOurs(error: unknown): boolean {
  return !PinakesError.isInstance(error) || (error.status >= 500 && error.code !== "NOT_SUPPORTED");
}
