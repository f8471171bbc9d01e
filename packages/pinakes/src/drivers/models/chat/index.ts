/** Chat models through the AI SDK: any server with OpenAI's protocol, Ollama, Amazon Bedrock. */
import {
  APICallError,
  generateText,
  InvalidResponseDataError,
  jsonSchema,
  JSONParseError,
  NoObjectGeneratedError,
  NoOutputGeneratedError,
  Output,
  RetryError,
  streamText,
  TypeValidationError,
  type LanguageModelUsage,
} from "ai";
import { PinakesError } from "../../../domain/errors.ts";
import type { JsonValue } from "../../../domain/json.ts";
import type {
  ChatModel,
  ChatModelInfo,
  ChatPiece,
  ChatQuestion,
  ChatTextRequest,
  ChatUsage,
} from "../../../ports/chat-model.ts";
import { retriesDefault, type RemoteOptions } from "../ai-sdk/connect.ts";
import { mapError } from "../ai-sdk/errors.ts";
import { fetchWithin } from "../ai-sdk/fetch-within.ts";
import { openChatProvider, type ChatProvider } from "./provider.ts";
import type { ChatSettings } from "./settings.ts";

const answerMsDefault = 120_000;

const words = { doing: "Asking", what: "the question", quotes: false };
const unreadable = [NoObjectGeneratedError, NoOutputGeneratedError, JSONParseError, TypeValidationError];

export async function openChatModel(settings: ChatSettings, options: RemoteOptions = {}): Promise<ChatModel> {
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
        // The same prompt, the same answer, as far as a model can.
        temperature: 0,
        maxRetries: this.#retriesMax,
        abortSignal: this.#stoppedBy(signal),
      });
      return output;
    } catch (error) {
      this.#closing.signal.throwIfAborted();
      signal?.throwIfAborted();
      throw this.#mapped(error);
    }
  }

  async *stream(request: ChatTextRequest): AsyncGenerator<ChatPiece, void> {
    const { instructions, history = [], text, tokensMax, temperature = 0, topP, signal } = request;
    this.#closing.signal.throwIfAborted();
    signal?.throwIfAborted();
    const left = new AbortController();
    try {
      const { stream } = streamText({
        model: this.#provider.model,
        instructions,
        messages: [...history, { role: "user" as const, text }].map(({ role, text: content }) => ({ role, content })),
        temperature,
        ...(topP === undefined ? {} : { topP }),
        maxOutputTokens: tokensMax,
        maxRetries: this.#retriesMax,
        abortSignal: AbortSignal.any([left.signal, this.#stoppedBy(signal)]),
        // Thrown below; the SDK would print it, with the texts of the request.
        onError: () => {},
      });
      for await (const part of stream) {
        if (part.type === "text-delta") yield { text: part.text };
        else if (part.type === "error") throw asError(part.error);
        else if (part.type === "abort") break;
        else if (part.type === "finish") {
          const reason = part.finishReason;
          return yield {
            end: reason === "stop" || reason === "length" ? reason : "other",
            usage: usageOf(part.totalUsage),
          };
        }
      }
      this.#closing.signal.throwIfAborted();
      signal?.throwIfAborted();
      yield { end: "other" };
    } catch (error) {
      this.#closing.signal.throwIfAborted();
      signal?.throwIfAborted();
      // After the status only one error is not caused by the text: an interrupted stream.
      if (InvalidResponseDataError.isInstance(error) || (APICallError.isInstance(error) && error.statusCode === 200))
        throw new PinakesError(
          "UNAVAILABLE",
          `Asking ${this.model.id} (${this.#provider.name}): the stream broke off before the answer was complete. Try again later.`,
        );
      throw this.#mapped(error);
    } finally {
      left.abort();
    }
  }

  #stoppedBy(signal: AbortSignal | undefined): AbortSignal {
    return AbortSignal.any([this.#closing.signal, ...(signal === undefined ? [] : [signal])]);
  }

  #mapped(error: unknown): PinakesError {
    const { name, secrets } = this.#provider;
    const last = RetryError.isInstance(error) ? error.lastError : error;
    // Their messages quote the response, and so the document.
    if (unreadable.some((kind) => kind.isInstance(last)))
      return new PinakesError(
        "CORRUPT",
        `Asking ${this.model.id} (${name}): the response does not have the requested format. It is discarded.`,
      );
    return mapError(error, { id: this.model.id, name, secrets, answerMsMax: this.#answerMsMax }, words);
  }

  async close(): Promise<void> {
    this.#closing.abort(new PinakesError("UNAVAILABLE", "The chat model is closed.", { retryable: false }));
  }
}

/** Undefined if the provider did not report usage. */
function usageOf({ inputTokens, outputTokens }: LanguageModelUsage): ChatUsage | undefined {
  return inputTokens === undefined || outputTokens === undefined ? undefined : { inputTokens, outputTokens };
}

/** An event that reports an error has an object of the provider's. */
function asError(error: unknown): Error {
  if (error instanceof Error) return error;
  const { message } = (error ?? {}) as { readonly message?: unknown };
  return new Error(typeof message === "string" ? message : "The stream reported an error.");
}
