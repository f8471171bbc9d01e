/**
 * Errors, the same for a server and an embedded Pinakes. Each class has `isInstance`, which also works if a program loads two copies of
 * this package.
 */
import type { ProblemReason } from "./contract/errors.ts";

export interface ClientErrorOptions {
  readonly code: string;
  readonly status: number;
  /** What happened and what to do about it. */
  readonly detail: string;
  /** Whether the same call may succeed a little later. */
  readonly retryable?: boolean | undefined;
  /** Request id, which identifies the entry in the server's log. */
  readonly requestId?: string | undefined;
  /** A stable name of the refusal, where several have the same code. */
  readonly reason?: ProblemReason | undefined;
  /** The current etag of the document, if a condition on it failed. */
  readonly currentEtag?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  /** The operation of a batch that failed (from 0), and what became of each (424: not tried because of it). */
  readonly batch?: BatchFailure | undefined;
  readonly cause?: unknown;
}
export interface BatchFailure {
  readonly index: number;
  readonly statuses: readonly number[];
}

const marker = Symbol.for("pinakes.client.error");

export class PinakesClientError extends Error {
  override readonly name: string = "PinakesClientError";
  readonly code: string;
  readonly status: number;
  readonly retryable: boolean;
  readonly requestId: string | undefined;
  readonly reason: ProblemReason | undefined;
  readonly currentEtag: string | undefined;
  /** How long to wait, as requested by the server; for a lease held by another worker, until it expires. */
  readonly retryAfterMs: number | undefined;
  readonly batch: BatchFailure | undefined;

  constructor(options: ClientErrorOptions) {
    super(options.detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = options.code;
    this.status = options.status;
    this.retryable = options.retryable ?? false;
    this.requestId = options.requestId;
    this.reason = options.reason;
    this.currentEtag = options.currentEtag;
    this.retryAfterMs = options.retryAfterMs;
    this.batch = options.batch;
    Object.defineProperty(this, marker, { value: true });
  }

  get detail(): string {
    return this.message;
  }

  static isInstance(value: unknown): value is PinakesClientError {
    return typeof value === "object" && value !== null && marker in value;
  }
}

/** The document was changed since it was read. Read it again and decide again, or let `update` do that. */
export class PreconditionFailedError extends PinakesClientError {
  override readonly name = "PreconditionFailedError";

  static override isInstance(value: unknown): value is PreconditionFailedError {
    return hasCode(value, "PRECONDITION_FAILED");
  }
}

/** It is there already, or its state does not allow this. */
export class ConflictError extends PinakesClientError {
  override readonly name = "ConflictError";

  static override isInstance(value: unknown): value is ConflictError {
    return hasCode(value, "CONFLICT");
  }
}

/** There is none, or none that this caller may know of. */
export class NotFoundError extends PinakesClientError {
  override readonly name = "NotFoundError";

  static override isInstance(value: unknown): value is NotFoundError {
    return hasCode(value, "NOT_FOUND");
  }
}

/** Too much at once, after all retries. */
export class RateLimitedError extends PinakesClientError {
  override readonly name = "RateLimitedError";

  static override isInstance(value: unknown): value is RateLimitedError {
    return hasCode(value, "THROTTLED");
  }
}

function hasCode(value: unknown, code: string): boolean {
  return PinakesClientError.isInstance(value) && value.code === code;
}

/** The class that fits the code. */
export function clientError(options: ClientErrorOptions): PinakesClientError {
  switch (options.code) {
    case "PRECONDITION_FAILED":
      return new PreconditionFailedError(options);
    case "CONFLICT":
      return new ConflictError(options);
    case "NOT_FOUND":
      return new NotFoundError(options);
    case "THROTTLED":
      return new RateLimitedError(options);
    default:
      return new PinakesClientError(options);
  }
}

/** A call that cannot mean anything, refused before it is sent. */
export function invalidInput(detail: string): PinakesClientError {
  return clientError({ code: "INVALID", status: 400, detail });
}

/** Errors of the engine of an embedded Pinakes; identified by a marker, since this package imports nothing. */
interface EngineError {
  readonly code: string;
  readonly status: number;
  readonly message: string;
  readonly retryable: boolean;
  readonly context: {
    readonly currentEtag?: string;
    readonly reason?: ProblemReason;
    readonly batch?: BatchFailure;
  };
  /** For a lease that is held. */
  readonly retryAfterMs?: number;
}
const engineMarker = Symbol.for("pinakes.error");

/** Converts errors of an embedded Pinakes to those of this package; anything else is unchanged. */
export function toClientError(error: unknown): unknown {
  if (typeof error !== "object" || error === null || !(engineMarker in error)) return error;
  const { code, status, message, retryable, context, retryAfterMs } = error as unknown as EngineError;
  return clientError({
    code,
    status,
    detail: message,
    retryable,
    currentEtag: context.currentEtag,
    reason: context.reason,
    batch: context.batch,
    retryAfterMs,
    cause: error,
  });
}
