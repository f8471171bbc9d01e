/** Opening again, and changing a container's indexes online. */
import { expect } from "vitest";
import type { JsonObject } from "../../domain/json.ts";
import type { ContainerDefinition } from "../../ports/item-store.ts";
import { failure, type Handle, type Suite } from "./fixture.ts";

/** Polls until every index is ready; each build must show progress between 0 and 1 and never go back. */
async function ready(c: Handle): Promise<void> {
  const last = new Map<string, number>();
  for (;;) {
    const statuses = await c.store.indexes(c.name);
    for (const { name, progress } of statuses) {
      expect(progress).toBeGreaterThanOrEqual(last.get(name) ?? 0);
      expect(progress).toBeLessThanOrEqual(1);
      last.set(name, progress);
    }
    if (statuses.every(({ state }) => state === "ready")) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export const evolution: Suite = (fixture) => {
  fixture.test("R-AGT-01 opening the same container again changes nothing", async () => {
    const c = await fixture.container({
      ttl: -1,
      feed: true,
      uniqueKeys: { u: ["u"] },
      indexes: { byN: { partition: ["p"], sort: ["n"] } },
    });
    await c.put({ id: "x", n: 1, u: 1 });
    const before = await c.store.read(c.scope, c.name, { partition: ["a"], id: "x" });
    for (let i = 0; i < 3; i += 1) await c.store.openContainer(c.definition);
    expect(await c.store.read(c.scope, c.name, { partition: ["a"], id: "x" })).toEqual(before);
    expect(await c.store.indexes(c.name)).toEqual([{ name: "byN", state: "ready", progress: 1 }]);
    expect(await c.ids({ index: "byN" })).toEqual(["x"]);
    expect((await c.feed()).changes).toHaveLength(1);
  });

  fixture.test("R-AGT-62 an index can be added, redefined and dropped online; no answer is ever partial", async () => {
    const c = await fixture.container({ indexes: { byN: { partition: ["p"], sort: ["n"] } } });
    const theirs = c.as(fixture.otherScope);
    await theirs.put({ id: "theirs", n: 1, m: 1 });
    const documents = Array.from({ length: 60 }, (_, n): JsonObject => ({ id: `i${n}`, n, m: -n }));
    await c.put(...documents);
    const added: ContainerDefinition = {
      ...c.definition,
      indexes: { ...c.definition.indexes, byM: { partition: ["p"], sort: ["m"] } },
    };
    await c.store.openContainer(added);
    // During the build: writes continue, the other index answers, the new one answers in full or not at all.
    await c.put({ id: "during", n: 1_000, m: -1_000 });
    await c.write({ op: "delete", id: "i7" });
    await c.write({ op: "patch", id: "i3", patch: [{ op: "set", path: "/m", value: 5 }] });
    expect(await c.count({ index: "byN" })).toBe(60);
    const early = await c.count({ index: "byM" }).catch((error: { code?: string }) => error.code);
    expect([60, "UNAVAILABLE"]).toContain(early);
    await ready(c);
    const expected = [
      ...documents.filter(({ id }) => id !== "i7" && id !== "i3"),
      { id: "during", m: -1_000 },
      { id: "i3", m: 5 },
    ]
      .toSorted((a, b) => (a["m"] as number) - (b["m"] as number))
      .map(({ id }) => id);
    expect(await c.ids({ index: "byM", limit: 13 })).toEqual(expected);
    expect(await theirs.ids({ index: "byM" })).toEqual(["theirs"]);

    const { cursor } = await c.query({ index: "byM", limit: 3 });
    await c.store.openContainer({
      ...added,
      indexes: { ...added.indexes, byM: { partition: ["p"], sort: [{ path: "m", order: "desc" }, "n"] } },
    });
    await ready(c);
    // A cursor is a position in the old order; in the new one it would repeat or skip items.
    await failure(c.query({ index: "byM", limit: 3, cursor: cursor as string }), "INVALID");
    expect(await c.ids({ index: "byM" })).toEqual(expected.toReversed());

    await c.store.openContainer(c.definition);
    expect((await c.store.indexes(c.name)).map(({ name }) => name)).toEqual(["byM", "byN"]);
    await c.store.openContainer(c.definition, { dropUndeclaredIndexes: true });
    expect((await c.store.indexes(c.name)).map(({ name }) => name)).toEqual(["byN"]);
    await failure(c.query({ index: "byM" }), "INVALID");
    await c.put({ id: "after", n: 2_000 });
    expect(await c.count({ index: "byN" })).toBe(61);
  });

  fixture.test("partition key and unique keys are fixed at creation", async () => {
    const c = await fixture.container({ uniqueKeys: { u: ["u"] } });
    expect((await failure(c.store.openContainer({ ...c.definition, partitionKey: ["q"] }), "INVALID")).detail).toMatch(
      /partitionKey.*fixed/,
    );
    await failure(c.store.openContainer({ ...c.definition, uniqueKeys: {} }), "INVALID");
    await failure(c.store.openContainer({ ...c.definition, uniqueKeys: { u: ["u", "v"] } }), "INVALID");
  });

  fixture.test("a feed can be switched on later, then delivers later changes, and stays on", async () => {
    const c = await fixture.container();
    await c.put({ id: "before" });
    await c.store.openContainer({ ...c.definition, feed: true });
    await c.put({ id: "after" });
    expect((await c.feed()).changes.map(({ id }) => id)).toEqual(["after"]);
    // Older code that does not know of the feed opens the container: its writes must be in the feed too.
    await c.store.openContainer(c.definition);
    await c.put({ id: "later" });
    expect((await c.feed()).changes.map(({ id }) => id)).toEqual(["after", "later"]);
  });

  if (fixture.harness.reopen !== undefined) {
    fixture.test(
      "everything is still there after closing and opening again: items, indexes, unique keys, feed, and cursors stay valid",
      async () => {
        const definition = {
          ttl: -1,
          feed: true,
          uniqueKeys: { u: ["u"] },
          indexes: { byN: { partition: ["p"], sort: ["n"] } },
        };
        const c = await fixture.container(definition);
        await c.put({ id: "x", n: 2, u: 1 }, { id: "y", n: 1, u: 2 }, { id: "z", n: 3, u: 3 });
        const item = await c.store.read(c.scope, c.name, { partition: ["a"], id: "x" });
        const { cursor } = await c.query({ index: "byN", limit: 1 });
        const feed = await c.feed();
        await fixture.reopen();
        await failure(c.store.read(c.scope, c.name, { partition: ["a"], id: "x" }), "NOT_FOUND");
        await c.store.openContainer(c.definition);
        expect(await c.store.read(c.scope, c.name, { partition: ["a"], id: "x" })).toEqual(item);
        expect(await c.ids({ index: "byN", cursor: cursor as string })).toEqual(["x", "z"]);
        await failure(c.write({ op: "create", document: { id: "w", p: "a", u: 1 } }), "CONFLICT");
        await c.put({ id: "y", n: 9, u: 2 });
        expect((await c.feed(feed.cursor)).changes.map(({ id }) => id)).toEqual(["y"]);
      },
    );
  }
};
