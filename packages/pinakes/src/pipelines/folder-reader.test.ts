import { execFileSync } from "node:child_process";
import { appendFile, chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import type { SourceEntry } from "../ports/source-reader.ts";
import { failure } from "../testing/object-store/fixture.ts";
import { FolderReader } from "./folder-reader.ts";
import { pipelineLimits } from "./limits.ts";

const base = await realpath(await mkdtemp(join(tmpdir(), "pinakes-folder-")));
afterAll(() => rm(base, { recursive: true, force: true }));

let folder: string;
let reader: FolderReader;
let folders = 0;
beforeEach(async () => {
  folder = join(base, String((folders += 1)), "in");
  await mkdir(folder, { recursive: true });
  reader = new FolderReader(folder, [folder]);
});

async function all(): Promise<Record<string, SourceEntry>> {
  const found: Record<string, SourceEntry> = {};
  for await (const entry of reader.list()) found[entry.uri.slice(`file:${folder}/`.length)] = entry;
  return found;
}

async function read(name: string): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of reader.open(`file:${folder}/${name}`)) parts.push(part);
  return Buffer.concat(parts).toString();
}

describe("a folder as a source", () => {
  it("lists every file below it, gives the same for a single one, and reads it", async () => {
    await mkdir(join(folder, "a/b"), { recursive: true });
    await writeFile(join(folder, "a/b/x.txt"), "hello");
    await writeFile(join(folder, "y.txt"), "");
    const listed = await all();
    expect(Object.keys(listed).toSorted()).toEqual(["a/b/x.txt", "y.txt"]);
    expect(listed["a/b/x.txt"]).toMatchObject({ name: "x.txt", bytes: 5 });
    expect(await reader.stat(`file:${folder}/a/b/x.txt`)).toEqual(listed["a/b/x.txt"]);
    expect(await reader.stat(`file:${folder}/a/b/z.txt`)).toBeUndefined();
    expect(await reader.stat(`file:${folder}/a/b`)).toBeUndefined();
    expect(await reader.stat(`file:${folder}/no/z.txt`)).toBeUndefined();
    expect(await read("a/b/x.txt")).toBe("hello");
    await appendFile(join(folder, "a/b/x.txt"), "!");
    expect((await all())["a/b/x.txt"]).not.toMatchObject({ etag: (listed["a/b/x.txt"] as { etag: string }).etag });
  });

  it("refuses everything outside: by name, by a link, by a linked folder", async () => {
    await writeFile(join(folder, "..", "secret.txt"), "secret");
    await mkdir(join(folder, "..", "other"));
    await writeFile(join(folder, "..", "other", "secret.txt"), "secret");
    await symlink(join(folder, "..", "secret.txt"), join(folder, "link.txt"));
    await symlink(join(folder, "..", "other"), join(folder, "linked"));
    for (const name of ["../secret.txt", "a/../../secret.txt", "./x", ""]) {
      await failure(reader.stat(`file:${folder}/${name}`), "INVALID");
      await failure(read(name), "INVALID");
    }
    await failure(reader.stat("file:/etc/hostname"), "INVALID");
    expect(await reader.stat(`file:${folder}/link.txt`)).toMatchObject({
      reason: "is a link that leads out of the folder",
    });
    expect(await reader.stat(`file:${folder}/linked/secret.txt`)).toBeUndefined();
    await failure(read("link.txt"), "FORBIDDEN");
    await failure(read("linked/secret.txt"), "FORBIDDEN");
    expect(Object.keys(await all()).toSorted()).toEqual(["link.txt", "linked"]);
  });

  it("follows links to files inside, as some systems publish them, but not links to folders or cycles", async () => {
    await mkdir(join(folder, "..data"));
    await writeFile(join(folder, "..data", "x.txt"), "published");
    await symlink(join("..data", "x.txt"), join(folder, "x.txt"));
    await symlink(folder, join(folder, "again"));
    await symlink(join(folder, "circle"), join(folder, "circle"));
    expect(await all()).toMatchObject({
      "..data": { reason: expect.stringContaining("hidden") },
      "x.txt": { name: "x.txt", bytes: 9 },
      again: { reason: expect.stringContaining("links to folders are not followed") },
      circle: { reason: "is a broken link" },
    });
    expect(await read("x.txt")).toBe("published");
  });

  it.skipIf(process.getuid?.() === 0)(
    "an unreadable subfolder is an error, not a gap (skipped for root, who may read everything)",
    async () => {
      await mkdir(join(folder, "closed"));
      await writeFile(join(folder, "closed", "x.txt"), "x");
      await chmod(join(folder, "closed"), 0o000);
      await failure(all(), "UNAVAILABLE");
      await chmod(join(folder, "closed"), 0o755);
    },
  );

  it("a missing folder is an error, not an empty one", async () => {
    await rm(folder, { recursive: true });
    for (const call of [() => all(), () => reader.check(), () => reader.stat(`file:${folder}/x.txt`)])
      expect((await failure(call(), "UNAVAILABLE")).retryable).toBe(false);
    await writeFile(folder, "a file now");
    await failure(reader.check(), "UNAVAILABLE");
  });

  it("pipes and names that are not UTF-8 are reported, and never opened", async () => {
    execFileSync("/usr/bin/env", ["mkfifo", join(folder, "pipe.txt")]);
    await writeFile(Buffer.concat([Buffer.from(`${folder}/bad`), Buffer.from([0xff]), Buffer.from(".txt")]), "x");
    expect(await all()).toMatchObject({
      "pipe.txt": { reason: "is not a file" },
      "bad\uFFFD.txt": { reason: "its name is not valid UTF-8" },
    });
    await failure(read("pipe.txt"), "FORBIDDEN");
  });

  it("a file that changes while it is read is an error, to be read again", async () => {
    await writeFile(join(folder, "x.txt"), Buffer.alloc(1_000_000, "x"));
    const grow = async () => {
      let once = true;
      for await (const _ of reader.open(`file:${folder}/x.txt`)) {
        if (once) await appendFile(join(folder, "x.txt"), "more");
        once = false;
      }
    };
    expect((await failure(grow(), "UNAVAILABLE")).retryable).toBe(true);
  });

  it("folders may be nested up to the limit, not deeper", async () => {
    const deep = join(folder, ...Array.from({ length: pipelineLimits.folderDepthMax }, () => "d"));
    await mkdir(deep, { recursive: true });
    await writeFile(join(deep, "x.txt"), "x");
    expect(Object.keys(await all())).toHaveLength(1);
    await mkdir(join(deep, "d"));
    await failure(all(), "LIMIT_EXCEEDED");
  });
});
