import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, readdir, rm, stat, truncate, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { tenantScope } from "../../domain/scope.ts";
import { failure, sha256, utf8 } from "../../testing/object-store/fixture.ts";
import { objectStoreSuite } from "../../testing/object-store-suite.ts";
import { expectedContent } from "../../testing/object-writer.ts";
import { nodeFiles, type Files, type OpenFile } from "./files.ts";
import { openFileObjects } from "./index.ts";
import { decodeName, pathOf } from "./object-path.ts";

const base = temporaryFolder("fs");
let folders = 0;
function newFolder(): string {
  folders += 1;
  return join(base, `${folders}`, "objects");
}

const suiteFolders: string[] = [];
objectStoreSuite(
  "fs",
  () => {
    suiteFolders.push(newFolder());
    return openFileObjects({ dir: suiteFolders.at(-1) as string });
  },
  { reopen: () => openFileObjects({ dir: suiteFolders[0] as string }) },
);

const scope = tenantScope("acme");

describe("fs: order on disk", () => {
  it("a put writes, fsyncs the file, renames, then fsyncs every folder above it", async () => {
    const dir = newFolder();
    const calls: string[] = [];
    const objects = await openFileObjects({ dir, files: recording(dir, calls) });
    calls.length = 0;
    await objects.put(scope, "a/b", utf8("x"));
    expect(calls.map((call) => call.replace(/tmp\/\S+/, "tmp/*"))).toEqual([
      "open tmp/*",
      "write tmp/*",
      "write tmp/*",
      "sync tmp/*",
      "rename tmp/* v1/t.d/acme.d/a.d/b.o", // finds no folder …
      "mkdir v1/t.d",
      "mkdir v1/t.d/acme.d",
      "mkdir v1/t.d/acme.d/a.d",
      "rename tmp/* v1/t.d/acme.d/a.d/b.o",
      "open v1/t.d/acme.d/a.d",
      "sync v1/t.d/acme.d/a.d",
      "open v1/t.d/acme.d",
      "sync v1/t.d/acme.d",
      "open v1/t.d",
      "sync v1/t.d",
      "open v1",
      "sync v1",
    ]);
    calls.length = 0;
    await objects.put(scope, "a/c", utf8("x"));
    expect(calls.filter((call) => call.startsWith("sync")).map((call) => call.replace(/tmp\/\S+/, "tmp/*"))).toEqual([
      "sync tmp/*",
      "sync v1/t.d/acme.d/a.d",
    ]);
    calls.length = 0;
    await objects.delete(scope, ["a/b"]);
    expect(calls).toEqual([
      "unlink v1/t.d/acme.d/a.d/b.o",
      "open v1/t.d/acme.d/a.d",
      "sync v1/t.d/acme.d/a.d",
      "rmdir v1/t.d/acme.d/a.d",
    ]);
  });

  it("a folder that was removed and created again is settled again", async () => {
    const dir = newFolder();
    const calls: string[] = [];
    const objects = await openFileObjects({ dir, files: recording(dir, calls) });
    await objects.put(scope, "a/b", utf8("x"));
    await objects.delete(scope, ["a/b"]);
    calls.length = 0;
    await objects.put(scope, "a/b", utf8("x"));
    expect(calls).toContain("sync v1");
  });

  it("a put succeeds while others remove its folder again and again, and fails after a bound", async () => {
    const dir = newFolder();
    let removals = 5;
    const files: Files = {
      ...nodeFiles,
      async rename(from, to) {
        removals -= 1;
        if (removals >= 0) await rm(dirname(to), { recursive: true, force: true });
        await nodeFiles.rename(from, to);
      },
    };
    const objects = await openFileObjects({ dir, files });
    await objects.put(scope, "a/b/c", utf8("x"));
    expect(await objects.get(scope, "a/b/c")).toEqual(Buffer.from("x"));
    removals = 1_000;
    await failure(objects.put(scope, "a/b/d", utf8("x")), "UNAVAILABLE");
    expect(await readdir(join(dir, "tmp"))).toEqual([]);
  });

  it("a failing fsync fails the put, and nothing is stored", async () => {
    const dir = newFolder();
    const disk = Object.assign(new Error("EIO: i/o error, fsync"), { code: "EIO", syscall: "fsync" });
    const files: Files = {
      ...nodeFiles,
      open: async (path, flags) =>
        failingSync(await nodeFiles.open(path, flags), path.endsWith(".tmp") ? disk : undefined),
    };
    const objects = await openFileObjects({ dir, files });
    const error = await failure(objects.put(scope, "a", utf8("x")), "UNAVAILABLE");
    expect(error.cause).toBe(disk);
    expect(await objects.head(scope, "a")).toBeUndefined();
    expect(await readdir(join(dir, "tmp"))).toEqual([]);
  });

  it("a full disk is UNAVAILABLE with what to do, and a source's own error is unchanged", async () => {
    const full = Object.assign(new Error("ENOSPC: no space left on device, write"), {
      code: "ENOSPC",
      syscall: "write",
    });
    const dir = newFolder();
    const files: Files = {
      ...nodeFiles,
      open: async (path, flags) => failingWrite(await nodeFiles.open(path, flags), full),
    };
    const objects = await openFileObjects({ dir, files });
    expect((await failure(objects.put(scope, "a", utf8("x")), "UNAVAILABLE")).detail).toContain("Free space");
    async function* source() {
      yield utf8("");
      throw full;
    }
    await expect(objects.put(scope, "a", source())).rejects.toBe(full);
  });
});

describe("fs: paths", () => {
  it("keys and paths map one to one, and every name fits into 255 bytes", () => {
    const keys = [
      "a",
      "A",
      "a/b",
      "a.d/b",
      "x".repeat(72),
      "x".repeat(73),
      "é".repeat(450),
      "\u{1f600}".repeat(225),
      "..a",
      "%41",
      "a.o",
    ];
    const paths = keys.map((key) => pathOf(key).join("/"));
    expect(new Set(paths).size).toBe(keys.length);
    expect(new Set(paths.map((path) => path.toLowerCase())).size).toBe(keys.length);
    for (const path of paths) expect(path).toMatch(/^([a-z0-9_%-]{0,216}\.[doc](\/|$))+$/);
    for (const [i, path] of paths.entries()) {
      const bytes = path.split("/").map((name) => decodeName(name)?.bytes);
      expect(Buffer.from(bytes.join(""), "latin1").toString("utf8")).toBe(keys[i]);
    }
  });

  it("foreign files in the folder are not objects", async () => {
    const dir = newFolder();
    const objects = await openFileObjects({ dir });
    await objects.put(scope, "a", utf8("x"));
    for (const name of [".DS_Store", "Thumbs.db", "A.o", "%4.o", "%61.o", "b.O", "lost+found"])
      await writeFile(join(dir, "v1", "t.d", "acme.d", name), "?");
    expect((await objects.list(scope, "")).keys.map(({ key }) => key)).toEqual(["a"]);
  });

  it("empty folders are removed, the root stays", async () => {
    const dir = newFolder();
    const objects = await openFileObjects({ dir });
    await objects.put(scope, "a/b/c/d", utf8("x"));
    await objects.put(scope, "a/e", utf8("x"));
    await objects.delete(scope, ["a/b/c/d"]);
    expect(await readdir(join(dir, "v1", "t.d", "acme.d", "a.d"))).toEqual(["e.o"]);
    await objects.delete(scope, ["a/e"]);
    expect(await readdir(join(dir, "v1"))).toEqual([]);
  });
});

describe("fs: damage", () => {
  it("a flipped byte is CORRUPT for whole reads, a truncated file for every read", async () => {
    const dir = newFolder();
    const objects = await openFileObjects({ dir });
    await objects.put(scope, "a", utf8("precious"));
    const path = join(dir, "v1", "t.d", "acme.d", "a.o");
    const bytes = await readFile(path);
    bytes[0] = 0;
    await writeFile(path, bytes);
    await failure(objects.get(scope, "a"), "CORRUPT");
    await failure((async () => Array.fromAsync((await objects.stream(scope, "a")) ?? []))(), "CORRUPT");
    await truncate(path, 20);
    await failure(objects.get(scope, "a", { range: { start: 0, end: 1 } }), "CORRUPT");
    await failure(objects.head(scope, "a"), "CORRUPT");
    await failure(objects.stream(scope, "a"), "CORRUPT");
    expect((await objects.list(scope, "")).keys).toHaveLength(1);
    await objects.put(scope, "a", utf8("repaired"));
    expect(await objects.get(scope, "a")).toEqual(Buffer.from("repaired"));
  });
});

describe("fs: a killed writer", () => {
  it("kill -9 at any moment leaves whole objects or none, every acknowledged one, and no temporary file after reopening", async () => {
    const dir = newFolder();
    const acknowledged: string[] = [];
    for (let round = 0; round < 6; round += 1)
      acknowledged.push(...(await writeAndKill(dir, String(round * 1_000), 2 + round, round)));
    expect(await writeAndKill(dir, "stuck", 1, 0)).toEqual(["stuck"]);
    expect(await readdir(join(dir, "tmp"))).toHaveLength(1);
    await writeFile(join(dir, "tmp", "someone-elses.tmp"), "young, of unknown origin: stays");
    await writeFile(join(dir, "tmp", "ancient.tmp"), "old");
    await utimes(join(dir, "tmp", "ancient.tmp"), 1, 1);
    await using objects = await openFileObjects({ dir });
    expect(await readdir(join(dir, "tmp"))).toEqual(["someone-elses.tmp"]);
    const listed = (await objects.list(scope, "")).keys.map(({ key }) => key);
    expect(new Set(listed).isSupersetOf(new Set(acknowledged))).toBe(true);
    for (const key of listed) {
      const bytes = await objects.get(scope, key);
      expect(sha256(bytes ?? utf8("absent")), key).toBe(sha256(expectedContent(key)));
    }
    expect(acknowledged.length).toBeGreaterThan(0);
  });

  it("the temporary file of a live writer is left alone", async () => {
    const dir = newFolder();
    await using objects = await openFileObjects({ dir });
    const gate = Promise.withResolvers<void>();
    async function* slow() {
      yield utf8("a");
      await gate.promise;
      yield utf8("b");
    }
    const put = objects.put(scope, "slow", slow());
    while ((await readdir(join(dir, "tmp"))).length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await using second = await openFileObjects({ dir });
    gate.resolve();
    await put;
    expect(await second.get(scope, "slow")).toEqual(Buffer.from("ab"));
    expect((await stat(join(dir, "v1", "t.d", "acme.d", "slow.o"))).size).toBe(42);
  });
});

/** Starts a writer, kills it some milliseconds after a number of lines, and returns the lines: the acknowledged keys. */
async function writeAndKill(dir: string, first: string, linesBefore: number, delayMs: number): Promise<string[]> {
  const script = fileURLToPath(new URL("../../testing/object-writer.ts", import.meta.url));
  const child = spawn(process.execPath, [script, dir, first], { stdio: ["ignore", "pipe", "inherit"] });
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (lines.length === linesBefore) setTimeout(() => child.kill("SIGKILL"), delayMs);
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  expect(child.signalCode).toBe("SIGKILL");
  return lines;
}

function recording(dir: string, calls: string[]): Files {
  const short = (path: string) => path.replace(`${dir}/`, "");
  const record = (name: string, ...paths: string[]) => void calls.push([name, ...paths.map(short)].join(" "));
  return {
    ...nodeFiles,
    async open(path, flags) {
      record("open", path);
      const file = await nodeFiles.open(path, flags);
      return {
        write: (bytes, offset, length) => (record("write", path), file.write(bytes, offset, length)),
        read: (bytes, offset, length, position) => file.read(bytes, offset, length, position),
        stat: () => file.stat(),
        sync: () => (record("sync", path), file.sync()),
        close: () => file.close(),
      };
    },
    mkdir: (path) => (record("mkdir", path), nodeFiles.mkdir(path)),
    rename: (from, to) => (record("rename", from, to), nodeFiles.rename(from, to)),
    unlink: (path) => (record("unlink", path), nodeFiles.unlink(path)),
    rmdir: (path) => (record("rmdir", path), nodeFiles.rmdir(path)),
  };
}

function failingSync(file: OpenFile, error: Error | undefined): OpenFile {
  return delegate(file, { sync: () => (error === undefined ? file.sync() : Promise.reject(error)) });
}

function failingWrite(file: OpenFile, error: Error): OpenFile {
  return delegate(file, { write: () => Promise.reject(error) });
}

function delegate(file: OpenFile, changes: Partial<OpenFile>): OpenFile {
  return {
    write: (bytes, offset, length) => file.write(bytes, offset, length),
    read: (bytes, offset, length, position) => file.read(bytes, offset, length, position),
    stat: () => file.stat(),
    sync: () => file.sync(),
    close: () => file.close(),
    ...changes,
  };
}
