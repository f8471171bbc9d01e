/**
 * A process that dies, or whose call fails, at any of its calls while a collection is purged from all stores: others continue from the
 * record to the same end, and no success is reported earlier.
 */
import { describe, expect, it } from "vitest";
import type { FaultKind } from "../vectors/support/calls.ts";
import { nothing, World, type Place, type Process } from "./support/world.ts";
import { forEachTest } from "../support/for-tests.ts";

let names = 0;
const world = forEachTest(() => World.open());
const quiet = forEachTest(() => world.process());

interface Run {
  readonly name: string;
  /** The faulty action; resolves when everything it started is over, or never if it dies. */
  readonly act: (process: Process, place: Place) => Promise<void>;
  readonly prepare?: (place: Place) => Promise<void>;
  /** Interval of tested calls; 1 tests all. */
  readonly stride: number;
}

const purge: Run = {
  name: "purging",
  stride: 1,
  act: async (process, place) => {
    await process.purge(place);
    await process.lifecycle.idle();
  },
};

/** A sweep that finds a deleted collection due. */
const due: Run = {
  name: "purging what is due",
  stride: 7,
  prepare: async (place) => {
    await quiet.knowledge.collections.delete(world.admin, "kb", place.collection_id);
    world.now += 90 * 86_400_000;
  },
  act: (process) => process.opened.sweep(new AbortController().signal),
};

/** A sweep that resumes work started while the stores were down. */
const begun: Run = {
  name: "carrying on what was begun",
  stride: 1,
  prepare: async (place) => {
    const first = await world.process();
    first.calls.add({ at: (name) => name.startsWith("objects."), kind: "error-before", always: true });
    await first.purge(place);
    await first.lifecycle.idle();
    await first.close();
    world.now += 301_000;
  },
  act: (process) => process.opened.sweep(new AbortController().signal),
};

/** One run with a fault at the n-th call; false if there is no such call. */
async function faultAt(run: Run, n: number, kind: FaultKind): Promise<boolean> {
  const place = await world.fill(quiet, world.admin, `c${(names += 1)}`, { files: 1, rows: 1 });
  await run.prepare?.(place);
  const process = await world.process();
  process.calls.add({ at: n, kind });
  await Promise.race([run.act(process, place).catch(() => {}), process.calls.died]);
  const call = process.calls.names[n];
  if (call === undefined) {
    await process.close();
    return false;
  }
  const at = `${run.name}, ${kind} at call ${n}, ${call}`;
  await expectHonest(place, at);
  if (!process.calls.dead) await process.close();
  await quiet.pass(4);
  const stored = await quiet.lifecycle.read(world.admin.scope, place);
  if (stored === undefined) {
    // Nothing had started: all of it exists, and a delete still works.
    expect(await quiet.knowledge.collections.get(world.admin, "kb", place.collection_id), at).toMatchObject({
      status: "ACTIVE",
      document_count: 1,
    });
    expect(run, at).toBe(purge);
    return true;
  }
  expect(stored.operation, at).toMatchObject({ status: "done", partial: false });
  for (const row of stored.operation.stores) expect(row, at).toMatchObject({ status: "confirmed", remaining: 0 });
  expect(await world.left(place), at).toEqual(nothing);
  const job = await quiet.knowledge.jobs.get(world.admin, stored.operation.operation_id);
  expect(job, at).toMatchObject({ status: "succeeded", result: { mode: "purge" } });
  await expect(
    quiet.knowledge.collections.get(world.admin, "kb", place.collection_id, { deleted: true }),
    at,
  ).rejects.toMatchObject({ code: "NOT_FOUND" });
  return true;
}

/** A success is reported only when nothing remains, and the record is deleted only then. */
async function expectHonest(place: Place, at: string): Promise<void> {
  const record = await world.items.read(world.admin.scope, "collections", {
    partition: ["kb"],
    id: `collection:${place.collection_id}`,
  });
  const operation = (await quiet.lifecycle.read(world.admin.scope, place))?.operation;
  if (record === undefined || operation?.status === "done") expect(await world.left(place), at).toEqual(nothing);
  if (operation === undefined) return;
  const job = await quiet.knowledge.jobs.get(world.admin, operation.operation_id).catch(() => undefined);
  if (job?.status === "succeeded") expect(await world.left(place), at).toEqual(nothing);
}

describe.each([purge, due, begun])("every call of $name", (run) => {
  it.each(["crash-before", "crash-after", "error-before", "error-after"] as const)(
    "R-TG-42 R-TG-58 R-TG-106 W7 %s: others complete it, with the same result, and no success was reported earlier",
    async (kind) => {
      let n = 0;
      while (await faultAt(run, n, kind)) n += run.stride;
      // The run covered all of it: the batch, the messages, three stores, the replies, the end.
      expect(n).toBeGreaterThan(60);
      const { items } = await quiet.knowledge.operations.list(world.admin, { status: "running" });
      expect(items).toEqual([]);
      const count = await world.items.read(world.admin.scope, "collections", { partition: ["kb"], id: "count" });
      expect(count?.document["collections"]).toBe(
        await quiet.knowledge.collections.count(world.admin, { repositoryId: "kb" }),
      );
    },
  );
});
