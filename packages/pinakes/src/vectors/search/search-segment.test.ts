import { describe, expect, it } from "vitest";
import { Bitmap } from "../segment/bitmap.ts";
import { segmentOf } from "../segment/load-segment.ts";
import type { Metric } from "../row.ts";
import { bytesOf } from "../segment/quantize.ts";
import { SegmentSearch } from "./search-segment.ts";
import {
  clusteredVectors,
  flatSegment,
  hardVectors,
  listedSegment,
  mergedVectors,
  plainSearch,
  randomVectors,
} from "./testing.ts";

const metrics: readonly Metric[] = ["cosine", "dot", "l2"];

describe.each(metrics)("exact search, %s", (metric) => {
  it.each([2, 3, 31, 384, 4096])("%i dimensions: the same rows and scores as plain code", (dims) => {
    const rows = dims > 1_000 ? 150 : 700;
    const vectors = randomVectors(rows, dims, dims + 1);
    vectors.fill(0, 5 * dims, 6 * dims);
    const search = new SegmentSearch(flatSegment(vectors, dims, metric), 0);
    for (let q = 0; q < 5; q += 1) {
      const vector = randomVectors(1, dims, 100 + q);
      const hits = search.search({ vector, k: 10 });
      const plain = plainSearch(vectors, dims, metric, vector, 10);
      expect(hits.rows.length).toBe(10);
      plain.forEach(({ row, score }, i) => {
        expect(hits.scores[i]).toBeCloseTo(score, 3);
        // Scores that differ in the last bits only may be swapped.
        if (dims > 3) expect(hits.rows[i]).toBe(row);
      });
    }
  });

  it("returns all rows if k is larger, none twice, and zero vectors too", () => {
    const vectors = randomVectors(37, 20, 3);
    vectors.fill(0, 0, 20);
    const hits = new SegmentSearch(flatSegment(vectors, 20, metric), 0).search({
      vector: randomVectors(1, 20, 4),
      k: 1_000,
    });
    expect([...hits.rows].sort((a, b) => a - b)).toEqual(Array.from({ length: 37 }, (_, i) => i));
    if (metric !== "l2") expect(hits.scores[hits.rows.indexOf(0)]).toBe(0);
  });

  it("never finds a row that is dead or not allowed, and finds the others", () => {
    const vectors = randomVectors(3_001, 16, 5);
    const search = new SegmentSearch(flatSegment(vectors, 16, metric), 0);
    const dead = new Bitmap(3_001);
    const allowed = new Bitmap(3_001);
    for (let row = 0; row < 3_001; row += 3) dead.add(row);
    for (let row = 0; row < 3_001; row += 500) allowed.add(row);
    const vector = randomVectors(1, 16, 6);
    expect([...search.search({ vector, k: 20, dead }).rows]).toEqual(
      plainSearch(vectors, 16, metric, vector, 20, dead).map(({ row }) => row),
    );
    expect([...search.search({ vector, k: 20, allowed }).rows].sort((a, b) => a - b)).toEqual([...allowed]);
    expect([...search.search({ vector, k: 20, allowed, dead }).rows].sort((a, b) => a - b)).toEqual(
      [...allowed].filter((row) => !dead.has(row)),
    );
    expect(search.search({ vector, k: 20, allowed: new Bitmap(3_001) }).rows.length).toBe(0);
    expect([...search.search({ vector, k: 20, dead }).rows]).toEqual(
      plainSearch(vectors, 16, metric, vector, 20, dead).map(({ row }) => row),
    );
  });
});

describe.each([
  ["clustered", clusteredVectors],
  ["hard", hardVectors],
] as const)("lists, %s vectors", (_, make) => {
  const dims = 48;
  const rows = 30_000;
  const held = 200;
  const all = make(rows + held, dims, 11);
  const vectors = all.subarray(0, rows * dims);
  const queries = Array.from({ length: held }, (_query, i) => all.slice((rows + i) * dims, (rows + i + 1) * dims));
  const { loaded, order } = listedSegment(vectors, dims, "cosine");
  const search = new SegmentSearch(loaded, 0);
  const exact = new SegmentSearch(flatSegment(vectors, dims, "cosine"), 0);

  function recallOf(k: number, recall: number | undefined, allowed?: readonly [listed: Bitmap, flat: Bitmap]): number {
    let found = 0;
    let wanted = 0;
    for (const vector of queries) {
      const truth = new Set(exact.search({ vector, k, allowed: allowed?.[1] }).rows);
      const hits = search.search({ vector, k, ...(recall === undefined ? {} : { recall }), allowed: allowed?.[0] });
      for (const row of hits.rows) {
        if (allowed !== undefined) expect(allowed[0].has(row)).toBe(true);
        if (truth.has(order[row] as number)) found += 1;
      }
      wanted += truth.size;
    }
    return found / wanted;
  }

  it("keep every row once", () => {
    expect([...order].sort((a, b) => a - b)).toEqual(Array.from({ length: rows }, (_row, i) => i));
    const offsets = segmentOf(loaded).u32("ivf.offsets");
    expect([offsets[0], offsets.at(-1)]).toEqual([0, rows]);
  });

  it.each([0.9, 0.95, 0.97, 0.99])("reach a recall of %d on unseen queries", (target) => {
    expect(recallOf(10, target)).toBeGreaterThan(target - 0.02);
  });

  it("examine fewer rows for less recall, and all for 1", () => {
    const vector = queries[0] as Float32Array;
    search.search({ vector, k: 10, recall: 0.8 });
    const few = search.cost.rows;
    search.search({ vector, k: 10, recall: 1 });
    expect(few).toBeLessThan(rows / 2);
    expect(search.cost.rows).toBe(rows);
    expect(recallOf(10, 1)).toBe(1);
  });

  it("reach it for other k too", () => {
    expect(recallOf(1, undefined)).toBeGreaterThan(0.95);
    expect(recallOf(100, undefined)).toBeGreaterThan(0.95);
  });

  it.each([0.001, 0.02, 0.5])("respect a filter that %d of the rows pass", (share) => {
    const listed = new Bitmap(rows);
    const flat = new Bitmap(rows);
    order.forEach((original, row) => {
      if ((Math.imul(original + 1, 2_654_435_761) >>> 0) / 4_294_967_296 >= share) return;
      listed.add(row);
      flat.add(original);
    });
    const recall = recallOf(10, undefined, [listed, flat]);
    if (share < 0.1) expect(recall).toBe(1);
    else expect(recall).toBeGreaterThan(0.95);
  });

  it("can be read in part: a search in the lists that it would probe", () => {
    let found = 0;
    for (const vector of queries) {
      const truth = new Set(exact.search({ vector, k: 10 }).rows);
      const lists = search.probesOf(vector, 0.95);
      for (const row of search.search({ vector, k: 10, lists }).rows) if (truth.has(order[row] as number)) found += 1;
    }
    expect(found / (10 * held)).toBeGreaterThan(0.93);
  });
});

describe("merging", () => {
  const dims = 31;
  const vectors = clusteredVectors(3_000, dims, 21);
  const sources = [vectors.subarray(0, 1_000 * dims), vectors.subarray(1_000 * dims)].map((part) => ({
    segment: segmentOf(flatSegment(part, dims, "l2")),
  }));
  // Every second row, the last first.
  const rows = Array.from({ length: 1_500 }, (_, i) => 2_998 - 2 * i);
  const picks = {
    source: Uint32Array.from(rows, (row) => (row < 1_000 ? 0 : 1)),
    row: Uint32Array.from(rows, (row) => (row < 1_000 ? row : row - 1_000)),
  };

  it.each([0, 20_000])("copies vectors and codes unchanged (lists from %i rows)", (ivfRowsMin) => {
    const { sections, order } = mergedVectors(sources, picks, ivfRowsMin);
    const merged = new Map(sections.map(({ name, bytes }) => [name, bytes]));
    const original = segmentOf(flatSegment(vectors, dims, "l2"));
    for (const [name, stride] of [
      ["vectors.f32", 32 * 4],
      ["vectors.i8", 32],
      ["vectors.scale", 4],
      ["vectors.bias", 4],
      ["vectors.sum", 4],
    ] as const) {
      const all = original.u8(name);
      const bytes = merged.get(name) as Uint8Array;
      order.forEach((pick, row) => {
        const from = rows[pick] as number;
        expect(
          Buffer.compare(
            bytes.subarray(row * stride, (row + 1) * stride),
            all.subarray(from * stride, (from + 1) * stride),
          ),
        ).toBe(0);
      });
    }
  });

  it("gives the same bytes for the same input", () => {
    const [one, two] = [mergedVectors(sources, picks, 0), mergedVectors(sources, picks, 0)];
    expect(two.ivf).toEqual(one.ivf);
    expect(Buffer.compare(bytesOf(two.order), bytesOf(one.order))).toBe(0);
    one.sections.forEach(({ name, bytes }, i) => {
      expect(two.sections[i]?.name).toBe(name);
      expect(Buffer.compare(two.sections[i]?.bytes as Uint8Array, bytes)).toBe(0);
    });
  });
});
