import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { pack } from "./pack.ts";
import { packageName, pinnedLock } from "./pinned-lock.ts";

const folder = mkdtempSync(join(tmpdir(), "pinakes-pack-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const root = fileURLToPath(new URL("..", import.meta.url));
// onnxruntime's install script downloads GPU files, which nothing here needs and an offline machine cannot get.
const env = { ...process.env, ONNXRUNTIME_NODE_INSTALL: "skip" };
const run = (command: string, args: string[], cwd: string) =>
  execFileSync(command, args, {
    cwd,
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: 256 * 1024 * 1024,
  });

/** The frameworks of the adapters, in the tested versions. */
function frameworks(): Record<string, string> {
  return Object.assign({}, ...adapters.map((name) => versions(name))) as Record<string, string>;
}

function versions(adapter: string): Record<string, string> {
  const manifest = JSON.parse(readFileSync(join(root, "packages", adapter, "package.json"), "utf8")) as {
    devDependencies: Record<string, string>;
  };
  return Object.fromEntries(
    Object.entries(manifest.devDependencies).filter(([name]) => name !== "pinakes" && !name.endsWith("-validation")),
  );
}

/** Copied to where they find the installed packages. */
function examplesOf(adapter: string, user: string): string[] {
  const source = join(root, "packages", adapter, "examples");
  return readdirSync(source).map((file) => {
    cpSync(join(source, file), join(user, `${adapter}-${file}`));
    return `${adapter}-${file}`;
  });
}

const adapters = ["ai-sdk", "langchain", "langgraph", "llamaindex", "mastra", "openai-agents"];

describe("the published packages", () => {
  it("installs elsewhere, runs the README's tour, and its types hold", { timeout: 900_000 }, () => {
    const tarballs = pack(join(folder, "tarballs"));
    const user = join(folder, "user");
    cpSync(join(root, "packages/pinakes/examples"), user, { recursive: true });
    const { zod } = (
      JSON.parse(readFileSync(join(root, "packages/pinakes/package.json"), "utf8")) as { dependencies: { zod: string } }
    ).dependencies;
    const dependencies = {
      ...Object.fromEntries(tarballs.map((file) => [packageName(file), `file:${file}`])),
      ...frameworks(),
      zod,
    };
    writeFileSync(join(user, "package.json"), JSON.stringify({ type: "module", dependencies }));
    // Every transitive version as the repository pins it, so that newly published versions do not decide whether this test passes.
    const ours = tarballs.map((tarball) => ({
      tarball,
      manifest: JSON.parse(run("tar", ["-xOzf", tarball, "package/package.json"], folder)) as { name: string },
    }));
    writeFileSync(
      join(user, "package-lock.json"),
      JSON.stringify(pinnedLock(join(root, "package-lock.json"), dependencies, ours)),
    );
    run("npm", ["ci", "--prefer-offline", "--no-audit", "--no-fund"], user);
    const printed = run(process.execPath, ["tour.ts"], user);
    expect(printed).toContain("importance is now 8");
    expect(printed).toContain("PRECONDITION_FAILED");
    expect(printed).toContain("note: Never before nine. 5");
    // Kernels and threads are found from the built files, too.
    const vectors = run(process.execPath, ["vectors.ts"], user);
    expect(vectors).toMatch(/^turing 0\.\d+/);
    expect(vectors).toContain("after the restore: 3");
    // So are the model, its threads and those of the parsers.
    const knowledge = run(process.execPath, ["knowledge.ts"], user);
    expect(knowledge).toContain("failover.md is indexed");
    expect(knowledge).toContain("result: 'exact'");
    expect(knowledge).toContain("eve finds 0 passages");
    expect(run(process.execPath, ["state.ts"], user)).toContain("by type:");
    for (const adapter of adapters)
      for (const example of examplesOf(adapter, user))
        expect(run(process.execPath, [example], user), example).not.toBe("");
    expect(run(join(user, "node_modules/.bin/pinakes"), ["vectors", "--help"], user)).toContain("fsck");
    const options = [
      "--noEmit",
      "--strict",
      "--module",
      "nodenext",
      "--target",
      "es2024",
      "--lib",
      "es2024,esnext.disposable",
      "--types",
      "node",
      "--typeRoots",
      join(root, "node_modules/@types"),
      "--skipLibCheck",
    ];
    // If the declarations were not found, everything would be `any` and the expected error would be missing.
    writeFileSync(
      join(user, "types.ts"),
      'import { tenantScope } from "pinakes";\nimport { itemStoreSuite } from "pinakes/testing";\n// @ts-expect-error: a scope has no such method\ntenantScope("a").nonsense();\n// @ts-expect-error: a harness needs a way to open\nitemStoreSuite({ name: "x" });\n',
    );
    run(
      process.execPath,
      [
        join(root, "node_modules/typescript/bin/tsc"),
        ...options,
        "tour.ts",
        "vectors.ts",
        "knowledge.ts",
        "state.ts",
        "types.ts",
      ],
      user,
    );
  });

  it("READMEs name the framework versions that are tested together", () => {
    for (const adapter of adapters)
      for (const file of ["README.md", `packages/${adapter}/README.md`]) {
        const text = readFileSync(join(root, file), "utf8");
        for (const [name, version] of Object.entries(versions(adapter)))
          expect(text, file).toContain(` ${name}@${version}`);
      }
  });

  it("the README shows the tour as it is", () => {
    const tour = readFileSync(join(root, "packages/pinakes/examples/tour.ts"), "utf8");
    const body = tour.slice(tour.indexOf("import {")).trim();
    expect(readFileSync(join(root, "README.md"), "utf8")).toContain(body);
  });
});
