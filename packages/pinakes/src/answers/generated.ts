/** An answer that a chat model writes from the chunks: each sentence is checked when it is complete, and only then emitted. */
import type { AnswerFinish, AnswerSentence } from "@pinakes/client";
import { hasCode, PinakesError } from "../domain/errors.ts";
import type { ChatModel } from "../ports/chat-model.ts";
import type { SentenceChecker } from "./check-sentence.ts";
import type { AnswerLimits } from "./limits.ts";
import { instructions, noAnswer, promptOf, type Source } from "./prompt.ts";
import { unitsOf } from "./read-units.ts";
import type { Writing } from "./writing.ts";
import { sentencesOf } from "./sentences.ts";

export interface Generation {
  readonly chat: ChatModel;
  readonly question: string;
  readonly sources: readonly Source[];
  readonly checker: SentenceChecker;
  readonly sentencesMax: number;
  readonly limits: AnswerLimits;
  readonly writing: Writing;
  readonly signal: AbortSignal | undefined;
}

export async function* generate(generation: Generation): AsyncGenerator<AnswerSentence, AnswerFinish> {
  const { chat, question, sources, checker, sentencesMax, limits, writing, signal } = generation;
  const late = AbortSignal.timeout(limits.modelMsMax);
  // Aborted at the end in every case, which closes the call to the model.
  const over = new AbortController();
  const pieces = chat.stream({
    instructions: writing.instructions === undefined ? instructions : `${instructions}\n${writing.instructions}`,
    history: writing.history,
    text: promptOf(question, sources),
    tokensMax: Math.min(writing.tokensMax ?? Infinity, limits.answerTokensMax),
    temperature: writing.temperature,
    topP: writing.topP,
    signal: AbortSignal.any([late, over.signal, ...(signal === undefined ? [] : [signal])]),
  });
  const units = unitsOf(pieces, limits, writing.onUsage);
  let sent = 0;
  try {
    for (let unit = await units.next(); ; unit = await units.next()) {
      if (unit.done === true) return unit.value;
      for (const text of await sentencesIn(unit.value.text)) {
        const sentence = await checker.check(text, unit.value.sources);
        signal?.throwIfAborted();
        yield sentence;
        sent += 1;
        if (sent >= sentencesMax) return "length";
      }
    }
  } catch (error) {
    signal?.throwIfAborted();
    // Sentences already sent remain valid; only the rest is missing.
    if (late.aborted && sent > 0) return "time";
    if (late.aborted)
      throw new PinakesError(
        "UNAVAILABLE",
        `${chat.model.id} did not complete a sentence within ${limits.modelMsMax / 1_000} s. Try again later, or use mode "extractive".`,
        { cause: error },
      );
    if (sent > 0 && hasCode(error, "UNAVAILABLE", "CORRUPT", "THROTTLED")) return "cut_off";
    throw error;
  } finally {
    over.abort();
    await units.return("cut_off").catch(() => {});
  }
}

async function sentencesIn(text: string): Promise<readonly string[]> {
  if (text.replace(/[.!]$/, "") === noAnswer) return [];
  return (await sentencesOf(text, { charsMax: Infinity })).map(({ start, end }) => text.slice(start, end));
}
