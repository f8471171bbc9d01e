/** Memories: lists by each of their indexes, sessions, deletes, expiry. */
import { beforeAll, describe, expect, it } from "vitest";
import type { Memory, Stored } from "@pinakes/client";
import { compileFilter } from "../../src/domain/filter.ts";
import { openMemoryItems } from "../../src/drivers/memory/index.ts";
import { memoryLimits } from "../../src/state/memories/limits.ts";
import type { Memories } from "../../src/state/memories/memories.ts";
import { World } from "../../src/state/memories/test-world.ts";
import { failure } from "../../src/testing/item-store/fixture.ts";
import { pagesOf } from "../../src/runtime/pages.ts";
import { contents, newAgent, said } from "./support/memories.ts";
import { forAllTests } from "../support/for-tests.ts";

let memories: Memories;
const world = forAllTests(() => World.open({ items: openMemoryItems }));
beforeAll(async () => {
  ({ memories } = await world.process());
});

describe("memories: lists and sessions", () => {
  it("R-AGT-31 R-AGT-60 by session, by relevance, by type, of the agent: each whole, in order, in pages", async () => {
    const agent_id = newAgent();
    const made: Stored<Memory>[] = [];
    for (let i = 0; i < 40; i += 1) {
      world.clock.advance(1_000);
      const message_type = (["user", "assistant", "tool_call"] as const)[i % 3] as Memory["message_type"];
      made.push(
        await memories.append(world.caller, {
          agent_id,
          ...said(`${i}`, { session_id: `s${i % 4}`, message_type, relevance_score: (i % 10) / 10 }),
        }),
      );
    }
    const walk = async (query: object): Promise<string[]> => {
      const found: string[] = [];
      for await (const page of pagesOf((cursor) =>
        memories.list(world.caller, agent_id, { ...query, limit: 7, cursor }),
      )) {
        found.push(...contents(page.items));
      }
      return found;
    };
    const expected = (filter: object, order: (a: Memory, b: Memory) => number) =>
      contents(made.filter((memory) => compileFilter(filter)(memory as never)).toSorted(order));
    const byTime = (a: Memory, b: Memory) => Number(a.content) - Number(b.content);
    const best = (a: Memory, b: Memory) => b.relevance_score - a.relevance_score || byTime(b, a);
    expect(await walk({})).toEqual(expected({}, byTime));
    expect(await walk({ order: "desc" })).toEqual(expected({}, byTime).toReversed());
    expect(await walk({ session_id: "s2" })).toEqual(expected({ session_id: "s2" }, byTime));
    expect(await walk({ session_id: "s2", message_type: "user" })).toEqual(
      expected({ session_id: "s2", message_type: "user" }, byTime),
    );
    expect(await walk({ message_type: "tool_call" })).toEqual(expected({ message_type: "tool_call" }, byTime));
    expect(await walk({ sort: "relevance" })).toEqual(expected({}, best));
    expect(await walk({ sort: "relevance", order: "asc" })).toEqual(expected({}, best).toReversed());
    expect(await walk({ sort: "relevance", session_id: "s1", message_type: "user" })).toEqual(
      expected({ session_id: "s1", message_type: "user" }, best),
    );
    for (const query of [
      { sort: "size" },
      { order: "up" },
      { message_type: "x" },
      { limit: 0 },
      { limit: 1_001 },
      { cursor: "x" },
      { session_id: "" },
    ])
      await failure(memories.list(world.caller, agent_id, query as never), "INVALID");
  });

  it("sessions are listed by leaps, counted, and summed when asked for one", async () => {
    const agent_id = newAgent();
    for (let i = 0; i < 30; i += 1) {
      world.clock.advance(1_000);
      await memories.append(world.caller, { agent_id, ...said("x", { session_id: `s ${i % 7}/ü`, token_count: i }) });
    }
    const found = [];
    for await (const page of pagesOf((cursor) => memories.sessions(world.caller, agent_id, { limit: 3, cursor }))) {
      found.push(...page.items);
    }
    expect(found.map(({ session_id, message_count, token_count }) => [session_id, message_count, token_count])).toEqual(
      Array.from({ length: 7 }, (_, i) => [`s ${i}/ü`, i < 2 ? 5 : 4, null]),
    );
    const one = await memories.session(world.caller, agent_id, "s 1/ü");
    expect(one).toMatchObject({ message_count: 5, token_count: 1 + 8 + 15 + 22 + 29, ttl_unit: "message" });
    const page = await memories.list(world.caller, agent_id, { session_id: "s 1/ü" });
    expect([one.first_message_at, one.last_message_at]).toEqual([
      page.items[0]?.timestamp,
      page.items.at(-1)?.timestamp,
    ]);
    await failure(memories.session(world.caller, agent_id, "none"), "NOT_FOUND");
    const { next_cursor } = await memories.sessions(world.caller, agent_id, { limit: 1 });
    await failure(memories.sessions(world.caller, newAgent(), { cursor: next_cursor as string }), "INVALID");
    await failure(memories.sessions(world.stranger, agent_id, { cursor: next_cursor as string }), "INVALID");
    await failure(memories.sessions(world.caller, agent_id, { limit: memoryLimits.sessionsPageMax + 1 }), "INVALID");
    await failure(memories.sessions(world.caller, agent_id, { limit: 0 }), "INVALID");
    expect(
      (await memories.sessions(world.caller, agent_id, { limit: memoryLimits.sessionsPageMax })).items,
    ).toHaveLength(7);
  });

  it("a session is deleted whole, and again", async () => {
    const agent_id = newAgent();
    for (let i = 0; i < 4; i += 1)
      await memories.appendMany(
        world.caller,
        agent_id,
        Array.from({ length: 20 }, () => said("x")),
      );
    await memories.append(world.caller, { agent_id, ...said("stays", { session_id: "s2" }) });
    expect(await memories.deleteSession(world.caller, agent_id, "s1")).toEqual({ deleted: 80 });
    expect(await memories.deleteSession(world.caller, agent_id, "s1")).toEqual({ deleted: 0 });
    expect(contents((await memories.list(world.caller, agent_id)).items)).toEqual(["stays"]);
  });

  it("R-AGT-46 R-AGT-47 R-AGT-49 a message is gone from every answer the moment its time is over; a change gives it its time again", async () => {
    const agent_id = newAgent();
    const [short, long, never] = await memories.appendMany(world.caller, agent_id, [
      said("short", { ttl: 10 }),
      said("default"),
      said("never", { ttl: -1 }),
    ]);
    world.clock.advance(9_999);
    await memories.patch(world.caller, agent_id, short?.id as string, { relevance_score: 1 });
    world.clock.advance(9_999);
    expect((await memories.list(world.caller, agent_id)).items).toHaveLength(3);
    world.clock.advance(1);
    const left = async () => contents((await memories.list(world.caller, agent_id, { session_id: "s1" })).items);
    expect(await left()).toEqual(["default", "never"]);
    await failure(memories.get(world.caller, agent_id, short?.id as string), "NOT_FOUND");
    expect((await memories.session(world.caller, agent_id, "s1")).message_count).toBe(2);
    expect(
      (await memories.context(world.caller, { agent_id, session_id: "s1", maxTokens: 1_000 })).messages,
    ).toHaveLength(2);
    await failure(
      memories.append(world.caller, { agent_id, ...said("x", { parent_message_id: short?.id as string }) }),
      "INVALID",
    );
    world.clock.advance(7_776_000_000 - 20_000);
    expect(await left()).toEqual(["default", "never"]);
    world.clock.advance(1);
    expect([await left(), long?.id === never?.id]).toEqual([["never"], false]);
  });
});
