import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { windowsOf } from "../pooled-embedder.ts";
import { modelFolder, readTokenizerFiles } from "./model-folder.ts";
import { openLocalTokenizer, realTokenizer, WordTokenizer } from "./tokenizer.ts";

const files = await readTokenizerFiles(modelFolder());
const real = realTokenizer(files);
const tokenizer = await openLocalTokenizer();

function wordsOf(text: string): { readonly word: string; readonly tokens: number }[] {
  const { starts, ends, tokens } = tokenizer.words(text);
  return Array.from(starts, (start, i) => ({ word: text.slice(start, ends[i]), tokens: tokens[i] as number }));
}

function total(text: string): number {
  return tokenizer.words(text).tokens.reduce((sum, tokens) => sum + tokens, 0);
}

const texts = [
  "",
  " \t\r\n ",
  "The quick brown fox jumps over the lazy dog.",
  "Don't stop — it's “state-of-the-art” (really!?), isn't it…",
  "unaffable electroencephalographically antidisestablishmentarianism",
  "Übergrößenträger, façade, naïve, Ångström, Ελλάδα ΟΔΟΣ. Α ΟΔΟΣ.Α, Привет, мир!",
  "日本語のテキストと漢字。中文没有空格，字字分开！한국어 문장입니다.",
  "𠀀𠀁 beyond the plane, 豈 compatibility, ㈱ enclosed",
  "emoji 😀😃 👩‍👩‍👧 🇩🇪 ❤️ and a\u200Bzero\u200Bwidth",
  "a\fform\vfeed \u0000null \uFEFFmark \uFFFD \u00A0nbsp\u2003em\u2028line\u3000ideographic",
  "e\u0301 \u0301alone a\u0301\u0302\u0303b ≠ ; `",
  "[CLS] hello [SEP] x[MASK]y [UNK][PAD] [cls] [SEP",
  `${"A1b2+/".repeat(400)}==`,
  `${"x".repeat(100)} ${"x".repeat(101)} ${"漢".repeat(200)}`,
  `{"id":1,"list":[${"123,".repeat(200)}4],"mark":"[SEP]${"a.b".repeat(60)}"}`,
  `${"Σ.Α.".repeat(100)}${"ΟΔΟΣ".repeat(40)}`,
  "ΡΩΗΣ.Α.".repeat(20),
  "https://example.org/a/very/long/path?with=query&and=more#fragment-that-goes-on-and-on-and-on-and-on",
  "\uD800 lone \uDC00 surrogates\uD83D",
];

describe("local tokenizer", () => {
  it("counts what the model's own tokenizer counts, without its special tokens", () => {
    for (const text of texts)
      expect({ text, tokens: total(text) }).toEqual({ text, tokens: real.tokenize(text).length });
  });

  it("agrees with it for generated texts", () => {
    const piece = fc.oneof(
      fc.string({ unit: "binary", maxLength: 12 }),
      fc.string({ unit: "grapheme", maxLength: 12 }),
      fc.string({
        unit: fc.constantFrom(...Array.from("aZ9.,[]-_ \n\t\f\u00A0\u200B\uFEFFΣσé漢😀\u0301")),
        maxLength: 90,
      }),
      fc.constantFrom(...texts),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
        const text = pieces.join("");
        expect(total(text)).toBe(real.tokenize(text).length);
      }),
      { numRuns: 1_000 },
    );
  });

  it("words are separated by white space, in order, without overlap", () => {
    expect(wordsOf(" Hello,  world! ")).toEqual([
      { word: "Hello,", tokens: 2 },
      { word: "world!", tokens: 2 },
    ]);
    const text = texts.join("\n");
    const { starts, ends } = tokenizer.words(text);
    for (let i = 0; i < starts.length; i += 1) {
      expect(ends[i]).toBeGreaterThan(starts[i] as number);
      if (i > 0) expect(starts[i]).toBeGreaterThanOrEqual(ends[i - 1] as number);
    }
  });

  it("every ideograph is a word, so that a text without spaces can be split", () => {
    expect(wordsOf("漢字, ok").map(({ word }) => word)).toEqual(["漢", "字", ",", "ok"]);
  });

  it("a run of 64 characters is one word, one of 65 is split at its punctuation", () => {
    const run = (chars: number): string => "abc.".repeat(17).slice(0, chars);
    expect(wordsOf(run(64))).toHaveLength(1);
    expect(wordsOf(run(65)).length).toBeGreaterThan(30);
  });

  it("windows of a text together have the tokens of the whole, none more than the limit", () => {
    const words = new WordTokenizer(real);
    for (const text of texts) {
      for (const tokensMax of [3, 10]) {
        const windows = windowsOf(text, words, tokensMax);
        for (const window of windows) expect(real.tokenize(window.text)).toHaveLength(window.tokens);
        for (const { text: own, tokens } of windows)
          if (Array.from(own).length > 1) expect(tokens).toBeLessThanOrEqual(tokensMax);
      }
    }
  });

  it("rejects a tokenizer of another kind", () => {
    const other = { ...files.tokenizer, pre_tokenizer: { type: "ByteLevel" } };
    expect(() => realTokenizer({ ...files, tokenizer: other })).toThrow(
      expect.objectContaining({ code: "NOT_SUPPORTED" }),
    );
  });
});
