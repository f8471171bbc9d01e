/** Chat models through the AI SDK: whatever speaks OpenAI's protocol, Ollama, Amazon Bedrock. */
import { generateText, jsonSchema, Output } from "ai";
import { PinakesError } from "../../domain/errors.ts";
import type { JsonValue } from "../../domain/json.ts";
import type { ChatModel, ChatModelInfo, ChatQuestion } from "../../ports/chat-model.ts";
import { mapChatError } from "./errors.ts";
import { openChatProvider, type ChatProvider, type Environment } from "./provider.ts";
import type { ChatSettings } from "./settings.ts";

export { readChatSettings } from "./settings.ts";

/** Retries of one request, after 2 s and 4 s or when the provider says so; beyond them the queue of documents waits. */
const retriesDefault = 2;
const answerMsDefault = 120_000;

export interface ChatOptions {
  readonly env?: Environment;
  /** How long one request may take. */
  readonly answerMsMax?: number;
  readonly retriesMax?: number;
}

export async function openChatModel(settings: ChatSettings, options: ChatOptions = {}): Promise<ChatModel> {
  const answerMsMax = options.answerMsMax ?? answerMsDefault;
  const provider = await openChatProvider(settings, fetchWithin(answerMsMax), options.env ?? process.env);
  return new AiSdkChat(settings, provider, answerMsMax, options.retriesMax ?? retriesDefault);
}

class AiSdkChat implements ChatModel {
  readonly model: ChatModelInfo;
  readonly #provider: ChatProvider;
  readonly #answerMsMax: number;
  readonly #retriesMax: number;
  readonly #closing = new AbortController();

  constructor({ id, provider: kind }: ChatSettings, provider: ChatProvider, answerMsMax: number, retriesMax: number) {
    this.model = { id, provider: kind };
    this.#provider = provider;
    this.#answerMsMax = answerMsMax;
    this.#retriesMax = retriesMax;
  }

  async answer({ instructions, text, schema, signal }: ChatQuestion): Promise<JsonValue> {
    this.#closing.signal.throwIfAborted();
    signal?.throwIfAborted();
    try {
      const { output } = await generateText({
        model: this.#provider.model,
        instructions,
        prompt: text,
        output: Output.object({ schema: jsonSchema<JsonValue>(schema), name: "facts" }),
        // The same question, the same answer, as far as a model can.
        temperature: 0,
        maxRetries: this.#retriesMax,
        abortSignal: AbortSignal.any([this.#closing.signal, ...(signal === undefined ? [] : [signal])]),
      });
      return output;
    } catch (error) {
      this.#closing.signal.throwIfAborted();
      signal?.throwIfAborted();
      const { name, secrets } = this.#provider;
      throw mapChatError(error, { id: this.model.id, name, secrets, answerMsMax: this.#answerMsMax });
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new PinakesError("UNAVAILABLE", "The chat model is closed.", { retryable: false }));
  }
}

/** The SDK waits for ever; a provider that hangs must not hold an ingestion. */
function fetchWithin(answerMsMax: number): typeof globalThis.fetch {
  return (input, init) => {
    const late = AbortSignal.timeout(answerMsMax);
    const { signal } = init ?? {};
    return fetch(input, { ...init, signal: signal === undefined || signal === null ? late : AbortSignal.any([signal, late]) });
  };
}
