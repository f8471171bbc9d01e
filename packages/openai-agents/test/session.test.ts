import { MemorySession, type AgentInputItem } from "@openai/agents-core";
import { describe, expect, it } from "vitest";
import { PinakesSession } from "../src/index.ts";
import { threadMessagesMax } from "@pinakes/client";
import { call, openSessions, textsOf, unreliable, user, users, ways } from "./support/sessions.ts";

describe.each(ways)("a session on %s, %s", (engine, via) => {
  it("R-AGT-95 OpenAI Agents Session: items come back in order and as they were, all or the newest, in another process too", async () => {
    await using sessions = await openSessions(engine, via);
    const session = sessions.session();
    expect(await session.getSessionId()).toBe("s1");
    expect(await session.getItems()).toEqual([]);
    expect(await session.popItem()).toBeUndefined();
    const items: AgentInputItem[] = [
      user("hello"),
      {
        type: "message",
        role: "assistant",
        status: "completed",
        id: "msg_1",
        content: [{ type: "output_text", text: "hi", providerData: { $bytes: "no bytes", ttl: 5 } }],
      },
      call("c1", '{"q":"é😀"}'),
      {
        type: "function_call_result",
        callId: "c1",
        name: "look_up",
        status: "completed",
        output: { type: "text", text: "found" },
      },
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_image", image: "data:x", providerData: { raw: new Uint8Array([0, 255, 7]), $$bytes: 1 } },
        ],
      },
    ];
    await session.addItems(items);
    await session.addItems([]);
    const other = sessions.session();
    expect(await other.getItems()).toEqual(items);
    expect(await other.getItems(2)).toEqual(items.slice(-2));
    expect(await other.getItems(100)).toEqual(items);
    expect(await other.getItems(0)).toEqual([]);
    expect(await other.getItems(-1)).toEqual([]);
    expect(await other.popItem()).toEqual(items[4]);
    expect(await session.getItems()).toEqual(items.slice(0, 4));
    expect(await sessions.session("s2").getItems()).toEqual([]);
    await session.clearSession();
    expect(await other.getItems()).toEqual([]);
    await session.addItems([user("again")]);
    expect(textsOf(await other.getItems())).toEqual(["again"]);
    expect(await new PinakesSession({ api: sessions.api }).getSessionId()).not.toBe("");
  });

  it("R-AGT-95 OpenAI Agents Session: a call with more items than a batch holds is one, at the limit and one past it", async () => {
    await using sessions = await openSessions(engine, via);
    const session = sessions.session();
    const expected: AgentInputItem[] = [];
    for (const count of [threadMessagesMax, threadMessagesMax + 1, 130]) {
      const items = users(count, `of ${count}: `);
      await session.addItems(items);
      expected.push(...items);
      expect(await session.getItems()).toEqual(expected);
      expect(await session.getItems(25)).toEqual(expected.slice(-25));
    }
    const large = Array.from({ length: 5 }, (_, i) => user(`${i}`.repeat(700_000)));
    await session.addItems(large);
    expect(await session.getItems(7)).toEqual([...expected, ...large].slice(-7));
    for (let i = 0; i < 6; i += 1) await session.popItem();
    expect(await session.getItems()).toEqual(expected.slice(0, -1));
  });

  it("R-AGT-95 OpenAI Agents Session: calls at the same time keep their items together and in order", async () => {
    await using sessions = await openSessions(engine, via);
    const counts = [3, 45, 1, 21, 20, 64, 2];
    await Promise.all(counts.map((count, i) => sessions.session().addItems(users(count, `${i}:`))));
    const texts = textsOf(await sessions.session().getItems()) as string[];
    const order = [...new Set(texts.map((text) => Number(text.split(":")[0])))];
    expect([...order].sort()).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(texts).toEqual(order.flatMap((i) => textsOf(users(counts[i] ?? 0, `${i}:`))));
  });

  it("R-AGT-95 OpenAI Agents Session: pops at the same time each take another item, and none that was just added", async () => {
    await using sessions = await openSessions(engine, via);
    await sessions.session().addItems(users(30));
    const poppers = [
      sessions.session(),
      sessions.session(),
      sessions.session(),
      ...(await Promise.all([1, 2, 3].map(() => sessions.stranger()))),
    ];
    const popped = await Promise.all(poppers.map((session) => session.popItem()));
    expect(textsOf(popped.filter((item) => item !== undefined)).sort()).toEqual([
      "m24",
      "m25",
      "m26",
      "m27",
      "m28",
      "m29",
    ]);
    expect(await sessions.session().getItems()).toEqual(users(24));
    // What was popped is gone from the store, not only from the history.
    const left = await sessions.api.threads.list("s1", { limit: 1000 });
    expect(left.items.filter((message) => message["kind"] === "item").length).toBe(24);
  });

  it("R-AGT-95 OpenAI Agents Session: a call that failed is repeated without doubles, wherever the network broke", async () => {
    await using sessions = await openSessions(engine, via);
    const items = users(50);
    for (const broken of [1, 2, 3, 4]) {
      for (const how of ["lost", "undelivered"] as const) {
        const sessionId = `${how}-${broken}`;
        const none = new Set<number>();
        const threads = unreliable(
          sessions.api.threads,
          how === "lost" ? new Set([broken]) : none,
          how === "undelivered" ? new Set([broken]) : none,
        );
        const session = new PinakesSession({ api: { threads }, sessionId });
        await expect(session.addItems(items)).rejects.toThrow(/network|answer/);
        const before = (await sessions.session(sessionId).getItems()).length;
        expect(how === "lost" && broken === 4 ? [50] : [0], sessionId).toContain(before);
        await session.addItems(items);
        expect(await sessions.session(sessionId).getItems(), sessionId).toEqual(items);
        await session.addItems(items);
        expect((await sessions.session(sessionId).getItems()).length, "said twice is there twice").toBe(100);
      }
    }
  });

  it("R-AGT-95 OpenAI Agents Session: mutations and compaction rewrite the history as the SDK's own session does", async () => {
    await using sessions = await openSessions(engine, via);
    const session = sessions.session();
    const reference = new MemorySession();
    const items = [user("a"), call("c1"), call("c2"), call("c1", '{"again":1}'), user("b")];
    for (const own of [session, reference]) {
      await own.addItems(items);
      await own.applyHistoryMutations({ mutations: [] });
      await own.applyHistoryMutations({
        mutations: [{ type: "replace_function_call", callId: "c1", replacement: call("c1", '{"x":1}') }],
      });
      await own.applyHistoryMutations({
        mutations: [{ type: "replace_function_call", callId: "nobody", replacement: call("nobody") }],
      });
      await own.addItems([user("c")]);
    }
    expect(await session.getItems()).toEqual(await reference.getItems());
    const compacted: AgentInputItem[] = [{ type: "compaction", encrypted_content: "secret" }, user("c")];
    await session.replaceHistoryWithCompaction(compacted);
    expect(await sessions.session().getItems()).toEqual(compacted);
    expect(await session.popItem()).toEqual(compacted[1]);
    await session.addItems(users(2));
    expect(await session.getItems()).toEqual([compacted[0], ...users(2)]);
  });
});
