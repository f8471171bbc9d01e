/** Deletes of collections in all stores: what is refused, removed, kept, and reported. */
import { describe, expect, it } from "vitest";
import { makeCaller } from "../../src/domain/caller.ts";
import { reportOf } from "../../src/lifecycle/operation.ts";
import { nothing, World, type Place } from "./support/world.ts";
import { forAllTests } from "../support/for-tests.ts";

let names = 0;
const id = (stem = "c") => `${stem}${(names += 1)}`;
const world = forAllTests(() => World.open());
const process = forAllTests(() => world.process());

const full = (over: object = {}) => ({
  documents: expect.any(Number),
  objects: 2,
  vectors: expect.any(Number),
  triples: expect.any(Number),
  ...over,
});
async function ended(jobId: string) {
  await process.lifecycle.idle();
  return process.knowledge.jobs.get(world.admin, jobId);
}

describe("a purge", () => {
  it("R-TG-02 R-TG-36 R-TG-40 R-TG-50 R-TG-110 asks every registered store, counts each to zero, deletes the record last, and reports by store", async () => {
    const place = await world.fill(process, world.admin, id());
    expect(await world.left(place)).toEqual(full());
    const { job_id } = await process.purge(place);
    const job = await ended(job_id);
    const stores = (await process.lifecycle.participants.list()).map(({ store }) => store);
    expect(stores.toSorted()).toEqual(["documents", "objects", "triples", "vectors"]);
    expect(job).toMatchObject({
      kind: "purge",
      status: "succeeded",
      progress: { done: stores.length, total: stores.length },
    });
    const { result } = job as unknown as { result: { mode: string; stores: Record<string, unknown>[] } };
    expect(result.mode).toBe("purge");
    expect(result.stores.map(({ store }) => store).toSorted()).toEqual(stores.toSorted());
    for (const report of result.stores)
      expect(report).toEqual({
        store: expect.any(String),
        deleted: expect.any(Number),
        remaining: 0,
        unit: expect.any(String),
        duration_ms: expect.any(Number),
        attempts: 1,
      });
    const deleted = Object.fromEntries(result.stores.map((one) => [one["store"], one["deleted"]]));
    expect(deleted).toMatchObject({ objects: 2, documents: 5 });
    expect(deleted["vectors"]).toBeGreaterThan(0);
    expect(deleted["triples"]).toBeGreaterThan(2);
    expect(await world.left(place)).toEqual(nothing);
    await expect(
      process.knowledge.collections.get(world.admin, "kb", place.collection_id, { deleted: true }),
    ).rejects.toMatchObject({ code: "NOT_FOUND" });
    const operation = await process.knowledge.operations.get(world.admin, job_id);
    expect(operation).toMatchObject({
      operation_id: job_id,
      action: "delete-collection",
      status: "done",
      partial: false,
      incarnation: place.incarnation,
    });
  });

  it("R-TG-35 for a missing collection, or one the caller may not delete, nothing is sent and nothing changes", async () => {
    const place = await world.fill(process, world.admin, id());
    const user = makeCaller({ tenant: "acme", userId: "ann" });
    const stranger = makeCaller({ tenant: "other", userId: "root", role: "admin" });
    const { sent } = process.lifecycle.metrics;
    const before = process.calls.names.length;
    await expect(process.purge(place, user)).rejects.toMatchObject({ code: "FORBIDDEN" });
    await expect(process.purge(place, stranger)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(process.purge({ ...place, collection_id: "never-was" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(process.lifecycle.metrics.sent).toBe(sent);
    expect(process.calls.names.slice(before).filter((name) => /write|batch|delete|append/.test(name))).toEqual([]);
    expect(await process.knowledge.collections.get(world.admin, "kb", place.collection_id)).toMatchObject({
      status: "ACTIVE",
    });
  });

  it("R-TG-27 needs the id as confirmation, and its own permission: being the creator is not enough, except of a private one in the personal repository", async () => {
    const ann = makeCaller({ tenant: "acme", userId: "ann" });
    const place = await world.fill(process, ann, id());
    const { knowledge } = process;
    for (const confirm of [undefined, "", "kb", `${place.collection_id} `])
      await expect(
        knowledge.collections.delete(world.admin, "kb", place.collection_id, { purge: true, confirm }),
      ).rejects.toMatchObject({ code: "INVALID" });
    await expect(
      knowledge.collections.delete(ann, "kb", place.collection_id, { confirm: "another" }),
    ).rejects.toMatchObject({ code: "INVALID" });
    await expect(process.purge(place, ann)).rejects.toMatchObject({
      code: "FORBIDDEN",
      detail: expect.stringContaining('"purge"'),
    });
    expect(await knowledge.collections.get(ann, "kb", place.collection_id)).toMatchObject({ status: "ACTIVE" });
    const own = await world.fill(process, ann, id(), { repository: "me" });
    expect((await ended((await process.purge(own, ann)).job_id)).status).toBe("succeeded");
    expect(await world.left(own)).toEqual(nothing);
    const shared = await world.fill(process, ann, id(), { repository: "me" });
    await knowledge.collections.update(ann, "me", shared.collection_id, { private: false });
    await expect(process.purge(shared, ann)).rejects.toMatchObject({ code: "FORBIDDEN" });
    for (const may of [
      makeCaller({ tenant: "acme", userId: "ann", permissions: ["purge"] }),
      makeCaller({ tenant: "acme", userId: "rita", role: "repository_admin" }),
    ]) {
      const next = await world.fill(process, ann, id());
      expect((await ended((await process.purge(next, may)).job_id)).status).toBe("succeeded");
    }
  });

  it("R-TG-30 R-TG-31 R-TG-32 W14 removes all of its own and nothing of its neighbours", async () => {
    const { knowledge } = process;
    for (const repository_id of ["a", "a_b", "a-b"])
      await knowledge.repositories.create(world.admin, { repository_id });
    const one = async (repository: string, name: string) => world.fill(process, world.admin, name, { repository });
    const goners = [await one("kb", "papers"), await one("kb", "Case"), await one("a", "b_c"), await one("a-b", "x")];
    const stay = [
      await one("kb", "papers_2024"),
      await one("kb", "papers-2024"),
      await one("a_b", "c"),
      await one("a_b", "x"),
      await one("kb", "case"),
    ];
    const elsewhere = makeCaller({ tenant: "other", userId: "root", role: "admin" });
    await knowledge.repositories.create(elsewhere, { repository_id: "kb" });
    const foreign = await world.fill(process, elsewhere, "papers");
    const before = await Promise.all(stay.map((place) => world.left(place)));
    const foreignBefore = await world.left(foreign, elsewhere.scope);
    for (const place of goners) await process.purge(place);
    await process.lifecycle.idle();
    for (const place of goners) expect(await world.left(place)).toEqual(nothing);
    expect(await Promise.all(stay.map((place) => world.left(place)))).toEqual(before);
    expect(await world.left(foreign, elsewhere.scope)).toEqual(foreignBefore);
    for (const place of stay)
      expect(await knowledge.collections.get(world.admin, place.repository_id, place.collection_id)).toMatchObject({
        status: "ACTIVE",
        document_count: 2,
      });
  });

  it("R-TG-49 R-TG-37 R-TG-38 R-TG-39 leaves nothing of more than five pages and batches, including unfinished uploads and later generations", async () => {
    const place = await world.fill(process, world.admin, id(), { files: 0, rows: 2 });
    const { repository_id, incarnation } = place;
    const { scope } = world.admin;
    await process.knowledge.documents.upload(world.admin, "kb", place.collection_id, { name: "one.txt", body: "x" });
    const record = (n: number) => ({
      id: `document:${n}`,
      kind: "document",
      repository_id,
      incarnation,
      document_id: String(n),
    });
    for (let at = 0; at < 2_600; at += 25)
      await world.items.batch(
        scope,
        "documents",
        [repository_id, incarnation],
        Array.from({ length: 25 }, (_, i) => ({ op: "create" as const, document: record(at + i) })),
      );
    // Files of documents, and one of an unfinished upload.
    for (let i = 0; i < 5_100; i += 1)
      await world.objects.put(scope, `knowledge/${incarnation}/${i}/1/content`, Buffer.from("x"));
    for (const generation of [1, 2, 3]) {
      await world.vectors.vectors.create(scope, `${incarnation}.${generation}`, { dims: generation + 1 });
      await world.vectors.vectors.append(scope, `${incarnation}.${generation}`, {
        upsert: [{ id: "p", vector: Array.from({ length: generation + 1 }, () => 1) }],
      });
    }
    await world.items.write(scope, "documents", [repository_id, incarnation], {
      op: "patch",
      id: "fence",
      patch: [{ op: "set", path: "/generation", value: 3 }],
    });
    await world.know(scope, incarnation, 2_600);
    const { job_id } = await process.purge(place);
    const job = await ended(job_id);
    const stores = (job.result as { stores: { store: string; deleted: number }[] }).stores;
    expect(stores.find(({ store }) => store === "objects")?.deleted).toBe(5_101);
    expect(stores.find(({ store }) => store === "documents")?.deleted).toBeGreaterThan(2_600);
    expect(await world.left(place)).toEqual(nothing);
    for (const name of ["1", "2", "3", "own"])
      expect(await world.vectors.vectors.remains(scope, `${incarnation}.${name}`)).toEqual({
        status: "deleted",
        left: 0,
      });
  });

  it("R-TG-51 R-TG-52 removes an empty collection, and the last one of a user", async () => {
    const lena = makeCaller({ tenant: "acme", userId: "lena" });
    const { collection_id, repository_id, incarnation } = await process.knowledge.collections.create(lena, "me", {
      name: "Only",
    });
    const { job_id } = await process.purge({ collection_id, repository_id, incarnation }, lena);
    expect((await ended(job_id)).result).toMatchObject({ mode: "purge" });
    expect((await process.knowledge.collections.list(lena, { repositoryId: "me", status: "all" })).items).toEqual([]);
    expect((await process.knowledge.collections.create(lena, "me", { name: "Only" })).document_count).toBe(0);
  });

  it("R-TG-45 several concurrent deletes of one collection, in two processes, start one operation", async () => {
    const place = await world.fill(process, world.admin, id());
    const second = await world.process();
    const jobs = await Promise.all([process, second, process, second].map((one) => one.purge(place)));
    expect(new Set(jobs.map(({ job_id }) => job_id)).size).toBe(1);
    await second.close();
    expect((await ended(jobs[0]?.job_id as string)).status).toBe("succeeded");
    const { items } = await process.knowledge.operations.list(world.admin, { limit: 100 });
    expect(items.filter(({ incarnation }) => incarnation === place.incarnation)).toHaveLength(1);
  });
});

describe("afterwards", () => {
  it("R-TG-47 R-TG-108 a write admitted before and arriving after is refused and counted; the store stays empty", async () => {
    const place = await world.fill(process, world.admin, id(), { rows: 0 });
    const late = await world.process();
    const opened = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    async function* slow(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("half");
      opened.resolve();
      await go.promise;
    }
    // One has its record and is sending its bytes; one has only passed the access check; one is about to write its first rows.
    const uploading = late.knowledge.documents.upload(world.admin, "kb", place.collection_id, {
      name: "slow.txt",
      body: slow(),
    });
    await opened.promise;
    const held = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    late.calls.add({
      at: (name) => name.startsWith("items.read documents"),
      kind: "hold",
      until: go.promise,
      reached: () => held[0].resolve(),
    });
    const beginning = late.knowledge.documents.upload(world.admin, "kb", place.collection_id, {
      name: "new.txt",
      body: "x",
    });
    await held[0].promise;
    late.calls.add({
      at: (name) => name.startsWith("vectors.append"),
      kind: "hold",
      until: go.promise,
      reached: () => held[1].resolve(),
    });
    const rows = late.knowledge.rows.upsert(world.admin, "kb", place.collection_id, {
      items: [{ id: "x", vector: [1, 2] }],
    });
    await held[1].promise;
    const ends = Promise.allSettled([uploading, beginning, rows]);
    await ended((await process.purge(place)).job_id);
    go.resolve();
    await expect(world.know(world.admin.scope, place.incarnation, 1)).rejects.toMatchObject({ code: "CONFLICT" });
    for (const end of await ends)
      expect(end).toMatchObject({ status: "rejected", reason: { code: expect.stringMatching(/CONFLICT|NOT_FOUND/) } });
    expect(await world.left(place)).toEqual(nothing);
    expect(late.opened.lateWrites()).toBeGreaterThanOrEqual(2);
    await late.close();
  });

  it("R-TG-48 W12 deleted and created again at once: the new incarnation is empty, and the late purge of the old one does not touch it", async () => {
    const name = id("twice");
    const first = await world.fill(process, world.admin, name);
    const slow = await world.process();
    slow.calls.add({ at: (call) => call.startsWith("objects.list"), kind: "crash-before" });
    const begun = await slow.purge(first);
    await slow.calls.died;
    const second = await process.knowledge.collections.create(world.admin, "kb", { collection_id: name });
    expect(second).toMatchObject({ document_count: 0, collection_id: name });
    expect(second.incarnation).not.toBe(first.incarnation);
    await process.knowledge.documents.upload(world.admin, "kb", name, { name: "new.txt", body: "of the new life" });
    const trash = await process.knowledge.collections.list(world.admin, {
      repositoryId: "kb",
      status: "all",
      limit: 100,
    });
    expect(trash.items.filter(({ collection_id }) => collection_id === name)).toHaveLength(2);
    await process.pass();
    expect((await process.knowledge.jobs.get(world.admin, begun.job_id)).status).toBe("succeeded");
    expect(await world.left(first)).toEqual(nothing);
    expect(await process.knowledge.collections.get(world.admin, "kb", name)).toMatchObject({
      document_count: 1,
      incarnation: second.incarnation,
    });
    expect(await world.left(second)).toEqual({ documents: 3, objects: 1, vectors: 0, triples: 0 });
  });

  it("R-TG-48 several incarnations of an id are in the trash; each is restored exactly by its incarnation", async () => {
    const name = id("lives");
    const incarnations: Place[] = [];
    for (let i = 0; i < 3; i += 1) {
      const place = await world.fill(process, world.admin, name, { files: i + 1 });
      incarnations.push(place);
      world.now += 1_000;
      await process.knowledge.collections.delete(world.admin, "kb", name);
    }
    const listed = await process.knowledge.collections.list(world.admin, {
      repositoryId: "kb",
      status: "DELETED",
      limit: 100,
    });
    expect(listed.items.filter((one) => one.collection_id === name)).toHaveLength(3);
    const back = async (incarnation?: string) =>
      (await process.knowledge.collections.restore(world.admin, "kb", name, { incarnation })).document_count;
    expect(await back()).toBe(3);
    await expect(back(incarnations[0]?.incarnation)).rejects.toMatchObject({
      code: "CONFLICT",
      detail: expect.stringContaining("has the id"),
    });
    await process.knowledge.collections.delete(world.admin, "kb", name);
    expect(await back(incarnations[0]?.incarnation)).toBe(1);
    await process.knowledge.collections.delete(world.admin, "kb", name);
    const { job_id } = await process.knowledge.collections.delete(world.admin, "kb", name, {
      purge: true,
      confirm: name,
      incarnation: incarnations[1]?.incarnation,
    });
    expect((await ended(job_id)).status).toBe("succeeded");
    expect(await world.left(incarnations[1] as Place)).toEqual(nothing);
    expect(await back(incarnations[2]?.incarnation)).toBe(3);
    const count = await world.items.read(world.admin.scope, "collections", { partition: ["kb"], id: "count" });
    expect(count?.document["collections"]).toBe(
      await process.knowledge.collections.count(world.admin, { repositoryId: "kb", status: "ACTIVE" }),
    );
  });

  it("R-TG-53 R-TG-23 a restore in time returns every byte; later it is GONE, also after the purge", async () => {
    const place = await world.fill(process, world.admin, id("window"));
    const before = await world.left(place);
    await process.knowledge.collections.delete(world.admin, "kb", place.collection_id);
    expect(await world.left(place)).toEqual(before);
    world.now += 90 * 86_400_000 - 1;
    await process.sweep();
    await process.knowledge.collections.restore(world.admin, "kb", place.collection_id);
    expect(await world.left(place)).toEqual(before);
    expect(
      (await process.knowledge.rows.query(world.admin, "kb", place.collection_id, { vector: [1, 1] })).hits,
    ).toHaveLength(3);
    await process.knowledge.collections.delete(world.admin, "kb", place.collection_id);
    world.now += 90 * 86_400_000;
    const gone = { code: "GONE", status: 410 };
    const restore = () => process.knowledge.collections.restore(world.admin, "kb", place.collection_id);
    await expect(restore()).rejects.toMatchObject(gone);
    await process.pass(2);
    expect(await world.left(place)).toEqual(nothing);
    await expect(restore()).rejects.toMatchObject(gone);
    const nobody = makeCaller({ tenant: "acme", userId: "nobody" });
    await expect(process.knowledge.collections.restore(nobody, "kb", place.collection_id)).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });
});

describe("archiving and reports", () => {
  it("R-TG-63 archiving uses the same machinery: every store confirms; unarchiving cancels it", async () => {
    const place = await world.fill(process, world.admin, id("old"));
    expect(await process.knowledge.collections.archive(world.admin, "kb", place.collection_id)).toMatchObject({
      status: "ARCHIVED",
    });
    await process.lifecycle.idle();
    const mine = async () =>
      (await process.knowledge.operations.list(world.admin, { limit: 100 })).items.find(
        ({ incarnation }) => incarnation === place.incarnation,
      );
    expect(await mine()).toMatchObject({
      action: "archive-collection",
      status: "done",
      stores: Array.from({ length: 4 }, () => ({ status: "confirmed" })),
    });
    await expect(
      process.knowledge.documents.upload(world.admin, "kb", place.collection_id, { name: "x.txt", body: "x" }),
    ).rejects.toMatchObject({ code: "CONFLICT" });
    await process.knowledge.collections.unarchive(world.admin, "kb", place.collection_id);
    expect(await mine()).toBeUndefined();
    await process.knowledge.documents.upload(world.admin, "kb", place.collection_id, { name: "x.txt", body: "x" });
    const dying = await world.process();
    dying.calls.add({ at: (name) => name.startsWith("items.batch documents"), kind: "crash-before" });
    void dying.knowledge.collections.archive(world.admin, "kb", place.collection_id);
    await dying.calls.died;
    // Archived in the record, but not yet in the fence: the operation sets it.
    await process.pass(2);
    expect(await mine()).toMatchObject({ status: "done" });
    const fence = await world.items.read(world.admin.scope, "documents", {
      partition: ["kb", place.incarnation],
      id: "fence",
    });
    expect(fence?.document["status"]).toBe("ARCHIVED");
    expect((await ended((await process.purge(place)).job_id)).status).toBe("succeeded");
  });

  it("operations are visible to, and can be retried by, admins and whoever started them, like jobs", async () => {
    const ann = makeCaller({ tenant: "acme", userId: "ann", permissions: ["purge"] });
    const ben = makeCaller({ tenant: "acme", userId: "ben" });
    const place = await world.fill(process, ann, id("seen"));
    const { job_id } = await process.purge(place, ann);
    await ended(job_id);
    expect(await process.knowledge.operations.get(ann, job_id)).toMatchObject({ created_by: "ann", status: "done" });
    await expect(process.knowledge.operations.get(ben, job_id)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(process.knowledge.operations.retry(ann, job_id)).rejects.toMatchObject({ code: "CONFLICT" });
    await expect(process.knowledge.jobs.cancel(ann, job_id)).rejects.toMatchObject({ code: "CONFLICT" });
    await expect(process.knowledge.operations.list(ann, { status: "lost" as "done" })).rejects.toMatchObject({
      code: "INVALID",
    });
    const done = await process.knowledge.operations.list(ann, { status: "done", limit: 100 });
    expect(done.items.map(({ operation_id }) => operation_id)).toContain(job_id);
    const stored = await process.lifecycle.read(world.admin.scope, place);
    expect(stored?.operation.ttl).toBe(90 * 86_400);
    expect(reportOf(stored?.operation as NonNullable<typeof stored>["operation"])).toHaveLength(4);
  });
});

it("a trash of 0 days makes every delete permanent, which then needs the id as confirmation", async () => {
  await using other = await World.open({ trashMs: 0 });
  const here = await other.process();
  const place = await other.fill(here, other.admin, "short");
  await expect(here.knowledge.collections.delete(other.admin, "kb", "short")).rejects.toMatchObject({
    code: "INVALID",
  });
  const job = await here.knowledge.collections.delete(other.admin, "kb", "short", { confirm: "short" });
  expect(job.kind).toBe("purge");
  await here.lifecycle.idle();
  expect(await other.left(place)).toEqual(nothing);
  await here.close();
});
