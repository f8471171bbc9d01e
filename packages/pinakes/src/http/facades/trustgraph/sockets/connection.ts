/** What all sockets share: who opened it, how frames are read, sent and refused. */
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
  /** Of the address, or of the headers; absent: the first frame has it. */
  readonly credentials: Credentials | undefined;
  /** From the credentials as they are now: a key that was revoked ends its sockets' requests. */
  readonly authenticate: (credentials: Credentials) => Promise<Authenticated>;
  /** Counts a request against the limit of its user. */
  readonly take: (auth: Authenticated) => void;
  readonly credentialsOf: (token: string) => Credentials;
  /** Runs a request and records it before its answer: a change, or a refusal. */
  readonly recorded: <T>(service: string, auth: () => Authenticated | undefined, run: () => Promise<T>) => Promise<T>;
  readonly log: (fields: Readonly<Record<string, unknown>>, line: string, level?: "info" | "error") => void;
  readonly query: URLSearchParams;
}

/** An object of a text frame. */
export function readFrame(data: unknown, isBinary: boolean): Request {
  if (isBinary || !Buffer.isBuffer(data)) throw invalid("A frame is a text of JSON.");
  const text = data.toString("utf8");
  if (deeperThan(text, socketLimits.jsonDepthMax)) throw invalid("The frame is nested too deeply.");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalid("The frame is not valid JSON.", { cause: error });
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Request;
  throw invalid("The frame is not an object.");
}

/** Resolves when it has left, so that a slow reader slows the sender. */
export async function send(ws: WebSocket, message: object): Promise<void> {
  if (ws.readyState !== ws.OPEN) return;
  await new Promise<void>((resolve) => ws.send(JSON.stringify(message), () => resolve()));
}

/** Closes with the reason of the error, as much of it as a close frame takes. */
export function closeWith(ws: WebSocket, error: unknown): void {
  const { message } = errorObject(error);
  const code = PinakesError.isInstance(error) && (error.status < 500 || error.code === "NOT_SUPPORTED") ? 1008 : 1011;
  let reason = message;
  while (!withinUtf8Bytes(reason, socketLimits.closeReasonBytesMax)) reason = reason.slice(0, -1);
  ws.close(code, reason);
}

/** Nothing of a failed frame can be told apart from a bug without this line. */
export function isOurs(error: unknown): boolean {
  return !PinakesError.isInstance(error) || (error.status >= 500 && error.code !== "NOT_SUPPORTED");
}
