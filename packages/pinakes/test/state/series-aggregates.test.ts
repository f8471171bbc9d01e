/** Aggregates equal a brute-force oracle, whatever was sealed when, expired, deleted or came late. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Aggregate, MetricAggregate, MetricGroup, NewMetric } from "@pinakes/client";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { open, type Pinakes } from "../../src/open.ts";
import type { Operation } from "../../src/ports/item-store.ts";
import { agentMetrics } from "../../src/state/series/metric-document.ts";
import { openTestSeries, testStart, TestClock, type TestSeries } from "../../src/state/series/test-series.ts";
import { oracle, sameRows, type OracleRow } from "./series-oracle.ts";
import { useServers } from "../support/servers.ts";

const container = agentMetrics.definition.name;
const ttlDefault = agentMetrics.definition.ttl as number;
const hour = 3_600_000;
const types = ["latency", "cost", "custom.faithfulness"] as const;
const groups = [
  "agent_id",
  "metric_type",
  "session_id",
  "model",
  "tool_name",
  "dimensions.region",
] as const satisfies readonly MetricGroup[];
const aggregates: readonly Aggregate[] = ["count", "sum", "avg", "min", "max", "p50", "p95", "p99"];

interface NewRow {
  readonly minute: number;
  readonly ms: number;
  readonly value: number;
  readonly agent: number;
  readonly type: number;
  readonly tool: number | null;
  readonly region: number | null;
  readonly ttl: number | undefined;
}
type Step =
  | { readonly do: "ingest"; readonly rows: readonly NewRow[] }
  | { readonly do: "generic"; readonly row: NewRow }
  | { readonly do: "delete" | "change"; readonly which: number; readonly value: number }
  | { readonly do: "advance"; readonly ms: number }
  | { readonly do: "sweep" | "restart" }
  | { readonly do: "aggregate"; readonly query: Query };
interface Query {
  readonly from: number;
  readonly minutes: number;
  readonly bucket: string | undefined;
  readonly group_by: readonly (typeof groups)[number][];
  readonly agent: number | undefined;
  readonly region: string | null | undefined;
  readonly names: readonly Aggregate[];
}

const minutesOfRows = 3 * 24 * 60;
const row = fc.record({
  minute: fc.integer({ min: 0, max: minutesOfRows - 1 }),
  ms: fc.integer({ min: 0, max: 59_999 }),
  value: fc.oneof(fc.integer({ min: -50, max: 50 }), fc.double({ min: -1e6, max: 1e6, noNaN: true })),
  agent: fc.integer({ min: 0, max: 3 }),
  type: fc.integer({ min: 0, max: types.length - 1 }),
  tool: fc.option(fc.integer({ min: 0, max: 2 })),
  region: fc.option(fc.integer({ min: 0, max: 2 })),
  ttl: fc.option(fc.constantFrom(-1, 60, 7_200, 100_000), { nil: undefined }),
});
/** Rows that share an hour, so that blocks hold more than one. */
const crowded = fc
  .tuple(fc.integer({ min: 0, max: 71 }), fc.array(row, { minLength: 1, maxLength: 12 }))
  .map(([at, rows]) => rows.map((one) => ({ ...one, minute: at * 60 + (one.minute % 60) })));
const buckets: Readonly<Record<string, number>> = {
  minute: 60_000,
  hour,
  day: 24 * hour,
  "5m": 300_000,
  "90m": 5_400_000,
  "7h": 7 * hour,
  "2d": 48 * hour,
};
const query = fc.record({
  from: fc.integer({ min: -600, max: minutesOfRows }),
  minutes: fc.integer({ min: 1, max: minutesOfRows + 600 }),
  bucket: fc.option(fc.constantFrom(...Object.keys(buckets)), { nil: undefined }),
  group_by: fc.subarray([...groups]),
  agent: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
  region: fc.constantFrom(undefined, undefined, undefined, null, "region-1"),
  names: fc.shuffledSubarray([...aggregates], { minLength: 1 }),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("ingest" as const),
      rows: fc.oneof(crowded, fc.array(row, { maxLength: 8 })),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("generic" as const), row }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom("delete" as const, "change" as const),
      which: fc.nat(),
      value: fc.integer({ min: -9, max: 9 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("advance" as const),
      ms: fc.constantFrom(1, 59_000, 601_000, 3 * hour, 20 * hour),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("sweep" as const, "restart" as const) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("aggregate" as const), query }) },
);

/** Rows of the model beside what is stored. */
class World {
  readonly rows = new Map<string, OracleRow & { readonly date: string; readonly document: NewMetric }>();
  readonly #test: TestSeries;
  metrics: TestSeries["metrics"];
  /** Aggregates that found something. */
  answered = 0;
  #next = 0;

  constructor(test: TestSeries) {
    this.#test = test;
    this.metrics = test.metrics;
    // In the middle of the rows: some hours are over, some are to come.
    test.clock.at = testStart + 40 * hour;
  }

  async run(steps: readonly Step[]): Promise<void> {
    for (const one of steps) await this.#step(one);
    await this.#aggregate({
      from: -600,
      minutes: minutesOfRows + 1200,
      bucket: "hour",
      group_by: ["agent_id", "dimensions.region"],
      agent: undefined,
      region: undefined,
      names: aggregates,
    });
  }

  async #step(one: Step): Promise<void> {
    const { clock, user } = this.#test;
    switch (one.do) {
      case "ingest": {
        const documents = one.rows.map((given) => this.#document(given));
        expect(await this.metrics.ingest(user, documents)).toMatchObject({ accepted: documents.length, failed: 0 });
        for (const document of documents) this.#note(document);
        return;
      }
      case "generic": {
        const document = this.#document(one.row);
        const prepared = agentMetrics.prepare?.({ caller: user, before: undefined, document, now: clock.now() });
        await this.#batch(String(document.timestamp).slice(0, 10), { op: "create", document: prepared as never });
        this.#note(document);
        return;
      }
      case "delete":
      case "change":
        return this.#touch(one);
      case "advance":
        clock.at += one.ms;
        return;
      case "sweep":
        await this.#test.sweep();
        return;
      case "restart":
        this.metrics = this.#test.again().metrics;
        return;
      case "aggregate":
        return this.#aggregate(one.query);
    }
  }

  async #touch({ do: what, which, value }: Extract<Step, { which: number }>): Promise<void> {
    const live = [...this.rows].filter(([, { expires }]) => expires === null || expires > this.#test.clock.now());
    const found = live[which % Math.max(1, live.length)];
    if (found === undefined) return;
    const [id, { document, date }] = found;
    if (what === "delete") {
      await this.#batch(date, { op: "delete", id });
      this.rows.delete(id);
    } else {
      await this.#batch(date, { op: "patch", id, patch: [{ op: "set", path: "/value", value }] });
      this.#note({ ...document, value });
    }
  }

  async #batch(date: string, operation: Operation): Promise<void> {
    await this.#test.items.batch(
      this.#test.user.scope,
      container,
      [date],
      [operation, ...(agentMetrics.companions?.([operation]) ?? [])],
    );
  }

  #document({ minute, ms, value, agent, type, tool, region, ttl }: NewRow): NewMetric {
    this.#next += 1;
    return {
      id: `m-${this.#next}`,
      agent_id: `agent-${agent}`,
      metric_type: types[type] as NewMetric["metric_type"],
      timestamp: new Date(testStart + minute * 60_000 + ms).toISOString(),
      value,
      dimensions: {
        session_id: `s-${agent % 2}`,
        model: agent === 3 ? "é" : "gpt-4",
        tool_name: tool === null ? null : `tool-${tool}`,
        ...(region === null ? {} : { region: `region-${region}` }),
      },
      ...(ttl === undefined ? {} : { ttl }),
    };
  }

  #note(document: NewMetric): void {
    const { dimensions = {}, ttl = ttlDefault } = document;
    this.rows.set(document.id as string, {
      at: Date.parse(document.timestamp as string),
      value: document.value,
      group: {
        agent_id: document.agent_id,
        metric_type: document.metric_type,
        session_id: dimensions.session_id ?? "",
        model: dimensions.model ?? "",
        tool_name: dimensions.tool_name ?? null,
        "dimensions.region": dimensions["region"] ?? null,
      },
      expires: ttl === -1 ? null : this.#test.clock.now() + ttl * 1000,
      date: (document.timestamp as string).slice(0, 10),
      document,
    });
  }

  async #aggregate({ from, minutes, bucket, group_by, agent, region, names }: Query): Promise<void> {
    const [start, end] = [testStart + from * 60_000, testStart + (from + minutes) * 60_000];
    const filter = {
      ...(agent === undefined ? {} : { agent_id: `agent-${agent}` }),
      ...(region === undefined ? {} : { "dimensions.region": region }),
    };
    const asked: MetricAggregate = {
      from: new Date(start).toISOString(),
      to: new Date(end).toISOString(),
      bucket,
      group_by,
      filter,
      aggregates: names,
    };
    const rows = [...this.rows.values()];
    const bucketMs = bucket === undefined ? undefined : buckets[bucket];
    const wanted = oracle(
      rows,
      { from: start, to: end, bucketMs, group_by, filter, aggregates: names },
      this.#test.clock.now(),
    );
    const magnitude = rows.reduce((sum, { value }) => sum + Math.abs(value), 1);
    // The first makes the cells of whole hours, the second finds them.
    for (let time = 0; time < 2; time += 1) {
      const got = await this.metrics.aggregate(this.#test.user, asked);
      expect(sameRows(got.items, wanted, magnitude)).toBeUndefined();
    }
    if (wanted.length > 0) this.answered += 1;
  }
}

const sealing = { sealRowsMin: 2, cacheBytesMax: 40_000, cellCacheBytesMax: 200_000 };

describe("on memory and SQLite", () => {
  it("R-AGT-38 any history of rows, changes, expiry and sealing gives what the oracle gives, in memory", async () => {
    let [answered, sealed] = [0, 0];
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 30 }), async (steps) => {
        const test = await openTestSeries({}, sealing);
        const world = new World(test);
        await world.run(steps);
        answered += world.answered;
        sealed += (await test.objects.list(test.user.scope, "state/metrics/")).keys.length;
      }),
      { numRuns: 150 },
    );
    // Not because there was nothing to compare, or never a block.
    expect(answered).toBeGreaterThan(100);
    expect(sealed).toBeGreaterThan(50);
  });

  it("R-AGT-38 the same on SQLite with a folder of objects", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 25 }), async (steps) => onStores(undefined, steps)),
      { numRuns: 8 },
    );
  });
});

describe("on servers", () => {
  const { postgres, dynamo } = useServers();

  it.each([
    ["PostgreSQL", postgres],
    ["DynamoDB", () => dynamo("aggregates")],
  ])("R-AGT-38 the same on %s", async (_, address) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 20 }), async (steps) => onStores(address(), steps)),
      { numRuns: 3, endOnFailure: true },
    );
  });
});

let tenants = 0;

async function onStores(items: string | undefined, steps: readonly Step[]): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), "pinakes-series-"));
  const clock = new TestClock();
  const pinakes: Pinakes = await open({
    dir,
    clock,
    background: false,
    ...(items === undefined ? {} : { items, objects: "memory:" }),
  });
  try {
    tenants += 1;
    const test = await openTestSeries({ clock, items: pinakes.items, objects: pinakes.objects }, sealing);
    // Servers outlive one history: each has a workspace of its own.
    const user = pinakes.as({ tenant: `t${tenants}`, userId: "u1" });
    await new World({ ...test, user }).run(steps);
  } finally {
    await pinakes.close();
    await rm(dir, { recursive: true, force: true });
  }
}
