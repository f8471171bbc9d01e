/** Erasure: every row of a tenant is found whatever its time to live, and nothing remains of what was removed. */
import { expect } from "vitest";
import type { ItemKey } from "../../ports/item-store.ts";
import { failure, type Handle, type Suite } from "./fixture.ts";

export const erasure: Suite = (fixture) => {
  const { clock } = fixture;
  const system = () => fixture.system.forTenant(fixture.scope.tenant);

  async function walkAll(c: Handle, limit = 500) {
    const rows = [];
    for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
      const page = await c.store.erasure.walk(system(), c.name, { limit, cursor });
      rows.push(...page.rows);
      ({ cursor } = page);
    }
    return rows;
  }

  fixture.test("R-AGT-64 a walk finds every row of the tenant, expired ones too, and no other tenant's", async () => {
    const c = await fixture.container({ ttl: 10 });
    const long = "p".repeat(900);
    for (let i = 0; i < 7; i += 1) await c.put({ id: `x${i}`, p: i % 2 === 0 ? "a" : "b" });
    await c.put({ id: "long", p: long });
    await c.as(fixture.otherScope).put({ id: "foreign" });
    clock.advance(10_000);
    await c.put({ id: "fresh" });
    for (const limit of [2, 500]) {
      const rows = await walkAll(c, limit);
      expect(rows.map(({ id }) => id).toSorted()).toEqual(
        ["fresh", "long", ...Array.from({ length: 7 }, (_, i) => `x${i}`)].toSorted(),
      );
      expect(rows.filter(({ expired }) => !expired).map(({ id }) => id)).toEqual(["fresh"]);
      expect(rows.find(({ id }) => id === "long")?.partition).toEqual([long]);
    }
    expect((await c.store.erasure.containers()).some(({ name }) => name === c.name)).toBe(true);
  });

  fixture.test("R-AGT-64 removing and forgetting leave no row and no entry of the feed, and others' stay", async () => {
    const c = await fixture.container({ ttl: 10, feed: true });
    await c.put({ id: "gone", n: 1 }, { id: "gone", n: 2 }, { id: "stays" }, { id: "other", p: "b" });
    await c.batch([
      { op: "upsert", document: { id: "both", p: "a" } },
      { op: "upsert", document: { id: "stays", p: "a", n: 2 } },
    ]);
    const { cursor } = await c.feed();
    await c.as(fixture.otherScope).put({ id: "gone" });
    clock.advance(10_000);
    const keys: ItemKey[] = ["gone", "both", "never"].map((id) => ({ partition: ["a"], id }));
    expect(await c.store.erasure.remove(system(), c.name, keys)).toBe(2);
    expect(await c.store.erasure.remove(system(), c.name, keys)).toBe(0);
    expect(await c.store.erasure.forget(system(), c.name, keys)).toBeGreaterThanOrEqual(5);
    expect(await c.store.erasure.forget(system(), c.name, keys)).toBe(0);
    expect((await walkAll(c)).map(({ id }) => id).toSorted()).toEqual(["other", "stays"]);
    expect((await c.feed()).changes.map(({ id }) => id).toSorted()).toEqual(["other", "stays", "stays"]);
    await c.put({ id: "later" });
    expect((await c.feed(cursor)).changes.map(({ id }) => id)).toEqual(["later"]);
    expect((await c.as(fixture.otherScope).feed()).changes).toHaveLength(1);
    expect((await c.store.erasure.scrub(fixture.system)).outcome).toMatch(/rewritten|managed/);
    expect(await c.read("later")).toBeDefined();
  });

  fixture.test(
    "R-AGT-67 a caller's own scope may neither walk nor erase, and a missing container is NOT_FOUND",
    async () => {
      const c = await fixture.container();
      await c.put({ id: "x" });
      const { erasure: port } = c.store;
      const keys = [{ partition: ["a"], id: "x" }];
      await failure(port.walk(fixture.scope, c.name), "FORBIDDEN");
      await failure(port.remove(fixture.scope, c.name, keys), "FORBIDDEN");
      await failure(port.forget(fixture.scope, c.name, keys), "FORBIDDEN");
      await failure(port.scrub(fixture.scope as never), "FORBIDDEN");
      await failure(port.walk(undefined as never, c.name), "UNAUTHENTICATED");
      await failure(port.walk(system(), "no-such-container"), "NOT_FOUND");
      expect(await c.read("x")).toBeDefined();
    },
  );
};
