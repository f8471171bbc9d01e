/** A conversation with a chat model, without documents: bounded in length and time, and never marked as verified. */
import { invalid, PinakesError } from "../domain/errors.ts";
import type { ChatModel, ChatPiece } from "../ports/chat-model.ts";
import type { AnswerLimits } from "./limits.ts";
import type { Writing } from "./writing.ts";

export interface ConversationInput extends Omit<Writing, "onUsage"> {
  /** The user's last message. */
  readonly text: string;
  /** The id of a chat model; the first by default. */
  readonly model?: string | undefined;
}

export function checkConversation(
  { text, instructions = "", history = [] }: ConversationInput,
  limits: AnswerLimits,
): void {
  const chars = history.reduce((sum, message) => sum + message.text.length, text.length + instructions.length);
  if (chars > limits.conversationCharsMax)
    throw invalid(`messages: have ${chars} characters in total; at most ${limits.conversationCharsMax} are accepted.`);
  if (history.length >= limits.conversationMessagesMax)
    throw invalid(`messages: at most ${limits.conversationMessagesMax} are accepted, got ${history.length + 1}.`);
}

export async function* converse(
  chat: ChatModel,
  { text, instructions = "", history, tokensMax, temperature, topP }: ConversationInput,
  limits: AnswerLimits,
  signal: AbortSignal,
): AsyncGenerator<ChatPiece, void> {
  const late = AbortSignal.timeout(limits.modelMsMax);
  let chars = 0;
  try {
    const pieces = chat.stream({
      instructions,
      history,
      text,
      tokensMax: Math.min(tokensMax ?? Infinity, limits.conversationTokensMax),
      temperature,
      topP,
      signal: AbortSignal.any([late, signal]),
    });
    for await (const piece of pieces) {
      // A model may ignore the limit in the request.
      if ("text" in piece && (chars += piece.text.length) > limits.conversationCharsMax) return yield { end: "length" };
      yield piece;
    }
  } catch (error) {
    signal.throwIfAborted();
    if (!late.aborted) throw error;
    throw new PinakesError(
      "UNAVAILABLE",
      `${chat.model.id} did not finish within ${limits.modelMsMax / 1_000} s. Try again later.`,
      {
        cause: error,
      },
    );
  }
}
