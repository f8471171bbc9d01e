/** Queries by partition and by index: order, ranges, filters, counts, cursors. */
import { expect } from "vitest";
import type { JsonObject } from "../../domain/json.ts";
import type { Query } from "../../ports/item-store.ts";
import { failure, type Suite } from "./fixture.ts";

export const queries: Suite = (fixture) => {
  fixture.test("a partition is read in the byte order of its ids, both ways, by range and prefix", async () => {
    const c = await fixture.container();
    const ids = ["a", "B", "a:1", "a:10", "a:2", "z", "\u{1f600}", "\uffee", "é", "~"];
    await c.put(...ids.map((id) => ({ id })), { id: "elsewhere", p: "b" });
    const sorted = ids.toSorted((x, y) => Buffer.compare(Buffer.from(x), Buffer.from(y)));
    expect(await c.ids()).toEqual(sorted);
    expect(await c.ids({ limit: 3 })).toEqual(sorted);
    expect(await c.ids({ order: "desc", limit: 4 })).toEqual(sorted.toReversed());
    expect(await c.ids({ range: { prefix: "a:" } })).toEqual(["a:1", "a:10", "a:2"]);
    expect(await c.ids({ range: { gt: "a:1", lte: "z" }, limit: 1 })).toEqual(["a:10", "a:2", "z"]);
    expect(await c.ids({ range: { gte: "a:1", lt: "a:2" }, order: "desc", limit: 1 })).toEqual(["a:10", "a:1"]);
    expect(await c.count({ range: { prefix: "a:" } })).toBe(3);
    expect(await c.count()).toBe(ids.length);
  });

  fixture.test("R-AGT-60 an index gives its order with ties by id, both ways, page by page", async () => {
    const c = await fixture.container({ indexes: { byRank: { partition: ["team"], sort: ["rank", "name"] } } });
    const documents = Array.from({ length: 40 }, (_, i): JsonObject => ({
      id: `i${String(i).padStart(2, "0")}`,
      p: `p${i % 7}`,
      team: i % 3 ? "red" : "blue",
      rank: i % 4,
      name: `n${i % 5}`,
    }));
    await c.put(...documents);
    const expected = documents
      .filter(({ team }) => team === "red")
      .toSorted(
        (a, b) =>
          (a["rank"] as number) - (b["rank"] as number) ||
          String(a["name"]).localeCompare(String(b["name"])) ||
          String(a["id"]).localeCompare(String(b["id"])),
      )
      .map(({ id }) => id);
    const query: Partial<Query> = { index: "byRank", equals: { team: "red" } };
    for (const limit of [1, 7, 100]) {
      expect(await c.ids({ ...query, limit })).toEqual(expected);
      expect(await c.ids({ ...query, limit, order: "desc" })).toEqual(expected.toReversed());
    }
    expect(await c.count(query)).toBe(expected.length);
    expect(await c.count({ index: "byRank", equals: { team: "green" } })).toBe(0);
  });

  fixture.test("equality on a sort prefix and a range on the next path", async () => {
    const c = await fixture.container({
      indexes: { byStatus: { partition: ["w"], sort: ["status", { path: "at", order: "desc" }] } },
    });
    const documents = Array.from({ length: 24 }, (_, i): JsonObject => ({
      id: `i${i}`,
      w: "w",
      status: ["failed", "done"][i % 2] as string,
      at: Math.floor(i / 2),
    }));
    await c.put(
      ...documents,
      { id: "none", w: "w", status: "failed" },
      { id: "text", w: "w", status: "failed", at: "5" },
    );
    const at = async (range: Query["range"], order?: "desc") =>
      (
        await c.query({
          index: "byStatus",
          equals: { w: "w", status: "failed" },
          ...(range ? { range } : {}),
          ...(order ? { order } : {}),
        })
      ).items.map(({ document }) => document["at"]);
    expect(await at({ gte: 3, lt: 6 })).toEqual([5, 4, 3]);
    expect(await at({ gt: 3, lte: 6 }, "desc")).toEqual([4, 5, 6]);
    expect(await at({ gt: 9 })).toEqual([11, 10]);
    expect(await at({ lte: 1 })).toEqual([1, 0]);
    expect(await at({ prefix: "5" })).toEqual(["5"]);
    expect(await at({ gte: "0" })).toEqual(["5"]);
    expect(await at(undefined)).toEqual(["5", 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, undefined]);
    expect(await c.count({ index: "byStatus", equals: { w: "w", status: "failed" }, range: { lt: 6 } })).toBe(6);
    expect(await c.count({ index: "byStatus", equals: { w: "w" } })).toBe(26);
    expect(await c.count({ index: "byStatus", equals: { w: "w" }, range: { gte: "e" } })).toBe(14);
  });

  fixture.test(
    "values of all types sort in one order: missing, null, false, true, numbers, strings, arrays, objects",
    async () => {
      const values = [
        undefined,
        null,
        false,
        true,
        -1e300,
        -2,
        -1.5,
        -Number.MIN_VALUE,
        0,
        Number.MIN_VALUE,
        1,
        2,
        10,
        1e300,
        "",
        "\u0001",
        "1",
        "10",
        "2",
        "A",
        "a",
        "aa",
        "b",
        "é",
        "\uffee",
        "\u{1f600}",
        [1],
        { k: 1 },
      ];
      for (const order of ["asc", "desc"] as const) {
        const c = await fixture.container({ indexes: { byV: { partition: ["p"], sort: [{ path: "v", order }] } } });
        const shuffled = values
          .map((v, i) => ({ id: `v${String(i).padStart(2, "0")}`, ...(v === undefined ? {} : { v }) }))
          .toSorted((a, b) => ((a.id.charCodeAt(2) * 7) % 10) - ((b.id.charCodeAt(2) * 7) % 10));
        await c.put(...(shuffled as JsonObject[]));
        const expected = values.map((_, i) => `v${String(i).padStart(2, "0")}`);
        expect(await c.ids({ index: "byV", limit: 5 })).toEqual(order === "asc" ? expected : expected.toReversed());
        for (const [i, v] of values.entries()) {
          if (v === undefined || (typeof v === "object" && v !== null)) continue;
          expect(await c.ids({ index: "byV", equals: { p: "a", v: v } })).toEqual([expected[i]]);
        }
        expect((await c.ids({ index: "byV", range: { prefix: "a" } })).toSorted()).toEqual([
          expected[20],
          expected[21],
        ]);
        expect(await c.count({ index: "byV", range: { lte: 0 } })).toBe(5);
        expect(await c.count({ index: "byV", range: { gte: 1 } })).toBe(4);
      }
    },
  );

  fixture.test(
    "an item without an index's partition value is not in that index, and enters and leaves it with the value",
    async () => {
      const c = await fixture.container({
        indexes: { byOwner: { partition: ["owner.id"], sort: ["n"] }, all: { partition: [], sort: ["n"] } },
      });
      await c.put({ id: "x", n: 1 }, { id: "y", n: 2, owner: { id: "u1" } });
      const owned = { index: "byOwner", equals: { "owner.id": "u1" } };
      expect(await c.ids(owned)).toEqual(["y"]);
      expect(await c.ids({ index: "all", equals: {} })).toEqual(["x", "y"]);
      await c.write({ op: "patch", id: "x", patch: [{ op: "set", path: "/owner", value: { id: "u1" } }] });
      expect(await c.ids(owned)).toEqual(["x", "y"]);
      await c.write({ op: "patch", id: "y", patch: [{ op: "remove", path: "/owner" }] });
      expect(await c.ids(owned)).toEqual(["x"]);
      await c.write({ op: "delete", id: "x" });
      expect(await c.ids(owned)).toEqual([]);
      expect(await c.ids({ index: "all", equals: {} })).toEqual(["y"]);
    },
  );

  fixture.test("a residual filter gives the right items over pages, and counts them", async () => {
    const c = await fixture.container({ indexes: { byN: { partition: ["p"], sort: ["n"] } } });
    await c.put(
      ...Array.from({ length: 60 }, (_, n): JsonObject => ({
        id: `i${n}`,
        n,
        even: n % 2 === 0,
        tags: n % 3 ? ["t"] : ["u", "v"],
        deep: { name: `name ${n}` },
      })),
    );
    const ns = async (filter: NonNullable<Query["filter"]>, limit = 100) =>
      (await c.ids({ index: "byN", filter, limit })).map((id) => Number(id.slice(1)));
    const all = Array.from({ length: 60 }, (_, n) => n);
    expect(await ns({ even: true, n: { gte: 10, lt: 20 } }, 2)).toEqual([10, 12, 14, 16, 18]);
    expect(await ns({ or: [{ n: 3 }, { n: { in: [5, 7, "9"] } }] }, 1)).toEqual([3, 5, 7]);
    expect(await ns({ not: { n: { lt: 57 } } })).toEqual([57, 58, 59]);
    expect(await ns({ tags: { contains: "u" }, n: { lte: 6 } })).toEqual([0, 3, 6]);
    expect(await ns({ "deep.name": { contains: "e 1" }, even: { ne: true } })).toEqual([1, 11, 13, 15, 17, 19]);
    expect(await ns({ missing: { exists: false }, n: { nin: [1] } })).toEqual(all.filter((n) => n !== 1));
    expect(await ns({ missing: { ne: 1 }, n: 1 })).toEqual([1]);
    expect(await ns({ and: [{ n: { gt: "5" } }] })).toEqual([]);
    expect(await c.count({ index: "byN", filter: { even: true } })).toBe(30);
  });

  fixture.test("a page never exceeds its byte budget, and the walk still sees everything", async () => {
    const c = await fixture.container();
    const text = "x".repeat(1_000_000);
    for (let i = 0; i < 7; i += 1) await c.put({ id: `i${i}`, text });
    const page = await c.query();
    expect(page.items.length).toBeLessThan(7);
    expect(page.cursor).toBeDefined();
    expect(await c.ids()).toEqual(["i0", "i1", "i2", "i3", "i4", "i5", "i6"]);
    expect(await c.ids({ order: "desc" })).toEqual(["i6", "i5", "i4", "i3", "i2", "i1", "i0"]);
  });

  fixture.test(
    "R-AGT-60 a walk neither skips nor repeats an unchanged item while others write, update and delete",
    async () => {
      const c = await fixture.container({ indexes: { byN: { partition: ["p"], sort: ["n"] } } });
      await c.put(...Array.from({ length: 40 }, (_, n): JsonObject => ({ id: `stay${n}`, n })));
      for (const query of [{}, { index: "byN" }] as Partial<Query>[]) {
        for (const order of ["asc", "desc"] as const) {
          const seen: string[] = [];
          let cursor: string | undefined;
          let round = 0;
          do {
            const page = await c.query({ ...query, order, limit: 6, ...(cursor === undefined ? {} : { cursor }) });
            seen.push(...page.items.map(({ id }) => id).filter((id) => id.startsWith("stay")));
            cursor = page.cursor;
            round += 1;
            await c.put(
              { id: `a${round}`, n: -round },
              { id: `m${round}`, n: 20 },
              { id: `z${round}`, n: 100 + round },
            );
            if (round > 1) await c.write({ op: "delete", id: `m${round - 1}` });
          } while (cursor !== undefined && round < 60);
          expect(seen.toSorted()).toEqual(Array.from({ length: 40 }, (_, n) => `stay${n}`).toSorted());
          for (const id of await c.ids()) if (!id.startsWith("stay")) await c.write({ op: "delete", id });
        }
      }
    },
  );

  fixture.test(
    "R-AGT-60 a cursor that was changed, cut, or belongs to another query, container or tenant is rejected",
    async () => {
      const indexes = { byN: { partition: ["p"], sort: ["n"] } };
      const c = await fixture.container({ indexes });
      const d = await fixture.container({ indexes });
      for (const each of [c, d, c.as(fixture.otherScope)])
        await each.put({ id: "1", n: 1 }, { id: "2", n: 2 }, { id: "3", n: 3 });
      const cursor = (await c.query({ index: "byN", limit: 1 })).cursor as string;
      expect((await c.query({ index: "byN", limit: 2, cursor })).items.map(({ id }) => id)).toEqual(["2", "3"]);
      const flipped = `${cursor.slice(0, 30)}${cursor[30] === "A" ? "B" : "A"}${cursor.slice(31)}`;
      for (const bad of [flipped, cursor.slice(0, -4), "", "AAAA", `${cursor}AAAA`, 7 as never])
        await failure(c.query({ index: "byN", cursor: bad }), "INVALID");
      await failure(c.query({ cursor }), "INVALID");
      await failure(c.query({ index: "byN", order: "desc", cursor }), "INVALID");
      await failure(c.query({ index: "byN", filter: { n: 1 }, cursor }), "INVALID");
      await failure(c.query({ index: "byN", equals: { p: "b" }, cursor }), "INVALID");
      await failure(d.query({ index: "byN", cursor }), "INVALID");
      await failure(c.as(fixture.otherScope).query({ index: "byN", cursor }), "INVALID");
    },
  );

  fixture.test(
    "deletePartition removes one partition in bounded steps, expired items too, and nothing else",
    async () => {
      const c = await fixture.container({ ttl: -1, feed: true });
      await c.put(
        ...Array.from({ length: 23 }, (_, i): JsonObject => ({ id: `i${i}`, ...(i < 3 ? { ttl: 1 } : {}) })),
        { id: "other", p: "ab" },
      );
      const foreign = c.as(fixture.otherScope);
      await foreign.put({ id: "theirs" });
      fixture.clock.advance(1_000);
      const steps: number[] = [];
      for (;;) {
        const { deleted, done } = await c.store.deletePartition(c.scope, c.name, ["a"], { limit: 10 });
        steps.push(deleted);
        if (done) break;
        expect(steps.length).toBeLessThan(10);
      }
      expect(steps.reduce((sum, n) => sum + n, 0)).toBe(23);
      expect(Math.max(...steps)).toBeLessThanOrEqual(10);
      expect(await c.count()).toBe(0);
      expect(await c.read("other", ["ab"])).toBeDefined();
      expect(await foreign.read("theirs")).toBeDefined();
      expect((await c.feed()).changes.filter(({ kind }) => kind === "delete")).toHaveLength(23);
    },
  );
};
