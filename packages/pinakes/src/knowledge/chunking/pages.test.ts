import { describe, expect, it } from "vitest";
import type { ParsedText } from "../../ports/parser.ts";
import { chunkDocument } from "./chunk-document.ts";
import { testTokenizer } from "./test-tokenizer.ts";

const sheets = [
  "The pump is started with the green lever.\n",
  "Oil it every month, and write it down.\n",
  "In a flood close valve seven.\n",
];
const text = sheets.join("");
const starts = sheets.map((_, i) => sheets.slice(0, i).join("").length);
const parsed: ParsedText = {
  text,
  pages: starts.map((start, i) => ({ start, page: i + 1 })),
  sections: [],
  rows: [],
  warnings: [],
};

describe("pages", () => {
  it.each(["FIXED", "RECURSIVE", "TOKEN", "SENTENCE", "MARKDOWN"] as const)(
    "a chunk of %s lies on the page that it names",
    async (type) => {
      const strategy = {
        type,
        unit: type === "TOKEN" ? "token" : "char",
        chunk_size: 1_000,
        chunk_overlap: 100,
      } as const;
      const chunks = await chunkDocument(parsed, strategy, { tokenizer: testTokenizer, tokensMax: Infinity });
      expect(chunks.map(({ text: passage, page, index }) => [index, page, passage])).toEqual(
        sheets.map((sheet, i) => [i, i + 1, sheet.trim()]),
      );
      for (const { start, end, text: passage } of chunks) expect(text.slice(start, end)).toBe(passage);
    },
  );

  it("NONE is the whole text, from the first page on", async () => {
    const chunks = await chunkDocument(
      parsed,
      { type: "NONE", unit: "char", chunk_size: 0, chunk_overlap: 0 },
      { tokenizer: testTokenizer, tokensMax: Infinity },
    );
    expect(chunks).toMatchObject([{ page: 1, text: text.trim() }]);
  });
});
