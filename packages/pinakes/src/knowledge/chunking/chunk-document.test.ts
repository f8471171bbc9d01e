import { describe, expect, it } from "vitest";
import type { Chunk } from "../../domain/chunking.ts";
import type { ParsedText } from "../../ports/parser.ts";
import { chunkDocument } from "./chunk-document.ts";
import { readChunkingStrategy } from "./strategy.ts";
import { contextCharsMax } from "./surroundings.ts";
import { embedByWords } from "./test-embedder.ts";
import { countTokens, testTokenizer } from "./test-tokenizer.ts";

type Extra = Partial<Omit<ParsedText, "text">>;

async function chunk(text: string, strategy: object, extra: Extra = {}): Promise<readonly Chunk[]> {
  const parsed = { text, pages: [], sections: [], rows: [], warnings: [], ...extra };
  return chunkDocument(parsed, readChunkingStrategy(strategy), {
    tokenizer: testTokenizer,
    tokensMax: Infinity,
    embed: embedByWords,
  });
}

const textsOf = (chunks: readonly Chunk[]) => chunks.map(({ text }) => text);
/** Numbered, so that repeated or lost words show. */
const words = (count: number) => Array.from({ length: count }, (_, i) => `word${i}`).join(" ");
/** The text that neighbouring chunks share. */
const shared = (text: string, chunks: readonly Chunk[]) =>
  chunks.slice(1).map(({ start }, i) => text.slice(start, Math.max(start, chunks[i]?.end ?? 0)));

describe("FIXED and TOKEN", () => {
  it("cuts at the last word that fits and repeats whole words", async () => {
    const text = words(60);
    const chunks = await chunk(text, { type: "FIXED", chunk_size: 100, chunk_overlap: 20 });
    expect(chunks[0]?.text).toBe(words(15));
    expect(chunks[1]?.text.startsWith("word12 word13 word14 word15 ")).toBe(true);
    expect(
      shared(text, chunks).every((part) => part.length > 0 && part.length <= 20 && /^word\d+( word\d+)*$/.test(part)),
    ).toBe(true);
  });

  it("fills a chunk to exactly its size", async () => {
    expect(await chunk("x".repeat(100), { type: "FIXED", chunk_size: 100, chunk_overlap: 0 })).toHaveLength(1);
    const parts = await chunk("x".repeat(101), { type: "FIXED", chunk_size: 100, chunk_overlap: 0 });
    expect(parts.map(({ text }) => text.length)).toEqual([100, 1]);
    // Blanks at the edges do not count.
    expect(await chunk(`  ${"x".repeat(100)}\n\n`, { type: "FIXED", chunk_size: 100 })).toMatchObject([
      { start: 2, end: 102, index: 0 },
    ]);
  });

  it("R-KB-27 the default of catalogs makes chunks of about 300 tokens with 10 % overlap", async () => {
    const text = words(4_000);
    const chunks = await chunk(text, { type: "TOKEN" });
    const sizes = chunks.map((part) => countTokens(part.text));
    expect(sizes.slice(0, -1).every((tokens) => tokens >= 298 && tokens <= 300)).toBe(true);
    expect(shared(text, chunks).every((part) => countTokens(part) >= 28 && countTokens(part) <= 30)).toBe(true);
    expect(chunks.length).toBeGreaterThan(25);
  });

  it("cuts a word that is longer than the size, and counts its pieces", async () => {
    const text = `before ${"x".repeat(1_000)} after`;
    const chunks = await chunk(text, { type: "TOKEN", chunk_size: 10, chunk_overlap: 0 });
    expect(chunks[0]?.text).toBe("before");
    expect(chunks[1]?.text).toBe("x".repeat(40));
    expect(chunks.at(-1)?.text).toBe("after");
    expect(chunks).toHaveLength(27);
  });

  it("does not count an endless word or endless blanks as one token", async () => {
    const oneToken = {
      words: (text: string) => {
        const found = [...text.matchAll(/\S+/g)];
        const [starts, ends] = [
          Uint32Array.from(found, (m) => m.index),
          Uint32Array.from(found, (m) => m.index + m[0].length),
        ];
        return { starts, ends, tokens: starts.map(() => 1) };
      },
    };
    const parsed = { pages: [], sections: [], rows: [], warnings: [] };
    const strategy = readChunkingStrategy({ type: "TOKEN", chunk_size: 10, chunk_overlap: 0 });
    const base64 = await chunkDocument({ ...parsed, text: "A".repeat(3_200) }, strategy, {
      tokenizer: oneToken,
      tokensMax: Infinity,
    });
    expect(base64.map(({ text }) => text.length)).toEqual(Array.from({ length: 10 }, () => 320));
    const blanks = await chunkDocument({ ...parsed, text: `a${" ".repeat(1_000)}b` }, strategy, {
      tokenizer: oneToken,
      tokensMax: Infinity,
    });
    expect(textsOf(blanks)).toEqual(["a", "b"]);
  });
});

describe("RECURSIVE", () => {
  const paragraph = (name: string, length: number) => `${name} `.repeat(Math.ceil(length / (name.length + 1))).trim();

  it("keeps paragraphs whole and joins them while they fit", async () => {
    const [a, b, c] = [paragraph("aa", 40), paragraph("bb", 40), paragraph("cc", 60)];
    expect(
      textsOf(await chunk([a, b, c].join("\n\n"), { type: "RECURSIVE", chunk_size: 100, chunk_overlap: 0 })),
    ).toEqual([`${a}\n\n${b}`, c]);
  });

  it("R-LISA-13 tries the separators in the given order", async () => {
    const text = `${"a".repeat(50)}|${"b".repeat(30)};${"c".repeat(50)}`;
    const first = async (separators: string[]) =>
      (await chunk(text, { type: "RECURSIVE", chunk_size: 100, chunk_overlap: 0, separators }))[0]?.text;
    expect(await first(["|", ";"])).toBe(`${"a".repeat(50)}|`);
    expect(await first([";", "|"])).toBe(`${"a".repeat(50)}|${"b".repeat(30)};`);
    // A separator that begins with a blank stays with the text after it.
    const headed = `${"a".repeat(60)}\n## ${"b".repeat(60)}`;
    expect(textsOf(await chunk(headed, { type: "RECURSIVE", chunk_size: 100, separators: ["\n## "] }))).toEqual([
      "a".repeat(60),
      `## ${"b".repeat(60)}`,
    ]);
  });

  it("does not leave a title alone when the paragraph below it can be cut", async () => {
    const [first] = await chunk(`Title\n\n${"One more sentence. ".repeat(20)}`, {
      type: "RECURSIVE",
      chunk_size: 100,
      chunk_overlap: 0,
    });
    expect(first?.text).toBe("Title\n\nOne more sentence. One more sentence. One more sentence. One more sentence.");
    const alone = await chunk(`Title\n\n${"x".repeat(300)}`, { type: "RECURSIVE", chunk_size: 100, chunk_overlap: 0 });
    expect(alone[0]?.text).toBe("Title");
  });

  it("R-LISA-62 the system default keeps within 1000 characters and overlaps at most 200, from a word boundary", async () => {
    const text = `${"A sentence of some words. ".repeat(30).trim()}\n\n`.repeat(20);
    const chunks = await chunk(text, { type: "RECURSIVE" });
    expect(chunks.length).toBeGreaterThan(15);
    for (const part of shared(text, chunks)) {
      expect(part.length).toBeGreaterThan(150);
      expect(part.length).toBeLessThanOrEqual(200);
      expect(part).toMatch(/^(A|sentence|of|some|words\.) /);
    }
  });
});

describe("SENTENCE", () => {
  it("packs whole sentences and overlaps by whole sentences", async () => {
    const text = Array.from({ length: 20 }, (_, i) => `This is sentence ${i + 10}.`).join(" ");
    const chunks = await chunk(text, { type: "SENTENCE", chunk_size: 100, chunk_overlap: 30 });
    expect(chunks[0]?.text).toBe("This is sentence 10. This is sentence 11. This is sentence 12. This is sentence 13.");
    expect(chunks[1]?.text.startsWith("This is sentence 13. This is sentence 14.")).toBe(true);
    expect(chunks.every((part) => /^This .*\.$/s.test(part.text))).toBe(true);
  });

  it("joins lines that only wrap, and stops at a list or an empty line", async () => {
    const filler = "x".repeat(70);
    const wrapped = await chunk(`A sentence that is\nwrapped ${filler}. Next one here.`, {
      type: "SENTENCE",
      chunk_size: 100,
      chunk_overlap: 0,
    });
    expect(textsOf(wrapped)).toEqual([`A sentence that is\nwrapped ${filler}.`, "Next one here."]);
    const list = await chunk(`- one ${filler}\n- two ${filler}\n\nthree ${filler}`, {
      type: "SENTENCE",
      chunk_size: 100,
      chunk_overlap: 0,
    });
    expect(textsOf(list)).toEqual([`- one ${filler}`, `- two ${filler}`, `three ${filler}`]);
  });

  it("cuts a sentence only if it alone is too long, and at words", async () => {
    const chunks = await chunk(`Short one. W${words(40).slice(1)}. End.`, {
      type: "SENTENCE",
      chunk_size: 100,
      chunk_overlap: 10,
    });
    expect(chunks[0]?.text).toBe("Short one.");
    expect(chunks[1]?.text).toBe(`W${words(15).slice(1)}`);
    expect(chunks.at(-1)?.text).toMatch(/End\.$/);
  });

  it("knows the full stops of other scripts", async () => {
    const sentence = `${"漢".repeat(59)}。`;
    expect(textsOf(await chunk(sentence.repeat(3), { type: "SENTENCE", chunk_size: 100, chunk_overlap: 0 }))).toEqual([
      sentence,
      sentence,
      sentence,
    ]);
  });
});

describe("SEMANTIC", () => {
  const cats = [
    "Cats purr and cats sleep.",
    "A cat likes cats and sleep.",
    "Cats purr when cats sleep.",
    "Sleep suits cats that purr.",
  ];
  const ships = [
    "Ships sail the ocean.",
    "The ocean carries ships.",
    "Ships and ocean and sail.",
    "Sail the ocean in ships.",
  ];
  const strategy = { type: "SEMANTIC", chunk_size: 500, chunk_overlap: 0, threshold: 0.5 };

  it("starts a new chunk where the subject changes", async () => {
    const text = [...cats, ...ships].join(" ");
    expect(textsOf(await chunk(text, strategy))).toEqual([cats.join(" "), ships.join(" ")]);
    expect(textsOf(await chunk(text, { ...strategy, threshold: 0 }))).toEqual([text]);
  });

  it("cuts a long subject between sentences, and makes no tiny chunks", async () => {
    const long = await chunk(Array.from({ length: 10 }, () => cats.join(" ")).join(" "), {
      ...strategy,
      chunk_size: 200,
      chunk_overlap: 40,
    });
    expect(long.length).toBeGreaterThan(4);
    expect(long.every((part) => part.text.length <= 200 && /^[A-Z].*\.$/.test(part.text))).toBe(true);
    const tiny = await chunk(`Yes. ${cats.join(" ")} No.`, { ...strategy, threshold: 1 });
    expect(tiny.every((part) => part.text.length >= 500 / 8)).toBe(true);
  });

  it("compares sentences across embedding batches", async () => {
    const many = [...Array.from({ length: 75 }, () => cats).flat(), ...Array.from({ length: 75 }, () => ships).flat()];
    const chunks = await chunk(many.join(" "), strategy);
    const border = many.slice(0, 300).join(" ").length + 1;
    expect(chunks.filter(({ start, end }) => start < border && end > border)).toEqual([]);
    expect(chunks.some(({ start }) => start === border)).toBe(true);
  });

  it("is refused without an embedder, and the error says what to do", async () => {
    const parsed = { text: "a", pages: [], sections: [], rows: [], warnings: [] };
    await expect(
      chunkDocument(parsed, readChunkingStrategy(strategy), { tokenizer: testTokenizer, tokensMax: Infinity }),
    ).rejects.toMatchObject({
      code: "INVALID",
      detail: expect.stringContaining("needs an embedding model"),
    });
  });
});

describe("NONE", () => {
  it("is one chunk of the whole text", async () => {
    const text = `\n ${"word ".repeat(50_000)}\n`;
    expect(await chunk(text, { type: "NONE" })).toEqual([
      { index: 0, text: text.trim(), start: 2, end: text.trimEnd().length },
    ]);
  });
});

describe("pages, sections and context", () => {
  it("names the page on which a chunk starts", async () => {
    const text = `${words(30)}\n${words(30)}\n${words(30)}`;
    const second = words(30).length + 1;
    const pages = [
      { start: 0, page: 1 },
      { start: second, page: 2 },
      { start: second * 2, page: 4 },
    ];
    const chunks = await chunk(text, { type: "FIXED", chunk_size: 100, chunk_overlap: 0 }, { pages });
    for (const { start, page } of chunks) expect(page).toBe(start < second ? 1 : start < second * 2 ? 2 : 4);
    expect(new Set(chunks.map(({ page }) => page))).toEqual(new Set([1, 2, 4]));
    // Text before the first known page has no page.
    expect((await chunk("a", { type: "NONE" }, { pages: [{ start: 1, page: 1 }] }))[0]).not.toHaveProperty("page");
  });

  it("names the path of headings, and gives as context only the headings that the chunk does not contain", async () => {
    const text = `Preface\n\n# Guide\n\n## Install\n\n${words(30)}`;
    const sections = [
      { start: text.indexOf("# Guide"), path: ["Guide"] },
      { start: text.indexOf("## Install"), path: ["Guide", "Install"] },
    ];
    const chunks = await chunk(text, { type: "MARKDOWN", chunk_size: 100, chunk_overlap: 0 }, { sections });
    expect(chunks[0]).toEqual({ index: 0, text: "Preface", start: 0, end: 7 });
    expect(chunks[1]).toEqual({ index: 1, text: "# Guide", start: 9, end: 16, section: "Guide" });
    expect(chunks[2]).toMatchObject({ section: "Guide > Install", context: "Guide" });
    expect(chunks[2]?.text.startsWith("## Install\n\nword0")).toBe(true);
    expect(chunks[3]).toMatchObject({ section: "Guide > Install", context: "Guide > Install" });
    expect(chunks[3]?.text.startsWith("word")).toBe(true);
  });

  it("keeps the context within its limit", async () => {
    const context = async (length: number) =>
      (await chunk("text", { type: "NONE" }, { sections: [{ start: -1, path: ["h".repeat(length)] }] }))[0]?.context
        ?.length;
    expect(await context(contextCharsMax)).toBe(1_000);
    expect(await context(contextCharsMax + 1)).toBe(1_000);
  });
});

describe("abort", () => {
  it("ends with the signal's reason", async () => {
    const signal = AbortSignal.abort(new Error("nobody waits"));
    const parsed = { text: "a", pages: [], sections: [], rows: [], warnings: [] };
    await expect(
      chunkDocument(parsed, readChunkingStrategy({ type: "FIXED" }), {
        tokenizer: testTokenizer,
        tokensMax: Infinity,
        signal,
      }),
    ).rejects.toThrow("nobody waits");
  });
});
