import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import type { TransferFile } from "./files.ts";
import { folderKey, folderPath, folderReader, writeFolder } from "./folder.ts";

describe("exports in a folder", () => {
  const dir = temporaryFolder("transfer");

  async function* files(entries: Readonly<Record<string, string>>): AsyncGenerator<TransferFile> {
    for (const [path, content] of Object.entries(entries)) yield { path, body: once(content) };
  }
  async function* once(content: string): AsyncGenerator<Uint8Array> {
    yield Buffer.from(content);
  }

  it("every key has a unique path below the folder, and is restored", () => {
    const odd = fc.string({
      unit: fc.constantFrom("/", ".", "%", "~", "2", "E", " ", "a", "ü", "😀", "|", "\\", "\u0001"),
      maxLength: 600,
    });
    fc.assert(
      fc.property(odd, (key) => {
        const path = folderPath(key);
        expect(folderKey(path)).toBe(key);
        for (const part of path.split("/")) {
          expect(part).not.toBe("");
          expect(part).not.toMatch(/^\.{1,2}$|[\\|]/);
          expect(Buffer.byteLength(part)).toBeLessThanOrEqual(255);
        }
      }),
    );
  });

  it("is written and read again, with users and names that are not valid file names", async () => {
    const entries = {
      "tables/T.jsonl": "{}",
      "b/../../etc/passwd": "mine",
      "b/auth0|ann/c//d-x.txt": "two",
      [`b/u/c/d-${"ü".repeat(255)}.md`]: "long",
    };
    const target = join(dir, "out");
    expect(await writeFolder(files(entries), target)).toEqual({ files: 4, bytes: 13 });
    const reader = folderReader(target);
    const found: Record<string, string> = {};
    for await (const path of reader.paths()) found[path] = await text(reader.open(path));
    expect(found).toEqual(entries);
  });

  it("overwrites nothing", async () => {
    const target = join(dir, "twice");
    await writeFolder(files({ "tables/T.jsonl": "first" }), target);
    await expect(writeFolder(files({ "tables/T.jsonl": "second" }), target)).rejects.toMatchObject({
      code: "CONFLICT",
    });
    const reader = folderReader(target);
    for await (const path of reader.paths()) expect(await text(reader.open(path))).toBe("first");
  });

  it("follows no link out of the folder, and opens only what it listed", async () => {
    const target = join(dir, "links");
    await writeFolder(files({ "a.jsonl": "{}" }), target);
    await writeFile(join(dir, "secret.txt"), "secret");
    await symlink(join(dir, "secret.txt"), join(target, "b.jsonl"));
    await symlink(dir, join(target, "out"));
    const reader = folderReader(target);
    expect(await Array.fromAsync(reader.paths())).toEqual(["a.jsonl"]);
    expect(() => reader.open("../secret.txt")).toThrow(/not a file of the folder/);
  });
});
