import { afterEach, describe, expect, it } from "vitest";
import { PinakesError } from "../../domain/errors.ts";
import { Bitmap } from "../segment/bitmap.ts";
import { buildDelta } from "../build/build-delta.ts";
import { readHead } from "../segment/file-format.ts";
import { loadSegment } from "../segment/load-segment.ts";
import { SearchPool } from "./pool.ts";
import { flatSegment, plainSearch, randomVectors } from "./testing.ts";

const dims = 24;
const open: SearchPool[] = [];

function pool(options: ConstructorParameters<typeof SearchPool>[0] = {}): SearchPool {
  // Here small searches go to threads too, unless a test decides otherwise.
  const made = new SearchPool({ threads: 2, inlineBytesMax: 0, ...options });
  open.push(made);
  return made;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

describe("the search pool", () => {
  it("answers many requests at once, each over several segments, best first", async () => {
    const searching = pool();
    const parts = [randomVectors(300, dims, 1), randomVectors(500, dims, 2)];
    parts.forEach((vectors, i) => searching.load(`s${i}`, flatSegment(vectors, dims, "cosine", searching.slots)));
    const sources = [{ segment: "s0" }, { segment: "s1" }];
    const all = new Float32Array(800 * dims);
    all.set(parts[0] as Float32Array);
    all.set(parts[1] as Float32Array, 300 * dims);
    await Promise.all(
      Array.from({ length: 60 }, async (_, i) => {
        const vector = randomVectors(1, dims, 50 + i);
        const { vector: hits, text } = await searching.search({ sources, vector, k: 7 });
        expect(text).toBeUndefined();
        const plain = plainSearch(all, dims, "cosine", vector, 7);
        expect(hits?.map(({ source, row }) => source * 300 + row)).toEqual(plain.map(({ row }) => row));
      }),
    );
  });

  it.each([0, 1_000_000])(
    "excludes the dead rows of each request, whatever concurrent requests exclude (inline up to %i bytes)",
    async (inlineBytesMax) => {
      const searching = pool({ threads: 1, inlineBytesMax });
      const vectors = randomVectors(100, dims, 3);
      searching.load("s", flatSegment(vectors, dims, "dot", searching.slots));
      const vector = randomVectors(1, dims, 4);
      const best = plainSearch(vectors, dims, "dot", vector, 3).map(({ row }) => row);
      const without = (rows: readonly number[]): Bitmap => {
        const dead = new Bitmap(100);
        for (const row of rows) dead.add(row);
        return dead;
      };
      const first = without(best.slice(0, 1));
      const rounds = await Promise.all(
        [first, without(best.slice(0, 2)), undefined, first].map((dead) =>
          searching.search({ sources: [{ segment: "s", dead }], vector, k: 1 }),
        ),
      );
      expect(rounds.map(({ vector: hits }) => hits?.[0]?.row)).toEqual([best[1], best[2], best[0], best[1]]);
    },
  );

  it("spreads a large search over threads with the same answer", async () => {
    const searching = pool({ threads: 2, splitBytesMin: 1 });
    const one = pool({ threads: 1 });
    const parts = [randomVectors(900, dims, 8), randomVectors(700, dims, 9), randomVectors(40, dims, 11)];
    for (const each of [searching, one])
      parts.forEach((vectors, i) => each.load(`s${i}`, flatSegment(vectors, dims, "l2", each.slots)));
    const request = {
      sources: [{ segment: "s0" }, { segment: "s1" }, { segment: "s2" }],
      vector: randomVectors(1, dims, 10),
      k: 20,
    };
    expect(await searching.search(request)).toEqual(await one.search(request));
  });

  it("rejects a segment that it does not have, also after drop", async () => {
    const searching = pool();
    searching.load("s", flatSegment(randomVectors(10, dims, 5), dims, "l2", searching.slots));
    const request = { sources: [{ segment: "s" }], vector: randomVectors(1, dims, 6), k: 1 };
    const running = searching.search(request);
    searching.drop("s");
    expect((await running).vector?.length).toBe(1);
    await expect(searching.search(request)).rejects.toThrow("not loaded");
    expect(() => searching.load("t", flatSegment(randomVectors(10, dims, 5), dims, "l2", searching.slots - 1))).toThrow(
      "slots",
    );
  });

  it("reports an error in a search and continues", async () => {
    const searching = pool({ threads: 1 });
    searching.load("s", flatSegment(randomVectors(10, dims, 5), dims, "l2", searching.slots));
    const request = { sources: [{ segment: "s" }], vector: randomVectors(1, dims, 6), k: 1 };
    await expect(searching.search({ ...request, text: "words" })).rejects.toThrow(PinakesError);
    expect((await searching.search(request)).vector?.length).toBe(1);
  });

  it("fails the searches of a crashed thread, and replaces the thread", async () => {
    const script = `import { parentPort } from "node:worker_threads";
      parentPort.on("message", (orders) => { if (JSON.stringify(orders).includes("crash!")) process.exit(9); });
      await import(${JSON.stringify(new URL("./search-thread.ts", import.meta.url).href)});`;
    const searching = pool({ threads: 1, script: new URL(`data:text/javascript,${encodeURIComponent(script)}`) });
    searching.load("s", flatSegment(randomVectors(10, dims, 5), dims, "l2", searching.slots));
    const request = { sources: [{ segment: "s" }], vector: randomVectors(1, dims, 6), k: 3 };
    const before = await searching.search(request);
    const crashed = await Promise.allSettled([
      searching.search(request),
      searching.search({ ...request, filter: { a: "crash!" } }),
    ]);
    for (const outcome of crashed)
      expect(outcome).toMatchObject({ status: "rejected", reason: { code: "UNAVAILABLE", retryable: true } });
    expect(await searching.search(request)).toEqual(before);
  });

  it("rejects everything once closed", async () => {
    const searching = pool({ threads: 1 });
    searching.load("s", flatSegment(randomVectors(10, dims, 5), dims, "l2", searching.slots));
    const request = { sources: [{ segment: "s" }], vector: randomVectors(1, dims, 6), k: 3 };
    const running = searching.search(request).catch((error: unknown) => error);
    await searching.close();
    expect(await running).toMatchObject({ code: "UNAVAILABLE", retryable: false });
    await expect(searching.search(request)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });
});

describe("the search pool over whole files", () => {
  it("finds by vector and by text, both within a filter", async () => {
    const searching = pool({ threads: 1 });
    const words = ["red apple", "green apple", "red brick", "blue sky"];
    const rows = words.map((text, i) => ({
      id: `r${i}`,
      op: "put" as const,
      vector: Float32Array.of(1, i),
      text,
      metadata: { even: i % 2 === 0 },
    }));
    const { bytes, sha256, headBytes } = buildDelta("c", { dims: 2, metric: "cosine", language: "none" }, rows);
    const { header } = readHead(bytes, { key: "d", sha256, headBytes, bytes: bytes.length });
    searching.load("d", loadSegment(header, bytes.length, searching.slots, [{ offset: 0, bytes }]));
    const found = await searching.search({
      sources: [{ segment: "d" }],
      vector: Float32Array.of(1, 1),
      text: "apple",
      k: 4,
      filter: { even: true },
    });
    expect(found.vector?.map(({ row }) => row)).toEqual([2, 0]);
    expect(found.text?.map(({ row }) => row)).toEqual([0]);
  });

  it.each([0, 1_000_000])(
    "counts words, and weighs them by the counts of others (inline up to %i bytes)",
    async (inlineBytesMax) => {
      const searching = pool({ threads: 1, inlineBytesMax });
      const load = (id: string, words: readonly string[]) => {
        const rows = words.map((text, i) => ({
          id: `${id}${i}`,
          op: "put" as const,
          vector: Float32Array.of(1, i),
          text,
          metadata: {},
        }));
        const { bytes, sha256, headBytes } = buildDelta("c", { dims: 2, metric: "cosine", language: "none" }, rows);
        const { header } = readHead(bytes, { key: id, sha256, headBytes, bytes: bytes.length });
        searching.load(id, loadSegment(header, bytes.length, searching.slots, [{ offset: 0, bytes }]));
      };
      load("tiny", ["red apple"]);
      load("large", ["green apple", "red brick", "blue sky", "red sky", "grey sky"]);
      const dead = new Bitmap(5);
      dead.add(4);
      const [tiny, large] = [[{ segment: "tiny" }], [{ segment: "large", dead }]];
      const counted = [
        await searching.count(tiny, "red apple tree"),
        await searching.count(large, "red apple tree"),
      ] as const;
      expect(counted).toEqual([
        { rows: 1, tokens: 2, frequencies: new Map(Object.entries({ red: 1, apple: 1, tree: 0 })) },
        { rows: 4, tokens: 8, frequencies: new Map(Object.entries({ red: 2, apple: 1, tree: 0 })) },
      ]);
      expect(await searching.count([], "red")).toEqual({ rows: 0, tokens: 0, frequencies: new Map() });
      const ask = async (sources: typeof tiny, elsewhere?: (typeof counted)[0]) =>
        (
          await searching.search({
            sources,
            text: "red apple tree",
            k: 9,
            ...(elsewhere === undefined ? {} : { elsewhere }),
          })
        ).text?.map(({ score }) => score);
      const together = await ask([...tiny, ...large]);
      const apart = [...((await ask(tiny, counted[1])) ?? []), ...((await ask(large, counted[0])) ?? [])];
      expect(apart).toHaveLength(4);
      expect(apart.toSorted((a, b) => b - a)).toEqual(together);
      await searching.close();
      await expect(searching.count(tiny, "red")).rejects.toMatchObject({ code: "UNAVAILABLE" });
    },
  );
});
