import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { knowledgeLimits } from "../knowledge/limits.ts";
import { beirLimits, readBeir, type BeirLimits } from "./beir.ts";
import { tinySet, writeSet, type SetFiles } from "./test-set.ts";

const base = temporaryFolder("beir");
let folders = 0;

async function folderOf(files: Partial<SetFiles>): Promise<string> {
  folders += 1;
  return writeSet(join(base, String(folders)), files);
}

async function read(changes: Partial<SetFiles>, limits: Partial<BeirLimits> = {}) {
  return readBeir(await folderOf({ ...tinySet, ...changes }), { limits: { ...beirLimits, ...limits } });
}

describe("a test set in BEIR layout", () => {
  it("has documents with their titles, and the queries with a relevant document", async () => {
    const set = await read({});
    expect(set.documents).toHaveLength(10);
    expect(set.documents[0]).toEqual({
      id: "d1",
      text: "Bees\nHoney bees tell each other by a dance where flowers are.",
    });
    expect(set.queries.map(({ id }) => id)).toEqual(["q1", "q2", "q3"]);
    expect(set.queries[0]).toEqual({
      id: "q1",
      text: "how do bees tell where flowers are",
      relevant: new Map(Object.entries({ d1: 2, d3: 0 })),
    });
    expect(set).toMatchObject({ split: "test", emptyDocuments: 0 });
  });

  it("accepts a byte order mark, CRLF and blank lines; titles are optional; empty documents are counted", async () => {
    const corpus = `\uFEFF{"_id":"d1","text":"one"}\r\n\r\n{"_id":"d2","title":"","text":" "}\r\n{"_id":"d3","title":null,"text":"three"}\r\n`;
    const set = await read({ corpus, test: "query-id\tcorpus-id\tscore\r\nq1\td1\t1\r\n" });
    expect(set.documents).toEqual([
      { id: "d1", text: "one" },
      { id: "d3", text: "three" },
    ]);
    expect(set.emptyDocuments).toBe(1);
  });

  it("has a hash of its documents only", async () => {
    const { contentHash } = await read({});
    expect((await read({ test: "query-id\tcorpus-id\tscore\nq1\td1\t1" })).contentHash).toBe(contentHash);
    expect((await read({ corpus: tinySet.corpus.replace("Bees", "Wasps") })).contentHash).not.toBe(contentHash);
    expect((await read({ corpus: tinySet.corpus.split("\n").toReversed().join("\n") })).contentHash).not.toBe(
      contentHash,
    );
  });

  it("reads judgements without headings from the first line", async () => {
    expect((await read({ test: "q1\td1\t1" })).queries).toHaveLength(1);
  });
});

describe("an invalid test set folder names the error and its line", () => {
  it.each<readonly [string, Partial<SetFiles>, RegExp]>([
    ["no JSON", { corpus: '{"_id":"d1","text":"x"}\n{' }, /corpus\.jsonl:2: is not JSON/],
    ["no object", { corpus: "[]" }, /corpus\.jsonl:1: must be an object/],
    ["no id", { corpus: '{"id":"d1","text":"x"}' }, /corpus\.jsonl:1: "_id" must be a string/],
    [
      "an id twice",
      { corpus: '{"_id":"d1","text":"x"}\n{"_id":"d1","text":"y"}' },
      /corpus\.jsonl:2: duplicate id "d1"/,
    ],
    ["no text", { corpus: '{"_id":"d1"}' }, /corpus\.jsonl:1: "text" must be a string, got nothing/],
    [
      "a title that is a number",
      { corpus: '{"_id":"d1","title":1,"text":"x"}' },
      /corpus\.jsonl:1: "title" must be a string, got 1/,
    ],
    ["nothing in it", { corpus: "" }, /corpus\.jsonl: contains no document/],
    ["spaces instead of tabs", { test: "q1 d1 1" }, /test\.tsv:1: must be query-id, corpus-id and score with tabs/],
    ["four columns", { test: "q1\t0\td1\t1" }, /test\.tsv:1: must be query-id/],
    [
      "a score in words",
      { test: "query-id\tcorpus-id\tscore\nq1\td1\tyes" },
      /test\.tsv:2: the score must be a whole number, got "yes"/,
    ],
    [
      "no score",
      { test: "query-id\tcorpus-id\tscore\nq1\td1\t" },
      /test\.tsv:2: the score must be a whole number, got ""/,
    ],
    [
      "an unknown query",
      { test: "query-id\tcorpus-id\tscore\nq9\td1\t1" },
      /test\.tsv:2: query "q9" is not in queries\.jsonl/,
    ],
    [
      "an unknown document",
      { test: "query-id\tcorpus-id\tscore\nq1\td99\t1" },
      /test\.tsv:2: document "d99" is not in corpus\.jsonl/,
    ],
    [
      "two judgements",
      { test: "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td1\t2" },
      /test\.tsv:3: document "d1" was already judged for this query/,
    ],
    [
      "nothing relevant",
      { test: "query-id\tcorpus-id\tscore\nq1\td1\t0" },
      /test\.tsv: no query has a relevant document/,
    ],
  ])("%s", async (_, changes, message) => {
    await expect(read(changes)).rejects.toThrow(message);
  });

  it("a missing file is named, with the existing ones", async () => {
    await expect(readBeir(join(base, "nowhere"))).rejects.toThrow(
      /corpus\.jsonl: no such file\. A folder in BEIR layout has/,
    );
    await expect(readBeir(await folderOf({ corpus: tinySet.corpus }))).rejects.toThrow(/queries\.jsonl: no such file/);
    const folder = await folderOf({ ...tinySet });
    await expect(readBeir(folder, { split: "dev" })).rejects.toThrow(
      /dev\.tsv: no such file.*; existing: --split test\./,
    );
    await expect(readBeir(folder, { split: "../test" })).rejects.toThrow(/--split: is the name of a file/);
    const file = join(base, "a-file");
    await writeFile(file, "");
    await expect(readBeir(file)).rejects.toThrow(/no such file/);
  });
});

describe("limits of a test set", () => {
  it("each is accepted at the limit and refused one past it", async () => {
    expect((await read({}, { documentsMax: 10 })).documents).toHaveLength(10);
    await expect(read({}, { documentsMax: 9 })).rejects.toThrow(/corpus\.jsonl:10: more than 9 documents/);
    expect((await read({}, { queriesMax: 4 })).queries).toHaveLength(3);
    await expect(read({}, { queriesMax: 3 })).rejects.toThrow(/queries\.jsonl:4: more than 3 queries/);
    expect((await read({}, { judgementsMax: 4 })).queries).toHaveLength(3);
    await expect(read({}, { judgementsMax: 3 })).rejects.toThrow(/test\.tsv:5: more than 3 judgements/);
    const longest = Math.max(...tinySet.corpus.split("\n").map((line) => line.length));
    expect((await read({}, { lineCharsMax: longest })).documents).toHaveLength(10);
    await expect(read({}, { lineCharsMax: longest - 1 })).rejects.toThrow(
      new RegExp(`has ${longest} characters; at most ${longest - 1} are read`),
    );
  });

  it("ids and queries at their maximum length, and one character longer", async () => {
    const withId = (chars: number) => ({
      corpus: JSON.stringify({ _id: "x".repeat(chars), text: "t" }),
      test: `q1\t${"x".repeat(chars)}\t1`,
    });
    expect((await read(withId(beirLimits.idCharsMax))).documents).toHaveLength(1);
    await expect(read(withId(beirLimits.idCharsMax + 1))).rejects.toThrow(/"_id" must be a string of 1–512 characters/);
    const withQuery = (chars: number) => ({
      queries: JSON.stringify({ _id: "q1", text: "x".repeat(chars) }),
      test: "q1\td1\t1",
    });
    expect((await read(withQuery(knowledgeLimits.queryCharsMax))).queries).toHaveLength(1);
    const tooLong = {
      queries: `${JSON.stringify({ _id: "q0", text: "x".repeat(knowledgeLimits.queryCharsMax + 1) })}\n{"_id":"q1","text":"t"}`,
      test: "q1\td1\t1",
    };
    expect((await read(tooLong)).skippedQueries).toEqual([{ line: 1, id: "q0", reason: "text too long" }]);
  });

  it("queries without a text or a judgement are skipped and reported by line; the others are read", async () => {
    const queries = [
      '{"_id":"q1","text":"words"}',
      '{"_id":"q2","text":" "}',
      '{"_id":"q3"}',
      '{"_id":"q4","text":"never judged"}',
    ].join("\n");
    const set = await read({ queries, test: "q1\td1\t1\nq2\td1\t1" });
    expect(set.queries.map(({ id }) => id)).toEqual(["q1"]);
    expect(set.skippedQueries).toEqual([
      { line: 2, id: "q2", reason: "no text" },
      { line: 3, id: "q3", reason: "no text" },
      { line: 4, id: "q4", reason: "not judged" },
    ]);
  });
});
