import { days } from "../containers/index.ts";

/** All limits of an answer, with the unit last. */
export const answerLimits = Object.freeze({
  questionCharsMax: 4_000,
  /** Number of search hits an answer is created from. */
  chunksDefault: 8,
  chunksMax: 20,
  /** Tokens of all chunks in a prompt, as counted by the default embedding model. */
  contextTokensMax: 8_000,
  answerTokensMax: 1_024,
  /** Maximum read from a model's output, which may exceed the requested limit. */
  answerCharsMax: 16_000,
  /** Text without a line break or a citation. */
  unitCharsMax: 2_000,
  sentencesMax: 20,
  extractiveSentencesDefault: 5,
  /** Sentences compared with a question. */
  candidatesMax: 64,
  /** Length of a source sentence, the unit of a quote. */
  sourceSentenceCharsMax: 400,
  citationsPerSentenceMax: 4,
  modelMsMax: 60_000,
  /** For a conversation without documents: the input of all messages and instructions, and the model's output. */
  conversationCharsMax: 200_000,
  conversationMessagesMax: 500,
  conversationTokensMax: 4_096,
  /** How long a stored response can be read. */
  responseKeptSeconds: days(30),
});

export type AnswerLimits = typeof answerLimits;
