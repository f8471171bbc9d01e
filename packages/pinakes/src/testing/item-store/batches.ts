/** Transactional batches: all or nothing, the failing operation named. */
import { expect } from "vitest";
import type { JsonObject } from "../../domain/json.ts";
import type { Operation } from "../../ports/item-store.ts";
import { failure, type Suite } from "./fixture.ts";

const doc = (id: string, more: JsonObject = {}): JsonObject => ({ id, p: "a", ...more });

export const batches: Suite = (fixture) => {
  fixture.test("R-AGT-55 a batch commits as a whole; operations see those before them", async () => {
    const c = await fixture.container({ feed: true });
    await c.put({ id: "old", n: 1 }, { id: "gone" });
    const { results } = await c.batch([
      { op: "create", document: doc("new", { n: 1 }) },
      { op: "patch", id: "new", patch: [{ op: "incr", path: "/n", value: 5 }] },
      { op: "replace", document: doc("old", { n: 2 }) },
      { op: "delete", id: "gone" },
      { op: "create", document: doc("gone", { back: true }) },
      { op: "create", document: doc("brief") },
      { op: "delete", id: "brief" },
      { op: "check", id: "old", where: { n: 2 } },
      { op: "check", id: "never", exists: false },
    ]);
    expect(await c.read("new")).toMatchObject({ n: 6 });
    expect(await c.read("old")).toMatchObject({ n: 2 });
    expect(await c.read("gone")).toMatchObject({ back: true });
    expect(await c.read("brief")).toBeUndefined();
    expect(results.map(({ id }) => id)).toEqual([
      "new",
      "new",
      "old",
      "gone",
      "gone",
      "brief",
      "brief",
      "old",
      "never",
    ]);
    expect(results[0]?.etag).toBe(results[1]?.etag);
    expect((await c.store.read(c.scope, c.name, { partition: ["a"], id: "new" }))?.etag).toBe(results[1]?.etag);
    const kinds = (await c.feed()).changes.slice(2).map(({ kind, id }) => `${kind} ${id}`);
    expect(kinds.toSorted()).toEqual(["put gone", "put new", "put old"]);
  });

  fixture.test(
    "R-AGT-55 a failing operation is named with its code, the others are 424, and nothing is written",
    async () => {
      const c = await fixture.container({ feed: true });
      const { etag } = await c.write({ op: "create", document: doc("x", { n: 1 }) });
      const before: Operation[] = [
        { op: "create", document: doc("y") },
        { op: "patch", id: "x", patch: [{ op: "incr", path: "/n", value: 1 }] },
      ];
      const cases: [Operation, "CONFLICT" | "PRECONDITION_FAILED" | "NOT_FOUND" | "INVALID", number][] = [
        [{ op: "create", document: doc("x") }, "CONFLICT", 409],
        [{ op: "create", document: doc("y") }, "CONFLICT", 409],
        [{ op: "replace", document: doc("z") }, "NOT_FOUND", 404],
        [{ op: "delete", id: "z" }, "NOT_FOUND", 404],
        [{ op: "delete", id: "y", ifMatch: "stale" }, "PRECONDITION_FAILED", 412],
        [{ op: "replace", document: doc("x"), ifMatch: etag as string }, "PRECONDITION_FAILED", 412],
        [{ op: "check", id: "x", where: { n: 1 } }, "PRECONDITION_FAILED", 412],
        [{ op: "check", id: "z" }, "PRECONDITION_FAILED", 412],
        [{ op: "check", id: "x", exists: false }, "PRECONDITION_FAILED", 412],
        [{ op: "patch", id: "x", patch: [{ op: "remove", path: "/none" }] }, "INVALID", 400],
        [{ op: "create", document: { id: "w", p: "b" } }, "INVALID", 400],
      ];
      for (const [operation, code, status] of cases) {
        const error = await failure(c.batch([...before, operation, { op: "upsert", document: doc("last") }]), code);
        expect(error.context.batch, JSON.stringify(operation)).toEqual({ index: 2, statuses: [424, 424, status, 424] });
        expect(await c.ids()).toEqual(["x"]);
        expect(await c.read("x")).toEqual(doc("x", { n: 1 }));
      }
      expect((await c.feed()).changes).toHaveLength(1);
      const stale = await failure(
        c.batch([
          { op: "patch", id: "x", patch: [{ op: "set", path: "/n", value: 5 }] },
          { op: "delete", id: "x", ifMatch: "stale" },
        ]),
        "PRECONDITION_FAILED",
      );
      // The reported etag is that of the stored item, not one of a write that never happened.
      expect(stale.context.currentEtag).toBe(etag);
    },
  );

  fixture.test("a check alone writes nothing and changes no etag", async () => {
    const c = await fixture.container({ feed: true });
    const { etag } = await c.write({ op: "create", document: doc("x") });
    await c.batch([{ op: "check", id: "x", ifMatch: etag as string }]);
    expect((await c.store.read(c.scope, c.name, { partition: ["a"], id: "x" }))?.etag).toBe(etag);
    expect((await c.feed()).changes).toHaveLength(1);
  });

  fixture.test(
    "a check fences a concurrent write: once the fence is gone, no batch that checked it commits",
    async () => {
      const c = await fixture.container();
      await c.put({ id: "fence", open: true });
      const writers = Array.from({ length: 20 }, (_, i) =>
        c
          .batch([
            { op: "check", id: "fence", where: { open: true } },
            { op: "create", document: doc(`w${i}`) },
          ])
          .then(
            () => true,
            () => false,
          ),
      );
      const closing = c.write({ op: "patch", id: "fence", patch: [{ op: "set", path: "/open", value: false }] });
      const outcomes = await Promise.all(writers);
      await closing;
      expect((await c.ids({ range: { prefix: "w" } })).length).toBe(outcomes.filter(Boolean).length);
      await failure(
        c.batch([
          { op: "check", id: "fence", where: { open: true } },
          { op: "create", document: doc("late") },
        ]),
        "PRECONDITION_FAILED",
      );
    },
  );

  fixture.test("a batch at the engine's limit of operations works, and one past it is rejected", async () => {
    const c = await fixture.container();
    const max = c.store.capabilities.batchOperationsMax;
    expect(max).toBeGreaterThanOrEqual(25);
    await c.batch(
      Array.from({ length: max }, (_, i) => ({ op: "create", document: doc(`i${String(i).padStart(3, "0")}`) })),
    );
    expect(await c.count()).toBe(max);
    const error = await failure(
      c.batch(Array.from({ length: max + 1 }, (_, i) => ({ op: "create", document: doc(`j${i}`) }))),
      "LIMIT_EXCEEDED",
    );
    expect(error.detail).toContain(String(max));
    await failure(
      c.batch(Array.from({ length: 101 }, (_, i) => ({ op: "create", document: doc(`j${i}`) }))),
      "LIMIT_EXCEEDED",
    );
    await failure(c.batch([]), "INVALID");
    expect(await c.count()).toBe(max);
  });

  fixture.test("a batch of 2 MB works and one byte more is rejected", async () => {
    const c = await fixture.container();
    const make = (bytes: number) => {
      const empty = ["1", "2", "3", "4"].map((id) => doc(id, { text: "" }));
      const overhead = empty.reduce((sum, document) => sum + JSON.stringify(document).length, 0);
      const share = Math.floor((bytes - overhead) / 4);
      const rest = bytes - overhead - share * 3;
      return empty.map((document, i): Operation => ({
        op: "upsert",
        document: { ...document, text: "t".repeat(i === 0 ? rest : share) },
      }));
    };
    await failure(c.batch(make(2_097_153)), "LIMIT_EXCEEDED");
    expect(await c.count()).toBe(0);
    await c.batch(make(2_097_152));
    expect(await c.count()).toBe(4);
  });

  fixture.test("parallel batches on one partition take effect one after the other", async () => {
    const c = await fixture.container();
    await c.put({ id: "l", n: 0 }, { id: "r", n: 0 });
    const both = (i: number): Operation[] => {
      const order = i % 2 === 0 ? ["l", "r"] : ["r", "l"];
      return order.map((id) => ({ op: "patch", id, patch: [{ op: "incr", path: "/n", value: i }] }));
    };
    await Promise.all(Array.from({ length: 30 }, (_, i) => c.batch(both(i))));
    expect(await c.read("l")).toMatchObject({ n: 435 });
    expect(await c.read("r")).toMatchObject({ n: 435 });
  });
};
