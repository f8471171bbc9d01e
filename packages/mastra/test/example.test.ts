import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

it("R-AGT-95 the example runs end to end: a workflow is resumed and a conversation remembered from the store alone", async () => {
  const dir = await mkdtemp(join(tmpdir(), "pinakes-mastra-"));
  const example = fileURLToPath(new URL("../examples/approval-and-memory.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [example, dir]);
  const lines = stdout.trim().split("\n");
  expect(lines.slice(0, 6)).toEqual([
    "suspended",
    "success { text: 'tea: ordered' }",
    "user",
    "assistant",
    "user",
    "assistant",
  ]);
  expect(lines.slice(6).join("\n")).toContain("Green tea is brewed at 80 degrees.");
  await rm(dir, { recursive: true });
});
