import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import type { Caller } from "../domain/caller.ts";
import { open, type Pinakes } from "../open.ts";
import { readChunkingStrategy } from "../knowledge/chunking/index.ts";
import { readBeir, type BeirSet } from "./beir.ts";
import {
  compareEvaluated,
  evaluateSet,
  metrics,
  type EvaluationProgress,
  type NamedConfiguration,
} from "./run-evaluation.ts";
import { storeSet } from "./store-set.ts";
import { tinySet, writeSet } from "./test-set.ts";

const whole = readChunkingStrategy({ type: "NONE" });
const configuration = (mode: "keyword" | "vector" | "hybrid", chunking = whole): NamedConfiguration => ({
  name: mode,
  search: { mode },
  chunking,
});

const base = temporaryFolder("run-evaluation");
let pinakes: Pinakes;
let admin: Caller;
let set: BeirSet;

beforeAll(async () => {
  set = await readBeir(await writeSet(base, tinySet));
  pinakes = await open({ items: "memory:", objects: "memory:" });
  admin = pinakes.as({ tenant: "evaluation", userId: "tester", role: "admin" });
});
afterAll(async () => {
  await pinakes.close();
});

describe("evaluating a test set with real uploads, ingestion and search", () => {
  it("measures every configuration on one collection, and reports progress", async () => {
    const reported: EvaluationProgress[] = [];
    const [keyword, vector, hybrid] = await evaluateSet(pinakes.knowledge, admin, set, {
      configurations: [configuration("keyword"), configuration("vector"), configuration("hybrid")],
      onProgress: (progress) => reported.push(progress),
    });
    expect(metrics.map(({ name }) => name)).toEqual(["ndcg@10", "recall@10", "recall@100", "mrr@10"]);
    // q2 shares no word with its document: only vectors find it.
    expect(keyword?.scores["recall@100"]).toEqual([1, 0, 1]);
    expect(keyword?.quality).toEqual({ "ndcg@10": 2 / 3, "recall@10": 2 / 3, "recall@100": 2 / 3, "mrr@10": 2 / 3 });
    expect(vector?.quality).toEqual({ "ndcg@10": 1, "recall@10": 1, "recall@100": 1, "mrr@10": 1 });
    expect(hybrid?.scores["recall@100"]).toEqual([1, 1, 1]);
    expect([keyword, vector, hybrid].map((one) => one?.stored.reused)).toEqual([false, true, true]);
    expect(vector?.stored.collection).toBe(keyword?.stored.collection);
    expect(hybrid?.searchMs.p95).toBeGreaterThanOrEqual(hybrid?.searchMs.p50 ?? Infinity);
    expect(reported.findLast(({ phase }) => phase === "documents")).toEqual({
      phase: "documents",
      name: "keyword",
      done: 10,
      total: 10,
    });
    expect(reported.at(-1)).toEqual({ phase: "queries", name: "hybrid", done: 3, total: 3 });
    if (keyword === undefined || vector === undefined) throw new Error("both must have been evaluated");
    expect(compareEvaluated(keyword, vector, 1)["ndcg@10"]).toMatchObject({ a: 2 / 3, b: 1, won: 1, lost: 0, tied: 2 });
  });

  it("documents with several chunks count once, at their best chunk", async () => {
    const sentences = "A line about bees and flowers, and another line that goes on for some time. ".repeat(20);
    const long = await readBeir(
      await writeSet(join(base, "long"), {
        corpus: [
          { _id: "bees", text: sentences },
          { _id: "sand", text: "Sand becomes glass." },
        ]
          .map((document) => JSON.stringify(document))
          .join("\n"),
        queries: '{"_id":"q","text":"glass of sand"}',
        test: "q\tsand\t1\nq\tbees\t1",
      }),
    );
    const chunking = readChunkingStrategy({ type: "FIXED", chunk_size: 100, chunk_overlap: 0 });
    const [vector] = await evaluateSet(pinakes.knowledge, admin, long, {
      configurations: [configuration("vector", chunking)],
    });
    const { chunk_count } = await pinakes.knowledge.collections.get(
      admin,
      vector?.stored.repository ?? "",
      vector?.stored.collection ?? "",
    );
    expect(chunk_count).toBeGreaterThan(10);
    expect(vector?.quality).toMatchObject({ "ndcg@10": 1, "recall@10": 1 });
  });

  it("other documents, or other chunking, give another collection", async () => {
    const stored = await storeSet(pinakes.knowledge, admin, set, { chunking: whole });
    const cut = await storeSet(pinakes.knowledge, admin, set, {
      chunking: readChunkingStrategy({ type: "FIXED", chunk_size: 100 }),
    });
    const fewer = await storeSet(
      pinakes.knowledge,
      admin,
      { ...set, documents: set.documents.slice(0, 2), contentHash: "fewer" },
      { chunking: whole },
    );
    expect(new Set([stored.collection, cut.collection, fewer.collection]).size).toBe(3);
    expect([cut, fewer].map(({ reused }) => reused)).toEqual([false, false]);
  });

  it("what an interrupted run had stored is not sent again, and what failed is", async () => {
    const again = { ...set, contentHash: "broken-off" };
    const stop = new AbortController();
    const stopped = storeSet(pinakes.knowledge, admin, again, {
      chunking: whole,
      signal: stop.signal,
      onProgress: () => stop.abort(new Error("Ctrl-C")),
    });
    await expect(stopped).rejects.toThrow("Ctrl-C");
    const { repository, collection, reused } = await storeSet(pinakes.knowledge, admin, again, { chunking: whole });
    expect(reused).toBe(false);
    const { items } = await pinakes.knowledge.documents.list(admin, repository, collection, { limit: 100 });
    expect(items.map(({ version, status }) => `${status} ${version}`)).toEqual(items.map(() => "indexed 1"));
    expect(items).toHaveLength(10);
  });

  it("a document that cannot be indexed is named, and a repaired collection is reused", async () => {
    const bad = {
      ...set,
      documents: [...set.documents.slice(0, 2), { id: "hollow", text: " \n " }],
      contentHash: "bad",
    };
    await expect(storeSet(pinakes.knowledge, admin, bad, { chunking: whole })).rejects.toThrow(
      'Document "hollow" could not be indexed: The file contains no text.',
    );
    const mended = { ...bad, documents: [...set.documents.slice(0, 2), { id: "hollow", text: "full" }] };
    expect(await storeSet(pinakes.knowledge, admin, mended, { chunking: whole })).toMatchObject({ reused: false });
    expect(await storeSet(pinakes.knowledge, admin, mended, { chunking: whole })).toMatchObject({ reused: true });
  });

  it("needs permission to create repositories", async () => {
    const user = pinakes.as({ tenant: "evaluation", userId: "somebody" });
    await expect(
      storeSet(pinakes.knowledge, user, { ...set, contentHash: "not-mine" }, { chunking: whole }),
    ).rejects.toMatchObject({ code: "FORBIDDEN" });
  });
});
