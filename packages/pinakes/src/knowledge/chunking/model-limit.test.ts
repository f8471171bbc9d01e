import { chunkingTypes } from "@pinakes/client";
import { describe, expect, it } from "vitest";
import type { ChunkingStrategy } from "../../domain/chunking.ts";
import type { ParsedText } from "../../ports/parser.ts";
import { chunkDocument } from "./chunk-document.ts";
import { clampedStrategy, limitWarning } from "./model-limit.ts";
import { catalogChunking, readChunkingStrategy } from "./strategy.ts";
import { embedByWords } from "./test-embedder.ts";
import { countTokens, testTokenizer } from "./test-tokenizer.ts";

const plain: ParsedText = { text: "", pages: [], sections: [], rows: [], warnings: [] };
const sentence = "The lighthouse, built in 1811, was lit by 24 lamps; its keepers climbed 96 steps. ";
const texts: readonly ParsedText[] = [
  { ...plain, text: sentence.repeat(40) },
  { ...plain, text: "漢字仮名交じり文".repeat(120) },
  { ...plain, text: `${"x".repeat(900)} ${"word ".repeat(300)}` },
  // Headings, one of them long: they are embedded with every chunk below them.
  {
    ...plain,
    text: `# A\n${sentence.repeat(12)}\n## B\n${sentence.repeat(12)}`,
    sections: [
      { start: 0, path: ["A"] },
      { start: 4 + sentence.length * 12, path: ["A", "A heading that goes on and on ".repeat(20).trim()] },
    ],
  },
  // A table with its header.
  {
    ...plain,
    text: `name,year,height,place,keeper\n${"Longstone,1826,26,Farne,Darling\n".repeat(60)}`,
    rows: Array.from({ length: 60 }, (_, i) => ({ start: 30 + i * 32, row: i + 1 })),
  },
  {
    ...plain,
    text: sentence.repeat(40),
    pages: [
      { start: 0, page: 1 },
      { start: sentence.length * 20, page: 2 },
    ],
  },
];

const sized = (type: ChunkingStrategy["type"], unit: "char" | "token") =>
  readChunkingStrategy(
    type === "NONE"
      ? { type }
      : { type, unit: type === "TOKEN" ? "token" : unit, chunk_size: 1_000, chunk_overlap: 100 },
  );

describe("the model's input limit bounds every chunk", () => {
  for (const type of chunkingTypes) {
    it(`${type}: no chunk with its context exceeds the model's token limit, and no text is lost`, async () => {
      for (const tokensMax of [40, 64, 256]) {
        for (const strategy of [sized(type, "char"), sized(type, "token")]) {
          for (const parsed of texts) {
            const chunks = await chunkDocument(parsed, strategy, {
              tokenizer: testTokenizer,
              tokensMax,
              embed: embedByWords,
            });
            const covered = new Set<number>();
            for (const { start, end, text, context } of chunks) {
              expect(text).toBe(parsed.text.slice(start, end));
              expect(countTokens(context === undefined ? text : `${context}\n${text}`)).toBeLessThanOrEqual(tokensMax);
              for (let i = start; i < end; i += 1) covered.add(i);
            }
            for (const { index } of parsed.text.matchAll(/\S/g))
              if (!covered.has(index)) throw new Error(`character ${index} is in no chunk`);
          }
        }
      }
    });
  }

  it("a text at the limit is one chunk, one token more makes two of about equal length", async () => {
    const cut = async (words: number) => {
      const parsed = { ...plain, text: Array.from({ length: words }, () => "word").join(" ") };
      const chunks = await chunkDocument(parsed, readChunkingStrategy({ type: "NONE" }), {
        tokenizer: testTokenizer,
        tokensMax: 50,
      });
      return chunks.map(({ text }) => countTokens(text));
    };
    expect(await cut(50)).toEqual([50]);
    const [first = 0, second = 0, ...more] = await cut(51);
    expect([first + second, more]).toEqual([51, []]);
    expect(Math.abs(first - second)).toBeLessThan(12);
  });

  it("chunks that fit are cut as without a limit", async () => {
    const [parsed = plain] = texts;
    const strategy = readChunkingStrategy({ type: "RECURSIVE" });
    const cut = (tokensMax: number) => chunkDocument(parsed, strategy, { tokenizer: testTokenizer, tokensMax });
    expect(await cut(400)).toEqual(await cut(Infinity));
  });

  it("R-KB-27 the default of catalogs, 300 tokens with 10 % overlap, is kept by a model that reads as much, and scaled down in proportion for one that does not", () => {
    expect(clampedStrategy(catalogChunking, 300)).toEqual(catalogChunking);
    expect(clampedStrategy(catalogChunking, 256)).toEqual({
      type: "TOKEN",
      unit: "token",
      chunk_size: 256,
      chunk_overlap: 25,
    });
    expect(clampedStrategy(readChunkingStrategy({ type: "FIXED", chunk_size: 10_000 }), 256).chunk_size).toBe(10_000);
  });

  it("a size that the model cannot read gives a warning; a size at the limit does not", () => {
    const model = { id: "m", tokensMax: 256 };
    const warning = (input: unknown) => limitWarning(readChunkingStrategy(input), model);
    expect(warning({ type: "TOKEN", chunk_size: 256 })).toBeUndefined();
    expect(warning({ type: "TOKEN", chunk_size: 257 })).toContain("at most 256 tokens");
    expect(warning({ type: "RECURSIVE" })).toBeUndefined();
    expect(warning({ type: "FIXED", chunk_size: 1_025 })).toContain("1025 characters");
    expect(warning({ type: "NONE" })).toBeUndefined();
  });
});
