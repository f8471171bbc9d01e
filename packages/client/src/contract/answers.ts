/** Answers to questions: sentences, each with citations that were checked against the kept bytes, or marked as unsupported. */
import type { Citation, Hit, SearchAnswer } from "./search.ts";

/** Quotes of what was found, or sentences that a chat model wrote from it. */
export const answerModes = ["extractive", "generated"] as const;
export type AnswerMode = (typeof answerModes)[number];

/** Why there is no answer: nothing is stored, documents are still being indexed, or nothing answers the question. */
export const refusalReasons = ["empty", "indexing", "no_match"] as const;
export type RefusalReason = (typeof refusalReasons)[number];

/** `length`, `time`: a limit ended it; `cut_off`: the model's stream broke. What was not complete by then is left out. */
export const answerFinishes = ["complete", "length", "time", "cut_off"] as const;
export type AnswerFinish = (typeof answerFinishes)[number];

export interface AnswerSentence {
  readonly text: string;
  /** At least one source states it, in words that were found in the kept bytes. */
  readonly supported: boolean;
  /** Each with the words that support the sentence; none where it is not supported. */
  readonly citations: readonly Citation[];
}

export interface AnswerRefusal {
  readonly reason: RefusalReason;
  readonly message: string;
}

export interface Answer extends Pick<SearchAnswer, "outcome" | "skipped" | "unknown_fields" | "warnings"> {
  readonly mode: AnswerMode;
  /** The chat model; null where none was asked. */
  readonly model: string | null;
  /** The supported sentences, as plain text; empty exactly where there is a refusal. */
  readonly text: string;
  /** All sentences in order, also those that nothing supports. */
  readonly sentences: readonly AnswerSentence[];
  readonly refusal?: AnswerRefusal;
  readonly finish: AnswerFinish;
  /** With `include_hits`: what the search found. */
  readonly hits?: readonly Hit[];
  readonly timings: { readonly search_ms: number; readonly answer_ms: number; readonly total_ms: number };
}

/** An answer as it comes: `started`, each sentence after its check, and the whole answer last. */
export type AnswerEvent =
  | ({ readonly type: "started" } & Pick<Answer, "mode" | "model" | "outcome">)
  | { readonly type: "sentence"; readonly sentence: AnswerSentence }
  | { readonly type: "answer"; readonly answer: Answer };
