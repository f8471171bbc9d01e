/** Errors sent between threads: a structured clone would lose the class and the code. */
import { PinakesError, type ErrorCode } from "../domain/errors.ts";

export interface SentError {
  readonly code: ErrorCode;
  readonly detail: string;
  readonly retryable: boolean;
  readonly stack: string | undefined;
}

/** `describe` converts an error that is not a PinakesError. */
export function sendError(
  error: unknown,
  describe: (cause: Error) => { readonly code?: ErrorCode; readonly detail: string },
): SentError {
  if (PinakesError.isInstance(error)) {
    const { code, detail, retryable, stack } = error;
    return { code, detail, retryable, stack };
  }
  const cause = error instanceof Error ? error : new Error(String(error));
  const { code = "INTERNAL", detail } = describe(cause);
  const { retryable } = new PinakesError(code, detail);
  return { code, detail, retryable, stack: cause.stack };
}

export function receiveError({ code, detail, retryable, stack }: SentError): PinakesError {
  return new PinakesError(code, detail, { retryable, cause: stack });
}
