import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "..");

it("the example runs end to end: a cited passage, a conversation, and vectors of one's own", async () => {
  const dir = await mkdtemp(join(tmpdir(), "pinakes-langchain-"));
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, "examples/cited-answers.ts"), dir]);
  expect(stdout.trim().split("\n")).toEqual([
    "ada.md Travel # Travel",
    "",
    "Ada prefers trains to planes.",
    "the quote is exact",
    "human: How does Ada travel?",
    "ai: By train.",
    "human: What did I ask?",
    "ai: You asked how Ada travels.",
    "stations 0.91",
  ]);
  await rm(dir, { recursive: true });
});

it("what the README shows is in the example, word for word", async () => {
  const [readme = "", example = ""] = await Promise.all(
    ["README.md", "examples/cited-answers.ts"].map((name) => readFile(join(root, name), "utf8")),
  );
  const shown = /```ts\n([^]*?)```/.exec(readme)?.[1] ?? "";
  const lines = example.split("\n");
  for (const line of shown.split("\n")) expect(lines).toContain(line);
});
