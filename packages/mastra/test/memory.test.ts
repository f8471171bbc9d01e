import type { StorageListMessagesInput, StorageListThreadsInput } from "@mastra/core/storage";
import { describe, expect, it } from "vitest";
import { batchOperationsMax } from "../src/container.ts";
import { dateAt, domainsOf, message, openStores, thread, ways, type Domains } from "./support/stores.ts";

/** Times that a store takes from its clock differ; everything else must be equal. */
const idsOf = (messages: readonly { readonly id: string }[]) => messages.map(({ id }) => id);

describe.each(ways)("memory on %s, %s", (engine, via) => {
  it("R-AGT-95 Mastra memory: messages are listed, filtered, paged and included as Mastra's own store does", async () => {
    await using stores = await openStores(engine, via);
    for (const { memory } of [stores.ours, stores.reference]) {
      await memory.saveThread({ thread: thread("t1") });
      await memory.saveThread({ thread: thread("t2", { resourceId: "r2" }) });
      const some = Array.from({ length: 12 }, (_, i) => message(`a${i}`, i, { metadata: { even: i % 2 === 0, n: i } }));
      const others = Array.from({ length: 7 }, (_, i) =>
        message(`b${i}`, i * 2 + 0.5, { threadId: "t2", resourceId: "r2", role: "assistant" }),
      );
      await memory.saveMessages({ messages: [...some, ...others] });
    }
    const wishes: readonly StorageListMessagesInput[] = [
      { threadId: "t1" },
      { threadId: "t1", perPage: 5 },
      { threadId: "t1", perPage: 5, page: 2 },
      { threadId: "t1", perPage: 5, page: 3 },
      { threadId: "t1", perPage: false },
      { threadId: "t1", perPage: 0 },
      { threadId: "t1", perPage: 3, orderBy: { field: "createdAt", direction: "DESC" } },
      { threadId: "t1", resourceId: "r2" },
      { threadId: ["t1", "t2"], perPage: 6, page: 1 },
      { threadId: ["t2", "t1"], perPage: false, orderBy: { field: "createdAt", direction: "DESC" } },
      { threadId: "t1", filter: { dateRange: { start: dateAt(3), end: dateAt(6) } } },
      {
        threadId: "t1",
        filter: { dateRange: { start: dateAt(3), end: dateAt(6), startExclusive: true, endExclusive: true } },
      },
      { threadId: "t1", filter: { metadata: { even: true } }, perPage: 4 },
      { threadId: "t1", filter: { metadata: { n: 3, even: false } } },
      { threadId: "t1", perPage: 0, include: [{ id: "a5", withPreviousMessages: 2, withNextMessages: 1 }] },
      {
        threadId: "t1",
        perPage: 2,
        include: [{ id: "b3", threadId: "t2", withPreviousMessages: 1, withNextMessages: 1 }],
      },
      { threadId: "t1", perPage: 0, resourceId: "r1", include: [{ id: "b3", withPreviousMessages: 5 }] },
      { threadId: "t1", perPage: 2, include: [{ id: "a1", withNextMessages: 20 }] },
      { threadId: "nothing" },
    ];
    for (const wish of wishes) {
      expect(await listed(stores.ours, wish), JSON.stringify(wish)).toEqual(await listed(stores.reference, wish));
    }
    await expect(stores.ours.memory.listMessages({ threadId: " " })).rejects.toThrow(/threadId must be/);
    await expect(stores.ours.memory.listMessages({ threadId: "t1", page: -1 })).rejects.toThrow(/page must be >= 0/);
    await expect(
      stores.ours.memory.listMessages({ threadId: "t1", filter: { metadata: { "a.b": 1 } } }),
    ).rejects.toThrow();
    const window = await stores.ours.memory.listMessages({ threadId: "t1", perPage: 5, includeTotal: false });
    expect([window.messages.length, window.hasMore]).toEqual([5, true]);
    const byResource = { resourceId: "r2", perPage: 3, orderBy: { field: "createdAt", direction: "DESC" } } as const;
    expect(idsOf((await stores.ours.memory.listMessagesByResourceId(byResource)).messages)).toEqual(["b6", "b5", "b4"]);
  });

  it("R-AGT-95 Mastra memory: a message keeps its content and its place, also among those of its millisecond, when it is saved again", async () => {
    await using stores = await openStores(engine, via);
    const { memory } = stores.ours;
    await memory.saveThread({ thread: thread("t1") });
    const count = 2 * batchOperationsMax + 1;
    const messages = Array.from({ length: count }, (_, i) => message(`m-${(i * 37) % count}-${i}`, 0));
    await memory.saveMessages({ messages });
    const changed = {
      ...message("x", 0),
      id: messages[3]?.id ?? "",
      content: { format: 2 as const, parts: [{ type: "text" as const, text: "other" }] },
    };
    await memory.saveMessages({ messages: [changed, changed] });
    const stored = (await memory.listMessages({ threadId: "t1", perPage: false })).messages;
    expect(idsOf(stored)).toEqual(idsOf(messages));
    expect(stored[3]).toEqual(changed);
    expect(stored[4]).toEqual(messages[4]);
    const wanted = [messages[7]?.id ?? "", "nobody", messages[2]?.id ?? ""];
    expect(idsOf((await memory.listMessagesById({ messageIds: wanted })).messages)).toEqual([wanted[0], wanted[2]]);
  });

  it("R-AGT-95 Mastra memory: messages are updated, moved and deleted by id alone, and their threads know", async () => {
    await using stores = await openStores(engine, via);
    for (const { memory } of [stores.ours, stores.reference]) {
      await memory.saveThread({ thread: thread("t1") });
      await memory.saveThread({ thread: thread("t2") });
      await memory.saveMessages({
        messages: [message("m1", 1, { metadata: { a: 1 } }), message("m2", 2), message("m3", 3)],
      });
      await memory.updateMessages({
        messages: [
          { id: "m1", content: { metadata: { b: 2 } } as never },
          { id: "m2", threadId: "t2", role: "assistant" },
          { id: "nobody", role: "user" },
        ],
      });
      await memory.deleteMessages(["m3", "nobody"]);
    }
    for (const threadId of ["t1", "t2"]) {
      expect(await listed(stores.ours, { threadId })).toEqual(await listed(stores.reference, { threadId }));
    }
    const { memory } = stores.ours;
    expect((await memory.listMessages({ threadId: "t1" })).messages[0]?.content.metadata).toEqual({ a: 1, b: 2 });
    expect(((await memory.getThreadById({ threadId: "t2" }))?.updatedAt.getTime() ?? 0) > dateAt(0).getTime()).toBe(
      true,
    );
    await memory.saveMessages({ messages: [message("m1", 1, { threadId: "t2" })] });
    expect(idsOf((await memory.listMessages({ threadId: "t2" })).messages)).toEqual(["m1", "m2"]);
    expect((await memory.listMessages({ threadId: "t1" })).messages).toEqual([]);
    await expect(memory.saveMessages({ messages: [message("m9", 1, { threadId: "" })] })).rejects.toThrow(
      /has no threadId/,
    );
  });

  it("R-AGT-95 Mastra memory: threads are saved, changed in parts, listed by resource, metadata and time, and deleted with their messages", async () => {
    await using stores = await openStores(engine, via);
    for (const { memory } of [stores.ours, stores.reference]) {
      for (let i = 0; i < 9; i += 1) {
        const more = {
          resourceId: i % 3 === 0 ? "r2" : "r1",
          metadata: { n: i % 2, deep: { a: [i % 2] } },
          createdAt: dateAt(i),
          updatedAt: dateAt(100 - i),
        };
        await memory.saveThread({ thread: thread(`t${i}`, more) });
      }
    }
    const wishes: readonly StorageListThreadsInput[] = [
      {},
      { perPage: 4, page: 1 },
      { perPage: 4, page: 2 },
      { perPage: false },
      { filter: { resourceId: "r1" }, perPage: 2 },
      { filter: { resourceId: "r1" }, orderBy: { field: "updatedAt", direction: "ASC" } },
      { filter: { metadata: { n: 1 } }, orderBy: { field: "updatedAt", direction: "DESC" }, perPage: 2 },
      { filter: { resourceId: "r2", metadata: { deep: { a: [0] } } } },
      { filter: { resourceId: "nobody" } },
    ];
    for (const wish of wishes) {
      const [ours, theirs] = [
        await stores.ours.memory.listThreads(wish),
        await stores.reference.memory.listThreads(wish),
      ];
      expect(ours, JSON.stringify(wish)).toEqual(theirs);
    }
    await expect(stores.ours.memory.listThreads({ filter: { metadata: { "a-b": 1 } } })).rejects.toThrow(
      /Invalid metadata key/,
    );
    const { memory } = stores.ours;
    const changed = await memory.updateThread({ id: "t1", metadata: { more: true } });
    expect(changed).toMatchObject({ title: "Title of t1", metadata: { n: 1, more: true } });
    expect((await memory.updateThread({ id: "t1", title: "New" })).metadata).toEqual(changed.metadata);
    await expect(memory.updateThread({ id: "nobody", title: "x" })).rejects.toThrow(/not found/);
    expect(await memory.getThreadById({ threadId: "t1", resourceId: "r2" })).toBeNull();
    await memory.saveMessages({ messages: [message("m1", 1)] });
    await memory.deleteThread({ threadId: "t1" });
    expect(await memory.getThreadById({ threadId: "t1" })).toBeNull();
    expect((await memory.listMessages({ threadId: "t1" })).messages).toEqual([]);
    expect((await memory.listMessagesById({ messageIds: ["m1"] })).messages).toEqual([]);
  });

  it("R-AGT-95 Mastra memory: working memory of resources, ids of any text, and metadata that two processes write at once", async () => {
    await using stores = await openStores(engine, via);
    const { memory } = stores.ours;
    const other = domainsOf(await stores.another()).memory;
    for (const resourceId of ["~user/1 ?#\\", "100%", "%2F", "é😀"]) {
      expect(await memory.getResourceById({ resourceId })).toBeNull();
      await memory.updateResource({ resourceId, workingMemory: resourceId });
      expect(await other.getResourceById({ resourceId })).toMatchObject({ id: resourceId, workingMemory: resourceId });
      await memory.saveThread({ thread: thread(resourceId, { resourceId }) });
      await memory.saveMessages({ messages: [message(resourceId, 1, { threadId: resourceId, resourceId })] });
      expect(idsOf((await other.listThreads({ filter: { resourceId } })).threads)).toEqual([resourceId]);
      expect(idsOf((await other.listMessages({ threadId: resourceId })).messages)).toEqual([resourceId]);
      expect(idsOf((await other.listMessagesById({ messageIds: [resourceId] })).messages)).toEqual([resourceId]);
      await memory.deleteThread({ threadId: resourceId });
      expect((await other.listMessagesById({ messageIds: [resourceId] })).messages).toEqual([]);
    }
    await memory.updateResource({ resourceId: "r1", workingMemory: "likes tea" });
    await Promise.all(
      [memory, other].flatMap((own, i) =>
        [0, 1, 2, 3].map((n) => own.updateResource({ resourceId: "r1", metadata: { [`k${i}${n}`]: n } })),
      ),
    );
    const resource = await other.getResourceById({ resourceId: "r1" });
    expect(resource?.workingMemory).toBe("likes tea");
    expect(Object.keys(resource?.metadata ?? {}).sort()).toEqual([
      "k00",
      "k01",
      "k02",
      "k03",
      "k10",
      "k11",
      "k12",
      "k13",
    ]);
    await memory.saveThread({ thread: thread("t1", { metadata: { count: 0 } }) });
    const more = (own: Domains["memory"]) =>
      own.updateThreadMetadata({
        id: "t1",
        update: ({ metadata }) => ({ count: (metadata?.["count"] as number) + 1 }),
      });
    await Promise.all([memory, other, memory, other, memory, other].map(more));
    expect((await memory.getThreadById({ threadId: "t1" }))?.metadata).toEqual({ count: 6 });
    expect(
      await memory.updateThreadMetadata({ id: "t1", resourceId: "r2", update: () => ({ stolen: true }) }),
    ).toBeNull();
    expect(await memory.updateThreadMetadata({ id: "nobody", update: () => ({}) })).toBeNull();
    expect((await memory.getThreadById({ threadId: "t1" }))?.metadata).toEqual({ count: 6 });
  });

  it("R-AGT-95 Mastra memory: a thread is cloned with the messages asked for, and handed to another resource with them", async () => {
    await using stores = await openStores(engine, via);
    const { memory } = stores.ours;
    await memory.saveThread({ thread: thread("t1") });
    await memory.saveMessages({ messages: Array.from({ length: 6 }, (_, i) => message(`m${i}`, i)) });
    const clone = await memory.cloneThread({
      sourceThreadId: "t1",
      newThreadId: "c1",
      resourceId: "r9",
      options: { messageLimit: 3, messageFilter: { endDate: dateAt(4) } },
    });
    expect(clone.thread).toMatchObject({
      id: "c1",
      resourceId: "r9",
      title: "Clone of Title of t1",
      metadata: { clone: { sourceThreadId: "t1", lastMessageId: "m4" } },
    });
    expect(clone.clonedMessages.map(({ createdAt }) => createdAt)).toEqual([2, 3, 4].map(dateAt));
    expect(Object.keys(clone.messageIdMap ?? {})).toEqual(["m2", "m3", "m4"]);
    expect(new Set(clone.clonedMessages.map(({ resourceId }) => resourceId))).toEqual(new Set(["r9"]));
    await expect(memory.copyThread({ sourceThreadId: "t1", newThreadId: "c1" })).rejects.toThrow(/already exists/);
    await expect(memory.copyThread({ sourceThreadId: "nobody" })).rejects.toThrow(/not found/);
    await memory.updateThreadResourceId({ threadId: "t1", resourceId: "r2" });
    expect((await memory.getThreadById({ threadId: "t1" }))?.resourceId).toBe("r2");
    expect((await memory.listMessagesByResourceId({ resourceId: "r2" })).total).toBe(6);
    expect((await memory.listMessagesByResourceId({ resourceId: "r1" })).total).toBe(0);
  });

  it("R-AGT-95 Mastra memory: another workspace, and another prefix, see nothing", async () => {
    await using stores = await openStores(engine, via);
    await stores.ours.memory.saveThread({ thread: thread("t1") });
    const { PinakesStore } = await import("../src/index.ts");
    for (const store of [
      new PinakesStore({ api: await stores.world.api("other") }),
      new PinakesStore({ api: await stores.world.api(), prefix: "second" }),
    ]) {
      expect(await store.stores.memory?.getThreadById({ threadId: "t1" })).toBeNull();
      expect((await store.stores.memory?.listThreads({}))?.total).toBe(0);
    }
    await stores.ours.memory.dangerouslyClearAll();
    expect((await stores.ours.memory.listThreads({})).total).toBe(0);
    await stores.ours.memory.saveThread({ thread: thread("t2") });
    expect((await stores.ours.memory.listThreads({})).total).toBe(1);
  });
});

async function listed({ memory }: Domains, wish: StorageListMessagesInput) {
  const { messages, total, page, perPage, hasMore } = await memory.listMessages(wish);
  const bare = messages.map(({ id, threadId, resourceId, role, createdAt, content }) => ({
    id,
    threadId,
    resourceId,
    role,
    createdAt,
    content,
  }));
  return { messages: bare, total, page, perPage, hasMore };
}
