/**
 * Data that no record names: found, reported, quarantined after it has been unknown for a day, and removed when that expires; nothing else
 * ever.
 */
import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { lifecycleLimits } from "../../src/lifecycle/index.ts";
import { nothing, World } from "./support/world.ts";

it("R-TG-54 W13 planted data of an unknown incarnation is reported, quarantined after its grace period, and removed when dropped; what a record names stays, deleted or not", async () => {
  await using world = await World.open();
  const process = await world.process();
  const { scope } = world.admin;
  const live = await world.fill(process, world.admin, "live");
  const trashed = await world.fill(process, world.admin, "trashed");
  await process.knowledge.collections.delete(world.admin, "kb", "trashed");
  const ended = await world.fill(process, world.admin, "ended");
  await process.purge(ended);
  await process.lifecycle.idle();
  const stray = { repository_id: "kb", collection_id: "", incarnation: randomUUID() };
  await world.objects.put(scope, `knowledge/${stray.incarnation}/d/1/content`, Buffer.from("stray"));
  // Written after the end of its collection.
  await world.objects.put(scope, `knowledge/${ended.incarnation}/late/1/content`, Buffer.from("late"));
  await world.vectors.vectors.create(scope, `${stray.incarnation}.1`, { dims: 2 });
  await world.items.write(scope, "documents", ["kb", stray.incarnation], {
    op: "create",
    document: {
      id: "fence",
      kind: "fence",
      status: "ACTIVE",
      held: true,
      repository_id: "kb",
      incarnation: stray.incarnation,
      generation: 1,
      collection_id: "x",
    },
  });
  await world.items.write(scope, "documents", ["kb", stray.incarnation], {
    op: "create",
    document: { id: "document:x", kind: "document", repository_id: "kb", incarnation: stray.incarnation },
  });
  // Foreign data, under names that are no incarnations: never touched.
  await world.vectors.vectors.create(scope, "my-vectors.1", { dims: 2 });
  await world.objects.put(scope, "knowledge/readme.txt", Buffer.from("mine"));
  const found = async (remove = true) =>
    (await process.lifecycle.reconcile(scope, { remove }))
      .map(
        ({ store, incarnation, removed, quarantined }) =>
          `${store} ${incarnation} ${removed ? "removed" : quarantined}`,
      )
      .toSorted();
  const expected = (quarantined: boolean) =>
    [
      `documents ${stray.incarnation} ${quarantined}`,
      // Its collection was purged: nothing of it is kept.
      `objects ${ended.incarnation} ${quarantined ? "removed" : false}`,
      `objects ${stray.incarnation} ${quarantined}`,
      `vectors ${stray.incarnation} ${quarantined}`,
    ].toSorted();
  const before = [await world.left(live), await world.left(trashed)];
  expect(await found()).toEqual(expected(false));
  world.now += lifecycleLimits.orphanGraceMs - 1;
  expect(await found()).toEqual(expected(false));
  expect(await found(false)).toEqual(expected(false));
  world.now += 1;
  expect(await found(false)).toEqual(expected(false));
  expect(await found()).toEqual(expected(true));
  expect(await found()).toEqual([]);
  expect(await world.left(ended)).toEqual(nothing);
  expect(process.lifecycle.metrics.orphansRemoved).toBe(1);
  const { orphans } = await process.lifecycle.quarantine.held(scope, { limit: 10 });
  expect(orphans.map(({ store, incarnation }) => `${store} ${incarnation}`)).toEqual(
    ["documents", "objects", "vectors"].map((store) => `${store} ${stray.incarnation}`),
  );
  world.now += lifecycleLimits.orphanGraceMs;
  expect(await found()).toEqual([]);
  expect(await world.left(stray)).toMatchObject({ documents: 1, objects: 1 });
  for (const held of orphans) await process.lifecycle.quarantine.drop(scope, held);
  expect(await world.left(stray)).toEqual(nothing);
  expect((await process.lifecycle.quarantine.held(scope, { limit: 10 })).orphans).toEqual([]);
  expect([await world.left(live), await world.left(trashed)]).toEqual(before);
  expect((await world.vectors.vectors.remains(scope, "my-vectors.1")).status).toBe("active");
  expect(await world.objects.get(scope, "knowledge/readme.txt")).toBeDefined();
  await process.knowledge.collections.restore(world.admin, "kb", "trashed");
  await process.close();
});

it("R-TG-54 data that a record names in time is not removed, and its grace period restarts", async () => {
  await using world = await World.open();
  const process = await world.process();
  const { scope } = world.admin;
  const place = await world.fill(process, world.admin, "papers");
  const record = await world.items.read(scope, "collections", { partition: ["kb"], id: "collection:papers" });
  const document = record?.document as NonNullable<typeof record>["document"];
  // Its record is missing for a while, as in a stale index.
  await world.items.write(scope, "collections", ["kb"], { op: "delete", id: "collection:papers" });
  expect(await process.lifecycle.reconcile(scope)).toHaveLength(4);
  world.now += lifecycleLimits.orphanGraceMs - 1;
  await world.items.write(scope, "collections", ["kb"], { op: "create", document });
  expect(await process.lifecycle.reconcile(scope)).toEqual([]);
  await world.items.write(scope, "collections", ["kb"], { op: "delete", id: "collection:papers" });
  world.now += 1;
  expect((await process.lifecycle.reconcile(scope)).map(({ removed }) => removed)).toEqual([
    false,
    false,
    false,
    false,
  ]);
  expect((await world.left(place)).objects).toBe(2);
  await process.close();
});
