/**
 * The one error class of Pinakes. Few codes, each with an HTTP status; the detail says what to do.
 */
import type { ProblemReason } from "@pinakes/client";

const statusOf = {
  INVALID: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  GONE: 410,
  PRECONDITION_FAILED: 412,
  LIMIT_EXCEEDED: 413,
  THROTTLED: 429,
  NOT_SUPPORTED: 501,
  UNAVAILABLE: 503,
  CORRUPT: 500,
  INTERNAL: 500,
} as const;

export type ErrorCode = keyof typeof statusOf;
export const errorCodes = Object.keys(statusOf) as readonly ErrorCode[];

export interface ErrorContext {
  /** The item's current etag, if a condition on it failed. */
  readonly currentEtag?: string;
  /** A stable name of the refusal, where programs must tell it from others with the same code. */
  readonly reason?: ProblemReason | undefined;
  /** The index of the failed operation of a batch, and the status of every operation (424: not tried because of it). */
  readonly batch?: { readonly index: number; readonly statuses: readonly number[] };
}

export interface PinakesErrorOptions extends ErrorContext {
  readonly cause?: unknown;
  readonly retryable?: boolean | undefined;
}

const marker = Symbol.for("pinakes.error");

/**
 * @example
 * try { await store.write(scope, "notes", ["n1"], { op: "create", document }) }
 * catch (error) { if (hasCode(error, "CONFLICT")) … }
 */
export class PinakesError extends Error {
  override readonly name = "PinakesError";
  readonly code: ErrorCode;
  readonly status: number;
  readonly retryable: boolean;
  readonly context: ErrorContext;

  constructor(code: ErrorCode, detail: string, options: PinakesErrorOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = statusOf[code];
    this.retryable = options.retryable ?? (code === "UNAVAILABLE" || code === "THROTTLED");
    this.context = {
      ...(options.currentEtag === undefined ? {} : { currentEtag: options.currentEtag }),
      ...(options.reason === undefined ? {} : { reason: options.reason }),
      ...(options.batch === undefined ? {} : { batch: options.batch }),
    };
    Object.defineProperty(this, marker, { value: true });
  }

  /** What happened and what to do about it, in one sentence or two. */
  get detail(): string {
    return this.message;
  }

  /** The field that the detail is about; such a detail starts with the field: `limit: must be …`. */
  get field(): string | undefined {
    return /^([A-Za-z_][\w.[\]]*): /.exec(this.message)?.[1];
  }

  /** Works across copies of the package, where `instanceof` does not. */
  static isInstance(value: unknown): value is PinakesError {
    return typeof value === "object" && value !== null && marker in value;
  }
}

/** Whether an error is a PinakesError with one of these codes. */
export function hasCode<Code extends ErrorCode>(
  error: unknown,
  ...codes: readonly Code[]
): error is PinakesError & { readonly code: Code } {
  return PinakesError.isInstance(error) && (codes as readonly ErrorCode[]).includes(error.code);
}

/** What records keep of an error for programs: the reason, else the code. */
export function errorCodeOf(error: unknown): string | undefined {
  return PinakesError.isInstance(error) ? (error.context.reason ?? error.code) : undefined;
}

export function invalid(detail: string, options?: PinakesErrorOptions): PinakesError {
  return new PinakesError("INVALID", detail, options);
}

/** Wraps the error of one operation as the error of its batch: nothing was written; `index` counts from 0. */
export function inBatch(error: PinakesError, index: number, count: number): PinakesError {
  const { currentEtag } = error.context;
  const statuses = Array.from({ length: count }, (_, i) => (i === index ? error.status : 424));
  return new PinakesError(
    error.code,
    `Operation ${index} of the batch (counting from 0) failed, so nothing was written: ${error.detail}`,
    {
      batch: { index, statuses },
      cause: error,
      ...(currentEtag === undefined ? {} : { currentEtag }),
    },
  );
}

/** A value for a message: short, and it never throws itself (bigint, circular, symbol). */
export function show(value: unknown): string {
  let text: string | undefined;
  try {
    // JSON would write null for NaN and infinities.
    if (typeof value === "number") text = String(value);
    else text = typeof value === "bigint" ? `${value}n` : JSON.stringify(value);
  } catch {
    text = undefined;
  }
  text ??= value === undefined ? "nothing" : `a ${typeof value}`;
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
