import { chunkingTypes } from "@pinakes/client";
import { describe, expect, it } from "vitest";
import type { ParsedText } from "../../ports/parser.ts";
import { chunkDocument } from "./chunk-document.ts";
import { readChunkingStrategy } from "./strategy.ts";
import { testTokenizer } from "./test-tokenizer.ts";

const header = "id,name,note";

function tableOf(records: readonly string[]): ParsedText {
  const text = [header, ...records].join("\n");
  let start = header.length + 1;
  const rows = records.map((record, i) => {
    const row = { start, row: i + 1 };
    start += record.length + 1;
    return row;
  });
  return { text, rows, pages: [], sections: [], warnings: [] };
}

const records = Array.from({ length: 40 }, (_, i) => `${i + 1},"Name, of ${i + 1}","two\nlines. Of text"`);

describe("records of a table", () => {
  it.each(chunkingTypes.filter((type) => type !== "NONE"))(
    "%s never cuts a record that fits, and gives its rows and the header",
    async (type) => {
      const chunks = await chunkDocument(
        tableOf(records),
        readChunkingStrategy({ type, chunk_size: 100, chunk_overlap: 0 }),
        {
          tokenizer: testTokenizer,
          tokensMax: Infinity,
        },
      );
      expect(chunks.length).toBeGreaterThan(3);
      let next = 1;
      for (const { index, text, rows, context } of chunks) {
        const [first, last] = rows ?? [0, 0];
        expect(first).toBe(next);
        expect(text).toBe([...(index === 0 ? [header] : []), ...records.slice(first - 1, last)].join("\n"));
        expect(context).toBe(index === 0 ? undefined : header);
        next = last + 1;
      }
      expect(next).toBe(41);
    },
  );

  it("overlaps by whole records only", async () => {
    const strategy = readChunkingStrategy({ type: "FIXED", chunk_size: 120, chunk_overlap: 50 });
    const chunks = await chunkDocument(tableOf(records), strategy, { tokenizer: testTokenizer, tokensMax: Infinity });
    for (const [i, { text, rows }] of chunks.entries()) {
      if (i === 0) continue;
      expect(rows?.[0]).toBe(chunks[i - 1]?.rows?.[1]);
      expect(text.startsWith(`${rows?.[0]},`)).toBe(true);
    }
  });

  it("cuts a record that is longer than the size at words, and both parts name it", async () => {
    const long = `2,long,${"word ".repeat(40).trim()}`;
    const strategy = readChunkingStrategy({ type: "RECURSIVE", chunk_size: 100, chunk_overlap: 0 });
    const chunks = await chunkDocument(tableOf(["1,a,b", long, "3,c,d"]), strategy, {
      tokenizer: testTokenizer,
      tokensMax: Infinity,
    });
    expect(chunks.map(({ rows }) => rows)).toEqual([
      [1, 1],
      [2, 2],
      [2, 2],
      [2, 3],
    ]);
    expect(chunks[2]).toMatchObject({ context: header });
    expect(chunks.every(({ text }) => /(word|b|d)$/.test(text))).toBe(true);
  });

  it("NONE keeps the table in one chunk", async () => {
    const table = tableOf(records);
    expect(
      await chunkDocument(table, readChunkingStrategy({ type: "NONE" }), {
        tokenizer: testTokenizer,
        tokensMax: Infinity,
      }),
    ).toEqual([{ index: 0, text: table.text, start: 0, end: table.text.length, rows: [1, 40] }]);
  });
});
