/** The age of the oldest waiting work, by queue, and the lag of deletes: only of the caller's own workspace. */
import { describe, expect, it } from "vitest";
import { makeCaller } from "../../src/domain/caller.ts";
import type { Item } from "../../src/ports/item-store.ts";
import { failure } from "../../src/testing/item-store/fixture.ts";
import type { Fault } from "../vectors/support/calls.ts";
import { World } from "../lifecycle/support/world.ts";
import { forEachTest } from "../support/for-tests.ts";

const world = forEachTest(() => World.open());
const process = forEachTest(() => world.process());

const other = makeCaller({ tenant: "elsewhere", userId: "root", role: "admin" });
const user = makeCaller({ tenant: "acme", userId: "ann" });
const second = 1_000;
const objectsDown: Fault = { at: (name) => name.startsWith("objects."), kind: "error-before", always: true };

async function queue(name: string, caller = world.admin) {
  const found = (await process.knowledge.queues(caller)).find((one) => one.name === name);
  if (found === undefined) throw new Error(`there is no queue ${name}`);
  return found;
}

const send = (collection: string, name: string, more: object = {}) =>
  process.knowledge.documents.upload(world.admin, "kb", collection, { name, body: `words of ${name}`, ...more });

describe("the age of waiting work", () => {
  it("R-TG-109 of documents is that of the oldest unfinished one, over all collections; nothing waiting: null", async () => {
    expect(await queue("documents")).toMatchObject({ waiting: 0, oldest_age_seconds: null });
    for (const id of ["one", "two"])
      await process.knowledge.collections.create(world.admin, "kb", { collection_id: id });
    await send("two", "first.txt");
    world.now += 100 * second;
    await send("one", "later.txt");
    world.now += 20 * second + 999;
    expect(await queue("documents")).toMatchObject({ waiting: 2, in_progress: 0, oldest_age_seconds: 120 });
    const { items } = await process.knowledge.documents.list(world.admin, "kb", "two");
    await process.knowledge.documents.delete(world.admin, "kb", "two", items[0]?.document_id as string);
    expect(await queue("documents")).toMatchObject({ waiting: 1, oldest_age_seconds: 20 });
  });

  it("of a replacement starts with its own upload, and failed uploads have none", async () => {
    await process.knowledge.collections.create(world.admin, "kb", { collection_id: "one" });
    await send("one", "a.txt");
    world.now += 50 * second;
    await process.knowledge.documents.upload(world.admin, "kb", "one", {
      name: "a.txt",
      body: "other words",
      replace: true,
    });
    world.now += 5 * second;
    expect(await queue("documents")).toMatchObject({ waiting: 1, oldest_age_seconds: 5 });
    await failure(
      process.knowledge.documents.upload(world.admin, "kb", "one", { name: "empty.txt", body: "" }),
      "INVALID",
    );
    expect(await queue("documents")).toMatchObject({ waiting: 1, oldest_age_seconds: 5 });
  });

  it("of a live document that is being re-indexed starts with its last change", async () => {
    await process.knowledge.collections.create(world.admin, "kb", { collection_id: "one" });
    const { document_id } = await send("one", "a.txt");
    const { items } = await world.items.query(world.admin.scope, "documents", {
      index: "byStatus",
      equals: {
        incarnation: (await process.knowledge.collections.get(world.admin, "kb", "one")).incarnation,
        kind: "document",
        status: "pending",
      },
    });
    const [item] = items as [Item];
    const { repository_id, incarnation, version, ...rest } = item.document as {
      repository_id: string;
      incarnation: string;
      version: number;
    };
    const live = {
      version,
      size_bytes: 1,
      sha256: "0",
      uploaded_at: "",
      uploaded_by: "",
      run: 1,
      chunk_count: 0,
      indexed_at: "",
      generation: 1,
    };
    const document = { ...rest, id: `document:${document_id}`, repository_id, incarnation, version, live };
    await world.items.write(world.admin.scope, "documents", [repository_id, incarnation], { op: "upsert", document });
    world.now += 500 * second;
    await process.knowledge.documents.reindex(world.admin, "kb", "one", document_id);
    world.now += 7 * second;
    expect(await queue("documents")).toMatchObject({ waiting: 1, oldest_age_seconds: 7 });
  });

  it("R-TG-109 of a store's queue is that of the oldest unconfirmed operation; other workspaces do not see it", async () => {
    const place = await world.fill(process, world.admin, "papers");
    const topics = (await process.knowledge.queues(world.admin)).filter(({ name }) => name !== "documents");
    expect(topics.length).toBeGreaterThan(3);
    expect(topics.every(({ oldest_age_seconds }) => oldest_age_seconds === null)).toBe(true);
    process.calls.add(objectsDown);
    await process.purge(place);
    await process.lifecycle.idle();
    world.now += 61 * second;
    const waiting = (await process.knowledge.queues(world.admin)).filter(
      ({ name, waiting: rows }) => name !== "documents" && rows > 0,
    );
    expect(waiting.map(({ oldest_age_seconds }) => oldest_age_seconds)).toEqual(waiting.map(() => 61));
    expect(waiting.length).toBeGreaterThan(0);
    for (const view of await process.knowledge.queues(other))
      expect(view).toMatchObject({ waiting: 0, in_progress: 0, oldest_age_seconds: null });
    await failure(process.knowledge.queues(user), "FORBIDDEN");
  });
});

describe("the lag of deletes", () => {
  const lag = (caller = world.admin, secondsMax = 300) => process.knowledge.queue.lag(caller, secondsMax);
  const calm = { unfinished: 0, failed: 0, lag_seconds: 0, limit_seconds: 300, oldest: null, warning: null };

  it("R-TG-109 is the age of the oldest unfinished delete, with a warning beyond its limit but not at it, and ends with the delete", async () => {
    expect(await lag()).toEqual(calm);
    const places = [await world.fill(process, world.admin, "one"), await world.fill(process, world.admin, "two")];
    process.calls.add(objectsDown);
    const jobs: string[] = [];
    for (const place of places) {
      jobs.push((await process.purge(place)).job_id);
      world.now += 100 * second;
    }
    await process.lifecycle.idle();
    expect(await lag()).toEqual({
      ...calm,
      unfinished: 2,
      lag_seconds: 200,
      oldest: {
        operation_id: jobs[0],
        repository_id: "kb",
        collection_id: "one",
        created_at: "2030-01-01T00:00:00.000Z",
      },
    });
    expect((await lag(world.admin, 200)).warning).toBeNull();
    expect((await lag(world.admin, 199)).warning).toContain("200 s");
    await process.pass();
    expect(await lag()).toMatchObject({
      unfinished: 2,
      failed: 2,
      warning: expect.stringMatching(/limit is \d+ s\. 2 deletes are not confirmed/) as string,
    });
    expect(await lag(other)).toEqual(calm);
    await failure(lag(user), "FORBIDDEN");
    process.calls.clear();
    await process.pass();
    expect(await lag()).toEqual(calm);
  });

  it("ignores the trash, and archiving", async () => {
    await world.fill(process, world.admin, "trashed");
    await world.fill(process, world.admin, "shelved");
    process.calls.add(objectsDown);
    await process.knowledge.collections.delete(world.admin, "kb", "trashed");
    await process.knowledge.collections.archive(world.admin, "kb", "shelved");
    world.now += 1_000 * second;
    expect((await process.knowledge.operations.list(world.admin)).items).toMatchObject([
      { action: "archive-collection", status: "running" },
    ]);
    expect(await lag()).toEqual(calm);
  });
});
