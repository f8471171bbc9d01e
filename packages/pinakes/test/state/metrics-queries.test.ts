/** Lists over days in the order of time, and what an aggregate may be asked. */
import type { Metric, MetricAggregate, MetricQuery, NewMetric, Stored } from "@pinakes/client";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dayMs } from "../../src/state/series/series.ts";
import { openTestSeries, testStart, type TestSeries } from "../../src/state/series/test-series.ts";
import { itemsOf, pagesOf } from "../../src/runtime/pages.ts";

const hour = 3_600_000;
const metric = (id: string, timestamp: string, more: Partial<NewMetric> = {}): NewMetric => ({
  id,
  agent_id: "a1",
  metric_type: "latency",
  value: 1,
  timestamp,
  ...more,
});

async function walk(test: TestSeries, query: MetricQuery, caller = test.user): Promise<readonly Stored<Metric>[]> {
  return Array.fromAsync(itemsOf((cursor) => test.metrics.list(caller, { ...query, cursor })));
}

describe("lists", () => {
  it("R-AGT-38 a range over several days comes in the order of time, in pages, up and down, filtered", async () => {
    const test = await openTestSeries();
    const rows = Array.from({ length: 300 }, (_, i) =>
      metric(
        `m-${String((i * 7) % 300).padStart(3, "0")}`,
        new Date(testStart + ((i * 7) % 300) * 20 * 60_000).toISOString(),
        {
          agent_id: `a${i % 3}`,
          metric_type: i % 2 === 0 ? "latency" : "cost",
        },
      ),
    );
    await test.metrics.ingest(test.user, rows);
    const inOrder = rows.toSorted((a, b) => ((a.timestamp as string) < (b.timestamp as string) ? -1 : 1));
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          from: fc.option(fc.integer({ min: 0, max: 6000 }), { nil: undefined }),
          minutes: fc.option(fc.integer({ min: 1, max: 6000 }), { nil: undefined }),
          agent_id: fc.option(fc.constantFrom("a0", "a1", "none"), { nil: undefined }),
          metric_type: fc.option(fc.constantFrom("latency" as const, "cost" as const), { nil: undefined }),
          order: fc.option(fc.constantFrom("asc" as const, "desc" as const), { nil: undefined }),
          limit: fc.integer({ min: 1, max: 120 }),
        }),
        async ({ from, minutes, order, ...query }) => {
          const start = from === undefined ? undefined : testStart + from * 60_000;
          const end = minutes === undefined ? undefined : (start ?? testStart) + minutes * 60_000;
          const got = await walk(test, { ...query, order, from: iso(start), to: iso(end) });
          const wanted = inOrder.filter(
            ({ timestamp, agent_id, metric_type }) =>
              Date.parse(timestamp as string) >= (start ?? 0) &&
              Date.parse(timestamp as string) < (end ?? Infinity) &&
              (query.agent_id ?? agent_id) === agent_id &&
              (query.metric_type ?? metric_type) === metric_type,
          );
          const ids = wanted.map(({ id }) => id);
          expect(got.map(({ id }) => id)).toEqual(order === "asc" ? ids : ids.toReversed());
        },
      ),
      { numRuns: 60 },
    );
  });

  it("times of different precision are found by what they mean, not by how they are written", async () => {
    const test = await openTestSeries();
    const times = [
      "2030-01-01T00:00:29.999Z",
      "2030-01-01T00:00:30Z",
      "2030-01-01T00:00:30.5Z",
      "2030-01-01T00:00:30.750Z",
      "2030-01-01T00:00:31Z",
    ];
    await test.metrics.ingest(
      test.user,
      times.map((timestamp) => metric(timestamp.replaceAll(/[:.]/g, "-"), timestamp)),
    );
    const found = async (from: string, to: string) =>
      (await walk(test, { from, to, order: "asc" })).map(({ timestamp }) => timestamp).toSorted();
    expect(await found("2030-01-01T00:00:30Z", "2030-01-01T00:00:31Z")).toEqual(times.slice(1, 4).toSorted());
    expect(await found("2030-01-01T00:00:30.5Z", "2030-01-01T00:00:30.750Z")).toEqual(["2030-01-01T00:00:30.5Z"]);
    expect(await found("2030-01-01T00:00:30.501Z", "2030-01-01T00:00:31.001Z")).toEqual(times.slice(3).toSorted());
    const count = async (from: string, to: string) =>
      (await test.metrics.aggregate(test.user, { from, to, aggregates: ["count"] })).rows_aggregated;
    expect(await count("2030-01-01T00:00:30Z", "2030-01-01T00:00:31Z")).toBe(3);
    expect(await count("2030-01-01T00:00:30.5Z", "2030-01-01T00:00:30.750Z")).toBe(1);
  });

  it("R-AGT-38 the answer says which time it is about: without from the 24 hours before to, without both those before now", async () => {
    const test = await openTestSeries();
    const ago = (ms: number): string => new Date(test.clock.now() - ms).toISOString();
    await test.metrics.ingest(test.user, [metric("old", ago(3 * dayMs)), metric("new", ago(0))]);
    const ask = (query: object) => test.metrics.aggregate(test.user, { aggregates: ["count"], ...query });
    expect(await ask({})).toMatchObject({ rows_aggregated: 1, from: ago(dayMs - 1), to: ago(-1) });
    expect(await ask({ from: ago(4 * dayMs) })).toMatchObject({
      rows_aggregated: 2,
      from: ago(4 * dayMs),
      to: ago(-1),
    });
    expect(await ask({ to: ago(2 * dayMs) })).toMatchObject({
      rows_aggregated: 1,
      from: ago(3 * dayMs),
      to: ago(2 * dayMs),
    });
  });

  it("R-AGT-37 the source's composite order is one index: newest day first, then agent and type", async () => {
    const test = await openTestSeries();
    const rows = ["2030-01-01", "2030-01-02"].flatMap((date) =>
      ["b", "a"].flatMap((agent_id) =>
        (["token_usage", "cost"] as const).map((metric_type) =>
          metric(`${agent_id}-${metric_type}`, `${date}T01:00:00Z`, { agent_id, metric_type }),
        ),
      ),
    );
    await test.metrics.ingest(test.user, rows);
    const byDate = await test.items.query(test.user.scope, "agent-metrics", {
      index: "byDate",
      equals: { workspace_id: "acme" },
    });
    expect(
      byDate.items.map(({ document: { metric_date, agent_id, metric_type } }) => [metric_date, agent_id, metric_type]),
    ).toEqual(
      ["2030-01-02", "2030-01-01"].flatMap((date) =>
        ["a", "b"].flatMap((agent) => ["cost", "token_usage"].map((type) => [date, agent, type])),
      ),
    );
    const one = { workspace_id: "acme", metric_date: "2030-01-01", agent_id: "a" };
    expect(
      (await test.items.query(test.user.scope, "agent-metrics", { index: "byDate", equals: one })).items.length,
    ).toBe(2);
  });

  it("R-AGT-60 a cursor of another query, or one that was changed, is refused; limits hold", async () => {
    const test = await openTestSeries();
    await test.metrics.ingest(
      test.user,
      Array.from({ length: 5 }, (_, i) => metric(`m${i}`, `2030-01-01T00:00:0${i}Z`)),
    );
    const { next_cursor } = await test.metrics.list(test.user, { limit: 2 });
    const cursor = next_cursor as string;
    for (const wrong of [
      { cursor, agent_id: "a1" },
      { cursor, from: "2030-01-01T00:00:00Z" },
      { cursor: `${cursor.slice(0, -2)}AA` },
    ])
      await expect(test.metrics.list(test.user, wrong)).rejects.toMatchObject({ code: "INVALID" });
    await expect(test.metrics.list(test.stranger, { cursor })).rejects.toMatchObject({ code: "INVALID" });
    expect((await test.metrics.list(test.user, { limit: 1000 })).items.length).toBe(5);
    for (const limit of [0, 1001, 1.5])
      await expect(test.metrics.list(test.user, { limit })).rejects.toMatchObject({ code: "INVALID" });
    for (const wrong of [
      { from: "now" },
      { to: "2030-01-01" },
      { from: "2030-01-02T00:00:00Z", to: "2030-01-02T00:00:00Z" },
      { order: "up" as never },
    ])
      await expect(test.metrics.list(test.user, wrong)).rejects.toMatchObject({ code: "INVALID" });
  });

  it("R-AGT-49 an expired row is gone from lists at once", async () => {
    const test = await openTestSeries();
    await test.metrics.ingest(test.user, [
      metric("short", "2030-01-01T00:00:00Z", { ttl: 60 }),
      metric("long", "2030-01-01T00:00:00Z"),
    ]);
    test.clock.at += 59_999;
    expect((await walk(test, {})).length).toBe(2);
    test.clock.at += 1;
    expect((await walk(test, {})).map(({ id }) => id)).toEqual(["long"]);
    expect((await test.metrics.aggregate(test.user, { aggregates: ["count"] })).rows_aggregated).toBe(1);
  });
});

describe("aggregates", () => {
  const ask = (test: TestSeries, more: Partial<MetricAggregate> = {}) =>
    test.metrics.aggregate(test.user, { aggregates: ["count"], ...more });

  it("R-AGT-38 without a range it is the last 24 hours, this very moment included", async () => {
    const test = await openTestSeries();
    test.clock.at = testStart + 48 * hour;
    await test.metrics.ingest(test.user, [
      metric("now", new Date(test.clock.at).toISOString()),
      metric("edge", new Date(test.clock.at - 24 * hour + 1).toISOString()),
      metric("before", new Date(test.clock.at - 24 * hour).toISOString()),
    ]);
    expect((await ask(test)).rows_aggregated).toBe(2);
    expect((await ask(test, { from: "2030-01-01T00:00:00Z" })).rows_aggregated).toBe(3);
  });

  it("R-AGT-38 buckets and groups come in order, with null first and only what was asked for", async () => {
    const test = await openTestSeries();
    await test.metrics.ingest(test.user, [
      metric("m1", "2030-01-01T01:00:00Z", { value: 4, dimensions: { model: "b", tool_name: "t" } }),
      metric("m2", "2030-01-01T01:10:00Z", { value: 2, dimensions: { model: "a" } }),
      metric("m3", "2030-01-01T00:59:59.999Z", { value: 1, dimensions: { model: "b" } }),
      metric("m4", "2030-01-01T01:20:00Z", { value: 3, dimensions: { model: "b" } }),
    ]);
    const range = { from: "2030-01-01T00:00:00Z", to: "2030-01-01T02:00:00Z" };
    const { items } = await ask(test, {
      ...range,
      bucket: "hour",
      group_by: ["model", "tool_name"],
      aggregates: ["max", "p50"],
    });
    expect(items).toEqual([
      { bucket: "2030-01-01T00:00:00.000Z", group: { model: "b", tool_name: null }, values: { max: 1, p50: 1 } },
      { bucket: "2030-01-01T01:00:00.000Z", group: { model: "a", tool_name: null }, values: { max: 2, p50: 2 } },
      { bucket: "2030-01-01T01:00:00.000Z", group: { model: "b", tool_name: null }, values: { max: 3, p50: 3 } },
      { bucket: "2030-01-01T01:00:00.000Z", group: { model: "b", tool_name: "t" }, values: { max: 4, p50: 4 } },
    ]);
    expect((await ask(test, { ...range, filter: { tool_name: null } })).rows_aggregated).toBe(3);
    expect((await ask(test, { ...range, filter: { tool_name: "t", model: "b" } })).rows_aggregated).toBe(1);
    expect(await ask(test, { ...range, filter: { agent_id: "nobody" } })).toMatchObject({
      items: [],
      rows_aggregated: 0,
    });
  });

  it("a range of 400 days is answered, one of a moment more is not; so are buckets", async () => {
    const test = await openTestSeries();
    const from = "2030-01-01T00:00:00Z";
    const end = Date.parse(from) + 400 * 24 * hour;
    expect((await ask(test, { from, to: iso(end) })).rows_aggregated).toBe(0);
    await expect(ask(test, { from, to: iso(end + 1) })).rejects.toMatchObject({ code: "INVALID" });
    for (const bucket of ["minute", "hour", "day", "1m", "400d", "9600h"])
      expect((await ask(test, { bucket })).items).toEqual([]);
    for (const bucket of ["0m", "401d", "second", "-5m", "1.5h", "5", "constructor", ""])
      await expect(ask(test, { bucket })).rejects.toThrow(/bucket/);
  });

  it.each([
    { aggregates: [] },
    { aggregates: ["median"] },
    { group_by: ["colour"] },
    { filter: { colour: "red" } },
    { filter: { model: 5 } },
    { from: "2030-01-02T00:00:00Z", to: "2030-01-01T00:00:00Z" },
    { colour: "red" },
  ])("%j is refused", async (wrong) => {
    const test = await openTestSeries();
    await expect(ask(test, wrong as never)).rejects.toMatchObject({ code: "INVALID" });
  });

  it("rollups come page by page, and a wrong cursor is refused", async () => {
    const test = await openTestSeries();
    await test.metrics.ingest(
      test.user,
      Array.from({ length: 5 }, (_, i) => metric(`m${i}`, iso(testStart + i * 7 * hour) as string)),
    );
    const range = { from: "2030-01-01T00:00:00Z", to: "2030-01-03T00:00:00Z", limit: 2 };
    const hours: [string, number][] = [];
    for await (const page of pagesOf((cursor) => test.metrics.rollups(test.user, { ...range, cursor }))) {
      expect(page.items.length).toBeLessThanOrEqual(2);
      hours.push(...page.items.map(({ metric_date, hour: of }): [string, number] => [metric_date, of]));
    }
    expect(hours).toEqual([
      ["2030-01-01", 0],
      ["2030-01-01", 7],
      ["2030-01-01", 14],
      ["2030-01-01", 21],
      ["2030-01-02", 4],
    ]);
    for (const wrong of ["x", "2030-01-01T99", "2029-01-01T00"])
      await expect(test.metrics.rollups(test.user, { ...range, cursor: wrong })).rejects.toMatchObject({
        code: "INVALID",
      });
  });
});

function iso(at: number | undefined): string | undefined {
  return at === undefined ? undefined : new Date(at).toISOString();
}
