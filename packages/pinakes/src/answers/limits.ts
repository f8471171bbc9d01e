import { days } from "../containers/index.ts";

/** Every limit of an answer, with its unit last. */
export const answerLimits = Object.freeze({
  questionCharsMax: 4_000,
  /** Of the search: what an answer is made from. */
  chunksDefault: 8,
  chunksMax: 20,
  /** Of all chunks together in a prompt, as the default embedding model counts. */
  contextTokensMax: 8_000,
  answerTokensMax: 1_024,
  /** Read of a model's answer, which may ignore the limit that it was given. */
  answerCharsMax: 16_000,
  /** Without a line break or a citation. */
  unitCharsMax: 2_000,
  sentencesMax: 20,
  extractiveSentencesDefault: 5,
  /** Compared with a question. */
  candidatesMax: 64,
  /** Of a sentence of a source, which is what a quote is made of. */
  sourceSentenceCharsMax: 400,
  citationsPerSentenceMax: 4,
  modelMsMax: 60_000,
  /** Of a conversation without documents: all messages and instructions together, and what the model writes. */
  conversationCharsMax: 200_000,
  conversationMessagesMax: 500,
  conversationTokensMax: 4_096,
  /** How long a stored response can be read. */
  responseKeptSeconds: days(30),
});

export type AnswerLimits = typeof answerLimits;
