/** Answers to questions: sentences, each with citations verified against the stored bytes, or marked as unsupported. */
import type { Citation, Hit, SearchAnswer } from "./search.ts";

/** Quotes of the sources, or sentences that a chat model wrote from them. */
export const answerModes = ["extractive", "generated"] as const;
export type AnswerMode = (typeof answerModes)[number];

/** Why there is no answer: nothing is stored, documents are still being indexed, or no source answers the question. */
export const refusalReasons = ["empty", "indexing", "no_match"] as const;
export type RefusalReason = (typeof refusalReasons)[number];

/** `length`, `time`: a limit was reached; `cut_off`: the model's stream broke. Incomplete sentences are omitted. */
export const answerFinishes = ["complete", "length", "time", "cut_off"] as const;
export type AnswerFinish = (typeof answerFinishes)[number];

export interface AnswerSentence {
  readonly text: string;
  /** At least one source supports it, with words located in the stored bytes. */
  readonly supported: boolean;
  /** Each with the quote that supports the sentence; empty if it is unsupported. */
  readonly citations: readonly Citation[];
}

export interface AnswerRefusal {
  readonly reason: RefusalReason;
  readonly message: string;
}

export interface Answer extends Pick<SearchAnswer, "outcome" | "skipped" | "unknown_fields" | "warnings"> {
  readonly mode: AnswerMode;
  /** The chat model; null if none was used. */
  readonly model: string | null;
  /** The supported sentences, as plain text; empty if and only if there is a refusal. */
  readonly text: string;
  /** All sentences in order, also those that nothing supports. */
  readonly sentences: readonly AnswerSentence[];
  readonly refusal?: AnswerRefusal;
  readonly finish: AnswerFinish;
  /** With `include_hits`: the hits of the search. */
  readonly hits?: readonly Hit[];
  readonly timings: { readonly search_ms: number; readonly answer_ms: number; readonly total_ms: number };
}

/** A streamed answer: `started`, each sentence after its verification, and finally the whole answer. */
export type AnswerEvent =
  | ({ readonly type: "started" } & Pick<Answer, "mode" | "model" | "outcome">)
  | { readonly type: "sentence"; readonly sentence: AnswerSentence }
  | { readonly type: "answer"; readonly answer: Answer };
