/** Errors of S3 as PinakesErrors. */
import { PinakesError } from "../../domain/errors.ts";

interface ServiceError extends Error {
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $retryable?: object;
}

export function isMissing(error: unknown): boolean {
  return (
    error instanceof Error &&
    (["NoSuchKey", "NotFound"].includes(error.name) || statusOf(error) === 404) &&
    error.name !== "NoSuchBucket"
  );
}

/** A range that begins after the end of an existing object. */
export function isBeyondEnd(error: unknown): boolean {
  return error instanceof Error && (error.name === "InvalidRange" || statusOf(error) === 416);
}

export function isConditionFailed(error: unknown): boolean {
  return (
    error instanceof Error &&
    (["PreconditionFailed", "ConditionalRequestConflict"].includes(error.name) || statusOf(error) === 412)
  );
}

/** The SDK has already retried; this error is final for the call. */
export function toPinakesError(error: unknown, bucket: string, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted === true) return signal.reason;
  if (!(error instanceof Error) || PinakesError.isInstance(error)) return error;
  const status = statusOf(error);
  const cause = { cause: error };
  if (error.name === "NoSuchBucket")
    return new PinakesError(
      "NOT_FOUND",
      `There is no bucket "${bucket}". Create it, or specify another in PINAKES_OBJECTS.`,
      cause,
    );
  if (status === 401 || status === 403) {
    return new PinakesError(
      "FORBIDDEN",
      `S3 refused access to bucket "${bucket}": ${error.name}. Check the credentials and the bucket's policy.`,
      cause,
    );
  }
  if (status === undefined || status >= 500 || status === 429 || status === 408) {
    return new PinakesError(
      "UNAVAILABLE",
      `S3 did not answer for bucket "${bucket}": ${error.name}: ${error.message}`,
      cause,
    );
  }
  return new PinakesError(
    "INTERNAL",
    `S3 refused a request on bucket "${bucket}": ${error.name}: ${error.message}`,
    cause,
  );
}

function statusOf(error: Error): number | undefined {
  return (error as ServiceError).$metadata?.httpStatusCode;
}
