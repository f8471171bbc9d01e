/** Lists give each row once and in order, whichever index answers them, in pages of any size. */
import { join } from "node:path";
import type { NewMetric, NewToolInvocation } from "@pinakes/client";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { open, type Pinakes } from "../../src/open.ts";
import type { ItemStore, Query } from "../../src/ports/item-store.ts";
import { chooseIndex } from "../../src/state/series/list-choice.ts";
import { metricIndexes, metricSeries } from "../../src/state/series/metric-document.ts";
import { seriesLimits } from "../../src/state/series/series.ts";
import { openTestSeries, TestClock, testStart, type TestSeries } from "../../src/state/series/test-series.ts";
import { toolIndexes, toolSeries } from "../../src/state/series/tool-document.ts";
import { useServers } from "../support/servers.ts";
import { pagesOf } from "../../src/runtime/pages.ts";

const day = 86_400_000;
const iso = (at: number | undefined) => (at === undefined ? undefined : new Date(at).toISOString());
const pick = <Value>(values: readonly Value[], n: number): Value => values[n % values.length] as Value;

/** A crowded day, days with a row or none, a gap longer than one look ahead; times that are equal, and of every precision. */
const moments: readonly string[] = [
  ...Array.from({ length: 90 }, (_, i) => iso(testStart + Math.floor(i / 3) * 1_500) as string),
  ...Array.from({ length: 40 }, (_, i) => iso(testStart + (i - 20) * day + 5_000) as string),
  ...Array.from({ length: 12 }, (_, i) => iso(testStart + (70 + Math.floor(i / 4)) * day + i) as string),
  "2030-01-01T00:00:30Z",
  "2030-01-01T00:00:30.5Z",
  "2030-01-01T23:59:59.999Z",
  "2030-01-02T00:00:00Z",
  "1999-12-31T23:59:59Z",
];
const id = (i: number) => `r${String((i * 83) % moments.length).padStart(3, "0")}`;
const metrics = moments.map((timestamp, i): NewMetric & { readonly id: string; readonly timestamp: string } => ({
  id: id(i),
  agent_id: pick(["a", "a", "b"], i),
  metric_type: pick(["latency", "latency", "latency", "cost"], i),
  value: i,
  timestamp,
}));
const calls = moments.map((timestamp, i): NewToolInvocation & { readonly id: string; readonly timestamp: string } => ({
  id: id(i),
  tool_name: pick(["t", "u", "t", "t"], i),
  agent_id: pick(["a", "a", "b"], i),
  session_id: pick(["s1", "s2", "s3", "s4", "s5"], i),
  ...(i % 2 === 0 ? { workflow_id: "w" } : {}),
  status: pick(["success", "timeout", "success", "success", "success"], i),
  duration_ms: i,
  timestamp,
}));

const optional = <Value>(...values: Value[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
const paging = {
  from: fc.option(fc.oneof(fc.integer({ min: -30 * day, max: 80 * day }), fc.integer({ min: 0, max: 60_000 })), {
    nil: undefined,
  }),
  length: fc.option(fc.oneof(fc.integer({ min: 1, max: 120 * day }), fc.integer({ min: 1, max: 40_000 })), {
    nil: undefined,
  }),
  order: optional("asc" as const, "desc" as const),
  limit: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constantFrom(90, 100, 150, 1_000)),
};
const metricQuery = fc.record({
  ...paging,
  agent_id: optional("a", "b", "none"),
  metric_type: optional("latency" as const, "cost" as const, "tool_usage" as const),
});
const toolQuery = fc.record({
  ...paging,
  tool_name: optional("t", "u"),
  agent_id: optional("a", "b"),
  session_id: optional("s1", "s4"),
  workflow_id: optional("w"),
  status: optional("success" as const, "timeout" as const, "error" as const),
});

const everything = { from: undefined, length: undefined };
/** Tried in every run: the lists that go day by day, in pages that end within a day. */
const metricExamples = (["asc", "desc"] as const).map((order) => ({
  ...everything,
  order,
  limit: 7,
  agent_id: "a",
  metric_type: "latency" as const,
}));
const toolExamples = (["asc", "desc"] as const).flatMap((order) =>
  [undefined, "a"].map((agent_id) => ({
    ...everything,
    order,
    limit: 7,
    tool_name: "t",
    agent_id,
    session_id: undefined,
    workflow_id: undefined,
    status: "success" as const,
  })),
);

interface Asked {
  readonly from?: number | undefined;
  readonly length?: number | undefined;
  readonly order?: "asc" | "desc" | undefined;
  readonly limit?: number;
  readonly [field: string]: unknown;
}

/** Every page until there is none; a full page is as large as it was asked for. */
async function walk(
  list: (
    query: object,
  ) => Promise<{ readonly items: readonly { readonly id: string }[]; readonly next_cursor: string | null }>,
  { from, length, ...query }: Asked,
): Promise<readonly string[]> {
  const start = from === undefined ? undefined : testStart + from;
  const end = length === undefined ? undefined : (start ?? testStart) + length;
  const found: string[] = [];
  for await (const page of pagesOf((cursor) => list({ ...query, from: iso(start), to: iso(end), cursor }))) {
    expect(page.items.length).toBeLessThanOrEqual(query.limit ?? seriesLimits.listItemsDefault);
    found.push(...page.items.map((item) => item.id));
  }
  return found;
}

/** By the text of the time, then by id: the order of every index. */
function bruteForce<Row extends { readonly id: string; readonly timestamp: string }>(
  rows: readonly Row[],
  { from, length, order, limit: _, ...equals }: Asked,
): readonly string[] {
  const start = from === undefined ? -Infinity : testStart + from;
  const end = length === undefined ? Infinity : (from === undefined ? testStart : start) + length;
  const wanted = Object.entries(equals).filter(([, value]) => value !== undefined);
  const key = (row: Row) => `${row.timestamp} ${row.id}`;
  const ids = rows
    .filter((row) => Date.parse(row.timestamp) >= start && Date.parse(row.timestamp) < end)
    .filter((row) => wanted.every(([name, value]) => (row as Readonly<Record<string, unknown>>)[name] === value))
    .toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
    .map((row) => row.id);
  return order === "asc" ? ids : ids.toReversed();
}

const timeouts = { tool_name: "t", status: "timeout" };
const { postgres, dynamo } = useServers();

const engines: [name: string, address: () => string | undefined, runs: number][] = [
  ["memory", () => "memory:", 400],
  ["SQLite", () => undefined, 100],
  ["PostgreSQL", postgres, 15],
  ["DynamoDB", () => dynamo("lists"), 6],
];

describe.each(engines)("on %s", (_, address, numRuns) => {
  const dir = temporaryFolder("lists");
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
    test = await openTestSeries({ clock, items: pinakes.items, objects: pinakes.objects });
    expect(await test.metrics.ingest(test.user, metrics)).toMatchObject({ accepted: moments.length, failed: 0 });
    expect(await test.tools.ingest(test.user, calls)).toMatchObject({ accepted: moments.length, failed: 0 });
    // Rows of another workspace, at the same places.
    await test.metrics.ingest(
      test.stranger,
      metrics.map((row) => ({ ...row, id: `x${row.id}` })),
    );
    // Indexes may be late.
    const waiting = { timeout: 240_000, interval: 200 };
    for (const asked of [
      { session_id: "s1" },
      { workflow_id: "w" },
      { agent_id: "a" },
      { agent_id: "a", tool_name: "t" },
      timeouts,
      { tool_name: "t" },
      {},
    ])
      await vi.waitFor(
        async () =>
          expect(await walk((query) => test.tools.list(test.user, query), asked)).toEqual(bruteForce(calls, asked)),
        waiting,
      );
    for (const asked of [{ agent_id: "a" }, { agent_id: "a", metric_type: "cost" }, {}])
      await vi.waitFor(
        async () =>
          expect(await walk((query) => test.metrics.list(test.user, query), asked)).toEqual(bruteForce(metrics, asked)),
        waiting,
      );
  });
  afterAll(async () => {
    await pinakes.close();
  });

  it("R-AGT-38 R-AGT-60 metrics: every filter, order, range and page size gives each row once, in order", async () => {
    let rows = 0;
    await fc.assert(
      fc.asyncProperty(metricQuery, async (asked) => {
        const found = await walk((query) => test.metrics.list(test.user, query), asked);
        expect(found).toEqual(bruteForce(metrics, asked));
        rows += found.length;
      }),
      { numRuns, examples: metricExamples.map((asked): [typeof asked] => [asked]) },
    );
    expect(rows).toBeGreaterThan(0);
  });

  it("R-AGT-44 R-AGT-60 tool calls: every filter, order, range and page size gives each row once, in order", async () => {
    let rows = 0;
    await fc.assert(
      fc.asyncProperty(toolQuery, async (asked) => {
        const found = await walk((query) => test.tools.list(test.user, query), asked);
        expect(found).toEqual(bruteForce(calls, asked));
        rows += found.length;
      }),
      { numRuns, examples: toolExamples.map((asked): [typeof asked] => [asked]) },
    );
    expect(rows).toBeGreaterThan(0);
  });
});

describe("which rows are read", () => {
  const agentType = { agent_id: "a", metric_type: "latency" } as const;

  /** Rows that the store handed over, and how often it was asked. */
  function watched(items: ItemStore): { readonly items: ItemStore; readonly seen: { rows: number; queries: number } } {
    const seen = { rows: 0, queries: 0 };
    const query: ItemStore["query"] = async (scope, container, given: Query) => {
      const page = await items.query(scope, container, { ...given, resumable: true });
      seen.rows += page.examined ?? 0;
      seen.queries += 1;
      return page;
    };
    return {
      items: new Proxy(items, {
        get: (target, name) => (name === "query" ? query : (Reflect.get(target, name, target) as unknown)),
      }),
      seen,
    };
  }

  it("an agent's metrics of one type are read without those of other types", async () => {
    const test = await openTestSeries();
    const rows = Array.from({ length: 1_000 }, (_, i) => ({
      agent_id: "a",
      metric_type: i % 10 === 0 ? ("latency" as const) : ("cost" as const),
      value: i,
      timestamp: iso(testStart + i * 60_000) as string,
    }));
    await test.metrics.ingest(test.user, rows);
    const { items, seen } = watched(test.items);
    const page = await test
      .again({ items })
      .metrics.list(test.user, { ...agentType, to: "2030-01-01T12:00:00Z", limit: 20 });
    expect(page.items.map(({ value }) => value)).toEqual(Array.from({ length: 20 }, (_, i) => 710 - 10 * i));
    expect(seen).toEqual({ rows: 20, queries: 1 });
  });

  it("a row a day is found in few rounds, and a gap of years in one look", async () => {
    const test = await openTestSeries();
    const days = [...Array.from({ length: 60 }, (_, i) => i), 3_000];
    await test.metrics.ingest(
      test.user,
      days.map((at) => ({ ...agentType, value: at, timestamp: iso(testStart + at * day) as string })),
    );
    const { items, seen } = watched(test.items);
    const page = await test.again({ items }).metrics.list(test.user, { ...agentType, order: "asc" });
    expect(page.items.map(({ value }) => value)).toEqual(days);
    expect(page.next_cursor).toBeNull();
    expect(seen.rows).toBeLessThan(2 * days.length);
  });

  it.each([
    [0, true],
    [1, false],
  ])("a page ends after as many days as it may look at, and %d more need a cursor", async (more, inOne) => {
    const test = await openTestSeries();
    const last = seriesLimits.listDaysPerCallMax - 1 + more;
    const rows = Array.from({ length: last + 1 }, (_, i) => ({
      agent_id: "a",
      metric_type: i === 0 || i === last ? ("latency" as const) : ("cost" as const),
      value: i,
      timestamp: iso(testStart + i * day) as string,
    }));
    await test.metrics.ingest(test.user, rows);
    const query = { ...agentType, order: "asc", from: iso(testStart), to: iso(testStart + (last + 1) * day) } as const;
    const first = await test.metrics.list(test.user, query);
    expect(first.items.map(({ value }) => value)).toEqual(inOne ? [0, last] : [0]);
    expect(first.next_cursor === null).toBe(inOne);
    if (first.next_cursor === null) return;
    const second = await test.metrics.list(test.user, { ...query, cursor: first.next_cursor });
    expect([second.items.map(({ value }) => value), second.next_cursor]).toEqual([[last], null]);
  });

  it("R-AGT-60 a cursor of a list by day belongs to its query and workspace, and rows that come meanwhile neither double nor hide any", async () => {
    const test = await openTestSeries();
    const at = (n: number, value = n) => ({
      ...agentType,
      id: `m${value}`,
      value,
      timestamp: iso(testStart + n * (day / 4)) as string,
    });
    await test.metrics.ingest(
      test.user,
      Array.from({ length: 12 }, (_, i) => at(i)),
    );
    const query = { ...agentType, order: "asc", from: iso(testStart), limit: 5 } as const;
    const first = await test.metrics.list(test.user, query);
    const cursor = first.next_cursor as string;
    const otherDay = cursor.replace("2030-01-02", "2030-01-03");
    expect(otherDay).not.toBe(cursor);
    for (const wrong of [
      { order: "desc" as const },
      { metric_type: "cost" as const },
      { agent_id: "b" },
      { from: iso(testStart + 1) },
      { to: iso(testStart + 9 * day) },
    ])
      await expect(test.metrics.list(test.user, { ...query, cursor, ...wrong })).rejects.toMatchObject({
        code: "INVALID",
      });
    for (const changed of [otherDay, `${cursor.slice(0, -2)}AA`, cursor.slice(1), "", "2030-01-02", 7 as never])
      await expect(test.metrics.list(test.user, { ...query, cursor: changed })).rejects.toMatchObject({
        code: "INVALID",
      });
    await expect(test.metrics.list(test.stranger, { ...query, cursor })).rejects.toMatchObject({ code: "INVALID" });
    await test.metrics.ingest(test.user, [at(1, 100), at(6, 101)]);
    const second = await test.metrics.list(test.user, { ...query, cursor, limit: 100 });
    expect([...first.items, ...second.items].map(({ value }) => value)).toEqual([
      0, 1, 2, 3, 4, 5, 101, 6, 7, 8, 9, 10, 11,
    ]);
  });

  it("what is asked for chooses the index", () => {
    const all = { session_id: "s", workflow_id: "w", agent_id: "a", tool_name: "t", status: "error" };
    const tools = (...names: (keyof typeof all)[]) => {
      const { index, filter } = chooseIndex(
        "acme",
        toolSeries,
        Object.fromEntries(names.map((name) => [name, all[name]])),
        toolIndexes,
      );
      return [index, ...Object.keys(filter)];
    };
    expect(tools("session_id", "agent_id")).toEqual(["bySession", "agent_id"]);
    expect(tools("workflow_id", "tool_name", "status")).toEqual(["byWorkflow", "tool_name", "status"]);
    expect(tools("agent_id", "tool_name", "status")).toEqual(["byAgentTool", "status"]);
    expect(tools("agent_id", "status")).toEqual(["byAgent", "status"]);
    expect(tools("tool_name", "status")).toEqual(["byDate"]);
    expect(tools("tool_name")).toEqual(["byTool"]);
    expect(tools("status")).toEqual(["byStatus"]);
    expect(tools()).toEqual(["byTime"]);
    const ofMetrics = (wanted: Readonly<Record<string, string>>) =>
      chooseIndex("acme", metricSeries, wanted, metricIndexes);
    expect(ofMetrics({ agent_id: "a", metric_type: "cost" })).toEqual({
      index: "byDate",
      equals: { workspace_id: "acme", agent_id: "a", metric_type: "cost" },
      filter: {},
      days: { index: "byAgent", equals: { agent_id: "a" } },
    });
    expect(ofMetrics({ metric_type: "cost" })).toMatchObject({ index: "byTime", filter: { metric_type: "cost" } });
  });
});
