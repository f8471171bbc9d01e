/**
 * A collection concurrently deleted and restored, with either process pausing or dying anywhere: the record decides, and the stores follow.
 */
import { beforeEach, describe, expect, it } from "vitest";
import { CollectionPartition } from "../../src/knowledge/records/collection-partition.ts";
import { trashMs } from "../../src/knowledge/limits.ts";
import { storeSpareMs } from "../../src/knowledge/deletion/delete-collection.ts";
import type { Machine, Process } from "./support/machine.ts";
import { OneCollection } from "./support/one-collection.ts";
import { texts, type Place } from "./support/test-pinakes.ts";
import { forEachTest } from "../support/for-tests.ts";

const minute = 60_000;
let machine: Machine;
let quiet: Process;
let place: Place;
let incarnation: string;
const one = forEachTest(() => OneCollection.open());
beforeEach(async () => {
  ({ machine, process: quiet, place } = one);
  await one.send("a.txt", "words about otters");
  await quiet.work();
  await quiet.knowledge.rows.upsert(machine.admin, "kb", place.collection, {
    items: [{ id: "own", vector: [1, 2, 3] }],
  });
  ({ incarnation } = await quiet.knowledge.collections.get(machine.admin, "kb", place.collection));
});

const remove = ({ knowledge }: Process) => knowledge.collections.delete(machine.admin, "kb", place.collection);
const restore = ({ knowledge }: Process) => knowledge.collections.restore(machine.admin, "kb", place.collection);
const status = async () =>
  (await quiet.knowledge.collections.get(machine.admin, "kb", place.collection, { deleted: true })).status;
const fence = async () =>
  (
    await new CollectionPartition(machine.items, machine.admin.scope, {
      repository_id: "kb",
      collection_id: "",
      incarnation,
    }).fence()
  )?.record.status;
const vectors = async () =>
  (await machine.vectors.vectors.list(machine.admin.scope, { limit: 100 })).collections
    .filter(({ collection }) => collection.startsWith(incarnation))
    .map((found) => found.status);

/** A process that pauses at one of its calls until it is resumed. */
async function sleeper(
  which: number | ((name: string) => boolean),
): Promise<{ process: Process; asleep: Promise<void>; wake: () => void }> {
  const process = await machine.process();
  // Opening made some calls already.
  const at = typeof which === "number" ? process.calls.names.length + which : which;
  const [asleep, awake] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  process.calls.add({ at, kind: "hold", until: awake.promise, reached: asleep.resolve });
  return { process, asleep: asleep.promise, wake: awake.resolve };
}

/** The n-th call with that name. */
function nth(name: string, n: number): (called: string) => boolean {
  let met = 0;
  return (called) => called === name && (met += 1) === n;
}

/** Nothing resumes their jobs: only the registry's entry of the collection remains. */
async function cancelJobs(): Promise<void> {
  const { items } = await quiet.knowledge.jobs.list(machine.admin);
  for (const job of items)
    if (job.status === "queued" || job.status === "running")
      await quiet.knowledge.jobs.cancel(machine.admin, job.job_id);
}

async function expectOpen(what: string): Promise<void> {
  expect([await status(), await fence(), ...(await vectors())], what).toEqual(["ACTIVE", "ACTIVE", "active", "active"]);
  expect(await texts(place, "otters"), what).toEqual(["words about otters"]);
  await quiet.knowledge.graph.sparql(machine.admin, "kb", place.collection, {
    update: "INSERT DATA { <http://x/s> <http://x/p> <http://x/o> }",
  });
}

/** Whatever happens with time alone. */
async function expectOpenForEver(what: string): Promise<void> {
  await expectOpen(what);
  machine.now += trashMs + storeSpareMs + minute;
  await machine.vectors.sweep();
  await quiet.sweep();
  await machine.vectors.sweep();
  await expectOpen(what);
}

describe("a restore during a delete", () => {
  it("R-LISA-52 wherever the delete paused, a live collection is complete, permanently, and a deleted one can be restored", async () => {
    const outcomes = new Set<string>();
    for (let n = 0; ; n += 1) {
      const { process, asleep, wake } = await sleeper(n);
      const opened = process.calls.names.length;
      const deleting = remove(process);
      const ended = await Promise.race([deleting.then(() => "over"), asleep.then(() => "asleep")]);
      // Refused if nothing is deleted yet.
      const restored = await restore(quiet).then(
        () => true,
        () => false,
      );
      wake();
      const { result } = await deleting;
      const at = `${n} ${process.calls.names[opened + n] ?? "none"}`;
      await process.close();
      if (restored) {
        expect(await status(), at).toBe("ACTIVE");
        if (result?.["changed_since"] === true) outcomes.add("told");
        await expectOpenForEver(at);
      } else {
        expect([await status(), await fence(), ...(await vectors())], at).toEqual([
          "DELETED",
          "DELETED",
          "trashed",
          "trashed",
        ]);
        await restore(quiet);
        await expectOpen(at);
      }
      outcomes.add(restored ? "restored" : "deleted");
      if (ended === "over") break;
    }
    expect([...outcomes].toSorted()).toEqual(["deleted", "restored", "told"]);
  });

  it("R-LISA-52 an overtaken delete that died at any later call: the sweep opens the stores again", async () => {
    let died = 0;
    for (let k = 0; ; k += 1) {
      // After the batch that hides it.
      const { process, asleep, wake } = await sleeper(nth("items.write", 4));
      const deleting = remove(process).then(() => "over");
      await asleep;
      expect(await status()).toBe("DELETED");
      await restore(quiet);
      const at = process.calls.names.length + k;
      process.calls.add({ at, kind: "crash-before" });
      wake();
      const ended = await Promise.race([deleting, process.calls.died]);
      await cancelJobs();
      machine.now += 2 * minute;
      await quiet.sweep();
      await expectOpenForEver(`${k} ${process.calls.names[at] ?? "none"}`);
      if (ended === "over") break;
      died += 1;
    }
    expect(died).toBeGreaterThan(9);
  });

  it("R-LISA-52 a restore whose stores were closed again before its batch, and that died at any later call: the sweep opens them again", async () => {
    let died = 0;
    for (let k = 0; ; k += 1) {
      const deleter = await sleeper(nth("vectors.delete", 1));
      const deleting = remove(deleter.process);
      await deleter.asleep;
      // Its first batch opens the documents' fence, its second one changes the record.
      const restorer = await sleeper(nth("items.batch", 2));
      const restoring = restore(restorer.process).then(() => "over");
      await restorer.asleep;
      deleter.wake();
      expect((await deleting).status).toBe("succeeded");
      expect(await vectors()).toEqual(["trashed", "trashed"]);
      const at = restorer.process.calls.names.length + k;
      restorer.process.calls.add({ at, kind: "crash-before" });
      restorer.wake();
      const ended = await Promise.race([restoring, restorer.process.calls.died]);
      await deleter.process.close();
      await cancelJobs();
      machine.now += 2 * minute;
      await quiet.sweep();
      await expectOpenForEver(`${k} ${restorer.process.calls.names[at] ?? "none"}`);
      if (ended === "over") break;
      died += 1;
    }
    expect(died).toBeGreaterThan(9);
  });
});

describe("what the sweep does with the registry entry of a deleted collection", () => {
  it("R-LISA-52 a delete that paused past the sweep, closed the stores and died: they are open again before a store removes anything itself", async () => {
    const { process, asleep, wake } = await sleeper(nth("vectors.delete", 1));
    const markedAt = machine.now;
    void remove(process);
    await asleep;
    await restore(quiet);
    await cancelJobs();
    machine.now += 2 * minute;
    await quiet.sweep();
    process.calls.add({ at: nth("items.read collections", 1), kind: "crash-before" });
    wake();
    await process.calls.died;
    expect([await status(), ...(await vectors())]).toEqual(["ACTIVE", "trashed", "trashed"]);
    machine.now = markedAt + trashMs - 1;
    await quiet.sweep();
    await machine.vectors.sweep();
    expect(await vectors()).toEqual(["trashed", "trashed"]);
    // The entry has the time of the restore's mark, which was the same moment.
    machine.now += 1;
    await machine.vectors.sweep();
    await quiet.sweep();
    expect(await vectors()).toEqual(["active", "active"]);
  });

  it("R-LISA-51 R-LISA-52 a delete that died part-way is completed, and keeps its time: purged at purge_at and not earlier", async () => {
    const process = await machine.process();
    process.calls.add({ at: nth("vectors.delete", 1), kind: "crash-before" });
    const deletedAt = machine.now;
    void remove(process);
    await process.calls.died;
    await cancelJobs();
    expect([await status(), ...(await vectors())]).toEqual(["DELETED", "active", "active"]);
    machine.now += minute;
    await quiet.sweep();
    expect([await status(), await fence(), ...(await vectors())]).toEqual(["DELETED", "DELETED", "trashed", "trashed"]);
    machine.now = deletedAt + trashMs - 1;
    await quiet.sweep();
    expect(await status()).toBe("DELETED");
    machine.now += 1;
    await expect(restore(quiet)).rejects.toMatchObject({ code: "GONE" });
    await quiet.sweep();
    await expect.poll(fence).toBe("PURGED");
  });

  it("a store with its own retention removes data only after the trash and all spare time, and not earlier", async () => {
    const deletedAt = machine.now;
    await remove(quiet);
    machine.now = deletedAt + trashMs + storeSpareMs - 1;
    await machine.vectors.sweep();
    expect(await vectors()).toEqual(["trashed", "trashed"]);
    machine.now += 1;
    await machine.vectors.sweep();
    expect(await vectors()).toEqual([]);
  });
});
