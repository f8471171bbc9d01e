/** Stores that fail, are down for long, or cannot delete; and many concurrent deletes. Never a false success, never a false failure. */
import { describe, expect, it } from "vitest";
import { PinakesError } from "../../src/domain/errors.ts";
import { lifecycleLimits } from "../../src/lifecycle/index.ts";
import type { Fault } from "../vectors/support/calls.ts";
import { nothing, World, type Place } from "./support/world.ts";
import { forEachTest } from "../support/for-tests.ts";

const world = forEachTest(() => World.open());
const process = forEachTest(() => world.process());

const objectsDown: Fault = { at: (name) => name.startsWith("objects."), kind: "error-before", always: true };
const operation = (id: string) => process.knowledge.operations.get(world.admin, id);
const job = (id: string) => process.knowledge.jobs.get(world.admin, id);
async function purged(place: Place): Promise<string> {
  const { job_id } = await process.purge(place);
  await process.lifecycle.idle();
  return job_id;
}

describe("a failing store", () => {
  it("R-LISA-75 R-TG-41 R-TG-44 R-TG-60 is named after five consecutive failures; the others are not asked again; a manual retry runs at once", async () => {
    const place = await world.fill(process, world.admin, "papers");
    process.calls.add({ ...objectsDown, at: (name) => name.startsWith(`objects.list knowledge/${place.incarnation}`) });
    const id = await purged(place);
    expect(await job(id)).toMatchObject({ status: "running", error: null });
    const record = () => process.knowledge.collections.get(world.admin, "kb", "papers", { deleted: true });
    const write = () =>
      process.knowledge.documents.upload(world.admin, "kb", "papers", { name: "late.txt", body: "late" });
    expect(await record()).toMatchObject({ status: "DELETE_IN_PROGRESS" });
    await expect(write()).rejects.toMatchObject({ code: "NOT_FOUND" });
    const { failuresMax, retryMsFirst } = lifecycleLimits;
    for (let failures = 1; failures <= failuresMax; failures += 1) {
      const { stores, status } = await operation(id);
      expect(stores.find(({ store }) => store === "objects")).toMatchObject({
        status: "waiting",
        attempts: failures,
        error: { type: "unavailable" },
      });
      expect(status, `after ${failures} failures`).toBe(failures < failuresMax ? "running" : "failed");
      if (failures === failuresMax) break;
      // Not a millisecond before its time.
      world.now += retryMsFirst * 2 ** (failures - 1) - 1;
      await process.sweep();
      expect((await operation(id)).stores.find(({ store }) => store === "objects")).toMatchObject({
        attempts: failures,
      });
      world.now += 1;
      await process.sweep();
    }
    expect(await job(id)).toMatchObject({ status: "failed", error: expect.stringContaining("objects: Injected") });
    expect(
      (await operation(id)).stores
        .filter(({ store }) => store !== "objects")
        .map(({ attempts, status }) => [attempts, status]),
    ).toEqual(Array.from({ length: 3 }, () => [1, "confirmed"]));
    expect(await record()).toMatchObject({ status: "DELETE_FAILED" });
    await expect(write()).rejects.toMatchObject({ code: "NOT_FOUND" });
    await process.sweep();
    expect(process.lifecycle.metrics.unfinished).toMatchObject({ failed: 1, running: 0 });
    expect(process.lifecycle.metrics.unfinished.oldestMs).toBeGreaterThan(0);
    process.calls.clear();
    expect(await process.knowledge.operations.retry(world.admin, id)).toMatchObject({ status: "running" });
    await process.lifecycle.idle();
    expect(await job(id)).toMatchObject({ status: "succeeded", error: null });
    await expect(record()).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await world.left(place)).toEqual(nothing);
  });

  it("R-TG-43 is down during the whole request, and long after: when it is back, the delete completes by itself and the job succeeds", async () => {
    const place = await world.fill(process, world.admin, "papers");
    process.calls.add(objectsDown);
    const id = await purged(place);
    await process.pass(12);
    expect(await job(id)).toMatchObject({ status: "failed" });
    expect((await operation(id)).stores.find(({ store }) => store === "documents")).toMatchObject({
      status: "confirmed",
    });
    process.calls.clear();
    await process.pass(2);
    expect(await job(id)).toMatchObject({ status: "succeeded", error: null, result: { mode: "purge" } });
    expect(await world.left(place)).toEqual(nothing);
    await process.sweep();
    expect(process.lifecycle.metrics.unfinished).toMatchObject({ failed: 0, running: 0 });
  });

  it("R-TG-50 R-TG-41 one that cannot count is never reported as empty; its last count stays if a later one fails", async () => {
    const place = await world.fill(process, world.admin, "papers");
    process.calls.add(objectsDown);
    const id = await purged(place);
    const objects = async () => (await operation(id)).stores.find(({ store }) => store === "objects");
    expect(await objects()).toMatchObject({
      status: "waiting",
      attempts: 1,
      deleted: 0,
      remaining: null,
      error: { type: "unavailable" },
    });
    // The other stores have counted.
    expect(
      (await operation(id)).stores.filter(({ store }) => store !== "objects").map(({ remaining }) => remaining),
    ).toEqual([0, 0, 0]);
    // It can be listed, and nothing is removed.
    process.calls.clear();
    process.calls.add({ ...objectsDown, at: (name) => name.startsWith("objects.delete") });
    await process.pass(1);
    expect(await objects()).toMatchObject({ status: "waiting", attempts: 2, remaining: 2 });
    process.calls.add(objectsDown);
    await process.pass(1);
    expect(await objects()).toMatchObject({
      status: "waiting",
      attempts: 3,
      remaining: 2,
      error: { type: "unavailable" },
    });
    expect((await world.left(place)).objects).toBe(2);
    process.calls.clear();
    await process.pass(1);
    expect(await objects()).toMatchObject({ status: "confirmed", remaining: 0 });
    expect(await world.left(place)).toEqual(nothing);
  });

  it("R-TG-40 rows found by the final count, after all had confirmed, must be removed before the end", async () => {
    const place = await world.fill(process, world.admin, "papers");
    let counted = 0;
    const late: Promise<unknown>[] = [];
    // A file written after the store counted zero, and before the end.
    process.calls.add({
      at: (name) => name.startsWith("objects.list knowledge/") && (counted += 1) === 3,
      kind: "hold-after",
      until: Promise.resolve(),
      reached: () =>
        late.push(
          world.objects.put(world.admin.scope, `knowledge/${place.incarnation}/late/1/content`, Buffer.from("late")),
        ),
    });
    const id = await purged(place);
    await Promise.all(late);
    expect(late).toHaveLength(1);
    await process.pass(2);
    const { status, stores } = await operation(id);
    expect(status).toBe("done");
    expect(stores.find(({ store }) => store === "objects")?.attempts).toBeGreaterThan(1);
    expect(await world.left(place)).toEqual(nothing);
  });

  it("a repository waits for a store that is down, and is deleted when that is back", async () => {
    await process.knowledge.repositories.create(world.admin, { repository_id: "gone" });
    const place = await world.fill(process, world.admin, "papers", { repository: "gone" });
    process.calls.add(objectsDown);
    const { job_id } = await process.knowledge.repositories.delete(world.admin, "gone", "gone");
    await expect.poll(async () => (await job(job_id)).error).toContain("is still in");
    process.calls.clear();
    await process.pass(3);
    expect(await job(job_id)).toMatchObject({ status: "succeeded", result: { mode: "purge", collections: 2 } });
    expect(await world.left(place)).toEqual(nothing);
    await expect(process.knowledge.repositories.get(world.admin, "gone")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

describe("a store that cannot delete", () => {
  it("makes the delete refuse before any change; with allow_partial the others do it, and the result says partial", async () => {
    const place = await world.fill(process, world.admin, "papers");
    await process.lifecycle.participants.register({
      store: "tape",
      class: "object",
      capabilities: { delete: false, archive: false, list: false },
    });
    await expect(process.purge(place)).rejects.toMatchObject({
      code: "CONFLICT",
      detail: expect.stringContaining("store_cannot_delete: tape"),
    });
    expect(await process.knowledge.collections.get(world.admin, "kb", "papers")).toMatchObject({
      status: "ACTIVE",
      document_count: 2,
    });
    const options = { purge: true, confirm: "papers", allow_partial: true };
    const { job_id } = await process.knowledge.collections.delete(world.admin, "kb", "papers", options);
    await process.lifecycle.idle();
    expect(await job(job_id)).toMatchObject({ status: "succeeded", result: { mode: "purge", partial: true } });
    expect(await operation(job_id)).toMatchObject({ partial: true });
    expect(await world.left(place)).toEqual(nothing);
  });

  it("R-TG-36 W9 one registered during a delete takes part in it; one that is unregistered is not waited for", async () => {
    const place = await world.fill(process, world.admin, "papers");
    process.calls.add({ ...objectsDown });
    const id = await purged(place);
    await process.lifecycle.participants.register({
      store: "cache",
      class: "vector",
      capabilities: { delete: true, archive: false, list: false },
    });
    process.calls.clear();
    await process.pass(3);
    expect(await operation(id)).toMatchObject({ status: expect.stringMatching(/running|failed/) });
    const { stores } = await operation(id);
    expect(stores.map(({ store }) => store)).toContain("cache");
    expect(stores.filter(({ status }) => status !== "confirmed").map(({ store }) => store)).toEqual(["cache"]);
    expect(await process.lifecycle.participants.unregister("cache")).toBe(true);
    expect(await process.lifecycle.participants.unregister("cache")).toBe(false);
    await process.pass(1);
    expect(await operation(id)).toMatchObject({ status: "done", partial: true });
  });

  it("names, classes and number of stores are validated", async () => {
    const { participants } = process.lifecycle;
    const capabilities = { delete: true, archive: true, list: false };
    const { storeCharsMax, participantsMax } = lifecycleLimits;
    for (const store of ["", "-x", "Upper", "a_b", "x".repeat(storeCharsMax + 1)])
      await expect(participants.register({ store, class: "object", capabilities })).rejects.toMatchObject({
        code: "INVALID",
      });
    await expect(participants.register({ store: "x", class: "tape" as "object", capabilities })).rejects.toMatchObject({
      code: "INVALID",
    });
    await expect(
      participants.register({ store: "x", class: "object", capabilities: {} as typeof capabilities }),
    ).rejects.toMatchObject({ code: "INVALID" });
    await expect(participants.register({ store: "vectors", class: "object", capabilities })).rejects.toMatchObject({
      code: "CONFLICT",
    });
    expect(
      (await participants.register({ store: "x".repeat(storeCharsMax), class: "triples", capabilities })).topic,
    ).toBe(`triples-storage-management-${"x".repeat(storeCharsMax)}`);
    const there = (await participants.list()).length;
    for (let i = there; i < participantsMax; i += 1)
      await participants.register({ store: `s${i}`, class: "object", capabilities });
    await expect(participants.register({ store: "more", class: "object", capabilities })).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
    });
  });
});

it("the job of a waiting operation is updated, but not rewritten at every check", async () => {
  const place = await world.fill(process, world.admin, "waits", { files: 1, rows: 1 });
  const failing = await world.process();
  failing.calls.add({ at: (name) => name.startsWith("objects."), kind: "error-before", always: true });
  const { job_id } = await failing.purge(place);
  await failing.lifecycle.idle();
  for (let n = 0; n < 6; n += 1) {
    world.now += 301_000;
    await failing.sweep();
  }
  const told = await job(job_id);
  expect(told.status).toBe("failed");
  // Nothing is due: the checks change nothing.
  for (let n = 0; n < 3; n += 1) {
    world.now += 1_000;
    await failing.sweep();
  }
  expect(await job(job_id)).toEqual(told);
  await failing.close();
  await process.pass(2);
  expect((await job(job_id)).status).toBe("succeeded");
});

describe("many concurrent deletes", () => {
  it.each([1, 2, 3])(
    "R-TG-46 R-TG-44 twenty concurrent deletes with random failures: each result is right for its own collection (seed %i)",
    async (seed) => {
      let state = seed;
      const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
      const places: Place[] = [];
      for (let i = 0; i < 20; i += 1)
        places.push(await world.fill(process, world.admin, `c${i}`, { files: i % 3, rows: i % 2 }));
      const doomed = new Set(places.filter((_, i) => i % 4 === 0).map(({ incarnation }) => incarnation));
      const isDoomed = (name: string) =>
        name.startsWith("objects.list knowledge/") && [...doomed].some((one) => name.includes(one));
      process.calls.add({ at: (name) => isDoomed(name), kind: "error-before", always: true });
      process.calls.add({
        at: (name) => /^(?:objects|vectors)\./.test(name) && random() < 0.2,
        kind: "error-after",
        always: true,
      });
      const jobs = await Promise.all(places.map((place) => process.purge(place)));
      await process.lifecycle.idle();
      await process.pass(8);
      process.calls.clear();
      process.calls.add({ at: isDoomed, kind: "error-before", always: true });
      await process.pass(4);
      for (const [i, place] of places.entries()) {
        const told = await job(jobs[i]?.job_id as string);
        const at = `seed ${seed}, ${place.collection_id}`;
        expect(told.collection_id, at).toBe(place.collection_id);
        if (doomed.has(place.incarnation)) {
          expect(told, at).toMatchObject({ status: "failed", error: expect.stringContaining("objects:") });
          expect((await world.left(place)).objects, at).toBe(i % 3);
          expect(
            await process.knowledge.collections.get(world.admin, "kb", place.collection_id, { deleted: true }),
            at,
          ).toMatchObject({ status: "DELETE_FAILED" });
        } else {
          expect(told, at).toMatchObject({ status: "succeeded" });
          expect(await world.left(place), at).toEqual(nothing);
        }
      }
      process.calls.clear();
      await process.pass(2);
      for (const [i, place] of places.entries()) {
        expect((await job(jobs[i]?.job_id as string)).status).toBe("succeeded");
        expect(await world.left(place)).toEqual(nothing);
      }
    },
  );
});

describe("any faults in any order", () => {
  const schedules = Number(globalThis.process.env["SIM_SCHEDULES"] ?? 0) >= 20_000 ? 200 : 30;
  it(`R-TG-42 R-TG-46 R-TG-59 ${schedules} schedules of crashes, failures, lost responses and time end alike, and no success is false`, async () => {
    for (let seed = 1; seed <= schedules; seed += 1) await schedule(seed);
  });

  async function schedule(seed: number): Promise<void> {
    let state = seed * 7_919;
    const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
    const places: Place[] = [];
    for (let i = 0; i < 3; i += 1)
      places.push(await world.fill(process, world.admin, `s${seed}-${i}`, { files: i, rows: 1 }));
    const asked = new Map<string, string>();
    for (let step = 0; step < 8; step += 1) {
      const one = await world.process();
      const kind = pick(["crash-before", "crash-after", "error-before", "error-after"] as const);
      one.calls.add({ at: Math.floor(random() * 120), kind });
      const place = pick(places);
      const acting = (
        random() < 0.5
          ? one.purge(place).then(({ job_id }) => void asked.set(place.incarnation, job_id))
          : one.opened.sweep(new AbortController().signal)
      )
        .then(() => one.lifecycle.idle())
        .catch((error: unknown) => {
          if (!PinakesError.isInstance(error)) throw error;
        });
      await Promise.race([acting, one.calls.died]);
      for (const [incarnation, id] of asked) {
        const told = await job(id);
        const there = places.find((other) => other.incarnation === incarnation) as Place;
        if (told.status === "succeeded") expect(await world.left(there), `seed ${seed}, step ${step}`).toEqual(nothing);
      }
      if (!one.calls.dead) await one.close();
      world.now += pick([0, 1, 1_000, 61_000, 301_000]);
    }
    await process.pass(8);
    for (const place of places) {
      const stored = (await process.lifecycle.read(world.admin.scope, place))?.operation;
      const at = `seed ${seed}, ${place.collection_id}`;
      if (stored === undefined) {
        expect(asked.has(place.incarnation), at).toBe(false);
        expect(await process.knowledge.collections.get(world.admin, "kb", place.collection_id), at).toMatchObject({
          status: "ACTIVE",
        });
        continue;
      }
      expect(stored, at).toMatchObject({ status: "done" });
      expect(await world.left(place), at).toEqual(nothing);
      expect((await job(stored.operation_id)).status, at).toBe("succeeded");
    }
  }
});
