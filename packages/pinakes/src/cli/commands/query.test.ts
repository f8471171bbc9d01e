import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { open } from "../../open.ts";
import { UsageError } from "../terminal/command.ts";
import { listItemsMax } from "../terminal/pages.ts";
import { rowsText } from "../terminal/query-rows.ts";
import { query } from "./query.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { failure, run } from "../terminal/test-terminal.ts";

// Many openings of the stores in one test: a busy machine takes its time.
const base = temporaryFolder("cli-query");
const env = { PINAKES_DATA: join(base, "data") };

const call = (args: readonly string[], terminal: Partial<Terminal> = {}) =>
  run(query, args, { env, cwd: base, ...terminal });
const json = async <T = unknown>(...args: string[]): Promise<T> =>
  JSON.parse((await call([...args, "--json"])).out) as T;
const refused = (...args: string[]) => failure(call(args));

beforeAll(async () => {
  await using pinakes = await open({ dir: env.PINAKES_DATA, background: false });
  const { containers } = pinakes.state.as(pinakes.as({ tenant: "default", userId: "ada", role: "user" }));
  await containers.put("tickets", { partition_key: "/customer" });
  await containers.put("visits", { partition_key: ["/customer", "/year"] });
  for (const n of [1, 2, 3])
    await containers.create("tickets", {
      id: `t${n}`,
      customer: n === 2 ? "beta" : "acme",
      n,
      code: String(n),
      tags: ["a", n],
      open: n < 3,
    });
  await containers.create("visits", { id: "v1", customer: "acme", year: 2030 });
});

describe("pinakes query", () => {
  it("prints a table, JSON, or one row a line", async () => {
    const sql = "SELECT c.id, c.n, c.tags, c.open, c.none FROM c ORDER BY c.n DESC";
    expect((await call(["tickets", sql])).out).toMatch(
      /^id +n +tags +open\nt3 +3 +\["a",3\] +false\nt2 +2 +\["a",2\] +true\n/,
    );
    expect(await json("tickets", sql, "--limit", "1")).toMatchObject({
      items: [{ id: "t3" }],
      next_cursor: expect.any(String) as string,
    });
    expect((await call(["tickets", "SELECT c.id FROM c ORDER BY c.id", "--limit", "2"])).out).toMatch(
      /^id\nt1\nt2\nThese are the first 2; for more: --limit 20\./,
    );
    const lines = await call(["tickets", "SELECT VALUE c.n FROM c ORDER BY c.n", "--ndjson", "--limit", "2"]);
    expect(lines.out).toBe("1\n2\n");
    expect(lines.err).toContain("for more: --limit 20");
    expect((await call(["tickets", "SELECT VALUE COUNT(1) FROM c"])).out).toMatch(/^3\n/);
    expect((await call(["tickets", "SELECT * FROM c WHERE c.n > 9"])).out).toMatch(/^Nothing was found\.\n/);
    expect(await json("tickets", "SELECT VALUE COUNT(1) FROM c", "--limit", String(listItemsMax))).toMatchObject({
      items: [3],
      next_cursor: null,
    });
    expect(await refused("tickets", "SELECT * FROM c", "--limit", String(listItemsMax + 1))).toBeInstanceOf(UsageError);
  });

  it("goes on from a cursor", async () => {
    const sql = "SELECT c.id FROM c ORDER BY c.id";
    const { next_cursor } = await json<{ next_cursor: string }>("tickets", sql, "--limit", "2");
    expect(await json("tickets", sql, `--cursor=${next_cursor}`)).toMatchObject({
      items: [{ id: "t3" }],
      next_cursor: null,
    });
    expect((await refused("tickets", sql, "--cursor", "zzz")).code).toBe("INVALID");
  });

  it("takes parameters: JSON where they are, texts otherwise", async () => {
    const ids = async (sql: string, ...params: string[]) =>
      (await json<{ items: { id: string }[] }>("tickets", sql, ...params.flatMap((param) => ["--param", param]))).items
        .map(({ id }) => id)
        .toSorted();
    expect(await ids("SELECT c.id FROM c WHERE c.n = @n AND c.customer = @who", "n=2", "@who=beta")).toEqual(["t2"]);
    expect(await ids("SELECT c.id FROM c WHERE c.code = @code", 'code="2"')).toEqual(["t2"]);
    expect(await ids("SELECT c.id FROM c WHERE c.code = @code", "code=2")).toEqual([]);
    expect(await ids("SELECT c.id FROM c WHERE c.open = @open AND c.customer != 'a@b'", "open=true")).toEqual([
      "t1",
      "t2",
    ]);
    expect((await refused("tickets", "SELECT * FROM c WHERE c.n = @n AND c.m = @m", "--param", "n=1")).message).toBe(
      "@m has no value; give it one: --param m=…",
    );
    expect((await refused("tickets", "SELECT * FROM c", "--param", "n")).message).toContain("write name=value");
    expect((await refused("tickets", "SELECT * FROM c", "--param", "n=1", "--param", "n=2")).message).toContain(
      "@n is specified twice",
    );
  });

  it("asks one partition, by a text or a list", async () => {
    expect(await json("tickets", "SELECT VALUE c.id FROM c", "--partition", "beta")).toMatchObject({ items: ["t2"] });
    expect(await json("visits", "SELECT VALUE c.id FROM c", "--partition", '["acme",2030]')).toMatchObject({
      items: ["v1"],
    });
    expect((await refused("visits", "SELECT VALUE c.id FROM c", "--partition", "acme")).message).toContain(
      "/customer, /year",
    );
    for (const wrong of ["[x", "[]", "[null]"])
      expect(await refused("tickets", "SELECT * FROM c", "--partition", wrong)).toBeInstanceOf(UsageError);
  });

  it("explains how it would be answered, and refuses what no index serves when asked to", async () => {
    expect(await json("tickets", "SELECT * FROM c", "--partition", "acme", "--explain")).toMatchObject({
      access: "partition",
    });
    expect((await call(["tickets", "SELECT * FROM c WHERE c.n = 1", "--explain"])).out).toMatch(
      /^access +reads every item\n[^]*evaluated for each item +n\n/,
    );
    expect((await refused("tickets", "SELECT * FROM c WHERE c.n = 1", "--strict")).code).toBe("INVALID");
  });

  it("tells mistakes in the query and on the command line", async () => {
    expect((await refused("tickets", "SELEC * FROM c")).message).toContain("line 1, column 1");
    expect((await refused("none", "SELECT * FROM c")).code).toBe("NOT_FOUND");
    expect((await refused("tickets", "SELECT * FROM c", "--workspace", "other")).code).toBe("NOT_FOUND");
    expect((await refused("tickets", "SELECT", "*", "FROM", "c")).message).toContain('<container> "SELECT …"');
    for (const wrong of [
      ["--ndjson", "--json"],
      ["--ndjson", "--explain"],
    ])
      expect(await refused("tickets", "SELECT * FROM c", ...wrong)).toBeInstanceOf(UsageError);
    expect(await refused("tickets")).toBeInstanceOf(UsageError);
  });
});

describe("rows as a table", () => {
  const look = (columns?: number) => ({ columns, color: false }) as Terminal;

  it("has the id first and a column for each name; rows without a value stay empty", () => {
    expect(
      rowsText(look(), [
        { b: 1, id: "x", _ts: 5 },
        { id: "y", c: null },
      ]),
    ).toBe("id  b  c     _ts\nx   1        5\ny      null");
    expect(rowsText(look(), [{}, {}])).toBe("{}\n{}");
    expect(rowsText(look(), ["a\u001B[2Jb", 1, null, { x: 1 }])).toBe('a [2Jb\n1\nnull\n{"x":1}');
  });

  it("leaves out from the end what does not fit, and says so, on a terminal with colours, too", () => {
    const names = Array.from({ length: 12 }, (_, i) => `column-${i}`);
    const row = {
      _etag: "e",
      ...Object.fromEntries(names.map((name) => [name, "a long value of a column"])),
      id: "x".repeat(40),
    };
    const text = rowsText(look(80), [row]);
    expect(text.split("\n")[0]).toMatch(/^id +column-0 +column-1 +column-2$/);
    expect(text).toContain(
      "\n\nNot shown: column-3, column-4, column-5, column-6, column-7, column-8, column-9, column-10 and 2 more. ",
    );
    expect(rowsText({ columns: 80, color: true } as Terminal, [row])).toContain("Not shown: column-3,");
    const long = rowsText(look(80), [{ ...row, id: "x".repeat(41) }]).split("\n");
    expect(long[0]).toContain("column-3");
    expect(long[0]?.length).toBeLessThanOrEqual(80);
  });
});
