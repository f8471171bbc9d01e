/**
 * ChatModel: a prompt to a language model, and an answer that follows a schema.
 *
 * Answer. JSON; providers that support it get the schema, but the caller still validates the answer: models make mistakes.
 *
 * Errors. CORRUPT: the answer is no JSON; asking again may help. THROTTLED, UNAVAILABLE: later; retries of one request happen inside.
 * INVALID: the provider rejects the prompt. A message never contains the API key or the prompt.
 */
import type { JsonObject, JsonValue } from "../domain/json.ts";

export interface ChatModel {
  readonly model: ChatModelInfo;
  answer(question: ChatQuestion): Promise<JsonValue>;
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

/** The models that collections may name. */
export interface ChatModels {
  readonly models: readonly ChatModelInfo[];
  /** The first if no id is given. NOT_FOUND lists the available ones. */
  get(id?: string): Promise<ChatModel>;
}
