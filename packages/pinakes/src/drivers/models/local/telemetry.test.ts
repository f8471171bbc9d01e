import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";

it("the runtime of the model keeps no session and no log for its vendor: its telemetry never starts", () => {
  const folder = mkdtempSync(join(tmpdir(), "pinakes-telemetry-"));
  const module = new URL("index.ts", import.meta.url).href;
  const program = `const { openLocalEmbedder } = await import(${JSON.stringify(module)}); const e = await openLocalEmbedder({ threads: 1 }); await e.embed(["a"]); await e.close();`;
  const run = (env: Record<string, string>): string[] => {
    execFileSync(process.execPath, ["--input-type=module", "-e", program], {
      env: { PATH: process.env["PATH"] ?? "", TMPDIR: folder, ...env },
    });
    return readdirSync(folder);
  };
  try {
    expect(run({})).toEqual([]);
    // Also when the environment asks for it.
    expect(run({ ORT_DISABLE_TELEMETRY: "0" })).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
