/**
 * Errors of the AI SDK as ours. The provider's own message is kept, without keys. The SDK's error is not attached as the cause: it contains
 * the texts of the request and the whole answer, which must not reach a log.
 */
import { APICallError, InvalidResponseDataError, RetryError } from "ai";
import { PinakesError, type ErrorCode } from "../../../domain/errors.ts";

const messageCharsMax = 300;

export interface ErrorNames {
  /** The id of the model. */
  readonly id: string;
  readonly name: string;
  readonly secrets: readonly string[];
  readonly answerMsMax: number;
}

/** How messages describe a call and its answer. */
export interface ErrorWords {
  /** "Embedding with" */
  readonly doing: string;
  /** What the provider may reject: "the input". */
  readonly what: string;
  /** Whether an unreadable response may be quoted; not if it contains document text. */
  readonly quotes: boolean;
}

export function mapError(error: unknown, names: ErrorNames, words: ErrorWords): PinakesError {
  if (PinakesError.isInstance(error)) return error;
  const { id, name } = names;
  const last = RetryError.isInstance(error) ? error.lastError : error;
  const make = (code: ErrorCode, what: string, retryable?: boolean): PinakesError =>
    new PinakesError(code, `${words.doing} ${id} (${name}): ${what}`, retryable === undefined ? {} : { retryable });
  if (last instanceof Error && last.name === "TimeoutError")
    return make("UNAVAILABLE", `no answer within ${names.answerMsMax / 1_000} s. Try again later.`);
  if (InvalidResponseDataError.isInstance(last)) return make("CORRUPT", `${said(last, names)} Nothing of it is used.`);
  if (!APICallError.isInstance(last)) return make("UNAVAILABLE", said(last, names));
  return mapStatus(last, said(last, names), words, make);
}

function mapStatus(
  { statusCode: status }: APICallError,
  message: string,
  { what, quotes }: ErrorWords,
  make: (code: ErrorCode, what: string, retryable?: boolean) => PinakesError,
): PinakesError {
  if (status === undefined) return make("UNAVAILABLE", `${message} Check that it runs and is reachable.`);
  if (status < 300)
    return make(
      "CORRUPT",
      quotes ? `the response cannot be parsed: ${message}` : "the answer cannot be read. Nothing of it is used.",
    );
  if (status === 429) return make("THROTTLED", `it asks to wait (429): ${message}`);
  if (status === 401 || status === 403)
    return make("UNAVAILABLE", `it refused the key (${status}): ${message} Check the key in the environment.`, false);
  if (status === 404)
    return make(
      "UNAVAILABLE",
      `it does not know the model or the address (404): ${message} Check model and baseUrl.`,
      false,
    );
  if (status >= 500 || status === 408 || status === 409 || status < 400)
    return make("UNAVAILABLE", `it failed (${status}): ${message}`);
  return make("INVALID", `it refused ${what} (${status}): ${message}`);
}

function said(error: unknown, { secrets }: ErrorNames): string {
  let message = error instanceof Error ? error.message : String(error);
  for (const secret of secrets) if (secret.length > 0) message = message.replaceAll(secret, "(key)");
  const short = message.length > messageCharsMax ? `${message.slice(0, messageCharsMax)}…` : message;
  return /[.!?…]$/.test(short) ? short : `${short}.`;
}
