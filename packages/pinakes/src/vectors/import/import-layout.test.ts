import { describe, expect, it } from "vitest";
import { ManualClock } from "../../testing/item-store/fixture.ts";
import { vectorLimits } from "../limits.ts";
import type { Vectors } from "../vectors.ts";
import { importLayout, type ImportOptions, type ImportResult } from "./import-layout.ts";
import { folderReader } from "./reader.ts";
import {
  acme,
  allRows,
  byId,
  chromaAnswer,
  chromaFiles,
  dying,
  ndjson,
  openProcess,
  openStores,
  putFiles,
  refusal,
  tempFolder,
  type PlainRow,
  type Stores,
} from "./test-support.ts";

const row = (i: number, extra: object = {}) => ({
  id: `r${i}`,
  vector: [i + 1, 1],
  text: `row ${i}`,
  metadata: { i },
  ...extra,
});
const rowsUpTo = (count: number) => Array.from({ length: count }, (_, i) => row(i));

/** A small layout: a snapshot of 5 rows, then a delta that changes and deletes some of them, then one that puts one back. */
async function putLayout({ objects }: Stores, prefix = ""): Promise<void> {
  await objects.put(acme, `${prefix}snapshot/latest/rows.jsonl`, ndjson(rowsUpTo(5)));
  const changes = [
    row(1, { text: "changed" }),
    { id: "r2", op: "delete" },
    { id: "r3", op: "patch", metadata: { late: true } },
    row(9),
  ];
  await objects.put(acme, `${prefix}delta/2025-08-02T08-05-27Z.ndjson`, ndjson(changes));
  await objects.put(
    acme,
    `${prefix}delta/2025-08-03T00-00-00Z/part.jsonl`,
    ndjson([row(2, { text: "back" }), { id: "r9", op: "delete" }]),
  );
}

const imported = ["row 0", "changed", "back", "row 3", "row 4"];
const texts = async (vectors: Vectors) => (await allRows(vectors, "papers")).map(({ text }) => text);
const options: ImportOptions = { prefix: "", collection: "papers", create: {} };

describe("import of a layout", () => {
  it("R-CMP-41 imports the snapshot first, then the deltas by name; importing it again appends nothing", async () => {
    await using stores = await openStores("sqlite");
    await putLayout(stores);
    await using process = await openProcess(stores);
    const progress: string[] = [];
    const run = (): Promise<ImportResult> =>
      importLayout(process.vectors, stores.objects, acme, {
        ...options,
        onProgress: ({ key, source, sources }) => progress.push(`${source}/${sources} ${key}`),
      });
    const first = await run();
    expect(progress).toEqual([
      "1/3 snapshot/latest/",
      "2/3 delta/2025-08-02T08-05-27Z.ndjson",
      "3/3 delta/2025-08-03T00-00-00Z/",
    ]);
    expect(first).toMatchObject({ rows: 11, partsNow: 3, ignored: [] });
    expect(await texts(process.vectors)).toEqual(imported);
    expect((await process.vectors.get(acme, "papers", ["r3"]))[0]?.metadata).toEqual({ i: 3, late: true });
    const { lastSeq } = await process.vectors.stats(acme, "papers");
    expect(await run()).toMatchObject({ rows: 11, partsNow: 0 });
    expect((await process.vectors.stats(acme, "papers")).lastSeq).toBe(lastSeq);
  });

  it("R-CMP-41 a repeat does not override newer writes, also after the log has forgotten the delta ids", async () => {
    const clock = new ManualClock();
    await using stores = await openStores("memory", clock);
    await putLayout(stores);
    await using process = await openProcess(stores, clock);
    await importLayout(process.vectors, stores.objects, acme, options);
    await process.vectors.append(acme, "papers", { upsert: [row(1, { text: "newer" })], delete: ["r0"] });
    for (const days of [0, 400]) {
      clock.advance(days * 86_400_000);
      expect(await importLayout(process.vectors, stores.objects, acme, options)).toMatchObject({ partsNow: 0 });
      expect(await texts(process.vectors)).toEqual(["newer", "back", "row 3", "row 4"]);
    }
  });

  it.each(["before", "after"] as const)(
    "R-CMP-41 a crash %s any call: the next run continues, and newer writes in between win",
    async (moment) => {
      for (let at = 1; ; at += 1) {
        await using stores = await openStores("memory");
        await stores.objects.put(acme, "snapshot/latest/rows.jsonl", ndjson(rowsUpTo(3)));
        await stores.objects.put(acme, "delta/1.jsonl", ndjson([row(1, { text: "changed" })]));
        const small = { ...options, partRowsMax: 2 };
        const doomed = dying(stores, at, moment);
        const crashed = await (async () => {
          await using process = await openProcess(doomed);
          await importLayout(process.vectors, doomed.objects, acme, small);
        })().then(
          () => false,
          () => true,
        );
        await using process = await openProcess(stores);
        const there = await process.vectors.get(acme, "papers", ["r0"]).catch(() => []);
        const written = there[0] !== undefined;
        // r0 is in the first part: once it is appended, a newer write to it must survive the rest of the import.
        if (written) await process.vectors.append(acme, "papers", { upsert: [row(0, { text: "newer" })] });
        // Also with another part size: an appended part stays the same.
        await importLayout(process.vectors, stores.objects, acme, { ...small, partRowsMax: at % 2 === 0 ? 2 : 100 });
        expect(await texts(process.vectors), `call ${at}`).toEqual([written ? "newer" : "row 0", "changed", "row 2"]);
        expect(await importLayout(process.vectors, stores.objects, acme, small)).toMatchObject({ partsNow: 0 });
        expect(await process.vectors.fsck(acme, "papers")).toMatchObject({ ok: true });
        if (!crashed) return expect(at).toBeGreaterThan(25);
      }
    },
  );

  it("two concurrent imports end as one", async () => {
    await using stores = await openStores("sqlite");
    await putLayout(stores);
    await using one = await openProcess(stores);
    await using two = await openProcess(stores);
    const run = (vectors: Vectors) => importLayout(vectors, stores.objects, acme, { ...options, partRowsMax: 1 });
    await Promise.all([run(one.vectors), run(two.vectors)]);
    expect(await texts(one.vectors)).toEqual(imported);
    expect((await one.vectors.stats(acme, "papers")).lastSeq).toBe(11);
  });

  it("real Chroma directories, from a bucket and from a folder: dims and metric are the data's, and search finds the rows", async () => {
    await using stores = await openStores("memory");
    await using process = await openProcess(stores);
    const answer = await chromaAnswer("hnsw-l2");
    await putFiles(stores.objects, acme, "old/snapshot/latest/", await chromaFiles("hnsw-l2"));
    await stores.objects.put(acme, "old/snapshot/latest/embeddings.parquet", Buffer.from("PAR1"));
    const result = await importLayout(process.vectors, stores.objects, acme, { ...options, prefix: "old/" });
    expect(result).toMatchObject({ rows: answer.length, ignored: ["old/snapshot/latest/embeddings.parquet"] });
    expect((await process.vectors.stats(acme, "papers")).settings).toMatchObject({ dims: 8, metric: "l2" });
    expect((await allRows(process.vectors, "papers")).map(({ id, text }) => [id, text])).toEqual(
      byId(answer).map(({ id, text }) => [id, text]),
    );
    const wanted = answer[17] as PlainRow;
    const { hits } = await process.vectors.query(acme, "papers", { vector: [...wanted.vector], limit: 1 });
    expect(hits[0]).toMatchObject({ id: wanted.id });
    const files = [...(await chromaFiles("queue"))].map(
      ([path, bytes]) => [`delta/2025-08-02T08-05-27Z/${path}`, bytes] as const,
    );
    await using folder = await tempFolder(new Map(files));
    const local = {
      ...options,
      collection: "local",
      from: folderReader(folder.path),
      chromaCollection: "docs",
      create: { language: "none" },
    };
    expect(await importLayout(process.vectors, stores.objects, acme, local)).toMatchObject({ rows: 41, ignored: [] });
    expect((await process.vectors.stats(acme, "local")).settings).toEqual({
      dims: 8,
      metric: "cosine",
      language: "none",
    });
  });

  it("waits while the collection accepts no more, and compacts it itself", async () => {
    await using stores = await openStores("memory");
    await using process = await openProcess(stores);
    await process.vectors.create(acme, "papers", { dims: 2 });
    const full = Array.from({ length: vectorLimits.pendingDeltasMax }, (_, i) =>
      process.vectors.append(acme, "papers", { upsert: [row(i)] }),
    );
    await Promise.all(full);
    expect(await refusal(() => process.vectors.append(acme, "papers", { upsert: [row(0)] }))).toMatchObject({
      code: "THROTTLED",
    });
    await putLayout(stores);
    await importLayout(process.vectors, stores.objects, acme, { prefix: "", collection: "papers" });
    expect((await process.vectors.get(acme, "papers", ["r1"]))[0]?.text).toBe("changed");
  });
});

describe("import of a layout: rejected", () => {
  it("an invalid source changes nothing, and earlier ones stay", async () => {
    await using stores = await openStores("memory");
    await putLayout(stores);
    await stores.objects.put(
      acme,
      "delta/2025-08-02T09-00-00Z.jsonl",
      ndjson([...rowsUpTo(3), { id: "x", vector: [1, 2, 3] }]),
    );
    await using process = await openProcess(stores);
    const run = () => importLayout(process.vectors, stores.objects, acme, { ...options, partRowsMax: 1 });
    expect(await refusal(run)).toMatchObject({
      code: "INVALID",
      detail: expect.stringMatching(/^delta\/2025-08-02T09-00-00Z\.jsonl line 4: vector: has 3 numbers/) as unknown,
    });
    expect((await allRows(process.vectors, "papers")).map(({ id }) => id)).toEqual(["r0", "r1", "r3", "r4", "r9"]);
    await stores.objects.put(acme, "delta/2025-08-02T09-00-00Z.jsonl", ndjson([row(4, { text: "mended" })]));
    await run();
    expect(await texts(process.vectors)).toEqual([...imported.slice(0, 4), "mended"]);
  });

  it("a snapshot or delta that changed since is a conflict; the deltas can be imported without the snapshot", async () => {
    await using stores = await openStores("memory");
    await putLayout(stores);
    await using process = await openProcess(stores);
    await importLayout(process.vectors, stores.objects, acme, options);
    await stores.objects.put(acme, "snapshot/latest/rows.jsonl", ndjson(rowsUpTo(6)));
    await stores.objects.put(acme, "delta/2025-09-01T00-00-00Z.jsonl", ndjson([row(7)]));
    expect(await refusal(() => importLayout(process.vectors, stores.objects, acme, options))).toMatchObject({
      code: "CONFLICT",
      detail: expect.stringMatching(/^snapshot\/latest\/: was imported before, with other content/) as unknown,
    });
    expect(await importLayout(process.vectors, stores.objects, acme, { ...options, snapshot: false })).toMatchObject({
      partsNow: 1,
    });
    expect(await texts(process.vectors)).toEqual([...imported, "row 7"]);
  });

  it("no collection, other settings, nothing there, Parquet, no vector at all", async () => {
    await using stores = await openStores("memory");
    await using process = await openProcess(stores);
    const code = async (more: Partial<ImportOptions>) =>
      (await refusal(() => importLayout(process.vectors, stores.objects, acme, { ...options, ...more }))).code;
    expect(await code({})).toBe("NOT_FOUND");
    await putLayout(stores);
    const { create: _, ...without } = options;
    expect((await refusal(() => importLayout(process.vectors, stores.objects, acme, without))).code).toBe("NOT_FOUND");
    expect(await code({ create: { dims: 3 } })).toBe("INVALID");
    await importLayout(process.vectors, stores.objects, acme, { ...options, collection: "other" });
    expect(await code({ collection: "other", create: { metric: "l2" } })).toBe("CONFLICT");
    await stores.objects.put(acme, "p/delta/old/chroma-embeddings.parquet", Buffer.from("PAR1"));
    expect(await code({ prefix: "p/", collection: "p" })).toBe("NOT_SUPPORTED");
    await stores.objects.put(acme, "q/delta/d.jsonl", ndjson([{ id: "a", op: "delete" }]));
    expect(await code({ prefix: "q/", collection: "q" })).toBe("INVALID");
  });
});
