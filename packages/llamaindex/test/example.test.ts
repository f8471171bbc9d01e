import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "..");

it("the example runs end to end: an answer with its sources, and vectors of one's own", async () => {
  const dir = await mkdtemp(join(tmpdir(), "pinakes-llamaindex-"));
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, "examples/cited-answers.ts"), dir]);
  expect(stdout.trim().split("\n")).toEqual([
    "By train.",
    "ada.md Travel # Travel",
    "",
    "Ada prefers trains to planes.",
    "{ year: 2026 } 0.90",
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
