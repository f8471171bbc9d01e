/** Cells that are kept of whole hours: they answer like the rows, hold only for them, and stay within their memory. */
import { setImmediate } from "node:timers/promises";
import type { MetricAggregate, NewMetric } from "@pinakes/client";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ObjectStore } from "../../src/ports/object-store.ts";
import { CellCache } from "../../src/state/series/aggregate/cell-cache.ts";
import { Cells } from "../../src/state/series/aggregate/cells.ts";
import { ColumnsBuilder, type Columns } from "../../src/state/series/aggregate/columns.ts";
import { makeHourCells } from "../../src/state/series/aggregate/cell-cache.ts";
import { agentMetrics, metricSeries } from "../../src/state/series/metric-document.ts";
import type { Selection } from "../../src/state/series/aggregate/scan-columns.ts";
import { selectInRuns } from "../../src/state/series/aggregate/select-in-runs.ts";
import { seriesLimits } from "../../src/state/series/series.ts";
import { sortValues } from "../../src/state/series/aggregate/sort-values.ts";
import { openTestSeries, testStart, type TestSeries } from "../../src/state/series/test-series.ts";

const hour = 3_600_000;
const number = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constant(-0),
);

describe("sorted values", () => {
  it("values are sorted as the language sorts them, few or many", () => {
    fc.assert(
      fc.property(
        fc.array(number, { maxLength: 50 }),
        fc.constantFrom(0, 1, 2_047, 2_048, 2_049, 5_000),
        fc.nat({ max: 3 }),
        (some, length, shift) => {
          const mixed = Array.from(
            { length },
            (_, i) => (some[i % Math.max(1, some.length)] ?? 7) * (i % 11 === 0 ? -1 : 1) + (i % 5 === 0 ? i : 0),
          );
          // Anywhere in a larger piece of memory, whose other values stay.
          const all = new Float64Array(length + shift + 1).fill(42);
          all.set(mixed, shift);
          const sorted = sortValues(all.subarray(shift, shift + length));
          expect(Array.from(sorted)).toEqual(Array.from(Float64Array.from(mixed).toSorted()));
          expect([...all.subarray(0, shift), all[length + shift]].every((value) => value === 42)).toBe(true);
        },
      ),
    );
  });

  it("R-AGT-38 a rank among sorted runs is that of all values in one list", () => {
    const overlapping = fc.array(fc.array(number, { maxLength: 40 }), { minLength: 1, maxLength: 30 });
    // As values that grow with time: no run has anything of another's.
    const apart = overlapping.map((runs) => runs.map((run, i) => run.map((_, at) => i * 1_000 + (at % 7))));
    fc.assert(
      fc.property(fc.oneof(overlapping, apart), (runs) => {
        const sorted = runs.map((run) => Float64Array.from(run).sort());
        const whole = Float64Array.from(runs.flat()).sort();
        const ranks = Array.from(whole.keys());
        // 0 and -0 are one number.
        expect(selectInRuns(sorted, ranks).map((value) => value + 0)).toEqual(Array.from(whole, (value) => value + 0));
      }),
    );
  });

  it("a rank among thousands of runs takes few looks", () => {
    const runs = Array.from({ length: 9_600 }, (_, i) =>
      Float64Array.from({ length: 20 }, (_unused, at) => i * 20 + at),
    );
    expect(selectInRuns(runs, [0, 95_999, 182_399, 191_999])).toEqual([0, 95_999, 182_399, 191_999]);
  });

  it("parts and rows of one cell come together, up to as many values as may be kept", async () => {
    const part = { group: [], count: 2, sum: 0, lost: 0, min: 1, max: 5, sorted: Float64Array.of(1, 5) };
    const cells = new Cells(true, 5);
    cells.add(new Uint32Array(1).fill(cells.place(0, [])), Float64Array.of(3), 1);
    cells.addPart(0, part);
    cells.addPart(0, part);
    const { all, starts } = await cells.values(setImmediate);
    expect([[...all], [...starts], cells.runs(0).length, cells.rows]).toEqual([[3], [0, 1], 2, 5]);
    expect([cells.count(0), cells.min(0), cells.max(0)]).toEqual([5, 1, 5]);
    expect(() => cells.addPart(1, { ...part, count: 1 })).toThrow(
      expect.objectContaining({ code: "LIMIT_EXCEEDED" }) as Error,
    );
  });

  it("sums of parts do not lose small values among large ones", () => {
    const cells = new Cells(false);
    const part = (sum: number, lost = 0) => ({
      group: [],
      count: 1,
      sum,
      lost,
      min: sum,
      max: sum,
      sorted: new Float64Array(0),
    });
    for (const one of [part(1e16), ...Array.from({ length: 1_000 }, () => part(0.1)), part(1, 0.25), part(-1e16)])
      cells.addPart(0, one);
    expect(cells.sum(0)).toBeCloseTo(101.25, 9);
    cells.addPart(0, part(Number.MAX_VALUE));
    cells.addPart(0, part(Number.MAX_VALUE));
    expect(cells.sum(0)).toBe(Infinity);
  });
});

function columnsOf(
  rows: number,
  { agents = 1, ttl }: { readonly agents?: number; readonly ttl?: number } = {},
): Columns {
  const builder = new ColumnsBuilder(metricSeries, testStart);
  for (let i = 0; i < rows; i += 1) {
    const document = {
      timestamp: new Date(testStart + i).toISOString(),
      value: i,
      agent_id: `agent-${i % agents}`,
      metric_type: "cost",
      ...(ttl === undefined ? {} : { ttl }),
    };
    builder.add({ id: `m${i}`, etag: "e", modifiedAt: testStart, document });
  }
  return builder.finish();
}

const whole: Selection = {
  span: { from: testStart, to: testStart + hour },
  bucketMs: undefined,
  groupBy: [],
  filter: [],
  ttlSeconds: metricSeries.ttlSeconds,
  now: testStart,
};

describe("the cache of cells", () => {
  const kept = async (
    bytesMax: number,
    columns: Columns,
    selection: Selection = whole,
    withValues = true,
    rowsMin = 1,
  ) => {
    const cache = new CellCache({ bytesMax, rowsMin });
    const made = await cache.for(selection, withValues).make(columns, "hour");
    const found = cache.for(selection, withValues).get(columns.start, "hour");
    expect(found === undefined || found === made).toBe(true);
    return { made: made !== undefined, kept: found !== undefined, cache };
  };

  it("an hour of as many rows as it takes is kept, one of a row less is gone over", async () => {
    expect(await kept(1e6, columnsOf(10), whole, true, 10)).toMatchObject({ made: true, kept: true });
    expect(await kept(1e6, columnsOf(9), whole, true, 10)).toMatchObject({ made: false, kept: false });
  });

  it("cells of one hour take at most their share, and one byte more is not kept", async () => {
    const columns = columnsOf(1_000);
    const { bytes } = (await makeHourCells(columns, whole, true, setImmediate)) as { bytes: number };
    const bytesMax = bytes / seriesLimits.cellCacheEntryShare;
    expect((await kept(bytesMax, columns)).cache.bytes).toBe(bytes);
    expect((await kept(bytesMax - 1, columns)).kept).toBe(false);
    // So large that it is not even made.
    expect(await kept((8_000 - 1) / seriesLimits.cellCacheEntryShare, columns)).toMatchObject({
      made: false,
      kept: false,
    });
    expect(bytes).toBeGreaterThan(8_000);
  });

  it("one aggregate fills at most half; the least recently used go first", async () => {
    const columns = columnsOf(1_000);
    const { bytes } = (await makeHourCells(columns, whole, true, setImmediate)) as { bytes: number };
    const cache = new CellCache({ bytesMax: 40 * bytes, rowsMin: 1 });
    const has = (key: string) => cache.for(whole, true).get(columns.start, key) !== undefined;
    const one = cache.for(whole, true);
    for (let i = 0; i < 20; i += 1) await one.make(columns, `a${i}`);
    expect([cache.bytes, await one.make(columns, "a20"), has("a20")]).toEqual([20 * bytes, undefined, false]);
    for (const prefix of ["b", "c"]) {
      const next = cache.for(whole, true);
      for (let i = 0; i < 20; i += 1) {
        has("a0");
        await next.make(columns, `${prefix}${i}`);
      }
    }
    expect([cache.bytes, has("a0"), has("a1"), has("b0"), has("b1"), has("c0")]).toEqual([
      40 * bytes,
      true,
      false,
      false,
      true,
      true,
    ]);
  });

  it("as many groups of an hour as there may be, and not one more", async () => {
    const grouped = { ...whole, groupBy: ["agent_id"] };
    const max = seriesLimits.hourCellsMax;
    expect(await kept(1e9, columnsOf(max, { agents: max }), grouped)).toMatchObject({ made: true, kept: true });
    expect(await kept(1e9, columnsOf(max + 1, { agents: max + 1 }), grouped)).toMatchObject({ made: false });
    // A filter leaves one value of what it names.
    expect(
      await kept(1e9, columnsOf(max + 1, { agents: max + 1 }), { ...grouped, filter: [["agent_id", "agent-1"]] }),
    ).toMatchObject({ made: true });
  });

  it("only whole hours in one bucket, and only while no row has expired", async () => {
    const columns = columnsOf(10, { ttl: 60 });
    const makes = async (change: Partial<Selection>) => (await kept(1e6, columns, { ...whole, ...change })).made;
    expect(await makes({ bucketMs: hour })).toBe(true);
    expect(await makes({ bucketMs: 24 * hour })).toBe(true);
    expect(await makes({ bucketMs: hour / 2 })).toBe(false);
    expect(await makes({ span: { from: testStart + 1, to: testStart + hour } })).toBe(false);
    expect(await makes({ span: { from: testStart, to: testStart + hour - 1 } })).toBe(false);
    expect(await makes({ now: testStart + 59_999 })).toBe(true);
    expect(await makes({ now: testStart + 60_000 })).toBe(false);
    const cache = new CellCache({ bytesMax: 1e6, rowsMin: 1 });
    await cache.for(whole, true).make(columns, "hour");
    const finds = (change: Partial<Selection>, key = "hour") =>
      cache.for({ ...whole, ...change }, true).get(testStart, key) !== undefined;
    expect([finds({}), finds({ now: testStart + 59_999 }), finds({ bucketMs: hour })]).toEqual([true, true, true]);
    expect([
      finds({ now: testStart + 60_000 }),
      finds({ bucketMs: 60_000 }),
      finds({ span: { from: testStart + 1, to: testStart + hour } }),
    ]).toEqual([false, false, false]);
    expect([
      finds({ groupBy: ["agent_id"] }),
      finds({ filter: [["agent_id", "agent-0"]] }),
      finds({}, "other"),
    ]).toEqual([false, false, false]);
  });

  it("what was made without values does not answer percentiles; with values it answers both", async () => {
    const columns = columnsOf(10);
    const cache = new CellCache({ bytesMax: 1e6, rowsMin: 1 });
    const finds = (withValues: boolean) => cache.for(whole, withValues).get(testStart, "hour") !== undefined;
    await cache.for(whole, false).make(columns, "hour");
    expect([finds(false), finds(true)]).toEqual([true, false]);
    await cache.for(whole, true).make(columns, "hour");
    expect([finds(false), finds(true)]).toEqual([true, true]);
  });
});

describe("aggregates", () => {
  const rows = Array.from({ length: 60 }, (_, i): NewMetric => ({
    id: `m${i}`,
    agent_id: `a${i % 3}`,
    metric_type: "cost",
    value: (i * 37) % 50,
    timestamp: new Date(testStart + i * 240_000).toISOString(),
  }));
  const query: MetricAggregate = {
    from: "2030-01-01T00:00:00Z",
    to: "2030-01-01T04:00:00Z",
    bucket: "2h",
    group_by: ["agent_id"],
    aggregates: ["count", "sum", "p50", "p95"],
  };

  /** With no room for columns, so that only cells can spare the blocks. */
  async function counting(): Promise<TestSeries & { readonly reads: () => number }> {
    const test = await openTestSeries({}, { sealRowsMin: 2 });
    await test.metrics.ingest(test.user, rows);
    test.clock.at = testStart + 24 * hour;
    await test.sweep();
    let reads = 0;
    const objects: ObjectStore = new Proxy(test.objects, {
      get: (target, property) => {
        const own: unknown = Reflect.get(target, property, target);
        if (property === "get") reads += 1;
        return typeof own === "function" ? own.bind(target) : own;
      },
    });
    return { ...test, ...test.again({ objects }, { sealRowsMin: 2, cacheBytesMax: 0 }), reads: () => reads };
  }

  it("R-AGT-38 the second one reads no block and answers the same; a part of an hour reads only that hour", async () => {
    const test = await counting();
    const first = await test.metrics.aggregate(test.user, query);
    expect(test.reads()).toBe(4);
    expect(await test.metrics.aggregate(test.user, query)).toEqual(first);
    expect(await test.metrics.aggregate(test.user, { ...query, bucket: "day" })).toMatchObject({ rows_aggregated: 60 });
    expect(test.reads()).toBe(4);
    expect((await test.metrics.aggregate(test.user, { ...query, to: "2030-01-01T03:30:00Z" })).rows_aggregated).toBe(
      53,
    );
    expect(test.reads()).toBe(5);
    expect((await test.metrics.aggregate(test.stranger, query)).rows_aggregated).toBe(0);
  });

  it("R-AGT-38 an hour that changed is never answered from the cells of before", async () => {
    const test = await counting();
    const count = async () => (await test.metrics.aggregate(test.user, query)).rows_aggregated;
    expect([await count(), await count()]).toEqual([60, 60]);
    await test.metrics.ingest(test.user, [{ ...(rows[0] as NewMetric), id: "late" }]);
    expect([await count(), await count()]).toEqual([61, 61]);
    const removal = { op: "delete", id: "m5" } as const;
    await test.items.batch(
      test.user.scope,
      "agent-metrics",
      ["2030-01-01"],
      [removal, ...(agentMetrics.companions?.([removal]) ?? [])],
    );
    expect([await count(), await count()]).toEqual([60, 60]);
  });

  it("R-AGT-38 a day that is read in several pieces has every hour whole", async () => {
    const test = await openTestSeries();
    const many = Array.from({ length: 13_000 }, (_, i) => ({
      ...(rows[0] as NewMetric),
      id: `n${i}`,
      value: i,
      timestamp: new Date(testStart + i * 1_000).toISOString(),
    }));
    for (let at = 0; at < many.length; at += seriesLimits.ingestLinesMax)
      await test.metrics.ingest(test.user, many.slice(at, at + seriesLimits.ingestLinesMax));
    const day = {
      from: "2030-01-01T00:00:00Z",
      to: "2030-01-02T00:00:00Z",
      bucket: "hour",
      aggregates: ["count", "min", "max"],
    } as const;
    expect(
      (await test.metrics.aggregate(test.user, day)).items.map(({ values }) => [values.count, values.min, values.max]),
    ).toEqual(
      Array.from({ length: 4 }, (_, i) => [i < 3 ? 3_600 : 2_200, i * 3_600, i < 3 ? i * 3_600 + 3_599 : 12_999]),
    );
  });

  it("R-AGT-49 a row that expires leaves the cells at that moment", async () => {
    const test = await openTestSeries({}, { sealRowsMin: 2 });
    test.clock.at = testStart + 24 * hour;
    await test.metrics.ingest(test.user, [...rows, { ...(rows[0] as NewMetric), id: "short", ttl: 60 }]);
    const count = async () => (await test.metrics.aggregate(test.user, query)).rows_aggregated;
    expect([await count(), await count()]).toEqual([61, 61]);
    test.clock.at += 59_999;
    expect(await count()).toBe(61);
    test.clock.at += 1;
    expect([await count(), await count()]).toEqual([60, 60]);
  });
});
