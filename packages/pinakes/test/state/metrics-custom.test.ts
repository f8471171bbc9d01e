/** Types and dimensions of one's own: what is accepted, how they are asked for, and how many there may be. */
import { readFile } from "node:fs/promises";
import { hash } from "node:crypto";
import type { LineResult, MetricAggregate, NewMetric } from "@pinakes/client";
import { describe, expect, it } from "vitest";
import { decodeBlock, encodeBlock } from "../../src/state/series/aggregate/blocks.ts";
import { ColumnsBuilder } from "../../src/state/series/aggregate/columns.ts";
import { customLimits } from "../../src/state/series/custom-names.ts";
import { metricSeries } from "../../src/state/series/metric-document.ts";
import { openTestSeries, testStart, type TestSeries } from "../../src/state/series/test-series.ts";

const metric = (more: Partial<NewMetric> = {}): NewMetric => ({
  agent_id: "a1",
  metric_type: "custom.faithfulness",
  value: 1,
  ...more,
});
const hour = 3_600_000;
const day = { from: "2030-01-01T00:00:00Z", to: "2030-01-02T00:00:00Z" };
const numbered = (count: number, name: (i: number) => string): readonly string[] =>
  Array.from({ length: count }, (_, i) => name(i));

async function groups({ metrics, user }: Pick<TestSeries, "metrics" | "user">, query: Partial<MetricAggregate>) {
  const { items } = await metrics.aggregate(user, { ...day, aggregates: ["sum"], ...query });
  return items.map(({ group, values }) => [...Object.values(group), values.sum]);
}

async function refusal(test: TestSeries, line: object): Promise<LineResult> {
  const { lines, accepted } = await test.metrics.ingest(test.user, [line as NewMetric]);
  expect(accepted).toBe(0);
  return lines[0] as LineResult;
}

describe("custom types", () => {
  it("are kept, listed and aggregated as the fixed ones are, beside them", async () => {
    const test = await openTestSeries();
    const { metrics, user } = test;
    const rows = [
      metric({ value: 0.5, timestamp: "2030-01-01T00:00:00Z" }),
      metric({ value: 0.9, timestamp: "2030-01-01T00:00:01Z" }),
      metric({ metric_type: "cost", value: 3 }),
      metric({ metric_type: `custom.${"x".repeat(63)}` }),
    ];
    expect(await metrics.ingest(user, rows)).toMatchObject({ accepted: 4, failed: 0 });
    expect(
      (await metrics.list(user, { metric_type: "custom.faithfulness", agent_id: "a1", order: "asc" })).items.map(
        ({ value }) => value,
      ),
    ).toEqual([0.5, 0.9]);
    const { items } = await metrics.aggregate(user, {
      aggregates: ["count", "sum", "avg", "min", "max", "p50", "p99"],
      filter: { metric_type: "custom.faithfulness" },
      ...day,
    });
    expect(items).toEqual([
      { bucket: null, group: {}, values: { count: 2, sum: 1.4, avg: 0.7, min: 0.5, max: 0.9, p50: 0.5, p99: 0.9 } },
    ]);
    expect(await groups(test, { group_by: ["metric_type"] })).toEqual([
      ["cost", 3],
      ["custom.faithfulness", 1.4],
      [`custom.${"x".repeat(63)}`, 1],
    ]);
  });

  it.each([
    "faithfulness",
    "custom.",
    "custom.Faith",
    "custom.9",
    "custom._x",
    "custom.a.b",
    "custom.a-b",
    `custom.${"x".repeat(64)}`,
    "Custom.x",
    5,
    null,
  ])("R-AGT-36 %j is none, and the answer names what is allowed", async (metric_type) => {
    const test = await openTestSeries();
    const { status, error } = await refusal(test, { ...metric(), metric_type });
    expect([status, error?.code]).toEqual([400, "INVALID"]);
    for (const allowed of ["metric_type", "latency", "tool_usage", "custom.<name>"])
      expect(error?.detail).toContain(allowed);
    expect(await test.metrics.names(test.user)).toMatchObject({ types: [] });
  });
});

describe("custom dimensions", () => {
  const rows: readonly NewMetric[] = [
    metric({ value: 1, dimensions: { region: "eu", tier: "gold", model: "m1" } }),
    metric({ value: 2, dimensions: { region: "us", tier: "gold", model: "m2" } }),
    metric({ value: 4, dimensions: { region: "eu", model: "m2" } }),
    metric({ value: 8 }),
  ];

  it("group and filter, with the fixed ones and with each other; rows without one are the group null", async () => {
    const test = await openTestSeries();
    await test.metrics.ingest(test.user, rows);
    expect(await groups(test, { group_by: ["dimensions.region"] })).toEqual([
      [null, 8],
      ["eu", 5],
      ["us", 2],
    ]);
    expect(
      await groups(test, { group_by: ["dimensions.tier", "model"], filter: { "dimensions.region": "eu" } }),
    ).toEqual([
      [null, "m2", 4],
      ["gold", "m1", 1],
    ]);
    expect(await groups(test, { filter: { "dimensions.region": null } })).toEqual([[8]]);
    expect(
      await groups(test, { filter: { "dimensions.region": "eu", model: "m2", metric_type: "custom.faithfulness" } }),
    ).toEqual([[4]]);
    expect(await groups(test, { filter: { "dimensions.nowhere": null } })).toEqual([[15]]);
    expect(await groups(test, { filter: { "dimensions.nowhere": "x" } })).toEqual([]);
    expect(await groups(test, { group_by: ["dimensions.nowhere"] })).toEqual([[null, 15]]);
  });

  it.each([
    ["dimensions.Region", "dimensions.<name>"],
    ["dimensions.", "dimensions.<name>"],
    ["dimensions.a.b", "dimensions.<name>"],
    ["region", "dimensions.<name>"],
    ["dimensions.model", "write model"],
  ])("a query by %s is refused with what to write", async (name, words) => {
    const { metrics, user } = await openTestSeries();
    for (const query of [{ group_by: [name] }, { filter: { [name]: "x" } }])
      await expect(
        metrics.aggregate(user, { aggregates: ["count"], ...query } as MetricAggregate),
      ).rejects.toMatchObject({
        code: "INVALID",
        detail: expect.stringContaining(words) as string,
      });
  });

  it("R-AGT-10 what has another form is no dimension and is kept as it is", async () => {
    const test = await openTestSeries();
    const dimensions = { Region: "eu", "http.method": "GET", retries: 3, nested: { a: "b" }, tier: "gold" } as never;
    await test.metrics.ingest(test.user, [metric({ dimensions })]);
    expect((await test.metrics.list(test.user)).items[0]?.dimensions).toMatchObject(dimensions);
    expect(await groups(test, { group_by: ["dimensions.retries", "dimensions.tier"] })).toEqual([[null, "gold", 1]]);
    expect((await test.metrics.names(test.user)).dimensions).toEqual(["dimensions.tier"]);
  });

  it("16 of a row are accepted, and 17 are not; 256 characters of a value, and not 257", async () => {
    const test = await openTestSeries();
    const of = (count: number) =>
      Object.fromEntries(numbered(count, (i) => `d${i}`).map((name) => [name, "x".repeat(256)]));
    expect(
      await test.metrics.ingest(test.user, [metric({ dimensions: { ...of(16), model: "m", session_id: "s" } })]),
    ).toMatchObject({ accepted: 1 });
    expect((await refusal(test, metric({ dimensions: of(17) }))).error).toMatchObject({
      code: "INVALID",
      detail: expect.stringContaining("at most 16") as string,
    });
    expect((await refusal(test, metric({ dimensions: { d0: "x".repeat(257) } }))).error).toMatchObject({
      code: "INVALID",
      detail: expect.stringContaining("dimensions.d0: must be at most 256 characters") as string,
    });
  });
});

describe("how many there may be", () => {
  const types = numbered(customLimits.typesMax, (i) => `t${i}`).map((name) =>
    metric({ metric_type: `custom.${name}` }),
  );
  const dimensioned = numbered(customLimits.dimensionsMax, (i) => `d${i}`).map((name) =>
    metric({ dimensions: { [name]: "x" } }),
  );

  it("200 types of a workspace, and not one more; the other lines are stored, and other workspaces have their own", async () => {
    const test = await openTestSeries();
    const { metrics, user } = test;
    const lines = [
      ...types,
      metric({ id: "over", metric_type: "custom.over" }),
      metric({ metric_type: "custom.t5" }),
      metric({ metric_type: "cost" }),
    ];
    const result = await metrics.ingest(user, lines);
    expect(result).toMatchObject({
      accepted: 202,
      failed: 1,
      lines: [{ line: 201, status: 413, id: "over", error: { code: "LIMIT_EXCEEDED" } }],
    });
    expect(result.lines[0]?.error?.detail).toContain("200 custom types");
    expect((await metrics.names(user)).types.length).toBe(200);
    expect(await test.again().metrics.ingest(user, [metric({ metric_type: "custom.over" })])).toMatchObject({
      accepted: 0,
      failed: 1,
    });
    expect(await metrics.ingest(test.stranger, [metric({ metric_type: "custom.over" })])).toMatchObject({
      accepted: 1,
    });
    expect(await metrics.names(test.stranger)).toEqual({
      types: ["custom.over"],
      dimensions: [],
      types_max: 200,
      dimensions_max: 100,
    });
  });

  it("100 names of dimensions, and not one more; a line that does not fit takes no name", async () => {
    const test = await openTestSeries();
    const { metrics, user } = test;
    const over = metric({ metric_type: "custom.unused", dimensions: { d1: "x", over: "y" } });
    const { lines, accepted } = await metrics.ingest(user, [
      ...dimensioned,
      over,
      metric({ dimensions: { d1: "x", d99: "x" } }),
    ]);
    expect([accepted, lines.map(({ line, error }) => [line, error?.code])]).toEqual([101, [[101, "LIMIT_EXCEEDED"]]]);
    expect(lines[0]?.error?.detail).toContain("100 names of custom dimensions");
    const { dimensions, types: known } = await metrics.names(user);
    expect([dimensions.length, known]).toEqual([100, ["custom.faithfulness"]]);
  });

  it("all or nothing: a name that does not fit means that no line is stored and no name taken", async () => {
    const { metrics, user } = await openTestSeries();
    const result = await metrics.ingest(user, [...dimensioned, metric({ dimensions: { over: "y" } })], {
      allOrNothing: true,
      report: "all",
    });
    expect(result).toMatchObject({ accepted: 0, failed: 1 });
    expect(result.lines.map(({ status }) => status)).toEqual([...dimensioned.map(() => 424), 413]);
    expect((await metrics.list(user)).items).toEqual([]);
    expect(await metrics.names(user)).toMatchObject({ types: [], dimensions: [] });
    expect(await metrics.ingest(user, dimensioned, { allOrNothing: true })).toMatchObject({ accepted: 100 });
  });

  it("of two that bring new names at once none is lost, and the limit holds", async () => {
    const test = await openTestSeries();
    const other = test.again().metrics;
    const named = (name: string) => metric({ metric_type: `custom.${name}` });
    const half = customLimits.typesMax / 2 + 10;
    // So that both change a list that is there.
    await test.metrics.ingest(test.user, [named("first")]);
    const results = await Promise.all([
      test.metrics.ingest(test.user, numbered(half, (i) => `a${i}`).map(named)),
      other.ingest(test.user, numbered(half, (i) => `b${i}`).map(named)),
    ]);
    expect(1 + results[0].accepted + results[1].accepted).toBe(customLimits.typesMax);
    expect((await other.names(test.user)).types.length).toBe(customLimits.typesMax);
  });

  it("an admin makes room; rows of a forgotten name can still be asked for, and a new row takes the name again", async () => {
    const test = await openTestSeries();
    const { metrics, user, admin } = test;
    await metrics.ingest(user, [...types, ...dimensioned]);
    await metrics.ingest(user, [metric({ metric_type: "custom.t7", value: 7, dimensions: { d7: "seven" } })]);
    await expect(metrics.forgetName(user, "custom.t7")).rejects.toMatchObject({ code: "FORBIDDEN" });
    await metrics.forgetName(admin, "custom.t7");
    await metrics.forgetName(admin, "dimensions.d7");
    for (const name of ["custom.t7", "dimensions.d7", "cost", "custom.", "t8", "d8"])
      await expect(metrics.forgetName(admin, name)).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await groups(test, { filter: { metric_type: "custom.t7", "dimensions.d7": "seven" } })).toEqual([[7]]);
    expect(await metrics.ingest(user, [metric({ metric_type: "custom.t7", dimensions: { d7: "x" } })])).toMatchObject({
      accepted: 1,
    });
    expect(await metrics.ingest(user, [metric({ metric_type: "custom.other" })])).toMatchObject({
      accepted: 0,
      failed: 1,
    });
  });
});

describe("sealed hours", () => {
  const sealing = { sealRowsMin: 5 };
  const blockName = (key: string) => ({
    series: "metrics",
    date: "2030-01-01",
    hour: 0,
    stamp: key.slice(key.indexOf("/00-") + 4),
  });
  const blocks = async (test: TestSeries) =>
    (await test.objects.list(test.user.scope, "state/")).keys.map(({ key }) => key);

  it("10,000 different values of a custom dimension in an answer, and not one more", async () => {
    const test = await openTestSeries({}, sealing);
    await test.metrics.ingest(
      test.user,
      Array.from({ length: 5 }, () => metric()),
    );
    test.clock.at += 2 * hour;
    await test.sweep();
    const [key] = (await blocks(test)) as [string];
    // The block stands for the rows, so that they need not be sent.
    const withValues = async (count: number) => {
      const builder = new ColumnsBuilder(metricSeries, testStart);
      for (let i = 0; i < count; i += 1)
        builder.add({
          id: "x",
          etag: "e",
          modifiedAt: testStart,
          document: { timestamp: "2030-01-01T00:00:00Z", value: 1, dimensions: { customer: `c${i}` } },
        });
      await test.objects.put(test.user.scope, key, encodeBlock(blockName(key), builder.finish()));
      return test.again().metrics;
    };
    const query = { ...day, aggregates: ["count"], group_by: ["dimensions.customer"] } as const;
    expect((await (await withValues(10_000)).aggregate(test.user, query)).items.length).toBe(10_000);
    const more = await withValues(10_001);
    await expect(more.aggregate(test.user, query)).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
      detail: expect.stringContaining("dimensions.customer has more than 10000 different values") as string,
    });
    expect(
      (await more.aggregate(test.user, { ...query, filter: { "dimensions.customer": "c10000" } })).items.length,
    ).toBe(1);
  });

  it("64 names of an hour are in its block; those beyond are read from the rows, and the answer is the same", async () => {
    const test = await openTestSeries({}, sealing);
    const names = numbered(70, (i) => `d${String(i).padStart(2, "0")}`);
    // The first 64 twice: a block keeps the names that most rows have.
    const rows = [...names, ...names.slice(0, customLimits.blockDimensionsMax)].map((name, i) =>
      metric({ id: `r${i}`, dimensions: { [name]: "x" } }),
    );
    await test.metrics.ingest(test.user, rows);
    test.clock.at += 2 * hour;
    await test.sweep();
    const [key, ...others] = (await blocks(test)) as [string];
    expect(others).toEqual([]);
    const file = (await test.objects.get(test.user.scope, key)) as Uint8Array;
    const { dimensions, omitted } = decodeBlock(blockName(key), file);
    expect(Object.keys(dimensions).filter((name) => name.startsWith("dimensions.")).length).toBe(64);
    expect(omitted).toEqual(names.slice(64).map((name) => `dimensions.${name}`));
    const fresh = { metrics: test.again().metrics, user: test.user };
    for (const name of names)
      expect(await groups(fresh, { filter: { [`dimensions.${name}`]: "x" } }), name).toEqual([
        [names.indexOf(name) < 64 ? 2 : 1],
      ]);
    // What was read from the rows does not push the block aside.
    expect(Buffer.from((await test.objects.get(test.user.scope, key)) as Uint8Array).equals(file)).toBe(true);
  });

  it("a block of format 1 is read; asked for a custom dimension it counts as absent and is made anew", async () => {
    const test = await openTestSeries({}, sealing);
    const rows = Array.from({ length: 5 }, (_, i) =>
      metric({
        id: `m${i}`,
        metric_type: "cost",
        value: i,
        timestamp: new Date(testStart + i * 60_000).toISOString(),
        dimensions: { model: i % 2 === 0 ? "small" : "large", region: i < 3 ? "eu" : "us" },
      }),
    );
    await test.metrics.ingest(test.user, rows);
    test.clock.at += 2 * hour;
    await test.sweep();
    const [key] = (await blocks(test)) as [string];
    const old = await formatOne(blockName(key).stamp);
    await test.objects.put(test.user.scope, key, old);
    const fresh = { metrics: test.again().metrics, user: test.user };
    expect(await groups(fresh, { group_by: ["model"] })).toEqual([
      ["large", 4],
      ["small", 6],
    ]);
    expect(await test.objects.get(test.user.scope, key)).toEqual(new Uint8Array(old));
    expect(await groups(fresh, { group_by: ["dimensions.region"] })).toEqual([
      ["eu", 3],
      ["us", 7],
    ]);
    const anew = (await test.objects.get(test.user.scope, key)) as Uint8Array;
    expect(Buffer.from(anew).toString("latin1")).toContain('"format":2');
    expect(
      await groups({ ...test, ...test.again() }, { group_by: ["dimensions.region"], filter: { model: "small" } }),
    ).toEqual([
      ["eu", 2],
      ["us", 4],
    ]);
    expect(test.lines).toEqual([]);
  });
});

/** The block that an earlier release wrote of the rows above, under another stamp: the header says it, and the hash covers it. */
async function formatOne(stamp: string): Promise<Buffer> {
  const file = await readFile(new URL("../fixtures/state/block-format-1.bin", import.meta.url));
  expect(file.toString("latin1")).toContain('"format":1');
  const length = file.readUInt32LE(8);
  const header = Buffer.from(
    file
      .subarray(16, 16 + length)
      .toString("utf8")
      .replace('"stamp":"format-1"', `"stamp":"${stamp}"`)
      .trimEnd(),
    "utf8",
  );
  const padded = Buffer.concat([header, Buffer.alloc(-header.length & 7, 0x20)]);
  const prefix = Buffer.from(file.subarray(0, 16));
  prefix.writeUInt32LE(padded.length, 8);
  const body = Buffer.concat([prefix, padded, file.subarray(16 + length, file.length - 32)]);
  return Buffer.concat([body, hash("sha256", body, "buffer")]);
}
