/** Properties of every strategy in every unit, over adversarial texts. */
import { chunkingTypes } from "@pinakes/client";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Chunk, ChunkingStrategy } from "../../domain/chunking.ts";
import type { ParsedText } from "../../ports/parser.ts";
import { chunkDocument } from "./chunk-document.ts";
import { readChunkingStrategy } from "./strategy.ts";
import { embedByWords } from "./test-embedder.ts";
import { countTokens, testTokenizer } from "./test-tokenizer.ts";

const segmenter = new Intl.Segmenter("und", { granularity: "grapheme" });
const tools = { tokenizer: testTokenizer, tokensMax: Infinity, embed: embedByWords };
const plain = { pages: [], sections: [], rows: [], warnings: [] };

/** Headings and records begin at lines, as parsers guarantee. */
function parsedFrom(text: string, kind: "plain" | "sections" | "rows"): ParsedText {
  const lines = [...text.matchAll(/(?<=^|\n)(?=[^\n])/g)].map(({ index }) => index);
  if (kind === "sections") {
    return {
      ...plain,
      text,
      sections: lines
        .filter((_, i) => i % 3 === 1)
        .map((start, i) => ({ start, path: i % 4 === 0 ? ["a"] : ["a", `b${i}`] })),
    };
  }
  return kind === "rows"
    ? { ...plain, text, rows: lines.slice(1).map((start, i) => ({ start, row: i + 1 })) }
    : { ...plain, text };
}

const nasty = [
  "word",
  " ",
  "  \n",
  "\n\n\n",
  ". ",
  "Ein Satz. Noch einer! ",
  "👩‍👩‍👧‍👦",
  "🇩🇪🇫🇷",
  "👍🏽",
  "é",
  "e\u0301\u0323",
  " \u0301",
  "\u0301",
  "क्षत्रिय ",
  "한국어 ",
  "\u1112\u1161\u11ab",
  "日本語の文。",
  "שלום עולם ",
  "مرحبا، ",
  "ภาษาไทยไม่มีช่องว่าง",
  "\u0600 1",
  "\u00a0\u3000\ufeff",
  "\ud83d",
  "\udc00",
  "\u0007",
  "𝒳𝒴𝒵",
  "```\ncode\n\nmore\n```\n",
  "| a | b |\n| - | - |\n| 1 | 2 |\n",
  "# Heading\n",
  "1. item\n",
  "x".repeat(150),
  "漢".repeat(130),
  "e" + "\u0301".repeat(120),
  " ".repeat(140),
  "🏳️‍🌈".repeat(30),
];
const texts = fc.oneof(
  fc.array(fc.constantFrom(...nasty), { maxLength: 60 }).map((parts) => parts.join("")),
  fc.array(fc.constantFrom(...nasty), { minLength: 20, maxLength: 40 }).map((parts) => parts.join(" ")),
  fc.string({ unit: "binary", maxLength: 600 }),
  fc.lorem({ maxCount: 60, mode: "sentences" }),
);
const shares = fc.tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 100 }));

function strategyOf(type: string, unit: "char" | "token", [more, share]: readonly [number, number]): ChunkingStrategy {
  const size = (unit === "char" ? 100 : 10) + more;
  return readChunkingStrategy({ type, unit, chunk_size: size, chunk_overlap: Math.floor((size * share) / 200) });
}

/** One list of violations, compared once: an expectation for each of 100,000 chunks would take minutes. */
function expectSound(text: string, chunks: readonly Chunk[], strategy: ChunkingStrategy): void {
  const measure = strategy.unit === "char" ? (part: string) => part.length : countTokens;
  const characters = [...segmenter.segment(text)];
  const safe = new Set([text.length, ...characters.map(({ index }) => index)]);
  const longest = characters.reduce((most, { segment }) => Math.max(most, measure(segment)), 0);
  const unlimited = strategy.type === "NONE";
  const faults: string[] = [];
  const check = (chunk: Chunk, holds: boolean, rule: string) =>
    holds || faults.push(`${chunk.index} [${chunk.start}, ${chunk.end}): ${rule}`);
  let former: Chunk | undefined;
  for (const [i, chunk] of chunks.entries()) {
    const { start, end } = chunk;
    check(chunk, chunk.index === i, "index");
    check(chunk, chunk.text === text.slice(start, end) && chunk.text !== "", "text is the slice, and not empty");
    check(chunk, unlimited || measure(chunk.text) <= strategy.chunk_size, "size");
    check(
      chunk,
      ![start, end].some((edge) => edge > 0 && /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(edge - 1, edge + 1))),
      "surrogates",
    );
    // A character that is longer than the size must be cut somewhere; then only surrogate pairs stay whole.
    check(chunk, (longest > strategy.chunk_size && !unlimited) || (safe.has(start) && safe.has(end)), "characters");
    // A blank edge remains only where the blank is part of a visible character.
    check(chunk, !/^\s/.test(chunk.text) || !safe.has(start + 1), "blank start");
    check(chunk, !/\s$/.test(chunk.text) || !safe.has(end - 1), "blank end");
    check(chunk, former === undefined || (start > former.start && end > former.end), "order");
    check(
      chunk,
      former === undefined || start >= former.end || measure(text.slice(start, former.end)) <= strategy.chunk_overlap,
      "overlap",
    );
    check(
      chunk,
      /^\s*$/.test(text.slice(former?.end ?? 0, Math.max(start, former?.end ?? 0))),
      "covers all text before it",
    );
    former = chunk;
  }
  expect(faults).toEqual([]);
  expect(text.slice(former?.end ?? 0)).toMatch(/^\s*$/);
}

describe.each(chunkingTypes)("%s", (type) => {
  it.each(type === "TOKEN" ? (["token"] as const) : (["char", "token"] as const))(
    "makes valid chunks of adversarial texts, unit %s",
    async (unit) => {
      await fc.assert(
        fc.asyncProperty(
          texts,
          shares,
          fc.constantFrom("plain" as const, "sections" as const, "rows" as const),
          async (text, share, kind) => {
            const strategy = strategyOf(type, unit, share);
            expectSound(text, await chunkDocument(parsedFrom(text, kind), strategy, tools), strategy);
          },
        ),
        { numRuns: 300 },
      );
    },
  );

  it.each([
    ["100,000 characters without a space", "a".repeat(100_000)],
    ["100,000 Han characters", "漢".repeat(100_000)],
    ["10,000 flags", "🇩🇪".repeat(10_000)],
    ["10,000 families", "👨‍👩‍👧".repeat(10_000)],
    ["many lines", "\n\nline\n".repeat(10_000)],
    ["Hebrew", "שלום עולם. ".repeat(5_000)],
    ["spaces with a word at each end", `a${" ".repeat(100_000)}b`],
  ])("makes valid chunks of %s", async (_, text) => {
    for (const unit of ["char", "token"] as const) {
      if (type === "TOKEN" && unit === "char") continue;
      const strategy = strategyOf(type, unit, [50, 20]);
      const chunks = await chunkDocument({ ...plain, text }, strategy, tools);
      expect(chunks.length).toBeGreaterThan(0);
      expectSound(text, chunks, strategy);
    }
  });

  it("makes no chunks of blank texts", async () => {
    for (const text of ["", " ", "\n\n\t \u00a0\u3000\u2028\ufeff".repeat(1_000)]) {
      expect(await chunkDocument({ ...plain, text }, readChunkingStrategy({ type }), tools)).toEqual([]);
    }
  });
});
