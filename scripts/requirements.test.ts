import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { numbersIn, pagePath, requirements, requirementsPage, titlesIn } from "./requirements.ts";

describe("the titles of tests", () => {
  it("are found in every form of a test", () => {
    const source = [
      `it("plain", () => {});`,
      `test('single "quotes"', () => {});`,
      "it(`template ${x}`, () => {});",
      `fixture.test("of a suite", async () => {});`,
      `it.each([1, (2)])("each %s", () => {});`,
      `it.skipIf(process.platform === "win32")("skipped if", () => {});`,
      `it.concurrent("concurrent", () => {});`,
      `it(\n  "on the next line",\n  () => {});`,
      `it("with \\"escapes\\"", () => {});`,
    ].join("\n");
    expect(titlesIn(source)).toEqual([
      "plain",
      'single "quotes"',
      "template …",
      "of a suite",
      "each %s",
      "skipped if",
      "concurrent",
      "on the next line",
      'with "escapes"',
    ]);
  });

  it("are not found in comments, strings, regular expressions, other calls or tests that are always skipped", () => {
    const source = [
      `// it("in a comment", () => {});`,
      `/* test("in a block", () => {}); */`,
      `const text = 'it("in a string", () => {})';`,
      "const more = `it('in a template', () => {})`;",
      `submit("not a test", 1); describe("a group", () => {}); exit("no", 1);`,
      `it.skip("skipped", () => {}); it.todo("to do");`,
      `if (pattern.test("a value") || /["'\`]/.test("another")) it("found after a quote in a pattern", () => {});`,
    ].join("\n");
    expect(titlesIn(source)).toEqual(["found after a quote in a pattern"]);
  });

  it("name one number, several, ranges and lists", () => {
    expect(numbersIn("R-AGT-46 the nine cases")).toEqual(["R-AGT-46"]);
    expect(numbersIn("R-AGT-46, R-AGT-47 and R-KB-07: names")).toEqual(["R-AGT-46", "R-AGT-47", "R-KB-07"]);
    expect(numbersIn("R-AGT-84…88 speed")).toEqual(["R-AGT-84", "R-AGT-85", "R-AGT-86", "R-AGT-87", "R-AGT-88"]);
    expect(numbersIn("R-TG-98–R-TG-101")).toEqual(["R-TG-98", "R-TG-99", "R-TG-100", "R-TG-101"]);
    expect(numbersIn("R-TG-08..10, R-TG-30/31/32")).toEqual([
      "R-TG-08",
      "R-TG-09",
      "R-TG-10",
      "R-TG-30",
      "R-TG-31",
      "R-TG-32",
    ]);
    expect(numbersIn("R-AGT-53 and R-AGT-53, 100 parallel increments")).toEqual(["R-AGT-53"]);
    expect(numbersIn("no number; XR-AGT-46; R-agt-01")).toEqual([]);
  });

  it("with a reversed range count as an unknown number", () => {
    expect(numbersIn("R-AGT-88…84")).toEqual(["R-AGT-88…84"]);
  });
});

const checks = (group: string) =>
  JSON.stringify([
    { id: `R-${group}-01`, text: "One | thing." },
    { id: `R-${group}-02`, text: "Another." },
  ]);
const sources = Object.fromEntries(
  ["agt", "cmp", "kb", "lisa", "tg"].map((file) => [`docs/requirements/${file}.json`, checks(file.toUpperCase())]),
);
const tree = (files: Record<string, string>) => new Map(Object.entries({ ...sources, ...files }));
const testOf = (title: string) => `it(${JSON.stringify(title)}, () => {});`;

describe("the page", () => {
  it("counts, links each test that names a number, and lists what is not proved yet", () => {
    const page = requirementsPage(
      tree({
        "packages/pinakes/src/b.test.ts": testOf("R-AGT-01, R-KB-02 [a] | b"),
        "packages/pinakes/src/a.test.ts": testOf("first R-AGT-01"),
      }),
    );
    expect(page).toContain(
      "| R-AGT-01 | One \\| thing. | [first R-AGT-01](../packages/pinakes/src/a.test.ts)<br>[R-AGT-01, R-KB-02 \\[a\\] \\| b](../packages/pinakes/src/b.test.ts) |",
    );
    expect(page).toContain("| R-AGT-02 | Another. | not yet |");
    expect(page).toMatch(/\| \[R-AGT\]\(#agent-state\) \| .* \| 1 \| 0 \| 2 \|/);
    expect(page).toContain("| all | | 2 | 0 | 10 |");
  });

  it("counts open checks as proved in part, and accepts benchmarks that reached their bars", () => {
    const rows = [
      { name: "read, SQLite", unit: "ms", bar: "≤ 10", ok: true },
      { name: "read, PostgreSQL", unit: "ms", bar: "≤ 10", ok: false },
      { name: "write", unit: "ms", bar: "", ok: true },
    ];
    const given = (bench: readonly string[], open?: string) =>
      tree({
        "bench/results/b.json": JSON.stringify({ rows }),
        "docs/requirements/kb.json": JSON.stringify([{ id: "R-KB-01", text: "Fast.", bench, open }]),
      });
    const bar = "[bench: read, SQLite ≤ 10 ms](../bench/results/b.json)";
    expect(requirementsPage(given(["b: read"]))).toContain(`| R-KB-01 | Fast. | ${bar} |`);
    expect(requirementsPage(given(["b: read"]))).toContain("| all | | 1 | 0 | 9 |");
    const partly = requirementsPage(given(["b: read"], "the rest"));
    expect(partly).toContain(`| R-KB-01 | Fast. | ${bar}<br>**open:** the rest |`);
    expect(partly).toContain("| all | | 0 | 1 | 9 |");
    expect(requirementsPage(given(["b: read, PostgreSQL"], "all"))).toContain(
      "| R-KB-01 | Fast. | not yet<br>**open:** all |",
    );
    for (const unknown of ["b: write", "b: erase", "c: read"])
      expect(requirements(given([unknown])).problems).toEqual([expect.stringContaining(unknown)]);
  });

  it("says on which engines a test of a shared suite runs, without those that skip it", () => {
    const files = {
      "packages/pinakes/src/testing/item-store/writes.ts": `fixture.test("R-AGT-01 writes", () => {});`,
      "packages/pinakes/src/drivers/sqlite/sqlite.test.ts": `itemStoreSuite({ name: "sqlite" });`,
      "packages/pinakes/src/drivers/memory/memory.test.ts": `itemStoreSuite({ name: "memory" });`,
      "packages/pinakes/src/drivers/other/other.test.ts": `itemStoreSuite({}, { skip: [{ test: "writes", reason: "…", capability: "durable" }] });`,
      "packages/pinakes/src/drivers/fs/fs.test.ts": `// itemStoreSuite(`,
    };
    expect(requirementsPage(tree(files))).toContain(
      "[R-AGT-01 writes](../packages/pinakes/src/testing/item-store/writes.ts) (on memory, sqlite) |",
    );
  });

  it("reads suites that are beside their tests, too, and nothing else in their folder", () => {
    const files = {
      "packages/pinakes/test/lifecycle/support/participant-suite.ts": testOf("R-TG-01 deletes"),
      "packages/pinakes/test/lifecycle/support/world.ts": testOf("R-TG-02 helps"),
      "packages/pinakes/test/lifecycle/participants.test.ts": `participantSuite(store, { own: true });`,
    };
    const page = requirementsPage(tree(files));
    expect(page).toContain(
      "[R-TG-01 deletes](../packages/pinakes/test/lifecycle/support/participant-suite.ts) (on participants) |",
    );
    expect(page).toContain("| R-TG-02 | Another. | not yet |");
    const { "packages/pinakes/test/lifecycle/participants.test.ts": _, ...unused } = files;
    expect(requirementsPage(tree(unused))).toContain("| all | | 0 | 0 | 10 |");
  });

  it("counts nothing as proved by a suite that no engine runs", () => {
    expect(
      requirementsPage(tree({ "packages/pinakes/src/testing/item-store/writes.ts": testOf("R-AGT-01 writes") })),
    ).toContain("| all | | 0 | 0 | 10 |");
  });

  it("reports a title with an unknown number, and refuses checks that are wrong", () => {
    expect(requirements(tree({ "scripts/a.test.ts": testOf("R-AGT-03 x") })).problems).toEqual([
      'scripts/a.test.ts: the title "R-AGT-03 x" names R-AGT-03, which is not in docs/requirements/.',
    ]);
    expect(() => requirements(tree({ "docs/requirements/kb.json": `[{ "id": "R-AGT-01", "text": "x" }]` }))).toThrow(
      "docs/requirements/kb.json",
    );
    expect(() => requirements(new Map())).toThrow("is missing");
  });
});

describe("npm run requirements", () => {
  const folders: string[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });

  function repository(files: Record<string, string>): {
    root: string;
    run: (...args: string[]) => { status: number | null; output: string };
  } {
    const root = mkdtempSync(join(tmpdir(), "pinakes-requirements-"));
    folders.push(root);
    for (const [path, text] of tree(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    const script = fileURLToPath(new URL("./requirements.ts", import.meta.url));
    const run = (...args: string[]) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
        cwd: root,
        encoding: "utf8",
      });
      return { status, output: stdout + stderr };
    };
    return { root, run };
  }

  it("--check fails with a clear line until the page is written, and passes then", () => {
    const { root, run } = repository({ "scripts/a.test.ts": testOf("R-TG-01 x") });
    expect(run("--check")).toEqual({
      status: 1,
      output: "requirements: docs/requirements.md is out of date; run `npm run requirements`.\n",
    });
    expect(run()).toEqual({ status: 0, output: "requirements: wrote docs/requirements.md.\n" });
    expect(run("--check")).toEqual({ status: 0, output: "requirements: docs/requirements.md is up to date.\n" });
    writeFileSync(join(root, "scripts/a.test.ts"), testOf("R-TG-02 x"));
    expect(run("--check").status).toBe(1);
    run();
    expect(readFileSync(join(root, pagePath), "utf8")).toContain("[R-TG-02 x](../scripts/a.test.ts)");
  });

  it("fails on an unknown number with --check and without, and writes nothing", () => {
    const { root, run } = repository({ "scripts/a.test.ts": testOf("R-TG-99 x"), [pagePath]: "as it was" });
    for (const args of [["--check"], []])
      expect(run(...args)).toMatchObject({
        status: 1,
        output: expect.stringContaining("names R-TG-99, which is not in docs/requirements/") as string,
      });
    expect(run("--chek")).toMatchObject({
      status: 1,
      output: expect.stringContaining('unknown argument "--chek"') as string,
    });
    expect(readFileSync(join(root, pagePath), "utf8")).toBe("as it was");
  });
});
