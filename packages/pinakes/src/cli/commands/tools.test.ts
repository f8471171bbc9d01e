import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { open } from "../../open.ts";
import { UsageError } from "../terminal/command.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { failure, run } from "../terminal/test-terminal.ts";
import { tools } from "./tools.ts";

// Many openings of the stores in one test: a busy machine takes its time.
const base = temporaryFolder("cli-tools");
const env = { PINAKES_DATA: join(base, "data") };

const call = (args: readonly string[], terminal: Partial<Terminal> = {}) =>
  run(tools, args, { env, cwd: base, ...terminal });
const json = async <T = unknown>(...args: string[]): Promise<T> =>
  JSON.parse((await call([...args, "--json"])).out) as T;
const refused = (...args: string[]) => failure(call(args));

const day = new Date().toISOString().slice(0, 10);
const invocation = (id: string, tool_name: string, more: object = {}) =>
  JSON.stringify({
    id,
    tool_name,
    agent_id: "agent-1",
    session_id: "s-1",
    status: "success",
    duration_ms: 120,
    timestamp: `${day}T00:00:00Z`,
    ...more,
  });

beforeAll(async () => {
  const error_details = { error_type: "Denied", error_message: "wrong, \u001B[2Jreally", stack_trace: "at a\nat b" };
  await writeFile(
    join(base, "tools.ndjson"),
    [
      invocation("t1", "web_search", { input_args: { q: "herons" } }),
      invocation("t2", "login", {
        input_args: { user: "ada", password: "secret" },
        status: "error",
        duration_ms: 2_000,
        error_details,
        timestamp: `${day}T00:00:01Z`,
      }),
      invocation("t3", "login", { status: "error" }),
    ].join("\n"),
  );
});

describe("pinakes tools rules, settings", () => {
  it("sets, lists and deletes rules; what is no rule is told", async () => {
    // Where there is no data yet, only what makes something makes the folder.
    expect((await refused("rules", "list")).message).toContain("There is no data in");
    await call(["settings", "--hash-chain", "off"]);
    expect((await call(["rules", "list"])).out).toContain("There are no rules");
    expect(
      await json(
        "rules",
        "set",
        "login",
        "--drop",
        "input_args.password",
        "--mask",
        "input_args.user, output_result.*",
      ),
    ).toMatchObject({
      tool_name: "login",
      drop: ["input_args.password"],
      mask: ["input_args.user", "output_result.*"],
    });
    expect(await json("rules", "set", "payroll", "--sensitive")).toMatchObject({ sensitive: true });
    expect((await call(["rules", "list"])).out).toMatch(
      /^tool +left out +masked\nlogin +input_args\.password +input_args\.user, .*\npayroll +all inputs and outputs\n$/,
    );
    expect((await failure(call(["rules", "delete", "payroll"], { ask: async () => "n" }))).message).toContain(
      "nothing was changed",
    );
    expect(await json("rules", "delete", "payroll")).toEqual({ deleted: "payroll" });
    expect((await refused("rules", "delete", "payroll", "--yes")).code).toBe("NOT_FOUND");
    expect((await refused("rules", "set", "login", "--drop", "password")).code).toBe("INVALID");
    expect((await refused("rules", "set", "login", "--sensitive", "--role", "user")).code).toBe("FORBIDDEN");
    expect((await refused("rules", "lst")).message).toContain('did you mean "tools rules list"?');
    for (const words of [["set", "login"], ["set"], ["delete"], ["list", "login"], ["list", "--sensitive"], []])
      expect(await refused("rules", ...words)).toBeInstanceOf(UsageError);
  });

  it("chains what comes from now on", async () => {
    expect(await json("settings")).toEqual({ hash_chain: false });
    expect((await call(["settings", "--hash-chain", "on"])).out).toBe("hash chain  on\n");
    expect(await refused("settings", "--hash-chain", "yes")).toBeInstanceOf(UsageError);
  });
});

describe("pinakes tools ingest, list, show, export, aggregate, verify", () => {
  it("takes a file, by the rules, and tells what is wrong with a line", async () => {
    const { code, out } = await call(["ingest", "tools.ndjson"]);
    expect({ code, out }).toEqual({
      code: 1,
      out: expect.stringMatching(/^2 lines accepted, 1 refused\.\n {2}tools\.ndjson:3: .*error_details/) as string,
    });
    expect((await refused("ingest", "none")).message).toContain("cannot be read");
  });

  it("lists and shows them, without what the rules leave out and without escape sequences", async () => {
    expect(await json("list")).toMatchObject({ items: [{ id: "t2" }, { id: "t1" }], next_cursor: null });
    for (const one of [
      ["--tool", "login"],
      ["--status", "error"],
      ["--agent", "agent-1", "--from", `${day}T00:00:01Z`],
      ["--session", "s-1", "--limit", "1"],
    ])
      expect(await json("list", ...one)).toMatchObject({ items: [{ id: "t2" }] });
    expect((await call(["list", "--workflow", "none"])).out).toContain("There are none in workspace default ");
    expect((await call(["list"])).out).toMatch(
      /^time +tool +status +took +agent +id +error\n.* login +error +2000 ms +agent-1 +t2 +wrong, /,
    );
    const { out } = await call(["show", day, "t2"]);
    expect(out).toContain("Denied: wrong, ");
    expect(out).toContain('"user": "[redacted]"');
    for (const hidden of ["secret", "\u001B"]) expect(out).not.toContain(hidden);
    expect((await refused("show", day, "t9")).code).toBe("NOT_FOUND");
    expect(await refused("show", "t1")).toBeInstanceOf(UsageError);
    expect(await refused("list", "--status", "ok")).toBeInstanceOf(UsageError);
  });

  it("exports to stdout, or into a file that is whole or not there", async () => {
    const csv = await call(["export", "--format", "csv"]);
    expect(csv.out).toMatch(/^id,tool_date,timestamp,[^]*\r\nt1,[^]*\r\nt2,/);
    expect(
      (await call(["export", "--tool", "web_search"])).out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as object),
    ).toMatchObject([{ id: "t1" }]);
    await writeFile(join(base, "audit.csv"), "old");
    const { bytes } = await json<{ bytes: number }>("export", "--format", "csv", "--out", "audit.csv");
    const written = await readFile(join(base, "audit.csv"), "utf8");
    expect(written).toBe(csv.out);
    expect(bytes).toBe(Buffer.byteLength(written));
    expect(existsSync(join(base, "audit.csv.part"))).toBe(false);
    expect((await call(["export", "--out", "/dev/null"])).out).toMatch(/ in \/dev\/null\.\n$/);
    expect((await refused("export", "--out", "no-folder/audit.csv")).message).toContain("cannot be written");
    expect(await refused("export", "--format", "xml")).toBeInstanceOf(UsageError);
    expect((await refused("export", "--json")).message).toContain("--out FILE");
  });

  it("aggregates how long they took", async () => {
    expect(
      await json(
        "aggregate",
        "--by",
        "tool_name,status",
        "--values",
        "count,max",
        "--filter",
        "workflow_id=",
        "--from",
        day,
        "--bucket",
        "day",
      ),
    ).toMatchObject({
      items: [
        { group: { tool_name: "login", status: "error" }, values: { count: 1, max: 2_000 } },
        { group: { tool_name: "web_search" } },
      ],
    });
    expect(await refused("aggregate", "--by", "model")).toBeInstanceOf(UsageError);
  });

  it("verifies a day: intact, nothing to check, or changed with exit code 1", async () => {
    expect((await call(["verify", day])).out).toContain(`${day}: 2 invocations, all unchanged.`);
    expect((await call(["verify", "2020-01-01"])).out).toContain(
      "There are no invocations on 2020-01-01: nothing to verify.",
    );
    expect((await refused("verify", "yesterday")).code).toBe("INVALID");
    await using pinakes = await open({ dir: env.PINAKES_DATA, background: false });
    const { scope } = pinakes.as({ tenant: "default", userId: "eve", role: "admin" });
    await pinakes.items.write(scope, "tool-invocations", [day], {
      op: "patch",
      id: "t1",
      patch: [{ op: "set", path: "/duration_ms", value: 1 }],
    });
    const broken = await call(["verify", day]);
    expect(broken).toMatchObject({
      code: 1,
      out: expect.stringContaining("The first error is at t1.") as string,
    });
  });
});
