import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { ChromaDirectory } from "./chroma.ts";
import { folderReader } from "./reader.ts";
import { openSource } from "./source.ts";
import {
  byId,
  chromaAnswer,
  chromaFiles,
  plainRows,
  refusal,
  tempFolder,
  type ChromaFixture,
  type PlainRow,
} from "./test-support.ts";

type Files = Map<string, Uint8Array | string>;

async function read(files: Files, collection?: string): Promise<PlainRow[]> {
  await using folder = await tempFolder(new Map([...files].map(([path, bytes]) => [`delta/x/${path}`, bytes])));
  await using source = await openSource(folderReader(folder.path), "delta/x/", { collection, preferred: "papers" });
  const rows = await plainRows(source.rows());
  expect(await plainRows(source.rows())).toEqual(rows);
  return rows;
}

/** The database of a fixture, changed by hand. */
async function changed(fixture: ChromaFixture, sql: string): Promise<Files> {
  const files: Files = await chromaFiles(fixture);
  await using folder = await tempFolder(files);
  const file = join(folder.path, "chroma.sqlite3");
  const db = new DatabaseSync(file);
  db.exec(sql);
  db.close();
  return files.set("chroma.sqlite3", await readFile(file));
}

function expectSame(rows: readonly PlainRow[], answer: readonly PlainRow[], unit = false): void {
  expect(rows.map(({ id }) => id)).toEqual(byId(answer).map(({ id }) => id));
  for (const [i, expected] of byId(answer).entries()) {
    const row = rows[i] as PlainRow;
    expect({ id: row.id, text: row.text, metadata: row.metadata }).toEqual({
      id: expected.id,
      text: expected.text,
      metadata: expected.metadata ?? {},
    });
    const [a, b] = unit ? [scaled(row.vector), scaled(expected.vector)] : [row.vector, expected.vector];
    expect(a).toHaveLength(b.length);
    for (const [d, value] of a.entries()) expect(value).toBeCloseTo(b[d] as number, 5);
  }
}

function scaled(vector: readonly number[]): number[] {
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

describe("chroma: directories written by Chroma itself", () => {
  it("vectors that are only in the queue, after adds, updates, upserts and deletes, equal Chroma's answers", async () => {
    expectSame(await read(await chromaFiles("queue"), "docs"), await chromaAnswer("queue"));
  });

  it("vectors in the index's files and in the rest of the queue equal Chroma's answers", async () => {
    expectSame(await read(await chromaFiles("hnsw-l2")), await chromaAnswer("hnsw-l2"));
  });

  it("with the cosine metric the index's files have the directions of Chroma's answers", async () => {
    expectSame(await read(await chromaFiles("hnsw-cosine")), await chromaAnswer("hnsw-cosine"), true);
  });

  it("metadata that its segment has not read from the queue yet is replayed as Chroma does it", async () => {
    const files = await changed(
      "queue",
      "DELETE FROM embedding_metadata; DELETE FROM embeddings; DELETE FROM max_seq_id",
    );
    expectSame(await read(files, "docs"), await chromaAnswer("queue"));
    const half =
      "DELETE FROM embedding_metadata WHERE id IN (SELECT id FROM embeddings WHERE seq_id > 20); DELETE FROM embeddings WHERE seq_id > 20";
    // Rows that were changed after seq 20 have lost their first state, and are left out of the comparison.
    const late = await changed("queue", `${half}; UPDATE max_seq_id SET seq_id = 20`);
    const lost = new Set(["row-003", "row-004", "row-005", "row-008"]);
    const rest = (rows: readonly PlainRow[]) => rows.filter(({ id }) => !lost.has(id));
    expectSame(rest(await read(late, "docs")), rest(await chromaAnswer("queue")));
  });

  it("an index in a folder named index, and sequence numbers as bytes, as in older versions, are read too", async () => {
    const files = await changed(
      "hnsw-l2",
      "UPDATE max_seq_id SET seq_id = CAST(x'000000000000003f' AS BLOB) WHERE seq_id = 63",
    );
    const moved: Files = new Map(
      [...files].map(([path, bytes]) => [path.includes("/") ? `index/${path}` : path, bytes]),
    );
    expectSame(await read(moved), await chromaAnswer("hnsw-l2"));
  });

  it("lists in the metadata, and settings in a schema, as in Chroma 1.3, equal its answers", async () => {
    expectSame(await read(await chromaFiles("lists")), await chromaAnswer("lists"));
    const replayed = await changed(
      "lists",
      "DELETE FROM embedding_metadata_array; DELETE FROM embedding_metadata; DELETE FROM embeddings; DELETE FROM max_seq_id",
    );
    expectSame(await read(replayed), await chromaAnswer("lists"));
  });

  it("the metric is Chroma's", async () => {
    for (const [fixture, metric] of [
      ["queue", "cosine"],
      ["hnsw-l2", "l2"],
    ] as const) {
      await using folder = await tempFolder(await chromaFiles(fixture));
      using chroma = new ChromaDirectory(folder.path, "", { preferred: "docs" });
      expect(chroma.metric()).toBe(metric);
    }
    for (const [sql, metric] of [
      ["UPDATE collections SET config_json_str = NULL", "l2"],
      [
        "INSERT INTO collection_metadata (collection_id, key, str_value) SELECT id, 'hnsw:space', 'ip' FROM collections",
        "dot",
      ],
      [`UPDATE collections SET config_json_str = '{"hnsw_configuration":{"space":"cosine"}}'`, "cosine"],
    ] as const) {
      await using folder = await tempFolder(await changed("hnsw-l2", sql));
      using chroma = new ChromaDirectory(folder.path, "", { preferred: "docs" });
      expect(chroma.metric()).toBe(metric);
    }
    await using folder = await tempFolder(
      await changed("hnsw-l2", `UPDATE collections SET config_json_str = '{"spann":{}}'`),
    );
    using chroma = new ChromaDirectory(folder.path, "", { preferred: "docs" });
    expect(await refusal(() => chroma.metric())).toMatchObject({ code: "NOT_SUPPORTED" });
  });
});

describe("chroma: unreadable input is rejected with the reason", () => {
  const reason = async (files: Files, collection?: string) => {
    const { code, detail } = await refusal(() => read(files, collection));
    return `${code} ${detail}`;
  };

  it("several collections and none named", async () => {
    expect(await reason(await chromaFiles("queue"))).toMatch(
      /^INVALID delta\/x\/chroma\.sqlite3: has several.*"docs", "other"/,
    );
    expect(await reason(await chromaFiles("queue"), "papers")).toMatch(
      /^NOT_FOUND .*no collection "papers"; it has "docs", "other"/,
    );
  });

  it("the index's folder was not uploaded: no row is left out silently", async () => {
    const files = new Map([...(await chromaFiles("hnsw-l2"))].filter(([path]) => !path.includes("/")));
    expect(await reason(files)).toMatch(
      /^CORRUPT delta\/x\/chroma\.sqlite3 row "row-000": its vector is neither in the queue .* nor in delta\/x\/74a1bccc-/,
    );
  });

  it("a vector that is no list of numbers", async () => {
    const files = await changed("queue", "UPDATE embeddings_queue SET vector = x'010203' WHERE id = 'row-000'");
    expect(await reason(files, "docs")).toMatch(
      /^CORRUPT delta\/x\/chroma\.sqlite3 row "row-000": its vector has 3 bytes/,
    );
    const other = await changed("queue", "UPDATE embeddings_queue SET encoding = 'FLOAT8' WHERE id = 'row-000'");
    expect(await reason(other, "docs")).toMatch(/^NOT_SUPPORTED .*FLOAT8/);
  });

  it("index files that are truncated or of another version", async () => {
    const cut = async (name: string, change: (bytes: Uint8Array) => Uint8Array) => {
      const files: Files = await chromaFiles("hnsw-l2");
      for (const [path, bytes] of files)
        if (path.endsWith(name)) files.set(path, change(Buffer.from(bytes as Uint8Array)));
      return reason(files);
    };
    expect(await cut("data_level0.bin", (bytes) => bytes.subarray(0, 5_000))).toMatch(
      /^CORRUPT .*data_level0\.bin is shorter/,
    );
    expect(await cut("header.bin", (bytes) => bytes.subarray(0, 30))).toMatch(/^CORRUPT .*header\.bin is too short/);
    expect(await cut("header.bin", (bytes) => bytes.fill(2, 0, 1))).toMatch(/^NOT_SUPPORTED .*version 2/);
    expect(await cut("header.bin", (bytes) => bytes.fill(0xff, 28, 60))).toMatch(/^CORRUPT .*impossible sizes/);
    expect(await cut(".pickle", (bytes) => bytes.subarray(0, 100))).toMatch(/^CORRUPT .*index_metadata\.pickle/);
  });

  it("a database that is corrupt, of another program, or missing", async () => {
    const whole = (await chromaFiles("queue")).get("chroma.sqlite3") as Uint8Array;
    expect(
      await reason(new Map([["chroma.sqlite3", "not a database, only a text that is long enough to be examined"]])),
    ).toMatch(/^CORRUPT delta\/x\/chroma\.sqlite3/);
    expect(await reason(new Map([["chroma.sqlite3", whole.subarray(0, 60_000)]]), "docs")).toMatch(
      /^CORRUPT delta\/x\/chroma\.sqlite3/,
    );
    expect(await reason(await changed("queue", "DROP TABLE embeddings_queue"))).toMatch(
      /^NOT_SUPPORTED .*no table embeddings_queue/,
    );
  });

  it("Parquet of old versions, meaningless files, and an empty directory", async () => {
    const parquet = /^NOT_SUPPORTED delta\/x\/(chroma-)?embeddings\.parquet: .*Convert them to NDJSON/;
    expect(
      await reason(
        new Map([
          ["embeddings.parquet", "PAR1"],
          ["index/id_to_uuid.pkl", ""],
        ]),
      ),
    ).toMatch(parquet);
    expect(await reason(new Map([["chroma-embeddings.parquet", "PAR1"]]))).toMatch(parquet);
    expect(await reason(new Map([["notes.txt", "x"]]))).toMatch(/^NOT_SUPPORTED delta\/x\/: it has \["notes\.txt"\]/);
    expect(await reason(new Map())).toMatch(/^NOT_FOUND delta\/x\/: there is no such object/);
  });
});
