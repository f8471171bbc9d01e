/** Which segments are merged: how often a row is rewritten, how many segments there are, and how large a merge gets. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chooseMerge } from "../../src/vectors/compact/merge-policy.ts";
import { vectorLimits } from "../../src/vectors/limits.ts";
import { liveOf, type SegmentEntry } from "../../src/vectors/store/manifest.ts";
import { Machine, scope } from "./support/machine.ts";
import { recover } from "./support/state.ts";

const sum = "0".repeat(32);
const sha256 = "0".repeat(64);

function entry({
  rows,
  puts = rows,
  deleted = 0,
  rowBytes = 100,
}: {
  rows: number;
  puts?: number;
  deleted?: number;
  rowBytes?: number;
}): SegmentEntry {
  const deletions = deleted === 0 ? {} : { deletions: { key: "d", offset: 0, bytes: 0, sha256, count: deleted, sum } };
  return {
    key: "k",
    sha256,
    bytes: rows * rowBytes,
    headBytes: 0,
    rows,
    puts,
    minSeq: 0,
    maxSeq: 0,
    sum,
    ...deletions,
  };
}

/** The result of merging the chosen segments: their live rows, in one. */
function merged(segments: readonly SegmentEntry[], chosen: readonly number[], rowBytes: number): SegmentEntry[] {
  const rest = segments.filter((_, i) => !chosen.includes(i));
  const rows = chosen.reduce((total, i) => total + liveOf(segments[i] as SegmentEntry), 0);
  return rows === 0 ? rest : [...rest, entry({ rows, rowBytes })];
}

/** Folds of `rows` rows until there are `total`, with every worthwhile merge after each. */
function ingest(
  total: number,
  rows: number,
  rowBytes = 100,
): { written: number; most: number; segments: readonly SegmentEntry[] } {
  let segments: SegmentEntry[] = [];
  let written = 0;
  let most = 0;
  for (let done = 0; done < total; done += rows) {
    segments.push(entry({ rows, rowBytes }));
    written += rows;
    for (let chosen = chooseMerge(segments); chosen.length > 0; chosen = chooseMerge(segments)) {
      written += chosen.reduce((count, i) => count + liveOf(segments[i] as SegmentEntry), 0);
      segments = merged(segments, chosen, rowBytes);
    }
    most = Math.max(most, segments.length);
  }
  return { written, most, segments };
}

describe("vectors: the merge policy", () => {
  it("R-CMP-22 a million rows by a thousand are written at most six times, into at most 24 segments at any moment", () => {
    const { written, most, segments } = ingest(1_000_000, 1_000);
    expect(written / 1_000_000).toBeLessThanOrEqual(6);
    expect(most).toBeLessThanOrEqual(24);
    expect(segments.reduce((total, segment) => total + segment.rows, 0)).toBe(1_000_000);
  });

  it("R-CMP-22 the same for other sizes of deltas, and for rows as long as 768 dimensions make them", () => {
    for (const [rows, rowBytes] of [
      [1_000, 4_000],
      [4_000, 4_000],
      [10_000, 4_000],
    ] as const) {
      const { written, most } = ingest(1_000_000, rows, rowBytes);
      expect(written / 1_000_000, `${rows} rows`).toBeLessThanOrEqual(6);
      expect(most, `${rows} rows`).toBeLessThanOrEqual(24);
    }
  });

  it("R-CMP-22 a real run writes what the policy says: 16 deltas of 1,000 rows", async () => {
    const machine = await Machine.open();
    const process = machine.process();
    await process.vectors.create(scope, "c", { dims: 2 });
    let written = 0;
    for (let delta = 0; delta < 16; delta += 1) {
      await process.vectors.append(scope, "c", {
        upsert: Array.from({ length: 1_000 }, (_, i) => ({ id: `r${delta}.${i}`, vector: [i, 1] })),
      });
      const result = await process.vectors.compact(scope, "c");
      written += result.rowsWritten;
      expect((await process.vectors.stats(scope, "c")).segments.length).toBeLessThanOrEqual(24);
    }
    expect(written).toBe(ingest(16_000, 1_000).written);
    expect(written / 16_000).toBeLessThanOrEqual(6);
    expect(await process.vectors.count(scope, "c")).toBe(16_000);
    await recover(machine);
    expect((await process.vectors.fsck(scope, "c")).ok).toBe(true);
  });

  const segments = fc.array(
    fc
      .record({
        rows: fc.oneof(fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 1, max: vectorLimits.segmentRowsMax })),
        put: fc.double({ min: 0, max: 1, noNaN: true }),
        dead: fc.double({ min: 0, max: 1, noNaN: true }),
        rowBytes: fc.integer({ min: 20, max: 3_000 }),
      })
      .map(({ rows, put, dead, rowBytes }) => {
        const puts = Math.round(rows * put);
        return entry({ rows, puts, deleted: Math.round(puts * dead), rowBytes });
      }),
    { maxLength: 40 },
  );

  it("R-CMP-23 whatever the segments, the live rows and bytes of a merge stay within the size of one segment", () => {
    fc.assert(
      fc.property(segments, fc.boolean(), (all, everything) => {
        const chosen = chooseMerge(all, everything);
        expect(new Set(chosen).size).toBe(chosen.length);
        const live = chosen.map((i) => liveOf(all[i] as SegmentEntry));
        const bytes = chosen.map(
          (i) => (all[i] as SegmentEntry).bytes * (liveOf(all[i] as SegmentEntry) / (all[i] as SegmentEntry).rows),
        );
        expect(live.reduce((a, b) => a + b, 0)).toBeLessThanOrEqual(vectorLimits.segmentRowsMax);
        expect(bytes.reduce((a, b) => a + b, 0)).toBeLessThanOrEqual(vectorLimits.segmentBytesMax);
      }),
      { numRuns: 2_000 },
    );
  });

  it("R-CMP-23 merging terminates from any state, and each step is worth it: fewer segments or fewer dead rows", () => {
    fc.assert(
      fc.property(segments, fc.boolean(), (start, everything) => {
        let all = [...start];
        for (let step = 0; ; step += 1) {
          const chosen = chooseMerge(all, everything);
          if (chosen.length === 0) break;
          const next = merged(all, chosen, 100);
          const dead = (list: readonly SegmentEntry[]): number =>
            list.reduce((total, segment) => total + segment.rows - liveOf(segment), 0);
          expect(next.length < all.length || dead(next) < dead(all)).toBe(true);
          all = next;
          expect(step).toBeLessThan(200);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it("R-CMP-23 with tombstones that must stay, merging terminates, too", async () => {
    const machine = await Machine.open({ keepsTombstone: () => true });
    const process = machine.process();
    await process.vectors.create(scope, "c", { dims: 2 });
    for (let delta = 0; delta < 12; delta += 1) {
      await process.vectors.append(scope, "c", {
        delete: Array.from({ length: 50 }, (_, i) => `r${delta}.${i}`),
        upsert: [{ id: "a", vector: [delta, 1] }],
      });
      expect(await process.vectors.compact(scope, "c", { all: true })).toMatchObject({ outcome: "done" });
    }
    expect(await process.vectors.count(scope, "c")).toBe(1);
  });
});
