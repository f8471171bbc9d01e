import { mkdir, rename, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { until } from "../../test/support/until.ts";
import { leaseMs } from "./pipeline-registry.ts";
import { admin, Bench, closeShared } from "./test-pipelines.ts";

afterAll(closeShared);

const minute = 60_000;

async function settled(bench: Bench, names: readonly string[]): Promise<void> {
  await until(
    async () => JSON.stringify(await bench.uris()) === JSON.stringify(names.map((name) => bench.uri(name)).toSorted()),
  );
}

describe("the trigger event on a folder", () => {
  it("R-LISA-21 a new file is added, a changed one replaced, a deleted one removed; hidden files and links that lead out are ignored", async () => {
    await using bench = await Bench.open();
    await bench.write({ "before.txt": "was here before" });
    await bench.pipeline({ trigger: "event", auto_remove: true });
    bench.background((signal) => bench.opened.pipelines.startWatching(signal));
    await settled(bench, ["before.txt"]);
    await bench.write({ "sub/new folder/ünï.txt": "new", ".hidden.txt": "no" });
    await symlink("/etc/hostname", join(bench.folder, "out.txt"));
    await settled(bench, ["before.txt", "sub/new folder/ünï.txt"]);
    expect((await bench.documents()).map(({ source }) => source.type)).toEqual(["auto", "auto"]);
    await bench.write({ "before.txt": "is another text now" });
    await until(async () =>
      (await bench.documents()).some(({ name, version }) => name === "before.txt" && version === 2),
    );
    await rename(join(bench.folder, "before.txt"), join(bench.folder, "after.txt"));
    await settled(bench, ["after.txt", "sub/new folder/ünï.txt"]);
    await rm(join(bench.folder, "sub"), { recursive: true });
    await settled(bench, ["after.txt"]);
  });

  it("R-LISA-21 without auto_remove a deleted file's document stays", async () => {
    await using bench = await Bench.open();
    await bench.write({ "a.txt": "a" });
    await bench.pipeline({ trigger: "event" });
    bench.background((signal) => bench.opened.pipelines.startWatching(signal));
    await settled(bench, ["a.txt"]);
    // Once this one is added, the watch is known to be active.
    await bench.write({ "b.txt": "b" });
    await settled(bench, ["a.txt", "b.txt"]);
    await rm(join(bench.folder, "a.txt"));
    const kept = async () =>
      (await bench.knowledge.jobs.list(admin, { limit: 100 })).items.some(({ result }) => result?.["kept"] === 1);
    await until(kept);
    await settled(bench, ["a.txt", "b.txt"]);
  });

  it("a folder that is emptied at once, as by an unmount, does not empty the collection", async () => {
    await using bench = await Bench.open();
    const names = Array.from({ length: 12 }, (_, i) => `in/f${i}.txt`);
    await bench.write(Object.fromEntries(names.map((name) => [name, name])));
    await bench.pipeline({ trigger: "event", auto_remove: true, source: `file:${bench.folder}/in` });
    bench.background((signal) => bench.opened.pipelines.startWatching(signal));
    await settled(bench, names);
    await bench.write({ "in/last.txt": "last" });
    await settled(bench, [...names, "in/last.txt"]);
    await rename(join(bench.folder, "in"), join(bench.folder, "unmounted"));
    await mkdir(join(bench.folder, "in"));
    const failed = await until(async () =>
      (await bench.knowledge.jobs.list(admin, { limit: 100 })).items.find(({ status }) => status === "failed"),
    );
    expect(failed.error).toMatch(/of the pipeline's 13 documents would be removed|cannot be read/);
    await settled(bench, [...names, "in/last.txt"]);
    // Mounted again: new files are added as before.
    await rm(join(bench.folder, "in"), { recursive: true });
    await rename(join(bench.folder, "unmounted"), join(bench.folder, "in"));
    await bench.write({ "in/again.txt": "again" });
    await settled(bench, [...names, "in/last.txt", "in/again.txt"]);
  });

  it("one process watches; when it stops the next takes over and catches up", async () => {
    await using bench = await Bench.open();
    await bench.pipeline({ trigger: "event", auto_remove: true });
    const stop = bench.background((signal) => bench.opened.pipelines.startWatching(signal));
    await bench.write({ "a.txt": "a" });
    await settled(bench, ["a.txt"]);
    await stop();
    await bench.write({ "b.txt": "b" });
    await rm(join(bench.folder, "a.txt"));
    const other = await bench.another();
    bench.background((signal) => other.pipelines.startWatching(signal));
    await settled(bench, ["b.txt"]);
  });

  it("a deleted pipeline no longer watches", async () => {
    await using bench = await Bench.open();
    await bench.write({ "one/a.txt": "a", "two/a.txt": "a" });
    const id = await bench.pipeline({ trigger: "event", source: `file:${bench.folder}/one` });
    await bench.pipeline({ trigger: "event", source: `file:${bench.folder}/two` });
    bench.background((signal) => bench.opened.pipelines.startWatching(signal));
    await settled(bench, ["one/a.txt", "two/a.txt"]);
    await bench.knowledge.pipelines.delete(admin, "r", "c", id);
    await bench.write({ "one/b.txt": "b" });
    await bench.write({ "two/b.txt": "b" });
    await settled(bench, ["one/a.txt", "two/a.txt", "two/b.txt"]);
  });
});

describe("the trigger schedule", () => {
  const never = new AbortController().signal;
  const runs = async (bench: Bench) => (await bench.knowledge.jobs.list(admin, { limit: 100 })).items.length;

  it("U9 runs when due, once even if two processes check, and into its own collection; missed times are made up by one run", async () => {
    await using bench = await Bench.open();
    await bench.write({ "a.txt": "a" });
    await bench.knowledge.collections.create(admin, "r", { collection_id: "d", name: "d" });
    await bench.pipeline({ schedule: "hourly" }, "d");
    const other = await bench.another();
    const sweep = async () =>
      void (await Promise.all([bench.opened.pipelines.sweepSchedules(never), other.pipelines.sweepSchedules(never)]));
    await sweep();
    expect(await runs(bench)).toBe(0);
    bench.clock.advance(60 * minute);
    await sweep();
    expect(await runs(bench)).toBe(1);
    await until(async () => (await bench.documents("d")).length === 1);
    expect(await bench.documents("c")).toEqual([]);
    await sweep();
    expect(await runs(bench)).toBe(1);
    // No process checked for half a day.
    bench.clock.advance(12 * 60 * minute);
    await sweep();
    await sweep();
    expect(await runs(bench)).toBe(2);
    bench.clock.advance(60 * minute);
    await sweep();
    expect(await runs(bench)).toBe(3);
  });

  it("pauses with an archived collection, and ends with a deleted pipeline", async () => {
    await using bench = await Bench.open();
    const id = await bench.pipeline({ schedule: "* * * * *" });
    await bench.knowledge.collections.archive(admin, "r", "c");
    bench.clock.advance(2 * minute);
    await bench.opened.pipelines.sweepSchedules(never);
    expect(await runs(bench)).toBe(0);
    await bench.knowledge.collections.unarchive(admin, "r", "c");
    bench.clock.advance(61 * minute);
    await bench.opened.pipelines.sweepSchedules(never);
    expect(await runs(bench)).toBe(1);
    await bench.knowledge.pipelines.delete(admin, "r", "c", id);
    bench.clock.advance(2 * minute + leaseMs);
    await bench.opened.pipelines.sweepSchedules(never);
    expect(await runs(bench)).toBe(1);
  });
});
