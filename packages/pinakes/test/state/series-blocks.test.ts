/** Blocks as files, the cache, exact percentiles, and sealing that may stop anywhere. */
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { NewMetric } from "@pinakes/client";
import { PinakesError } from "../../src/domain/errors.ts";
import type { ObjectStore } from "../../src/ports/object-store.ts";
import { ByteCache } from "../../src/runtime/byte-cache.ts";
import { decodeBlock, encodeBlock } from "../../src/state/series/aggregate/blocks.ts";
import { Cells } from "../../src/state/series/aggregate/cells.ts";
import { ColumnsBuilder, type Columns } from "../../src/state/series/aggregate/columns.ts";
import { metricSeries } from "../../src/state/series/metric-document.ts";
import { nearestRank, selectRanks } from "../../src/state/series/aggregate/quickselect.ts";
import { seriesLimits } from "../../src/state/series/series.ts";
import { openTestSeries, testStart, type TestSeries } from "../../src/state/series/test-series.ts";

const hour = 3_600_000;
const name = { series: "metrics", date: "2030-01-01", hour: 7, stamp: "stamp" } as const;
const start = testStart + 7 * hour;

const item = fc.record({
  ms: fc.integer({ min: 0, max: hour - 1 }),
  value: fc.double({ noNaN: true, noDefaultInfinity: true }),
  modifiedAt: fc.oneof(fc.integer({ min: 1.8e12, max: 1.9e12 }), fc.integer({ min: start, max: start + hour })),
  ttl: fc.option(
    fc.integer({ min: -1, max: 2_147_483_647 }).filter((n) => n !== 0),
    { nil: undefined },
  ),
  agent: fc.string({ minLength: 1, maxLength: 12, unit: "grapheme" }),
  tool: fc.option(fc.string({ maxLength: 5 })),
});
type Sample = typeof item extends fc.Arbitrary<infer T> ? T : never;

function columnsOf(samples: readonly Sample[]): Columns {
  const builder = new ColumnsBuilder(metricSeries, start);
  for (const { ms, value, modifiedAt, ttl, agent, tool } of samples)
    builder.add({
      id: "x",
      etag: "e",
      modifiedAt,
      document: {
        timestamp: new Date(start + ms).toISOString(),
        value,
        agent_id: agent,
        metric_type: "cost",
        dimensions: { tool_name: tool },
        ...(ttl === undefined ? {} : { ttl }),
      },
    });
  return builder.finish();
}

/** As rows, so that two blocks can be compared whatever their codes are. */
function rowsOf(columns: Columns): readonly unknown[] {
  return Array.from({ length: columns.rows }, (_, i) => [
    columns.start + (columns.time[i] as number),
    columns.value[i],
    columns.modifiedBase + (columns.modified[i] as number),
    columns.ttl.values[columns.ttl.codes[i] as number],
    ...Object.entries(columns.dimensions).map(([dimension, { codes, values }]) => [
      dimension,
      values[codes[i] as number],
    ]),
  ]);
}

describe("a block as a file", () => {
  it("comes back as it was, whatever is in it", () => {
    fc.assert(
      fc.property(fc.array(item, { maxLength: 60 }), fc.nat({ max: 7 }), (samples, shift) => {
        const columns = columnsOf(samples);
        // As a store may hand it over: anywhere in a larger piece of memory.
        const file = encodeBlock(name, columns);
        const moved = Buffer.concat([Buffer.alloc(shift), file]).subarray(shift);
        const back = decodeBlock(name, moved);
        expect(rowsOf(back)).toEqual(rowsOf(columns));
        expect(rowsOf(back)).toEqual(
          samples.map(({ ms, value, modifiedAt, ttl, agent, tool }) => [
            start + ms,
            value,
            modifiedAt,
            ttl ?? null,
            ["agent_id", agent],
            ["metric_type", "cost"],
            ["session_id", null],
            ["workflow_id", null],
            ["environment", null],
            ["model", null],
            ["tool_name", tool],
          ]),
        );
        expect(back.firstExpiry).toBe(columns.firstExpiry);
      }),
    );
  });

  it("many different values need wider codes, and come back too", () => {
    const samples = Array.from({ length: 70_000 }, (_, i): Sample => ({
      ms: i,
      value: i,
      modifiedAt: start,
      ttl: undefined,
      agent: `agent-${i}`,
      tool: `t${i % 300}`,
    }));
    const back = decodeBlock(name, encodeBlock(name, columnsOf(samples)));
    expect(back.dimensions["agent_id"]?.codes).toBeInstanceOf(Uint32Array);
    expect(back.dimensions["tool_name"]?.codes).toBeInstanceOf(Uint16Array);
    expect(back.dimensions["metric_type"]?.codes).toBeInstanceOf(Uint8Array);
    expect(back.dimensions["agent_id"]?.values[back.dimensions["agent_id"].codes[69_999] as number]).toBe(
      "agent-69999",
    );
    expect(back.dimensions["tool_name"]?.values[back.dimensions["tool_name"].codes[299] as number]).toBe("t299");
  });

  it("one changed byte anywhere, a missing end, or another block under its name is CORRUPT", () => {
    const file = encodeBlock(
      name,
      columnsOf([{ ms: 1, value: 2, modifiedAt: start, ttl: 60, agent: "a", tool: null }]),
    );
    for (let at = 0; at < file.length; at += 1) {
      const broken = Uint8Array.from(file);
      broken[at] = (broken[at] as number) ^ 1;
      expect(() => decodeBlock(name, broken)).toThrow(PinakesError);
    }
    for (const length of [0, 15, 31, file.length - 1])
      expect(() => decodeBlock(name, file.subarray(0, length))).toThrow(/hash is wrong/);
    for (const other of [{ hour: 8 }, { stamp: "other" }, { date: "2030-01-02" }, { series: "tools" }])
      expect(() => decodeBlock({ ...name, ...other }, file)).toThrow(/another block/);
  });
});

describe("small parts", () => {
  it("percentiles by nearest rank are those of the sorted values", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.integer({ min: 0, max: 5 }), fc.double({ noNaN: true, noDefaultInfinity: true })), {
          minLength: 1,
          maxLength: 400,
        }),
        async (values) => {
          const sorted = Float64Array.from(values).toSorted();
          const ranks = [50, 95, 99].map((percent) => nearestRank(percent, values.length));
          const got = await selectRanks(Float64Array.from(values), ranks, setImmediate);
          // 0 and -0 are one number.
          expect(got.map((value) => value + 0)).toEqual(ranks.map((rank) => (sorted[rank] as number) + 0));
        },
      ),
    );
    expect([1, 2, 3, 20, 100, 101].map((count) => [50, 95, 99].map((percent) => nearestRank(percent, count)))).toEqual([
      [0, 0, 0],
      [0, 1, 1],
      [1, 2, 2],
      [9, 18, 19],
      [49, 94, 98],
      [50, 95, 99],
    ]);
  });

  it("percentiles of more rows than one pass may take are exact, and let others go on", async () => {
    const values = Float64Array.from({ length: 600_000 }, (_, i) => (i * 7919) % 600_000);
    let pauses = 0;
    const pause = async () => {
      pauses += 1;
      await setImmediate();
    };
    expect(await selectRanks(values, [299_999, 569_999, 593_999], pause)).toEqual([299_999, 569_999, 593_999]);
    expect(pauses).toBeGreaterThan(0);
  });

  it("percentiles keep as many values as they may, and not one more", async () => {
    const add = (cells: Cells, ...values: number[]) =>
      cells.add(new Uint32Array(values.length).fill(cells.place(0, [])), Float64Array.from(values), values.length);
    const cells = new Cells(true, 3);
    add(cells, 3, 1);
    add(cells, 2);
    expect([...(await cells.values(setImmediate)).all].toSorted()).toEqual([1, 2, 3]);
    expect(() => add(cells, 4)).toThrow(expect.objectContaining({ code: "LIMIT_EXCEEDED" }) as Error);
    const counting = new Cells(false, 3);
    add(counting, 1, 1, 1, 1, 1);
    expect([counting.rows, counting.sum(0)]).toEqual([5, 5]);
  });

  it("as many cells as there may be, and not one more", () => {
    const cells = new Cells(false);
    for (let i = 0; i < seriesLimits.aggregateCellsMax; i += 1) cells.place(i, ["a"]);
    expect(cells.place(5, ["a"])).toBe(5);
    expect(() => cells.place(5, ["b"])).toThrow(expect.objectContaining({ code: "LIMIT_EXCEEDED" }) as Error);
  });

  it("sums do not lose small values among large ones", () => {
    const cells = new Cells(false);
    const place = cells.place(0, []);
    const values = Float64Array.from([1e16, ...Array.from({ length: 1000 }, () => 0.1), -1e16]);
    cells.add(new Uint32Array(values.length).fill(place), values, values.length);
    expect(cells.sum(place)).toBeCloseTo(100, 9);
  });

  it("the cache holds what was used last, up to its bytes", () => {
    const one = columnsOf([]);
    const cache = new ByteCache<Columns>(3 * one.bytes);
    for (const key of ["a", "b", "c"]) cache.put(key, one);
    cache.get("a");
    cache.put("d", one);
    expect(["a", "b", "c", "d"].map((key) => cache.get(key) !== undefined)).toEqual([true, false, true, true]);
    expect(cache.bytes).toBe(3 * one.bytes);
    cache.put("large", { ...one, bytes: 3 * one.bytes + 1 });
    expect(cache.get("large")).toBeUndefined();
    cache.put("exact", { ...one, bytes: 3 * one.bytes });
    expect([cache.get("exact") !== undefined, cache.get("a")]).toEqual([true, undefined]);
  });
});

const rowsPerHour = 5;
const sealing = { sealRowsMin: rowsPerHour };
const metric = (id: string, minute: number, value: number): NewMetric => ({
  id,
  agent_id: "a1",
  metric_type: "cost",
  value,
  timestamp: new Date(testStart + minute * 60_000).toISOString(),
});
const firstHour = Array.from({ length: rowsPerHour }, (_, i) => metric(`m${i}`, i, i));

async function sum({ metrics, user }: Pick<TestSeries, "metrics" | "user">): Promise<number> {
  const { items } = await metrics.aggregate(user, {
    from: "2030-01-01T00:00:00Z",
    to: "2030-01-02T00:00:00Z",
    aggregates: ["sum"],
  });
  return items[0]?.values.sum ?? 0;
}

async function blocks(test: TestSeries): Promise<readonly string[]> {
  return (await test.objects.list(test.user.scope, "state/")).keys.map(({ key }) => key);
}

describe("sealing", () => {
  it("an hour is sealed five minutes after its end, when it has rows enough", async () => {
    const test = await openTestSeries({}, sealing);
    await test.metrics.ingest(test.user, [
      ...firstHour,
      ...Array.from({ length: rowsPerHour - 1 }, (_, i) => metric(`n${i}`, 60 + i, 1)),
    ]);
    test.clock.at = testStart + hour + seriesLimits.sealDelayMs - 1;
    expect(await sum(test)).toBe(14);
    expect([await test.sweep(), await blocks(test)]).toEqual([0, []]);
    test.clock.at += 1;
    expect(await test.sweep()).toBe(1);
    expect(await blocks(test)).toEqual([expect.stringMatching(/^state\/metrics\/2030-01-01\/00-/) as string]);
    test.clock.at += hour;
    await test.sweep();
    expect((await blocks(test)).length).toBe(1);
    expect((await test.metrics.rollups(test.user, { from: "2030-01-01T00:00:00Z" })).items).toEqual([
      { metric_date: "2030-01-01", hour: 0, rows: 5, state: "sealed", sealed_at: "2030-01-01T01:05:00.000Z" },
      { metric_date: "2030-01-01", hour: 1, rows: 4, state: "open", sealed_at: null },
    ]);
  });

  it("a late row makes the block another; the one before it is never used and is removed", async () => {
    const test = await openTestSeries({}, sealing);
    await test.metrics.ingest(test.user, firstHour);
    test.clock.at += 2 * hour;
    await test.sweep();
    const [before] = await blocks(test);
    await test.metrics.ingest(test.user, [metric("late", 30, 100)]);
    expect(await sum(test)).toBe(110);
    expect(await sum({ ...test, ...test.again() })).toBe(110);
    const after = await blocks(test);
    expect(after.length).toBe(1);
    expect(after[0]).not.toBe(before);
  });

  it("a day that was deleted and filled again with as many rows does not get its old block back", async () => {
    const test = await openTestSeries({}, sealing);
    await test.metrics.ingest(test.user, firstHour);
    test.clock.at += 2 * hour;
    await test.sweep();
    const kept = await test.objects.get(test.user.scope, (await blocks(test))[0] as string);
    await test.items.deletePartition(test.user.scope, "agent-metrics", ["2030-01-01"]);
    expect(await sum(test)).toBe(0);
    await test.metrics.ingest(
      test.user,
      firstHour.map((row) => ({ ...row, value: row.value + 1 })),
    );
    expect(kept).toBeDefined();
    expect(await sum(test)).toBe(15);
    expect(await sum({ ...test, ...test.again() })).toBe(15);
  });

  it("a broken block is told, thrown away, and made anew", async () => {
    const test = await openTestSeries({}, sealing);
    await test.metrics.ingest(test.user, firstHour);
    test.clock.at += 2 * hour;
    await test.sweep();
    const [key] = (await blocks(test)) as [string];
    await test.objects.put(test.user.scope, key, Buffer.from("PNKBLOCKrubbish"));
    expect(await sum({ ...test, ...test.again() })).toBe(10);
    expect(test.lines.join("\n")).toContain("rebuilt from its rows");
    const file = (await test.objects.get(test.user.scope, key)) as Uint8Array;
    expect(file.length).toBeGreaterThan(200);
  });

  it.each(["put before", "put after", "list", "delete"])(
    "a process that stops while it seals (%s) leaves nothing wrong behind",
    async (where) => {
      const test = await openTestSeries({}, sealing);
      await test.metrics.ingest(test.user, firstHour);
      test.clock.at += 2 * hour;
      if (where === "delete") {
        await test.sweep();
        await test.metrics.ingest(test.user, [metric("late", 30, 100)]);
      }
      const dying = test.again({ objects: failing(test.objects, where) }).metrics;
      const wanted = where === "delete" ? 110 : 10;
      // What cannot be stored is still an answer.
      expect(await sum({ metrics: dying, user: test.user })).toBe(wanted);
      expect(test.lines.join("\n")).toContain("was not stored");
      await test.metrics.ingest(test.user, [metric("later", 31, 1000)]);
      expect(await sum(test)).toBe(wanted + 1000);
      expect(await sum({ ...test, ...test.again() })).toBe(wanted + 1000);
      expect((await blocks(test)).length).toBe(1);
    },
  );

  it("a row that comes between the two readings of the stamp keeps the block from being stored", async () => {
    const test = await openTestSeries({}, sealing);
    await test.metrics.ingest(test.user, firstHour);
    test.clock.at += 2 * hour;
    let came = false;
    const items = new Proxy(test.items, {
      get: (target, property) => {
        const method: unknown = Reflect.get(target, property, target);
        if (typeof method !== "function") return method;
        if (property === "defaultTtl") return method.bind(target) as unknown;
        return async (...given: unknown[]) => {
          const result: unknown = await Reflect.apply(method, target, given);
          if (property === "query" && !came) {
            came = true;
            await test.metrics.ingest(test.user, [metric("between", 59, 7)]);
          }
          return result;
        };
      },
    });
    const other = test.again({ items }).metrics;
    expect(await sum({ metrics: other, user: test.user })).toBe(10);
    expect(came).toBe(true);
    expect(await blocks(test)).toEqual([]);
    expect(await sum({ metrics: other, user: test.user })).toBe(17);
    expect((await blocks(test)).length).toBe(1);
  });

  it("when all rows of a day have expired, its blocks and companions go; a day that keeps rows is looked at again", async () => {
    const test = await openTestSeries({}, sealing);
    await test.metrics.ingest(test.user, firstHour);
    await test.metrics.ingest(test.user, [{ ...metric("kept", 24 * 60, 1), ttl: -1 }]);
    test.clock.at += 2 * hour;
    await test.sweep();
    expect((await blocks(test)).length).toBe(1);
    test.clock.at = testStart + (180 + 4) * 24 * hour;
    await test.sweep();
    expect(await blocks(test)).toEqual([]);
    const left = async (date: string) =>
      (await test.items.query(test.user.scope, "agent-metrics", { equals: { metric_date: date } })).items.map(
        ({ id }) => id,
      );
    expect(await left("2030-01-01")).toEqual([]);
    expect(await left("2030-01-02")).toEqual(["kept", "~stamp", "~stamp-changes"]);
    expect(await test.sweep()).toBe(0);
    test.clock.at += 31 * 24 * hour;
    expect(await test.sweep()).toBe(1);
  });

  it("a block of another workspace is never read", async () => {
    const test = await openTestSeries({}, sealing);
    await test.metrics.ingest(test.user, firstHour);
    await test.metrics.ingest(
      test.stranger,
      firstHour.map((row) => ({ ...row, value: 1 })),
    );
    test.clock.at += 2 * hour;
    await test.sweep();
    expect((await test.objects.list(test.stranger.scope, "state/")).keys.length).toBe(1);
    expect(await sum({ metrics: test.again().metrics, user: test.stranger })).toBe(5);
    expect(await sum({ ...test, ...test.again() })).toBe(10);
  });
});

/** Fails at one kind of call, before or after it was done. */
function failing(objects: ObjectStore, where: string): ObjectStore {
  const [method, when] = where.split(" ");
  return new Proxy(objects, {
    get: (target, property) => {
      const own: unknown = Reflect.get(target, property, target);
      if (typeof own !== "function") return own;
      return async (...given: unknown[]) => {
        if (property === method && when !== "after") throw new PinakesError("UNAVAILABLE", "Injected.");
        const result: unknown = await Reflect.apply(own, target, given);
        if (property === method) throw new PinakesError("UNAVAILABLE", "Injected.");
        return result;
      };
    },
  });
}
