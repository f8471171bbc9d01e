/** The cache on disk: it may be lost, corrupt or full, and costs a fetch at most. What a cold open fetches. */
import { readFile, readdir, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { openVectors } from "../../src/vectors/open-vectors.ts";
import { Machine, scope, system, type Process } from "./support/machine.ts";
import { mergeScenario, put } from "./support/scenarios.ts";
import { rowsOf } from "./support/state.ts";
import { Waves } from "./support/waves.ts";

const base = temporaryFolder("vectors-cache");
let folders = 0;
const folder = (): string => join(base, String((folders += 1)));

/** Three small segments with deletions, and two fresh deltas. */
async function filled(): Promise<Machine> {
  const machine = await Machine.open();
  const process = machine.process();
  await mergeScenario.prepare(process);
  await process.vectors.append(scope, "c", { upsert: [put("fresh", 1)], patch: [{ id: "r2", metadata: { n: 1 } }] });
  return machine;
}

async function cached(
  machine: Machine,
  cacheDir: string,
): Promise<{ process: Process; rows: string[]; files: string[] }> {
  const process = machine.process({ cacheDir });
  const rows = await rowsOf(process.vectors);
  await process.disk?.settle();
  const files = (await readdir(join(cacheDir, "acme", "c"))).map((name) => join(cacheDir, "acme", "c", name));
  return { process, rows, files };
}

const fetched = (process: Process): number =>
  process.calls.count("get vectors/c/segments/") + process.calls.count("get vectors/c/deltas/");

describe("vectors: the cache on disk", () => {
  it("row 29: R-CMP-27 it survives a restart: the second process fetches no file again", async () => {
    const machine = await filled();
    const dir = folder();
    const first = await cached(machine, dir);
    expect(fetched(first.process)).toBe(5);
    expect(first.files).toHaveLength(5);
    const second = await cached(machine, dir);
    expect(fetched(second.process)).toBe(0);
    expect(second.rows).toEqual(first.rows);
  });

  it("row 29: R-CMP-27 a file that is corrupt at any position, truncated, empty or too long is fetched again, and intact afterwards", async () => {
    const machine = await filled();
    const dir = folder();
    const { rows, files } = await cached(machine, dir);
    const damages: Record<string, (file: string, whole: Buffer) => Promise<void>> = {
      "first byte": (file, whole) =>
        writeFile(
          file,
          whole.map((byte, i) => (i === 0 ? byte ^ 1 : byte)),
        ),
      "in the head": (file, whole) =>
        writeFile(
          file,
          whole.map((byte, i) => (i === 100 ? byte ^ 1 : byte)),
        ),
      "last byte": (file, whole) =>
        writeFile(
          file,
          whole.map((byte, i) => (i === whole.length - 1 ? byte ^ 128 : byte)),
        ),
      "zeros of the right length": (file, whole) => writeFile(file, Buffer.alloc(whole.length)),
      truncated: (file, whole) => truncate(file, whole.length - 1),
      empty: (file) => truncate(file, 0),
      "too long": (file, whole) => writeFile(file, Buffer.concat([whole, Buffer.from("x")])),
      gone: (file) => rm(file),
    };
    for (const file of files) {
      const whole = await readFile(file);
      for (const [what, damage] of Object.entries(damages)) {
        await damage(file, whole);
        const again = await cached(machine, dir);
        expect(again.rows, what).toEqual(rows);
        expect(fetched(again.process), what).toBe(1);
        expect(Buffer.compare(await readFile(file), whole), what).toBe(0);
      }
    }
  });

  it("row 30: a full disk (ENOSPC) or a folder that cannot be written fails no read; it is logged, and retried", async () => {
    const machine = await filled();
    const dir = folder();
    const { rows, files } = await cached(machine, dir);
    for (const file of files) {
      await rm(file);
      await symlink("/dev/full", `${file}.${process.pid}.tmp`);
    }
    const full = await cached(machine, dir);
    expect(full.rows).toEqual(rows);
    expect(full.process.log.filter((line) => line.includes("ENOSPC"))).toHaveLength(files.length);
    expect(full.files).toEqual([]);
    const again = await cached(machine, dir);
    expect(again.rows).toEqual(rows);
    expect(again.files).toHaveLength(files.length);

    const blocked = folder();
    await writeFile(blocked, "a file where a folder should be");
    const without = machine.process({ cacheDir: blocked });
    expect(await rowsOf(without.vectors)).toEqual(rows);
    await without.disk?.settle();
    expect(without.log.join()).toContain("ENOTDIR");
  });

  it("R-CMP-32 files of a collection that another process purged are removed at the next start", async () => {
    const machine = await filled();
    const dir = folder();
    await cached(machine, join(dir, "vectors"));
    await machine.process().vectors.create(scope, "other", { dims: 3 });
    await machine.process().vectors.purge(scope, "c");
    const clock = { now: () => machine.now };
    const opened = await openVectors({
      items: machine.items,
      objects: machine.objects,
      system,
      clock,
      cacheDir: dir,
      threads: 1,
    });
    expect(await readdir(join(dir, "vectors", "acme"))).toEqual([]);
    await opened.close();
  });
});

describe("vectors: a cold open", () => {
  it("R-CMP-27 fetches head, segments, deletions and fresh deltas in at most 2 round trips that depend on each other", async () => {
    const machine = await filled();
    const waves = new Waves();
    waves.watch(machine.objects);
    await rowsOf(machine.process({ cache: true }).vectors);
    expect(waves.calls).toBeGreaterThanOrEqual(6);
    expect(waves.count).toBeLessThanOrEqual(2);
  });

  it("R-CMP-27 the same for segments that come in several chunks", async () => {
    const machine = await Machine.open();
    const process = machine.process();
    const dims = 4_096;
    await process.vectors.create(scope, "c", { dims });
    for (let delta = 0; delta < 2; delta += 1) {
      const upsert = Array.from({ length: 1_000 }, (_, i) => ({
        id: `r${delta}.${i}`,
        vector: new Float32Array(dims).fill(i + 1),
      }));
      await process.vectors.append(scope, "c", { upsert });
      await process.vectors.compact(scope, "c");
    }
    await process.vectors.append(scope, "c", { upsert: [{ id: "fresh", vector: new Float32Array(dims).fill(1) }] });
    expect((await process.vectors.stats(scope, "c")).segments.map(({ bytes }) => bytes > 17 * 1024 ** 2)).toEqual([
      true,
      true,
    ]);
    const waves = new Waves();
    waves.watch(machine.objects);
    const cold = machine.process({ cache: true });
    expect(await cold.vectors.count(scope, "c")).toBe(2_001);
    expect(waves.calls).toBe(2 * 3 + 1);
    expect(waves.count).toBe(2);
  });
});
