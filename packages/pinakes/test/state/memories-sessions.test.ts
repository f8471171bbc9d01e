/** Sessions that end as a unit, and forks: with time moved by hand, and with a process that dies at every single call. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Memory, NewMemory } from "@pinakes/client";
import { openMemoryItems } from "../../src/drivers/memory/index.ts";
import { World, type Process } from "../../src/state/memories/test-world.ts";
import { failure } from "../../src/testing/item-store/fixture.ts";
import { Calls } from "../vectors/support/calls.ts";

let world: World;
let process: Process;
beforeEach(async () => {
  world = await World.open({ items: openMemoryItems });
  process = await world.process();
});
afterEach(() => world[Symbol.asyncDispose]());

const agent = "a1";
const said = (content: string, more: Partial<NewMemory> = {}) => ({
  session_id: "unit",
  content,
  message_type: "user" as const,
  ...more,
});
const append = (content: string, more: Partial<NewMemory> = {}, options = {}) =>
  process.memories.append(world.caller, { agent_id: agent, ...said(content, more) }, options);
const contents = (items: readonly Memory[]): string[] => items.map(({ content }) => content);
const listed = async (session_id?: string, from = process): Promise<string[]> =>
  contents((await from.memories.list(world.caller, agent, { session_id })).items);
const minute = 60_000;
const hour = 60 * minute;

/** Everything that lies in the agent's partition, seen or not. */
async function raw(): Promise<string[]> {
  const page = await world.items.query(world.caller.scope, "agent-memories", {
    equals: { agent_id: agent },
    limit: 1_000,
  });
  return page.items.map(({ id, document }) => (id.startsWith("~") ? id : (document["content"] as string)));
}

/** Nothing of this session is to be had by any call. */
async function expectGone(session: string, id: string): Promise<void> {
  const { memories } = process;
  expect(await listed(session)).toEqual([]);
  expect((await memories.list(world.caller, agent)).items.filter(({ session_id }) => session_id === session)).toEqual(
    [],
  );
  for (const query of [{ sort: "relevance" }, { message_type: "user" }] as const)
    expect(
      (await memories.list(world.caller, agent, query)).items.filter(({ session_id }) => session_id === session),
    ).toEqual([]);
  await failure(memories.get(world.caller, agent, id), "NOT_FOUND");
  await failure(memories.patch(world.caller, agent, id, { content: "x" }), "NOT_FOUND");
  await failure(memories.delete(world.caller, agent, id), "NOT_FOUND");
  await failure(memories.thread(world.caller, agent, id), "NOT_FOUND");
  await failure(memories.session(world.caller, agent, session), "NOT_FOUND");
  await failure(memories.fork(world.caller, agent, session, { session_id: "elsewhere" }), "NOT_FOUND");
  await failure(
    memories.append(world.caller, { agent_id: agent, ...said("x", { session_id: "other", parent_message_id: id }) }),
    "INVALID",
  );
  expect((await memories.sessions(world.caller, agent)).items.map(({ session_id }) => session_id)).not.toContain(
    session,
  );
  expect(await memories.context(world.caller, { agent_id: agent, session_id: session, maxTokens: 1_000 })).toEqual({
    messages: [],
    token_count: 0,
    omitted: 0,
  });
  expect(
    (await memories.search(world.caller, { query: "words", mode: "keyword" })).hits.filter(
      ({ memory }) => memory.session_id === session,
    ),
  ).toEqual([]);
}

/** A process that can be stopped at any of its calls to the store. */
async function mortal(): Promise<{ process: Process; calls: Calls }> {
  const calls = new Calls();
  const items = new Proxy(world.items, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      const bound = value.bind(target) as (...given: readonly unknown[]) => Promise<unknown>;
      return name === "openContainer"
        ? bound
        : (...given: readonly unknown[]) => calls.call(String(name), () => bound(...given));
    },
  });
  return { process: await world.process(items), calls };
}

/** Runs it again and again, each time dying one call later, until it survives; after each death `check` looks at what is there. */
async function dieEverywhere(
  prepare: () => Promise<void>,
  run: (mortal: Process) => Promise<unknown>,
  check: (place: string) => Promise<void>,
): Promise<number> {
  for (let at = 0; ; at += 1) {
    for (const kind of ["crash-before", "crash-after"] as const) {
      await world[Symbol.asyncDispose]();
      world = await World.open({ items: openMemoryItems });
      process = await world.process();
      await prepare();
      const dying = await mortal();
      dying.calls.add({ at: dying.calls.names.length + at, kind });
      const outcome = await Promise.race([
        run(dying.process).then(() => "survived"),
        dying.calls.died.then(() => "died"),
      ]);
      await check(`${kind} call ${at} (${dying.calls.names.at(-1) ?? ""})`);
      if (outcome === "survived") return at;
    }
  }
}

describe("sessions that end as a unit", () => {
  it("R-AGT-33 all messages end together, so long after the last one, at once for every reader; the sweep removes them", async () => {
    const first = await append("first words", { ttl: 3_600 }, { ttlUnit: "session" });
    expect(first).toMatchObject({ ttl: -1, ttl_unit: "session" });
    await append("of another session", { session_id: "plain" });
    world.clock.advance(hour - 1);
    expect(await append("second words")).toMatchObject({ ttl: -1, ttl_unit: "session" });
    expect(await process.memories.session(world.caller, agent, "unit")).toMatchObject({
      ttl_unit: "session",
      message_count: 2,
    });
    world.clock.advance(hour - 1);
    // A change of a message is not a message: the session's time goes on.
    await process.memories.patch(world.caller, agent, first.id, { relevance_score: 1 });
    expect(await process.sweep()).toBe(1);
    expect(await listed("unit")).toEqual(["first words", "second words"]);
    world.clock.advance(1);
    await expectGone("unit", first.id);
    expect(await raw()).toHaveLength(4);
    await process.sweep();
    expect(await raw()).toEqual(["of another session"]);
    expect(await process.sweep()).toBe(0);
    expect(await listed()).toEqual(["of another session"]);
  });

  it("R-AGT-33 the container's time when none is given; -1 never; the property of the message says the same as the option", async () => {
    await append("default", {}, { ttlUnit: "session" });
    await append("never", { session_id: "never", ttl: -1 }, { ttlUnit: "session" });
    await append("by property", { session_id: "property", ttl: 60, ttl_unit: "session" } as never);
    world.clock.advance(minute);
    expect(await listed()).toEqual(["default", "never"]);
    world.clock.advance(7_776_000_000 - minute - 1);
    expect(await listed()).toEqual(["default", "never"]);
    world.clock.advance(1);
    expect(await listed()).toEqual(["never"]);
    await process.sweep();
    expect((await raw()).filter((id) => !id.startsWith("~"))).toEqual(["never"]);
  });

  it("R-AGT-33 the first message decides; later ones need not know, and cannot say otherwise", async () => {
    await append("a", { ttl: 60 }, { ttlUnit: "session" });
    await failure(append("b", {}, { ttlUnit: "message" }), "CONFLICT");
    await failure(append("b", { ttl: 61 }), "INVALID");
    await append("b", { ttl: 60 });
    await append("plain", { session_id: "plain" });
    await failure(append("c", { session_id: "plain" }, { ttlUnit: "session" }), "CONFLICT");
    await failure(
      process.memories.appendMany(
        world.caller,
        agent,
        [said("x", { ttl: 5 }), said("y", { ttl: 6 })].map((m) => ({ ...m, session_id: "new" })),
        { ttlUnit: "session" },
      ),
      "INVALID",
    );
    const [message] = (await process.memories.list(world.caller, agent, { session_id: "unit" })).items;
    await failure(process.memories.patch(world.caller, agent, message?.id as string, { ttl: 5 }), "INVALID");
    const many = await process.memories.appendMany(world.caller, agent, [
      said("c"),
      said("d"),
      said("e", { session_id: "plain" }),
    ]);
    expect(many.map((memory) => (memory as { ttl_unit?: string }).ttl_unit)).toEqual(["session", "session", undefined]);
    expect(await listed("unit")).toEqual(["a", "b", "c", "d"]);
  });

  it("R-AGT-33 a session that is over and begins anew has nothing of what was, before and after the sweep", async () => {
    const old = await append("old words", { ttl: 60 }, { ttlUnit: "session" });
    world.clock.advance(minute);
    await append("new words");
    expect(await listed("unit")).toEqual(["new words"]);
    await failure(process.memories.get(world.caller, agent, old.id), "NOT_FOUND");
    world.clock.advance(minute);
    await process.sweep();
    expect(await listed("unit")).toEqual(["new words"]);
    expect(await process.memories.session(world.caller, agent, "unit")).toMatchObject({
      ttl_unit: "message",
      message_count: 1,
    });
    await process.memories.deleteSession(world.caller, agent, "unit");
    await append("unit again", { ttl: 60 }, { ttlUnit: "session" });
    world.clock.advance(minute - 1);
    await process.sweep();
    expect(await listed("unit")).toEqual(["unit again"]);
    world.clock.advance(1);
    await process.sweep();
    expect(await raw()).toEqual([]);
  });

  it("R-AGT-33 many append to one at once, and none is lost", async () => {
    await append("0", { ttl: 60 }, { ttlUnit: "session" });
    const other = await world.process();
    await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        (i % 2 === 0 ? process : other).memories.append(world.caller, { agent_id: agent, ...said(`${i + 1}`) }),
      ),
    );
    expect((await listed("unit")).map(Number).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 31 }, (_, i) => i),
    );
  });

  it("R-AGT-33 a sweep that dies anywhere leaves nothing to be seen, and the next one finishes", async () => {
    const prepare = async () => {
      for (let i = 0; i < 3; i += 1)
        await process.memories.appendMany(
          world.caller,
          agent,
          Array.from({ length: 20 }, (_, k) => said(`${i}.${k}`, { ttl: 60 })),
          { ttlUnit: "session" },
        );
      world.clock.advance(minute);
    };
    const calls = await dieEverywhere(
      prepare,
      (dying) => dying.sweep(),
      async (place) => {
        expect([place, await listed()]).toEqual([place, []]);
        await process.sweep();
        expect([place, await raw()]).toEqual([place, []]);
        // An entry without a session is kept for a while: it may have been put there for one that is about to be made.
        world.clock.advance(hour);
        await process.sweep();
        expect([place, await process.sweep()]).toEqual([place, 0]);
      },
    );
    expect(calls).toBeGreaterThan(4);
  });

  it("R-AGT-33 a first append that dies anywhere leaves all or nothing, and nothing forever", async () => {
    await dieEverywhere(
      async () => {},
      (dying) =>
        dying.memories.appendMany(world.caller, agent, [said("a", { ttl: 60 }), said("b")], { ttlUnit: "session" }),
      async (place) => {
        expect([place, [[], ["a", "b"]]]).toEqual([place, expect.arrayContaining([await listed("unit")])]);
        world.clock.advance(minute);
        expect([place, await listed("unit")]).toEqual([place, []]);
        await process.sweep();
        expect([place, await raw()]).toEqual([place, []]);
        world.clock.advance(hour);
        await process.sweep();
        expect([place, await process.sweep()]).toEqual([place, 0]);
      },
    );
  });

  it("R-AGT-33 deleting one hides it at the first step, wherever the process dies", async () => {
    const prepare = async () => {
      for (let i = 0; i < 2; i += 1)
        await process.memories.appendMany(
          world.caller,
          agent,
          Array.from({ length: 20 }, (_, k) => said(`${i}.${k}`, { ttl: 60 })),
          { ttlUnit: "session" },
        );
    };
    await dieEverywhere(
      prepare,
      (dying) => dying.memories.deleteSession(world.caller, agent, "unit"),
      async (place) => {
        const left = (await listed("unit")).length;
        expect([place, left === 0 || left === 40]).toEqual([place, true]);
        await process.memories.deleteSession(world.caller, agent, "unit");
        expect([place, await raw()]).toEqual([place, []]);
      },
    );
  });
});

describe("forks", () => {
  const talk = async (): Promise<void> => {
    const messages = Array.from({ length: 20 }, (_, i) =>
      said(`${i}`, { id: `m${i}`, session_id: "from", parent_message_id: i === 0 ? null : `m${i - 1}` }),
    );
    await process.memories.appendMany(world.caller, agent, messages);
    world.clock.advance(1_000);
    await process.memories.appendMany(
      world.caller,
      agent,
      Array.from({ length: 20 }, (_, i) => said(`${20 + i}`, { session_id: "from", parent_message_id: "m3" })),
    );
  };
  const numbers = (count: number): string[] => Array.from({ length: count }, (_, i) => `${i}`);

  it("a fork is a copy in the same order, under new ids, with the parents among them", async () => {
    await talk();
    const session = await process.memories.fork(world.caller, agent, "from", { session_id: "to" });
    expect(session).toMatchObject({ session_id: "to", message_count: 40, forked_from: "from", ttl_unit: "message" });
    expect(await listed("to")).toEqual(numbers(40));
    const copies = (await process.memories.list(world.caller, agent, { session_id: "to" })).items;
    expect(copies.filter(({ id }) => id.startsWith("m1"))).toEqual([]);
    expect(copies[7]?.parent_message_id).toBe(copies[6]?.id);
    expect(copies[33]?.parent_message_id).toBe(copies[3]?.id);
    expect(copies[0]?.parent_message_id).toBeNull();
    expect(Object.keys(copies[0] ?? {}).filter((name) => name.startsWith("pinakes"))).toEqual([]);
    await append("only here", { session_id: "to" });
    expect([(await listed("to")).length, (await listed("from")).length]).toEqual([41, 40]);
    expect(
      (await process.memories.sessions(world.caller, agent)).items.map(({ session_id, forked_from }) => [
        session_id,
        forked_from,
      ]),
    ).toEqual([
      ["from", undefined],
      ["to", "from"],
    ]);
  });

  it("up to a message; a parent behind it stays what it was; repeating it changes nothing", async () => {
    await talk();
    const fork = () => process.memories.fork(world.caller, agent, "from", { session_id: "to", upTo: "m9" });
    await fork();
    await append("later", { session_id: "to" });
    expect((await fork()).message_count).toBe(11);
    expect(await listed("to")).toEqual([...numbers(10), "later"]);
    await failure(process.memories.fork(world.caller, agent, "from", { session_id: "to" }), "CONFLICT");
    await failure(process.memories.fork(world.caller, agent, "from", { session_id: "from" }), "INVALID");
    await failure(
      process.memories.fork(world.caller, agent, "from", { session_id: "new", upTo: "nobody" }),
      "NOT_FOUND",
    );
    await append("elsewhere", { session_id: "plain", id: "p1" });
    await failure(process.memories.fork(world.caller, agent, "from", { session_id: "new", upTo: "p1" }), "NOT_FOUND");
    await failure(process.memories.fork(world.caller, agent, "from", { session_id: "plain" }), "CONFLICT");
    await failure(process.memories.fork(world.caller, agent, "nothing", { session_id: "new" }), "NOT_FOUND");
    expect(await listed("plain")).toEqual(["elsewhere"]);
    await append("goes on", { session_id: "plain" });
  });

  it("a fork of a session that ends as a unit is one too, with a time of its own", async () => {
    await append("words", { ttl: 60 }, { ttlUnit: "session" });
    world.clock.advance(minute - 1);
    await process.memories.fork(world.caller, agent, "unit", { session_id: "to" });
    world.clock.advance(1);
    expect([await listed("unit"), await listed("to")]).toEqual([[], ["words"]]);
    world.clock.advance(minute);
    expect(await listed("to")).toEqual([]);
    await process.sweep();
    world.clock.advance(hour);
    await process.sweep();
    expect(await raw()).toEqual([]);
  });

  it("a fork that dies anywhere is not seen, and is completed by repeating it", async () => {
    const calls = await dieEverywhere(
      talk,
      (dying) => dying.memories.fork(world.caller, agent, "from", { session_id: "to" }),
      async (place) => {
        expect([place, [[], numbers(40)]]).toEqual([place, expect.arrayContaining([await listed("to")])]);
        const before = (await listed("to")).length;
        if (before === 0) await failure(process.memories.session(world.caller, agent, "to"), "NOT_FOUND");
        await process.memories.fork(world.caller, agent, "from", { session_id: "to" });
        expect([place, await listed("to")]).toEqual([place, numbers(40)]);
        expect([place, (await raw()).length]).toEqual([place, 81]);
      },
    );
    expect(calls).toBeGreaterThan(10);
  });

  it("a fork that nobody repeats is taken away by the sweep; until then its session takes no messages", async () => {
    let blocked = 0;
    await dieEverywhere(
      talk,
      (dying) => dying.memories.fork(world.caller, agent, "from", { session_id: "to" }),
      async (place) => {
        if ((await listed("to")).length > 0) return;
        const begun = (await raw()).some((id) => id.startsWith("~"));
        if (begun) {
          blocked += 1;
          await failure(append("too early", { session_id: "to" }), "CONFLICT");
        }
        world.clock.advance(hour);
        await process.sweep();
        expect([place, (await raw()).length]).toEqual([place, 40]);
        await append("free again", { session_id: "to" });
        expect([place, await listed("to")]).toEqual([place, ["free again"]]);
      },
    );
    expect(blocked).toBeGreaterThan(4);
  });

  it("two make the same fork at once: one copy of each message", async () => {
    await talk();
    const other = await world.process();
    await Promise.all(
      [process, other].map((each) => each.memories.fork(world.caller, agent, "from", { session_id: "to" })),
    );
    expect(await listed("to")).toEqual(numbers(40));
  });

  it("the companion of a fork goes when its messages are gone", async () => {
    await append("short", { session_id: "from", ttl: 60 });
    await process.memories.fork(world.caller, agent, "from", { session_id: "to" });
    world.clock.advance(hour);
    expect(await process.sweep()).toBe(1);
    await world.purge("agent-memories");
    expect([await raw(), await process.sweep()]).toEqual([[], 0]);
    await append("short", { session_id: "from", ttl: 7_200 });
    await process.memories.fork(world.caller, agent, "from", { session_id: "to" });
    world.clock.advance(hour);
    await process.sweep();
    expect(await listed("to")).toEqual(["short"]);
    world.clock.advance(30 * 24 * hour);
    await process.sweep();
    expect((await raw()).filter((id) => id.startsWith("~"))).toEqual([]);
  });
});
