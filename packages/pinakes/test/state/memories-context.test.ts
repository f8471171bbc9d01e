/** Context windows against a brute-force oracle, and how little they read. */
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import type { ContextWindow, Memory, MessageType, NewMemory, Stored } from "@pinakes/client";
import { openMemoryItems } from "../../src/drivers/memory/index.ts";
import type { ItemStore } from "../../src/ports/item-store.ts";
import { memoryLimits } from "../../src/state/memories/limits.ts";
import type { Memories } from "../../src/state/memories/memories.ts";
import { World } from "../../src/state/memories/test-world.ts";
import { failure } from "../../src/testing/item-store/fixture.ts";
import { forEachTest } from "../support/for-tests.ts";

let memories: Memories;
let rowsRead = 0;
const world = forEachTest(() => World.open({ items: openMemoryItems }));
beforeEach(async () => {
  ({ memories } = await world.process(counting(world.items)));
});

/** Counts the messages that queries hand out. */
function counting(items: ItemStore): ItemStore {
  return new Proxy(items, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      if (name !== "query") return value.bind(target) as unknown;
      return async (...given: Parameters<ItemStore["query"]>) => {
        const page = await target.query(...given);
        rowsRead += page.items.length;
        return page;
      };
    },
  });
}

let agents = 0;
async function said(
  messages: readonly Partial<NewMemory>[],
): Promise<{ agent_id: string; all: readonly Stored<Memory>[] }> {
  const agent_id = `context-${(agents += 1)}`;
  const all: Stored<Memory>[] = [];
  for (let at = 0; at < messages.length; at += 20) {
    const some = messages
      .slice(at, at + 20)
      .map((message) => ({ session_id: "s", content: "x", message_type: "user" as const, ...message }));
    all.push(...(await memories.appendMany(world.caller, agent_id, some, { allowDangling: true })));
  }
  return { agent_id, all };
}
const ask = (agent_id: string, maxTokens: number, strategy?: "recent" | "relevance"): Promise<ContextWindow> =>
  memories.context(world.caller, { agent_id, session_id: "s", maxTokens, strategy });
const ids = ({ messages }: ContextWindow): string[] => messages.map(({ id }) => id);

/** Which call each result answers, said once more in another way: by trying calls one after the other. */
function pairsOf(all: readonly Memory[]): Map<number, number> {
  const pairs = new Map<number, number>();
  all.forEach(({ message_type, parent_message_id }, i) => {
    const call = all.findIndex(
      ({ id, message_type: type }, at) => at < i && type === "tool_call" && id === parent_message_id,
    );
    if (message_type === "tool_result" && call >= 0) pairs.set(i, call);
  });
  const byParent = new Set(pairs.values());
  for (let start = 0; start < all.length;) {
    let calls = start;
    while (all[calls]?.message_type === "tool_call") calls += 1;
    let end = calls;
    while (all[end]?.message_type === "tool_result") end += 1;
    const open = range(start, calls).filter((i) => !byParent.has(i));
    const results = range(calls, end).filter((i) => !pairs.has(i));
    const left: number[] = [];
    for (const result of results) {
      const call = open.find((i) => all[i]?.metadata.tool_name === all[result]?.metadata.tool_name);
      if (call === undefined) left.push(result);
      else {
        pairs.set(result, call);
        open.splice(open.indexOf(call), 1);
      }
    }
    if (left.length === open.length) left.forEach((result, i) => pairs.set(result, open[i] as number));
    start = Math.max(end, start + 1);
  }
  return pairs;
}
const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);

function opening(all: readonly Memory[], budget: number): { kept: number[]; count: number; left: number } {
  let count = 0;
  while (count < memoryLimits.openingMessagesMax && all[count]?.message_type === "system") count += 1;
  const kept: number[] = [];
  let left = budget;
  for (const i of range(0, count)) {
    const tokens = all[i]?.token_count as number;
    if (tokens > left) break;
    kept.push(i);
    left -= tokens;
  }
  return { kept, count, left };
}

/** Every cut is tried: what lies behind it, without results whose call lies before. */
function recentOracle(all: readonly Memory[], budget: number): number[] {
  const pairs = pairsOf(all);
  const { kept, count, left } = opening(all, budget);
  let best: number[] = [];
  for (const cut of range(count, all.length + 1).toReversed()) {
    const chosen = range(cut, all.length).filter((i) => (pairs.get(i) ?? i) >= cut);
    if (chosen.reduce((sum, i) => sum + (all[i]?.token_count as number), 0) > left) break;
    best = chosen;
  }
  return [...kept, ...(best.length === all.length - count ? best : fromTurn(all, pairs, best))];
}

/** Leading messages go one by one, each call with its results, until a user or system message leads; if none ever does, all stay. */
function fromTurn(
  all: readonly Memory[],
  pairs: ReadonlyMap<number, number>,
  chosen: readonly number[],
): readonly number[] {
  let rest = chosen;
  for (let [head] = rest; head !== undefined; [head] = rest) {
    if (all[head]?.message_type === "user" || all[head]?.message_type === "system") return rest;
    rest = rest.filter((i) => i !== head && pairs.get(i) !== head);
  }
  return chosen;
}

const tool = fc.constantFrom("a", "b", null);
const message = fc.record({
  message_type: fc.constantFrom<MessageType>(
    "user",
    "assistant",
    "system",
    "thought",
    "tool_call",
    "tool_call",
    "tool_result",
    "tool_result",
  ),
  token_count: fc.nat(12),
  relevance_score: fc.integer({ min: 0, max: 4 }).map((n) => n / 4),
  tool,
  /** So many messages back, where it answers one. */
  back: fc.option(fc.integer({ min: 1, max: 70 }), { nil: undefined, freq: 3 }),
});
const conversation = fc.array(message, { maxLength: 140, size: "max" }).map((drawn) =>
  drawn.map(({ tool: tool_name, back, ...rest }, i): Partial<NewMemory> => {
    const parent = back === undefined || back > i ? null : `m${i - back}`;
    return { ...rest, id: `m${i}`, metadata: { tool_name }, parent_message_id: parent };
  }),
);

describe("context windows", () => {
  it("R-AGT-32 recent: within the budget, no pair split, as the oracle has it", async () => {
    await fc.assert(
      fc.asyncProperty(conversation, fc.integer({ min: 1, max: 900 }), async (messages, budget) => {
        const { agent_id, all } = await said(messages);
        const window = await ask(agent_id, budget);
        expect(ids(window)).toEqual(recentOracle(all, budget).map((i) => all[i]?.id));
        checkWindow(window, all, budget);
        await memories.deleteSession(world.caller, agent_id, "s");
      }),
      { numRuns: 150 },
    );
  });

  it("R-AGT-32 relevance: within the budget, no pair split, and none left out that is more relevant than what is in and would fit in its place", async () => {
    await fc.assert(
      fc.asyncProperty(conversation, fc.integer({ min: 1, max: 300 }), async (messages, budget) => {
        const { agent_id, all } = await said(messages);
        const window = await ask(agent_id, budget, "relevance");
        checkWindow(window, all, budget);
        expect(ids(window)).toEqual(relevanceOracle(all, budget).map((i) => all[i]?.id));
        await memories.deleteSession(world.caller, agent_id, "s");
      }),
      { numRuns: 150 },
    );
  });

  function checkWindow(window: ContextWindow, all: readonly Memory[], budget: number): void {
    const chosen = new Set(ids(window));
    const sum = window.messages.reduce((total, { token_count }) => total + token_count, 0);
    expect([window.token_count, window.omitted, sum <= budget]).toEqual([sum, all.length - chosen.size, true]);
    for (const [result, call] of pairsOf(all))
      expect([all[result]?.id, chosen.has(all[result]?.id as string)]).toEqual([
        all[result]?.id,
        chosen.has(all[call]?.id as string),
      ]);
    const places = window.messages.map(({ id }) => all.findIndex((one) => one.id === id));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  }

  /** The best group that fits, again and again, the newer of two alike. */
  function relevanceOracle(all: readonly Memory[], budget: number): number[] {
    const pairs = pairsOf(all);
    const { kept, count, left: rest } = opening(all, budget);
    let left = rest;
    let groups = range(count, all.length)
      .filter((i) => !pairs.has(i))
      .map((head) => [head, ...range(0, all.length).filter((i) => pairs.get(i) === head)]);
    const chosen = [...kept];
    const score = (group: readonly number[]) => Math.max(...group.map((i) => all[i]?.relevance_score as number));
    while (groups.length > 0) {
      const best = groups.reduce((a, b) =>
        score(b) > score(a) || (score(b) === score(a) && Math.max(...b) > Math.max(...a)) ? b : a,
      );
      groups = groups.filter((group) => group !== best);
      const tokens = best.reduce((sum, i) => sum + (all[i]?.token_count as number), 0);
      if (tokens > left) continue;
      left -= tokens;
      chosen.push(...best);
    }
    return chosen.toSorted((a, b) => a - b);
  }

  it("R-AGT-32 parallel calls and their results, by position, by parent, and one that comes much later", async () => {
    const call = (id: string, tool_name: string | null): Partial<NewMemory> => ({
      id,
      message_type: "tool_call",
      token_count: 10,
      metadata: { tool_name },
    });
    const result = (id: string, tool_name: string | null, parent?: string): Partial<NewMemory> => ({
      id,
      message_type: "tool_result",
      token_count: 10,
      metadata: { tool_name },
      parent_message_id: parent ?? null,
    });
    const { agent_id } = await said([
      call("c1", "x"),
      call("c2", "y"),
      call("c3", "z"),
      result("r2", "y"),
      result("r1", "x"),
      { id: "u", token_count: 1 },
      result("late", null, "c3"),
    ]);
    expect(ids(await ask(agent_id, 1))).toEqual(["u"]);
    // c3 and late would fit, but a cut window starts with a user message.
    expect(ids(await ask(agent_id, 21))).toEqual(["u"]);
    expect(ids(await ask(agent_id, 41))).toEqual(["u"]);
    expect(ids(await ask(agent_id, 61))).toEqual(["c1", "c2", "c3", "r2", "r1", "u", "late"]);
  });

  it("R-AGT-32 calls whose results lie on another page, by name and by parent, are never parted from them", async () => {
    for (const byParent of [false, true]) {
      const calls = Array.from({ length: 40 }, (_, i): Partial<NewMemory> => ({
        id: `c${i}`,
        message_type: "tool_call",
        token_count: 1,
        metadata: { tool_name: `t${i}` },
      }));
      const results = calls.map((_, i): Partial<NewMemory> => ({
        id: `r${i}`,
        message_type: "tool_result",
        token_count: 1,
        ...(byParent ? { parent_message_id: `c${39 - i}` } : { metadata: { tool_name: `t${39 - i}` } }),
      }));
      const between = byParent ? Array.from({ length: 30 }, (_, i) => ({ id: `u${i}`, token_count: 1 })) : [];
      const { agent_id, all } = await said([...calls, ...between, ...results]);
      for (let budget = 1; budget <= 111; budget += 1) {
        const window = await ask(agent_id, budget);
        expect([byParent, budget, ids(window)]).toEqual([
          byParent,
          budget,
          recentOracle(all, budget).map((i) => all[i]?.id),
        ]);
        checkWindow(window, all, budget);
      }
    }
  });

  it("a cut window starts with a user or system message, unless it has none; a session that fits is whole", async () => {
    const types = [
      "system",
      "user",
      "assistant",
      "user",
      "tool_call",
      "tool_result",
      "assistant",
      "system",
      "assistant",
      "thought",
    ] as const;
    const turns = (of: readonly MessageType[]) =>
      of.map((message_type, i) => ({ id: `${i}-${message_type}`, message_type, token_count: 1 }));
    const { agent_id } = await said(turns(types));
    const tailOf = async (maxTokens: number): Promise<string[]> => ids(await ask(agent_id, maxTokens));
    expect(await tailOf(10)).toHaveLength(10);
    expect(await tailOf(9)).toEqual([
      "0-system",
      ...turns(types)
        .slice(3)
        .map(({ id }) => id),
    ]);
    for (const budget of [7, 6, 5, 4])
      expect(await tailOf(budget)).toEqual(["0-system", "7-system", "8-assistant", "9-thought"]);
    expect(await tailOf(3)).toEqual(["0-system", "8-assistant", "9-thought"]);
    const window = await ask(agent_id, 7);
    expect([window.token_count, window.omitted]).toEqual([4, 6]);

    const greeting = await said(turns(["assistant", "user", "assistant"]));
    expect(ids(await ask(greeting.agent_id, 3))).toEqual(["0-assistant", "1-user", "2-assistant"]);
  });

  it("R-AGT-32 the system messages that open a session stay; later ones are like any other", async () => {
    const { agent_id } = await said([
      { id: "sys1", message_type: "system", token_count: 5 },
      { id: "sys2", message_type: "system", token_count: 50 },
      ...Array.from({ length: 200 }, (_, i) => ({ id: `u${i}`, token_count: 5 })),
      { id: "note", message_type: "system" as const, token_count: 5 },
      { id: "last", token_count: 5 },
    ]);
    expect(ids(await ask(agent_id, 15))).toEqual(["sys1", "note", "last"]);
    expect(ids(await ask(agent_id, 65))).toEqual(["sys1", "sys2", "note", "last"]);
    expect(ids(await ask(agent_id, 4))).toEqual([]);
  });

  it("R-AGT-32 so many opening messages stay and no more", async () => {
    const max = memoryLimits.openingMessagesMax;
    const { agent_id } = await said(
      Array.from({ length: max + 2 }, (_, i) => ({
        id: `s${i}`,
        message_type: i <= max ? ("system" as const) : ("user" as const),
        token_count: 1,
      })),
    );
    expect(ids(await ask(agent_id, max + 1))).toEqual([
      ...Array.from({ length: max }, (_, i) => `s${i}`),
      `s${max + 1}`,
    ]);
  });

  it("R-AGT-32 of 10,000 messages a recent window reads few, where few fit", async () => {
    const { agent_id } = await said(Array.from({ length: 10_000 }, (_, i) => ({ id: `m${i}`, token_count: 10 })));
    rowsRead = 0;
    const window = await ask(agent_id, 200);
    expect([window.messages.length, window.omitted, window.messages[0]?.id]).toEqual([20, 9_980, "m9980"]);
    expect(rowsRead).toBeLessThanOrEqual(100);
    rowsRead = 0;
    expect((await ask(agent_id, 3_000)).messages).toHaveLength(300);
    expect(rowsRead).toBeLessThanOrEqual(1_000);
    const all = await memories.list(world.caller, agent_id, { session_id: "s", limit: 100 });
    expect([all.items.length, all.items[99]?.id]).toEqual([100, "m99"]);
    const most = await ask(agent_id, 100_000);
    expect([most.messages.length, most.messages[0]?.id]).toEqual([memoryLimits.contextMessagesMax, "m5000"]);
    const best = await ask(agent_id, 100_000, "relevance");
    expect(best.messages).toHaveLength(memoryLimits.contextMessagesMax);
  });

  it("a window that is not one is refused; an unknown session is an empty one", async () => {
    for (const maxTokens of [0, -1, 1.5, Number.NaN, memoryLimits.contextTokensMax + 1, "5" as never])
      await failure(ask("nobody", maxTokens), "INVALID");
    await failure(ask("nobody", 5, "random" as never), "INVALID");
    await failure(memories.context(world.caller, { agent_id: "", session_id: "s", maxTokens: 5 }), "INVALID");
    expect(await ask("nobody", memoryLimits.contextTokensMax)).toEqual({ messages: [], token_count: 0, omitted: 0 });
  });
});
