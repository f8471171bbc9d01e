/** Messages between the pool and its threads. One text at a time: vectors of quantized weights change with their neighbours in a batch. */
import type { SentError } from "../../../runtime/sent-error.ts";
import type { GuardState } from "./exit-guard.ts";
import type { ModelFolder } from "./model-folder.ts";

export interface ThreadData {
  readonly folder: ModelFolder;
  /** Tokens of the text; the model's special tokens come on top. */
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
