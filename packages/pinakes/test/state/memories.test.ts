/** Memories: what is taken, what is filled in, order, parents, repeats. */
import { beforeAll, describe, expect, it } from "vitest";
import type { Memory, Stored } from "@pinakes/client";
import { openMemoryItems } from "../../src/drivers/memory/index.ts";
import { agentMemories } from "../../src/state/memories/agent-memories.ts";
import { memoryLimits } from "../../src/state/memories/limits.ts";
import type { Memories } from "../../src/state/memories/memories.ts";
import { World } from "../../src/state/memories/test-world.ts";
import { failure } from "../../src/testing/item-store/fixture.ts";
import { memoryExample } from "./containers-examples.ts";
import { contents, newAgent, said } from "./support/memories.ts";
import { forAllTests } from "../support/for-tests.ts";

let memories: Memories;
const world = forAllTests(() => World.open({ items: openMemoryItems }));
beforeAll(async () => {
  ({ memories } = await world.process());
});

const example = { ...memoryExample, workspace_id: "acme", message_type: "user" } as const;

describe("memories: one message", () => {
  it("R-AGT-25 the container is the source document's: partition, ttl, policy, and an index for each composite", () => {
    const { definition, policy, scanIndex } = agentMemories;
    const declared = { name: "agent-memories", partitionKey: ["agent_id"], ttl: 7_776_000, feed: true };
    expect(definition).toMatchObject(declared);
    expect(policy?.excludedPaths).toEqual([
      { path: "/_etag/?" },
      { path: "/content/?" },
      { path: "/metadata/tool_result/?" },
    ]);
    expect(policy?.includedPaths?.map(({ path }) => path)).toEqual(
      ["agent_id", "session_id", "workspace_id", "message_type", "timestamp", "relevance_score"].map(
        (name) => `/${name}/?`,
      ),
    );
    const served = Object.values(definition.indexes ?? {}).map(({ partition, sort }) =>
      [...partition, ...sort.map((path) => (typeof path === "string" ? path : `${path.path} ${path.order}`))].join(
        ", ",
      ),
    );
    expect(served.some((index) => index.startsWith("agent_id, session_id, timestamp"))).toBe(true);
    expect(served.some((index) => index.startsWith("workspace_id, agent_id, relevance_score desc"))).toBe(true);
    expect(definition.indexes?.[scanIndex]?.partition).toEqual(["workspace_id"]);
    const indexed = new Set(
      Object.values(definition.indexes ?? {}).flatMap(({ partition, sort }) => [
        ...partition,
        ...sort.map((path) => (typeof path === "string" ? path : path.path)),
      ]),
    );
    for (const excluded of ["_etag", "content", "metadata.tool_result"]) expect(indexed).not.toContain(excluded);
  });

  it("R-AGT-26 the example of the source document comes back as it was sent, key by key", async () => {
    const sent = { ...example, beyond: { kept: [1, "two", null] } };
    const stored = await memories.append(world.caller, sent);
    const { _etag, _ts, ...document } = stored;
    expect(JSON.stringify(document)).toBe(JSON.stringify(sent));
    expect([typeof _etag, _ts]).toEqual(["string", Math.floor(world.clock.now() / 1_000)]);
    const read = await memories.get(world.caller, example.agent_id, example.id);
    expect(JSON.stringify(read)).toBe(JSON.stringify(stored));
  });

  it("R-AGT-26 what belongs into metadata is refused at the top, with its place; a message that has it in both keeps both", async () => {
    const agent_id = newAgent();
    const refused = await failure(
      memories.append(world.caller, { agent_id, ...said("x"), tool_name: "search" } as never),
      "INVALID",
    );
    expect(refused.detail).toContain('tool_name: belongs into metadata; write { "metadata": { "tool_name": … } }');
    const both = { agent_id, ...said("x"), model: "m", metadata: { model: "m" } } as never;
    expect(await memories.append(world.caller, both)).toMatchObject({ model: "m", metadata: { model: "m" } });
  });

  it("R-AGT-04 R-AGT-05 R-AGT-26 what is left out is filled in; what is the system's is dropped", async () => {
    const agent_id = newAgent();
    const sent = {
      agent_id,
      ...said("héllo wörld"),
      _etag: "mine",
      _ts: 1,
      pinakes_order: 1,
      pinakes_fork: "x",
      pinakes_companion: "y",
    } as never;
    const stored = await memories.append(world.caller, sent);
    const now = new Date(world.clock.now()).toISOString();
    expect(stored).toEqual({
      id: expect.stringMatching(/^msg-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/) as string,
      agent_id,
      session_id: "s1",
      workspace_id: "acme",
      content: "héllo wörld",
      message_type: "user",
      timestamp: now,
      relevance_score: 0.5,
      // 13 bytes of UTF-8, four to a token.
      token_count: 4,
      parent_message_id: null,
      metadata: {
        tool_name: null,
        tool_args: null,
        tool_result: null,
        reasoning_chain: [],
        tags: [],
        model: "",
        temperature: 0,
        user_id: null,
      },
      created_at: now,
      _etag: stored._etag,
      _ts: Math.floor(world.clock.now() / 1_000),
    });
    expect(stored._etag).not.toBe("mine");
  });

  it("R-AGT-08 R-AGT-27 an unknown message_type is refused, naming the field and the allowed ones", async () => {
    const error = await failure(
      memories.append(world.caller, { agent_id: newAgent(), ...said("x"), message_type: "shout" as never }),
      "INVALID",
    );
    for (const part of ["message_type", "user", "assistant", "system", "thought", "tool_call", "tool_result"])
      expect(error.detail).toContain(part);
    for (const message_type of ["user", "assistant", "system", "thought", "tool_call", "tool_result"] as const)
      expect(
        (await memories.append(world.caller, { agent_id: newAgent(), ...said("x", { message_type }) })).message_type,
      ).toBe(message_type);
  });

  it.each([
    ["R-AGT-28", "relevance_score", 1.1],
    ["R-AGT-28", "relevance_score", -0.1],
    ["R-AGT-28", "relevance_score", "0.5"],
    ["R-AGT-28", "token_count", -1],
    ["R-AGT-28", "token_count", 1.5],
    ["R-AGT-07", "timestamp", "yesterday"],
    ["R-AGT-07", "timestamp", "2030-01-01T00:00:00+02:00"],
    ["R-AGT-07", "created_at", 5],
    ["R-AGT-26", "content", undefined],
    ["R-AGT-26", "session_id", ""],
    ["R-AGT-26", "session_id", "x".repeat(257)],
    ["R-AGT-29", "parent_message_id", 5],
    ["R-AGT-26", "metadata", { tags: "no list" }],
    ["R-AGT-26", "metadata", { tool_args: [] }],
    ["R-AGT-48", "ttl", 0],
    ["R-AGT-48", "ttl", null],
    ["R-AGT-48", "ttl", -2],
    ["R-AGT-48", "ttl", 2 ** 31],
    ["R-AGT-48", "ttl", 1.5],
    ["R-AGT-05", "id", "~mine"],
    ["R-AGT-05", "id", "a/b"],
    ["R-AGT-33", "ttl_unit", "day"],
  ])("%s %s %j is refused and named, and nothing is stored", async (_, field, value) => {
    const agent_id = newAgent();
    const error = await failure(memories.append(world.caller, { agent_id, ...said("x"), [field]: value }), "INVALID");
    expect(error.detail).toContain(field);
    expect((await memories.list(world.caller, agent_id)).items).toEqual([]);
  });

  it("R-AGT-28 R-AGT-48 the ends of each range are taken", async () => {
    const agent_id = newAgent();
    for (const more of [
      { relevance_score: 0 },
      { relevance_score: 1 },
      { token_count: 0 },
      { ttl: 1 },
      { ttl: -1 },
      { ttl: 2 ** 31 - 1 },
      { session_id: "x".repeat(256) },
    ])
      expect(await memories.append(world.caller, { agent_id, ...said("x"), ...more })).toMatchObject(more);
  });

  it("R-AGT-09 another workspace in the document is forbidden; another caller's messages are as if they were not", async () => {
    const agent_id = newAgent();
    await failure(memories.append(world.caller, { agent_id, ...said("x"), workspace_id: "acme2" }), "FORBIDDEN");
    const { id, _etag } = await memories.append(world.caller, { agent_id, ...said("secret") });
    const { stranger } = world;
    const theirs = await failure(memories.get(stranger, agent_id, id), "NOT_FOUND");
    const none = await failure(memories.get(stranger, agent_id, id.replace(/.$/, "~")), "NOT_FOUND");
    expect(theirs.detail.replace(id, "?")).toBe(none.detail.replace(id.replace(/.$/, "~"), "?"));
    await failure(memories.patch(stranger, agent_id, id, { content: "mine" }, { ifMatch: _etag }), "NOT_FOUND");
    await failure(memories.delete(stranger, agent_id, id), "NOT_FOUND");
    await failure(memories.thread(stranger, agent_id, id), "NOT_FOUND");
    await failure(memories.session(stranger, agent_id, "s1"), "NOT_FOUND");
    await failure(memories.fork(stranger, agent_id, "s1", { session_id: "s2" }), "NOT_FOUND");
    await failure(memories.append(stranger, { agent_id, ...said("x"), parent_message_id: id }), "INVALID");
    expect(await memories.list(stranger, agent_id)).toEqual({ items: [], next_cursor: null });
    expect(await memories.sessions(stranger, agent_id)).toEqual({ items: [], next_cursor: null });
    expect(await memories.context(stranger, { agent_id, session_id: "s1", maxTokens: 100 })).toEqual({
      messages: [],
      token_count: 0,
      omitted: 0,
    });
    expect((await memories.search(stranger, { query: "secret" })).hits).toEqual([]);
    expect(await memories.deleteSession(stranger, agent_id, "s1")).toEqual({ deleted: 0 });
    expect((await memories.get(world.caller, agent_id, id)).content).toBe("secret");
  });

  it("every call needs a caller", async () => {
    const nobody = { scope: world.caller.scope, userId: "u1", groups: [], role: "admin" } as never;
    const calls: Record<string, (m: Memories) => Promise<unknown>> = {
      append: (m) => m.append(nobody, { agent_id: "a", ...said("x") }),
      appendMany: (m) => m.appendMany(nobody, "a", [said("x")]),
      get: (m) => m.get(nobody, "a", "x"),
      list: (m) => m.list(nobody, "a"),
      patch: (m) => m.patch(nobody, "a", "x", {}),
      delete: (m) => m.delete(nobody, "a", "x"),
      thread: (m) => m.thread(nobody, "a", "x"),
      sessions: (m) => m.sessions(nobody, "a"),
      session: (m) => m.session(nobody, "a", "s"),
      fork: (m) => m.fork(nobody, "a", "s", { session_id: "t" }),
      deleteSession: (m) => m.deleteSession(nobody, "a", "s"),
      context: (m) => m.context(nobody, { agent_id: "a", session_id: "s", maxTokens: 1 }),
      search: (m) => m.search(nobody, { query: "x" }),
    };
    for (const call of Object.values(calls)) await failure(call(memories), "UNAUTHENTICATED");
  });

  it("R-AGT-52 a change with a stale etag is refused with the current one, and nothing is changed", async () => {
    const agent_id = newAgent();
    const first = await memories.append(world.caller, {
      agent_id,
      ...said("one", { metadata: { tags: ["a"], model: "m" } }),
    });
    const second = await memories.patch(
      world.caller,
      agent_id,
      first.id,
      { relevance_score: 0.9, metadata: { tags: ["b"] } },
      { ifMatch: first._etag },
    );
    expect(second).toMatchObject({
      content: "one",
      token_count: 1,
      relevance_score: 0.9,
      metadata: { tags: ["b"], model: "m", tool_name: null },
    });
    const stale = await failure(
      memories.patch(world.caller, agent_id, first.id, { content: "lost" }, { ifMatch: first._etag }),
      "PRECONDITION_FAILED",
    );
    expect(stale.context.currentEtag).toBe(second._etag);
    await failure(memories.delete(world.caller, agent_id, first.id, { ifMatch: first._etag }), "PRECONDITION_FAILED");
    expect(await memories.get(world.caller, agent_id, first.id)).toEqual(second);
    await memories.delete(world.caller, agent_id, first.id, { ifMatch: second._etag });
    await failure(memories.get(world.caller, agent_id, first.id), "NOT_FOUND");
    await failure(memories.delete(world.caller, agent_id, first.id), "NOT_FOUND");
  });

  it("a change keeps the place in the session, counts tokens anew with other words, and refuses what cannot change", async () => {
    const agent_id = newAgent();
    const [a, b] = (await memories.appendMany(world.caller, agent_id, [said("first"), said("second")])) as [
      Stored<Memory>,
      Stored<Memory>,
    ];
    expect((await memories.patch(world.caller, agent_id, a.id, { content: "0123456789" })).token_count).toBe(3);
    expect((await memories.patch(world.caller, agent_id, a.id, { content: "long", token_count: 77 })).token_count).toBe(
      77,
    );
    expect((await memories.patch(world.caller, agent_id, a.id, { content: "long" })).token_count).toBe(77);
    expect(contents((await memories.list(world.caller, agent_id, { session_id: "s1" })).items)).toEqual([
      "long",
      "second",
    ]);
    for (const change of [
      { session_id: "s2" },
      { id: "x" },
      { timestamp: b.timestamp },
      { relevance_score: 2 },
      { ttl: 0 },
      { ttl: null },
      { metadata: { tags: 1 } },
      { metadata: [] },
      "x",
    ])
      await failure(memories.patch(world.caller, agent_id, a.id, change as never), "INVALID");
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        memories.patch(world.caller, agent_id, b.id, { metadata: { [`k${i}`]: i } }),
      ),
    );
    const { metadata } = await memories.get(world.caller, agent_id, b.id);
    expect(Object.keys(metadata).filter((name) => name.startsWith("k"))).toHaveLength(20);
  });
});

describe("memories: several messages", () => {
  it("R-AGT-31 they are in the order of the call and of the calls, whatever their ids, also at one moment", async () => {
    const agent_id = newAgent();
    const ids = ["z", "m", "a", "y", "b"];
    await memories.appendMany(
      world.caller,
      agent_id,
      ids.map((id, i) => said(`${i}`, { id })),
    );
    for (let i = 5; i < 12; i += 1)
      await memories.append(world.caller, { agent_id, ...said(`${i}`, { id: `k${20 - i}` }) });
    const all = await memories.list(world.caller, agent_id, { session_id: "s1" });
    expect(new Set(all.items.map(({ timestamp }) => timestamp)).size).toBe(1);
    expect(contents(all.items)).toEqual(Array.from({ length: 12 }, (_, i) => `${i}`));
    expect(
      contents((await memories.list(world.caller, agent_id, { session_id: "s1", order: "desc", limit: 3 })).items),
    ).toEqual(["11", "10", "9"]);
  });

  it("all or nothing, up to the limit and not one more", async () => {
    const agent_id = newAgent();
    const many = (count: number) => Array.from({ length: count }, (_, i) => said(`${i}`));
    await failure(
      memories.appendMany(world.caller, agent_id, [said("good"), said("bad", { relevance_score: 2 })]),
      "INVALID",
    );
    await failure(
      memories.appendMany(world.caller, agent_id, many(memoryLimits.appendMessagesMax + 1)),
      "LIMIT_EXCEEDED",
    );
    await failure(memories.appendMany(world.caller, agent_id, []), "INVALID");
    await failure(
      memories.appendMany(world.caller, agent_id, [said("a", { id: "same" }), said("b", { id: "same" })]),
      "INVALID",
    );
    await failure(
      memories.appendMany(world.caller, agent_id, [{ ...said("a"), agent_id: "other" } as never]),
      "INVALID",
    );
    expect((await memories.list(world.caller, agent_id)).items).toEqual([]);
    expect(await memories.appendMany(world.caller, agent_id, many(memoryLimits.appendMessagesMax))).toHaveLength(20);
    await memories.append(world.caller, { agent_id, ...said("there", { id: "there" }) });
    await failure(
      memories.appendMany(world.caller, agent_id, [said("new", { id: "new" }), said("again", { id: "there" })]),
      "CONFLICT",
    );
    await failure(memories.get(world.caller, agent_id, "new"), "NOT_FOUND");
  });

  it("messages of several sessions and parents fit as long as one batch holds them", async () => {
    const agent_id = newAgent();
    const roots = await memories.appendMany(
      world.caller,
      agent_id,
      Array.from({ length: 20 }, (_, i) => said(`root ${i}`)),
    );
    const answers = (count: number, parents: number) =>
      Array.from({ length: count }, (_, i) => said("answer", { parent_message_id: roots[i % parents]?.id ?? null }));
    expect(await memories.appendMany(world.caller, agent_id, answers(20, 4))).toHaveLength(20);
    const error = await failure(memories.appendMany(world.caller, agent_id, answers(20, 5)), "LIMIT_EXCEEDED");
    expect(error.detail).toContain("25");
  });

  it("a repeated call with the same key answers what the first one made; another call under it is a conflict", async () => {
    const agent_id = newAgent();
    const call = (texts: readonly string[], more = {}) =>
      memories.appendMany(
        world.caller,
        agent_id,
        texts.map((text) => said(text, more)),
        { idempotencyKey: "k1" },
      );
    const first = await call(["a", "b"]);
    expect(await call(["a", "b"])).toEqual(first);
    expect((await memories.list(world.caller, agent_id)).items).toHaveLength(2);
    await failure(call(["a", "b", "c"]), "CONFLICT");
    await failure(call(["a"]), "CONFLICT");
    await failure(call(["a", "b"], { session_id: "other" }), "CONFLICT");
    await failure(memories.append(world.caller, { agent_id, ...said("x") }, { idempotencyKey: "" }), "INVALID");
    await failure(
      memories.append(world.caller, { agent_id, ...said("x") }, { idempotencyKey: "k".repeat(256) }),
      "INVALID",
    );
    expect(
      (await memories.append(world.caller, { agent_id, ...said("x") }, { idempotencyKey: "k".repeat(255) })).content,
    ).toBe("x");
    expect((await memories.list(world.caller, agent_id)).items).toHaveLength(3);
  });
});

describe("memories: threads of messages", () => {
  it("R-AGT-29 a dangling parent is taken only with the option", async () => {
    const agent_id = newAgent();
    await failure(
      memories.append(world.caller, { agent_id, ...said("x", { parent_message_id: "nobody" }) }),
      "INVALID",
    );
    const elsewhere = await memories.append(world.caller, { agent_id: newAgent(), ...said("of another agent") });
    await failure(
      memories.append(world.caller, { agent_id, ...said("x", { parent_message_id: elsewhere.id }) }),
      "INVALID",
    );
    await failure(
      memories.append(
        world.caller,
        { agent_id, ...said("x", { id: "me", parent_message_id: "me" }) },
        { allowDangling: true },
      ),
      "INVALID",
    );
    await failure(
      memories.appendMany(world.caller, agent_id, [said("a", { parent_message_id: "b1" }), said("b", { id: "b1" })]),
      "INVALID",
    );
    const { id } = await memories.append(
      world.caller,
      { agent_id, ...said("x", { parent_message_id: "nobody" }) },
      { allowDangling: true },
    );
    expect((await memories.thread(world.caller, agent_id, id)).ancestors).toEqual([]);
  });

  it("R-AGT-29 ancestors from the first on, children in order", async () => {
    const agent_id = newAgent();
    const chain = await memories.appendMany(
      world.caller,
      agent_id,
      Array.from({ length: 10 }, (_, i) =>
        said(`${i}`, { id: `c${i}`, parent_message_id: i === 0 ? null : `c${i - 1}` }),
      ),
    );
    await memories.appendMany(world.caller, agent_id, [
      said("side b", { id: "zz", parent_message_id: "c4" }),
      said("side c", { id: "aa", parent_message_id: "c4" }),
    ]);
    const thread = await memories.thread(world.caller, agent_id, "c4");
    expect(contents(thread.ancestors)).toEqual(["0", "1", "2", "3"]);
    expect(thread.message).toEqual(chain[4]);
    expect(contents(thread.children)).toEqual(["5", "side b", "side c"]);
  });

  it("R-AGT-29 a circle, and more ancestors than the limit, come to an end", async () => {
    const agent_id = newAgent();
    const message = (id: string, parent: string) => ({
      id,
      agent_id,
      workspace_id: "acme",
      session_id: "s",
      content: id,
      message_type: "user",
      timestamp: "2030-01-01T00:00:00.000Z",
      relevance_score: 0,
      token_count: 1,
      parent_message_id: parent,
      metadata: {},
      created_at: "2030-01-01T00:00:00.000Z",
    });
    const put = (document: object) =>
      world.items.write(world.caller.scope, "agent-memories", [agent_id], {
        op: "upsert",
        document: document as never,
      });
    for (const [id, parent] of [
      ["a", "c"],
      ["b", "a"],
      ["c", "b"],
    ] as const)
      await put(message(id, parent));
    const circle = await memories.thread(world.caller, agent_id, "c");
    expect(contents(circle.ancestors)).toEqual(["a", "b"]);
    const long = memoryLimits.ancestorsMax + 1;
    for (let i = 0; i <= long; i += 1) await put(message(`n${i}`, `n${i - 1}`));
    const { ancestors } = await memories.thread(world.caller, agent_id, `n${long}`);
    for (let i = 0; i <= memoryLimits.childrenMax; i += 1) await put(message(`child${i}`, "b"));
    expect((await memories.thread(world.caller, agent_id, "b")).children).toHaveLength(memoryLimits.childrenMax);
    expect([ancestors.length, ancestors[0]?.id, ancestors.at(-1)?.id]).toEqual([
      memoryLimits.ancestorsMax,
      "n1",
      `n${long - 1}`,
    ]);
  });
});

describe("memories through the containers API", () => {
  const { prepare } = agentMemories;
  const write = (document: object, before?: object) =>
    prepare?.({ caller: world.caller, before: before as never, document: document as never, now: world.clock.now() });

  it("a message is filled in and checked there as here", () => {
    const made = write({ agent_id: "a", ...said("x") });
    expect(made).toMatchObject({ workspace_id: "acme", relevance_score: 0.5, token_count: 1, parent_message_id: null });
    expect(() => write({ agent_id: "a", ...said("x"), workspace_id: "acme2" })).toThrow("workspace_id");
    expect(() => write({ agent_id: "a", ...said("x"), relevance_score: 2 })).toThrow("relevance_score");
    expect(() => write({ agent_id: "a", ...said("x"), id: "~session-x" })).toThrow("id");
    expect(() => write({ agent_id: "a", ...said("x"), ttl_unit: "session" })).toThrow("ttl_unit");
  });

  it("a change keeps the place of a message in its session, and what ties it to the session", () => {
    const before = { ...write({ agent_id: "a", ...said("x") }), pinakes_order: 7, ttl: -1, ttl_unit: "session" };
    const { pinakes_order: _, ...seen } = before;
    expect(write({ ...seen, content: "y" }, before)).toMatchObject({
      content: "y",
      pinakes_order: 7,
      ttl_unit: "session",
    });
    for (const change of [{ ttl: 5 }, { session_id: "other" }, { ttl_unit: "message" }, { ttl_unit: undefined }])
      expect(() => write({ ...seen, ...change }, before)).toThrow(/ttl/);
  });
});
