/** Time to live: exact, at once, and bounded in its purge. */
import { expect } from "vitest";
import type { JsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import { failure, type Suite } from "./fixture.ts";

export const expiry: Suite = (fixture) => {
  const { clock } = fixture;

  fixture.test("R-AGT-46 the nine cases of container default and item ttl", async () => {
    const cases: [number | null, number | undefined, boolean][] = [
      [null, undefined, false],
      [null, -1, false],
      [null, 5, false],
      [-1, undefined, false],
      [-1, -1, false],
      [-1, 5, true],
      [10, undefined, true],
      [10, -1, false],
      [10, 5, true],
    ];
    for (const [containerTtl, ttl, expires] of cases) {
      const c = await fixture.container({ ttl: containerTtl, indexes: { all: { partition: [], sort: ["id"] } } });
      await c.put({ id: "x", ...(ttl === undefined ? {} : { ttl }) });
      const life = (ttl ?? containerTtl ?? 0) * 1000;
      clock.advance(expires ? life - 1 : 100_000_000_000);
      const label = `container ${containerTtl}, item ${ttl}`;
      expect(await c.read("x"), label).toBeDefined();
      if (!expires) continue;
      clock.advance(1);
      expect(await c.read("x"), label).toBeUndefined();
      expect(await c.ids({ index: "all", equals: {} }), label).toEqual([]);
    }
  });

  fixture.test("R-AGT-47 time counts from the last change, and any change restarts it", async () => {
    const c = await fixture.container({ ttl: 10 });
    await c.put({ id: "x", n: 0 });
    for (let i = 0; i < 3; i += 1) {
      clock.advance(9_000);
      await c.write({ op: "patch", id: "x", patch: [{ op: "incr", path: "/n", value: 1 }] });
    }
    clock.advance(9_999);
    expect(await c.read("x")).toMatchObject({ n: 3 });
    clock.advance(1);
    expect(await c.read("x")).toBeUndefined();
  });

  fixture.test(
    "R-AGT-48 ttl 0, null, other negatives, fractions, strings and 2^31 are rejected; the bounds are accepted",
    async () => {
      const c = await fixture.container({ ttl: -1 });
      for (const ttl of [0, null, -2, 1.5, "60", 2_147_483_648, true, [1]]) {
        const error = await failure(c.write({ op: "create", document: { id: "x", p: "a", ttl } }), "INVALID");
        expect(error.detail).toContain("ttl");
        await failure(
          fixture.store.openContainer({
            name: "bad-ttl",
            partitionKey: ["p"],
            ttl: (ttl === null ? 0 : ttl) as number,
          }),
          "INVALID",
        );
      }
      expect(await c.read("x")).toBeUndefined();
      for (const ttl of [-1, 1, 2_147_483_647]) await c.put({ id: `x${ttl}`, ttl });
      expect(await c.count()).toBe(3);
    },
  );

  fixture.test(
    "R-AGT-49 an expired item disappears at once from reads, queries, counts, batches, conditions and unique keys",
    async () => {
      const c = await fixture.container({
        ttl: 10,
        uniqueKeys: { name: ["name"] },
        indexes: { byName: { partition: ["p"], sort: ["name"] } },
      });
      await c.put({ id: "x", name: "n" }, { id: "stays", name: "m", ttl: -1 });
      const { etag } = (await c.store.read(c.scope, c.name, { partition: ["a"], id: "x" })) as { etag: string };
      clock.advance(10_000);
      expect(await c.read("x")).toBeUndefined();
      expect(await c.store.readRaw(c.scope, c.name, { partition: ["a"], id: "x" })).toBeUndefined();
      expect(await c.store.readMany(c.scope, c.name, [{ partition: ["a"], id: "x" }])).toEqual([undefined]);
      expect(await c.ids()).toEqual(["stays"]);
      expect(await c.ids({ index: "byName" })).toEqual(["stays"]);
      expect(await c.count()).toBe(1);
      expect(await c.count({ index: "byName" })).toBe(1);
      await failure(c.write({ op: "replace", document: { id: "x", p: "a", name: "n" } }), "NOT_FOUND");
      await failure(c.write({ op: "patch", id: "x", patch: [{ op: "set", path: "/a", value: 1 }] }), "NOT_FOUND");
      await failure(c.write({ op: "delete", id: "x" }), "NOT_FOUND");
      await failure(
        c.write({ op: "upsert", document: { id: "x", p: "a", name: "n" }, ifMatch: etag }),
        "PRECONDITION_FAILED",
      );
      await c.batch([{ op: "check", id: "x", exists: false }]);
      await c.write({ op: "create", document: { id: "heir", p: "a", name: "n" } });
      await c.write({ op: "create", document: { id: "x", p: "a", name: "again" } });
      expect((await c.ids()).toSorted()).toEqual(["heir", "stays", "x"]);
    },
  );

  fixture.test(
    "R-AGT-50 the purge is bounded, returns its backlog, and puts deletes marked expired into the feed once",
    async () => {
      const c = await fixture.container({ ttl: 10, feed: true });
      await c.put(...Array.from({ length: 25 }, (_, i): JsonObject => ({ id: `i${i}`, p: i % 2 ? "a" : "b" })), {
        id: "stays",
        ttl: -1,
      });
      const other = c.as(fixture.otherScope);
      await other.put({ id: "theirs" });
      const { cursor } = await c.feed();
      expect(await c.store.purgeExpired(fixture.system, c.name, { limit: 10 })).toEqual({ purged: 0, backlog: 0 });
      clock.advance(10_000);
      expect(await c.store.purgeExpired(fixture.system, c.name, { limit: 10 })).toEqual({ purged: 10, backlog: 16 });
      expect(await c.store.purgeExpired(fixture.system, c.name, { limit: 1000 })).toEqual({ purged: 16, backlog: 0 });
      expect(await c.store.purgeExpired(fixture.system, c.name)).toEqual({ purged: 0, backlog: 0 });
      const { changes } = await c.feed(cursor);
      expect(changes).toHaveLength(25);
      expect(changes.every(({ kind, expired }) => kind === "delete" && expired === true)).toBe(true);
      expect(new Set(changes.map(({ id, partition }) => `${String(partition[0])}/${id}`)).size).toBe(25);
      expect(await c.read("stays")).toBeDefined();
      await failure(c.store.purgeExpired(fixture.scope as never, c.name), "FORBIDDEN");
    },
  );

  fixture.test("the feed reports the expiry of an item before what replaces it", async () => {
    const c = await fixture.container({ ttl: 10, feed: true, uniqueKeys: { name: ["name"] } });
    await c.put({ id: "x", name: "n" }, { id: "y", name: "m" });
    clock.advance(10_000);
    const { cursor } = await c.feed();
    await c.write({ op: "create", document: { id: "x", p: "a", name: "m" } });
    const { changes } = await c.feed(cursor);
    expect(changes.map(({ kind, id, expired }) => `${kind} ${id}${expired ? " expired" : ""}`).toSorted()).toEqual([
      "delete x expired",
      "delete y expired",
      "put x",
    ]);
    expect(changes.at(-1)).toMatchObject({ kind: "put", id: "x" });
    // The etag of an expiry is unlike any other, so that a reader may deduplicate by etag.
    for (const { etag, expired } of changes) expect(/^[\w-]+$/.test(etag)).toBe(expired !== true);
    clock.advance(1);
    expect(await c.store.purgeExpired(fixture.system, c.name)).toEqual({ purged: 0, backlog: 0 });
  });

  fixture.test("R-AGT-51 a changed default applies to existing items, and their own ttl stays", async () => {
    const c = await fixture.container({ ttl: 1_000 });
    await c.put({ id: "default" }, { id: "own", ttl: 500 }, { id: "never", ttl: -1 });
    clock.advance(100_000);
    await c.store.openContainer({ ...c.definition, ttl: 50 });
    expect(await c.ids()).toEqual(["never", "own"]);
    await c.store.openContainer({ ...c.definition, ttl: null });
    expect(await c.ids()).toEqual(["default", "never", "own"]);
    clock.advance(1_000_000_000);
    expect(await c.ids()).toEqual(["default", "never", "own"]);
    await c.store.openContainer({ ...c.definition, ttl: -1 });
    expect(await c.ids()).toEqual(["default", "never"]);
    await c.store.openContainer({ ...c.definition, ttl: 50 });
    expect(await c.ids()).toEqual(["never"]);
    expect(await c.store.purgeExpired(fixture.system, c.name)).toEqual({ purged: 2, backlog: 0 });
  });

  fixture.test(
    "R-AGT-51 a tenant's own default applies to its existing items alone, and their own ttl stays",
    async () => {
      const c = await fixture.container({
        ttl: 1_000,
        uniqueKeys: { name: ["name"] },
        indexes: { all: { partition: [], sort: ["n"] } },
      });
      const other = c.as(fixture.otherScope);
      const all = { index: "all", equals: {} };
      const mine = [
        { id: "default", n: 1, name: "x" },
        { id: "own", n: 2, ttl: 500 },
        { id: "never", n: 3, ttl: -1 },
      ];
      await c.put(...mine);
      await other.put({ id: "default", n: 1 });
      clock.advance(100_000);
      await c.store.setDefaultTtl(fixture.scope, c.name, 50);
      const ttlOf = (scope: Scope) => c.store.defaultTtl(scope, c.name);
      expect(ttlOf(fixture.scope)).toEqual({ seconds: 50, changes: 1 });
      expect(ttlOf(other.scope)).toEqual({ seconds: 1_000, changes: 0 });
      expect(await c.ids()).toEqual(["never", "own"]);
      expect(await c.ids(all)).toEqual(["own", "never"]);
      expect(await c.read("default")).toBeUndefined();
      expect([await c.count(), await c.count(all)]).toEqual([2, 2]);
      expect(await other.ids(all)).toEqual(["default"]);
      // Off: nothing of this tenant expires, whatever its own ttl says; then on again.
      await c.store.setDefaultTtl(fixture.scope, c.name, null);
      expect(await c.ids()).toEqual(["default", "never", "own"]);
      clock.advance(700_000);
      expect(await c.store.purgeExpired(fixture.system, c.name)).toEqual({ purged: 0, backlog: 0 });
      expect(await c.ids()).toEqual(["default", "never", "own"]);
      // Longer than the container's: the sweep of the container leaves it alone. Another process that declares it changes nothing.
      await c.store.setDefaultTtl(fixture.scope, c.name, 10_000);
      await c.store.openContainer(c.definition);
      clock.advance(300_000);
      expect(await other.ids(all)).toEqual([]);
      expect(await c.ids()).toEqual(["default", "never"]);
      expect(await c.store.purgeExpired(fixture.system, c.name)).toEqual({ purged: 2, backlog: 0 });
      expect(await c.ids()).toEqual(["default", "never"]);
      // Shorter: gone from unique keys and creates at once, and purged.
      await c.store.setDefaultTtl(fixture.scope, c.name, 60);
      await c.write({ op: "create", document: { id: "second", p: "a", n: 4, name: "x" } });
      clock.advance(60_000);
      await c.write({ op: "create", document: { id: "second", p: "a", n: 5, name: "x" } });
      expect(await c.ids(all)).toEqual(["never", "second"]);
      clock.advance(60_000);
      expect((await c.store.purgeExpired(fixture.system, c.name, { limit: 1 })).purged).toBe(1);
      expect(await c.store.purgeExpired(fixture.system, c.name)).toEqual({ purged: 0, backlog: 0 });
      // The same again is no change.
      await c.store.setDefaultTtl(fixture.scope, c.name, 60);
      await c.store.openContainer({ ...c.definition, ttl: 5 });
      expect([ttlOf(fixture.scope), ttlOf(other.scope).seconds]).toEqual([{ seconds: 60, changes: 4 }, 5]);
      for (const bad of [0, -2, 1.5, 2_147_483_648])
        await failure(c.store.setDefaultTtl(fixture.scope, c.name, bad), "INVALID");
      const off = await fixture.container({ ttl: null });
      await failure(off.store.setDefaultTtl(fixture.scope, off.name, 5), "NOT_SUPPORTED");
    },
  );
};
