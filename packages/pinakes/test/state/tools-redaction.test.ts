/** R-AGT-44: what rules remove is gone before it is stored; who may make them; and the hash chain of a day. */
import type { NewRedactionRule, NewToolInvocation } from "@pinakes/client";
import { describe, expect, it } from "vitest";
import { limits } from "../../src/domain/limits.ts";
import { verifyChain } from "../../src/state/series/verify-chain.ts";
import { openTestSeries, testStart, type TestSeries } from "../../src/state/series/test-series.ts";

const day = "2030-01-01";
const call = (id: string, more: Partial<NewToolInvocation> = {}): NewToolInvocation => ({
  id,
  tool_name: "search",
  agent_id: "a1",
  session_id: "s1",
  status: "success",
  duration_ms: 12,
  timestamp: `${day}T00:00:00Z`,
  ...more,
});
const secrets = {
  password: "hunter2",
  nested: { token: "t0p" },
  rows: [{ ssn: "123", name: "x" }, { ssn: "456" }],
  list: ["p1", "p2"],
};

async function keptAs(rule: Omit<NewRedactionRule, "tool_name">, more: Partial<NewToolInvocation> = {}) {
  const test = await openTestSeries();
  await test.tools.putRule(test.admin, { tool_name: "search", ...rule });
  await test.tools.ingest(test.user, [call("t1", { input_args: secrets, output_result: secrets, ...more })]);
  const stored = await test.tools.get(test.user, day, "t1");
  // Nowhere at all: not in the item, not in the feed. Random texts are left out, which may hold a short secret by chance.
  const random = new Set(["etag", "cursor", "life"]);
  const raw = JSON.stringify(
    [
      await test.items.query(test.user.scope, "tool-invocations", { equals: { tool_date: day } }),
      await test.items.changes(test.user.scope, "tool-invocations"),
    ],
    (name, value: unknown) => (random.has(name) ? undefined : value),
  );
  return { stored, raw };
}

describe("redaction", () => {
  it("R-AGT-44 drop removes paths, also in every element of a list", async () => {
    const { stored, raw } = await keptAs({
      drop: ["input_args.password", "input_args.rows.*.ssn", "output_result.list.*", "output_result.nested"],
    });
    expect(stored.input_args).toEqual({ nested: { token: "t0p" }, rows: [{ name: "x" }, {}], list: ["p1", "p2"] });
    expect(stored.output_result).toEqual({ password: "hunter2", rows: secrets.rows, list: [null, null] });
    expect(raw).toContain("hunter2");
  });

  it("R-AGT-44 mask leaves a mark where something was", async () => {
    const { stored, raw } = await keptAs({
      mask: [
        "input_args.password",
        "input_args.*.token",
        "output_result",
        "input_args.rows.0.ssn",
        "input_args.absent",
      ],
    });
    expect(stored.input_args).toEqual({
      ...secrets,
      password: "[redacted]",
      nested: { token: "[redacted]" },
      rows: [{ ssn: "[redacted]", name: "x" }, { ssn: "456" }],
    });
    expect(stored.output_result).toBe("[redacted]");
    expect(raw).not.toContain("hunter2");
    expect(raw).not.toContain("t0p");
  });

  it("R-AGT-44 nothing of a sensitive tool's input, output or messages is kept", async () => {
    const error_details = { error_type: "auth", error_message: "wrong password hunter2", stack_trace: "hunter2 at x" };
    const { stored, raw } = await keptAs({ sensitive: true }, { status: "error", error_details });
    expect(stored).toMatchObject({
      input_args: {},
      output_result: null,
      error_details: { error_type: "auth", error_message: "[redacted]", stack_trace: "[redacted]" },
    });
    for (const secret of ["hunter2", "t0p", "123", "p1"]) expect(raw).not.toContain(secret);
  });

  it("R-AGT-44 the parts that every invocation has stay, also when all of one goes", async () => {
    const { stored } = await keptAs(
      { drop: ["input_args", "output_result", "error_details", "security_context"] },
      { status: "error", error_details: { error_message: "x" } },
    );
    expect(stored).toMatchObject({
      input_args: {},
      output_result: null,
      security_context: { user_id: null, ip_address: "", user_agent: "" },
    });
    expect(stored.error_details).toEqual({
      error_type: "[redacted]",
      error_message: "[redacted]",
      stack_trace: "[redacted]",
    });
  });

  it("R-AGT-44 a rule holds for its tool and workspace only, from the moment it is there until it is deleted", async () => {
    const test = await openTestSeries();
    await test.tools.putRule(test.admin, { tool_name: "a/b c", sensitive: true });
    const send = async (id: string, tool_name: string, caller = test.user) => {
      await test.tools.ingest(caller, [call(id, { tool_name, input_args: { x: 1 } })]);
      return (await test.tools.get(caller, day, id)).input_args;
    };
    expect(await send("t1", "a/b c")).toEqual({});
    expect(await send("t2", "other")).toEqual({ x: 1 });
    expect(await send("t3", "a/b c", test.stranger)).toEqual({ x: 1 });
    expect(await test.tools.rules(test.user)).toEqual({
      items: [{ tool_name: "a/b c", sensitive: true, drop: [], mask: [] }],
    });
    expect(await test.tools.rules(test.stranger)).toEqual({ items: [] });
    await test.tools.deleteRule(test.admin, "a/b c");
    expect(await send("t4", "a/b c")).toEqual({ x: 1 });
    await expect(test.tools.deleteRule(test.admin, "a/b c")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("R-AGT-44 sending a redacted line again is the same line", async () => {
    const test = await openTestSeries();
    await test.tools.putRule(test.admin, { tool_name: "search", mask: ["input_args.password"] });
    const line = call("t1", { input_args: { password: "hunter2" } });
    await test.tools.ingest(test.user, [line]);
    expect(await test.tools.ingest(test.user, [line])).toMatchObject({ duplicates: 1, failed: 0 });
  });

  it("only admins change rules and settings; a rule that means nothing is refused", async () => {
    const test = await openTestSeries();
    await expect(test.tools.putRule(test.user, { tool_name: "x", sensitive: true })).rejects.toMatchObject({
      code: "FORBIDDEN",
    });
    await expect(test.tools.deleteRule(test.user, "x")).rejects.toMatchObject({ code: "FORBIDDEN" });
    await expect(test.tools.putSettings(test.user, { hash_chain: true })).rejects.toMatchObject({ code: "FORBIDDEN" });
    for (const wrong of [
      {},
      { tool_name: "x" },
      { tool_name: "", sensitive: true },
      { tool_name: "x".repeat(257), sensitive: true },
      { tool_name: "x", drop: ["password"] },
      { tool_name: "x", mask: ["input_args..a"] },
      { tool_name: "x", mask: [5] },
      { tool_name: "x", drop: Array.from({ length: 101 }, (_, i) => `input_args.p${i}`) },
      { tool_name: "x", sensitive: true, colour: "red" },
    ])
      await expect(test.tools.putRule(test.admin, wrong as never)).rejects.toMatchObject({ code: "INVALID" });
    await test.tools.putRule(test.admin, {
      tool_name: "x".repeat(256),
      drop: Array.from({ length: 100 }, (_, i) => `input_args.p${i}`),
    });
    await expect(test.tools.putSettings(test.admin, { hash_chain: "yes" } as never)).rejects.toMatchObject({
      code: "INVALID",
    });
  });

  it("a workspace has 1,000 rules and not one more", async () => {
    const test = await openTestSeries();
    const documents = Array.from({ length: 999 }, (_, i) => ({
      id: `r${i}`,
      topic: "redaction",
      tool_name: `t${i}`,
      sensitive: true,
      drop: [],
      mask: [],
    }));
    for (let at = 0; at < documents.length; at += limits.batchOperationsMax)
      await test.items.batch(
        test.admin.scope,
        "state-settings",
        ["redaction"],
        documents.slice(at, at + limits.batchOperationsMax).map((document) => ({ op: "create", document })),
      );
    await test.tools.putRule(test.admin, { tool_name: "last", sensitive: true });
    await expect(test.tools.putRule(test.admin, { tool_name: "more", sensitive: true })).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
    });
    await test.tools.putRule(test.admin, { tool_name: "last", sensitive: false, mask: ["input_args.x"] });
    expect((await test.tools.rules(test.user)).items.length).toBe(1000);
  });
});

async function chained(entries = 5): Promise<TestSeries> {
  const test = await openTestSeries();
  await test.tools.putSettings(test.admin, { hash_chain: true });
  for (let i = 0; i < entries; i += 1) await test.tools.ingest(test.user, [call(`t${i}`)]);
  return test;
}

describe("the hash chain", () => {
  const verify = (test: TestSeries) => test.tools.verifyChain(test.user, day);

  it("R-AGT-40 entries are linked in the order they came, over calls and batches", async () => {
    const test = await chained(3);
    await test.tools.ingest(
      test.user,
      Array.from({ length: 250 }, (_, i) =>
        call(`b${String(i).padStart(3, "0")}`, {
          timestamp: `${day}T${String(23 - (i % 24)).padStart(2, "0")}:00:00Z`,
        }),
      ),
    );
    const { items } = await test.items.query(test.user.scope, "tool-invocations", {
      equals: { tool_date: day },
      limit: 1000,
    });
    const links = items.flatMap(({ id, document }) =>
      document["chain"] === undefined
        ? []
        : [{ id, ...(document["chain"] as { sequence: number; previous: string | null; hash: string }) }],
    );
    links.sort((a, b) => a.sequence - b.sequence);
    expect(links.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 253 }, (_, i) => i + 1));
    expect(links.slice(3).map(({ id }) => id)).toEqual(
      Array.from({ length: 250 }, (_, i) => `b${String(i).padStart(3, "0")}`),
    );
    links.forEach(({ previous }, i) => expect(previous).toBe(links[i - 1]?.hash ?? null));
    expect(await verify(test)).toEqual({
      tool_date: day,
      state: "chained",
      entries: 253,
      intact: true,
      broken_at: null,
      head: links.at(-1)?.hash,
    });
    expect(
      (
        await test.tools.aggregate(test.user, {
          from: `${day}T00:00:00Z`,
          to: "2030-01-02T00:00:00Z",
          aggregates: ["count"],
        })
      ).rows_aggregated,
    ).toBe(253);
  });

  it("R-AGT-40 of two processes that write at once every entry has a place of its own", async () => {
    const test = await chained(0);
    const other = test.again().tools;
    await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        (i % 2 === 0 ? test.tools : other).ingest(test.user, [call(`x${i}`), call(`y${i}`)]),
      ),
    );
    expect(await verify(test)).toMatchObject({ entries: 20, intact: true });
  });

  it("R-AGT-40 a changed, a removed and an inserted entry are found", async () => {
    const tampered = async (tamper: (test: TestSeries) => Promise<unknown>) => {
      const test = await chained();
      test.clock.at += 1000;
      await tamper(test);
      return (await verify(test)).broken_at;
    };
    const write = (test: TestSeries, operation: Parameters<TestSeries["items"]["write"]>[3]) =>
      test.items.write(test.user.scope, "tool-invocations", [day], operation);
    const entry = async (test: TestSeries, id: string) =>
      (await test.items.read(test.user.scope, "tool-invocations", { partition: [day], id }))?.document as Record<
        string,
        never
      >;
    expect(await tampered(async () => {})).toBeNull();
    expect(
      await tampered((test) =>
        write(test, { op: "patch", id: "t2", patch: [{ op: "set", path: "/duration_ms", value: 1 }] }),
      ),
    ).toBe("t2");
    expect(await tampered((test) => write(test, { op: "delete", id: "t2" }))).toBe("missing: 3");
    expect(await tampered((test) => write(test, { op: "delete", id: "t0" }))).toBe("missing: 1");
    expect(await tampered((test) => write(test, { op: "delete", id: "t4" }))).toBe("missing: 5");
    expect(
      await tampered(async (test) =>
        write(test, { op: "create", document: { ...(await entry(test, "t2")), id: "copy" } }),
      ),
    ).toBe("copy");
    expect(
      await tampered(async (test) =>
        write(test, { op: "create", document: { ...(await entry(test, "t2")), id: "bare", chain: undefined } }),
      ),
    ).toBe("bare");
    expect(
      await tampered((test) =>
        write(test, { op: "patch", id: "t3", patch: [{ op: "set", path: "/chain/previous", value: "0" }] }),
      ),
    ).toBe("t3");
    const all = async (test: TestSeries) => {
      for (let i = 0; i < 5; i += 1) await write(test, { op: "delete", id: `t${i}` });
    };
    expect(await tampered(all)).toBe("missing: 1");
  });

  it("R-AGT-40 what has expired at the beginning is not missed; what is left is still checked", async () => {
    const test = await chained(2);
    test.clock.at += 3_600_000;
    await test.tools.ingest(test.user, [call("late1"), call("late2")]);
    test.clock.at = testStart + 90 * 86_400_000;
    expect(await verify(test)).toMatchObject({ entries: 2, intact: true });
    await test.items.write(test.user.scope, "tool-invocations", [day], { op: "delete", id: "late2" });
    expect(await verify(test)).toMatchObject({ intact: false, broken_at: "missing: 4" });
    test.clock.at += 2 * 3_600_000;
    expect(await verify(test)).toMatchObject({ entries: 0, intact: true });
  });

  it("a day keeps its chain when the setting is turned off, and one without a chain has none to check", async () => {
    const test = await chained(2);
    await test.tools.putSettings(test.admin, { hash_chain: false });
    await test.tools.ingest(test.user, [call("t9"), call("other-day", { timestamp: "2030-01-02T00:00:00Z" })]);
    expect(await verify(test)).toMatchObject({ entries: 3, intact: true });
    const nothing = { entries: 0, intact: true, broken_at: null, head: null };
    expect(await test.tools.verifyChain(test.user, "2030-01-02")).toEqual({
      tool_date: "2030-01-02",
      state: "unchained",
      ...nothing,
    });
    expect(await test.tools.verifyChain(test.user, "2030-01-03")).toEqual({
      tool_date: "2030-01-03",
      state: "empty",
      ...nothing,
    });
    expect(await test.tools.settings(test.user)).toEqual({ hash_chain: false });
    // Entries of a chain cannot have a time to live of their own; the others of the call go in.
    expect(await test.tools.ingest(test.user, [call("short", { ttl: 60 }), call("t10")])).toMatchObject({
      accepted: 1,
      lines: [{ line: 1, status: 400 }],
    });
    expect(await verify(test)).toMatchObject({ entries: 4, intact: true });
  });

  it("a chain of as many entries as may be checked is checked, one of more is not", async () => {
    const test = await chained(5);
    const now = test.clock.now();
    expect(await verifyChain(test.items, test.user.scope, day, now, 5)).toMatchObject({ entries: 5, intact: true });
    await expect(verifyChain(test.items, test.user.scope, day, now, 4)).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
    });
  });

  it("entries that are older than the chain stay as they are", async () => {
    const test = await openTestSeries();
    await test.tools.ingest(test.user, [call("before")]);
    test.clock.at += 1;
    await test.tools.putSettings(test.admin, { hash_chain: true });
    await test.tools.ingest(test.user, [call("after")]);
    expect(await verify(test)).toMatchObject({ entries: 1, intact: true });
    expect(await test.tools.ingest(test.user, [call("before"), call("after")])).toMatchObject({ duplicates: 2 });
    expect(
      await test.tools.ingest(test.user, [
        call("forged", { chain: { sequence: 7, previous: null, hash: "x" } } as object),
      ]),
    ).toMatchObject({
      accepted: 1,
    });
    expect(await verify(test)).toMatchObject({ entries: 2, intact: true });
    await expect(test.tools.verifyChain(test.user, "yesterday")).rejects.toMatchObject({ code: "INVALID" });
  });
});
