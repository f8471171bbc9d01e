/** The essentials of both series on every engine; and on DynamoDB with indexes that are late, nothing but lists is. */
import { join } from "node:path";
import type { NewMetric, NewToolInvocation } from "@pinakes/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startLagProxy } from "../../src/drivers/dynamodb/lag-proxy.ts";
import { TestStores } from "../../src/drivers/dynamodb/test-stores.ts";
import { open, type Pinakes } from "../../src/open.ts";
import type { Operation } from "../../src/ports/item-store.ts";
import { agentMetrics } from "../../src/state/series/metric-document.ts";
import { openTestSeries, TestClock, testStart, type TestSeries } from "../../src/state/series/test-series.ts";
import { useServers } from "../support/servers.ts";
import { forAllTests } from "../support/for-tests.ts";
import { itemsOf } from "../../src/runtime/pages.ts";

const hour = 3_600_000;
const iso = (at: number) => new Date(at).toISOString();
const metric = (i: number, more: Partial<NewMetric> = {}): NewMetric => ({
  id: `m${i}`,
  agent_id: `a${i % 3}`,
  metric_type: "latency",
  value: i,
  timestamp: iso(testStart + i * 600_000),
  ...more,
});
const call = (i: number, more: Partial<NewToolInvocation> = {}): NewToolInvocation => ({
  id: `t${i}`,
  tool_name: `tool-${i % 2}`,
  agent_id: "a1",
  session_id: "s1",
  status: "success",
  duration_ms: i,
  timestamp: iso(testStart + i * 60_000),
  ...more,
});
const days = { from: "2030-01-01T00:00:00Z", to: "2030-01-05T00:00:00Z" };

const { postgres, dynamo } = useServers();

describe.each([
  ["memory", () => "memory:"],
  ["SQLite", () => undefined],
  ["PostgreSQL", postgres],
  ["DynamoDB", () => dynamo("series")],
])("on %s", (_, address) => {
  const dir = temporaryFolder("series");
  let pinakes: Pinakes;
  let test: TestSeries;
  beforeAll(async () => {
    const [clock, items] = [new TestClock(), address()];
    pinakes = await open({
      dir,
      clock,
      background: false,
      ...(items === undefined ? {} : { items, objects: `file:${join(dir, "objects")}` }),
    });
    test = await openTestSeries({ clock, items: pinakes.items, objects: pinakes.objects }, { sealRowsMin: 2 });
  });
  afterAll(async () => {
    await pinakes.close();
  });

  it("R-AGT-34 R-AGT-38 R-AGT-39 metrics go in once, come in the order of time over days, and add up before and after sealing", async () => {
    const { metrics, user } = test;
    const lines = [...Array.from({ length: 300 }, (_unused, i) => metric(i)), metric(7, { value: -1 })];
    expect(await metrics.ingest(user, lines)).toMatchObject({
      accepted: 300,
      failed: 1,
      lines: [{ line: 301, status: 409 }],
    });
    expect(await metrics.ingest(user, lines)).toMatchObject({ accepted: 0, duplicates: 300, failed: 1 });
    const walk = async () => {
      return Array.fromAsync(
        itemsOf((cursor) =>
          metrics.list(user, {
            agent_id: "a1",
            from: iso(testStart + 24 * hour),
            order: "desc",
            limit: 30,
            cursor,
          }),
        ),
        ({ value }) => value,
      );
    };
    await expect.poll(walk).toEqual(
      Array.from({ length: 300 }, (_unused, i) => i)
        .filter((i) => i % 3 === 1 && i >= 144)
        .toReversed(),
    );
    const sum = async () =>
      (await metrics.aggregate(user, { ...days, aggregates: ["sum", "p95"], group_by: ["agent_id"] })).items.map(
        ({ values }) => [values.sum, values.p95],
      );
    const wanted = [0, 1, 2].map((agent) => {
      const values = Array.from({ length: 100 }, (_unused, i) => 3 * i + agent);
      return [values.reduce((total, value) => total + value, 0), values[94]];
    });
    expect(await sum()).toEqual(wanted);
    test.clock.at = testStart + 72 * hour;
    await expect
      .poll(async () => (await test.sweep(), (await test.objects.list(user.scope, "state/metrics/")).keys.length))
      .toBe(50);
    expect(await sum()).toEqual(wanted);
    test.clock.at = testStart;
  });

  it("R-AGT-39 1,000 and more go in with one call, again they change nothing, and what is wrong is told line by line", async () => {
    const { metrics, user } = test;
    const many = Array.from({ length: 1_100 }, (_unused, i) =>
      metric(i, { id: `many-${i}`, timestamp: iso(testStart - 48 * hour + i * 1_000) }),
    );
    const lines = [
      ...many.slice(0, 500),
      { agent_id: "a1" } as never,
      ...many.slice(500),
      { ...(many[7] as NewMetric), value: -1 },
    ];
    const failed = [
      { line: 501, status: 400 },
      { line: 1_102, status: 409 },
    ];
    expect(await metrics.ingest(user, lines)).toMatchObject({
      accepted: 1_100,
      duplicates: 0,
      failed: 2,
      lines: failed,
    });
    expect(await metrics.ingest(user, lines)).toMatchObject({
      accepted: 0,
      duplicates: 1_100,
      failed: 2,
      lines: failed,
    });
    const { rows_aggregated } = await metrics.aggregate(user, {
      aggregates: ["count"],
      from: iso(testStart - 49 * hour),
      to: iso(testStart - 47 * hour),
    });
    expect(rows_aggregated).toBe(1_100);
  });

  it("custom types and dimensions add up before and after sealing, and their names have a limit", async () => {
    const { metrics, user, admin } = test;
    const at = (i: number) => iso(testStart - 96 * hour + i * 60_000);
    const own = (i: number): NewMetric =>
      metric(i, {
        id: `own-${i}`,
        metric_type: "custom.faithfulness",
        timestamp: at(i),
        dimensions: { region: i % 2 === 0 ? "eu" : "us" },
      });
    const lines = [
      ...Array.from({ length: 20 }, (_unused, i) => own(i)),
      metric(20, { id: "own-20", timestamp: at(20), metric_type: "speed" as never }),
    ];
    expect(await metrics.ingest(user, lines)).toMatchObject({
      accepted: 20,
      failed: 1,
      lines: [{ line: 21, status: 400 }],
    });
    const query = {
      from: at(0),
      to: at(60),
      aggregates: ["sum", "p95"],
      filter: { metric_type: "custom.faithfulness" },
    } as const;
    const byRegion = async (asked = metrics) =>
      (await asked.aggregate(user, { ...query, group_by: ["dimensions.region"] })).items.map(({ group, values }) => [
        group["dimensions.region"],
        values,
      ]);
    const wanted = [
      ["eu", { sum: 90, p95: 18 }],
      ["us", { sum: 100, p95: 19 }],
    ];
    expect(await byRegion()).toEqual(wanted);
    test.clock.at = testStart + hour;
    await expect
      .poll(
        async () => (
          await test.sweep(),
          (await test.objects.list(user.scope, "state/metrics/2029-12-28/")).keys.length
        ),
      )
      .toBe(1);
    test.clock.at = testStart;
    expect(await byRegion(test.again().metrics)).toEqual(wanted);
    // Two processes that bring new names at once; and one more than there may be.
    const named = (name: string) => metric(0, { id: name, metric_type: `custom.${name}` });
    const [one, other] = await Promise.all(
      ["a", "b"].map((letter, i) =>
        (i === 0 ? metrics : test.again().metrics).ingest(
          user,
          Array.from({ length: 100 }, (_unused, n) => named(`${letter}${n}`)),
        ),
      ),
    );
    expect([(one?.accepted ?? 0) + (other?.accepted ?? 0), (one?.failed ?? 0) + (other?.failed ?? 0)]).toEqual([
      199, 1,
    ]);
    const { types, dimensions } = await metrics.names(user);
    expect([types.length, dimensions]).toEqual([200, ["dimensions.region"]]);
    await metrics.forgetName(admin, "dimensions.region");
    await expect(metrics.forgetName(admin, "dimensions.region")).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await byRegion()).toEqual(wanted);
    expect(await metrics.names(test.stranger)).toMatchObject({ types: [], dimensions: [] });
  });

  it("R-AGT-40 R-AGT-43 R-AGT-44 the tool log is redacted, chained, found and exported", async () => {
    const { tools, user, admin } = test;
    await tools.putRule(admin, { tool_name: "tool-1", sensitive: true });
    await tools.putSettings(admin, { hash_chain: true });
    const lines = Array.from({ length: 120 }, (_unused, i) => call(i, { input_args: { secret: `s${i}` } }));
    await Promise.all([tools.ingest(user, lines), test.again().tools.ingest(user, lines)]);
    expect(await tools.verifyChain(user, "2030-01-01")).toMatchObject({ entries: 120, intact: true });
    expect((await tools.get(user, "2030-01-01", "t1")).input_args).toEqual({});
    expect((await tools.get(user, "2030-01-01", "t2")).input_args).toEqual({ secret: "s2" });
    await expect
      .poll(async () =>
        (await tools.list(user, { tool_name: "tool-1", order: "asc", limit: 1000 })).items.map(
          ({ duration_ms }) => duration_ms,
        ),
      )
      .toEqual(Array.from({ length: 60 }, (_unused, i) => 2 * i + 1));
    await expect.poll(async () => (await Array.fromAsync(tools.export(user, { format: "csv" }))).length).toBe(121);
    expect((await tools.aggregate(user, { ...days, aggregates: ["count"] })).rows_aggregated).toBe(120);
    await test.items.write(user.scope, "tool-invocations", ["2030-01-01"], {
      op: "patch",
      id: "t5",
      patch: [{ op: "set", path: "/duration_ms", value: 0 }],
    });
    expect(await tools.verifyChain(user, "2030-01-01")).toMatchObject({ intact: false, broken_at: "t5" });
    expect((await tools.list(test.stranger)).items).toEqual([]);
  });
});

describe("on DynamoDB with late indexes", () => {
  const proxy = forAllTests(() => startLagProxy({ lagMs: 0 }));

  it("aggregates and blocks are right at once, however late the indexes are", async () => {
    const clock = new TestClock();
    await using items = await new TestStores(() => proxy.endpoint).open({ clock, indexWaitMsMax: 100 });
    const test = await openTestSeries({ clock, items }, { sealRowsMin: 2 });
    const count = async (metrics = test.again().metrics) =>
      (await metrics.aggregate(test.user, { ...days, aggregates: ["count"] })).rows_aggregated;
    proxy.lag(3_600_000);
    await test.metrics.ingest(
      test.user,
      Array.from({ length: 20 }, (_unused, i) => metric(i)),
    );
    expect((await test.metrics.list(test.user)).items).toEqual([]);
    expect(await count()).toBe(20);
    clock.at = testStart + 24 * hour;
    expect(await count()).toBe(20);
    expect((await test.objects.list(test.user.scope, "state/metrics/")).keys.length).toBe(4);
    const removal: Operation = { op: "delete", id: "m3" };
    await items.batch(
      test.user.scope,
      "agent-metrics",
      ["2030-01-01"],
      [removal, ...(agentMetrics.companions?.([removal]) ?? [])],
    );
    expect(await count()).toBe(19);
    await test.metrics.ingest(test.user, [metric(21)]);
    expect(await count()).toBe(20);
    proxy.lag(0);
    expect(await count()).toBe(20);
  });
});
