/** Cross-tenant attacks on every method: another tenant's data answers exactly as if it did not exist. */
import { expect } from "vitest";
import type { Scope } from "../../domain/scope.ts";
import type { ItemStore, Query } from "../../ports/item-store.ts";
import { failure, type Handle, type Suite } from "./fixture.ts";

/** Every method of the port as one call, so that no new method is forgotten. */
function everyCall(
  store: ItemStore,
  scope: Scope,
  c: Handle,
): Record<
  // `erasure` has tests of its own (erasure.ts).
  Exclude<
    keyof ItemStore,
    "capabilities" | "erasure" | "openContainer" | "indexes" | "close" | typeof Symbol.asyncDispose
  >,
  () => Promise<unknown>
> {
  const key = { partition: ["a"], id: "x" };
  return {
    read: () => store.read(scope, c.name, key),
    readRaw: () => store.readRaw(scope, c.name, key),
    readMany: () => store.readMany(scope, c.name, [key]),
    write: () => store.write(scope, c.name, ["a"], { op: "delete", id: "x" }),
    batch: () => store.batch(scope, c.name, ["a"], [{ op: "delete", id: "x" }]),
    query: () => store.query(scope, c.name, { equals: { p: "a" } }),
    count: () => store.count(scope, c.name, { equals: { p: "a" } }),
    deletePartition: () => store.deletePartition(scope, c.name, ["a"]),
    changes: () => store.changes(scope, c.name),
    defaultTtl: async () => store.defaultTtl(scope, c.name),
    setDefaultTtl: () => store.setDefaultTtl(scope, c.name, 1),
    purgeExpired: () => store.purgeExpired(scope as never, c.name),
  };
}

export const tenancy: Suite = (fixture) => {
  const shared = () =>
    fixture.container({
      feed: true,
      ttl: -1,
      uniqueKeys: { name: ["name"] },
      indexes: { byName: { partition: ["name"], sort: ["n"] }, all: { partition: [], sort: ["n"] } },
    });

  fixture.test("R-AGT-09 a call without a scope, or with a forged one, throws and does nothing", async () => {
    const c = await shared();
    await c.put({ id: "x", name: "n" });
    const forged = [
      undefined,
      null,
      "",
      "acme",
      {},
      { tenant: "acme" },
      { ...fixture.scope },
      Object.create(fixture.scope) as object,
      fixture.system,
    ] as unknown as Scope[];
    for (const scope of forged) {
      for (const [method, call] of Object.entries(everyCall(c.store, scope, c))) {
        if (method === "purgeExpired" && (scope as unknown) === fixture.system) continue;
        await failure(call(), method === "purgeExpired" ? "FORBIDDEN" : "UNAUTHENTICATED");
      }
    }
    expect(await c.read("x")).toBeDefined();
  });

  fixture.test(
    "R-AGT-09 another tenant's items cannot be read, listed, counted, followed, changed, blocked on or deleted",
    async () => {
      const c = await shared();
      const thief = c.as(fixture.otherScope);
      const { etag } = await c.write({ op: "create", document: { id: "x", p: "a", name: "n", n: 1 } });
      const key = { partition: ["a"], id: "x" };
      const queries: Query[] = [
        { equals: { p: "a" } },
        { index: "byName", equals: { name: "n" } },
        { index: "all", equals: {} },
        { index: "all", equals: {}, order: "desc" },
        { equals: { p: "a" }, range: { prefix: "" } },
      ];
      expect(await thief.store.read(thief.scope, c.name, key)).toBeUndefined();
      expect(await thief.store.readRaw(thief.scope, c.name, key)).toBeUndefined();
      expect(await thief.store.readMany(thief.scope, c.name, [key, key])).toEqual([undefined, undefined]);
      for (const query of queries) {
        expect((await thief.store.query(thief.scope, c.name, query)).items).toEqual([]);
        expect(await thief.store.count(thief.scope, c.name, query)).toBe(0);
      }
      expect((await thief.feed()).changes).toEqual([]);
      expect(await thief.store.deletePartition(thief.scope, c.name, ["a"])).toEqual({ deleted: 0, done: true });
      await failure(thief.write({ op: "delete", id: "x", ifMatch: etag as string }), "NOT_FOUND");
      await failure(thief.write({ op: "replace", document: { id: "x", p: "a", name: "stolen" } }), "NOT_FOUND");
      await failure(thief.write({ op: "patch", id: "x", patch: [{ op: "set", path: "/n", value: 9 }] }), "NOT_FOUND");
      await thief.batch([{ op: "check", id: "x", exists: false }]);
      expect(await c.read("x")).toEqual({ id: "x", p: "a", name: "n", n: 1 });
      // Neither the id nor the unique value of another tenant conflicts.
      await thief.write({ op: "create", document: { id: "x", p: "a", name: "n", n: 2 } });
      expect(await thief.ids({ index: "byName", equals: { name: "n" } })).toEqual(["x"]);
      expect(await c.read("x")).toMatchObject({ n: 1 });
      expect(await c.store.deletePartition(c.scope, c.name, ["a"])).toEqual({ deleted: 1, done: true });
      expect(await thief.read("x")).toMatchObject({ n: 2 });
    },
  );

  fixture.test(
    "a tenant whose name begins like another's, or tries to break out of the key, sees nothing of it",
    async () => {
      const c = await fixture.container({ partitionKey: ["p", "q"], indexes: { all: { partition: [], sort: ["p"] } } });
      await c.write({ op: "create", document: { id: "x", p: "a", q: "b" } }, ["a", "b"]);
      const thief = c.as(fixture.otherScope);
      for (const p of ["2", '","a', 'acme","a', "\u0001acme", 'a","b']) {
        expect(await thief.store.read(thief.scope, c.name, { partition: [p, "b"], id: "x" })).toBeUndefined();
      }
      expect(await thief.ids({ index: "all", equals: {} })).toEqual([]);
      expect(await thief.ids({ index: "all", equals: {}, range: { gte: "" } })).toEqual([]);
    },
  );

  fixture.test("nothing that a tenant receives reveals how much others write", async () => {
    const c = await fixture.container({ feed: true });
    const seen = async () => {
      const { etag } = await c.write({ op: "upsert", document: { id: "x", p: "a" } });
      const { cursor } = await c.feed();
      return [etag as string, Buffer.from(cursor, "base64url").toString("latin1")];
    };
    const [first, second] = [await seen(), await seen()];
    // No readable position, and no two etags of one run that could be counted from: they share no prefix.
    expect(first[1]).not.toContain(c.name);
    expect(first[0]?.slice(0, 8)).not.toBe(second[0]?.slice(0, 8));
  });
};
