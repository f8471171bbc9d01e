import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pauses } from "./pause.ts";
import { sentenceStarts } from "./sentences.ts";

const starts = (text: string) => sentenceStarts(text, pauses(undefined));

describe("sentenceStarts", () => {
  it("agrees with Intl.Segmenter on one paragraph, with and without calling it", async () => {
    const segmenter = new Intl.Segmenter("und", { granularity: "sentence" });
    const parts = fc.constantFrom(
      "One",
      "two ",
      "A.B",
      "3.5 ",
      ". ",
      "! ",
      "?",
      "… ",
      "。",
      "؟ ",
      "։ ",
      "é ",
      " ",
      ")",
      "; ",
      "Ж ",
      "\u0085",
    );
    await fc.assert(
      fc.asyncProperty(fc.array(parts, { minLength: 1 }), async (words) => {
        const text = words.join("");
        expect(await starts(text)).toEqual([...segmenter.segment(text)].map(({ index }) => index));
      }),
      { numRuns: 1_000 },
    );
  });

  it("begins at 0 and ascends, over paragraphs longer than one segmenter input", async () => {
    for (const text of [
      "x".repeat(200_000),
      "word ".repeat(40_000),
      "a line\n".repeat(30_000),
      "- item\n".repeat(30_000),
      "😀".repeat(70_000),
    ]) {
      const found = await starts(text);
      expect(found[0]).toBe(0);
      expect(found.slice(1).every((start, i) => start > (found[i] ?? 0) && start < text.length)).toBe(true);
      expect(found.length).toBeGreaterThan(2);
    }
    expect(await starts("")).toEqual([]);
  });
});
