/** The protocol's own conformance suite against our transports, at both revisions. */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { createApp } from "../../src/http/app.ts";
import { serve } from "../../src/http/serve.ts";
import { open } from "../../src/open.ts";
import { conformanceFixtures } from "./support/conformance-fixtures.ts";
import { withKey } from "./support/with-key.ts";

const rootToken = "root-token-of-the-conformance-suite-01234";
const suite = join(
  dirname(fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/package.json"))),
  "dist/index.js",
);

/** How many scenarios the frozen requirement sets score. */
const revisions = [
  ["2025-11-25", 30],
  ["2026-07-28", 37],
] as const;

describe("the MCP conformance suite", () => {
  for (const [revision, scenarios] of revisions)
    it(`R-AGT-97 passes every scenario that ${revision} requires (${scenarios})`, async () => {
      const dir = await mkdtemp(join(tmpdir(), "pinakes-mcp-"));
      await using pinakes = await open({ dir, rootToken });
      const app = await createApp(pinakes, { mcp: conformanceFixtures });
      const server = await serve(app, { host: "127.0.0.1", port: 0 });
      await using proxy = await withKey(server.url, rootToken);
      const { code, output } = await run([
        suite,
        "server",
        "--url",
        `${proxy.url}/mcp`,
        "--requirements",
        revision,
        "--output-dir",
        join(dir, "results"),
      ]);
      await server.close();
      await rm(dir, { recursive: true, force: true });
      expect(code, output).toBe(0);
      const passed = output.split("\n").filter((line) => /^\s*✓/.test(line));
      expect(passed.length, output).toBeGreaterThanOrEqual(scenarios);
    });
});

async function run(args: readonly string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      args,
      { maxBuffer: 64 * 1_048_576, env: { ...process.env, NO_COLOR: "1" } },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: `${stdout}\n${stderr}` });
      },
    );
  });
}
