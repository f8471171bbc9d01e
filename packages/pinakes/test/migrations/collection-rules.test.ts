/** `migrate-collection`: permissions, problems, and what happens to the old one. */
import { beforeAll, describe, expect, it, vi } from "vitest";
import { makeCaller, type Caller } from "../../src/domain/caller.ts";
import { CollectionPartition } from "../../src/knowledge/records/collection-partition.ts";
import { itemIds } from "../../src/knowledge/records/records.ts";
import { CollectionMover } from "../../src/transfer/move/collection-mover.ts";
import { entity, plant } from "./support/planted-collection.ts";
import { World } from "./support/world.ts";
import { forAllTests } from "../support/for-tests.ts";

const user = (userId: string, groups: readonly string[] = [], tenant = "acme"): Caller =>
  makeCaller({ tenant, userId, groups });
const world = forAllTests(() => World.open());
const process = forAllTests(() => world.process());
beforeAll(async () => {
  await process.knowledge.repositories.create(world.admin, { repository_id: "attic" });
  await process.knowledge.repositories.create(world.admin, { repository_id: "staff", allowed_groups: ["staff"] });
  await process.knowledge.repositories.create(world.admin, { repository_id: "closed", allow_user_collections: false });
});

const source = (collection: string, to: object, more: object = {}) => ({
  kind: "collection",
  repository: "kb",
  collection,
  to,
  ...more,
});
const begin = (caller: Caller, wanted: object) => process.migrations.create(caller, { source: wanted });
async function refusal(call: Promise<unknown>): Promise<{ code: string; detail: string }> {
  return call.then(
    () => ({ code: "none", detail: "" }),
    (error: unknown) => error as { code: string; detail: string },
  );
}

/** All steps, as the caller. */
async function moved(caller: Caller, wanted: object): Promise<string> {
  const { migration_id } = await process.migrations.create(caller, { source: wanted, auto: true });
  expect(await process.migrations.drive(caller, migration_id)).toMatchObject({ state: "switched", error: null });
  return migration_id;
}

describe("permissions", () => {
  it("R-TG-63 R-TG-100 callers who manage both sides; a revoked right takes effect before the next step", async () => {
    const ann = user("ann", ["staff"]);
    await process.knowledge.collections.create(ann, "staff", { collection_id: "hers" });
    const { migration_id } = await begin(ann, { ...source("hers", { repository: "me" }), repository: "staff" });
    await process.migrations.drive(ann, migration_id);
    expect(await refusal(process.migrations.copy(user("ann"), migration_id))).toMatchObject({ code: "NOT_FOUND" });
    expect(await refusal(process.migrations.copy(user("bob", ["staff"]), migration_id))).toMatchObject({
      code: "FORBIDDEN",
    });
    await process.migrations.copy(ann, migration_id);
    expect(await process.migrations.drive(ann, migration_id)).toMatchObject({ state: "copied" });
    await process.migrations.validate(ann, migration_id);
    await process.migrations.drive(ann, migration_id);
    await process.migrations.cutover(ann, migration_id);
    expect(await process.migrations.drive(ann, migration_id)).toMatchObject({ state: "switched" });
    expect(await process.knowledge.collections.get(ann, "me", "hers")).toMatchObject({
      private: true,
      created_by: "ann",
    });
    expect(await refusal(process.migrations.finish(ann, migration_id, { remove_old: true, now: true }))).toMatchObject({
      code: "FORBIDDEN",
    });
    await process.migrations.rollback(ann, migration_id);
    expect(await process.migrations.drive(ann, migration_id)).toMatchObject({ state: "rolled_back" });
    expect(await process.knowledge.collections.get(ann, "staff", "hers")).toMatchObject({ status: "ACTIVE" });
  });

  it("R-TG-63 R-TG-100 WRITE is not enough, nor is a repository without user collections, nor a migration of another kind", async () => {
    await process.knowledge.collections.create(user("ann"), "kb", { collection_id: "anns" });
    expect(await refusal(begin(user("bob"), source("anns", { collection: "bobs" })))).toMatchObject({
      code: "FORBIDDEN",
    });
    expect(await refusal(begin(user("ann"), source("anns", { repository: "closed" })))).toMatchObject({
      code: "FORBIDDEN",
    });
    expect(await refusal(begin(user("ann"), { kind: "unregistered", repository: "kb" }))).toMatchObject({
      code: "FORBIDDEN",
    });
    expect(await refusal(process.migrations.list(user("ann")))).toMatchObject({ code: "FORBIDDEN" });
  });

  it("R-TG-09 R-TG-63 another user's or another workspace's collection answers, as source and as target, like a missing one", async () => {
    const eve = user("eve");
    await process.knowledge.collections.create(eve, "kb", { collection_id: "eves" });
    await process.knowledge.collections.create(user("ann"), "kb", { collection_id: "secret", private: true });
    const same = (text: string, id: string) => text.replaceAll(id, "X");
    const none = await refusal(begin(eve, source("nothing", { collection: "mine" })));
    expect(none.code).toBe("NOT_FOUND");
    const hidden = await refusal(begin(eve, source("secret", { collection: "mine" })));
    expect([hidden.code, same(hidden.detail, "secret")]).toEqual([none.code, same(none.detail, "nothing")]);
    const elsewhere = await refusal(begin(user("root", [], "other"), source("eves", { collection: "mine" })));
    const unknown = await refusal(begin(user("root", [], "other"), source("nothing", { collection: "mine" })));
    expect([elsewhere.code, same(elsewhere.detail, "eves")]).toEqual([unknown.code, same(unknown.detail, "nothing")]);
    const noTarget = await refusal(begin(eve, source("eves", { repository: "nowhere" })));
    const hiddenTarget = await refusal(begin(eve, source("eves", { repository: "staff" })));
    expect(noTarget.code).toBe("NOT_FOUND");
    expect([hiddenTarget.code, same(hiddenTarget.detail, "staff")]).toEqual([
      noTarget.code,
      same(noTarget.detail, "nowhere"),
    ]);
    // For admins of another workspace not even the migration exists.
    const { migration_id } = await begin(eve, source("eves", { collection: "eves2" }));
    const foreign = makeCaller({ tenant: "other", userId: "root", role: "admin" });
    const seen = await refusal(process.migrations.get(foreign, migration_id));
    const made = await refusal(process.migrations.get(foreign, "none"));
    expect([seen.code, same(seen.detail, migration_id)]).toEqual([made.code, same(made.detail, "none")]);
    const asUser = await refusal(process.migrations.get(user("bob"), migration_id));
    const noneAsUser = await refusal(process.migrations.get(user("bob"), "none"));
    expect([asUser.code, asUser.detail]).toEqual([noneAsUser.code, noneAsUser.detail]);
  });
});

describe("problems", () => {
  it("R-TG-63 the same location, an invalid id, the default collection and a retention are refused at once", async () => {
    await process.knowledge.collections.create(world.admin, "kb", { collection_id: "stay" });
    expect(await refusal(begin(world.admin, source("stay", {})))).toMatchObject({ code: "INVALID" });
    expect(await refusal(begin(world.admin, source("stay", { collection: "no/id" })))).toMatchObject({
      code: "INVALID",
    });
    expect(await refusal(begin(world.admin, source("stay", { collection: "x" }, { incarnation: "1" })))).toMatchObject({
      code: "INVALID",
    });
    const [standard] = (await process.knowledge.collections.list(world.admin, { repositoryId: "kb" })).items.filter(
      ({ is_default }) => is_default,
    );
    expect(
      await refusal(begin(world.admin, source(standard?.collection_id as string, { repository: "attic" }))),
    ).toMatchObject({ code: "INVALID" });
    const kept = process.migrations.create(world.admin, {
      source: source("stay", { collection: "x" }),
      retain_days: 3,
    });
    expect(await refusal(kept)).toMatchObject({
      code: "INVALID",
      detail: expect.stringContaining("retain_days") as string,
    });
  });

  it("R-TG-63 an existing target, groups excluded by the target's repository, an external store: problems of the plan", async () => {
    await process.knowledge.collections.create(world.admin, "kb", {
      collection_id: "open",
      allowed_groups: ["guests"],
    });
    await process.knowledge.collections.create(world.admin, "staff", { collection_id: "taken" });
    const { participants } = process.lifecycle;
    await participants.register({
      store: "away",
      class: "object",
      capabilities: { delete: true, archive: true, list: false },
    });
    try {
      const plan = await process.plan(source("open", { repository: "staff", collection: "taken" }));
      expect(plan.problem_count).toBe(3);
      const reasons = plan.problems.map(({ reason }) => reason).join("\n");
      expect(reasons).toMatch(/which exists/);
      expect(reasons).toMatch(/guests/);
      expect(reasons).toMatch(/store_cannot_migrate.*away/);
      expect(await refusal(process.migrations.copy(world.admin, plan.migration_id))).toMatchObject({ code: "INVALID" });
      const partial = await process.plan(source("open", { collection: "opened" }, { allow_partial: true }));
      expect(partial.problem_count).toBe(0);
      const { migration_id } = await process.migrations.create(world.admin, {
        source: source("open", { collection: "opened" }),
        auto: true,
      });
      // An automatic migration stops at a plan with problems.
      expect(await process.drive(migration_id)).toMatchObject({ state: "planned", problem_count: 1 });
    } finally {
      await participants.unregister("away");
    }
  });

  it("R-TG-63 names of the target location, which would become its own, are a problem of the plan", async () => {
    await plant(world, process, "mixed");
    const { incarnation } = await process.knowledge.collections.get(world.admin, "kb", "mixed");
    const foreign = { s: entity("pure", "thing"), p: "<http://x/p>", o: '"x"', g: "" };
    await world.triples.write(world.admin.scope, incarnation, { insert: [foreign] });
    expect(await process.plan(source("mixed", { collection: "pure" }))).toMatchObject({ problem_count: 1 });
    expect(await process.plan(source("mixed", { collection: "other" }))).toMatchObject({ problem_count: 0 });
  });

  it("R-TG-63 ingestions in progress are awaited, and the hold stays meanwhile", async () => {
    await plant(world, process, "busy");
    await process.knowledge.documents.upload(world.admin, "kb", "busy", { name: "new.txt", body: "not yet indexed" });
    const { migration_id } = await process.plan(source("busy", { collection: "calm" }));
    await process.migrations.copy(world.admin, migration_id);
    expect(await refusal(process.drive(migration_id))).toMatchObject({
      code: "UNAVAILABLE",
      detail: expect.stringContaining("1 documents") as string,
    });
    expect(
      await refusal(process.knowledge.collections.update(world.admin, "kb", "busy", { description: "x" })),
    ).toMatchObject({ code: "UNAVAILABLE" });
    expect(await process.run(migration_id, "rollback")).toMatchObject({ state: "rolled_back" });
    await process.knowledge.collections.update(world.admin, "kb", "busy", { description: "x" });
  });

  it("R-TG-63 two migrations of one collection: the second learns which one holds it", async () => {
    await plant(world, process, "wanted");
    const first = await process.plan(source("wanted", { collection: "first" }));
    const second = await process.plan(source("wanted", { collection: "second" }));
    await process.run(first.migration_id, "copy");
    await process.migrations.copy(world.admin, second.migration_id);
    const refused = await refusal(process.drive(second.migration_id));
    expect(refused).toMatchObject({ code: "CONFLICT", detail: expect.stringContaining(first.migration_id) as string });
    await process.run(second.migration_id, "rollback");
    expect(await process.run(first.migration_id, "validate", "cutover")).toMatchObject({ state: "switched" });
  });
});

describe("the old collection", () => {
  it("R-TG-63 automatic up to the switch; an archived one is archived there, and a later delete of the old one leaves the new one alone", async () => {
    await plant(world, process, "old-papers");
    await process.knowledge.collections.archive(world.admin, "kb", "old-papers");
    const id = await moved(world.admin, source("old-papers", { repository: "attic" }));
    expect(await process.knowledge.collections.get(world.admin, "attic", "old-papers")).toMatchObject({
      status: "ARCHIVED",
      document_count: 2,
    });
    const { incarnation } = await process.knowledge.collections.get(world.admin, "attic", "old-papers");
    const fence = await new CollectionPartition(world.items, world.admin.scope, {
      repository_id: "attic",
      collection_id: "old-papers",
      incarnation,
    }).fence();
    expect(fence?.record.status).toBe("ARCHIVED");
    expect(await refusal(process.finish(id, { remove_old: true }))).toMatchObject({ code: "CONFLICT" });
    const asked = vi.spyOn(CollectionMover.prototype, "authorize");
    expect(await process.finish(id, { remove_old: true, now: true })).toMatchObject({ state: "finished" });
    // Once, for the most powerful step.
    expect(asked.mock.calls.map(([, , options]) => options)).toEqual([{ purge: true }]);
    asked.mockRestore();
    expect(await refusal(process.knowledge.collections.restore(world.admin, "kb", "old-papers"))).toMatchObject({
      code: "GONE",
    });
    expect(
      (await process.knowledge.documents.passages(world.admin, "attic", "old-papers", "old-papers-one")).total,
    ).toBe(2);
    expect(await refusal(process.run(id, "rollback"))).toMatchObject({
      code: "GONE",
      detail: expect.stringContaining("Move the new one back") as string,
    });
    expect(await process.knowledge.collections.get(world.admin, "attic", "old-papers")).toMatchObject({
      status: "ARCHIVED",
    });
  });

  it("R-TG-63 to a personal repository and back it is the same collection", async () => {
    await plant(world, process, "round");
    await moved(world.admin, source("round", { repository: "me", collection: "trip" }));
    const there = await process.knowledge.collections.get(world.admin, "me", "trip");
    expect(there).toMatchObject({ private: true, name: "The round" });
    await moved(world.admin, {
      kind: "collection",
      repository: "me",
      collection: "trip",
      to: { repository: "kb", collection: "round" },
    });
    const back = await process.knowledge.collections.get(world.admin, "kb", "round");
    expect(back).toMatchObject({ name: "The round", document_count: 2, created_at: there.created_at });
    expect((await process.knowledge.documents.passages(world.admin, "kb", "round", "round-one")).total).toBe(2);
    expect(await world.triples.count(world.admin.scope, back.incarnation, { s: entity("round", "newton") })).toBe(3);
  });

  it("R-TG-63 a name taken at the last moment does not stop the switch", async () => {
    await plant(world, process, "named");
    const { migration_id } = await process.plan(source("named", { collection: "renamed" }));
    await process.run(migration_id, "copy", "validate");
    const other = await world.process();
    const hidden = Promise.withResolvers<void>();
    const taken = Promise.withResolvers<void>();
    // The third batch of records opens the new one, after the old one is hidden.
    let batches = 0;
    other.calls.add({
      at: (name) => name === "items.batch collections" && (batches += 1) === 3,
      kind: "hold",
      until: taken.promise,
      reached: () => hidden.resolve(),
    });
    await other.migrations.cutover(world.admin, migration_id);
    const switching = other.drive(migration_id);
    await hidden.promise;
    await process.knowledge.collections.create(world.admin, "kb", { collection_id: "thief", name: "THE NAMED" });
    taken.resolve();
    expect(await switching).toMatchObject({ state: "switched" });
    expect(await process.knowledge.collections.get(world.admin, "kb", "renamed")).toMatchObject({
      name: "renamed",
      status: "ACTIVE",
    });
    await other.close();
  });

  it("R-TG-63 an old one restored after the switch stays, and a later rollback only removes the new one", async () => {
    await plant(world, process, "twice");
    const id = await moved(world.admin, source("twice", { repository: "attic", collection: "copy" }));
    await process.knowledge.collections.restore(world.admin, "kb", "twice");
    expect(await process.run(id, "rollback")).toMatchObject({ state: "rolled_back" });
    expect(await process.knowledge.collections.get(world.admin, "kb", "twice")).toMatchObject({ status: "ACTIVE" });
    expect(await refusal(process.knowledge.collections.get(world.admin, "attic", "copy"))).toMatchObject({
      code: "NOT_FOUND",
    });
  });

  it("R-TG-63 a rollback whose old id is taken is refused before any change", async () => {
    await plant(world, process, "reborn");
    const id = await moved(world.admin, source("reborn", { repository: "attic" }));
    await process.knowledge.collections.create(world.admin, "kb", { collection_id: "reborn", name: "Another" });
    expect(await refusal(process.run(id, "rollback"))).toMatchObject({ code: "CONFLICT" });
    expect(await process.knowledge.collections.get(world.admin, "attic", "reborn")).toMatchObject({ status: "ACTIVE" });
    await process.knowledge.collections.delete(world.admin, "kb", "reborn");
    expect(await process.run(id, "rollback")).toMatchObject({ state: "rolled_back" });
    expect(await process.knowledge.collections.get(world.admin, "kb", "reborn")).toMatchObject({ name: "The reborn" });
  });

  it("R-TG-63 a refused rollback does not run by itself when it becomes possible: the migration returns to its state, with the reason", async () => {
    await plant(world, process, "armed");
    const id = await moved(world.admin, source("armed", { repository: "attic" }));
    await process.knowledge.collections.create(world.admin, "kb", { collection_id: "armed", name: "In the way" });
    await process.migrations.rollback(world.admin, id, { force: true });
    expect(await refusal(process.drive(id))).toMatchObject({ code: "CONFLICT" });
    expect(await process.migrations.get(world.admin, id)).toMatchObject({
      state: "switched",
      error: expect.stringContaining("Another collection") as string,
    });
    world.now += 10 * 86_400_000;
    await process.knowledge.collections.update(world.admin, "attic", "armed", { description: "ten days of work" });
    await process.knowledge.collections.delete(world.admin, "kb", "armed");
    await process.migrations.tick(new AbortController().signal);
    expect(await process.knowledge.collections.get(world.admin, "attic", "armed")).toMatchObject({
      status: "ACTIVE",
      description: "ten days of work",
    });
    expect(await process.finish(id, {})).toMatchObject({ state: "finished", error: null });
  });

  it("R-TG-63 a new one held by a dead rollback, after a write, is open again when the next rollback is refused", async () => {
    await plant(world, process, "stuck");
    const id = await moved(world.admin, source("stuck", { repository: "attic" }));
    const other = await world.process();
    const [reached, written] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    // The first batch of a rollback is the hold of the new one. A write gets in just before it, and the process dies just after.
    other.calls.add({
      at: (name) => name === "items.batch collections",
      kind: "hold",
      until: written.promise,
      reached: reached.resolve,
    });
    await other.migrations.rollback(world.admin, id);
    const rolling = other.drive(id).catch(() => {});
    await reached.promise;
    const { incarnation } = await process.knowledge.collections.get(world.admin, "attic", "stuck");
    await world.triples.write(world.admin.scope, incarnation, {
      insert: [{ s: "<http://x/s>", p: "<http://x/p>", o: '"late"', g: "" }],
    });
    other.calls.add({ at: () => true, kind: "crash-before" });
    written.resolve();
    await Promise.race([rolling, other.calls.died]);
    expect((await process.knowledge.collections.get(world.admin, "attic", "stuck")).held_by).toBe(id);
    world.now += 120_000;
    expect(await refusal(process.drive(id))).toMatchObject({
      code: "CONFLICT",
      detail: expect.stringContaining("force") as string,
    });
    expect(await process.migrations.get(world.admin, id)).toMatchObject({
      state: "switched",
      error: expect.stringContaining("force") as string,
    });
    await process.knowledge.collections.update(world.admin, "attic", "stuck", { description: "open" });
  });

  it("R-TG-63 pending removals of the old one are executed before the move, and not moved", async () => {
    await plant(world, process, "tidy");
    const { incarnation } = await process.knowledge.collections.get(world.admin, "kb", "tidy");
    const partition = new CollectionPartition(world.items, world.admin.scope, {
      repository_id: "kb",
      collection_id: "tidy",
      incarnation,
    });
    const key = `${partition.prefix}tidy-one/0/content`;
    await world.objects.put(world.admin.scope, key, Buffer.from("left over"));
    const removal = {
      kind: "removal",
      document_id: "tidy-one",
      chunks: [],
      object_keys: [key],
      at: "2030-01-01T00:00:00.000Z",
    };
    await partition.clean([
      { op: "create", document: partition.document(itemIds.removal("tidy-one", "1.replaced"), removal) },
    ]);
    await moved(world.admin, source("tidy", { collection: "tidied" }));
    const there = await process.knowledge.collections.get(world.admin, "kb", "tidied");
    const { keys } = await world.objects.list(world.admin.scope, `knowledge/${there.incarnation}/`);
    expect(keys.map((one) => one.key.split("/").slice(2).join("/"))).not.toContain("tidy-one/0/content");
    expect(keys).toHaveLength(6);
  });
});
