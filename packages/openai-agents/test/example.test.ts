import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

it("R-AGT-95 the example runs end to end: the second run knows what was said in the first", async () => {
  const dir = await mkdtemp(join(tmpdir(), "pinakes-openai-agents-"));
  const example = fileURLToPath(new URL("../examples/lasting-session.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [example, dir]);
  expect(stdout.trim().split("\n")).toEqual([
    "You are Ada.",
    "user",
    "function_call",
    "function_call_result",
    "assistant",
    "user",
    "assistant",
    "the model saw 5 items",
  ]);
  await rm(dir, { recursive: true });
});
