/** Which agents have memories: each once, in the order of their ids, whatever they said and however long. */
import { beforeEach, describe, expect, it } from "vitest";
import { openMemoryItems } from "../../src/drivers/memory/index.ts";
import { memoryLimits } from "../../src/state/memories/limits.ts";
import { World, type Process } from "../../src/state/memories/test-world.ts";
import { failure } from "../../src/testing/item-store/fixture.ts";
import { forEachTest } from "../support/for-tests.ts";
import { pagesOf } from "../../src/runtime/pages.ts";

let process: Process;
const world = forEachTest(() => World.open({ items: openMemoryItems }));
beforeEach(async () => {
  process = await world.process();
});

const say = (agent_id: string, more: object = {}, options = {}) =>
  process.memories.append(
    world.caller,
    { agent_id, session_id: "s1", content: "words", message_type: "user", ...more },
    options,
  );
const ids = async (query: object = {}, caller = world.caller) =>
  (await process.memories.agents(caller, query)).items.map(({ agent_id }) => agent_id);

describe("agents with memories", () => {
  it("are told with the times of what they said first and last; another workspace has its own", async () => {
    expect(await process.memories.agents(world.caller)).toEqual({ items: [], next_cursor: null });
    await say("b", { timestamp: "2026-01-02T00:00:00.000Z" });
    await say("b", { timestamp: "2026-01-01T00:00:00.000Z", session_id: "s2" });
    await say("a");
    await process.memories.append(world.stranger, {
      agent_id: "theirs",
      session_id: "s1",
      content: "x",
      message_type: "user",
    });
    expect((await process.memories.agents(world.caller)).items).toMatchObject([
      { agent_id: "a" },
      { agent_id: "b", first_message_at: "2026-01-01T00:00:00.000Z", last_message_at: "2026-01-02T00:00:00.000Z" },
    ]);
    expect(await ids({}, world.stranger)).toEqual(["theirs"]);
  });

  it("come in pages without a gap or a double while others come and go; a cursor of another workspace or list is refused", async () => {
    const names = ["a b", "A", "a/b", "a", "ä", "🜁", "a%2Fb", "z".repeat(256)];
    for (const name of names) for (let i = 0; i < 3; i += 1) await say(name, { session_id: `s${i}` });
    const seen: string[] = [];
    for await (const page of pagesOf((cursor) => process.memories.agents(world.caller, { limit: 1, cursor }))) {
      seen.push(...page.items.map(({ agent_id }) => agent_id));
      if (seen.length === 2) await process.memories.deleteSession(world.caller, seen[1] as string, "s0");
    }
    expect(seen.toSorted()).toEqual(names.toSorted());
    const { next_cursor } = await process.memories.agents(world.caller, { limit: 2 });
    await failure(process.memories.agents(world.stranger, { cursor: next_cursor as string }), "INVALID");
    await failure(process.memories.sessions(world.caller, "a", { cursor: next_cursor as string }), "INVALID");
    await failure(process.memories.agents(world.caller, { cursor: `${next_cursor as string}x` }), "INVALID");
  });

  it("a page holds as many as the limit says, and one more is refused", async () => {
    const { agentsPageMax } = memoryLimits;
    for (let i = 0; i <= agentsPageMax; i += 1) await say(`agent-${i}`);
    expect(await ids({ limit: agentsPageMax })).toHaveLength(agentsPageMax);
    expect(await ids()).toHaveLength(memoryLimits.agentsPageDefault);
    for (const limit of [0, agentsPageMax + 1, 1.5])
      await failure(process.memories.agents(world.caller, { limit }), "INVALID");
  });

  it("R-AGT-33 one whose sessions have ended as a unit is not told; one that has others besides is, with the times of these", async () => {
    await say("ended", { ttl: 60 }, { ttlUnit: "session" });
    await say("mixed", { ttl: 60, timestamp: "2026-01-01T00:00:00.000Z" }, { ttlUnit: "session" });
    await say("mixed", { session_id: "s2", timestamp: "2026-01-02T00:00:00.000Z" });
    expect(await ids()).toEqual(["ended", "mixed"]);
    world.clock.advance(61_000);
    expect((await process.memories.agents(world.caller)).items).toEqual([
      { agent_id: "mixed", first_message_at: "2026-01-02T00:00:00.000Z", last_message_at: "2026-01-02T00:00:00.000Z" },
    ]);
  });

  const timeAt = (at: number) => new Date(Date.UTC(2026, 0, 1) + at).toISOString();
  const ending = (at: number, session_id: string) => ({
    session_id,
    content: "x",
    message_type: "user" as const,
    ttl: 60,
    timestamp: timeAt(at),
  });

  it("R-AGT-33 of agents that are not told, a list looks at lookedAtAgentsMax; one past that it is empty and goes on", async () => {
    const { lookedAtAgentsMax } = memoryLimits;
    for (let i = 0; i < lookedAtAgentsMax; i += 1)
      await say(`ended-${String(i).padStart(4, "0")}`, { ttl: 60 }, { ttlUnit: "session" });
    world.clock.advance(61_000);
    expect(await process.memories.agents(world.caller)).toEqual({ items: [], next_cursor: null });
    await say("there");
    const first = await process.memories.agents(world.caller);
    expect([first.items, typeof first.next_cursor]).toEqual([[], "string"]);
    expect(await ids({ cursor: first.next_cursor })).toEqual(["there"]);
  });

  it("R-AGT-33 of messages that nobody sees, a list looks through agentsMessagePagesMax pages; one past that it goes on in their midst", async () => {
    // From both sides at once.
    const most = (memoryLimits.agentsMessagePagesMax / 2) * memoryLimits.agentsMessagePageItems;
    const long = "🜁".repeat(128);
    const count = memoryLimits.appendMessagesMax;
    const said = (at: number) => Array.from({ length: count }, (_, i) => ending(at + i, "s1"));
    for (let at = 0; at < most; at += count)
      await process.memories.appendMany(world.caller, long, said(at), { ttlUnit: "session" });
    await say("before");
    world.clock.advance(61_000);
    expect(await process.memories.agents(world.caller)).toMatchObject({
      items: [{ agent_id: "before" }],
      next_cursor: null,
    });
    await process.memories.appendMany(world.caller, long, [ending(most, "s2")], { ttlUnit: "session" });
    world.clock.advance(61_000);
    const first = await process.memories.agents(world.caller);
    expect([first.items.length, typeof first.next_cursor]).toEqual([1, "string"]);
    expect(await process.memories.agents(world.caller, { cursor: first.next_cursor as string })).toEqual({
      items: [],
      next_cursor: null,
    });
    // What comes meanwhile, where only one of both sides has still to look, is told.
    const timestamp = timeAt(most + 1);
    await say(long, { session_id: "s3", timestamp });
    expect((await process.memories.agents(world.caller, { cursor: first.next_cursor as string })).items).toEqual([
      { agent_id: long, first_message_at: timestamp, last_message_at: timestamp },
    ]);
  });

  it("an agent with many messages costs as many queries as one with few", async () => {
    const asked: string[] = [];
    const items = new Proxy(world.items, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        const bound = value.bind(target) as (...given: readonly unknown[]) => Promise<unknown>;
        return (...given: readonly unknown[]) => {
          asked.push(String(name));
          return bound(...given);
        };
      },
    });
    for (let i = 0; i < 60; i += 1) await say("talker", { session_id: `s${i}` });
    await say("quiet");
    const watched = await world.process(items);
    asked.length = 0;
    expect((await watched.memories.agents(world.caller)).items).toHaveLength(2);
    // To each agent and past the last one, and both ends of each.
    expect(asked).toEqual(Array.from({ length: 7 }, () => "query"));
  });
});
