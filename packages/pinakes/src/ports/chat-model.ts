/**
 * ChatModel: a prompt to a language model, and an answer that follows a schema, or plain text as a stream.
 *
 * Answer. JSON; providers that support it get the schema, but the caller still validates the answer: models make mistakes.
 *
 * Stream. Chunks of text in order, then one `end`, last. A failure before the first chunk or after it is thrown by the iteration. Leaving
 * the iteration, or aborting the signal, closes the request.
 *
 * Errors. CORRUPT: the answer is no JSON; asking again may help. THROTTLED, UNAVAILABLE: later; retries of one request happen inside.
 * INVALID: the provider rejects the prompt. A message never contains the API key or the prompt.
 */
import type { JsonObject, JsonValue } from "../domain/json.ts";

export interface ChatModel {
  readonly model: ChatModelInfo;
  answer(question: ChatQuestion): Promise<JsonValue>;
  stream(request: ChatTextRequest): AsyncIterable<ChatPiece>;
  close(): Promise<void>;
}

export interface ChatModelInfo {
  readonly id: string;
  readonly provider: string;
}

export interface ChatQuestion {
  readonly instructions: string;
  readonly text: string;
  /** JSON Schema of the answer, an object. */
  readonly schema: JsonObject;
  readonly signal?: AbortSignal;
}

export interface ChatTextRequest {
  readonly instructions: string;
  /** Earlier messages of the conversation, the oldest first. */
  readonly history?: readonly ChatMessage[] | undefined;
  readonly text: string;
  /** The most that the model shall write. */
  readonly tokensMax: number;
  /** 0 when absent: the same prompt, the same answer, as far as a model can. */
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** `stop`: the model was done; `length`: it reached `tokensMax`; `other`: it ended without saying why, or was stopped. */
export type ChatPiece =
  | { readonly text: string }
  | { readonly end: "stop" | "length" | "other"; readonly usage?: ChatUsage | undefined };

export interface ChatMessage {
  readonly role: "user" | "assistant";
  readonly text: string;
}

/** As the provider counts. */
export interface ChatUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** The models that collections may name. */
export interface ChatModels {
  readonly models: readonly ChatModelInfo[];
  /** The first if no id is given. NOT_FOUND lists the available ones. */
  get(id?: string): Promise<ChatModel>;
}
