/** Errors in the form of Cosmos DB: a code and a message, with a status and a substatus that its clients act on. */
import { PinakesError, type ErrorCode } from "../../../domain/errors.ts";
import { HttpError } from "../../framework/http-error.ts";

export interface CosmosErrorOptions {
  readonly substatus?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly cause?: unknown;
}

export class CosmosError extends Error {
  override readonly name = "CosmosError";
  readonly status: number;
  readonly substatus: number | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, { substatus, headers = {}, cause }: CosmosErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.substatus = substatus;
    this.headers = headers;
  }
}

/** By status, as Cosmos DB names them. */
const codes: Readonly<Record<number, string>> = {
  304: "NotModified",
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  409: "Conflict",
  410: "Gone",
  412: "PreconditionFailed",
  413: "RequestEntityTooLarge",
  424: "FailedDependency",
  429: "TooManyRequests",
  449: "RetryWith",
  500: "InternalServerError",
  501: "NotImplemented",
};

/** 503 would make clients look for another region; there is none. */
const retryStatus = 429;
export const throttledSubstatus = 3200;
const retryAfterMs = 1_000;

const statuses: Partial<Record<ErrorCode, number>> = { UNAVAILABLE: retryStatus, CORRUPT: 500, LIMIT_EXCEEDED: 413 };

export function asCosmosError(error: unknown): CosmosError {
  if (error instanceof CosmosError) return error;
  if (error instanceof HttpError) {
    const seconds = Number(error.headers["retry-after"] ?? "1");
    const headers = error.status === retryStatus ? throttleHeaders(seconds * 1000) : {};
    const substatus = error.status === retryStatus ? throttledSubstatus : undefined;
    return new CosmosError(error.status, error.detail, { headers, substatus, cause: error });
  }
  if (!PinakesError.isInstance(error))
    return new CosmosError(500, "An error of ours; the log of the server says more.");
  const status = statuses[error.code] ?? error.status;
  const throttled = status === retryStatus;
  return new CosmosError(status, error.detail, {
    cause: error,
    ...(throttled ? { substatus: throttledSubstatus, headers: throttleHeaders(retryAfterMs) } : {}),
  });
}

export function throttleHeaders(ms: number): Readonly<Record<string, string>> {
  return {
    "x-ms-retry-after-ms": String(Math.max(1, Math.ceil(ms))),
    "retry-after": String(Math.max(1, Math.ceil(ms / 1_000))),
  };
}

export function codeOf(status: number): string {
  return codes[status] ?? (status >= 500 ? "InternalServerError" : "BadRequest");
}

export function errorBody({ status, message }: CosmosError, activityId: string): object {
  return { code: codeOf(status), message: `${message}\r\nActivityId: ${activityId}` };
}

export function badRequest(message: string, substatus?: number): CosmosError {
  return new CosmosError(400, message, { substatus });
}

/** Read as Cosmos DB's own: clients look for this text. */
export function queryError(detail: string, cause: unknown): CosmosError {
  const errors = [{ severity: "Error", code: "SC1001", message: detail }];
  return new CosmosError(400, `Message: ${JSON.stringify({ errors })}`, { cause });
}

export function notServed(what: string): CosmosError {
  return new CosmosError(501, `${what}: not supported by Pinakes; docs/clients.md lists what is.`);
}
