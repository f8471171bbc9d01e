/** Entities: one of any shape for each agent. */
import { beforeAll, expect, it } from "vitest";
import { openMemoryItems } from "../../src/drivers/memory/index.ts";
import { World } from "../../src/state/memories/test-world.ts";
import type { Entities } from "../../src/state/threads/entities.ts";
import { failure } from "../../src/testing/item-store/fixture.ts";
import { forAllTests } from "../support/for-tests.ts";

let entities: Entities;
const world = forAllTests(() => World.open({ items: openMemoryItems }));
beforeAll(async () => {
  ({ entities } = await world.process());
});

it("R-AGT-45 an entity comes back as it was put, under the agent's id", async () => {
  const stored = await entities.put(world.caller, "agent-1", {
    displayName: "Ärchitect",
    skills: ["a", { b: null }],
    _etag: "mine",
  });
  const { _etag, _ts, ...document } = stored;
  expect(document).toEqual({ id: "agent-1", agentId: "agent-1", displayName: "Ärchitect", skills: ["a", { b: null }] });
  expect([_etag === "mine", _ts]).toEqual([false, Math.floor(world.clock.now() / 1_000)]);
  expect(await entities.get(world.caller, "agent-1")).toEqual(stored);
  const next = await entities.put(world.caller, "agent-1", { id: "agent-1", agentId: "agent-1", only: "this" });
  expect(await entities.get(world.caller, "agent-1")).toEqual({
    id: "agent-1",
    agentId: "agent-1",
    only: "this",
    _etag: next._etag,
    _ts: next._ts,
  });
});

it("R-AGT-52 R-AGT-54 conditions: stale, absent, present", async () => {
  await failure(entities.put(world.caller, "agent-2", {}, { must: "present" }), "PRECONDITION_FAILED");
  await failure(entities.put(world.caller, "agent-2", {}, { ifMatch: "x" }), "PRECONDITION_FAILED");
  const first = await entities.put(world.caller, "agent-2", { n: 1 }, { must: "absent" });
  const refused = await failure(
    entities.put(world.caller, "agent-2", { n: 2 }, { must: "absent" }),
    "PRECONDITION_FAILED",
  );
  expect(refused.context.currentEtag).toBe(first._etag);
  const second = await entities.put(world.caller, "agent-2", { n: 2 }, { must: "present" });
  const stale = await failure(
    entities.put(world.caller, "agent-2", { n: 3 }, { ifMatch: first._etag }),
    "PRECONDITION_FAILED",
  );
  expect(stale.context.currentEtag).toBe(second._etag);
  await failure(entities.delete(world.caller, "agent-2", { ifMatch: first._etag }), "PRECONDITION_FAILED");
  expect(await entities.get(world.caller, "agent-2")).toEqual(second);
  await entities.delete(world.caller, "agent-2");
  await failure(entities.delete(world.caller, "agent-2"), "NOT_FOUND");
});

it("R-AGT-49 an entity with a ttl of its own is gone at once when that is over", async () => {
  await entities.put(world.caller, "agent-3", { ttl: 5 });
  world.clock.advance(4_999);
  expect((await entities.get(world.caller, "agent-3"))["ttl"]).toBe(5);
  world.clock.advance(1);
  await failure(entities.get(world.caller, "agent-3"), "NOT_FOUND");
  await entities.put(world.caller, "agent-3", {}, { must: "absent" });
});

it("what does not fit is refused; other workspaces see nothing", async () => {
  for (const entity of [
    "x",
    null,
    [],
    { id: "other" },
    { agentId: "other" },
    { ttl: 0 },
    { ttl: null },
    { n: Number.NaN },
  ])
    await failure(entities.put(world.caller, "agent-4", entity as never), "INVALID");
  for (const id of ["", "~x", "a/b", 5 as never]) await failure(entities.put(world.caller, id, {}), "INVALID");
  await failure(entities.put(world.caller, "agent-4", { workspace_id: "acme2" }), "FORBIDDEN");
  await failure(entities.get(world.caller, "agent-4"), "NOT_FOUND");
  await entities.put(world.caller, "agent-4", { secret: true });
  const theirs = await failure(entities.get(world.stranger, "agent-4"), "NOT_FOUND");
  const none = await failure(entities.get(world.stranger, "agent-5"), "NOT_FOUND");
  expect(theirs.detail.replace("agent-4", "?")).toBe(none.detail.replace("agent-5", "?"));
  await failure(entities.delete(world.stranger, "agent-4"), "NOT_FOUND");
  await entities.put(world.stranger, "agent-4", { theirs: true });
  expect((await entities.get(world.caller, "agent-4"))["secret"]).toBe(true);
  const nobody = {} as never;
  for (const call of [entities.get(nobody, "a"), entities.put(nobody, "a", {}), entities.delete(nobody, "a")])
    await failure(call, "UNAUTHENTICATED");
});
