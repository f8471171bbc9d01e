import { describe, expect, it } from "vitest";
import type { ParsedText } from "../../ports/parser.ts";
import { chunkDocument } from "./chunk-document.ts";
import { wholeBlocks } from "./markdown-blocks.ts";
import { readChunkingStrategy } from "./strategy.ts";
import { testTokenizer } from "./test-tokenizer.ts";

/** The headings of a Markdown text, as the parser returns them. */
function sectionsOf(text: string): ParsedText["sections"] {
  const path: string[] = [];
  return [...text.matchAll(/^(#+) (.*)$/gm)].map((match) => {
    path.length = Math.min(path.length, (match[1] ?? "").length - 1);
    path.push(match[2] ?? "");
    return { start: match.index, path: [...path] };
  });
}

async function chunk(text: string, overlap = 0, unit = "char", size = 100): Promise<readonly string[]> {
  const parsed = { text, pages: [], sections: sectionsOf(text), rows: [], warnings: [] };
  const strategy = readChunkingStrategy({ type: "MARKDOWN", unit, chunk_size: size, chunk_overlap: overlap });
  return (await chunkDocument(parsed, strategy, { tokenizer: testTokenizer, tokensMax: Infinity })).map(
    (part) => part.text,
  );
}

const body = (letter: string, length: number) => `${letter} `.repeat(length / 2).trim();

describe("sections", () => {
  it("joins small neighbours under one parent while they fit", async () => {
    const [a, b, c, d] = ["a", "b", "c", "d"].map((letter) => `## ${letter}\n\n${body(letter, 30)}`);
    expect(await chunk(`# Top\n\n${a}\n\n${b}\n\n${c}\n\n${d}`)).toEqual([`# Top\n\n${a}\n\n${b}`, `${c}\n\n${d}`]);
  });

  it("does not join sections under different parents", async () => {
    const first = `# One\n\n${body("x", 90)}`;
    const last = `## small\n\ny`;
    const other = `# Two\n\nz`;
    expect(await chunk(`${first}\n\n${last}\n\n${other}`)).toEqual([first, last, other]);
  });

  it("cuts a long section at paragraphs and keeps its neighbours separate", async () => {
    const long = [body("a", 60), body("b", 60), body("c", 60)];
    const parts = await chunk(`# One\n\n${long.join("\n\n")}\n\n# Two\n\nz`, 20);
    expect(parts).toHaveLength(4);
    expect(parts[0]).toBe(`# One\n\n${long[0]}`);
    // The overlap stays inside the section.
    expect(parts[1]?.startsWith("a a a")).toBe(true);
    expect(parts[3]).toBe("# Two\n\nz");
  });
});

describe("fenced code and tables", () => {
  const code = `\`\`\`ts\nconst a = 1;\n\nconst b = 2;\n\nconst c = 3;\n\`\`\``;
  const table = "| name | value |\n| --- | ---: |\n| one | 1 |\n| two | 2 |\n| three | 3 |";

  it.each([
    ["code", code, ["const a", "const b", "const c"]],
    ["a table", table, ["| name", "| one", "| three"]],
  ])("does not cut %s that fits, in either unit and with overlap", async (_, block, pieces) => {
    const whole = (parts: readonly string[]) => {
      expect(parts.length).toBeGreaterThan(1);
      const touched = parts.filter((part) => pieces.some((piece) => part.includes(piece)));
      expect(touched.length).toBeGreaterThan(0);
      for (const part of touched) expect(part).toContain(block);
    };
    for (const before of [10, 30, 50, 70, 90]) {
      const text = `# Head\n\n${body("p", before)}\n\n${block}\n\n${body("q", 150)}`;
      for (const overlap of [0, 50]) whole(await chunk(text, overlap));
      for (const overlap of [0, 20]) whole(await chunk(text, overlap, "token", 40));
    }
  });

  it("cuts code that does not fit between its lines", async () => {
    const lines = Array.from({ length: 20 }, (_, i) => `const value${i} = ${i};`);
    const parts = await chunk(`# Head\n\n\`\`\`\n${lines.join("\n")}\n\`\`\``);
    expect(parts.length).toBeGreaterThan(3);
    for (const line of lines) expect(parts.filter((part) => part.split("\n").includes(line))).toHaveLength(1);
  });

  it("finds blocks and their ends, and ignores lookalikes", () => {
    const found = (text: string) =>
      wholeBlocks(text, { start: 0, end: text.length }).map(({ start, end }) => text.slice(start, end));
    expect(found("a\n~~~~\nx\n~~~\ny\n~~~~\nb\n")).toEqual(["~~~~\nx\n~~~\ny\n~~~~\n"]);
    expect(found("```\nnever closed\n")).toEqual(["```\nnever closed\n"]);
    expect(found(`text\n${table}\n\nafter`)).toEqual([`${table}\n`]);
    expect(found("a | b\n- | -\n1 | 2\nend")).toEqual(["a | b\n- | -\n1 | 2\n"]);
    expect(found("a | b\nc | d\n")).toEqual([]);
    expect(found("title\n---\n`code`\n")).toEqual([]);
  });
});
