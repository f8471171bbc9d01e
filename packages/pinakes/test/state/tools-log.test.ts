/** The tool log: what is accepted, found, exported, and never changed. */
import type { NewToolInvocation, Stored, ToolInvocation, ToolQuery } from "@pinakes/client";
import { parse } from "csv-parse/sync";
import { describe, expect, it } from "vitest";
import { toolInvocations } from "../../src/state/series/tool-document.ts";
import { openTestSeries, testStart, type TestSeries } from "../../src/state/series/test-series.ts";
import { itemsOf } from "../../src/runtime/pages.ts";

const call = (more: Partial<NewToolInvocation> = {}): NewToolInvocation => ({
  tool_name: "search",
  agent_id: "a1",
  session_id: "s1",
  status: "success",
  duration_ms: 12,
  ...more,
});

async function walk(test: TestSeries, query: ToolQuery = {}): Promise<readonly Stored<ToolInvocation>[]> {
  return Array.fromAsync(itemsOf((cursor) => test.tools.list(test.user, { order: "asc", limit: 3, ...query, cursor })));
}

async function refusal(test: TestSeries, line: object): Promise<string> {
  const { lines } = await test.tools.ingest(test.user, [line as NewToolInvocation]);
  expect(lines.length).toBe(1);
  return `${lines[0]?.status ?? ""} ${lines[0]?.error?.detail ?? ""}`;
}

describe("documents", () => {
  it("R-AGT-41 every field of the source comes back as it was sent; what is left out is filled in", async () => {
    const test = await openTestSeries();
    const full = {
      id: "tool-1",
      tool_date: "2030-01-01",
      tool_name: "web.fetch",
      agent_id: "a1",
      workspace_id: "acme",
      session_id: "s1",
      workflow_id: "w1",
      timestamp: "2030-01-01T10:00:00Z",
      status: "error",
      duration_ms: 12.5,
      input_args: { url: "https://example.org", deep: [{ a: null }] },
      output_result: [1, "two", { three: 3 }],
      error_details: { error_type: "http", error_message: "404", stack_trace: "at x" },
      security_context: { user_id: "u7", ip_address: "10.0.0.1", user_agent: "agent/1" },
      created_at: "2030-01-01T10:00:01Z",
      ttl: 1000,
      extra: true,
    } as const;
    await test.tools.ingest(test.user, [full, call()]);
    const { _etag, _ts, ...stored } = await test.tools.get(test.user, "2030-01-01", "tool-1");
    expect(JSON.stringify(stored)).toBe(JSON.stringify(full));
    expect([_etag.length > 0, _ts]).toEqual([true, testStart / 1000]);
    const [filled] = await walk(test);
    expect(filled).toMatchObject({
      id: expect.stringMatching(/^tool-[0-9a-f-]{36}$/) as string,
      tool_date: "2030-01-01",
      workspace_id: "acme",
      workflow_id: null,
      input_args: {},
      output_result: null,
      error_details: null,
      security_context: { user_id: null, ip_address: "", user_agent: "" },
    });
  });

  it("R-AGT-40 R-AGT-43 the container has its partition, 90 days, a feed, the source's policy, and only grows", () => {
    expect(toolInvocations.definition).toMatchObject({
      name: "tool-invocations",
      partitionKey: ["tool_date"],
      ttl: 7_776_000,
      feed: true,
    });
    expect(toolInvocations.policy?.excludedPaths).toEqual([
      { path: "/_etag/?" },
      { path: "/input_args/*" },
      { path: "/output_result/*" },
      { path: "/error_details/*" },
    ]);
    expect(toolInvocations.appendOnly).toContain("POST /v1/tool-invocations:ingest");
    expect(() => toolInvocations.prepare?.({} as never)).toThrow(/audit trail/);
  });

  it("R-AGT-40 an entry that is there cannot be changed by sending it again", async () => {
    const test = await openTestSeries();
    await test.tools.ingest(test.user, [call({ id: "t1", timestamp: "2030-01-01T00:00:00Z" })]);
    expect(await refusal(test, call({ id: "t1", timestamp: "2030-01-01T00:00:00Z", duration_ms: 13 }))).toContain(
      "409",
    );
    expect((await test.tools.get(test.user, "2030-01-01", "t1")).duration_ms).toBe(12);
  });

  it.each([
    ["R-AGT-42 R-AGT-08", { status: "done" }, /status.*success.*error.*timeout/],
    ["R-AGT-42", { status: "error" }, /error_details/],
    ["R-AGT-42", { status: "error", error_details: null }, /error_details/],
    ["R-AGT-07", { timestamp: "2030-13-01T00:00:00Z" }, /timestamp/],
    ["R-AGT-41", { duration_ms: -1 }, /duration_ms/],
    ["R-AGT-41", { input_args: [1] }, /input_args/],
    ["R-AGT-41", { tool_date: "2031-01-01" }, /tool_date/],
    ["R-AGT-41", { session_id: undefined }, /session_id/],
    ["R-AGT-09", { workspace_id: "zoo" }, /403 workspace_id/],
  ])("%s %j is refused", async (_, wrong, told) => {
    const test = await openTestSeries();
    expect(await refusal(test, { ...call(), ...wrong })).toMatch(told);
    expect(await walk(test)).toEqual([]);
  });

  it("R-AGT-42 a failure needs its details, a timeout does not", async () => {
    const test = await openTestSeries();
    expect(
      await test.tools.ingest(test.user, [
        call({ status: "timeout" }),
        call({ status: "error", error_details: { error_type: "http" } }),
      ]),
    ).toMatchObject({
      accepted: 2,
    });
    expect((await walk(test, { status: "error" }))[0]?.error_details).toEqual({
      error_type: "http",
      error_message: "",
      stack_trace: "",
    });
  });

  it("R-AGT-41 what belongs into a part of the entry is refused at its top, with its place", async () => {
    const test = await openTestSeries();
    expect(await refusal(test, { ...call(), user_id: "u" })).toContain("400 user_id: belongs into security_context");
    expect(await refusal(test, { ...call(), error_message: "x" })).toContain(
      "400 error_message: belongs into error_details",
    );
    expect(await walk(test)).toEqual([]);
  });

  it("R-AGT-09 another workspace finds nothing, and hears the same as of what never was", async () => {
    const test = await openTestSeries();
    await test.tools.ingest(test.user, [call({ id: "t1" })]);
    const told = async (id: string) => {
      try {
        return await test.tools.get(test.stranger, "2030-01-01", id);
      } catch (error) {
        return String(error).replace(id, "ID");
      }
    };
    expect(await told("t1")).toBe(await told("t9"));
    for (const query of [
      {},
      { tool_name: "search" },
      { session_id: "s1" },
      { status: "success" as const },
      { agent_id: "a1" },
    ])
      expect((await test.tools.list(test.stranger, query)).items).toEqual([]);
    expect(await Array.fromAsync(test.tools.export(test.stranger, { format: "ndjson" }))).toEqual([]);
    expect((await test.tools.aggregate(test.stranger, { aggregates: ["count"] })).rows_aggregated).toBe(0);
    await expect(test.tools.get(test.user, "2030-01-01", "~stamp")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("a call without a caller is refused", async () => {
    const { tools } = await openTestSeries();
    const nobody = undefined as never;
    for (const attempt of [
      () => tools.ingest(nobody, []),
      () => tools.list(nobody),
      () => tools.get(nobody, "2030-01-01", "t1"),
      () => tools.aggregate(nobody, { aggregates: ["count"] }),
      () => tools.rules(nobody),
      () => tools.putRule(nobody, { tool_name: "x", sensitive: true }),
      () => tools.deleteRule(nobody, "x"),
      () => tools.settings(nobody),
      () => tools.putSettings(nobody, { hash_chain: true }),
      () => tools.verifyChain(nobody, "2030-01-01"),
    ])
      await expect(attempt()).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    expect(() => tools.export(nobody, { format: "csv" })).toThrow(
      expect.objectContaining({ code: "UNAUTHENTICATED" }) as Error,
    );
  });
});

describe("finding", () => {
  it("R-AGT-43 lists by tool, agent, status, session and workflow come in the order of time over days", async () => {
    const test = await openTestSeries();
    const rows = Array.from({ length: 40 }, (_, i) =>
      call({
        id: `t${String(i).padStart(2, "0")}`,
        timestamp: new Date(testStart + i * 3_600_000).toISOString(),
        tool_name: `tool-${i % 2}`,
        agent_id: `a${i % 3}`,
        session_id: `s${i % 4}`,
        workflow_id: i % 5 === 0 ? null : `w${i % 5}`,
        ...(i % 7 === 0 ? { status: "timeout" as const } : {}),
      }),
    );
    await test.tools.ingest(test.user, rows);
    const wanted = (query: ToolQuery) =>
      rows
        .filter((row) =>
          (["tool_name", "agent_id", "session_id", "workflow_id", "status"] as const).every(
            (name) => query[name] === undefined || query[name] === row[name],
          ),
        )
        .map(({ id }) => id);
    for (const query of [
      {},
      { tool_name: "tool-1" },
      { agent_id: "a2" },
      { session_id: "s3" },
      { workflow_id: "w4" },
      { status: "timeout" as const },
      { tool_name: "tool-0", agent_id: "a1" },
      { status: "success" as const, session_id: "s2", workflow_id: "w2" },
    ]) {
      expect((await walk(test, query)).map(({ id }) => id)).toEqual(wanted(query));
      expect((await walk(test, { ...query, order: "desc" })).map(({ id }) => id)).toEqual(wanted(query).toReversed());
    }
    const from = new Date(testStart + 20 * 3_600_000).toISOString();
    expect((await walk(test, { from, tool_name: "tool-0" })).map(({ id }) => id)).toEqual(
      wanted({ tool_name: "tool-0" }).slice(10),
    );
    const byDate = await test.items.query(test.user.scope, "tool-invocations", {
      index: "byDate",
      equals: { workspace_id: "acme" },
      limit: 100,
    });
    const keys = byDate.items.map(({ document }) =>
      [document["tool_date"], document["tool_name"], document["status"]].join(" "),
    );
    expect(keys).toEqual(
      keys.toSorted((a, b) =>
        a.slice(0, 10) === b.slice(0, 10) ? (a < b ? -1 : a > b ? 1 : 0) : a.slice(0, 10) > b.slice(0, 10) ? -1 : 1,
      ),
    );
  });

  it("aggregates are of the durations", async () => {
    const test = await openTestSeries();
    await test.tools.ingest(test.user, [
      call({ duration_ms: 10 }),
      call({ duration_ms: 30 }),
      call({ tool_name: "other", duration_ms: 5, status: "timeout" }),
    ]);
    const { items } = await test.tools.aggregate(test.user, {
      aggregates: ["count", "sum", "p95"],
      group_by: ["tool_name", "status"],
    });
    expect(items).toEqual([
      { bucket: null, group: { tool_name: "other", status: "timeout" }, values: { count: 1, sum: 5, p95: 5 } },
      { bucket: null, group: { tool_name: "search", status: "success" }, values: { count: 2, sum: 40, p95: 30 } },
    ]);
  });
});

describe("export", () => {
  it("NDJSON is every row, oldest first, page after page", async () => {
    const test = await openTestSeries();
    await test.tools.ingest(
      test.user,
      Array.from({ length: 1200 }, (_, i) =>
        call({ id: `t${i}`, timestamp: new Date(testStart + i * 1000).toISOString() }),
      ),
    );
    const lines = await Array.fromAsync(test.tools.export(test.user, { format: "ndjson" }));
    expect(lines.length).toBe(1200);
    expect(lines.every((line) => line.endsWith("\n"))).toBe(true);
    expect(lines.map((line) => (JSON.parse(line) as { id: string }).id)).toEqual(
      Array.from({ length: 1200 }, (_, i) => `t${i}`),
    );
    expect(
      (
        await Array.fromAsync(
          test.tools.export(test.user, {
            format: "ndjson",
            to: new Date(testStart + 5000).toISOString(),
            order: "desc",
          }),
        )
      ).length,
    ).toBe(5);
  });

  it("CSV is read back by a CSV reader, and no cell is a formula", async () => {
    const test = await openTestSeries();
    const nasty = ["=1+1", "+1", "-1", "@x", "\t=1", 'say "hi"', "a,b", "line\nbreak", "'", ""];
    await test.tools.ingest(
      test.user,
      nasty.map((error_message, i) =>
        call({
          id: `t${i}`,
          timestamp: `2030-01-01T00:00:0${i}Z`,
          status: "error",
          error_details: { error_message },
          input_args: { q: error_message },
        }),
      ),
    );
    const text = (await Array.fromAsync(test.tools.export(test.user, { format: "csv" }))).join("");
    const rows = parse(text, { columns: true, relaxQuotes: false }) as Record<string, string>[];
    expect(rows.map(({ error_message }) => error_message)).toEqual(
      nasty.map((cell) => (/^[=+\-@\t]/.test(cell) ? `'${cell}` : cell)),
    );
    expect(rows.map(({ input_args }) => (JSON.parse(input_args as string) as { q: string }).q)).toEqual(nasty);
    for (const row of rows) for (const cell of Object.values(row)) expect(cell).not.toMatch(/^[=+\-@\t\r]/);
    expect(text.split("\r\n")[0]).toBe(Object.keys(rows[0] as object).join(","));
  });

  it("a format that is not known is refused before anything is read", async () => {
    const test = await openTestSeries();
    expect(() => test.tools.export(test.user, { format: "xml" as never })).toThrow(/format/);
  });
});
