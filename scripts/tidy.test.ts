import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { codeOnly, importsOf, withoutComments } from "./tidy/code.ts";
import { direction } from "./tidy/direction.ts";
import { dependencies, links, taskPaths } from "./tidy/documents.ts";
import { fileNames, hosts, leftovers, lengths, scopeMakers, timeLimits } from "./tidy/sources.ts";
import { readTree, type Rule } from "./tidy/tree.ts";

const source = "packages/pinakes/src/";

function found(rule: Rule, files: Record<string, string>): string[] {
  return rule(new Map(Object.entries(files))).map(
    ({ path, line, note }) => `${path}${line > 0 ? `:${line}` : ""}${note ? " note" : ""}`,
  );
}

/** Words the rules look for are written with a "_" inside, so that tidy does not find them here. */
function joined(text: string): string {
  return text.replace("_", "");
}

function objections(from: string, ...imports: string[]): number {
  return direction(new Map([[source + from, imports.map((path) => `import { x } from "${path}";`).join("\n")]])).length;
}

describe("tidy: direction", () => {
  it("lets each part import the layers below it", () => {
    expect(objections("domain/a.ts", "./b.ts")).toBe(0);
    expect(objections("ports/a.ts", "../domain/b.ts")).toBe(0);
    expect(objections("items/a.ts", "../domain/b.ts", "../ports/b.ts", "node:crypto")).toBe(0);
    expect(objections("objects/a.ts", "../domain/b.ts", "../ports/b.ts")).toBe(0);
    expect(objections("containers/a.ts", "../domain/b.ts", "../ports/b.ts", "zod")).toBe(0);
    expect(objections("state/a.ts", "../containers/b.ts", "../knowledge/index.ts")).toBe(0);
    expect(
      objections("drivers/sqlite/a.ts", "./b.ts", "../../items/b.ts", "../../objects/b.ts", "node:sqlite", "pg"),
    ).toBe(0);
    expect(objections("http/a.ts", "../open.ts", "../state/index.ts", "hono")).toBe(0);
    expect(objections("cli/a.ts", "../open.ts", "../config.ts", "../http/app.ts")).toBe(0);
    expect(objections("testing/a.ts", "../drivers/memory/index.ts", "../open.ts", "vitest")).toBe(0);
    expect(objections("open.ts", "./open-engines.ts", "./items/sweeper.ts", "./state/index.ts")).toBe(0);
    expect(
      objections("open-engines.ts", "./drivers/sqlite/index.ts", "./queues/item-queue/index.ts", "./vectors/index.ts"),
    ).toBe(0);
    expect(objections("open.ts", "./drivers/sqlite/index.ts")).toBe(1);
    expect(objections("open.ts", "./open-options.ts", "./open-background.ts", "./open-pinakes.ts")).toBe(0);
    expect(objections("open-background.ts", "./open-options.ts", "./items/periodic.ts", "./knowledge/index.ts")).toBe(
      0,
    );
    expect(objections("open-pinakes.ts", "../package.json", "./config.ts", "./knowledge/index.ts")).toBe(0);
    expect(objections("items/a.test.ts", "../drivers/memory/index.ts")).toBe(0);
    expect(objections("drivers/sqlite/test-helpers.ts", "../memory/index.ts")).toBe(0);
  });

  it("rejects every import of a layer above or beside", () => {
    const wrong: [string, string][] = [
      ["domain/a.ts", "../ports/b.ts"],
      ["domain/a.ts", "node:crypto"],
      ["domain/a.ts", "zod"],
      ["ports/a.ts", "../items/b.ts"],
      ["ports/a.ts", "node:fs"],
      ["items/a.ts", "../objects/b.ts"],
      ["items/a.ts", "../drivers/memory/index.ts"],
      ["items/a.ts", "node:fs"],
      ["objects/a.ts", "../items/b.ts"],
      ["objects/a.ts", "node:fs"],
      ["containers/a.ts", "../items/b.ts"],
      ["containers/a.ts", "hono"],
      ["state/a.ts", "../drivers/sqlite/index.ts"],
      ["state/a.ts", "../knowledge/inner.ts"],
      ["state/a.ts", "../items/b.ts"],
      ["drivers/sqlite/a.ts", "../postgres/b.ts"],
      ["drivers/sqlite/a.ts", "../../state/index.ts"],
      ["drivers/sqlite/a.ts", "../../open.ts"],
      ["http/a.ts", "../drivers/sqlite/index.ts"],
      ["http/a.ts", "../items/b.ts"],
      ["http/a.ts", "../cli/b.ts"],
      ["testing/a.ts", "../http/app.ts"],
      ["testing/a.ts", "../cli/start.ts"],
      ["index.ts", "./drivers/sqlite/index.ts"],
      ["config.ts", "./open.ts"],
      ["open.ts", "./http/app.ts"],
      ["open.ts", "./drivers/sqlite/engine.ts"],
      ["open-background.ts", "./open.ts"],
      ["open-pinakes.ts", "./open-engines.ts"],
      ["http/a.ts", "../open-pinakes.ts"],
      ["domain/a.ts", "../../../../scripts/x.ts"],
    ];
    for (const [from, to] of wrong) expect(objections(from, to), `${from} → ${to}`).toBe(1);
    expect(found(direction, { [`${source}unknown/a.ts`]: "" })).toHaveLength(1);
  });

  it("rejects folders that import each other, also through others; a file beside folders counts on its own", () => {
    const file = (path: string, ...imports: string[]): [string, string] => [
      source + path,
      imports.map((specifier) => `import { x } from "${specifier}";`).join("\n"),
    ];
    const complaints = (...files: [string, string][]) => direction(new Map(files)).map(({ message }) => message);
    const frame = [file("state/index.ts", "./a/x.ts"), file("state/limits.ts"), file("state/a/x.ts", "../limits.ts")];
    expect(complaints(...frame)).toEqual([]);
    expect(complaints(...frame, file("state/a/y.ts", "./x.ts"), file("state/a/x.ts", "./y.ts"))).toEqual([]);
    expect(
      complaints(file("state/a/x.ts", "../b/y.ts"), file("state/b/y.ts", "../a/x.ts"), file("state/s.ts")),
    ).toEqual(["closes a cycle of folders: state/a → state/b → state/a."]);
    const three = [
      file("state/a/x.ts", "../b/y.ts"),
      file("state/b/y.ts", "../c/z.ts"),
      file("state/c/z.ts", "../a/x.ts"),
    ];
    expect(complaints(...three)).toEqual(["closes a cycle of folders: state/a → state/b → state/c → state/a."]);
  });

  it("sees dynamic, type-only, side-effect and re-exporting imports, and not those in comments", () => {
    const text = [
      `import type { A } from "./a.ts";`,
      `import "./b.ts";`,
      `export * from "./c.ts";`,
      `export {\n  x,\n} from "./d.ts";`,
      `const e = await import("./e.ts");`,
      `// import "./f.ts";`,
      `/* export * from "./g.ts"; */`,
      `const text = "import it";`,
      `export const name = "no import";`,
      `export function f(x = "no") {}`,
      `export type Kind = "a" | "b";`,
    ].join("\n");
    expect(importsOf(text).map(({ specifier, line }) => `${specifier}:${line}`)).toEqual([
      "./a.ts:1",
      "./b.ts:2",
      "./c.ts:3",
      "./d.ts:6",
      "./e.ts:7",
    ]);
  });
});

describe("tidy: sources", () => {
  it("file and folder names are kebab-case", () => {
    expect(found(fileNames, { "a/b-c.test.ts": "", "vitest.config.ts": "", "README.md": "" })).toEqual([]);
    expect(found(fileNames, { "a/bC.ts": "", "a/b_c.ts": "", "aB/c.ts": "" })).toHaveLength(3);
  });

  it("300 lines pass, 301 are noted, 500 noted, 501 an error", () => {
    const lines = (count: number) => "x\n".repeat(count);
    expect(found(lengths, { "a.ts": lines(300), "b.ts": lines(301), "c.ts": lines(500), "d.ts": lines(501) })).toEqual([
      "b.ts note",
      "c.ts note",
      "d.ts",
    ]);
  });

  it("rejects unfinished words and focused or skipped tests", () => {
    const bad = [
      "// TO_DO: later",
      "// FIX_ME",
      "// @ts-ig_nore",
      'it.on_ly("x")',
      'it.sk_ip("x")',
      'describe.sk_ip("x")',
      'test.to_do("x")',
    ].map(joined);
    for (const text of bad) expect(found(leftovers, { "a.ts": `\n${text}` }), text).toEqual(["a.ts:2"]);
    expect(
      found(leftovers, { "a.ts": `it.skipIf(x)("y"); const s = ".only("; todos();`, "a.md": joined("// TO_DO") }),
    ).toEqual([]);
  });

  it("rejects time limits of tests below the default", () => {
    const config = { "vitest.config.ts": "testTimeout: 600_000," };
    const short = [
      "}, 599_999);",
      "},\n  599_999,\n);",
      "vi.setConfig({ testTimeout: 120_000 });",
      'it("x", { timeout: 60_000 }, async () => {});',
    ];
    for (const text of short)
      expect(found(timeLimits, { ...config, "a.test.ts": `\n${text}` }), text).toEqual(["a.test.ts:2"]);
    const long = [
      "}, 600_000);",
      "vi.setConfig({ testTimeout: 900_000 });",
      'it("x", { timeout: 1_800_000 }, async () => {});',
      "poll(x, { timeout: 1_000 })",
    ];
    for (const text of long)
      expect(found(timeLimits, { ...config, "a.test.ts": text, "src/a.ts": short.join("\n") }), text).toEqual([]);
  });

  it("scopes are made by identity code and tests only", () => {
    const tenant = "const scope = tenantScope(name);";
    const system = "const scope = systemScope(reason, log);";
    const allowed = [
      `${source}open.ts`,
      `${source}domain/scope.ts`,
      `${source}testing/x.ts`,
      `${source}http/x.test.ts`,
    ];
    for (const path of allowed) expect(found(scopeMakers, { [path]: tenant + system })).toEqual([]);
    expect(
      found(scopeMakers, {
        [`${source}domain/caller.ts`]: tenant,
        [`${source}identity/keys.ts`]: "makeCaller({ tenant })",
        "bench/x.ts": tenant,
        "packages/pinakes/examples/x.ts": tenant,
      }),
    ).toEqual([]);
    expect(
      found(scopeMakers, {
        [`${source}identity/keys.ts`]: system,
        [`${source}state/a.ts`]: tenant,
        [`${source}http/app.ts`]: `${tenant} makeCaller(x)`,
        "scripts/x.ts": system,
      }),
    ).toHaveLength(5);
    expect(
      found(scopeMakers, {
        [`${source}state/a.ts`]: `/** @example tenantScope("a") */ // systemScope("x")\nconst text = "tenantScope(";`,
      }),
    ).toEqual([]);
  });

  it("rejects registry hosts everywhere", () => {
    const bad = ["https://registry.npm_js.org/x", "www.npm_js.com", "http://deb.deb_ian.org"].map(joined);
    for (const text of bad) expect(found(hosts, { "package-lock.json": text }).length, text).toBeGreaterThan(0);
    expect(found(hosts, { "README.md": "npm ci installs from the registry of your machine" })).toEqual([]);
  });

  it("distinguishes comments and strings from code", () => {
    expect(withoutComments(`a("// no") // yes\n/* b */c("/*")`).replaceAll(" ", "")).toBe(`a("//no")\nc("/*")`);
    expect(codeOnly('f("x", `y\nz`)')).toBe('f(" ", ` \n `)');
    expect(withoutComments("const quote = /[\"']/; // gone\nkept();")).toContain("kept();");
  });
});

describe("tidy: documents", () => {
  it("relative links lead to a file or folder", () => {
    const files = {
      "docs/a.md":
        "[up](../b.md) [here](c.md#part) [folder](../src/) [web](https://example.org) [self](#x) `[code](no.md)`\n```\n[code](no.md)\n```\n",
      "b.md": "",
      "docs/c.md": "",
      "src/x.ts": "",
    };
    expect(found(links, files)).toEqual([]);
    expect(found(links, { "docs/a.md": "\n[gone](b.md)\n[out](../../x.md)" })).toEqual(["docs/a.md:2", "docs/a.md:3"]);
  });

  it("every path of a task exists", () => {
    const tree = { "packages/pinakes/src/a/x.ts": "", "packages/b/y.ts": "" };
    const page = (...cells: string[]) =>
      ["| task | path |", ...cells.map((cell) => `| change \`it\` | ${cell} |`)].join("\n");
    const good = page(
      "`a/x.ts`, then `packages/b/`",
      "`packages/<name>/` ([RFC](rfcs/1.md))",
      "`npm run x`",
      "`a/*.ts`",
    );
    expect(found(taskPaths, { ...tree, "AGENTS.md": good })).toEqual([]);
    const bad = page("`a/x.ts`", "`a/gone.ts`", "`packages/{b,gone}/`", "`gone/<name>/`");
    expect(found(taskPaths, { ...tree, "AGENTS.md": bad })).toEqual(["AGENTS.md:3", "AGENTS.md:4", "AGENTS.md:5"]);
  });

  it("every dependency has its reason", () => {
    const manifest = JSON.stringify({
      dependencies: { hono: "1" },
      devDependencies: { "@types/node": "1" },
      optionalDependencies: { x: "1" },
    });
    expect(
      found(dependencies, { "package.json": manifest, "docs/dependencies.md": "| `hono` | `@types/node` |" }),
    ).toEqual(["package.json"]);
    expect(found(dependencies, { "bench/package.json": manifest })).toHaveLength(3);
  });
});

describe("tidy: tree", () => {
  it("is read without git too, leaving out node_modules, data and binaries", async () => {
    const root = await mkdtemp(join(tmpdir(), "pinakes-tidy-"));
    try {
      for (const folder of ["node_modules/x", "src/deep", "data"]) await mkdir(join(root, folder), { recursive: true });
      await writeFile(join(root, "node_modules/x/a.ts"), "");
      await writeFile(join(root, "data/b.ts"), "");
      await writeFile(join(root, "src/deep/c.ts"), "text");
      await writeFile(join(root, "image.png"), Buffer.from([1, 0, 2]));
      expect([...(await readTree(root))]).toEqual([["src/deep/c.ts", "text"]]);
    } finally {
      await rm(root, { recursive: true });
    }
  });
});
