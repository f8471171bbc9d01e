/** Bad input: each is an error that says what to do, and nothing is written. Limits: at the limit, and one past it. */
import { expect } from "vitest";
import { PinakesError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { ContainerDefinition, Operation, Query } from "../../ports/item-store.ts";
import { failure, type Suite } from "./fixture.ts";

export const inputs: Suite = (fixture) => {
  fixture.test("documents that are not JSON objects, or contain what JSON cannot represent, are rejected", async () => {
    const c = await fixture.container();
    const deep = (levels: number): JsonObject => (levels === 0 ? {} : { d: deep(levels - 1) });
    const bad: unknown[] = [
      undefined,
      null,
      "text",
      7,
      [],
      [{ id: "x", p: "a" }],
      new Date(),
      new Map(),
      { id: "x", p: "a", v: Number.NaN },
      { id: "x", p: "a", v: [Number.POSITIVE_INFINITY] },
      { id: "x", p: "a", v: 1n },
      { id: "x", p: "a", v: () => 1 },
      { id: "x", p: "a", v: new Date(0) },
      { id: "x", p: "a", v: [undefined] },
      { id: "x", p: "a", v: Symbol("s") },
      { id: "x", p: "a", v: Buffer.from("b") },
      { id: "x", p: "a", v: "nul \0 inside" },
      { id: "x", p: "a", "nul\0key": 1 },
      { id: "x", p: "a", v: [["\0"]] },
      { id: "x", p: "a", v: deep(64) },
    ];
    for (const document of bad) {
      for (const op of ["create", "replace", "upsert"] as const)
        await failure(c.write({ op, document } as Operation), "INVALID");
    }
    expect(await c.count()).toBe(0);
    await c.put({ id: "x", v: deep(62), ok: "\\u0000 is text" });
  });

  fixture.test(
    "ids: empty, control characters, reserved characters, lone surrogates and over 1,023 bytes are rejected; 1,023 bytes work",
    async () => {
      const c = await fixture.container({ feed: true, ttl: 10, indexes: { all: { partition: [], sort: ["n"] } } });
      for (const id of [
        "",
        5,
        null,
        {},
        "a\u0000",
        "a\u0001b",
        "a\vb",
        "\u007f",
        "a/b",
        "a\\b",
        "a#b",
        "\ud800",
        "x".repeat(1_024),
        "é".repeat(512),
        "\u{10ffff}",
      ]) {
        await failure(c.write({ op: "upsert", document: { id, p: "a" } }), "INVALID");
        await failure(c.write({ op: "delete", id: id as string }), "INVALID");
        await failure(c.store.read(c.scope, c.name, { partition: ["a"], id: id as string }), "INVALID");
      }
      await failure(c.write({ op: "replace", document: { p: "a" } }), "INVALID");
      const long = [
        "x".repeat(255),
        "x".repeat(256),
        "x".repeat(1_023),
        `${"x".repeat(1_022)}y`,
        `${"é".repeat(511)}z`,
        "x".repeat(300),
      ];
      await c.put(...long.map((id, n) => ({ id, n })));
      for (const [n, id] of long.entries()) expect(await c.read(id)).toEqual({ id, p: "a", n });
      expect((await c.ids()).toSorted()).toEqual(long.toSorted());
      expect((await c.ids({ limit: 1, order: "desc" })).toSorted()).toEqual(long.toSorted());
      expect((await c.ids({ index: "all", equals: {}, limit: 2 })).toSorted()).toEqual(long.toSorted());
      // Longer ids are ordered by their prefix, so a longer bound would have no meaning.
      expect(await c.count({ range: { prefix: "x".repeat(192) } })).toBe(5);
      await failure(c.query({ range: { prefix: "x".repeat(193) } }), "INVALID");
      await failure(c.query({ range: { lte: "x".repeat(255) } }), "INVALID");
      expect((await c.feed()).changes.map(({ id }) => id)).toEqual(long);
      fixture.clock.advance(10_000);
      await c.store.purgeExpired(fixture.system, c.name);
      expect(
        (await c.feed()).changes
          .slice(long.length)
          .map(({ id }) => id)
          .toSorted(),
      ).toEqual(long.toSorted());
    },
  );

  fixture.test(
    "R-AGT-06 a missing, null, object or over-long partition key is rejected, and so is the wrong number of values",
    async () => {
      const c = await fixture.container();
      for (const p of [undefined, null, {}, ["a"], "x".repeat(1_025), "\ud800", "a\0"]) {
        await failure(c.write({ op: "create", document: { id: "x", p } }, [p as string]), "INVALID");
        await failure(c.write({ op: "create", document: { id: "x", p } }, ["a"]), "INVALID");
      }
      await failure(c.write({ op: "create", document: { id: "x", p: "a" } }, []), "INVALID");
      await failure(c.write({ op: "create", document: { id: "x", p: "a" } }, ["a", "b"]), "INVALID");
      await failure(c.write({ op: "create", document: { id: "x", p: "a" } }, "a" as never), "INVALID");
      await failure(
        c.batch([
          { op: "create", document: { id: "x", p: "a" } },
          { op: "create", document: { id: "y", p: "b" } },
        ]),
        "INVALID",
      );
      await failure(c.store.read(c.scope, c.name, { partition: [], id: "x" }), "INVALID");
      expect(await c.count()).toBe(0);
      const p = "x".repeat(1_024);
      await c.write({ op: "create", document: { id: "x", p } }, [p]);
      expect(await c.read("x", [p])).toMatchObject({ id: "x" });
    },
  );

  fixture.test("a document of 2 MB works and one byte more is rejected", async () => {
    const c = await fixture.container();
    const overhead = JSON.stringify({ id: "x", p: "a", text: "" }).length;
    await failure(
      c.write({ op: "create", document: { id: "x", p: "a", text: "t".repeat(2_097_153 - overhead) } }),
      "LIMIT_EXCEEDED",
    );
    expect(await c.read("x")).toBeUndefined();
    const text = "t".repeat(2_097_152 - overhead);
    await c.write({ op: "create", document: { id: "x", p: "a", text } });
    expect(await c.read("x")).toEqual({ id: "x", p: "a", text });
    await failure(c.write({ op: "patch", id: "x", patch: [{ op: "set", path: "/n", value: 1 }] }), "LIMIT_EXCEEDED");
    await c.write({ op: "replace", document: { id: "x", p: "a", text: "small" } });
    expect(await c.read("x")).toEqual({ id: "x", p: "a", text: "small" });
  });

  fixture.test("an index key of 900 bytes works; one byte more is rejected naming the field", async () => {
    const c = await fixture.container({ indexes: { byName: { partition: ["p"], sort: ["name", "deep.long"] } } });
    // Tenant "acme" and partition "a" take 6 + 3 bytes, "n" takes 3, and a string 2 more than its text.
    const text = (bytes: number) => "t".repeat(bytes - 6 - 3 - 3 - 2);
    await c.put({ id: "x", name: "n", deep: { long: text(900) } });
    expect(await c.ids({ index: "byName", equals: { p: "a", name: "n", "deep.long": text(900) } })).toEqual(["x"]);
    const error = await failure(
      c.write({ op: "create", document: { id: "y", p: "a", name: "n", deep: { long: text(901) } } }),
      "INVALID",
    );
    expect(error.detail).toMatch(/deep\.long.*900/);
    await failure(
      c.write({ op: "patch", id: "x", patch: [{ op: "set", path: "/deep/long", value: text(901) }] }),
      "INVALID",
    );
    expect(await c.ids()).toEqual(["x"]);
  });

  fixture.test(
    "queries: unknown index, missing or unusable values, bad bounds, limits and filters are rejected, naming what would help",
    async () => {
      const c = await fixture.container({ indexes: { byStatus: { partition: ["w"], sort: ["status", "at"] } } });
      const expectations: [Partial<Query>, RegExp][] = [
        [{ index: "byNothing" }, /byStatus/],
        [{ index: "byStatus", equals: {} }, /"?w/],
        [{ index: "byStatus", equals: { w: "x", at: 1 } }, /Add an index .*"at"/],
        [{ index: "byStatus", equals: { w: "x", color: "red" } }, /Add an index .*"color"/],
        [{ index: "byStatus", equals: { w: "x", status: "s", at: 1 }, range: { gt: 1 } }, /sort path/],
        [{ index: "byStatus", equals: { w: {} as never } }, /w/],
        [{ index: "byStatus", equals: { w: "x" }, range: { gt: 1, gte: 2 } }, /one lower/],
        [{ index: "byStatus", equals: { w: "x" }, range: { above: 1 } as never }, /above/],
        [{ index: "byStatus", equals: { w: "x" }, range: { gt: null as never } }, /gt/],
        [{ index: "byStatus", equals: { w: "x" }, range: { prefix: 5 as never } }, /prefix/],
        [{ equals: {} }, /"?p/],
        [{ equals: { p: "a", n: 1 } }, /filter/],
        [{ equals: undefined as never }, /equals/],
        [{ index: "byStatus", equals: { w: Symbol("s") as never } }, /w/],
        [{ index: "byStatus", equals: { w: Number.NaN } }, /w/],
        [{ index: "byStatus", equals: { w: "x" }, range: { gt: Number.POSITIVE_INFINITY } }, /gt/],
        [{ index: 5n as never, equals: { w: "x" } }, /index/],
        [{ order: "up" as never }, /order/],
        [{ limit: 0 }, /1,?000/],
        [{ limit: 1_001 }, /1,?000/],
        [{ limit: 1.5 }, /limit/],
        [{ filter: "x" as never }, /filter/],
        [{ filter: { a: { near: 1 } } }, /filter\.a\.near/],
        [{ filter: { a: {} } }, /filter\.a/],
        [{ filter: { a: { gt: [1] } } as never }, /filter\.a\.gt/],
        [{ filter: { or: {} } as never }, /filter\.or/],
        [{ filter: { and: Array.from({ length: 101 }, () => ({ a: 1 })) } }, /100/],
      ];
      for (const [query, hint] of expectations) expect((await failure(c.query(query), "INVALID")).detail).toMatch(hint);
      await c.query({ limit: 1_000 });
      await failure(
        c.store.readMany(
          c.scope,
          c.name,
          Array.from({ length: 101 }, () => ({ partition: ["a"], id: "x" })),
        ),
        "INVALID",
      );
      await failure(c.store.deletePartition(c.scope, c.name, ["a"], { limit: 0 }), "INVALID");
    },
  );

  fixture.test("operations: unknown kinds, malformed conditions and conditions on create are rejected", async () => {
    const c = await fixture.container();
    await c.put({ id: "x" });
    const bad = [
      undefined,
      {},
      { op: "merge", id: "x" },
      { op: "delete" },
      { op: "delete", id: "x", ifMatch: 5 },
      { op: "delete", id: "x", ifMatch: "" },
      { op: "delete", id: "x", where: "n = 1" },
      { op: "create", document: { id: "y", p: "a" }, ifMatch: "e" },
      { op: "create", document: { id: "y", p: "a" }, where: {} },
      { op: "check", id: "x", exists: () => true },
      { op: "patch", id: "x", patch: [{ op: "remove", path: "/absent", value: 1n, from: () => 1 }] },
      { op: "delete", id: "x", where: { n: Number.NaN } },
      { op: "delete", id: "x", where: { n: { lt: Number.POSITIVE_INFINITY } } },
    ];
    for (const operation of bad) await failure(c.write(operation as Operation), "INVALID");
    await failure(c.batch({ op: "delete", id: "x" } as never), "INVALID");
    expect(await c.ids()).toEqual(["x"]);
    // None of them affects later writes.
    await c.put({ id: "z" });
  });

  fixture.test("containers: a malformed declaration is rejected, and an unknown container is not found", async () => {
    const good: ContainerDefinition = { name: "good", partitionKey: ["p"] };
    const bad: Partial<Record<keyof ContainerDefinition, unknown>>[] = [
      { name: "" },
      { name: "Upper" },
      { name: "a_b" },
      { name: "1a" },
      { name: "a".repeat(61) },
      { name: undefined },
      { name: "a;drop table" },
      { partitionKey: [] },
      { partitionKey: ["a", "b", "c", "d"] },
      { partitionKey: ["a", "a"] },
      { partitionKey: [""] },
      { partitionKey: ["a..b"] },
      { partitionKey: "p" },
      { indexes: { "no-dash": { partition: ["a"], sort: [] } } },
      { indexes: { x: { partition: [], sort: [] } } },
      { indexes: { x: { partition: ["a"], sort: ["a"] } } },
      { indexes: { x: { partition: ["a", "b", "c", "d", "e"], sort: ["f", "g", "h", "i"] } } },
      { indexes: Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`i${i}`, { partition: ["a"], sort: [] }])) },
      { indexes: { same: { partition: ["a"], sort: [] }, Same: { partition: ["b"], sort: [] } } },
      { uniqueKeys: { same: ["a"], Same: ["b"] } },
      { indexes: { x: { partition: ["a"], sort: [{ path: "b", order: "DESC" }] } } },
      { indexes: { x: { partition: ["a"] } } },
      { indexes: { x: { partition: ["a"], sort: [null] } } },
      { feed: () => true },
      { uniqueKeys: { u: [] } },
      { uniqueKeys: Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`u${i}`, ["a"]])) },
    ];
    for (const change of bad)
      await failure(fixture.store.openContainer({ ...good, ...change } as ContainerDefinition), "INVALID");
    await failure(fixture.store.read(fixture.scope, "good", { partition: ["a"], id: "x" }), "NOT_FOUND");
    await failure(fixture.store.query(fixture.scope, "nowhere", { equals: {} }), "NOT_FOUND");
    const longest = await fixture.container({
      name: "n".repeat(60),
      indexes: { [`i${"x".repeat(39)}`]: { partition: ["p"], sort: [] } },
      uniqueKeys: { [`u${"x".repeat(39)}`]: ["u"] },
      feed: true,
      ttl: 5,
    });
    await longest.put({ id: "x", u: 1 });
    expect(await longest.ids({ index: `i${"x".repeat(39)}` })).toEqual(["x"]);
  });

  fixture.test("a path may be called like a property of every object", async () => {
    const c = await fixture.container({ indexes: { byC: { partition: ["p"], sort: ["constructor"] } } });
    await c.put({ id: "x" }, { id: "y", constructor: 1 });
    expect(await c.ids({ index: "byC" })).toEqual(["x", "y"]);
    expect(await c.ids({ index: "byC", equals: { p: "a", constructor: 1 } })).toEqual(["y"]);
  });

  fixture.test("garbage in any argument is a PinakesError, never a crash, and the store still works", async () => {
    const c = await fixture.container({ feed: true, ttl: -1 });
    const circular: Record<string, unknown> = {};
    circular["self"] = circular;
    const garbage = [
      null,
      undefined,
      5n,
      Symbol("s"),
      circular,
      () => 1,
      Number.NaN,
      [[]],
      "\ud800",
      { toString: null },
    ] as never[];
    for (const g of garbage) {
      const calls: (() => Promise<unknown>)[] = [
        () => c.store.read(c.scope, c.name, g),
        () => c.store.read(c.scope, c.name, { partition: g, id: g }),
        () => c.store.readRaw(c.scope, g, { partition: ["a"], id: "x" }),
        () => c.store.readMany(c.scope, c.name, [g]),
        () => c.store.write(c.scope, c.name, ["a"], g),
        () => c.store.write(c.scope, c.name, [g], { op: "create", document: { p: g } }),
        () => c.store.write(c.scope, c.name, ["a"], { op: g, id: g }),
        () => c.store.batch(c.scope, c.name, ["a"], [g]),
        () => c.store.query(c.scope, c.name, g),
        () => c.store.query(c.scope, c.name, { equals: { p: "a" }, limit: g, cursor: g ?? "", order: g }),
        () => c.store.count(c.scope, c.name, { equals: { p: g } }),
        () => c.store.changes(c.scope, c.name, { cursor: g ?? "", limit: g ?? 0 }),
        () => c.store.deletePartition(c.scope, c.name, g),
        () => c.store.openContainer(g),
        () => c.store.openContainer({ name: g, partitionKey: g, ttl: g, indexes: { x: g } }),
      ];
      for (const [i, call] of calls.entries()) {
        const error: unknown = await call().then(
          () => "no error",
          (reason: unknown) => reason,
        );
        expect(
          PinakesError.isInstance(error),
          `${typeof g} in call ${i}: ${error instanceof Error ? error.stack : String(error)}`,
        ).toBe(true);
      }
    }
    await c.put({ id: "x" });
    expect(await c.ids()).toEqual(["x"]);
  });
};
