/** Errors of the AWS SDK as PinakesErrors, with the SDK's own as the cause. */
import { PinakesError } from "../../domain/errors.ts";

interface SdkError {
  readonly name?: string;
  readonly message?: string;
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** The service rejects a handle once the lease has expired, in more than one way. */
const staleHandle = /ReceiptHandleIsInvalid|MessageNotInflight|receipt handle/i;
const throttled = /Throttl|OverLimit|RequestLimitExceeded|TooManyRequests/i;

export async function calling<T>(doing: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw wrapError(error, doing);
  }
}

export function wrapError(error: unknown, doing: string): unknown {
  if (PinakesError.isInstance(error)) return error;
  const { name = "Error", message = String(error), code, $metadata } = error as SdkError;
  // The caller aborted: its own signal has the reason.
  if (name === "AbortError") return error;
  const said = `${name}: ${message}`;
  if (staleHandle.test(said)) {
    return new PinakesError(
      "PRECONDITION_FAILED",
      "The lease has ended: the message was finished, or the lease expired. Stop working on it; an unfinished message is delivered again.",
      { cause: error },
    );
  }
  const status = $metadata?.httpStatusCode;
  if (throttled.test(said) || code !== undefined || name === "TimeoutError" || status === undefined || status >= 500) {
    return new PinakesError("UNAVAILABLE", `SQS did not answer in time (${doing}): ${said}. Try again.`, {
      cause: error,
    });
  }
  return new PinakesError("INTERNAL", `SQS refused the request (${doing}): ${said}`, { cause: error });
}
