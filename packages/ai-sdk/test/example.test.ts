import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

it("R-AGT-95 the example runs end to end: a chat, its tool calls and its tokens are stored", async () => {
  const dir = await mkdtemp(join(tmpdir(), "pinakes-ai-sdk-"));
  const example = fileURLToPath(new URL("../examples/chat-with-telemetry.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [example, dir]);
  expect(stdout.trim().split("\n")).toEqual([
    'rome.md "# Clothes\\n\\nIn Rome a light jacket is enough from May on."',
    "user: What do I wear in Rome?",
    "assistant: 20 degrees: a light jacket is enough [rome.md].",
    expect.stringMatching(/^tool (weather|search): success$/),
    expect.stringMatching(/^tool (weather|search): success$/),
    "2 model calls, 40 tokens",
  ]);
  await rm(dir, { recursive: true });
});
