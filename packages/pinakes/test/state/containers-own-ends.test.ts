/** The end of own containers, and of what is in them: deletes, processes that end meanwhile, times to live. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ContainerSpec } from "@pinakes/client";
import { limits } from "../../src/domain/limits.ts";
import { openSqliteItems } from "../../src/drivers/sqlite/index.ts";
import { careMs } from "../../src/state/containers/maintenance-work.ts";
import { failure, ManualClock } from "../../src/testing/item-store/fixture.ts";
import { nearEngines, openNearEngine } from "./containers-engines.ts";
import { openContainers } from "./containers-fixture.ts";
import { beforeEachCall } from "./support/before-each-call.ts";
import { forAllTests } from "../support/for-tests.ts";

describe.each(nearEngines)("the end of own containers on %s", (engine) => {
  const opened = forAllTests(() => openNearEngine(engine));
  const test = forAllTests(() => openContainers(opened.items, opened.clock));

  let count = 0;
  const newName = (): string => `own${(count += 1)}`;
  const spec: ContainerSpec = { partition_key: "/p" };

  it("deleted is gone at once, made again it is empty at once, and everything of the old one is removed in the background", async () => {
    const { containers, user, admin, items, clock, sweep } = test;
    const name = newName();
    await containers.put(user, name, { ...spec, default_ttl: 10 });
    await containers.bulk(
      user,
      name,
      Array.from({ length: 300 }, (_, i) => ({ op: "create", document: { id: `i${i}`, p: `p${i % 9}` } }) as const),
    );
    const old = (
      await test.parts.items.query(user.scope, "state-settings", {
        equals: { topic: "containers" },
        filter: { id: name },
      })
    ).items[0];
    expect(old?.document).toMatchObject({ deleted: false });
    const physical = await physicalOf(name);
    clock.advance(11_000);
    await containers.delete(admin, name);
    await failure(containers.get(user, name), "NOT_FOUND");
    await failure(containers.delete(admin, name), "NOT_FOUND");
    expect((await containers.list(user)).items.map((container) => container.name)).not.toContain(name);
    await containers.put(user, name, spec);
    expect((await containers.query(user, name, { query: "SELECT * FROM c" })).items).toEqual([]);
    await containers.create(user, name, { id: "new", p: "p1" });
    await sweep();
    for (let p = 0; p < 9; p += 1)
      expect((await items.query(user.scope, physical, { equals: { p: `p${p}` } })).items).toEqual([]);
    expect(await items.count(user.scope, physical, { index: "all", equals: {} })).toBe(0);
    expect((await containers.query(user, name, { query: "SELECT VALUE c.id FROM c" })).items).toEqual(["new"]);
    // A late writer, of a process that stood still: found by a later look.
    await items.write(user.scope, physical, ["late"], { op: "create", document: { id: "late", p: "late" } });
    clock.advance(careMs);
    await sweep();
    expect(await items.read(user.scope, physical, { partition: ["late"], id: "late" })).toBeUndefined();
    for (let day = 0; day < 20; day += 1) {
      clock.advance(86_400_000);
      await sweep();
    }
    expect(await workOf(physical)).toBe(0);
    expect((await items.changes(user.scope, physical)).changes).toEqual([]);
    await containers.delete(admin, name);
    for (let day = 0; day < 20; day += 1) {
      await sweep();
      clock.advance(86_400_000);
    }
    expect(await items.read(user.scope, "state-settings", { partition: ["containers"], id: name })).toBeUndefined();
  });

  async function physicalOf(name: string): Promise<string> {
    const record = await opened.items.read(test.user.scope, "state-settings", { partition: ["containers"], id: name });
    for await (const { data, key } of test.parts.work.due(Number.MAX_SAFE_INTEGER))
      if (data?.["incarnation"] === record?.document["incarnation"]) return key;
    throw new Error(`no work for ${name}`);
  }
  async function workOf(physical: string): Promise<number> {
    let found = 0;
    for await (const entry of test.parts.work.due(Number.MAX_SAFE_INTEGER)) if (entry.key === physical) found += 1;
    return found;
  }

  it("a process may end at any call of a create or a delete: what follows is whole, and nothing is left behind", async () => {
    const { containers, user, admin, items, clock, sweep } = test;
    for (let calls = 0, ended = true; ended; calls += 1) {
      const name = newName();
      let left = calls;
      const dying = beforeEachCall(items, async () => {
        if ((left -= 1) < 0) throw new Error("the process ended");
      });
      left = Infinity;
      const process = await test.another(dying);
      left = calls;
      const made = await process.containers.put(user, name, spec).then(
        () => true,
        () => false,
      );
      ended = !made;
      left = Infinity;
      // Whoever comes next makes it, or finds it made.
      expect(await containers.put(user, name, spec)).toMatchObject({ name });
      await containers.create(user, name, { id: "a", p: "x" });
      const physical = await physicalOf(name);
      left = calls;
      const gone = await process.containers.delete(admin, name).then(
        () => true,
        () => false,
      );
      ended = ended || !gone;
      const there = await containers.get(user, name).then(
        () => true,
        () => false,
      );
      if (there) await containers.delete(admin, name);
      clock.advance(careMs);
      await sweep();
      expect(await items.read(user.scope, physical, { partition: ["x"], id: "a" })).toBeUndefined();
      expect(calls).toBeLessThan(50);
    }
    const counter = await items.read(user.scope, "state-settings", { partition: ["containers"], id: "~count" });
    const own = (await containers.list(user)).items.filter(({ kind }) => kind === "own");
    expect(counter?.document["count"]).toBe(own.length);
  });

  it("an entry of work whose container was never made goes away", async () => {
    const { parts, clock, sweep } = test;
    const data = { name: "never", incarnation: "i", partition_key: ["p"], unique_keys: {} };
    await parts.work.put({ kind: "container", tenant: "acme", key: "own-never", due_at: clock.now(), data });
    await sweep();
    expect(await workOf("own-never")).toBe(0);
  });
});

describe("time to live of own containers after a restart", () => {
  it("R-AGT-50 expired items are purged, and their end is told, though nobody touches the container", async () => {
    const dir = await mkdtemp(join(tmpdir(), "pinakes-own-"));
    const clock = new ManualClock();
    try {
      const before = await openSqliteItems({ dir, clock });
      const first = await openContainers(before, clock);
      await first.containers.put(first.user, "notes", { partition_key: "/p", default_ttl: 60 });
      await first.containers.bulk(
        first.user,
        "notes",
        Array.from({ length: 2_500 }, (_, i) => ({ op: "create", document: { id: `i${i}`, p: `p${i % 5}` } }) as const),
      );
      let physical = "";
      for await (const entry of first.parts.work.due(Number.MAX_SAFE_INTEGER)) physical = entry.key;
      await before.close();
      clock.advance(careMs);
      await using after = await openSqliteItems({ dir, clock });
      const second = await openContainers(after, clock);
      expect(await second.sweep()).toBe(1);
      // Told by the feed, which a purge writes: deletes that are marked.
      const { items, more } = await second.containers.changes(second.user, "notes", {
        mode: "all",
        limit: limits.pageItemsMax,
      });
      expect([items.length, more]).toEqual([limits.pageItemsMax, true]);
      let ended = 0;
      let cursor: string | undefined;
      for (let rest = true; rest;) {
        const page = await second.containers.changes(second.user, "notes", {
          mode: "all",
          limit: limits.pageItemsMax,
          cursor,
        });
        ended += page.items.filter(
          ({ kind, time_to_live_expired }) => kind === "delete" && time_to_live_expired === true,
        ).length;
        ({ cursor, more: rest } = page);
      }
      expect(ended).toBe(2_500);
      expect(await after.purgeExpired(second.parts.system, physical)).toEqual({ purged: 0, backlog: 0 });
      expect(await second.sweep()).toBe(0);
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  });
});
