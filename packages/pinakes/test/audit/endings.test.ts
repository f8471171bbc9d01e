/** Work that should have ended: found when it is late, resent by a repair, and never touched while it makes progress. */
import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { auditLimits } from "../../src/knowledge/index.ts";
import { nothing, system, World, type Place, type Process } from "../lifecycle/support/world.ts";
import { fsck, kinds } from "./support/fsck.ts";

it("R-TG-109 stuck_operation: a delete that a store fails is found, named with its store, and resent until it is done", async () => {
  await using world = await World.open();
  const broken = await world.process();
  const place = await world.fill(broken, world.admin, "papers");
  broken.calls.add({ at: (name) => name.startsWith("triples.purge"), kind: "error-before", always: true });
  await broken.purge(place);
  await broken.lifecycle.idle();
  expect(kinds(await fsck(world, broken))).toEqual([]);
  await broken.pass(8);
  const report = await fsck(world, broken, { repair: true });
  expect(report.findings).toMatchObject([
    { kind: "stuck_operation", collection_id: "papers", incarnation: place.incarnation, repaired: false },
  ]);
  expect(report.findings[0]?.detail).toContain("triples");
  expect(report.left).toBe(1);
  broken.calls.clear();
  await expectEndedByRepair(world, broken, place);
});

it("stuck_operation: one without progress, whose registry entry is lost, is completed by a repair", async () => {
  await using world = await World.open();
  const dying = await world.process();
  const place = await world.fill(dying, world.admin, "papers");
  dying.calls.add({ at: (name) => name.startsWith("vectors.purge"), kind: "crash-before" });
  await dying.purge(place);
  await dying.calls.died;
  await forgetWork(world);
  const process = await world.process();
  expect(kinds(await fsck(world, process))).toEqual([]);
  world.now += auditLimits.operationSilentMs - 1;
  expect(kinds(await fsck(world, process))).toEqual([]);
  world.now += 1;
  expect(kinds(await fsck(world, process))).toEqual(["stuck_operation"]);
  await expectEndedByRepair(world, process, place);
});

it("stuck_operation: a collection overdue in the trash is purged; one that can still be restored is not", async () => {
  await using world = await World.open({ trashMs: 60_000 });
  const process = await world.process();
  const place = await world.fill(process, world.admin, "papers");
  await process.knowledge.collections.delete(world.admin, "kb", "papers");
  await forgetWork(world);
  world.now += 60_000 + auditLimits.operationSilentMs - 1;
  expect(kinds(await fsck(world, process, { repair: true }))).toEqual([]);
  expect((await world.left(place)).objects).toBe(2);
  world.now += 1;
  expect(kinds(await fsck(world, process))).toEqual(["stuck_operation"]);
  await expectEndedByRepair(world, process, place);
});

it("removal_left: a late removal is executed", async () => {
  await using world = await World.open();
  const process = await world.process();
  const { repository_id, incarnation } = await world.fill(process, world.admin, "papers");
  const { scope } = world.admin;
  const document_id = randomUUID();
  const key = `knowledge/${incarnation}/${document_id}/1/content`;
  await world.objects.put(scope, key, Buffer.from("left"));
  const id = `removal:${document_id}:1.deleted`;
  const document = {
    id,
    repository_id,
    incarnation,
    kind: "removal",
    document_id,
    chunks: [],
    object_keys: [key],
    at: new Date(world.now).toISOString(),
  };
  await world.items.write(scope, "documents", [repository_id, incarnation], { op: "create", document });
  world.now += auditLimits.removalLateMs - 1;
  expect(await fsck(world, process, { repair: true })).toMatchObject({ found: 0, waiting: 0 });
  world.now += 1;
  expect(kinds(await fsck(world, process))).toEqual(["removal_left"]);
  expect(kinds(await fsck(world, process, { repair: true }))).toEqual(["removal_left repaired"]);
  expect(await fsck(world, process)).toMatchObject({ found: 0, waiting: 0 });
  expect(await world.objects.head(scope, key)).toBeUndefined();
  await process.close();
});

it("an archived collection is audited, and repairs that only remove are done; one in the trash waits for its restore", async () => {
  await using world = await World.open();
  const process = await world.process();
  const { scope } = world.admin;
  const archived = await world.fill(process, world.admin, "old");
  const trashed = await world.fill(process, world.admin, "gone");
  await process.knowledge.collections.archive(world.admin, "kb", "old");
  await process.lifecycle.idle();
  await process.sweep();
  await process.knowledge.collections.delete(world.admin, "kb", "gone");
  for (const { incarnation } of [archived, trashed])
    await world.objects.put(scope, `knowledge/${incarnation}/x/1/content`, Buffer.from("stray"));
  world.now += auditLimits.objectYoungMs;
  const report = await fsck(world, process, { repair: true });
  expect(report.findings).toMatchObject([{ kind: "object_without_record", collection_id: "old", repaired: true }]);
  expect((await world.left(trashed)).objects).toBe(3);
  await process.knowledge.collections.restore(world.admin, "kb", "gone");
  expect(kinds(await fsck(world, process, { repair: true }))).toEqual(["object_without_record repaired"]);
  expect((await world.left(trashed)).objects).toBe(2);
  await process.close();
});

it("the bytes of a document that existed before it stay when it is deleted, and are no finding", async () => {
  await using world = await World.open();
  const process = await world.process();
  const { knowledge } = process;
  const { incarnation } = await world.fill(process, world.admin, "papers", { files: 0, rows: 0 });
  const source = { type: "existing", uri: "s3://bucket/a.txt" } as const;
  const { document_id } = await knowledge.documents.upload(world.admin, "kb", "papers", {
    name: "a.txt",
    body: "theirs",
    source,
  });
  await knowledge.documents.delete(world.admin, "kb", "papers", document_id);
  world.now += auditLimits.objectYoungMs;
  expect(await fsck(world, process, { repair: true })).toMatchObject({ found: 0, waiting: 0 });
  expect(
    await world.objects.head(world.admin.scope, `knowledge/${incarnation}/${document_id}/1/content`),
  ).toBeDefined();
  await process.close();
});

/** A repair completes the operation, nothing of the collection remains, and nothing more is found. */
async function expectEndedByRepair(world: World, process: Process, place: Place): Promise<void> {
  expect(kinds(await fsck(world, process, { repair: true }))).toEqual(["stuck_operation repaired"]);
  expect(await world.left(place)).toEqual(nothing);
  expect(kinds(await fsck(world, process))).toEqual([]);
  await process.close();
}

/** Simulates a lost registry: nothing is resumed automatically. */
async function forgetWork(world: World): Promise<void> {
  const scope = system.forTenant("pinakes.knowledge");
  let forgotten = 0;
  for (const shard of ["0", "1", "2", "3", "4", "5", "6", "7"]) {
    const { items } = await world.items.query(scope, "knowledge-work", { equals: { shard }, limit: 1_000 });
    for (const { id } of items) await world.items.write(scope, "knowledge-work", [shard], { op: "delete", id });
    forgotten += items.length;
  }
  expect(forgotten).toBeGreaterThan(0);
}
