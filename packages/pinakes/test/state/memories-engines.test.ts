/** The essentials of memories, threads and entities on every engine. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Memory, NewMemory } from "@pinakes/client";
import { TestStores } from "../../src/drivers/dynamodb/test-stores.ts";
import { startDynamo, type DynamoServer } from "../../src/drivers/dynamodb/test-server.ts";
import { openMemoryItems } from "../../src/drivers/memory/index.ts";
import { openPostgresItems } from "../../src/drivers/postgres/index.ts";
import { startPostgres, type TestServer } from "../../src/drivers/postgres/test-server.ts";
import { openSqliteItems } from "../../src/drivers/sqlite/index.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { ItemStore } from "../../src/ports/item-store.ts";
import { World, type Process } from "../../src/state/memories/test-world.ts";
import { failure } from "../../src/testing/item-store/fixture.ts";
import { forAllTests } from "../support/for-tests.ts";
import { pagesOf } from "../../src/runtime/pages.ts";

let postgres: TestServer;
let dynamo: DynamoServer;
let dir: string;
beforeAll(async () => {
  [postgres, dynamo, dir] = await Promise.all([
    startPostgres(),
    startDynamo(),
    mkdtemp(join(tmpdir(), "pinakes-memories-")),
  ]);
});
afterAll(async () => {
  await Promise.all([postgres.stop(), dynamo.stop(), rm(dir, { recursive: true, force: true })]);
});

const engines: Record<string, (options: { clock: Clock }) => Promise<ItemStore>> = {
  memory: openMemoryItems,
  SQLite: ({ clock }) => openSqliteItems({ dir, clock }),
  PostgreSQL: ({ clock }) => openPostgresItems({ url: postgres.url, clock }),
  DynamoDB: ({ clock }) => new TestStores(() => dynamo.endpoint).open({ clock }),
};

describe.each(Object.keys(engines))("memories on %s", (name) => {
  let process: Process;
  const world = forAllTests(() =>
    World.open({ items: (options) => (engines[name] as (typeof engines)[string])(options) }),
  );
  beforeAll(async () => {
    process = await world.process();
  });

  const said = (content: string, more: Partial<NewMemory> = {}) => ({
    session_id: "s1",
    content,
    message_type: "user" as const,
    ...more,
  });
  const contents = (items: readonly Memory[]): string[] => items.map(({ content }) => content);
  const listed = async (agent: string, query: object = {}): Promise<string[]> =>
    contents((await process.memories.list(world.caller, agent, query)).items);
  const numbers = (count: number): string[] => Array.from({ length: count }, (_, i) => `${i}`);

  it("R-AGT-31 R-AGT-60 a session is in order, in pages, both ways; best first by relevance", async () => {
    const { memories } = process;
    for (let at = 0; at < 60; at += 20)
      await memories.appendMany(
        world.caller,
        "order",
        Array.from({ length: 20 }, (_, i) => said(`${at + i}`, { relevance_score: ((at + i) % 10) / 10 })),
      );
    await memories.append(world.caller, {
      agent_id: "order",
      ...said("other", { session_id: "s2", relevance_score: 0 }),
    });
    const found: string[] = [];
    for await (const page of pagesOf((cursor) =>
      memories.list(world.caller, "order", { session_id: "s1", limit: 13, cursor }),
    )) {
      found.push(...contents(page.items));
    }
    expect(found).toEqual(numbers(60));
    expect(await listed("order", { session_id: "s1", order: "desc", limit: 2 })).toEqual(["59", "58"]);
    expect(await listed("order", { sort: "relevance", limit: 3 })).toEqual(["59", "49", "39"]);
    expect(await listed("order", { message_type: "user", limit: 2 })).toEqual(["0", "1"]);
    expect(
      (await memories.sessions(world.caller, "order")).items.map(({ session_id, message_count }) => [
        session_id,
        message_count,
      ]),
    ).toEqual([
      ["s1", 60],
      ["s2", 1],
    ]);
    expect(await memories.session(world.caller, "order", "s1")).toMatchObject({ message_count: 60, token_count: 60 });
  });

  it("R-AGT-52 etags hold: a stale one changes nothing", async () => {
    const { memories } = process;
    const first = await memories.append(world.caller, { agent_id: "etags", ...said("one") });
    const second = await memories.patch(world.caller, "etags", first.id, { content: "two" }, { ifMatch: first._etag });
    const stale = await failure(
      memories.patch(world.caller, "etags", first.id, { content: "three" }, { ifMatch: first._etag }),
      "PRECONDITION_FAILED",
    );
    expect(stale.context.currentEtag).toBe(second._etag);
    expect(await memories.get(world.caller, "etags", first.id)).toEqual(second);
    await memories.delete(world.caller, "etags", first.id, { ifMatch: second._etag });
    await failure(memories.get(world.caller, "etags", first.id), "NOT_FOUND");
  });

  it("R-AGT-29 parents are held to; ancestors and children are found", async () => {
    const { memories } = process;
    await failure(
      memories.append(world.caller, { agent_id: "tree", ...said("x", { parent_message_id: "none" }) }),
      "INVALID",
    );
    await memories.appendMany(world.caller, "tree", [
      said("a", { id: "a" }),
      said("b", { id: "b", parent_message_id: "a" }),
      said("c", { id: "c", parent_message_id: "b" }),
    ]);
    const thread = await memories.thread(world.caller, "tree", "b");
    expect([contents(thread.ancestors), contents(thread.children)]).toEqual([["a"], ["c"]]);
  });

  it("R-AGT-32 a context window has the newest that fit", async () => {
    const { memories } = process;
    await memories.appendMany(world.caller, "window", [
      said("rules", { message_type: "system", token_count: 2 }),
      said("question", { token_count: 3 }),
      said("call", { message_type: "tool_call", token_count: 3 }),
      said("result", { message_type: "tool_result", token_count: 3 }),
      said("answer", { message_type: "assistant", token_count: 3 }),
    ]);
    const ask = async (maxTokens: number) =>
      contents((await memories.context(world.caller, { agent_id: "window", session_id: "s1", maxTokens })).messages);
    expect([await ask(5), await ask(10), await ask(11), await ask(100)]).toEqual([
      ["rules", "answer"],
      ["rules", "answer"],
      ["rules", "call", "result", "answer"],
      ["rules", "question", "call", "result", "answer"],
    ]);
  });

  it("R-AGT-33 R-AGT-49 a session ends as a unit, at once, and is swept away", async () => {
    const { memories } = process;
    const first = await memories.append(
      world.caller,
      { agent_id: "unit", ...said("one", { ttl: 60 }) },
      { ttlUnit: "session" },
    );
    world.clock.advance(59_000);
    await memories.append(world.caller, { agent_id: "unit", ...said("two") });
    world.clock.advance(59_999);
    expect(await listed("unit")).toEqual(["one", "two"]);
    world.clock.advance(1);
    expect(await listed("unit")).toEqual([]);
    await failure(memories.get(world.caller, "unit", first.id), "NOT_FOUND");
    await process.sweep();
    expect(
      (await world.items.query(world.caller.scope, "agent-memories", { equals: { agent_id: "unit" } })).items,
    ).toEqual([]);
  });

  it("a fork and a delete are whole", async () => {
    const { memories } = process;
    for (let at = 0; at < 40; at += 20)
      await memories.appendMany(
        world.caller,
        "fork",
        Array.from({ length: 20 }, (_, i) => said(`${at + i}`, { id: `m${at + i}` })),
      );
    await memories.fork(world.caller, "fork", "s1", { session_id: "s2", upTo: "m29" });
    expect(await listed("fork", { session_id: "s2" })).toEqual(numbers(30));
    expect(await memories.deleteSession(world.caller, "fork", "s1")).toEqual({ deleted: 40 });
    expect(await memories.deleteSession(world.caller, "fork", "s2")).toEqual({ deleted: 30 });
    expect(
      (await world.items.query(world.caller.scope, "agent-memories", { equals: { agent_id: "fork" } })).items,
    ).toEqual([]);
  });

  it("a search finds what was just said", async () => {
    const { memories } = process;
    await memories.append(world.caller, { agent_id: "search", ...said("the otter swims") });
    const { hits } = await memories.search(world.caller, { query: "otter" });
    expect(contents(hits.map(({ memory }) => memory))).toEqual(["the otter swims"]);
  });

  it("R-AGT-45 a thread shows what was just added, in order, both ways, in pages; and is cleared", async () => {
    const { threads, systemThreads } = process;
    for (let at = 0; at < 60; at += 20)
      await threads.appendMany(
        world.caller,
        "t1",
        Array.from({ length: 20 }, (_, i) => ({ id: `${99 - at - i}`, n: at + i })),
      );
    const walk = async (order: "asc" | "desc"): Promise<unknown[]> => {
      const found: unknown[] = [];
      let cursor: string | undefined;
      do {
        const page = await threads.list(world.caller, "t1", { order, limit: 20, cursor });
        found.push(...page.items.map((item) => item["n"]));
        cursor = page.next_cursor ?? undefined;
      } while (cursor !== undefined && found.length < 100);
      return found;
    };
    const all = Array.from({ length: 60 }, (_, i) => i);
    expect([await walk("asc"), await walk("desc")]).toEqual([all, all.toReversed()]);
    await failure(threads.append(world.caller, "t1", { id: "99", n: "other" }), "CONFLICT");
    expect((await threads.append(world.caller, "t1", { id: "99", n: 0 }))["sequence"]).toBe(1);
    expect((await systemThreads.list(world.caller, "t1")).items).toEqual([]);
    expect(await threads.clear(world.caller, "t1")).toEqual({ deleted: 60 });
    expect(await threads.list(world.caller, "t1")).toEqual({ items: [], next_cursor: null });
    expect((await threads.append(world.caller, "t1", { n: 61 }))["sequence"]).toBe(1);
  });

  it("R-AGT-45 many append to one thread at once: every number once, none missing", async () => {
    const other = await world.process();
    await Promise.all(
      Array.from({ length: 24 }, (_, i) =>
        (i % 2 === 0 ? process : other).threads.append(world.caller, "race", { n: i }),
      ),
    );
    const { items } = await process.threads.list(world.caller, "race");
    expect(items.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 24 }, (_, i) => i + 1));
    expect(items.map((item) => item["n"] as number).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 24 }, (_, i) => i),
    );
  });

  it("R-AGT-45 R-AGT-52 R-AGT-54 an entity of any shape, with its etag", async () => {
    const { entities } = process;
    const first = await entities.put(
      world.caller,
      "agent-7",
      { name: "Seven", nested: { deep: [1, null] } },
      { must: "absent" },
    );
    expect(await entities.get(world.caller, "agent-7")).toEqual(first);
    await failure(entities.put(world.caller, "agent-7", {}, { must: "absent" }), "PRECONDITION_FAILED");
    const second = await entities.put(world.caller, "agent-7", { name: "7" }, { ifMatch: first._etag });
    await failure(entities.delete(world.caller, "agent-7", { ifMatch: first._etag }), "PRECONDITION_FAILED");
    await entities.delete(world.caller, "agent-7", { ifMatch: second._etag });
    await failure(entities.get(world.caller, "agent-7"), "NOT_FOUND");
  });
});
