/** Errors of the AI SDK as ours: the provider's own words without keys, never the texts of the request, which its errors carry. */
import { APICallError, JSONParseError, NoObjectGeneratedError, NoOutputGeneratedError, RetryError, TypeValidationError } from "ai";
import { PinakesError, type ErrorCode } from "../../domain/errors.ts";

const messageCharsMax = 300;

export interface ChatNames {
  readonly id: string;
  readonly name: string;
  readonly secrets: readonly string[];
  readonly answerMsMax: number;
}

export function mapChatError(error: unknown, names: ChatNames): PinakesError {
  if (PinakesError.isInstance(error)) return error;
  const last = RetryError.isInstance(error) ? error.lastError : error;
  const make = (code: ErrorCode, what: string, retryable?: boolean): PinakesError =>
    new PinakesError(code, `Asking ${names.id} (${names.name}): ${what}`, retryable === undefined ? {} : { retryable });
  if (last instanceof Error && last.name === "TimeoutError") return make("UNAVAILABLE", `no answer within ${names.answerMsMax / 1_000} s. Try again later.`);
  // Their messages quote the answer, and so the document.
  if ([NoObjectGeneratedError, NoOutputGeneratedError, JSONParseError, TypeValidationError].some((kind) => kind.isInstance(last)))
    return make("CORRUPT", "the answer is not JSON of the shape that was asked for. Nothing of it is used.");
  if (!APICallError.isInstance(last)) return make("UNAVAILABLE", said(last, names));
  const message = said(last, names);
  const { statusCode: status } = last;
  if (status === undefined) return make("UNAVAILABLE", `${message} Check that it runs and can be reached.`);
  if (status < 300) return make("CORRUPT", "the answer cannot be read. Nothing of it is used.");
  if (status === 429) return make("THROTTLED", `it asks to wait (429): ${message}`);
  if (status === 401 || status === 403) return make("UNAVAILABLE", `it refused the key (${status}): ${message} Check the key in the environment.`, false);
  if (status === 404) return make("UNAVAILABLE", `it does not know the model or the address (404): ${message} Check model and baseUrl.`, false);
  if (status >= 500 || status === 408 || status === 409 || status < 400) return make("UNAVAILABLE", `it failed (${status}): ${message}`);
  return make("INVALID", `it refused the question (${status}): ${message}`);
}

function said(error: unknown, { secrets }: ChatNames): string {
  let message = error instanceof Error ? error.message : String(error);
  for (const secret of secrets) if (secret.length > 0) message = message.replaceAll(secret, "(key)");
  const short = message.length > messageCharsMax ? `${message.slice(0, messageCharsMax)}…` : message;
  return /[.!?…]$/.test(short) ? short : `${short}.`;
}
