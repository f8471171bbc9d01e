import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Tokenizer } from "../../ports/embedder.ts";
import { windowsOf } from "./pooled-embedder.ts";

/** A token for every two characters of a word. */
const tokenizer: Tokenizer = {
  words(text) {
    const found = [...text.matchAll(/\S+/gu)];
    return {
      starts: Uint32Array.from(found, ({ index }) => index),
      ends: Uint32Array.from(found, (match) => match.index + match[0].length),
      tokens: Uint32Array.from(found, (match) => Math.ceil(match[0].length / 2)),
    };
  },
};

const count = (text: string) => tokenizer.words(text).tokens.reduce((sum, tokens) => sum + tokens, 0);

describe("windowsOf", () => {
  it("a text at the limit is one window, itself; one token more makes two of about the same length", () => {
    const text = Array.from({ length: 8 }, () => "ab").join(" ");
    expect(windowsOf(` ${text}\n`, tokenizer, 8)).toEqual([{ text: ` ${text}\n`, tokens: 8 }]);
    expect(windowsOf(`${text} ab`, tokenizer, 8).map(({ tokens }) => tokens)).toEqual([5, 4]);
  });

  it("no window exceeds the limit, none is empty, and together they hold every character that is not blank", () => {
    const words = fc.array(fc.string({ unit: fc.constantFrom("a", "b", "ä", "😀", " "), maxLength: 30 }), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(words, fc.integer({ min: 2, max: 9 }), (parts, tokensMax) => {
        const text = parts.join(" ");
        const windows = windowsOf(text, tokenizer, tokensMax);
        for (const window of windows) {
          expect(window.tokens).toBe(count(window.text));
          expect(window.tokens).toBeLessThanOrEqual(tokensMax);
          if (windows.length > 1) expect(window.text.trim()).not.toBe("");
        }
        expect(windows.map((window) => window.text.replaceAll(/\s/gu, "")).join("")).toBe(text.replaceAll(/\s/gu, ""));
      }),
    );
  });
});
