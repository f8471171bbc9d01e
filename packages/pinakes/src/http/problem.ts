/** Errors as problem+json (RFC 9457): what happened, what to do, and whether a retry can help. */
import { PinakesError, type ErrorCode } from "../domain/errors.ts";

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly request_id: string;
}

const titles: Readonly<Record<ErrorCode, string>> = {
  INVALID: "The request is not valid",
  UNAUTHENTICATED: "Not signed in",
  FORBIDDEN: "Not allowed",
  NOT_FOUND: "Not found",
  CONFLICT: "Conflict",
  GONE: "Permanently removed",
  PRECONDITION_FAILED: "The resource has changed",
  LIMIT_EXCEEDED: "A limit was exceeded",
  THROTTLED: "Too many requests",
  NOT_SUPPORTED: "Not supported",
  UNAVAILABLE: "Temporarily unavailable",
  CORRUPT: "Stored data is damaged",
  INTERNAL: "Internal error",
};

export function toProblem(error: PinakesError, requestId: string): Problem {
  const { code, status, detail, retryable } = error;
  return {
    type: `urn:pinakes:problem:${code.toLowerCase().replaceAll("_", "-")}`,
    title: titles[code],
    status,
    detail,
    code,
    retryable,
    request_id: requestId,
  };
}

/** For internal errors the client only learns that one occurred; the log has the details. */
export function toPinakesError(error: unknown, requestId: string): PinakesError {
  if (PinakesError.isInstance(error)) return error;
  return new PinakesError("INTERNAL", `An unexpected error; the server's log has it under request ${requestId}.`, {
    cause: error,
  });
}
