import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkForeignRow, type ForeignRow } from "./foreign-row.ts";
import { inParts } from "./parts.ts";
import { readNdjson } from "./ndjson.ts";
import { refusal, tempFolder } from "./test-support.ts";

const settings = { dims: 2, metric: "cosine", language: "english" } as const;

async function read(content: string | Uint8Array): Promise<ForeignRow[]> {
  await using folder = await tempFolder(new Map([["x.jsonl", content]]));
  const rows = await Array.fromAsync(readNdjson(join(folder.path, "x.jsonl"), "delta/x.jsonl"));
  for (const row of rows) checkForeignRow(row, settings);
  return rows;
}

describe("ndjson", () => {
  it("accepts our names and Chroma's, all three operations, blank lines, CRLF, a byte order mark and a last line without an end", async () => {
    const lines = [
      '\uFEFF{"id":"a","vector":[1,2],"text":"A","metadata":{"n":1}}',
      '{"id":"b","embedding":[3,4],"document":"B","metadata":null}\r',
      "",
      '{"op":"patch","id":"a","metadata":{"n":null}}',
      '{"op":"delete","id":"b"}',
      '{"op":"put","id":"c","vector":[5,6],"document":null}',
    ];
    const rows = await read(lines.join("\n"));
    expect(rows.map(({ op, row }) => ({ op, ...row }))).toEqual([
      { op: "put", id: "a", vector: [1, 2], text: "A", metadata: { n: 1 } },
      { op: "put", id: "b", vector: [3, 4], text: "B" },
      { op: "patch", id: "a", metadata: { n: null } },
      { op: "delete", id: "b" },
      { op: "put", id: "c", vector: [5, 6] },
    ]);
    expect(rows.map(({ where }) => where)).toEqual([1, 2, 4, 5, 6].map((line) => `delta/x.jsonl line ${line}`));
  });

  it.each([
    ["{", /line 2: is not JSON/],
    ["[1]", /line 2: must be an object/],
    ['{"id":"b","vec":[1,2]}', /line 2: "vec" is not a known field/],
    ['{"id":"b","vector":[1,2],"embedding":[1,2]}', /line 2: has both vector and embedding/],
    ['{"id":"b","vector":[1,2,3]}', /line 2: vector: has 3 numbers; this collection's vectors have 2/],
    ['{"id":"b"}', /line 2: vector: must be a list of 2 numbers/],
    ['{"id":"","vector":[1,2]}', /line 2: id: must be a string/],
    ['{"id":"b","vector":[1,null]}', /line 2: vector\[1\]: must be a number/],
    ['{"id":"b","op":"upsert","vector":[1,2]}', /line 2: op must be put, patch or delete/],
    ['{"id":"b","op":"delete","vector":[1,2]}', /line 2: a delete has only an id/],
    ['{"id":"b","op":"patch","text":"x"}', /line 2: a patch changes metadata only/],
    ['{"id":"b","op":"patch"}', /line 2: metadata: is missing/],
    ['{"id":"b","vector":[1,2],"metadata":[]}', /line 2: metadata: must be an object/],
    [Buffer.from([0x22, 0xff, 0x22]), /line 2: is not UTF-8/],
    [Buffer.alloc(5 * 1024 ** 2, "x"), /line 2: is longer than/],
  ])("an error names file and line, case %#", async (line, message) => {
    const content = Buffer.concat([Buffer.from('{"id":"a","vector":[1,2]}\n'), Buffer.from(line)]);
    expect(await refusal(() => read(content))).toMatchObject({ detail: expect.stringMatching(message) as unknown });
    expect(await refusal(() => read(content))).toMatchObject({
      detail: expect.stringMatching(/^delta\/x\.jsonl/) as unknown,
    });
  });

  it("lines that cross the chunks of a file are read whole", async () => {
    const text = "ü".repeat(100_000);
    const rows = await read(
      Array.from({ length: 40 }, (_, i) => JSON.stringify({ id: `r${i}`, vector: [i, 1], text })).join("\n"),
    );
    expect(rows).toHaveLength(40);
    expect(rows.every(({ row }) => "text" in row && row.text === text)).toBe(true);
  });

  it("a part keeps the order of the lines, although a delta applies puts, patches and deletes in that order", async () => {
    const lines = [
      { id: "a", vector: [1, 1] },
      { id: "a", op: "delete" },
      { id: "a", vector: [2, 2] },
      { id: "b", vector: [1, 1] },
      { id: "b", op: "patch", metadata: { x: 1 } },
      { id: "b", op: "delete" },
      { id: "b", op: "patch", metadata: { x: 2 } },
      { id: "c", op: "patch", metadata: { x: 1 } },
      { id: "c", op: "patch", metadata: { x: 2 } },
      { id: "c", vector: [3, 3] },
      { id: "d", vector: [3, 3] },
      { id: "d", op: "patch", metadata: { x: 3 } },
    ];
    const rows = await read(lines.map((line) => JSON.stringify(line)).join("\n"));
    const parts = await Array.fromAsync(inParts(stream(rows), { rows: 100, bytes: 1e6 }));
    expect(parts).toEqual([
      {
        rows: 12,
        changes: {
          upsert: [
            { id: "a", vector: [2, 2] },
            { id: "c", vector: [3, 3] },
            { id: "d", vector: [3, 3] },
          ],
          patch: [{ id: "d", metadata: { x: 3 } }],
          delete: ["b"],
        },
      },
    ]);
    for (const split of [
      { rows: 5, bytes: 1e6 },
      { rows: 100, bytes: 200 },
    ]) {
      const small = await Array.fromAsync(inParts(stream(rows), split));
      expect(small.length).toBeGreaterThan(2);
      expect(small.reduce((sum, part) => sum + part.rows, 0)).toBe(12);
    }
  });
});

async function* stream(rows: readonly ForeignRow[]): AsyncGenerator<ForeignRow> {
  yield* rows;
}
