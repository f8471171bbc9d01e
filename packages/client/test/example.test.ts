import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { openWorld } from "./support/worlds.ts";

const root = join(import.meta.dirname, "..");

it("the example runs against a server", async () => {
  await using world = await openWorld("sqlite", "http");
  const env = { ...process.env, PINAKES_URL: world.url, PINAKES_KEY: await world.key("acme") };
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, "examples/agent.ts")], { env });
  expect(stdout.trim().split("\n")).toEqual([
    'goes on with {"outline":["Intro","Findings"]}',
    "only the holder of the lease may write",
    "user: Keep it short.",
    "assistant: I will.",
    "1 message fits, 1 does not",
    'tool calls: {"count":3,"p95":30}',
    "5 stars",
  ]);
});

it("the example of knowledge runs against a server", async () => {
  await using world = await openWorld("sqlite", "http");
  const env = { ...process.env, PINAKES_URL: world.url, PINAKES_KEY: await world.key("acme") };
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, "examples/knowledge.ts")], { env });
  expect(stdout).toContain("Ada prefers trains. travel.md 0 ");
  expect(stdout.trim().split("\n").at(-1)).toBe("exact");
});

it.each([
  [0, "examples/knowledge.ts"],
  [1, "examples/agent.ts"],
])("what block %i of the README shows is in %s, word for word", async (block, file) => {
  const [readme, example] = await Promise.all(["README.md", file].map((name) => readFile(join(root, name), "utf8")));
  const shown = [...(readme as string).matchAll(/```ts\n([^]*?)```/g)].map(([, code]) => code as string);
  const lines = (example as string).split("\n").map((line) => line.trim());
  for (const line of (shown[block] as string).split("\n"))
    if (line.trim() !== "" && !line.startsWith("//")) expect(lines).toContain(line.trim());
});
