/**
 * Embedder: texts to vectors, of one model.
 *
 * Determinism. The same text gives the same vector, whatever else is in the call or came before or after it.
 *
 * Shape. Every vector has `model.dims` finite numbers and length 1 (unless the model's metric is not cosine). A provider that answers with
 * another dimension is an error, never stored.
 *
 * Limits. No part of a text is ignored: a text longer than `model.tokensMax` is embedded in windows whose vectors are pooled, or rejected
 * with INVALID or LIMIT_EXCEEDED. Two texts that differ only past the limit never have the same vector.
 *
 * Errors. UNAVAILABLE if the provider cannot be reached (retryable), or rejects the key or the model (not retryable), THROTTLED if it asks
 * to wait, INVALID if it rejects the input, CORRUPT if its answer, or the model's file, is malformed.
 */
export interface Embedder {
  readonly model: EmbeddingModel;
  /** In the order of the texts. `kind` matters for models that embed queries and documents differently. */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<readonly Float32Array[]>;
  /** Counts as the model does or, if the model's own tokenizer is not available, overestimates. Loaded on first use. */
  tokenizer(): Promise<Tokenizer>;
  close(): Promise<void>;
}

export interface EmbeddingModel {
  /** The id that collections name. */
  readonly id: string;
  readonly provider: string;
  readonly dims: number;
  readonly metric: "cosine" | "dot" | "l2";
  /** Tokens of the text itself, as a tokenizer counts them; the special tokens that a model adds come on top. */
  readonly tokensMax: number;
}

export interface EmbedOptions {
  readonly kind?: "document" | "query" | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Where words begin and end, and how many tokens of the model each has: what token-based chunking needs. A chunk breaks between words, so
 * counts add up. Offsets are UTF-16 code units, as in every string here.
 */
export interface Tokenizer {
  words(text: string): TokenWords;
}

export interface TokenWords {
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  readonly tokens: Uint32Array;
}
