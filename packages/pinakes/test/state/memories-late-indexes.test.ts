/** DynamoDB with indexes that are late: what must be complete is, and what this process wrote is waited for. */
import { expect, it } from "vitest";
import { startLagProxy } from "../../src/drivers/dynamodb/lag-proxy.ts";
import { TestStores } from "../../src/drivers/dynamodb/test-stores.ts";
import { World } from "../../src/state/memories/test-world.ts";
import { failure } from "../../src/testing/item-store/fixture.ts";
import { forAllTests } from "../support/for-tests.ts";

const proxy = forAllTests(() => startLagProxy({ lagMs: 0 }));

const said = (content: string, session_id = "s1") => ({
  agent_id: "a1",
  session_id,
  content,
  message_type: "user" as const,
});

it("R-AGT-33 R-AGT-45 deletes, forks, expiries and threads see everything though no index does", async () => {
  await using world = await World.open({
    items: ({ clock }) => new TestStores(() => proxy.endpoint).open({ clock, indexWaitMsMax: 100 }),
  });
  const writer = await world.process();
  // Another process, which does not know what the first one wrote.
  const { memories, threads } = await world.process();
  proxy.lag(3_600_000);
  await writer.memories.append(world.caller, said("one"));
  await writer.memories.append(world.caller, { ...said("two"), id: "m2" });
  await failure(memories.append(world.caller, said("x"), { ttlUnit: "session" }), "CONFLICT");
  expect((await memories.list(world.caller, "a1", { session_id: "s1" })).items).toEqual([]);
  // Who wrote it is told to try again, rather than shown a context without it.
  await failure(
    writer.memories.context(world.caller, { agent_id: "a1", session_id: "s1", maxTokens: 100 }),
    "UNAVAILABLE",
  );
  await writer.threads.appendMany(world.caller, "t1", [{ n: 1 }, { n: 2 }]);
  await writer.threads.append(world.caller, "t1", { n: 3 });
  expect((await threads.list(world.caller, "t1", { order: "desc" })).items.map((item) => item["n"])).toEqual([3, 2, 1]);
  expect(await threads.clear(world.caller, "t1")).toEqual({ deleted: 3 });
  await writer.memories.append(world.caller, { ...said("unit", "u"), ttl: 60 }, { ttlUnit: "session" });
  await memories.deleteSession(world.caller, "a1", "u");
  const raw = async () =>
    (await world.items.query(world.caller.scope, "agent-memories", { equals: { agent_id: "a1" } })).items.map(
      ({ document }) => document["content"],
    );
  expect((await raw()).toSorted()).toEqual(["one", "two"]);
  expect(await memories.deleteSession(world.caller, "a1", "s1")).toEqual({ deleted: 2 });
  expect(await raw()).toEqual([]);
});

it("a context of the process that wrote shows what it wrote, as soon as the index does", async () => {
  await using world = await World.open({ items: ({ clock }) => new TestStores(() => proxy.endpoint).open({ clock }) });
  const { memories } = await world.process();
  proxy.lag(100);
  for (let i = 0; i < 5; i += 1) {
    await memories.append(world.caller, { ...said(`${i}`), agent_id: "a2" });
    const { messages } = await memories.context(world.caller, { agent_id: "a2", session_id: "s1", maxTokens: 1 });
    expect(messages.map(({ content }) => content)).toEqual([`${i}`]);
  }
});
