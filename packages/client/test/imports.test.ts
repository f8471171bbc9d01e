import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";

const source = join(import.meta.dirname, "../src");

it("the client imports nothing but itself, so it runs in browsers and at the edge", async () => {
  const files = (await readdir(source, { recursive: true })).filter(
    (name) => name.endsWith(".ts") && !name.endsWith(".test.ts"),
  );
  expect(files.length).toBeGreaterThan(15);
  for (const file of files) {
    const text = await readFile(join(source, file), "utf8");
    const specifiers = [...text.matchAll(/\bfrom "([^"]+)"|\bimport\("([^"]+)"\)|^import "([^"]+)"/gm)].map(
      (found) => found[1] ?? found[2] ?? found[3],
    );
    for (const specifier of specifiers)
      expect([file, specifier]).toEqual([file, expect.stringMatching(/^\.\.?\/.*\.ts$/)]);
    for (const word of ["Buffer", "process", "require", "__dirname"])
      expect([file, new RegExp(`\\b${word}[.(\\[]`).test(text)]).toEqual([file, false]);
  }
  const manifest = JSON.parse(await readFile(join(source, "../package.json"), "utf8")) as Record<string, unknown>;
  expect([manifest["dependencies"], manifest["peerDependencies"]]).toEqual([undefined, undefined]);
});
