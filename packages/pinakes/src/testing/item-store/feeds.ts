/** The change feed. */
import { expect } from "vitest";
import { limits } from "../../domain/limits.ts";
import { failure, type Suite } from "./fixture.ts";

export const feeds: Suite = (fixture) => {
  fixture.test(
    "the feed has every commit in order within a partition, with deletes, and documents that are still current",
    async () => {
      const c = await fixture.container({ feed: true });
      const first = await c.write({ op: "create", document: { id: "x", p: "a", n: 1 } });
      const second = await c.write({ op: "replace", document: { id: "x", p: "a", n: 2 } });
      const other = await c.write({ op: "create", document: { id: "y", p: "a" } });
      await c.write({ op: "delete", id: "y" });
      const { changes } = await c.feed();
      expect(changes.map(({ kind, id }) => `${kind} ${id}`)).toEqual(["put x", "put x", "put y", "delete y"]);
      expect(changes.slice(0, 3).map(({ etag }) => etag)).toEqual([first.etag, second.etag, other.etag]);
      expect(changes.map(({ document }) => document)).toEqual([
        undefined,
        { id: "x", p: "a", n: 2 },
        undefined,
        undefined,
      ]);
      expect(changes[0]).toMatchObject({ partition: ["a"], at: fixture.clock.now() });
    },
  );

  fixture.test(
    "the feed resumes from any cursor, in pages of any size, and an idle reader's cursor stays valid",
    async () => {
      const c = await fixture.container({ feed: true });
      for (let i = 0; i < 12; i += 1) await c.put({ id: `i${i}`, p: `p${i % 3}` });
      const whole = (await c.feed()).changes.map(({ etag }) => etag);
      expect(whole).toHaveLength(12);
      for (const limit of [1, 5]) {
        const paged = (await c.feed(undefined, limit)).changes.map(({ etag }) => etag);
        expect(paged.toSorted()).toEqual(whole.toSorted());
      }
      const { cursor } = await c.feed();
      const idle = await c.feed(cursor);
      expect(idle.changes).toEqual([]);
      await c.put({ id: "late" });
      expect((await c.feed(idle.cursor)).changes.map(({ id }) => id)).toEqual(["late"]);
      expect((await c.feed(cursor)).changes.map(({ id }) => id)).toEqual(["late"]);
    },
  );

  fixture.test('from "now" returns only later changes', async () => {
    const c = await fixture.container({ feed: true });
    await c.put({ id: "before" });
    const { changes, cursor } = await c.store.changes(c.scope, c.name, { from: "now" });
    expect(changes).toEqual([]);
    await c.put({ id: "after" }, { id: "after", n: 2 });
    expect((await c.feed(cursor)).changes.map(({ id }) => id)).toEqual(["after", "after"]);
  });

  fixture.test(
    "concurrent writes: nothing is skipped or reordered, and a reader that follows the feed ends with the state",
    async () => {
      const c = await fixture.container({ feed: true });
      const writers = Array.from({ length: 8 }, async (_, w) => {
        for (let i = 0; i < 12; i += 1) {
          const p = `p${(w + i) % 3}`;
          if (i % 4 === 3) await c.write({ op: "delete", id: `w${w}-${i - 3}` }, [`p${(w + i - 3) % 3}`]);
          else
            await c.batch(
              [
                { op: "upsert", document: { id: `w${w}-${i}`, p, i } },
                { op: "upsert", document: { id: "shared", p, by: `${w}-${i}` } },
              ],
              [p],
            );
        }
      });
      let running = true;
      const state = new Map<string, string>();
      const seen: string[] = [];
      const follow = (async () => {
        let cursor: string | undefined;
        for (;;) {
          const last = !running;
          const page = await c.feed(cursor, 7);
          cursor = page.cursor;
          for (const { kind, id, partition, etag } of page.changes) {
            const key = `${String(partition[0])}/${id}`;
            seen.push(etag);
            if (kind === "put") state.set(key, etag);
            else state.delete(key);
          }
          if (last) return;
        }
      })();
      await Promise.all(writers);
      running = false;
      await follow;
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen).toHaveLength(8 * (9 * 2 + 3));
      const actual = new Map<string, string>();
      for (const p of ["p0", "p1", "p2"])
        for (const { id, etag } of (await c.query({ equals: { p }, limit: 1000 })).items)
          actual.set(`${p}/${id}`, etag);
      expect([...state].toSorted()).toEqual([...actual].toSorted());
    },
  );

  fixture.test("each tenant has its own feed, and a cursor of another tenant or container is rejected", async () => {
    const c = await fixture.container({ feed: true });
    const d = await fixture.container({ feed: true });
    const theirs = c.as(fixture.otherScope);
    await c.put({ id: "mine" });
    await theirs.put({ id: "theirs" });
    expect((await c.feed()).changes.map(({ id }) => id)).toEqual(["mine"]);
    const { changes, cursor } = await theirs.feed();
    expect(changes.map(({ id }) => id)).toEqual(["theirs"]);
    await failure(c.feed(cursor), "INVALID");
    await failure(d.as(fixture.otherScope).feed(cursor), "INVALID");
    await failure(c.feed(`${cursor.slice(0, -2)}AA`), "INVALID");
  });

  fixture.test(
    "changes older than the retention are removed, and a cursor from before is rejected rather than silently skipping the gap",
    async () => {
      const c = await fixture.container({ feed: true });
      await c.put({ id: "1" });
      const { cursor } = await c.feed();
      await c.put({ id: "2" }, { id: "3", p: "b" });
      fixture.clock.advance(limits.feedRetentionMs + 1);
      await c.put({ id: "4" });
      const current = (await c.feed()).cursor;
      await c.store.purgeExpired(fixture.system, c.name);
      await failure(c.feed(cursor), "PRECONDITION_FAILED");
      expect((await c.feed()).changes.map(({ id }) => id)).toEqual(["4"]);
      expect((await c.feed(current)).changes).toEqual([]);
      expect(await c.count()).toBe(3);
    },
  );

  fixture.test(
    "R-AGT-09 a feed cursor does not reveal whether others wrote: it never repeats, and its length is constant",
    async () => {
      const c = await fixture.container({ feed: true });
      const first = (await c.feed()).cursor;
      const again = (await c.feed()).cursor;
      expect(again).not.toBe(first);
      await c.put(...Array.from({ length: 20 }, (_, i) => ({ id: String(i) })));
      const { cursor } = await c.feed();
      expect(cursor).toHaveLength(first.length);
      expect((await c.feed(again)).changes).toHaveLength(20);
    },
  );

  fixture.test("a container without a feed says so", async () => {
    const c = await fixture.container();
    await failure(c.feed(), "NOT_SUPPORTED");
  });
};
