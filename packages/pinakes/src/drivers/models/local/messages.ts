/** What goes between the pool and its threads. One text at a time: vectors of quantized weights change with their neighbours in a batch. */
import { PinakesError, type ErrorCode } from "../../../domain/errors.ts";
import type { GuardState } from "./exit-guard.ts";
import type { ModelFolder } from "./model-folder.ts";

export interface ThreadData {
  readonly folder: ModelFolder;
  /** Tokens of the text; the marks of the model come on top. */
  readonly tokensMax: number;
}

export interface ThreadState {
  readonly guard: GuardState;
}

export type Order = { readonly text: string } | "close";

/** `failed`: the model could not be loaded, and the thread ends. */
export type Answer =
  | { readonly kind: "vector"; readonly vector: Float32Array }
  | { readonly kind: "error"; readonly error: SentError }
  | { readonly kind: "failed"; readonly error: SentError };

interface SentError {
  readonly code: ErrorCode;
  readonly detail: string;
  readonly retryable: boolean;
}

export function sendError(error: unknown): SentError {
  if (PinakesError.isInstance(error)) return { code: error.code, detail: error.detail, retryable: error.retryable };
  return {
    code: "INTERNAL",
    detail: `The local embedding model failed: ${error instanceof Error ? error.message : String(error)}`,
    retryable: false,
  };
}

export function receiveError({ code, detail, retryable }: SentError): PinakesError {
  return new PinakesError(code, detail, { retryable });
}
