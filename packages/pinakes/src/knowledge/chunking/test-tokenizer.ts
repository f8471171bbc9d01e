/** A small deterministic tokenizer for tests: words, single signs and single Han characters; one token per four characters of a word. */
import type { Tokenizer } from "../../ports/embedder.ts";

const word = /[\u3040-\u30ff\u3400-\u9fff]|[\p{L}\p{N}\p{M}_]+|[^\s\p{L}\p{N}\p{M}_]/gu;

export const testTokenizer: Tokenizer = {
  words(text) {
    const found = [...text.matchAll(word)];
    return {
      starts: Uint32Array.from(found, ({ index }) => index),
      ends: Uint32Array.from(found, (match) => match.index + match[0].length),
      tokens: Uint32Array.from(found, (match) => Math.ceil(match[0].length / 4)),
    };
  },
};

export function countTokens(text: string): number {
  return testTokenizer.words(text).tokens.reduce((sum, tokens) => sum + tokens, 0);
}
