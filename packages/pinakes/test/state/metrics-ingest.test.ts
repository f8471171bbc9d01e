/** Metrics in: what is accepted, what is filled in, what each line is told. */
import type { LineResult, NewMetric } from "@pinakes/client";
import { describe, expect, it } from "vitest";
import { makeCaller } from "../../src/domain/caller.ts";
import { PinakesError } from "../../src/domain/errors.ts";
import { compileFilter } from "../../src/domain/filter.ts";
import { limits } from "../../src/domain/limits.ts";
import { agentMetrics } from "../../src/state/series/metric-document.ts";
import { openTestSeries, type TestSeries } from "../../src/state/series/test-series.ts";

const example = {
  id: "metric-550e8400-e29b-41d4-a716-446655440003",
  metric_date: "2025-10-07",
  agent_id: "architect-001",
  workspace_id: "ws-tenant-001",
  metric_type: "latency",
  timestamp: "2025-10-07T10:05:30Z",
  value: 330000,
  dimensions: {
    session_id: "session-abc123",
    workflow_id: "workflow-123",
    environment: "production",
    model: "gpt-4",
    tool_name: null,
  },
  created_at: "2025-10-07T10:05:30Z",
  ttl: 15_552_000,
} as const;

const metric = (more: Partial<NewMetric> = {}): NewMetric => ({
  agent_id: "a1",
  metric_type: "latency",
  value: 1,
  ...more,
});

async function all(test: TestSeries, query: object = {}) {
  return (await test.metrics.list(test.user, { limit: 1000, order: "asc", ...query })).items;
}

async function refusal(test: TestSeries, line: object): Promise<LineResult> {
  const { lines, accepted } = await test.metrics.ingest(test.user, [line as NewMetric]);
  expect(accepted).toBe(0);
  return lines[0] as LineResult;
}

describe("documents", () => {
  it("R-AGT-35 the source's example comes back byte for byte, with the system's fields beside it", async () => {
    const test = await openTestSeries();
    const caller = makeCaller({ tenant: "ws-tenant-001", userId: "u1" });
    expect(await test.metrics.ingest(caller, [example])).toEqual({ accepted: 1, duplicates: 0, failed: 0, lines: [] });
    const [stored] = (await test.metrics.list(caller)).items;
    const { _etag, _ts, ...document } = stored as NonNullable<typeof stored>;
    expect(JSON.stringify(document)).toBe(JSON.stringify(example));
    expect(_etag).not.toBe("");
    expect(_ts).toBe(Math.floor(test.clock.now() / 1000));
  });

  it("R-AGT-34 the container has its partition, its 180 days, no feed, and the source's policy", () => {
    expect(agentMetrics.definition).toMatchObject({
      name: "agent-metrics",
      partitionKey: ["metric_date"],
      ttl: 15_552_000,
    });
    expect(agentMetrics.definition.feed).toBeUndefined();
    expect(agentMetrics.policy?.compositeIndexes).toEqual([
      [
        { path: "/metric_date", order: "descending" },
        { path: "/agent_id", order: "ascending" },
        { path: "/metric_type", order: "ascending" },
      ],
    ]);
  });

  it("R-AGT-34 the date is that of the timestamp; another one is refused, and so is a wrong form", async () => {
    const test = await openTestSeries();
    await test.metrics.ingest(test.user, [metric({ timestamp: "2029-12-31T23:59:59.999Z" }), metric({})]);
    expect((await all(test)).map(({ metric_date }) => metric_date)).toEqual(["2029-12-31", "2030-01-01"]);
    expect(await refusal(test, metric({ timestamp: "2030-01-02T00:00:00Z", metric_date: "2030-01-01" }))).toMatchObject(
      {
        line: 1,
        status: 400,
        error: { code: "INVALID", detail: expect.stringContaining("metric_date") as string },
      },
    );
  });

  it("R-AGT-05 R-AGT-04 an id is made, an etag sent by the client is ignored, other properties stay (R-AGT-10)", async () => {
    const test = await openTestSeries();
    const { lines } = await test.metrics.ingest(test.user, [metric({ _etag: "mine", region: "eu" } as object)], {
      report: "all",
    });
    expect(lines).toEqual([{ line: 1, status: 201, id: expect.stringMatching(/^metric-[0-9a-f-]{36}$/) as string }]);
    const [stored] = await all(test);
    expect(stored).toMatchObject({
      region: "eu",
      workspace_id: "acme",
      timestamp: "2030-01-01T00:00:00.000Z",
      created_at: "2030-01-01T00:00:00.000Z",
    });
    expect(stored?._etag).not.toBe("mine");
    expect(stored?.dimensions).toEqual({
      session_id: "",
      workflow_id: "",
      environment: "",
      model: "",
      tool_name: null,
    });
  });

  it.each([
    ["R-AGT-07", { timestamp: "yesterday" }, "timestamp"],
    ["R-AGT-07", { timestamp: "2030-01-01T00:00:00+01:00" }, "timestamp"],
    ["R-AGT-07", { timestamp: "2030-01-01T00:00Z" }, "timestamp"],
    ["R-AGT-07", { timestamp: "2030-02-30T00:00:00Z" }, "timestamp"],
    ["R-AGT-07", { created_at: "soon" }, "created_at"],
    ["R-AGT-08 R-AGT-36", { metric_type: "speed" }, "metric_type"],
    ["R-AGT-36", { value: Number.NaN }, "value"],
    ["R-AGT-36", { value: Number.POSITIVE_INFINITY }, "value"],
    ["R-AGT-36", { value: "12" }, "value"],
    ["R-AGT-36", { dimensions: { extra: Number.NaN } }, "extra"],
    ["R-AGT-48", { ttl: 0 }, "ttl"],
    ["R-AGT-05", { id: "~stamp" }, "id"],
    ["R-AGT-05", { id: "a/b" }, "id"],
    [
      "R-AGT-35",
      { session_id: "s" },
      'session_id: belongs into dimensions; write { "dimensions": { "session_id": … } }',
    ],
    ["R-AGT-35", { dimensions: { session_id: "s" }, model: "m" }, "model: belongs into dimensions"],
    ["R-AGT-35", { agent_id: "" }, "agent_id"],
    ["R-AGT-35", { agent_id: "x".repeat(257) }, "agent_id"],
  ])("%s %j is refused with its path", async (_, wrong, path) => {
    const test = await openTestSeries();
    const { status, error } = await refusal(test, { ...metric(), ...wrong });
    expect(status).toBe(400);
    expect(error?.code).toBe("INVALID");
    expect(error?.detail).toContain(path);
    if (path === "metric_type")
      for (const allowed of ["latency", "token_usage", "cost", "success_rate", "tool_usage"])
        expect(error?.detail).toContain(allowed);
    expect(await all(test)).toEqual([]);
  });

  it("R-AGT-09 another workspace's id is refused; nobody else sees, lists or counts the rows", async () => {
    const test = await openTestSeries();
    expect((await refusal(test, metric({ workspace_id: "zoo" }))).status).toBe(403);
    await test.metrics.ingest(test.user, [metric({ id: "m1" })]);
    expect((await test.metrics.list(test.stranger)).items).toEqual([]);
    expect((await test.metrics.list(test.stranger, { agent_id: "a1" })).items).toEqual([]);
    expect(await test.metrics.aggregate(test.stranger, { aggregates: ["count"] })).toMatchObject({
      items: [],
      rows_aggregated: 0,
    });
    expect((await test.metrics.rollups(test.stranger)).items).toEqual([]);
    expect((await test.metrics.ingest(test.stranger, [metric({ id: "m1", value: 7 })])).accepted).toBe(1);
    expect((await all(test)).map(({ value }) => value)).toEqual([1]);
  });

  it("a call without a caller is refused before anything is read", async () => {
    const test = await openTestSeries();
    const nobody = undefined as never;
    await expect(test.metrics.ingest(nobody, [])).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    await expect(test.metrics.list(nobody)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    await expect(test.metrics.aggregate(nobody, { aggregates: ["count"] })).rejects.toMatchObject({
      code: "UNAUTHENTICATED",
    });
    await expect(test.metrics.rollups(nobody)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  });
});

describe("many lines", () => {
  it("R-AGT-39 10,000 lines of several days go in at once; one more is refused and nothing of it stored", async () => {
    const test = await openTestSeries();
    const lines = Array.from({ length: 10_000 }, (_, i) =>
      metric({ id: `m-${i}`, timestamp: new Date(test.clock.now() - i * 30_000).toISOString() }),
    );
    await expect(test.metrics.ingest(test.user, [...lines, metric()])).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
    });
    expect((await test.metrics.list(test.user)).items).toEqual([]);
    expect(await test.metrics.ingest(test.user, lines)).toEqual({
      accepted: 10_000,
      duplicates: 0,
      failed: 0,
      lines: [],
    });
    expect(await test.metrics.ingest(test.user, lines)).toEqual({
      accepted: 0,
      duplicates: 10_000,
      failed: 0,
      lines: [],
    });
    const { rows_aggregated } = await test.metrics.aggregate(test.user, {
      aggregates: ["count"],
      from: "2029-12-20T00:00:00Z",
      to: "2030-01-02T00:00:00Z",
    });
    expect(rows_aggregated).toBe(10_000);
  });

  it("R-AGT-39 what is wrong with a line is told by its number, and takes no other with it", async () => {
    const test = await openTestSeries();
    await test.metrics.ingest(test.user, [
      metric({ id: "known", value: 1 }),
      metric({ id: "same", value: 2, timestamp: "2030-01-01T00:00:00Z" }),
    ]);
    test.clock.at += 60_000;
    const huge = metric({ id: "huge", note: "x".repeat(limits.documentBytesMax) } as object);
    const lines = [
      metric({ id: "n1" }),
      metric({ id: "known", value: 99 }),
      metric({ id: "same", value: 2, timestamp: "2030-01-01T00:00:00Z" }),
      { agent_id: "a1" } as never,
      metric({ id: "n2" }),
      huge,
      metric({ id: "n3", nul: "\0" } as object),
      metric({ id: "n1" }),
      metric({ id: "n2", value: 5 }),
      metric({ id: "n4" }),
    ];
    const result = await test.metrics.ingest(test.user, lines, { report: "all" });
    expect(result).toMatchObject({ accepted: 3, duplicates: 2, failed: 5 });
    expect(result.lines.map(({ line, status, error }) => [line, status, error?.code])).toEqual([
      [1, 201, undefined],
      [2, 409, "CONFLICT"],
      [3, 200, undefined],
      [4, 400, "INVALID"],
      [5, 201, undefined],
      [6, 413, "LIMIT_EXCEEDED"],
      [7, 400, "INVALID"],
      [8, 200, undefined],
      [9, 409, "CONFLICT"],
      [10, 201, undefined],
    ]);
    expect((await all(test)).map(({ id, value }) => [id, value]).toSorted()).toEqual([
      ["known", 1],
      ["n1", 1],
      ["n2", 1],
      ["n4", 1],
      ["same", 2],
    ]);
    expect((await test.metrics.ingest(test.user, lines)).lines.map(({ line }) => line)).toEqual([2, 4, 6, 7, 9]);
  });

  it("R-AGT-39 a line without a time of its own is the same line when it is sent again later that day", async () => {
    const test = await openTestSeries();
    await test.metrics.ingest(test.user, [metric({ id: "m1" })]);
    test.clock.at += 3_600_000;
    expect(await test.metrics.ingest(test.user, [metric({ id: "m1" })])).toMatchObject({ accepted: 0, duplicates: 1 });
    expect(await test.metrics.ingest(test.user, [metric({ id: "m1", value: 2 })])).toMatchObject({
      accepted: 0,
      failed: 1,
    });
  });

  it("all or nothing: one bad line, or one id that is there with other content, and nothing is stored", async () => {
    const test = await openTestSeries();
    const good = Array.from({ length: 250 }, (_, i) => metric({ id: `g-${i}` }));
    const bad = await test.metrics.ingest(test.user, [...good, { agent_id: "a1" } as never], {
      allOrNothing: true,
      report: "all",
    });
    expect(bad).toMatchObject({ accepted: 0, failed: 1 });
    expect(bad.lines[0]).toMatchObject({ line: 1, status: 424 });
    expect(bad.lines.at(-1)).toMatchObject({ line: 251, status: 400 });
    await test.metrics.ingest(test.user, [metric({ id: "g-200", value: 9 })]);
    const clash = await test.metrics.ingest(test.user, good, { allOrNothing: true });
    expect(clash).toMatchObject({ accepted: 0, failed: 1, lines: [{ line: 201, status: 409, id: "g-200" }] });
    expect((await all(test)).map(({ id }) => id)).toEqual(["g-200"]);
    expect(
      await test.metrics.ingest(test.user, [...good.slice(0, 200), metric({ id: "g-200", value: 9 })], {
        allOrNothing: true,
      }),
    ).toMatchObject({
      accepted: 200,
      duplicates: 1,
      failed: 0,
    });
  });

  it("of two that send the same lines at once each line is stored once", async () => {
    const test = await openTestSeries();
    const other = test.again().metrics;
    const lines = Array.from({ length: 400 }, (_, i) => metric({ id: `m-${i}`, timestamp: "2030-01-01T00:00:00Z" }));
    const [one, two] = await Promise.all([test.metrics.ingest(test.user, lines), other.ingest(test.user, lines)]);
    expect([one.failed, two.failed]).toEqual([0, 0]);
    expect(one.accepted + two.accepted).toBe(400);
    expect(one.duplicates + two.duplicates).toBe(400);
    expect((await all(test)).length).toBe(400);
  });

  it.each(["before", "after"] as const)(
    "a store that fails %s a commit is told by line, and the same call again writes what is missing, once",
    async (when) => {
      const test = await openTestSeries();
      const lines = Array.from({ length: 300 }, (_, i) => metric({ id: `m-${i}`, timestamp: "2030-01-01T00:00:00Z" }));
      await test.metrics.ingest(test.user, [metric({ id: "first", timestamp: "2030-01-01T00:00:00Z" })]);
      let batches = 0;
      const items = new Proxy(test.items, {
        get: (target, property) => {
          const own: unknown = Reflect.get(target, property, target);
          if (typeof own !== "function") return own;
          if (property === "defaultTtl") return own.bind(target) as unknown;
          return async (...given: unknown[]) => {
            const fails = property === "batch" && (batches += 1) === 2;
            if (fails && when === "before") throw new PinakesError("UNAVAILABLE", "Injected.");
            const result: unknown = await Reflect.apply(own, target, given);
            if (fails) throw new PinakesError("UNAVAILABLE", "Injected.");
            return result;
          };
        },
      });
      const result = await test.again({ items }).metrics.ingest(test.user, lines);
      expect(result).toMatchObject({ accepted: 202, duplicates: 0, failed: 98 });
      expect(new Set(result.lines.map(({ status, error }) => `${status} ${error?.code ?? ""}`))).toEqual(
        new Set(["503 UNAVAILABLE"]),
      );
      expect(await test.metrics.ingest(test.user, lines)).toMatchObject(
        when === "before" ? { accepted: 98, duplicates: 202 } : { accepted: 0, duplicates: 300 },
      );
      expect((await all(test)).length).toBe(301);
      expect((await test.metrics.aggregate(test.user, { aggregates: ["count"] })).rows_aggregated).toBe(301);
    },
  );

  it("a store that takes nothing is an error of the call", async () => {
    const test = await openTestSeries();
    const items = new Proxy(test.items, {
      get: (target, property) => {
        if (property === "batch") return () => Promise.reject(new PinakesError("UNAVAILABLE", "Injected."));
        const own: unknown = Reflect.get(target, property, target);
        return typeof own === "function" ? (own.bind(target) as unknown) : own;
      },
    });
    await expect(test.again({ items }).metrics.ingest(test.user, [metric()])).rejects.toMatchObject({
      code: "UNAVAILABLE",
      retryable: true,
    });
  });

  it("a line that is nested deeper than a stack is high is refused like any other", async () => {
    const test = await openTestSeries();
    const deep = JSON.parse(
      `{"agent_id":"a1","metric_type":"cost","value":1,"x":${"[".repeat(50_000)}${"]".repeat(50_000)}}`,
    ) as NewMetric;
    const { accepted, lines } = await test.metrics.ingest(test.user, [deep, metric()]);
    expect([accepted, lines]).toEqual([
      1,
      [{ line: 1, status: 400, error: { code: "INVALID", detail: expect.stringContaining("nested") as string } }],
    ]);
  });

  it("an option that is not known is refused", async () => {
    const test = await openTestSeries();
    await expect(test.metrics.ingest(test.user, [metric()], { report: "some" as never })).rejects.toMatchObject({
      code: "INVALID",
    });
    await expect(test.metrics.ingest(test.user, "lines" as never)).rejects.toMatchObject({ code: "INVALID" });
  });
});

describe("through the containers API", () => {
  it("R-AGT-34 documents are prepared as by ingestion, and the stamp is written beside each change", async () => {
    const test = await openTestSeries();
    const write = { caller: test.user, before: undefined, now: test.clock.now() };
    const prepared = agentMetrics.prepare?.({ ...write, document: metric() });
    expect(prepared).toMatchObject({ workspace_id: "acme", metric_date: "2030-01-01" });
    expect(() => agentMetrics.prepare?.({ ...write, document: metric({ metric_date: "2031-01-01" }) })).toThrow(
      /metric_date/,
    );
    const created = agentMetrics.companions?.([{ op: "create", document: prepared as never }]);
    expect(created).toMatchObject([{ op: "upsert", document: { metric_date: "2030-01-01", touched: true } }]);
    expect(agentMetrics.companions?.([{ op: "delete", id: "m1" }])).toMatchObject([{ op: "patch" }]);
    expect(agentMetrics.companions?.([{ op: "check", id: "m1" }])).toEqual([]);
  });

  it("companions are in no index", async () => {
    const test = await openTestSeries();
    await test.metrics.ingest(test.user, [metric()]);
    const { items } = await test.items.query(test.user.scope, "agent-metrics", {
      equals: { metric_date: "2030-01-01" },
    });
    expect(items.length).toBe(3);
    for (const index of ["byTime", "byDate"])
      expect(
        (await test.items.query(test.user.scope, "agent-metrics", { index, equals: { workspace_id: "acme" } })).items
          .length,
      ).toBe(1);
    expect(
      items
        .filter(({ document }) => compileFilter({ pinakes_companion: { exists: true } })(document))
        .map(({ id }) => id),
    ).toEqual(["~stamp", "~stamp-changes"]);
  });
});
