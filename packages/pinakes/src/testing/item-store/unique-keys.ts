/** Unique keys within a partition. */
import { expect } from "vitest";
import { failure, type Suite } from "./fixture.ts";

export const uniqueKeys: Suite = (fixture) => {
  const keyed = () => fixture.container({ uniqueKeys: { name: ["name"], pair: ["x", "deep.y"] } });

  fixture.test("a unique value is taken once per partition, whatever the write", async () => {
    const c = await keyed();
    await c.put({ id: "1", name: "n" }, { id: "2", name: "m" });
    const error = await failure(c.write({ op: "create", document: { id: "3", p: "a", name: "n" } }), "CONFLICT");
    expect(error.detail).toMatch(/name.*"1"/);
    await failure(c.write({ op: "upsert", document: { id: "3", p: "a", name: "n" } }), "CONFLICT");
    await failure(c.write({ op: "replace", document: { id: "2", p: "a", name: "n" } }), "CONFLICT");
    await failure(c.write({ op: "patch", id: "2", patch: [{ op: "set", path: "/name", value: "n" }] }), "CONFLICT");
    expect(await c.read("3")).toBeUndefined();
    expect(await c.read("2")).toMatchObject({ name: "m" });
    await c.put({ id: "3", p: "b", name: "n" });
    await c.as(fixture.otherScope).put({ id: "3", name: "n" });
    await c.write({ op: "replace", document: { id: "1", p: "a", name: "n", more: 1 } });
  });

  fixture.test("a value is available again once its holder changed, lost it, or was deleted", async () => {
    const c = await keyed();
    await c.put({ id: "1", name: "n" });
    await c.write({ op: "replace", document: { id: "1", p: "a", name: "other" } });
    await c.put({ id: "2", name: "n" });
    await c.write({ op: "patch", id: "2", patch: [{ op: "remove", path: "/name" }] });
    await c.put({ id: "3", name: "n" });
    await c.write({ op: "delete", id: "3" });
    await c.put({ id: "4", name: "n" });
    await failure(c.write({ op: "create", document: { id: "5", p: "a", name: "n" } }), "CONFLICT");
  });

  fixture.test("items without the value are exempt; types and composite values are distinct", async () => {
    const c = await keyed();
    await c.put({ id: "1" }, { id: "2" }, { id: "3", x: 1 }, { id: "4", x: 1 });
    await c.put(
      { id: "5", x: 1, deep: { y: 1 } },
      { id: "6", x: 1, deep: { y: "1" } },
      { id: "7", x: "1", deep: { y: 1 } },
      { id: "8", x: null, deep: { y: null } },
    );
    await failure(c.write({ op: "create", document: { id: "9", p: "a", x: 1, deep: { y: "1" } } }), "CONFLICT");
    await failure(c.write({ op: "create", document: { id: "9", p: "a", x: null, deep: { y: null } } }), "CONFLICT");
    await failure(c.write({ op: "create", document: { id: "9", p: "a", name: ["no"] } }), "INVALID");
  });

  fixture.test("within a batch values can be handed over and swapped, but not shared", async () => {
    const c = await keyed();
    await c.put({ id: "1", name: "n" }, { id: "2", name: "m" });
    await c.batch([
      { op: "replace", document: { id: "1", p: "a", name: "m" } },
      { op: "replace", document: { id: "2", p: "a", name: "n" } },
    ]);
    expect(await c.read("1")).toMatchObject({ name: "m" });
    await c.batch([
      { op: "create", document: { id: "3", p: "a", name: "m" } },
      { op: "delete", id: "1" },
    ]);
    const shared = await failure(
      c.batch([
        { op: "create", document: { id: "4", p: "a", name: "q" } },
        { op: "create", document: { id: "5", p: "a", name: "q" } },
      ]),
      "CONFLICT",
    );
    expect(shared.context.batch).toEqual({ index: 1, statuses: [424, 409] });
    expect(await c.ids()).toEqual(["2", "3"]);
    await c.batch([
      { op: "create", document: { id: "6", p: "a", name: "q" } },
      { op: "delete", id: "6" },
      { op: "create", document: { id: "7", p: "a", name: "q" } },
    ]);
    await failure(c.write({ op: "create", document: { id: "8", p: "a", name: "q" } }), "CONFLICT");
  });

  fixture.test("of 20 parallel claims of one value exactly one wins", async () => {
    const c = await keyed();
    const attempts = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => c.write({ op: "create", document: { id: `i${i}`, p: "a", name: "n" } })),
    );
    expect(attempts.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await c.count()).toBe(1);
  });
};
