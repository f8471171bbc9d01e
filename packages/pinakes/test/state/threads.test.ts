/** Threads and entities: documents of any shape, as they were. */
import { beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "@pinakes/client";
import { openMemoryItems } from "../../src/drivers/memory/index.ts";
import { memoryLimits } from "../../src/state/memories/limits.ts";
import { World } from "../../src/state/memories/test-world.ts";
import { agentEntities, systemThreadMessages, threadMessages } from "../../src/state/threads/thread-stores.ts";
import type { Threads } from "../../src/state/threads/threads.ts";
import { failure } from "../../src/testing/item-store/fixture.ts";
import { forAllTests } from "../support/for-tests.ts";

let threads: Threads;
let systemThreads: Threads;
const world = forAllTests(() => World.open({ items: openMemoryItems }));
beforeAll(async () => {
  ({ threads, systemThreads } = await world.process());
});

let count = 0;
const newThread = (): string => `thread-${(count += 1)}`;
const old = (threadId: string, document: JsonObject) =>
  world.items.write(world.caller.scope, "thread-message-store", [threadId], {
    op: "create",
    document: { threadId, ...document },
  });

describe("threads", () => {
  it("R-AGT-45 the containers of before exist by their names, with any schema, expiring only by an item's own ttl", () => {
    for (const { definition, schema, policy } of [threadMessages, systemThreadMessages, agentEntities])
      expect([definition.ttl, definition.feed, schema, policy]).toEqual([-1, true, null, null]);
    expect(
      [threadMessages, systemThreadMessages, agentEntities].map(({ definition: { name, partitionKey } }) => [
        name,
        ...partitionKey,
      ]),
    ).toEqual([
      ["thread-message-store", "threadId"],
      ["system-thread-message-store", "threadId"],
      ["agent-entity-store", "agentId"],
    ]);
  });

  it("R-AGT-45 a message comes back as it was, with its number; old documents come back unchanged, before all that were appended", async () => {
    const thread = newThread();
    const before = { id: "old-1", threadId: thread, Role: "human", parts: [{ t: "x" }, null, 1.5], sequence: "first" };
    await old(thread, before);
    await old(thread, { id: "old-2", deep: { er: {} } });
    const sent = { text: "héllo", id: "m1", threadId: thread, nested: { list: [] } };
    const stored = await threads.append(world.caller, thread, sent);
    const { _etag, _ts, sequence, ...rest } = stored;
    expect([JSON.stringify(rest), sequence, typeof _etag, _ts]).toEqual([
      JSON.stringify(sent),
      1,
      "string",
      Math.floor(world.clock.now() / 1_000),
    ]);
    expect(await threads.get(world.caller, thread, "m1")).toEqual(stored);
    const { _etag: etag, _ts: ts, ...unchanged } = await threads.get(world.caller, thread, "old-1");
    expect([unchanged, typeof etag, typeof ts]).toEqual([before, "string", "number"]);
    expect((await threads.list(world.caller, thread)).items.map(({ id }) => id)).toEqual(["old-2", "m1", "old-1"]);
  });

  it("R-AGT-45 numbers go on behind those of old documents", async () => {
    const thread = newThread();
    await old(thread, { id: "a", sequence: 41 });
    await old(thread, { id: "b", sequence: 7.5 });
    const added = await threads.appendMany(world.caller, thread, [{ n: 1 }, { n: 2 }]);
    expect(added.map(({ sequence }) => sequence)).toEqual([42, 43]);
  });

  it("appending again is the same message; with other content a conflict, and nothing of the call is added", async () => {
    const thread = newThread();
    const first = await threads.appendMany(world.caller, thread, [
      { id: "a", n: 1 },
      { id: "b", n: 2 },
    ]);
    expect(
      await threads.appendMany(world.caller, thread, [
        { id: "a", n: 1 },
        { n: 2, id: "b", gone: undefined },
      ]),
    ).toEqual(first);
    expect(await threads.append(world.caller, thread, first[1] as JsonObject)).toEqual(first[1]);
    const mixed = await threads.appendMany(world.caller, thread, [
      { id: "c", n: 3 },
      { id: "a", n: 1 },
    ]);
    expect(mixed.map(({ id, sequence }) => [id, sequence])).toEqual([
      ["c", 3],
      ["a", 1],
    ]);
    await failure(
      threads.appendMany(world.caller, thread, [
        { id: "d", n: 4 },
        { id: "a", n: 9 },
      ]),
      "CONFLICT",
    );
    expect((await threads.list(world.caller, thread)).items.map(({ id }) => id)).toEqual(["a", "b", "c"]);
  });

  it("what cannot be a message is refused, and limits hold where they are", async () => {
    const thread = newThread();
    const many = (length: number) => Array.from({ length }, (_, n) => ({ n }));
    for (const message of [
      "text",
      null,
      [],
      { id: "" },
      { id: 5 },
      { id: "~x" },
      { id: "a/b" },
      { threadId: "other" },
      { sequence: 5 },
      { ttl: 0 },
      { pinakes_companion: "x" },
    ])
      await failure(threads.append(world.caller, thread, message as never), "INVALID");
    await failure(threads.append(world.caller, thread, { workspace_id: "acme2" }), "FORBIDDEN");
    await failure(threads.appendMany(world.caller, thread, []), "INVALID");
    await failure(threads.appendMany(world.caller, thread, [{ id: "a" }, { id: "a" }]), "INVALID");
    await failure(threads.appendMany(world.caller, thread, many(memoryLimits.threadMessagesMax + 1)), "LIMIT_EXCEEDED");
    await failure(threads.append(world.caller, "", { n: 1 }), "INVALID");
    await failure(threads.append(world.caller, "t".repeat(513), { n: 1 }), "INVALID");
    for (const query of [{ order: "up" }, { limit: 0 }, { limit: 1_001 }, { cursor: "x" }])
      await failure(threads.list(world.caller, thread, query as never), "INVALID");
    expect((await threads.list(world.caller, thread)).items).toEqual([]);
    expect(await threads.appendMany(world.caller, "t".repeat(512), many(memoryLimits.threadMessagesMax))).toHaveLength(
      20,
    );
    expect((await threads.append(world.caller, thread, { workspace_id: "acme" }))["workspace_id"]).toBe("acme");
  });

  it("R-AGT-46 R-AGT-49 a message with a ttl of its own is gone when that is over; the others stay", async () => {
    const thread = newThread();
    await threads.appendMany(world.caller, thread, [
      { id: "short", ttl: 10 },
      { id: "long" },
      { id: "never", ttl: -1 },
    ]);
    world.clock.advance(10_000);
    expect((await threads.list(world.caller, thread)).items.map(({ id }) => id)).toEqual(["long", "never"]);
    await failure(threads.get(world.caller, thread, "short"), "NOT_FOUND");
    expect((await threads.append(world.caller, thread, { id: "short" }))["sequence"]).toBe(4);
    world.clock.advance(10 ** 12);
    expect((await threads.list(world.caller, thread)).items).toHaveLength(3);
    expect(await threads.clear(world.caller, thread)).toEqual({ deleted: 3 });
  });

  it("R-AGT-52 a message is deleted on its etag; the companion is nobody's to see or delete", async () => {
    const thread = newThread();
    const { id, _etag } = await threads.append(world.caller, thread, { n: 1 });
    await failure(threads.deleteMessage(world.caller, thread, id, { ifMatch: "stale" }), "PRECONDITION_FAILED");
    await threads.deleteMessage(world.caller, thread, id, { ifMatch: _etag });
    await failure(threads.deleteMessage(world.caller, thread, id), "NOT_FOUND");
    await failure(threads.get(world.caller, thread, "~thread"), "NOT_FOUND");
    await failure(threads.deleteMessage(world.caller, thread, "~thread"), "NOT_FOUND");
    expect((await threads.append(world.caller, thread, { n: 2 }))["sequence"]).toBe(2);
    expect((await threads.list(world.caller, thread, { limit: 1 })).items).toHaveLength(1);
  });

  it("R-AGT-09 two workspaces, and the two stores, do not see each other", async () => {
    const thread = newThread();
    const { id } = await threads.append(world.caller, thread, { n: 1 });
    for (const [from, caller] of [
      [threads, world.stranger],
      [systemThreads, world.caller],
    ] as const) {
      await failure(from.get(caller, thread, id), "NOT_FOUND");
      await failure(from.deleteMessage(caller, thread, id), "NOT_FOUND");
      expect(await from.list(caller, thread)).toEqual({ items: [], next_cursor: null });
      expect(await from.clear(caller, thread)).toEqual({ deleted: 0 });
    }
    expect((await threads.list(world.caller, thread)).items).toHaveLength(1);
    const nobody = {} as never;
    for (const call of [
      threads.append(nobody, thread, {}),
      threads.appendMany(nobody, thread, []),
      threads.list(nobody, thread),
      threads.get(nobody, thread, id),
      threads.deleteMessage(nobody, thread, id),
      threads.clear(nobody, thread),
    ])
      await failure(call, "UNAUTHENTICATED");
  });

  it("a thread longer than a page is cleared in steps, and nothing of it is left", async () => {
    const thread = newThread();
    for (let i = 0; i < 30; i += 1)
      await threads.appendMany(
        world.caller,
        thread,
        Array.from({ length: 20 }, (_, k) => ({ n: i * 20 + k })),
      );
    expect(await threads.clear(world.caller, thread)).toEqual({ deleted: 600 });
    expect(await threads.clear(world.caller, thread)).toEqual({ deleted: 0 });
    const left = await world.items.query(world.caller.scope, "thread-message-store", { equals: { threadId: thread } });
    expect(left.items).toEqual([]);
  });
});
