import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { characterStart, codePointStart } from "./graphemes.ts";
import { isBlank } from "./spans.ts";

const segmenter = new Intl.Segmenter("und", { granularity: "grapheme" });

/** Written by hand, not derived from the segmenter's tables. */
const characters = [
  "a",
  "é",
  "e\u0301",
  " \u0301",
  "👩‍👩‍👧‍👦",
  "👍🏽",
  "🇩🇪",
  "1️⃣",
  "क्षि",
  "한",
  "\u1112\u1161\u11ab",
  "กำ",
  "漢",
  "か\u3099",
  "ﾊﾞ",
  "א\u05b7",
  "\u0600",
  "𝒳",
];

describe("characterStart", () => {
  it("agrees with Intl.Segmenter at every position", () => {
    const texts = fc.oneof(
      fc.array(fc.constantFrom(...characters), { maxLength: 12 }).map((parts) => parts.join("")),
      fc.string({ unit: "binary", maxLength: 20 }),
    );
    fc.assert(
      fc.property(texts, (text) => {
        // A line end inside "\r\n" is the only difference: parsed text has no "\r".
        const clean = text.replaceAll("\r", "");
        const segments = segmenter.segment(clean);
        for (let position = 0; position < clean.length; position += 1)
          expect(characterStart(clean, position, 0)).toBe(segments.containing(position)?.index);
      }),
      { numRuns: 1_000 },
    );
  });

  it("is the position itself at the ends of the text", () => {
    expect(characterStart("🇩🇪", 0, 0)).toBe(0);
    expect(characterStart("🇩🇪", 4, 0)).toBe(4);
    expect(characterStart("", 0, 0)).toBe(0);
  });

  it("looks back at most 10,000 characters", () => {
    expect(characterStart(`e${"\u0301".repeat(20_000)}`, 9_999, 0)).toBe(0);
    expect(characterStart(`e${"\u0301".repeat(20_000)}`, 10_000, 0)).toBe(0);
    expect(characterStart(`e${"\u0301".repeat(20_000)}`, 10_001, 0)).toBe(1);
  });
});

describe("codePointStart", () => {
  it("moves only out of a surrogate pair", () => {
    expect([0, 1, 2, 3].map((position) => codePointStart("a😀", position))).toEqual([0, 1, 1, 3]);
    expect(codePointStart("\ud83d\ud83d", 1)).toBe(1);
  });
});

describe("isBlank", () => {
  it("matches exactly what \\s matches, for every code unit", () => {
    const wrong = Array.from({ length: 0x1_0000 }, (_, code) => code).filter(
      (code) => isBlank(code) !== /\s/.test(String.fromCharCode(code)),
    );
    expect(wrong).toEqual([]);
  });
});
